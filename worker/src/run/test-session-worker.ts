import { appendFileSync } from 'node:fs'
import { SessionBench } from './test-session-bench.ts'

/** A worker for tests that is killed: starts a session and its tasks, and writes down every end it tells. */
const { root, program, session: spec, tasks, ends } = JSON.parse(process.argv[2] ?? '')
const bench = await SessionBench.open(root)
const session = bench.session(program, spec)
for (const input of tasks) {
  const task = bench.task(input.job, session, input)
  void bench.ended(task).then(({ result }) => appendFileSync(ends, `${JSON.stringify([task.id, result])}\n`))
}
setInterval(() => {}, 60_000)
