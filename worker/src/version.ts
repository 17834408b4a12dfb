/** Of this release; the hub serves workers of its own version. */
export const VERSION = '0.1.0'
