import { expect, test } from 'vitest'
import { joinLine, NODE_FETCH } from './join-line.ts'

const PIN = `sha256/${'A'.repeat(43)}=`
const URL_ = 'https://10.0.0.1:7443/join/stk_x'

test('each fetcher pins the key in its own words and pipes into a shell', () => {
  expect(joinLine('curl', URL_, PIN)).toBe(`curl -sSk --pinnedpubkey 'sha256//${'A'.repeat(43)}=' '${URL_}' | sh`)
  expect(joinLine('wget', URL_, PIN, ['--install'])).toBe(
    `wget -qO- --content-on-error --no-check-certificate --pinnedpubkey='sha256//${'A'.repeat(43)}=' '${URL_}' | sh -s -- --install`,
  )
  expect(joinLine('node', URL_, PIN)).toMatch(/^node -e '[^']+' 'https:\/\/[^']+' 'sha256\/\/[^']+' \| sh$/)
  expect(joinLine('curl', URL_, null, ["it's"])).toBe(`curl -sS '${URL_}' | sh -s -- 'it'\\''s'`)
})

test('the program for node fits between single quotes and on one line', () => {
  expect(NODE_FETCH).not.toMatch(/['\n]/)
})
