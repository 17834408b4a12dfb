import { TABLES_0001 } from './0001-tables.ts'
import { SCHEDULING_0002 } from './0002-scheduling.ts'
import { TABLES_0003 } from './0003-waiting.ts'
import { GROUPS_0004 } from './0004-groups.ts'
import { CONTENT_0005 } from './0005-content.ts'
import { TABLES_0006 } from './0006-secrets-and-audit.ts'
import { WEBHOOKS_0007 } from './0007-webhooks.ts'
import { LIVE_JOBS_0008 } from './0008-live-jobs.ts'
import { SESSIONS_0009 } from './0009-sessions.ts'
import { DIALECTS_0010 } from './0010-dialects.ts'
import { CONTAINER_ID_0011 } from './0011-container-id.ts'
import { NO_INDEX_OF_ENDS_0012 } from './0012-no-index-of-ends.ts'

/** In order; a database that went through the first n has the user_version n. Never edited once released, only added to. */
export const MIGRATIONS: readonly { readonly name: string; readonly statements: readonly string[] }[] = [
  { name: '0001-tables', statements: TABLES_0001 },
  { name: '0002-scheduling', statements: SCHEDULING_0002 },
  { name: '0003-waiting', statements: TABLES_0003 },
  { name: '0004-groups', statements: GROUPS_0004 },
  { name: '0005-content', statements: CONTENT_0005 },
  { name: '0006-secrets-and-audit', statements: TABLES_0006 },
  { name: '0007-webhooks', statements: WEBHOOKS_0007 },
  { name: '0008-live-jobs', statements: LIVE_JOBS_0008 },
  { name: '0009-sessions', statements: SESSIONS_0009 },
  { name: '0010-dialects', statements: DIALECTS_0010 },
  { name: '0011-container-id', statements: CONTAINER_ID_0011 },
  { name: '0012-no-index-of-ends', statements: NO_INDEX_OF_ENDS_0012 },
]
