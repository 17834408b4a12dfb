import { type Client, HubRefused } from '@stoker/client'
import { formatSize, type JobSpecInput, type ProjectSpecs, projectSpecs } from '@stoker/protocol'
import type { z } from 'zod'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { outputsFolder } from '../files/local-file.ts'
import { send } from '../files/send-files.ts'
import { takeOutputs } from '../files/take-outputs.ts'
import { TransferLine } from '../files/transfer-line.ts'
import { followToEnd, stopOnSignal } from '../follow/run-to-end.ts'
import { hint } from '../output/hints.ts'
import { shortId } from '../output/job-words.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import type { Pushed } from '../output/schemas.ts'
import { type FoundProject, findProject, type ProjectPlace } from './find-project.ts'
import { isLeftOut } from './left-out.ts'

/** Asked what Python they have; more workers than that need not be alike, but one match is enough. */
const MOST_ASKED = 20

export interface PushOptions extends OutputOptions {
  readonly follow?: boolean | undefined
  /** False: not in its image. */
  readonly container?: boolean | undefined
  readonly out?: string | undefined
}

/** Sends a project and submits it as a job; with `follow` its exit code is that of the run. */
export async function pushProject(place: ProjectPlace, options: PushOptions, cli: Cli): Promise<number> {
  const found = await findProject(place, cli.io)
  const out = printerFor(cli.io, options)
  return withHub(cli.io, options, async client => {
    await client.health()
    const stop = stopOnSignal(cli, out)
    try {
      const pushed = await sendAndSubmit(client, found, options, cli)
      for (const warning of pushed.warnings) out.note(`warning: ${plainText(warning)}`)
      if (options.follow !== true) {
        out.show(pushed, pushView)
        hint(cli.io, out, `logs -f ${shortId(pushed.id)}`, `results ${shortId(pushed.id)}`)
        return EXIT.ok
      }
      out.note(`job ${pushed.id}`)
      stop.submitted(client, pushed.id)
      const home = { out: options.out ?? outputsFolder(found.folder, shortId(pushed.id)), sent: null }
      const takeHome = () => takeOutputs(client, pushed.id, home, cli.io)
      return await followToEnd(client, pushed.id, cli, out, stop.left, takeHome)
    } finally {
      stop.release()
    }
  })
}

type Submission = z.input<typeof Pushed>

async function sendAndSubmit(
  client: Client,
  found: FoundProject,
  { container }: PushOptions,
  { io }: Cli,
): Promise<Submission> {
  const { project, folder, requirements, framework } = found
  const pythons = project.python === null ? [] : await pythonsOf(client)
  const local = { from: folder, to: '.', written: folder }
  const { entry, packed } = await send(client, local, new TransferLine(io), isLeftOut)
  const { sha256, size } = entry
  const specs = projectSpecs(project, {
    archive: { sha256, size, unpack: 'tar' },
    requirements,
    framework,
    pythons,
    labels: {},
    mayContain: container !== false,
  })
  const { job, spec, note } = await submitEither(client, specs, project.workers > 1)
  const { gpus = 0, cpus = 1, memory = 0 } = spec.resources ?? {}
  return {
    id: job.id,
    project: project.name,
    script: project.program.script,
    image: spec.image ?? null,
    resources: { gpus, cpus, memoryBytes: Number(memory) },
    sent: { files: packed?.size ?? 0, bytes: size },
    requirements: [...requirements],
    warnings: [...found.warnings, ...specs.warnings, ...note],
    unschedulable: job.unschedulable,
  }
}

/** In its image where a worker can run that, else without. What is to run as several must fit, or it would wait for ever. */
async function submitEither(client: Client, { contained, plain }: ProjectSpecs, isDistributed: boolean) {
  const note: string[] = []
  if (contained !== null) {
    try {
      return { job: await client.submit(contained, { failFast: true }), spec: contained, note }
    } catch (error) {
      if (!(error instanceof HubRefused) || error.problem.code !== 'job.unschedulable') throw error
      note.push(`it runs without its image ${contained.image}: ${error.problem.detail}`)
    }
  }
  const spec: JobSpecInput = plain
  return { job: await client.submit(spec, { failFast: isDistributed }), spec, note }
}

async function pythonsOf(client: Client): Promise<readonly string[]> {
  const ready = (await client.workers()).filter(({ state }) => state === 'ready').slice(0, MOST_ASKED)
  const details = await Promise.all(ready.map(({ id }) => client.worker(id)))
  const versions = details.flatMap(({ hardware }) => hardware.pythons.map(({ version }) => version))
  return [...new Set(versions.map(version => version.split('.').slice(0, 2).join('.')))]
}

const pushView: View<Submission> = {
  ids: ({ id }) => [id],
  human(pushed, paper) {
    const { resources, sent, requirements } = pushed
    const rows: readonly (readonly [string, string])[] = [
      ['job', pushed.id],
      ['project', plainText(pushed.project)],
      ['script', plainText(pushed.script ?? '')],
      ['image', pushed.image ?? ''],
      ['asks for', `${resources.gpus} GPUs, ${resources.cpus} CPUs, ${formatSize(resources.memoryBytes)}`],
      ['packages', requirements.length === 0 ? '' : plainText(requirements.join(', '))],
      ['sent', `${sent.files} files, ${formatSize(sent.bytes)}`],
      ['waits', plainText(pushed.unschedulable ?? '')],
    ]
    return rows
      .filter(([, text]) => text !== '')
      .map(([name, text]) => `${paper.color.dim(name.padEnd(8))}  ${text}`)
      .join('\n')
  },
}
