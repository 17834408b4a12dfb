import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Api } from './context.ts'

/** Nothing is fetched from elsewhere, whatever the page's code would like to. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const CONFIGURATION = {
  url: '../openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Stoker API</title>
  </head>
  <body>
    <div id="app"></div>
    <script src="reference.js"></script>
    <script>Scalar.createApiReference('#app', ${JSON.stringify(CONFIGURATION)})</script>
  </body>
</html>
`

/** The reference page; its code comes from the installed package and is read when someone looks. */
export function addDocsRoutes(api: Api): void {
  const schema = { hide: true }
  api.get('/docs', { schema, handler: async (_request, reply) => reply.redirect('/docs/', 302) })
  api.get('/docs/', {
    schema,
    handler: async (_request, reply) =>
      reply.header('content-type', 'text/html; charset=utf-8').header('content-security-policy', POLICY).send(PAGE),
  })
  api.get('/docs/reference.js', {
    schema,
    handler: async (_request, reply) =>
      reply
        .header('content-type', 'text/javascript; charset=utf-8')
        .header('cache-control', 'public, max-age=3600')
        .send(await readFile(referenceFile())),
  })
}

function referenceFile(): string {
  const entry = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference')
  return join(dirname(entry), 'js', 'standalone.js')
}
