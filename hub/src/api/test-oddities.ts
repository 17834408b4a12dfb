import fc from 'fast-check'

/** Text that someone's parser will stumble over. */
export const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e309',
    '99999999999999999999',
    'null',
    'true',
    '..',
    '%',
    '🚂',
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
    'toString',
    '2026-13-45T99:99:99Z',
    '10m',
    'a=b',
    'queued',
    'x'.repeat(5000),
  ),
)
/** Parts of an address, encoded well or badly. */
export const oddEncoded = fc.oneof(
  oddText.map(text => encodeURIComponent(Buffer.from(text).toString())),
  fc.constantFrom('0'.repeat(64), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'),
  fc.constantFrom('%', '%zz', '%e0%a4%a', '%00', '%ff', '%2e%2e', '%2f', ';', ':', '*', "'"),
)
/** Bodies that are JSON, nearly JSON, or JSON of a wrong kind. */
export const oddJson = fc.oneof(
  fc.json(),
  fc.jsonValue().map(value => JSON.stringify(value)),
  fc.constantFrom(
    '{',
    '',
    '[',
    'NaN',
    '{"type":"noop"',
    '{"jobs":{}}',
    '{"jobs":[null]}',
    '{"jobs":[[]]}',
    '{"type":1e999}',
    '{"__proto__":{"type":"noop"}}',
    '\ufeff{}',
    '"\\ud800"',
    '{"type":"noop","name":"\\u0000\\ud800"}',
    `${'['.repeat(100_000)}`,
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    `{"type":"echo","input":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_001)}`,
    '{"type":"noop","timeout":1e308,"priority":1e308,"resources":{"gpus":1e308,"memory":"9e9"}}',
  ),
)
/** Specs that are nearly right: each field right, odd or absent. */
export const oddSpec = fc
  .record(
    Object.fromEntries(
      [
        'name',
        'type',
        'command',
        'input',
        'env',
        'isolation',
        'network',
        'resources',
        'placement',
        'priority',
        'timeout',
        'retries',
        'labels',
        'outputLimit',
        'files',
      ].map(key => [
        key,
        fc.oneof(fc.jsonValue(), oddText, fc.double(), fc.constantFrom('noop', 'command', 'auto', { gpus: 1 })),
      ]),
    ),
    { requiredKeys: [] },
  )
  .map(spec => JSON.stringify(spec))
/** Headers the API looks at, and some it does not. */
export const oddHeaders = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/json; charset=latin1',
      'text/plain',
      'application/xml',
      'application/octet-stream',
      'multipart/form-data',
      '',
      '/',
      'application/JSON',
    ),
    'last-event-id': fc.constantFrom('', 'x', '1.0.0', '1.2', '5', '-5', '9'.repeat(40)),
    'idempotency-key': fc.constantFrom('', 'k', 'x'.repeat(300)),
    authorization: fc.constantFrom('', 'Bearer', 'Bearer x', 'Basic eDp5', `Bearer ${'y'.repeat(300)}`),
    accept: fc.constantFrom('text/html', '*/*', 'nonsense'),
    range: fc.constantFrom('bytes=0-1', 'bytes=-0', 'bytes=9-1', 'x'),
    'content-range': fc.constantFrom('bytes 0-1/2', 'bytes 5-9/10', 'bytes */3', 'bytes 2-1/9', 'x'),
    'content-encoding': fc.constantFrom('gzip', 'identity', ''),
    'if-none-match': fc.constantFrom('*', 'W/', '"'),
  },
  { requiredKeys: [] },
)
