import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { ChildProgram } from './child-program.ts'
import { IMAGE } from './engine.ts'

/** The example of this repository. */
export const LOADING = fileURLToPath(new URL('../../jobs/loading', import.meta.url))

/** Of the images that are built of such folders: as the old service takes them, and one that is kept between tasks. */
export const PRESETS = `models:
  answer:
    inference:
      docker_image: "answer:latest"
      command: ["python", "/app/worker.py"]
  loading:
    inference:
      docker_image: "loading-example:latest"
      command: ["python", "/app/worker.py"]
      env_vars: {MODEL_NAME: "test-loading"}
    warm:
      docker_image: "counting:latest"
      command: ["python", "/app/worker.py", "/tmp/marks"]
      type: session
      resources: {gpus: 1}
      session: {idleTimeout: 3s}
`

const WORKER = `import json
def emit(event, **fields): print(json.dumps({"event": event, **fields}), flush=True)
emit("connection", status="connected"); emit("text", content="42"); emit("finish", status="completed")
`
const DOCKERFILE = `FROM ${IMAGE}
WORKDIR /app
COPY worker.py /app/worker.py
RUN chmod +x /app/worker.py
CMD ["python", "/app/worker.py"]
`

/** A program as those of the old service are written: three files, nothing of Stoker in them. */
export async function writeAnswerFolder(folder: string): Promise<void> {
  await writeAround(folder, 'answer')
  await writeFile(join(folder, 'worker.py'), WORKER)
}

/** The same around a program of ours. */
export async function writeFolderOf(program: string, folder: string, name: string): Promise<void> {
  await writeAround(folder, name)
  await copyFile(program, join(folder, 'worker.py'))
}

async function writeAround(folder: string, name: string): Promise<void> {
  await mkdir(folder)
  await writeFile(join(folder, 'Dockerfile'), DOCKERFILE)
  await writeFile(join(folder, 'build.sh'), `set -e\ndocker build -t ${name}:latest .\n`)
}

/** Runs the folder's own build.sh in it, on the engine of that socket. */
export async function buildFolder(folder: string, socket: string): Promise<void> {
  const env = { DOCKER_HOST: `unix://${socket}` }
  const built = new ChildProgram({
    script: 'build.sh',
    args: [],
    env,
    interpreter: 'sh',
    inside: ['env', '-C', folder],
  })
  expect(await built.exited, built.stderr).toMatchObject({ code: 0 })
}
