import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** What an address leads to; only `public` is safe to fetch from on a stranger's word. */
export type AddressKind =
  | 'public'
  | 'private'
  | 'loopback'
  | 'link-local'
  | 'carrier-grade NAT'
  | 'multicast'
  | 'unspecified'
  | 'IPv4-mapped'
  | 'reserved'
  | 'no address'

type Range = readonly [kind: AddressKind, network: string, prefix: number]

const IPV4: readonly Range[] = [
  ['unspecified', '0.0.0.0', 8],
  ['private', '10.0.0.0', 8],
  ['carrier-grade NAT', '100.64.0.0', 10],
  ['loopback', '127.0.0.0', 8],
  ['link-local', '169.254.0.0', 16],
  ['private', '172.16.0.0', 12],
  ['reserved', '192.0.0.0', 24],
  ['reserved', '192.0.2.0', 24],
  ['reserved', '192.88.99.0', 24],
  ['private', '192.168.0.0', 16],
  ['reserved', '198.18.0.0', 15],
  ['reserved', '198.51.100.0', 24],
  ['reserved', '203.0.113.0', 24],
  ['multicast', '224.0.0.0', 4],
  ['reserved', '240.0.0.0', 4],
]

/** The first match counts; what carries an IPv4 address inside (NAT64, Teredo, 6to4) could lead anywhere, so it is refused. */
const IPV6: readonly Range[] = [
  ['unspecified', '::', 128],
  ['loopback', '::1', 128],
  ['IPv4-mapped', '::ffff:0:0', 96],
  ['private', 'fc00::', 7],
  ['link-local', 'fe80::', 10],
  ['private', 'fec0::', 10],
  ['multicast', 'ff00::', 8],
  ['reserved', '2001::', 23],
  ['reserved', '2001:db8::', 32],
  ['reserved', '2002::', 16],
  ['reserved', '3fff::', 20],
  ['public', '2000::', 3],
  ['reserved', '::', 0],
]

const RANGES = {
  ipv4: IPV4.map(range => ({ kind: range[0], list: listOf(range, 'ipv4') })),
  ipv6: IPV6.map(range => ({ kind: range[0], list: listOf(range, 'ipv6') })),
}

/** Takes an address in text form without brackets; anything else is `no address`, which is never fetched from either. */
export function addressKind(address: string): AddressKind {
  const bare = address.replace(/%.*$/, '')
  if (isIPv4(bare)) return RANGES.ipv4.find(({ list }) => list.check(bare, 'ipv4'))?.kind ?? 'public'
  if (isIPv6(bare)) return RANGES.ipv6.find(({ list }) => list.check(bare, 'ipv6'))?.kind ?? 'reserved'
  return 'no address'
}

function listOf([, network, prefix]: Range, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  list.addSubnet(network, prefix, family)
  return list
}
