import { expect, it } from 'vitest'
import { PLANTS, type Plant } from './plants.ts'
import { huntFor } from './test-run.ts'

/** Seeds within which a bug must show; the rarest shows in about one of forty. */
const SEEDS = 200

const SIGNS: Readonly<Record<Plant, RegExp>> = {
  'fence-off': /^b: the result of attempt \S+ was published, but attempt \S+ produced it/,
  'publish-before-append': /^g: .* (no placement of it is on the disk|the disk has)/,
  'double-placement': /^d: commit \d+: attempt \d+ of job \d+ .* was placed on worker/,
  'ack-before-sync': /^f: .* was acknowledged up to byte \d+, it can be read up to byte \d+/,
  'resend-renumbered': /^[fg]: .* was acknowledged/,
  'met-early': /^a: .* needs the \w+ of job \d+, which counts as met while it is/,
}

it.each(PLANTS)('the planted bug %s is found', { timeout: 120_000 }, plant => {
  const hunt = huntFor(plant, 'heavy', SEEDS)
  expect(hunt?.found).toMatch(SIGNS[plant])
})
