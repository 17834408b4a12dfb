import { Problem, Refused, Sha256, StoredBlob, UploadProgress } from '@stoker/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { limitsOf } from '../engine/owner-limits.ts'
import type { BlobKey } from '../outputs/artifacts/port.ts'
import { attemptGuard, attemptOf } from './attempt-auth.ts'
import { callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { sendContent } from './send-content.ts'
import { takeUpload } from './take-upload.ts'
import { checkAllButBody } from './validation.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const BYTES = 'application/octet-stream'
const tags = ['content']
export const Bytes = { content: { [BYTES]: { schema: z.string().meta({ format: 'binary' }) } } }
const OwnParams = z.object({ sha256: Sha256 })
const AttemptParams = z.object({ attempt: z.string(), sha256: Sha256 })

/** Who asks for which content, and what they may do with it. */
interface Asked {
  readonly key: BlobKey
  readonly mayRead: boolean
}

/** Content by its hash: for people their own, for a worker what its attempt needs and leaves. */
export async function addBlobRoutes(api: Api, context: RouteContext): Promise<void> {
  await api.register(async inner => {
    const scope = inner as unknown as Api
    scope.addContentTypeParser(BYTES, (_request, payload, done) => done(null, payload))
    const act = guard(context.tokens, ['admin', 'submit'])
    addRoutes(scope, context, {
      url: '/api/v1/blobs/:sha256',
      params: OwnParams,
      security: [{ token: [] }],
      onRequest: act,
      whose: 'content',
      asked: async request => {
        const { sha256 } = request.params as z.output<typeof OwnParams>
        return { key: { owner: callerOf(request).owner, sha256 }, mayRead: true }
      },
    })
    addRoutes(scope, context, {
      url: '/api/v1/attempts/:attempt/blobs/:sha256',
      params: AttemptParams,
      security: [{ worker: [] }],
      onRequest: attemptGuard(context),
      whose: "content of a worker's attempt",
      asked: async request => {
        const { sha256 } = request.params as z.output<typeof AttemptParams>
        const { owner, files } = attemptOf(request)
        return { key: { owner, sha256 }, mayRead: files.has(sha256) }
      },
    })
  })
}

interface BlobRoutes {
  readonly url: string
  readonly params: z.ZodObject
  readonly security: { readonly [scheme: string]: readonly string[] }[]
  readonly onRequest: ReturnType<typeof guard>
  readonly whose: string
  readonly asked: (request: FastifyRequest) => Promise<Asked>
}

function addRoutes(api: Api, { blobs, engine }: RouteContext, routes: BlobRoutes): void {
  const { url, params, onRequest, whose, asked } = routes
  const common = { tags, params, security: routes.security }

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { key, mayRead } = await asked(request)
    const row = mayRead ? await blobs.find(key) : null
    if (row !== null)
      return sendContent(blobs, request, reply, { ...key, size: row.size, type: BYTES, saveAs: key.sha256 })
    if (request.method === 'HEAD') reply.header('upload-offset', await blobs.offset(key))
    throw new Refused('blob.not_found', `there is no whole content ${key.sha256} that you may read`)
  }

  api.head(url, {
    schema: {
      ...common,
      summary: `Is the ${whose} here? If not, upload-offset says how much of it is`,
      response: { 200: z.null(), ...errors },
    },
    onRequest,
    handler: async (request, reply) => send(request, reply),
  })
  api.get(url, {
    schema: {
      ...common,
      summary: `Read ${whose}, whole or a range`,
      response: { 200: Bytes, 206: Bytes, 304: z.null(), ...errors },
    },
    exposeHeadRoute: false,
    onRequest,
    handler: async (request, reply) => send(request, reply),
  })
  api.put(url, {
    schema: {
      ...common,
      summary: `Store ${whose}, whole or a piece with content-range`,
      consumes: [BYTES],
      body: z.string().meta({ format: 'binary' }),
      response: { 201: StoredBlob, 202: UploadProgress, ...errors },
    },
    validatorCompiler: checkAllButBody,
    onRequest,
    handler: async (request, reply) => {
      const { key } = await asked(request)
      const { bytes } = await engine.read(state => limitsOf(state, key.owner))
      return takeUpload(blobs, request, reply, key, bytes)
    },
  })
}
