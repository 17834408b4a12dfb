import { TABLES_0001 } from './0001-tables.ts'
import { CONTENT_0005 } from './0005-content.ts'

/** In order; a database that went through the first n has the user_version n. Never edited once released, only added to. */
export const MIGRATIONS: readonly { readonly name: string; readonly statements: readonly string[] }[] = [
  { name: '0001-tables', statements: TABLES_0001 },
  { name: '0005-content', statements: CONTENT_0005 },
]
