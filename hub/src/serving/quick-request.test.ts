import { describe, expect, it } from 'vitest'
import { QuickReader } from './quick-request.ts'

const LINE = 'POST /api/v1/jobs HTTP/1.1'
const USUAL = { authorization: 'Bearer t', 'content-type': 'application/json', 'content-length': '2' }

function bytesOf(headers: Readonly<Record<string, string>>, body = '{}', line = LINE): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`${[line, ...lines].join('\r\n')}\r\n\r\n${body}`)
}

const read = (bytes: Buffer) => new QuickReader(LINE).read(bytes)

describe('a usual request', () => {
  it('is read with its headers and its body', () => {
    const body = '{"name":"größer"}'
    const headers = { ...USUAL, 'content-length': String(Buffer.byteLength(body)), 'idempotency-key': 'a b' }
    expect(read(bytesOf(headers, body))).toEqual({ headers, body })
  })

  it.each([
    { Authorization: 'Bearer t', 'Content-Type': 'application/json; charset=UTF-8', 'CONTENT-LENGTH': '2' },
    { ...USUAL, host: 'localhost:7070', connection: 'Keep-Alive', 'user-agent': 'undici', accept: '*/*' },
    { ...USUAL, 'accept-language': '*', 'sec-fetch-mode': 'cors', 'accept-encoding': 'gzip, deflate' },
  ])('may have the headers of any client: %j', headers => {
    expect(read(bytesOf(headers))).toMatchObject({ headers: USUAL_LENGTH, body: '{}' })
  })

  it('is read anew when its head is another one', () => {
    const reader = new QuickReader(LINE)
    expect(reader.read(bytesOf({ ...USUAL, authorization: 'Bearer a' }))?.headers.authorization).toBe('Bearer a')
    expect(reader.read(bytesOf({ ...USUAL, authorization: 'Bearer b' }))?.headers.authorization).toBe('Bearer b')
    expect(reader.read(bytesOf(USUAL, '{} '))).toBeNull()
    expect(reader.read(bytesOf(USUAL, '[]'))?.body).toBe('[]')
  })
})

const USUAL_LENGTH = { 'content-length': '2' }

describe('not here, but in the ordinary way, is read', () => {
  const { authorization, ...unsigned } = USUAL
  it.each<[string, Buffer]>([
    ['another path', bytesOf(USUAL, '{}', 'POST /api/v1/jobs?failFast=true HTTP/1.1')],
    ['another method', bytesOf(USUAL, '{}', 'PUT /api/v1/jobs HTTP/1.1')],
    ['an older version', bytesOf(USUAL, '{}', 'POST /api/v1/jobs HTTP/1.0')],
    ['a request without a token', bytesOf(unsigned)],
    [
      'a second token',
      Buffer.from(bytesOf(USUAL).toString().replace('\r\n\r\n', `\r\nAuthorization: ${authorization}\r\n\r\n`)),
    ],
    ['a body of another type', bytesOf({ ...USUAL, 'content-type': 'text/plain' })],
    ['a body in another encoding', bytesOf({ ...USUAL, 'content-type': 'application/json; charset=latin1' })],
    ['a body without a length', bytesOf({ authorization, 'content-type': 'application/json' })],
    ['a body in chunks', bytesOf({ ...USUAL, 'transfer-encoding': 'chunked' })],
    ['a length that is no number', bytesOf({ ...USUAL, 'content-length': '0x2' })],
    ['a length with a sign', bytesOf({ ...USUAL, 'content-length': '+2' })],
    ['a body that is not whole', bytesOf(USUAL, '{')],
    ['a body with something behind it', bytesOf(USUAL, `{}${bytesOf(USUAL)}`)],
    ['a head that is not whole', Buffer.from(`${LINE}\r\nauthorization: Bearer t\r\n`)],
    ['who waits to be asked for the body', bytesOf({ ...USUAL, expect: '100-continue' })],
    ['who closes afterwards', bytesOf({ ...USUAL, connection: 'close' })],
    ['who asks for another protocol', bytesOf({ ...USUAL, connection: 'Upgrade', upgrade: 'websocket' })],
    ['a header nobody knows here', bytesOf({ ...USUAL, 'x-forwarded-for': '10.0.0.1' })],
    ['a header that goes on in the next line', bytesOf({ ...USUAL, accept: 'a\r\n b' })],
    ['a header with a space before its colon', bytesOf({ ...USUAL, 'accept ': 'a' })],
    ['a header with an odd letter', bytesOf({ ...USUAL, accept: 'é' })],
    ['a header without a value', bytesOf({ ...USUAL, accept: '' })],
    ['lines that end without a return', Buffer.from(bytesOf(USUAL).toString().replaceAll('\r\n', '\n'))],
    ['one bare line end between headers', Buffer.from(bytesOf(USUAL).toString().replace('t\r\ncontent', 't\ncontent'))],
    ['nothing', Buffer.alloc(0)],
  ])('%s', (_, bytes) => {
    expect(read(bytes)).toBeNull()
  })
})
