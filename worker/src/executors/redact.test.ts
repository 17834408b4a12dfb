import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { PYTHON } from './workbench.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))

function python(script: string): string {
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', script], { cwd: HERE, encoding: 'utf8' })
  return stdout + stderr
}

const START = `
import base64, json, random
from keeper_redact import Redactor, hidden_forms
def redactor(**values):
    hidden = [{"name": name, "value": base64.b64encode(value).decode()} for name, value in values.items()]
    return Redactor(hidden_forms({"hidden": hidden}))
def whole(redact, *parts):
    return b"".join([*map(redact.feed, parts), redact.flush()])
`

it('hides a value wherever output is cut, and changes nothing else', () => {
  const script = `${START}
random.seed(7)
values = {"A": b"abcabcabcabd", "B": b"abcabcabcabdxyz", "C": b"bcabcabca"}
for turn in range(3000):
    text = b"".join(random.choice([b"abc", b"abd", b"a", b"x", b"yz", *values.values()]) for _ in range(30))
    cuts = sorted(random.randrange(len(text) + 1) for _ in range(random.randrange(9)))
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]
    expected = whole(redactor(**values), text)
    assert whole(redactor(**values), *parts) == expected, (text, parts)
    assert not any(value in expected for value in values.values()), text
for turn in range(300):
    plain = bytes(random.randrange(256) for _ in range(500)).replace(b"bcab", b"----")
    assert whole(redactor(**values), plain[:77], plain[77:]) == plain
print("fine")`
  expect(python(script)).toBe('fine\n')
})

it('holds back only what may be the beginning of a value', () => {
  const script = `${START}
redact = redactor(KEY=b"correct-horse")
assert redact.feed(b"hello\\n") == b"hello\\n"
assert redact.feed(b"a line and corr") == b"a line and "
assert redact.feed(b"idor\\n") == b"corridor\\n"
assert redact.feed(b"correct-hors") == b""
assert redact.feed(b"e!") == b"***KEY***!"
assert redact.feed(b"corr") + redact.flush() == b"corr"
print("fine")`
  expect(python(script)).toBe('fine\n')
})

it('knows a value by its lines, in JSON and in a URL, and leaves short ones alone', () => {
  const script = `${START}
pem = b"-----BEGIN KEY-----\\nMIIEvQIBADANBg\\nkqhkiG9w0BAQEF\\n-----END KEY-----\\n"
redact = redactor(PEM=pem, QUOTED='p"a/ss wörd'.encode(), SHORT=b"yes")
print(whole(redact, b"x kqhkiG9w0BAQEF y yes\\n").decode(), end="")
print(whole(redact, json.dumps({"v": 'p"a/ss wörd'}).encode()).decode())
print(whole(redact, json.dumps({"v": 'p"a/ss wörd'}, ensure_ascii=False).encode()).decode())
print(whole(redact, b"https://x/?t=p%22a%2Fss%20w%C3%B6rd").decode())
print(whole(redact, pem).decode())`
  expect(python(script)).toBe(
    'x ***PEM*** y yes\n{"v": "***QUOTED***"}\n{"v": "***QUOTED***"}\nhttps://x/?t=***QUOTED***\n***PEM***\n\n',
  )
})
