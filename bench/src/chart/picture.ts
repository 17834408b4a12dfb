import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PANEL, type Panel, panelSvg } from './panel.ts'

const run = promisify(execFile)
const FOOT = 26

/** Drawn by a browser, in a folder of its own that is gone afterwards. */
export async function writePng(browser: string, panels: readonly Panel[], foot: string, file: string): Promise<void> {
  const { width, height } = sizeOf(panels)
  const folder = await mkdtemp(join(tmpdir(), 'chart-'))
  try {
    const page = join(folder, 'page.html')
    await writeFile(page, `<!doctype html><meta charset="utf-8"><body style="margin:0">${pictureSvg(panels, foot)}`)
    await run(browser, [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--hide-scrollbars',
      `--user-data-dir=${join(folder, 'profile')}`,
      `--window-size=${width},${height}`,
      `--screenshot=${file}`,
      `file://${page}`,
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Panels side by side over one line of words. */
function pictureSvg(panels: readonly Panel[], foot: string): string {
  const { width, height } = sizeOf(panels)
  const parts = panels.map((panel, i) => `<g transform="translate(${i * PANEL.width} 0)">${panelSvg(panel)}</g>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans, Arial, sans-serif" fill="#222">
<rect width="${width}" height="${height}" fill="#fff"/>
${parts.join('\n')}
<text x="12" y="${height - 9}" font-size="10" fill="#666">${foot}</text>
</svg>
`
}

function sizeOf(panels: readonly Panel[]): { readonly width: number; readonly height: number } {
  return { width: PANEL.width * panels.length, height: PANEL.height + FOOT }
}
