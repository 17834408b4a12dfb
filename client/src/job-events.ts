import { Job, type ProgramEventName } from '@stoker/protocol'
import { z } from 'zod'
import type { Caller } from './caller.ts'
import { type FollowOptions, followStream } from './event-stream.ts'

const ProgramData = z.looseObject({ attempt: z.number(), stream: z.enum(['stdout', 'stderr']) })

/** What a follower of one job sees: its state (`job`, at last `end`) and what its program says. */
export type JobEvent =
  | { readonly event: 'job' | 'end'; readonly job: Job; readonly id: string | undefined }
  | {
      readonly event: ProgramEventName
      readonly data: Readonly<z.infer<typeof ProgramData>>
      readonly id: string | undefined
    }

export interface JobEventOptions extends FollowOptions {
  /** False: only the job's state and progress, none of what its program says. */
  readonly output?: boolean | undefined
}

/** Follows a job to its end; an event of a name this version does not know is passed over. */
export async function* followJob(
  caller: Caller,
  id: string,
  options: JobEventOptions = {},
): AsyncGenerator<JobEvent, void> {
  const path = `/api/v1/jobs/${encodeURIComponent(id)}/events${options.output === false ? '?output=false' : ''}`
  for await (const message of followStream(caller, path, of => of.event === 'end', options)) {
    const { event = 'message', data } = message
    if (event === 'job' || event === 'end') yield { event, job: Job.parse(JSON.parse(data)), id: message.id }
    else if (isProgramEvent(event)) yield { event, data: ProgramData.parse(JSON.parse(data)), id: message.id }
  }
}

const PROGRAM_EVENTS: Readonly<Record<ProgramEventName, true>> = {
  connection: true,
  worker: true,
  text_delta: true,
  text: true,
  logs: true,
  finish: true,
  progress: true,
  checkpoint: true,
  artifact: true,
}

function isProgramEvent(name: string): name is ProgramEventName {
  return Object.hasOwn(PROGRAM_EVENTS, name)
}
