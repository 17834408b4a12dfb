import type { Client } from '@stoker/client'
import type { JobSpecInput } from '@stoker/protocol'
import type { Io } from '../io.ts'
import { wholeIds } from '../select/whole-ids.ts'
import { applySpecOptions, type SpecOptions } from '../spec/spec-options.ts'
import { type SentSpec, sendFiles } from './send-files.ts'
import { TransferLine } from './transfer-line.ts'

/** A spec as a hub takes it: its files are there, jobs have their whole ids, and the command line has had its say. */
export async function readySpec(
  client: Client,
  found: Parameters<typeof sendFiles>[1],
  options: SpecOptions,
  io: Io,
): Promise<Omit<SentSpec, 'spec'> & { readonly spec: JobSpecInput }> {
  const whole = await wholeIds(client, options)
  const { spec, sent } = await sendFiles(client, found, options.files ?? [], io.folder, new TransferLine(io))
  return { spec: applySpecOptions(spec, whole), sent }
}
