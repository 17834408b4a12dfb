import type { FastifyInstance, FastifyRequest } from 'fastify'
import { admit } from './admission.ts'
import { type KeyHolder, keyHolder } from './api-key.ts'
import { CustomBody, predefinedBody, readBody, submitBody } from './bodies.ts'
import { customSpec } from './custom-task.ts'
import { type PresetTask, predefinedTask, programSpec, submittedTask } from './preset-task.ts'
import { beginSessionTask } from './session-task.ts'
import type { TaskDesk } from './task-desk.ts'
import { labelsOf } from './task-labels.ts'

/** Tasks come in here; each is admitted before its stream begins, so that what is refused has a real status. */
export function addSubmitRoutes(service: FastifyInstance, desk: TaskDesk): void {
  const { context } = desk
  const { presets } = context
  const Submit = submitBody(presets.settings.maxTimeoutMs)
  const Predefined = predefinedBody(presets.settings.maxTimeoutMs)

  service.post('/api/tasks/submit', async (request, reply) => {
    const holder = await keyHolder(context, request)
    const body = readBody(Submit, request.body)
    const task = submittedTask(body, (await presets.current()).presets, presets.settings)
    return desk.follow(reply, holder, await begin(holder, asked(task, request)))
  })

  service.post('/api/tasks/predefined', async (request, reply) => {
    const holder = await keyHolder(context, request)
    const body = readBody(Predefined, request.body)
    const task = predefinedTask(body, (await presets.current()).presets, presets.settings)
    return desk.follow(reply, holder, await begin(holder, asked(task, request)))
  })

  service.post('/api/tasks/custom', async (request, reply) => {
    const holder = await keyHolder(context, request)
    const body = readBody(CustomBody, request.body)
    const { job_type: type, task_difficulty: difficulty, on_disconnect: onDisconnect } = body
    const spec = customSpec(body, labelsOf({ type, difficulty, connection: 'allocated', onDisconnect }))
    const waits = body.wait || asksToWait(request)
    return desk.follow(reply, holder, await admit(context, { owner: holder.owner, spec, difficulty, waits }))
  })

  /** The id of the task, once it has what it needs or stands in its queue. */
  async function begin(holder: KeyHolder, task: PresetTask): Promise<string> {
    if (task.type === 'session') return beginSessionTask(context, holder, task)
    const { difficulty, onDisconnect, waits } = task
    const labels = labelsOf({ type: task.type, difficulty, connection: 'allocated', onDisconnect })
    const spec = programSpec(task, 'job', labels, presets.settings)
    return admit(context, { owner: holder.owner, spec, difficulty, waits })
  }
}

function asked(task: PresetTask, request: FastifyRequest): PresetTask {
  return asksToWait(request) ? { ...task, waits: true } : task
}

function asksToWait({ headers }: FastifyRequest): boolean {
  return headers['x-queue'] === 'wait'
}
