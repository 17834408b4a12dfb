import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '@stoker/files'

/** `segments/<n>.seg` and `packs/<n>.pack`; a pack being written has another ending. */
export interface Layout {
  readonly segments: string
  readonly packs: string
}

export function layoutOf(folder: string): Layout {
  return { segments: join(folder, 'segments'), packs: join(folder, 'packs') }
}

export function segmentPath(layout: Layout, segment: number): string {
  return join(layout.segments, `${segment}.seg`)
}

export function packPath(layout: Layout, pack: number): string {
  return join(layout.packs, `${pack}.pack`)
}

export function unfinishedPackPath(layout: Layout, pack: number): string {
  return join(layout.packs, `${pack}.unfinished`)
}

/** Makes the folders, removes packs a crash left unfinished, and tells which numbers are taken, in order. */
export async function prepareLayout(
  folder: string,
): Promise<{ readonly layout: Layout; readonly segments: number[]; readonly packs: number[] }> {
  const layout = layoutOf(folder)
  await mkdir(layout.segments, { recursive: true })
  await mkdir(layout.packs, { recursive: true })
  await syncFolder(folder)
  for (const name of await readdir(layout.packs)) {
    if (name.endsWith('.unfinished')) await rm(join(layout.packs, name))
  }
  return { layout, segments: await numbers(layout.segments, '.seg'), packs: await packNumbers(layout) }
}

/** In order. */
export function packNumbers(layout: Layout): Promise<number[]> {
  return numbers(layout.packs, '.pack')
}

async function numbers(folder: string, ending: string): Promise<number[]> {
  const names = (await readdir(folder)).filter(name => name.endsWith(ending))
  return names.map(name => Number(name.slice(0, -ending.length))).sort((a, b) => a - b)
}
