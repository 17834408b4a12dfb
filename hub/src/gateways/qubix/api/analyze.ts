import multipart, { type MultipartFile } from '@fastify/multipart'
import { formatSize, Refused } from '@stoker/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callerOf, LOOKERS } from './caller.ts'
import type { ConsumerContext } from './context.ts'
import { type Analysis, analyzeSource, formOf, type SourceForm } from './formulas/analyze-source.ts'
import { notebookCode } from './formulas/notebook-code.ts'

const MAX_FILE_BYTES = 500 * 1024 * 1024
/** What is looked at; the rest of a longer file is counted and let go. */
const LOOKED_BYTES = 4 * 1024 * 1024

/** What a file would need to run; nothing of it is kept. */
export function addAnalyzeRoute(scope: FastifyInstance, context: ConsumerContext): void {
  scope.register(async form => {
    await form.register(multipart, {
      throwFileSizeLimit: false,
      limits: { files: 1, fileSize: MAX_FILE_BYTES, fields: 20, fieldSize: 64 * 1024, parts: 30 },
    })
    form.post(
      '/api/jobs/analyze',
      {
        bodyLimit: MAX_FILE_BYTES + 1024 * 1024,
        onRequest: async request => {
          await callerOf(context, request, LOOKERS)
        },
      },
      async request => {
        const file = await fileOf(request)
        const source = formOf(file.filename)
        if (source === null) {
          file.file.resume()
          throw new Refused(
            'request.invalid',
            `file: found ${JSON.stringify(file.filename.slice(0, 100))}; looked into are Python (.py), notebooks (.ipynb) and Dockerfiles`,
          )
        }
        const { text, bytes } = await beginningOf(file)
        return { success: true, fileName: file.filename, analysis: viewAnalysis(analyzed(source, text, bytes)) }
      },
    )
  })
}

async function fileOf(request: FastifyRequest): Promise<MultipartFile> {
  if (!request.isMultipart())
    throw new Refused('request.unsupported', 'a form (multipart/form-data) with the part "file" is expected')
  const file = await request.file().catch(broken)
  if (file !== undefined) return file
  throw new Refused('request.invalid', 'file: missing; the form has no such part')
}

async function beginningOf({ file }: MultipartFile): Promise<{ text: string; bytes: number }> {
  const kept: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of file as AsyncIterable<Buffer>) {
      if (bytes < LOOKED_BYTES) kept.push(part.subarray(0, LOOKED_BYTES - bytes))
      bytes += part.length
    }
  } catch (error) {
    return broken(error)
  }
  if (file.truncated)
    throw new Refused('request.too_large', `the file is longer than the ${formatSize(MAX_FILE_BYTES)} that are taken`)
  return { text: Buffer.concat(kept).toString('utf8'), bytes }
}

/** Forms break off and lie about their parts: none of that is the hub's fault. */
function broken(error: unknown): never {
  throw new Refused('request.invalid', `the form cannot be read: ${error instanceof Error ? error.message : error}`)
}

function analyzed(source: SourceForm, text: string, bytes: number): Analysis {
  if (source !== 'notebook' || bytes > LOOKED_BYTES) return analyzeSource(source, text, bytes)
  const code = notebookCode(text)
  if (code === null) throw new Refused('request.invalid', 'file: its name is of a notebook, its content is none')
  return analyzeSource(source, code, bytes)
}

function viewAnalysis({ jobType, detectedFramework, needs, confidence }: Analysis) {
  return {
    jobType,
    detectedFramework,
    estimatedVRAM: needs.vramGb,
    estimatedCompute: needs.tflops,
    estimatedRAM: needs.ramGb,
    estimatedStorage: needs.storageGb,
    confidence,
  }
}
