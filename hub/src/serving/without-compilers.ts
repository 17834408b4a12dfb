/** Routes check what they get by themselves; the libraries that compile schemas would only be loaded. */
export const WITHOUT_COMPILERS = {
  schemaController: { compilersFactory: { buildValidator: neverAsked, buildSerializer: neverAsked } },
}

function neverAsked(): never {
  throw new Error('a route has a schema for Fastify to compile; what comes in is checked by zod, what goes out is JSON')
}
