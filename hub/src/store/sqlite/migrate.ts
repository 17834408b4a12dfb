import { Kysely, type Migration, Migrator, SqliteAdapter, SqliteDialect, sql } from 'kysely'
import { StoreUnusable } from '../port.ts'
import type { Connection } from './connection.ts'
import { MIGRATIONS } from './migrations/all.ts'

/** Brings the schema to the newest version, all or nothing. */
export async function migrate(db: Connection, file: string): Promise<void> {
  const kysely = new Kysely<unknown>({ dialect: dialectOf(db) })
  const provider = { getMigrations: async () => Object.fromEntries(MIGRATIONS.map(numbered)) }
  const { error } = await new Migrator({ db: kysely, provider }).migrateToLatest()
  await kysely.destroy()
  if (error !== undefined) {
    const found = error instanceof Error ? error.message : String(error)
    throw new StoreUnusable(
      `${file} could not be brought to schema ${MIGRATIONS.length} (${found}): it is unchanged; restore a backup or use another data folder`,
      error,
    )
  }
}

function numbered(migration: (typeof MIGRATIONS)[number], index: number): [string, Migration] {
  const up = async (db: Kysely<unknown>) => {
    for (const statement of migration.statements) await sql.raw(statement).execute(db)
    await sql.raw(`PRAGMA user_version = ${index + 1}`).execute(db)
  }
  return [migration.name, { up }]
}

/** Kysely speaks to a borrowed connection: it does not close it, and SQLite's schema changes do roll back. */
function dialectOf(db: Connection): SqliteDialect {
  const dialect = new SqliteDialect({ database: { prepare: text => statementOf(db, text), close: () => {} } })
  const adapter: SqliteAdapter = Object.create(new SqliteAdapter(), { supportsTransactionalDdl: { value: true } })
  dialect.createAdapter = () => adapter
  return dialect
}

function statementOf(db: Connection, text: string) {
  const statement = db.prepare(text)
  return {
    reader: statement.columns().length > 0,
    all: (values: readonly unknown[]) => statement.all(...values),
    run: (values: readonly unknown[]) => statement.run(...values),
    iterate: (values: readonly unknown[]) => statement.iterate(...values),
  }
}
