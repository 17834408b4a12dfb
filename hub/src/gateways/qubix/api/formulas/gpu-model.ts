/** A model as the tables spell it: maker and family left out, suffixes such as Ti, SUPER and Laptop kept. */
export function shortModel(name: string): string {
  return name
    .replaceAll(/\b(nvidia|geforce)\b/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
