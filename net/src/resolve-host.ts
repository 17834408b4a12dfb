import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { addressKind } from './address-kind.ts'
import { GuardedFetchError } from './guarded-fetch-error.ts'
import { hostOf } from './proxy.ts'

/** Every address a name has, in the order they are to be tried. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Asks the system as any program would, its hosts file included. */
export const resolveBySystem: Resolve = async hostname => {
  const found = await lookup(hostname, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

/** One address that is not public refuses the whole name, so an answer cannot hide it among good ones. */
export async function checkedAddresses(
  url: URL,
  resolve: Resolve,
  isPrivateAllowed: boolean,
): Promise<readonly string[]> {
  const hostname = hostOf(url)
  const addresses = isIP(hostname) === 0 ? await resolved(hostname, resolve) : [hostname]
  const refused = isPrivateAllowed ? undefined : addresses.find(address => addressKind(address) !== 'public')
  if (refused === undefined) return addresses
  const fact = refused === hostname ? refused : `${hostname} is ${refused}, which`
  throw new GuardedFetchError(
    'fetch.address',
    `only public addresses may be fetched, ${fact} is ${addressKind(refused)}`,
  )
}

/** A lookup that knows these addresses only, whatever name it is asked and whatever DNS says by then. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map(address => ({ address, family: isIP(address) }))
  return (hostname, options, callback) => {
    const first = pinned[0]
    if (options.all) callback(null, pinned)
    else if (first !== undefined) callback(null, first.address, first.family)
    else callback(new Error(`${hostname} has no checked address`), '')
  }
}

async function resolved(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  const addresses = await resolve(hostname).catch(cause => {
    throw new GuardedFetchError('fetch.unresolved', `the URL names ${hostname}, which has no address`, { cause })
  })
  if (addresses.length > 0) return addresses
  throw new GuardedFetchError('fetch.unresolved', `the URL names ${hostname}, which has no address`)
}
