import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { PYTHON } from './workbench.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))

it('frames are put together again wherever the engine or the socket cut them', () => {
  const script = `
import random
import container_pump
written = {1: b"", 2: b""}
def keep(fd, part):
    written[fd] += bytes(part)
container_pump.write_all = keep
random.seed(3)
for turn in range(300):
    written.update({1: b"", 2: b""})
    wanted, stream = {1: b"", 2: b""}, b""
    for _ in range(random.randrange(20)):
        out, text = random.choice((1, 2)), "é€😀".encode() * random.randrange(40)
        wanted[out] += text
        stream += bytes([out, 0, 0, 0]) + len(text).to_bytes(4, "big") + text
    frames = container_pump.Frames()
    while stream:
        cut = random.randrange(1, 50)
        frames.take(stream[:cut])
        stream = stream[cut:]
    assert written == wanted, turn
    assert frames.tail == wanted[2][-container_pump.TAIL:]
print("fine")`
  const { stdout, stderr } = spawnSync(PYTHON, ['-B', '-c', script], { cwd: HERE, encoding: 'utf8' })
  expect(stdout + stderr).toBe('fine\n')
})
