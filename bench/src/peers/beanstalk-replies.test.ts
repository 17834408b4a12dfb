import { expect, it } from 'vitest'
import { ReplyParser } from './beanstalk-replies.ts'

const STREAM = 'USING q\r\nRESERVED 7 4\r\na\r\nb\r\nOK 0\r\n\r\nDELETED\r\n'
const REPLIES = [
  { words: ['USING', 'q'], body: '' },
  { words: ['RESERVED', '7', '4'], body: 'a\r\nb' },
  { words: ['OK', '0'], body: '' },
  { words: ['DELETED'], body: '' },
]

it('reads the same answers wherever the stream is cut', () => {
  for (const size of [1, 2, 3, 5, STREAM.length]) {
    const parser = new ReplyParser()
    const parts = Array.from({ length: Math.ceil(STREAM.length / size) }, (_, i) =>
      STREAM.slice(i * size, (i + 1) * size),
    )
    expect(parts.flatMap(part => parser.push(part))).toEqual(REPLIES)
  }
})
