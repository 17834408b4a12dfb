import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Answer, TestGateway } from './test-gateway.ts'

export const GPUS = [{ gpu_id: 0, name: 'NVIDIA A100', memory_mb: 40_960 }]
/** What a runner says of a program that ended well. */
export const END = { exit_code: 0, signal: null, ended_by: 'itself', artifacts: [] }

interface NodeOptions {
  readonly max?: number
  readonly gpus?: readonly object[]
  readonly docker?: boolean
}

export function registration(id: string, { max = 1, gpus = [], docker = false }: NodeOptions = {}) {
  const info = { worker_id: id, hostname: 'box7', platform: 'linux', python_version: '3.11.2', cpu_count: 16 }
  return {
    worker_info: { ...info, memory_total_gb: 23.5, disk_total_gb: 251.9, gpu_count: gpus.length, gpus },
    capabilities: { max_concurrent_jobs: max, supports_gpu: gpus.length > 0, supports_docker: docker },
  }
}

/** The calls of nodes and runners, as they make them. */
export function nodesOf(current: () => TestGateway) {
  return {
    async register(id: string, options: NodeOptions = {}): Promise<void> {
      const answer = await current().call('POST', '/api/workers/register', { body: registration(id, options) })
      expect(answer).toMatchObject({ status: 200, json: { success: true, worker_id: id, server: 'stoker' } })
    },

    /** The ids of what it was given. */
    async poll(id: string): Promise<string[]> {
      const query = new URLSearchParams({ worker_id: id })
      const { status, json } = await current().call('GET', `/api/workers/jobs?${query}`)
      expect(status).toBe(200)
      return json.jobs.map(({ job_id }: { job_id: string }) => job_id)
    },

    async say(worker_id: string, job_id: string, status: string, more: object = {}): Promise<void> {
      const body = { worker_id, job_id, status, timestamp: 1_700_000_000.52, ...more }
      expect((await current().call('POST', '/api/workers/job-status', { body })).status).toBe(200)
    },

    leave: (worker_id: string) => current().call('POST', '/api/workers/unregister', { body: { worker_id } }),

    stateOf: async (id: string) => (await current().job(id)).state,

    remarksOn: async (id: string) =>
      (await current().engine.read(state => state.workers.get(`trainforge:${id}`)?.facts))?.abilities.note,

    /** Speaks as the runner of an attempt, whose token is in its folder. */
    async runner(attempt: string): Promise<(verb: string, body?: unknown, method?: string) => Promise<Answer>> {
      const { token } = JSON.parse(await readFile(join(current().projects, attempt, 'stoker.json'), 'utf8'))
      return (verb, body = {}, method = 'POST') => {
        const type = body instanceof Uint8Array ? { 'content-type': 'application/octet-stream' } : {}
        const headers = { authorization: `Bearer ${token}`, ...type }
        return current().call(method, `/api/attempts/${attempt}/${verb}`, { token: null, headers, body })
      }
    },
  }
}
