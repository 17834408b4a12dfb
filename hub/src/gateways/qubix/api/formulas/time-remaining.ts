/** Seconds left if the rest goes as what is done; null while nothing is. */
export function timeRemaining(elapsedSeconds: number, percent: number | null): number | null {
  if (percent === null || percent <= 0) return null
  return Math.max(0, Math.round((elapsedSeconds * 100) / percent - elapsedSeconds))
}

/** `2h 5m`, `3m 20s`, `45s`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)]
  if (hours > 0) return minutes === 0 ? `${hours}h` : `${hours}h ${minutes}m`
  if (minutes > 0) return whole % 60 === 0 ? `${minutes}m` : `${minutes}m ${whole % 60}s`
  return `${whole}s`
}
