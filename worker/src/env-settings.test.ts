import { describe, expect, it } from 'vitest'
import { fetchesModels, metricsMs } from './env-settings.ts'

describe('settings by environment', () => {
  it('fetches models unless told not to', () => {
    expect([undefined, '', ' True ', '1'].map(value => fetchesModels({ AUTO_FETCH_MODELS: value }))).toEqual(
      Array(4).fill(true),
    )
    expect(['false', '0', 'No'].map(value => fetchesModels({ AUTO_FETCH_MODELS: value }))).toEqual(Array(3).fill(false))
  })

  it('measures load as often as it is told', () => {
    expect(metricsMs({})).toBeNull()
    expect(metricsMs({ GPU_METRICS_REFRESH_INTERVAL: '0.5' })).toBe(500)
  })

  it('refuses what makes no sense', () => {
    expect(() => fetchesModels({ AUTO_FETCH_MODELS: 'maybe' })).toThrow(
      'AUTO_FETCH_MODELS is true or false, found "maybe"',
    )
    for (const value of ['often', '0', '-1', 'Infinity'])
      expect(() => metricsMs({ GPU_METRICS_REFRESH_INTERVAL: value })).toThrow(`found "${value}"`)
  })
})
