import { Device, Problem, QuarantineOrder, Refused } from '@stoker/protocol'
import { z } from 'zod'
import type { State } from '../engine/state.ts'
import { callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { deviceByUuid, viewDevice } from './device-views.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const DeviceRef = z.object({ uuid: z.string() })
const tags = ['workers']

export function addDeviceRoutes(api: Api, { engine, tokens }: RouteContext): void {
  const rule = guard(tokens, ['admin'])

  api.post('/api/v1/devices/:uuid/quarantine', {
    schema: {
      summary: 'Keep a device from all new jobs',
      tags,
      params: DeviceRef,
      body: QuarantineOrder,
      response: { 200: Device, ...errors },
    },
    onRequest: rule,
    handler: async request => {
      const { uuid } = request.params
      await engine.execute({ kind: 'quarantine', uuid, reason: request.body.reason, by: callerOf(request).owner })
      return engine.read(state => knownDevice(state, uuid))
    },
  })

  api.delete('/api/v1/devices/:uuid/quarantine', {
    schema: {
      summary: 'Give a quarantined device to jobs again',
      tags,
      params: DeviceRef,
      response: { 204: z.null(), ...errors },
    },
    onRequest: rule,
    handler: async (request, reply) => {
      await engine.execute({ kind: 'releaseDevice', uuid: request.params.uuid, by: callerOf(request).owner })
      return reply.code(204).send(null)
    },
  })
}

function knownDevice(state: State, uuid: string): Device {
  const gpu = deviceByUuid(state, uuid)
  if (gpu === undefined) throw new Refused('device.not_found', `the worker with device ${uuid} was removed meanwhile`)
  return viewDevice(gpu, state)
}
