import type { Finding } from '@stoker/protocol'
import { probeSandbox, type SandboxProbe } from '../executors/probe-sandbox.ts'
import { findPythons } from '../probe/python.ts'

/** Whether programs can run here, how far they are kept apart, and what holds them to their limits. */
export async function examinePrograms(): Promise<Finding[]> {
  const [python] = await findPythons()
  if (python === undefined) return [noPython]
  const probe = await probeSandbox({ python: python.path })
  return [
    { check: 'python', level: 'ok', text: `Python ${python.version} at ${python.path}`, todo: null },
    sandboxFinding(probe),
    ...(probe.works ? [internetFinding(probe), limitsFinding(probe)] : []),
  ]
}

const noPython: Finding = {
  check: 'python',
  level: 'bad',
  text: 'no Python 3.10 or newer was found: only inline job types run here',
  todo: 'install it, like: apt install python3',
}

function sandboxFinding({ works, why }: SandboxProbe): Finding {
  if (works) return { check: 'sandbox', level: 'ok', text: 'a sandbox ran', todo: null }
  return {
    check: 'sandbox',
    level: 'warn',
    text: `no sandbox works: ${why}`,
    todo: 'apt install bubblewrap; in a container allow user namespaces; or start the worker with --allow-unsandboxed',
  }
}

function internetFinding({ internet, why }: SandboxProbe): Finding {
  if (internet) return { check: 'network', level: 'ok', text: 'a sandbox ran with user-mode network', todo: null }
  const todo = 'apt install slirp4netns, for jobs that ask for network: internet'
  return { check: 'network', level: 'warn', text: why, todo }
}

function limitsFinding({ limitsBy }: SandboxProbe): Finding {
  if (limitsBy === 'cgroup') return { check: 'limits', level: 'ok', text: 'limits are held by cgroups', todo: null }
  return {
    check: 'limits',
    level: 'warn',
    text: limitsBy === 'rlimit' ? 'memory is limited by sampling, processor share is not' : 'nothing limits programs',
    todo: 'run the worker as a systemd unit with Delegate=yes, or as root where cgroups are writable',
  }
}
