/** What a file is, by the end of its name: enough for browsers and people, never trusted. */
const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'text/plain': 'txt log md out err py sh yaml yml toml ini cfg',
    'text/csv': 'csv',
    'text/html': 'html htm',
    'application/json': 'json ipynb',
    'application/jsonl': 'jsonl ndjson',
    'application/pdf': 'pdf',
    'application/xml': 'xml',
    'image/png': 'png',
    'image/jpeg': 'jpg jpeg',
    'image/gif': 'gif',
    'image/webp': 'webp',
    'image/svg+xml': 'svg',
    'audio/wav': 'wav',
    'audio/mpeg': 'mp3',
    'audio/flac': 'flac',
    'video/mp4': 'mp4',
    'video/webm': 'webm',
    'application/gzip': 'gz tgz',
    'application/zip': 'zip',
    'application/x-tar': 'tar',
    'application/zstd': 'zst',
    'model/gltf-binary': 'glb',
  }).flatMap(([type, ends]) => ends.split(' ').map(end => [end, type] as const)),
)
/** Kinds a browser only shows; all others are saved, since they may carry code. */
const SHOWN = /^(text\/(plain|csv)|application\/jsonl?|image\/(png|jpeg|gif|webp)|(audio|video)\/.+)$/

export function mediaType(path: string): string {
  const end = /\.([A-Za-z0-9]{1,8})$/.exec(path)?.[1]?.toLowerCase() ?? ''
  return TYPES.get(end) ?? 'application/octet-stream'
}

export function isShown(type: string): boolean {
  return SHOWN.test(type)
}
