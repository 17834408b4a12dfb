// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** Marks on the character before them, joiners, and vowels inside a Korean syllable take no place of their own. */
const ZERO = /[\p{Mn}\p{Me}\u1160-\u11ff\u200b-\u200d\u2060\ufeff]/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII needs no closer look
const ASCII = /^[\u0000-\u007f]*$/

/** Names come from strangers: nothing in them may move the cursor, change colours or turn the direction of text. */
export function plainText(text: string): string {
  return text.replace(CONTROL, '�')
}

/** How many columns a terminal gives the text. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const character of text) width += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

/** Cut to a width, with a mark where something is missing. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  if (width < 1) return ''
  let kept = ''
  let used = 1
  for (const character of text) {
    used += widthOf(character)
    if (used > width) break
    kept += character
  }
  return `${kept}…`
}
