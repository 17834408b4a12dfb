import { readdirSync, readFileSync } from 'node:fs'
import type { JobSpecInput } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { GatewayHouse } from '../test-gateway-house.ts'
import { call, opensQubix } from './test-contract-worker.ts'

/** What happens: someone submits, time passes, the hub is killed and started, or the worker calls and is answered. */
type Step =
  | { readonly submit: JobSpecInput }
  | { readonly passSeconds: number }
  | { readonly restart: true }
  | { readonly call: string; readonly body?: unknown; readonly status: number; readonly answer: unknown }

const FOLDER = new URL('golden/', import.meta.url)

/** The conversation in words of its own: jobs are $1, $2 in the order of their submits, moments are $at. */
async function replay(steps: readonly Step[]): Promise<readonly Step[]> {
  const house = await GatewayHouse.open(opensQubix)
  const token = await house.token('worker')
  const jobs: string[] = []
  const named = (text: string) => jobs.reduce((said, id, i) => said.replaceAll(`$${i + 1}`, id), text)
  const hidden = (text: string) =>
    jobs
      .reduce((said, id, i) => said.replaceAll(id, `$${i + 1}`), text)
      .replaceAll(/"completedAt":"[^"]*"/g, '"completedAt":"$at"')
      .replaceAll(/"provider":\{"id":"[^"]*"/g, '"provider":{"id":"$provider"')
  const heard: Step[] = []
  for (const step of steps) {
    if ('submit' in step) jobs.push(await house.submit(step.submit))
    else if ('passSeconds' in step) await house.pass(step.passSeconds * 1000)
    else if ('restart' in step) await house.restart()
    if (!('call' in step)) heard.push(step)
    else {
      const [method = '', path = ''] = named(step.call).split(' ')
      const body = step.body === undefined ? undefined : named(JSON.stringify(step.body))
      const { status, json } = await call(house, token, method, path, body)
      heard.push({ ...step, status, answer: JSON.parse(hidden(JSON.stringify(json))) })
    }
  }
  await house.close()
  return heard
}

it.each(readdirSync(FOLDER))('the conversation %s goes as it was recorded', async file => {
  const steps: readonly Step[] = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))
  expect(await replay(steps)).toEqual(steps)
})
