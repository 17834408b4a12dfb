export type { ArtifactOptions } from './artifacts.ts'
export {
  Canceled,
  type Client,
  type ClientOptions,
  createClient,
  Health,
  type JobFilter,
  Me,
  type SubmitOptions,
} from './client.ts'
export { HubRefused, HubUnreachable, isHubAway } from './errors.ts'
export type { FollowOptions } from './event-stream.ts'
export type { FeedEntry, FeedOptions } from './feed.ts'
export type { JobEvent } from './job-events.ts'
export type { LogOptions } from './job-logs.ts'
export { nodeTransport } from './node-transport.ts'
export type { SubmittedJob } from './post-jobs.ts'
