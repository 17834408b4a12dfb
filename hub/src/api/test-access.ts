import { sha256 } from '@stoker/files'

/**
 * Who may do what, for every route of the published document. A route without a line here fails the first test.
 * open: anyone. people: any role. own: the job's owner, with any role. act: submit. ownAct: submit, the job's owner.
 * scrape: read. rule: admin only. workers: no token of people, an admin's neither. An admin may do everything else.
 * ownScope: like own, but another's is named in the path, so it is forbidden, not hidden.
 */
type Access = 'open' | 'people' | 'own' | 'act' | 'ownAct' | 'scrape' | 'rule' | 'workers' | 'ownScope'
export interface Line {
  readonly access: Access
  /** Instead of the path of the document with the parameters filled in. */
  readonly query?: string
  readonly body?: object | string
  /** What is named has ended. */
  readonly isOver?: boolean
  /** What success is, where the document promises several. */
  readonly success?: number
  /** What the parameter names; made anew for each call, because some calls use it up. */
  readonly param?:
    | 'job'
    | 'ended job'
    | 'worker'
    | 'token'
    | 'secret'
    | 'new secret'
    | 'group'
    | 'session'
    | 'schedule'
    | 'webhook'
    | 'device'
    | 'listener'
    | 'artifact'
    | 'blob'
    | 'owner'
    | 'preset'
}

export const CONTENT = 'a few bytes'
export const CONTENT_NAME = sha256(CONTENT)

export const MATRIX: Readonly<Record<string, Line>> = {
  'get /health': { access: 'open' },
  'get /metrics': { access: 'scrape' },
  'get /api/v1/me': { access: 'people' },
  'get /api/v1/counts': { access: 'people' },
  'get /api/v1/feed': { access: 'people' },
  'get /api/v1/jobs': { access: 'people' },
  'post /api/v1/jobs': { access: 'act', body: { type: 'noop' } },
  'get /api/v1/jobs/{id}': { access: 'own', param: 'job' },
  'get /api/v1/jobs/{id}/explain': { access: 'own', param: 'job' },
  'get /api/v1/jobs/{id}/events': { access: 'own', param: 'job' },
  'get /api/v1/jobs/{id}/logs': { access: 'own', param: 'job' },
  'post /api/v1/jobs/{id}/cancel': { access: 'ownAct', param: 'job' },
  'post /api/v1/jobs/{id}/retry': { access: 'ownAct', param: 'ended job' },
  'get /api/v1/workers': { access: 'people' },
  'get /api/v1/workers/{id}': { access: 'people', param: 'worker' },
  'post /api/v1/workers/{id}/drain': { access: 'rule', param: 'worker' },
  'post /api/v1/workers/{id}/resume': { access: 'rule', param: 'worker' },
  'delete /api/v1/workers/{id}': { access: 'rule', param: 'worker' },
  'get /api/v1/tokens': { access: 'rule' },
  'post /api/v1/tokens': { access: 'rule', body: { role: 'read' } },
  'delete /api/v1/tokens/{id}': { access: 'rule', param: 'token' },
  'get /api/v1/jobs/{id}/artifacts': { access: 'own', param: 'artifact' },
  'get /api/v1/jobs/{id}/artifacts.tar': { access: 'own', param: 'artifact' },
  'get /api/v1/jobs/{id}/artifacts/{*}': { access: 'own', param: 'artifact', success: 200 },
  'head /api/v1/jobs/{id}/artifacts/{*}': { access: 'own', param: 'artifact', success: 200 },
  'post /api/v1/jobs/{id}/hold': { access: 'ownAct', param: 'job' },
  'post /api/v1/jobs/{id}/release': { access: 'ownAct', param: 'job' },
  'patch /api/v1/jobs/{id}': { access: 'ownAct', param: 'job', body: { priority: 3 } },
  'get /api/v1/blobs/{sha256}': { access: 'act', param: 'blob', success: 200 },
  'put /api/v1/blobs/{sha256}': { access: 'act', param: 'blob', body: CONTENT, success: 201 },
  'get /api/v1/attempts/{attempt}/blobs/{sha256}': { access: 'workers' },
  'put /api/v1/attempts/{attempt}/blobs/{sha256}': { access: 'workers', body: CONTENT },
  'get /api/v1/gc': { access: 'rule' },
  'post /api/v1/gc': { access: 'rule' },
  'get /api/v1/groups': { access: 'people' },
  'get /api/v1/groups/{id}': { access: 'own', param: 'group' },
  'post /api/v1/groups/{id}/cancel': { access: 'ownAct', param: 'group' },
  'post /api/v1/groups/{id}/retry': { access: 'ownAct', param: 'group', isOver: true },
  'get /api/v1/sessions': { access: 'people' },
  'post /api/v1/sessions': { access: 'act', body: { command: 'x' } },
  'get /api/v1/sessions/{id}': { access: 'own', param: 'session' },
  'delete /api/v1/sessions/{id}': { access: 'ownAct', param: 'session' },
  'post /api/v1/sessions/{id}/keepalive': { access: 'ownAct', param: 'session' },
  'post /api/v1/sessions/{id}/tasks': { access: 'ownAct', param: 'session', body: { input: {} } },
  'get /api/v1/schedules': { access: 'people' },
  'post /api/v1/schedules': { access: 'act', body: { name: 'x', cron: '0 3 * * *', spec: { type: 'noop' } } },
  'get /api/v1/schedules/{id}': { access: 'own', param: 'schedule' },
  'patch /api/v1/schedules/{id}': { access: 'ownAct', param: 'schedule', body: { enabled: false } },
  'delete /api/v1/schedules/{id}': { access: 'ownAct', param: 'schedule' },
  'post /api/v1/schedules/{id}/run': { access: 'ownAct', param: 'schedule' },
  'get /api/v1/presets': { access: 'people' },
  'get /api/v1/presets/{name}': { access: 'people', param: 'preset' },
  'get /api/v1/presets/{model}/{preset}': { access: 'people', param: 'preset' },
  'get /api/v1/owners': { access: 'people' },
  'get /api/v1/owners/{owner}': { access: 'ownScope', param: 'owner' },
  'get /api/v1/owners/{owner}/limits': { access: 'ownScope', param: 'owner' },
  'put /api/v1/owners/{owner}/limits': { access: 'rule', param: 'owner', body: { queued: 1000 } },
  'delete /api/v1/owners/{owner}/limits': { access: 'rule', param: 'owner' },
  'get /api/v1/webhooks': { access: 'people' },
  'post /api/v1/webhooks': { access: 'act', body: { url: 'https://example.org/' } },
  'get /api/v1/webhooks/{id}': { access: 'own', param: 'webhook' },
  'delete /api/v1/webhooks/{id}': { access: 'ownAct', param: 'webhook' },
  'post /api/v1/webhooks/{id}/ping': { access: 'ownAct', param: 'webhook' },
  'post /api/v1/devices/{uuid}/quarantine': { access: 'rule', param: 'device', body: { reason: 'hot' } },
  'delete /api/v1/devices/{uuid}/quarantine': { access: 'rule', param: 'device' },
  'get /api/v1/listeners': { access: 'rule' },
  'post /api/v1/listeners': { access: 'rule', body: { url: 'https://127.0.0.1:0' } },
  'delete /api/v1/listeners/{name}': { access: 'rule', param: 'listener' },
  'get /api/v1/secrets': { access: 'people' },
  'put /api/v1/secrets/{name}': { access: 'act', param: 'new secret', body: { value: 'v' } },
  'delete /api/v1/secrets/{name}': { access: 'ownAct', param: 'secret' },
  'post /api/v1/secret-key/rotate': { access: 'rule' },
  'get /api/v1/audit': { access: 'rule' },
}
