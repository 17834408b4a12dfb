import { NODE_FETCH } from '@stoker/net'

export interface JoinScriptFacts {
  readonly url: string
  readonly pin: string | null
  readonly token: string
  /** The worker that used the token; only that one can go on with it. */
  readonly usedBy: string | null
  /** Of the packed worker. */
  readonly sha256: string
}

/**
 * Installs a worker below ~/.stoker (or $STOKER_HOME) and starts it. POSIX sh. All of it is one function that the last
 * line calls: a script cut off on its way is a syntax error and does nothing. Pasted again it finds what it made before.
 */
export function joinScript({ url, pin, token, usedBy, sha256 }: JoinScriptFacts): string {
  return `#!/bin/sh
set -u
stoker_join() {
  url=${quoted(url)}
  pin=${quoted(pin?.replace('sha256/', 'sha256//') ?? '')}
  token=${quoted(token)}
  used_by=${quoted(usedBy ?? '')}
  sum=${quoted(sha256)}
${BODY}}
{ stoker_join "$@"; }
`
}

/** Says why there is nothing to install, to people who piped the answer into a shell. */
export function refusalScript(reason: string): string {
  return `#!/bin/sh\nprintf 'stoker: %s\\n' ${quoted(reason)} >&2\nexit 1\n`
}

const BODY = `  home=\${STOKER_HOME:-\${HOME:?}/.stoker}
  install=no
  if [ "\${1:-}" = --install ]; then install=yes; shift; fi

  say() { printf 'stoker: %s\\n' "$*" >&2; }
  fail() { say "$*"; exit 1; }
  quote() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\\\\\''/g")"; }

  node=$(command -v node) ||
    fail 'Node 20.15 or newer is needed, none was found; install it from nodejs.org or with your package manager'
  "$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 15) ? 0 : 1)' ||
    fail "Node 20.15 or newer is needed, found $("$node" --version) at $node"
  python=$(command -v python3) ||
    fail 'Python 3.10 or newer is needed to run programs, none was found; try: apt install python3'
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "Python 3.10 or newer is needed to run programs, found $("$python" --version) at $python"
  command -v tar >/dev/null || fail 'tar is needed to unpack the worker, none was found'
  if [ -n "$used_by" ] && [ ! -e "$home/worker/identity.json" ]; then
    fail "this line was used by worker $used_by already, each machine needs its own; make another on the hub: stoker join"
  fi

  fetch() {
    if command -v curl >/dev/null; then
      if [ -n "$pin" ]; then curl -fsSk --pinnedpubkey "$pin" -o "$2" "$1"; else curl -fsS -o "$2" "$1"; fi
    elif [ "\${url#https}" = "$url" ]; then
      wget -q -O "$2" "$1"
    else
      "$node" -e ${quoted(NODE_FETCH)} "$1" "$pin" "$2"
    fi
  }

  app=$home/app/$sum
  umask 077
  if [ ! -e "$app/stoker.js" ]; then
    mkdir -p "$home/app" || fail "$home should be a folder this user can write to"
    part=$home/app/.part-$$
    trap 'rm -rf "$part"' EXIT
    trap 'exit 130' HUP INT TERM
    rm -rf "$part" && mkdir "$part" || exit 1
    fetch "$url/join/$token/worker.tgz" "$part/worker.tgz" || fail "the worker could not be fetched from $url; try again"
    found=$("$node" -e 'console.log(require("crypto").createHash("sha256").update(require("fs").readFileSync(process.argv[1])).digest("hex"))' "$part/worker.tgz")
    [ "$found" = "$sum" ] || fail "the worker should have the hash $sum, what came has \${found:-none}; nothing was installed, try again"
    tar -xzf "$part/worker.tgz" -C "$part" || fail 'the worker could not be unpacked'
    rm "$part/worker.tgz"
    [ -e "$app" ] || mv "$part" "$app" || fail "$app could not be made"
    rm -rf "$part"
    trap - EXIT HUP INT TERM
  fi

  mkdir -p "$home/bin" || exit 1
  printf '#!/bin/sh\\nSTOKER_HOME=%s exec %s %s "$@"\\n' "$(quote "$home")" "$(quote "$node")" "$(quote "$app/stoker.js")" >"$home/bin/.stoker.$$"
  chmod 700 "$home/bin/.stoker.$$" && mv "$home/bin/.stoker.$$" "$home/bin/stoker" || exit 1
  if [ -n "$pin" ]; then set -- --pin "$pin" "$@"; fi
  set -- --hub "$url" "$@"
  if [ "$install" = yes ]; then
    STOKER_JOIN=$token "$home/bin/stoker" worker install "$@"
    exit
  fi
  words=
  for word in "$@"; do words="$words $(quote "$word")"; done
  printf '#!/bin/sh\\nexec %s worker%s "$@"\\n' "$(quote "$home/bin/stoker")" "$words" >"$home/bin/.worker.$$"
  chmod 700 "$home/bin/.worker.$$" && mv "$home/bin/.worker.$$" "$home/bin/stoker-worker" || exit 1
  say "starting the worker; after Ctrl-C start it again with $home/bin/stoker-worker"
  STOKER_JOIN=$token exec "$home/bin/stoker-worker" </dev/null
`

/** One word to a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
