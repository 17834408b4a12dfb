import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type EndedReport, newsIn } from '@stoker/protocol'
import { type LeftFile, leftFiles } from '../foreign/left-files.ts'
import { lastLines } from '../foreign/log-tail.ts'
import type { PutTarget } from '../foreign/put-target.ts'
import type { HeldJob } from '../foreign/talk.ts'
import { textOf } from '../foreign/text-of.ts'
import { stamp } from './qubix-machine.ts'

/** All files of a job together that travel inside its report. */
const MAX_INLINE_BYTES = 1_000_000
const LAST_LINES = 100
/** Put into the work folder by us. */
const GIVEN = ['script.py', 'script']

export interface CompletionPorts {
  readonly workerId: string
  readonly memoryBytes: number
  readonly target: PutTarget | null
  readonly isInterrupted: boolean
  readonly now: () => number
}

interface Artifact extends Omit<LeftFile, 'path'> {
  readonly name: string
  readonly url: string | null
  readonly encoding?: 'base64'
  readonly data?: string
  readonly note?: string
}

/** The last word about a job, made once: it is sent in the same words until the backend has answered. */
export async function completionBody(job: HeldJob, end: EndedReport, ports: CompletionPorts): Promise<string> {
  const { stdout, stderr } = job.record.sizes
  const lines = {
    stdout: await lastLines(job.folder, 'stdout', stdout, LAST_LINES),
    stderr: await lastLines(job.folder, 'stderr', stderr, LAST_LINES),
  }
  const left = end.startedAt === null ? { artifacts: [], why: null } : await leftBy(job, ports)
  const { artifacts } = left
  const note = newsIn([end.note ?? '', left.why ?? ''].join('; '))
  const common = { exitCode: end.exitCode, ...lines, artifacts, ...(note === null ? {} : { note }) }
  const isDone = end.outcome === 'completed'
  const error = isDone ? null : errorOf(end, ports.isInterrupted)
  const failure = { status: 'failed', error, errorDetails: lines.stderr.join('\n'), signal: end.signal }
  return JSON.stringify({
    workerId: ports.workerId,
    worker_id: ports.workerId,
    status: isDone ? 'completed' : 'failed',
    result: isDone
      ? { ...programResult(end.result, artifacts), status: 'success', ...common }
      : { ...failure, ...common },
    result_url: artifacts.find(({ url }) => url !== null)?.url ?? null,
    error,
    metrics: metricsOf(end, ports.memoryBytes),
    timestamp: stamp(ports.now()),
  })
}

/** The same word for a backend that takes no large bodies: files by name, size and hash only. */
export function withoutInline(said: string): string | null {
  const body = JSON.parse(said) as { readonly result: { readonly artifacts: readonly Artifact[] } }
  const { artifacts } = body.result
  if (!artifacts.some(({ data }) => data !== undefined)) return null
  const slim = artifacts.map(({ data: _, encoding: __, ...artifact }) => artifact)
  return JSON.stringify({ ...body, result: { ...body.result, artifacts: slim } })
}

function errorOf({ outcome, error }: EndedReport, isInterrupted: boolean): string {
  if (outcome === 'lost' && isInterrupted) return 'interrupted'
  return error ?? outcome
}

/** A report without its files is better than none. */
async function leftBy(job: HeldJob, ports: CompletionPorts) {
  try {
    return { artifacts: await artifactsOf(job, ports), why: null }
  } catch (error) {
    job.signal.throwIfAborted()
    return {
      artifacts: [],
      why: `its files could not be read: ${textOf(error)}`,
    }
  }
}

async function artifactsOf(job: HeldJob, { target }: CompletionPorts): Promise<Artifact[]> {
  const work = join(job.folder, 'work')
  const { files } = await leftFiles(job.folder, { given: GIVEN })
  const artifacts: Artifact[] = []
  let room = MAX_INLINE_BYTES
  for (const file of files) {
    const { path, ...facts } = file
    const put = target === null ? null : await tryPut(target, job, work, file)
    if (put?.url != null) artifacts.push({ name: path, ...facts, url: put.url })
    else if (file.size <= room) {
      room -= file.size
      const data = (await readFile(join(work, path))).toString('base64')
      artifacts.push({ name: path, ...facts, url: null, encoding: 'base64', data })
    } else artifacts.push({ name: path, ...facts, url: null, ...(put === null ? {} : { note: put.why }) })
  }
  return artifacts
}

async function tryPut(target: PutTarget, { record, signal }: HeldJob, work: string, file: LeftFile) {
  try {
    return { url: await target.put(record.id, work, file, signal) }
  } catch (error) {
    signal.throwIfAborted()
    return { url: null, why: `it could not be uploaded: ${textOf(error)}` }
  }
}

/** What the program gave. Addresses in it are those of bytes that exist, or null. */
function programResult(result: EndedReport['result'], artifacts: readonly Artifact[]): Record<string, unknown> {
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    return result === null ? {} : { output: result }
  const address = (name: unknown) => artifacts.find(artifact => artifact.name === name)?.url ?? null
  const { modelUrl, checkpointUrl, images } = result
  return {
    ...result,
    ...(modelUrl === undefined ? {} : { modelUrl: address(modelUrl) }),
    ...(checkpointUrl === undefined ? {} : { checkpointUrl: address(checkpointUrl) }),
    ...(Array.isArray(images) ? { images: images.map(address) } : {}),
  }
}

function metricsOf({ usage, startedAt, at }: EndedReport, memoryBytes: number): Record<string, number> {
  const seconds = startedAt === null ? 0 : Math.round((at - startedAt) / 10) / 100
  if (usage === null) return { processingTimeSeconds: seconds }
  const { averageCpus, averageMemoryBytes, averageGpuPercent } = usage
  return {
    processingTimeSeconds: seconds,
    cpuUsageAvg: percent(averageCpus),
    ramUsageAvg: percent(averageMemoryBytes / memoryBytes),
    ...(averageGpuPercent === null ? {} : { gpuUsageAvg: averageGpuPercent }),
  }
}

function percent(share: number): number {
  return Math.round(share * 1000) / 10
}
