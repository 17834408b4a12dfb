/** Words as they may stand inside of a picture. */
export function svgText(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
