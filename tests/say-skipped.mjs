/** A reporter beside vitest's own, which keeps the reason why a test was skipped to itself. */
// biome-ignore lint/style/noDefaultExport: vitest finds a reporter by it
export default class SaySkipped {
  #said = new Map()

  onTestCaseResult(test) {
    const { state, note } = test.result()
    if (state === 'skipped' && note !== undefined) this.#said.set(`${test.module.relativeModuleId}: ${test.name}`, note)
  }

  onTestRunEnd() {
    for (const [name, note] of this.#said) console.log(`skipped ${name}: ${note}`)
  }
}
