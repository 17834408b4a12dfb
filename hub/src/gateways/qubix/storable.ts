/** A text of at most so many characters, none of which a column or a line could stumble over: no halves, no end marks. */
export function storable(text: string, most: number): string {
  return text.slice(0, most).replace(/[\0\p{Cs}]/gu, '\ufffd')
}
