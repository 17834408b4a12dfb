import type { FastifyInstance, FastifyRequest } from 'fastify'
import { admit } from './admission.ts'
import { keyHolder } from './api-key.ts'
import { CustomBody, readBody } from './bodies.ts'
import { customSpec } from './custom-task.ts'
import type { TaskDesk } from './task-desk.ts'
import { labelsOf } from './task-labels.ts'

/** Tasks come in here; each is admitted before its stream begins, so that what is refused has a real status. */
export function addSubmitRoutes(service: FastifyInstance, desk: TaskDesk): void {
  const { context } = desk

  service.post('/api/tasks/custom', async (request, reply) => {
    const holder = await keyHolder(context, request)
    const body = readBody(CustomBody, request.body)
    const labels = labelsOf({
      type: body.job_type,
      difficulty: body.task_difficulty,
      connection: 'allocated',
      onDisconnect: body.on_disconnect,
    })
    const spec = customSpec(body, labels)
    const waits = body.wait || asksToWait(request)
    const id = await admit(context, { owner: holder.owner, spec, difficulty: body.task_difficulty, waits })
    return desk.follow(reply, holder, id)
  })
}

function asksToWait({ headers }: FastifyRequest): boolean {
  return headers['x-queue'] === 'wait'
}
