const HEADER_BYTES = 4
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** A frame is a JSON header with its length in front, then the raw bytes the header speaks of. */
export function encodeFrame(json: string, payload: readonly Uint8Array[] = []): Uint8Array {
  const header = encoder.encode(json)
  const total = payload.reduce((sum, part) => sum + part.length, HEADER_BYTES + header.length)
  const frame = new Uint8Array(total)
  new DataView(frame.buffer).setUint32(0, header.length)
  frame.set(header, HEADER_BYTES)
  let at = HEADER_BYTES + header.length
  for (const part of payload) {
    frame.set(part, at)
    at += part.length
  }
  return frame
}

/** Throws on anything that is not a frame; the payload is a view into the given bytes. */
export function decodeFrame(frame: Uint8Array): { readonly message: unknown; readonly payload: Uint8Array } {
  if (frame.length < HEADER_BYTES)
    throw new Error(`a frame has at least ${HEADER_BYTES} bytes, this one ${frame.length}`)
  const length = new DataView(frame.buffer, frame.byteOffset, frame.byteLength).getUint32(0)
  if (HEADER_BYTES + length > frame.length) {
    throw new Error(`the frame says its header has ${length} bytes, but only ${frame.length - HEADER_BYTES} follow`)
  }
  const header = frame.subarray(HEADER_BYTES, HEADER_BYTES + length)
  return { message: JSON.parse(decoder.decode(header)), payload: frame.subarray(HEADER_BYTES + length) }
}
