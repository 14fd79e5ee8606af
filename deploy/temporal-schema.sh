#!/bin/sh
# Creates Temporal's two databases in PostgreSQL, and brings Temporal's schemas up to the version of these tools. What
# is there already is left as it is, so that this runs at every start. SQL_HOST, SQL_USER and SQL_PASSWORD say where.
set -eu
export SQL_PLUGIN=postgres12_pgx SQL_PORT="${SQL_PORT:-5432}"

for part in temporal visibility; do
  database=temporal
  [ "$part" = temporal ] || database="temporal_$part"
  temporal-sql-tool --db "$database" create || {
    echo "$SQL_HOST can't be used. An old volume keeps the password of its first start: docs/operations/runbook.md changes it" >&2
    exit 1
  }
  temporal-sql-tool --db "$database" setup-schema -v 0.0
  temporal-sql-tool --db "$database" update-schema --schema-name "postgresql/v12/$part"
done
