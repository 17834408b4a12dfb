/** A piece of one stream of a container. */
export interface Frame {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

const HEADER_BYTES = 8
const STDERR = 2

/**
 * Parts the two streams an engine sends over one connection: a header of one byte for the stream, three zeros and a
 * length, then so many bytes. What is there of a frame is given on at once; frames are not lines.
 */
export class FrameSplitter {
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  #left = 0

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = []
    let at = 0
    while (at < bytes.length) {
      if (this.#left === 0) {
        at += this.#readHeader(bytes.subarray(at))
        continue
      }
      const piece = bytes.subarray(at, at + this.#left)
      frames.push({ stream: this.#header[0] === STDERR ? 'stderr' : 'stdout', bytes: piece })
      this.#left -= piece.length
      at += piece.length
    }
    return frames
  }

  #readHeader(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, HEADER_BYTES - this.#headerBytes)
    this.#header.set(taken, this.#headerBytes)
    this.#headerBytes += taken.length
    if (this.#headerBytes === HEADER_BYTES) {
      this.#headerBytes = 0
      this.#left = this.#header.readUInt32BE(4)
    }
    return taken.length
  }
}
