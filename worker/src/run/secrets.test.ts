import { type JobSpecInput, type Offer, type OfferedSecrets, parseJobSpec } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { attemptSecrets, withoutSecrets } from './secrets.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

function anOffer(secrets: NonNullable<JobSpecInput['secrets']>, given?: OfferedSecrets): Offer {
  const parsed = parseJobSpec({ command: 'true', secrets })
  if (!parsed.ok) throw new Error('a test spec is valid')
  const offer = { fence: { job: 1, epoch: 1, attempt: 1 }, id: 'x', spec: parsed.spec, gpus: [] }
  return given === undefined ? offer : { ...offer, secrets: given }
}

it('sorts values into files and variables, and hides all that are long enough', async () => {
  const offer = anOffer(['A', { name: 'B', env: 'TOKEN' }], {
    given: [
      { name: 'A', env: null, value: base64('short') },
      { name: 'B', env: 'TOKEN', value: base64('long enough') },
    ],
  })
  expect(await attemptSecrets(offer, 'sandbox')).toEqual({
    env: { TOKEN: 'long enough' },
    launch: {
      files: [{ name: 'A', value: base64('short') }],
      hidden: [{ name: 'B', value: base64('long enough') }],
      memoryFolder: null,
    },
  })
})

it('has nothing for a job that names none', async () => {
  expect(await attemptSecrets(anOffer([]), 'none')).toEqual({ env: {}, launch: null })
})

it('declines where files would have to be written to a disk, and names what it looked at', async () => {
  const offer = anOffer(['A'], { given: [{ name: 'A', env: null, value: base64('value') }] })
  expect((await attemptSecrets(offer, 'none')).launch?.memoryFolder).toBe('/dev/shm')
  const refused = attemptSecrets(offer, 'none', ['/usr', '/no/such/place'])
  await expect(refused).rejects.toMatchObject({
    final: false,
    message: expect.stringContaining('/usr, /no/such/place'),
  })
  expect((await attemptSecrets(offer, 'sandbox', ['/usr'])).launch?.memoryFolder).toBeNull()
})

it('passes on why the hub gave none', async () => {
  const withheld = anOffer(['A'], { withheld: 'no TLS', final: false })
  await expect(attemptSecrets(withheld, 'none')).rejects.toMatchObject({ message: 'no TLS', final: false })
  await expect(attemptSecrets(anOffer(['A']), 'none')).rejects.toThrow('without the secrets it names')
})

it('makes no variable of a value that cannot be one', async () => {
  const offer = anOffer([{ name: 'A', env: 'A' }], { given: [{ name: 'A', env: 'A', value: base64('a\0b') }] })
  await expect(attemptSecrets(offer, 'none')).rejects.toMatchObject({ final: true })
})

it('leaves nothing of them in an offer that is written down', () => {
  const offer = anOffer(['A'], { given: [{ name: 'A', env: null, value: base64('value') }] })
  expect(JSON.stringify(withoutSecrets(offer))).not.toContain(base64('value'))
})
