import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { ended, logOf } from './harness/jobs.ts'
import { openGate } from './harness/programs.ts'

let house: House
beforeEach(async () => {
  house = await House.open()
  await house.startHub()
})
afterEach(() => house.close())

/** Counts to six, writes down how far it is, and waits at three until a gate is open. */
const counting = (gate: string) => `
import json, os, pathlib, time
folder = pathlib.Path(os.environ["CHECKPOINT_DIR"])
folder.mkdir(exist_ok=True)
left = os.environ.get("RESUME_FROM")
start = int(pathlib.Path(left).read_text()) if left else 0
print("from", start, flush=True)
for step in range(start + 1, 7):
    file = folder / f"step-{step}"
    file.write_text(str(step))
    print(json.dumps({"event": "checkpoint", "path": str(file), "step": step}), flush=True)
    while step == 3 and not os.path.exists(${JSON.stringify(gate)}):
        time.sleep(0.02)
print("counted", flush=True)
`

/** Resolves when the hub has kept a checkpoint of this step. */
async function kept(step: number): Promise<void> {
  for await (const { changes } of house.client.feed({ after: 0 }))
    for (const change of changes) {
      const { checkpoint } = change as { checkpoint?: { step: number } }
      if (change.c === 'checkpointed' && checkpoint?.step === step) return
    }
}

it('an attempt goes on from the newest checkpoint of the one before, on another worker', async () => {
  const first = await house.startWorker('w1')
  const script = counting(house.path('gate'))
  const { id } = await house.client.submit({
    type: 'custom_script',
    input: { script },
    isolation: 'none',
    lostAfter: '3s',
  })
  await kept(3)
  await house.startWorker('w2')
  await first.kill()
  await house.killKeepers('w1')
  await openGate(house, 'gate')
  const job = await ended(house.client, id)
  expect(job).toMatchObject({ state: 'succeeded', attempts: 2, worker: { name: 'w2' } })
  expect(await logOf(house.client, id, 'stdout')).toMatch(/^from 3\n[\s\S]*counted\n$/)
})
