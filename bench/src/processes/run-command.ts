import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mayStart, whileItLives } from './living.ts'

/** Runs a command of the shell to its end and answers what it printed; one that fails is an error with its last words. */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  mayStart()
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { env, cwd: '/' }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${command} failed: ${stderr.trim() || error.message}`, { cause: error }))
    })
    if (child.pid === undefined) return
    const gone = once(child, 'exit')
    const stop = async () => void (child.kill('SIGKILL') && (await gone))
    whileItLives({ stop, isCommand: true }, gone)
  })
}
