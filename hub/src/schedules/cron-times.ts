import { Cron } from 'croner'

/** Five fields, six with seconds in front, or a nickname such as @daily. */
const FORM = /^(@[a-z]+|(\S+\s+){4,5}\S+)$/

/** The first time of a pattern after the given one, in milliseconds; null if there is none. Throws for a pattern or timezone that is none. */
export function nextTime(cron: string, timezone: string, after: number): number | null {
  return cronOf(cron, timezone).nextRun(new Date(after))?.getTime() ?? null
}

/** How many times of a pattern lie after `from` and not after `to`, counted up to `most`. */
export function timesBetween(cron: string, timezone: string, from: number, to: number, most: number): number {
  const times = cronOf(cron, timezone)
  let count = 0
  for (let at = times.nextRun(new Date(from)); at !== null && at.getTime() <= to; at = times.nextRun(at)) {
    count += 1
    if (count === most) break
  }
  return count
}

/** What is wrong with a pattern and its timezone, told by field; null if nothing is. */
export function cronIssue(
  cron: string,
  timezone: string,
  now: number,
): { readonly path: string; readonly message: string } | null {
  if (!isTimezone(timezone))
    return {
      path: 'timezone',
      message: `found ${JSON.stringify(timezone)}; allowed: a name like "Europe/Berlin" or "UTC"`,
    }
  if (!FORM.test(cron.trim()))
    return {
      path: 'cron',
      message: `found ${JSON.stringify(cron)}; allowed: five fields (minute hour day month weekday), six with seconds in front, or @hourly, @daily, @weekly, @monthly, @yearly`,
    }
  try {
    if (nextTime(cron, timezone, now) !== null) return null
    return { path: 'cron', message: `found ${JSON.stringify(cron)}; it has no time in the future` }
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    return { path: 'cron', message: `found ${JSON.stringify(cron)}; ${why}` }
  }
}

function cronOf(cron: string, timezone: string): Cron {
  return new Cron(cron, { timezone, paused: true, mode: cron.startsWith('@') ? 'auto' : '5-or-6-parts' })
}

function isTimezone(timezone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
