/** Lines to type, for the end of a command's help, each with what it means where that is not plain. */
export function examples(...lines: readonly (readonly [line: string, meaning?: string])[]): string {
  const wide = Math.max(...lines.map(([line]) => line.length))
  const text = lines.map(
    ([line, meaning]) => `  stoker ${meaning === undefined ? line : `${line.padEnd(wide)}   ${meaning}`}`,
  )
  return `\nExamples:\n${text.join('\n')}`
}
