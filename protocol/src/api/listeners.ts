import { z } from 'zod'

/** An address the hub listens on; `error` says why one that is remembered could not be opened. */
export const Listener = z.object({
  name: z.string(),
  url: z.string(),
  /** SHA-256 of the key of its certificate; null without TLS. */
  pin: z.string().nullable(),
  /** Nobody vouches for the certificate: clients need the pin. */
  selfSigned: z.boolean(),
  /** Opened by a call and opened again at every start. */
  remembered: z.boolean(),
  error: z.string().nullable(),
})
export type Listener = Readonly<z.infer<typeof Listener>>

/** `addresses` are those of the hub's machine that others may reach it by. */
export const ListenerList = z.object({ listeners: z.array(Listener), addresses: z.array(z.string()) })
export type ListenerList = Readonly<z.infer<typeof ListenerList>>

export const NewListener = z.strictObject({ url: z.string().min(1).max(300) })
export type NewListener = z.infer<typeof NewListener>
