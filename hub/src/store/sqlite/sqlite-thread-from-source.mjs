/** On Node 20 a loader given to a thread on its command line does not reach the thread's first file, so it is registered here. */
import { register } from 'tsx/esm/api'

register()
await import('./sqlite-thread.ts')
