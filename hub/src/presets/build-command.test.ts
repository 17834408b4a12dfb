import { expect, test } from 'vitest'
import { buildCommand, missingImage } from './build-command.ts'

const sources = {
  docker_image: 'w:1',
  source_path: '/home/a b/w',
  dockerfile: 'gpu.Dockerfile',
  build_args: { V: "it's" },
}

test('an image that is missing is built by a line that a shell takes as it is', () => {
  const line = `docker build -t w:1 -f '/home/a b/w/gpu.Dockerfile' --build-arg 'V=it'\\''s' '/home/a b/w'`
  expect(buildCommand(sources)).toBe(line)
  expect(missingImage(sources)).toBe(`no worker has w:1; build it on one of them: ${line}`)
  expect(buildCommand({ ...sources, dockerfile: 'Dockerfile', build_args: {}, source_path: '/w' })).toBe(
    'docker build -t w:1 /w',
  )
})

test('without sources it is carried over', () => {
  expect(buildCommand({ docker_image: 'w:1' })).toBeNull()
  expect(missingImage({ docker_image: 'w:1', pull: 'never' })).toBe(
    'no worker has w:1; carry it to one: docker save w:1 | ssh WORKER docker load',
  )
  expect(missingImage({ docker_image: 'w:1' })).toContain('unless a worker can pull it')
})
