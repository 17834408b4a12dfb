import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Cleanups } from './cleanups.ts'
import { type BenchOptions, readOptions, USAGE } from './config.ts'
import { drawProfiles } from './flame/draw-profiles.ts'
import { stopForGood } from './processes/living.ts'
import { markdownOf, summaryText } from './report/summary.ts'
import { runBench } from './run-bench.ts'

const say = (text: string) => process.stderr.write(`${text}\n`)
const cleanups = new Cleanups()
let isGivingUp = false
/** The first reason counts: what fails because everything is being stopped is no news. */
const giveUp = async (why: string, exitCode: number) => {
  if (isGivingUp) return
  isGivingUp = true
  say(`bench: ${why}`)
  await stopForGood()
  await cleanups.runAll().catch(error => say(String(error)))
  await stopForGood()
  process.exit(exitCode)
}

process.on('SIGINT', () => void giveUp('interrupted', 130))
process.on('SIGTERM', () => void giveUp('terminated', 143))

try {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') process.stdout.write(`${USAGE}\n`)
  else process.exitCode = await bench(options)
} catch (error) {
  await giveUp(error instanceof Error ? error.message : String(error), 2)
}

async function bench(options: BenchOptions): Promise<number> {
  const { distFolder, outFile, markdown, longestMs, profileFolder } = options
  setTimeout(() => void giveUp(`not done after ${longestMs / 60_000} minutes`, 2), longestMs).unref()
  if (!existsSync(join(distFolder, 'hub.js')))
    throw new Error(`${distFolder} should hold the bundles; npm run build makes them`)
  const summary = await runBench(options, { cleanups, say })
  await cleanups.runAll()
  if (profileFolder !== null) for (const picture of await drawProfiles(profileFolder)) say(`drawn: ${picture}`)
  await mkdir(dirname(outFile), { recursive: true })
  await writeFile(outFile, `${JSON.stringify(summary, null, 2)}\n`)
  process.stdout.write(`${markdown ? markdownOf(summary) : summaryText(summary)}\n`)
  return summary.lines.some(line => line.verdict === 'missed') ? 1 : 0
}
