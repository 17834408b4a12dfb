import { describe, expect, it } from 'vitest'
import { Gathering } from './gathering.ts'

/** As many programs as said run, and something was said at 1000. */
function aGathering(running: number): Gathering {
  const gathering = new Gathering()
  for (let i = 0; i < running; i += 1) gathering.started()
  gathering.said(1000)
  return gathering
}

describe('gathering', () => {
  it('lets an end wait for others at most five milliseconds after the last batch', () => {
    const gathering = aGathering(8)
    gathering.ended()
    expect(gathering.waitMs(1001)).toBe(4)
    expect(gathering.waitMs(1004.3)).toBe(1)
    expect(gathering.waitMs(1005)).toBe(0)
  })

  it('lets the ends of longer programs wait longer, up to an eighth of what a program takes, and never beyond twenty', () => {
    const waitAfter = (pauseMs: number) => {
      const gathering = aGathering(8)
      let now = 1000
      for (let end = 0; end < 20; end += 1) {
        gathering.ended()
        gathering.started()
        now += pauseMs
        gathering.said(now)
      }
      gathering.ended()
      return gathering.waitMs(now)
    }
    expect([2, 12, 60].map(waitAfter)).toEqual([5, 12, 20])
  })

  it('soon knows that programs have become short, also after a day without any', () => {
    const gathering = aGathering(8)
    let now = 1000
    const end = (pauseMs: number) => {
      gathering.ended()
      gathering.started()
      now += pauseMs
      gathering.said(now)
    }
    for (let long = 0; long < 20; long += 1) end(60)
    end(86_400_000)
    for (let short = 0; short < 6; short += 1) end(2)
    gathering.ended()
    expect(gathering.waitMs(now)).toBe(5)
  })

  it('lets nothing wait that comes after a pause', () => {
    const gathering = aGathering(8)
    gathering.ended()
    expect(gathering.waitMs(2000)).toBe(0)
    expect(new Gathering().waitMs(0)).toBe(0)
  })

  it('waits no longer once half of the programs have ended', () => {
    const gathering = aGathering(4)
    gathering.ended()
    expect(gathering.waitMs(1001)).toBe(4)
    gathering.ended()
    expect(gathering.waitMs(1001)).toBe(0)
  })

  it('never lets the end of an only program wait', () => {
    const gathering = aGathering(1)
    gathering.ended()
    expect(gathering.waitMs(1000)).toBe(0)
  })

  it('lets output of a running program leave at once, unless something left just before, and what waits with it', () => {
    const gathering = aGathering(8)
    gathering.ended()
    gathering.hurry()
    expect(gathering.waitMs(1001)).toBe(1)
    expect(gathering.waitMs(1002)).toBe(0)
    gathering.said(1001)
    gathering.ended()
    expect(gathering.waitMs(1001)).toBe(5)
  })
})
