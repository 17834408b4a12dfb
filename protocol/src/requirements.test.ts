import { expect, it } from 'vitest'
import { namesOnlyPackages, normalRequirements } from './requirements.ts'

it.each([
  ['comments and empty lines', 'six # old\n\n# all\nidna', 'idna\nsix'],
  ['spelling of names', 'Typing_Extensions\nzope.interface', 'typing-extensions\nzope-interface'],
  ['space around versions', 'torch == 2.1 , < 3', 'torch==2.1,<3'],
  ['order and repetition', 'b\na\nb', 'a\nb'],
  ['ends of lines', 'a\r\nb\r\n', 'a\nb'],
  ['lines that go on', 'a==1 \\\n  --hash=sha256:00', 'a==1 --hash=sha256:00'],
  ['a marker', 'a >= 1 ;  python_version < "3.12"', 'a>=1;python_version < "3.12"'],
])('equal requirements are equal whatever their %s', (_, written, normal) => {
  expect(normalRequirements(written)).toBe(normal)
  expect(normalRequirements(normal)).toBe(normal)
})

it('options stay in front and in order, addresses as they are', () => {
  expect(normalRequirements('b\n--extra-index-url https://x/y#z\n-i https://i\nA @ https://h/A.whl')).toBe(
    '--extra-index-url https://x/y#z\n-i https://i\nA @ https://h/A.whl\nb',
  )
})

it.each(['six', 'torch[opt]==2.1,<3', 'a (>=1)', 'a>=1;python_version<"3.12"', ''])('%j names only packages', line => {
  expect(namesOnlyPackages(line)).toBe(true)
})

it.each(['-e .', '--index-url https://x', 'a @ https://h/a.whl', './a', '/a.whl', 'git+https://h/a', 'a==$X', 'a;b/c'])(
  '%j does more than name a package',
  line => {
    expect(namesOnlyPackages(line)).toBe(false)
  },
)
