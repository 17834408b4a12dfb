/** The programs that can fetch from a hub whose key is pinned. */
export type Fetcher = 'curl' | 'wget' | 'node'

/**
 * Node as a fetcher, for machines with neither curl nor wget: arguments are URL, pin (empty for none) and file (none for stdout).
 * It has no single quotes, so that a shell can carry it, and it says nothing to a server whose key is not the pinned one.
 */
export const NODE_FETCH = [
  'const [url, pin, file] = process.argv.slice(1), at = new URL(url);',
  'const fail = why => { console.error("stoker: " + why); process.exit(1) };',
  'const target = { host: at.hostname.replace(/[[\\]]/g, ""), port: at.port || 443, rejectUnauthorized: !pin };',
  'const socket = require("tls").connect(target, () => {',
  'const key = socket.getPeerX509Certificate().publicKey.export({ type: "spki", format: "der" });',
  'const seen = "sha256//" + require("crypto").createHash("sha256").update(key).digest("base64");',
  'if (pin && seen !== pin) fail(at.host + " has the key " + seen + ", pinned is " + pin);',
  'require("https").get(url, { createConnection: () => socket }, reply => {',
  'if (file && reply.statusCode !== 200) fail(at.host + " answered " + reply.statusCode);',
  'reply.on("error", error => fail(error.message)).on("end", () => socket.end());',
  'reply.pipe(file ? require("fs").createWriteStream(file, { mode: 0o600 }) : process.stdout) }) });',
  'socket.on("error", error => fail(error.message));',
].join(' ')

/** One line for a shell on the other machine; an answer that is a refusal is a script too, and says why. */
export function joinLine(fetcher: Fetcher, url: string, pin: string | null, args: readonly string[] = []): string {
  const shell = args.length === 0 ? 'sh' : `sh -s -- ${args.map(quoted).join(' ')}`
  const key = pin?.replace('sha256/', 'sha256//') ?? ''
  const fetch = {
    curl: `curl -sS${key === '' ? '' : `k --pinnedpubkey '${key}'`} '${url}'`,
    wget: `wget -qO- --content-on-error${key === '' ? '' : ` --no-check-certificate --pinnedpubkey='${key}'`} '${url}'`,
    node: `node -e '${NODE_FETCH}' '${url}' '${key}'`,
  }[fetcher]
  return `${fetch} | ${shell}`
}

function quoted(text: string): string {
  return /^[\w.,:/=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
