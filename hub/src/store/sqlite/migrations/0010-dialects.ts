/** Workers of other protocols: which one, and what their gateway remembers of them. */
export const DIALECTS_0010: readonly string[] = [
  'ALTER TABLE worker ADD COLUMN dialect TEXT',
  'ALTER TABLE worker ADD COLUMN gatewayNote TEXT',
]
