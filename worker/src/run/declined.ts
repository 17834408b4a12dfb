/** The worker cannot run the offer at all: another worker may. */
export class Declined extends Error {}
