import type { Finding } from '@stoker/protocol'
import type { Paper } from '../output/paper.ts'
import { plainText } from '../output/plain-text.ts'
import type { View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

export function ok(check: string, text: string): Finding {
  return { check, level: 'ok', text, todo: null }
}

/** A line for each, what to do below it, and one line that sums up. */
export const findingsView: View<OutputOf<'doctor'>> = {
  ids: ({ findings }) => findings.filter(one => one.level !== 'ok').map(one => one.check.replaceAll(' ', '-')),
  human({ findings }, paper) {
    const wide = Math.max(...findings.map(one => one.check.length))
    return [...findings.flatMap(one => lines(one, wide, paper)), '', summary(findings)].join('\n')
  },
}

function lines({ check, level, text, todo }: Finding, wide: number, { color }: Paper): string[] {
  const mark = { ok: color.green('ok  '), warn: color.yellow('warn'), bad: color.red('bad ') }[level]
  const head = `${mark}  ${check.padEnd(wide)}  ${plainText(text)}`
  return todo === null ? [head] : [head, `${' '.repeat(wide + 8)}${color.dim(`→ ${plainText(todo)}`)}`]
}

function summary(findings: readonly Finding[]): string {
  const count = (level: Finding['level']) => findings.filter(one => one.level === level).length
  const [warnings, problems] = [count('warn'), count('bad')]
  if (warnings + problems === 0) return 'All is well.'
  return `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`
}
