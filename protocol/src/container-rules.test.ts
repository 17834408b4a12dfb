import { describe, expect, it } from 'vitest'
import { allowsImage, familiarImage, liesBelow } from './container-rules.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

describe('the name of an image', () => {
  it.each([
    ['python', 'python:latest'],
    ['docker.io/library/python:3.11', 'python:3.11'],
    ['docker.io/org/tool', 'org/tool:latest'],
    ['127.0.0.1:5000/tool', '127.0.0.1:5000/tool:latest'],
    ['127.0.0.1:5000/tool:v1', '127.0.0.1:5000/tool:v1'],
    [`tool:v1@${DIGEST}`, `tool@${DIGEST}`],
    ['localhost/tool', 'localhost/tool:latest'],
  ])('%s is %s', (image, familiar) => expect(familiarImage(image)).toBe(familiar))
})

describe('an allow list of images', () => {
  it('lets everything in when it is empty', () => expect(allowsImage([], 'any/thing')).toBe(true))

  it.each([
    ['python', 'python:latest', true],
    ['python', 'python:3.11', false],
    ['python:*', 'docker.io/library/python:3.11', true],
    ['python:*', 'localhost/python:3.11', false],
    ['python:*', 'evil/python:3.11', false],
    ['docker.io/library/python:*', 'python:3', true],
    ['registry.lab/*/train:*', 'registry.lab/a/b/train:7', true],
    ['registry.lab/*/train:*', 'registry.lab/train:7', false],
    ['*', 'x', true],
    ['a*a', 'a', false],
    [`tool@${DIGEST}`, `tool:v2@${DIGEST}`, true],
  ])('%s and %s: %s', (pattern, image, isAllowed) => expect(allowsImage([pattern], image)).toBe(isAllowed))
})

describe('a folder', () => {
  it.each([
    ['/data/sets', ['/data'], true],
    ['/data', ['/data/'], true],
    ['/database', ['/data'], false],
    ['/data/../etc', ['/data'], false],
    ['/data/../etc', ['/'], false],
    ['/anything', ['/'], true],
    ['/data', [], false],
  ])('%s below %s: %s', (path, folders, isBelow) => expect(liesBelow(path, folders)).toBe(isBelow))
})
