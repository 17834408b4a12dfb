const SIZE = /^(\d+(?:\.\d+)?)\s*(B|[kKMGT]i?B?)?$/
const DURATION_PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const DECIMAL: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, G: 1e9, T: 1e12 }
const BINARY: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }
const MS: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3 }

/** `24GB` counts in thousands, `16Gi` in 1024s, a bare number in bytes; null if the text is no size. */
export function parseSize(text: string | number): number | null {
  if (typeof text === 'number') return Number.isFinite(text) && text >= 0 ? Math.round(text) : null
  const match = SIZE.exec(text.trim())
  if (!match) return null
  const unit = match[2] ?? 'B'
  const factor = unit === 'B' ? 1 : ((unit.includes('i') ? BINARY : DECIMAL)[unit.charAt(0).toUpperCase()] ?? 1)
  return Math.round(Number(match[1]) * factor)
}

/** `90s`, `10m`, `1h30m`; a bare number counts seconds, as people write timeouts; null if the text is no duration. */
export function parseDuration(text: string | number): number | null {
  if (typeof text === 'number') return Number.isFinite(text) && text >= 0 ? Math.round(text * 1000) : null
  const trimmed = text.trim()
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1000)
  const parts = [...trimmed.matchAll(DURATION_PART)]
  if (parts.length === 0 || parts.map(p => p[0]).join('') !== trimmed) return null
  return Math.round(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (MS[unit ?? ''] ?? 0), 0))
}

/** The shortest exact-enough text people read: `24 GB`, `512 MB`. */
export function formatSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** `850 ms`, `12 s`, `3 m 20 s`, `2 h 5 m`, `3 d 4 h`: two units at most. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return twoUnits(whole, 60, 'm', 's')
  if (whole < 86_400) return twoUnits(Math.round(whole / 60), 60, 'h', 'm')
  return twoUnits(Math.round(whole / 3600), 24, 'd', 'h')
}

function twoUnits(total: number, base: number, large: string, small: string): string {
  const rest = total % base
  return rest === 0 ? `${Math.floor(total / base)} ${large}` : `${Math.floor(total / base)} ${large} ${rest} ${small}`
}
