import { z } from 'zod'
import type { DescribedRoute } from '../../serving/described-route.ts'
import { CustomBody, predefinedBody, submitBody } from './bodies.ts'

const ErrorBody = z.object({
  detail: z.union([
    z.string(),
    z.array(z.object({ type: z.string(), loc: z.array(z.union([z.string(), z.int()])), msg: z.string() })),
  ]),
})

const common = { tag: 'gpu-service', security: 'key', error: ErrorBody, answers: ['application/json'] } as const
const open = { ...common, security: null } as const
const stream = { ...common, answers: ['text/event-stream'] } as const

/** The routes of the dialect, from its own root on. */
export function describedRoutes(maxTimeoutMs: number): readonly DescribedRoute[] {
  const submit = { ...stream, method: 'post' } as const
  return [
    { ...open, method: 'get', path: '/', summary: 'That it runs, and its version' },
    { ...open, method: 'get', path: '/health', summary: 'GPUs, sessions and tasks in figures' },
    { ...open, method: 'get', path: '/health/resources', summary: 'Who has which GPU' },
    {
      ...submit,
      path: '/api/tasks/submit',
      body: submitBody(maxTimeoutMs),
      summary: 'A task of a model and its preset, as a stream',
    },
    {
      ...submit,
      path: '/api/tasks/predefined',
      body: predefinedBody(maxTimeoutMs),
      summary: 'A task by its definition, as a stream',
    },
    { ...submit, path: '/api/tasks/custom', body: CustomBody, summary: 'A task with an image of its own, as a stream' },
    { ...common, method: 'get', path: '/api/tasks', summary: 'List tasks, newest first' },
    { ...common, method: 'get', path: '/api/tasks/{id}', summary: 'Show a task' },
    { ...stream, method: 'get', path: '/api/tasks/{id}/events', summary: 'The stream of a task, from any event on' },
    { ...common, method: 'post', path: '/api/tasks/{id}/cancel', summary: 'Cancel a task' },
    { ...common, method: 'get', path: '/api/sessions', summary: 'List sessions that live' },
    { ...common, method: 'get', path: '/api/sessions/{id}', summary: 'Show a session' },
    { ...common, method: 'delete', path: '/api/sessions/{id}', summary: 'End a session' },
    {
      ...common,
      method: 'post',
      path: '/api/sessions/{id}/keepalive',
      summary: 'Let the idle time of a session begin anew',
    },
  ]
}
