import { expect, it, vi } from 'vitest'

/** Modules of its own: after the end of this bench the others go on. */
async function ownModules() {
  vi.resetModules()
  return { ...(await import('./living.ts')), ...(await import('./run-command.ts')), ...(await import('./child.ts')) }
}

it('begins nothing after the end', async () => {
  const { stopForGood, runCommand, startChild } = await ownModules()
  await stopForGood()
  await expect(runCommand('/bin/true', [], {})).rejects.toThrow('the bench is being stopped')
  const child = startChild({ name: 'late', command: '/bin/true', args: [], ready: /x/ })
  await expect(child).rejects.toThrow('the bench is being stopped')
})

it('ends commands before the servers they would miss', async () => {
  const { stopAllChildren, whileItLives } = await ownModules()
  const ended: string[] = []
  const ends = (name: string) => async () => void ended.push(name)
  whileItLives({ stop: ends('server'), isCommand: false }, new Promise(() => {}))
  whileItLives({ stop: ends('command'), isCommand: true }, new Promise(() => {}))
  await stopAllChildren()
  expect(ended).toEqual(['command', 'server'])
})
