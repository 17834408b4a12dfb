/** The import table of docs/architecture.md, enforced. Each room lists what it may import from this repository. */
const rooms = {
  protocol: [],
  files: [],
  net: [],
  client: ['protocol', 'net'],
  'hub/src/engine': ['protocol', 'hub/src/scheduler', 'hub/src/session', 'hub/src/ledger'],
  'hub/src/scheduler': ['protocol', 'hub/src/engine', 'hub/src/session'],
  'hub/src/session': ['protocol', 'hub/src/engine', 'hub/src/scheduler'],
  'hub/src/store': ['protocol', 'files'],
  'hub/src/outputs': ['protocol', 'files'],
  'hub/src/listeners': ['protocol', 'files', 'net'],
  'hub/src/api': [
    'protocol',
    'files',
    'net',
    'hub/src/engine',
    'hub/src/outputs',
    'hub/src/store/port.ts',
    'hub/src/scheduler/explain',
    'hub/src/schedules',
  ],
  'hub/src/schedules': ['protocol', 'hub/src/engine', 'hub/src/store/port.ts'],
  'hub/src/gateways': [
    'protocol',
    'files',
    'hub/src/engine',
    'hub/src/session',
    'hub/src/outputs',
    'hub/src/store/port.ts',
  ],
  'hub/src/webhooks': ['protocol', 'net', 'hub/src/engine', 'hub/src/store/port.ts'],
  'hub/src/retention': ['protocol', 'hub/src/engine', 'hub/src/outputs', 'hub/src/store/port.ts'],
  'hub/src/verify': ['protocol', 'hub/src/engine', 'hub/src/store'],
  'worker/src/agent': [
    'protocol',
    'client',
    'net',
    'files',
    'worker/src/session',
    'worker/src/links',
    'worker/src/run',
    'worker/src/probe',
  ],
  'worker/src/session': ['protocol'],
  'worker/src/links': ['protocol', 'client', 'net', 'worker/src/session', 'worker/src/run'],
  'worker/src/run': [
    'protocol',
    'files',
    'net',
    'worker/src/executors',
    'worker/src/events',
    'worker/src/artifacts',
    'worker/src/probe',
  ],
  'worker/src/executors': ['protocol', 'files'],
  'worker/src/events': ['protocol'],
  'worker/src/artifacts': ['protocol', 'files', 'net'],
  'worker/src/probe': ['protocol', 'files'],
  sim: [
    'protocol',
    'hub/src/engine',
    'hub/src/scheduler',
    'hub/src/session',
    'hub/src/ledger',
    'hub/src/store/memory',
    'hub/src/store/port.ts',
    'hub/src/verify',
    'worker/src/session',
  ],
  cli: ['client', 'protocol', 'files', 'net'],
}

const quoted = path => path.replace(/[.]/g, '\\.')
const NAMES = Object.keys(rooms)
/** Tests and what only tests use may look anywhere. */
const TESTS = '([.]test[.]ts$|/test-[^/]+[.]ts$|contract)'

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'protocol-imports-zod-only',
      severity: 'error',
      from: { path: '^protocol/src', pathNot: TESTS },
      to: { dependencyTypes: ['npm', 'core'], pathNot: 'node_modules/zod/' },
    },
    {
      name: 'pure-rooms-do-no-io',
      severity: 'error',
      from: { path: '^(hub/src/(engine|scheduler|session|ledger)|worker/src/session)/', pathNot: TESTS },
      to: { dependencyTypes: ['core'], pathNot: '^crypto$' },
    },
    ...NAMES.map(room => ({
      name: `room-${room.replaceAll('/', '-')}`,
      severity: 'error',
      from: { path: `^${quoted(room)}/`, pathNot: TESTS },
      to: {
        path: '^(protocol|files|net|client|hub|worker|cli|sim|bench|tests)/',
        pathNot: [room, ...rooms[room]].map(p => `^${quoted(p)}(/|$)`),
      },
    })),
    { name: 'hub-and-worker-apart', severity: 'error', from: { path: '^hub/' }, to: { path: '^worker/' } },
    { name: 'worker-and-hub-apart', severity: 'error', from: { path: '^worker/' }, to: { path: '^hub/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'default', 'types', 'node'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
}
