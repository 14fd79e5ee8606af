#!/bin/sh
# Creates the book's database, and the role that owns it, with BOOK_PASSWORD. What is there already is left
# as it is, but for the password, so that this runs at every start. PGHOST, PGUSER and PGPASSWORD say where, and as
# whom.
#
# The API, the workers and the migrations come with a role of their own: nobody who takes one of them over gets at
# Temporal's databases.
set -eu

# PostgreSQL takes any password, so that this is where the examples of .env.example are refused: nothing starts before.
for url in "${PROVIDER_COLLECTION_URL:-}" "${PROVIDER_PAYOUT_URL:-}"; do
  case $url in http://sandbox | http://sandbox[:/]*) continue ;; esac
  case "$PGPASSWORD $BOOK_PASSWORD ${BACKUP_PASSWORD:-} ${MONITORING_PASSWORD:-}" in *example[0-3]password*)
    echo 'POSTGRES_PASSWORD, BOOK_PASSWORD, BACKUP_PASSWORD or MONITORING_PASSWORD has a secret of .env.example, which everybody can read: with a provider that is not the sandbox, it must be one of your own (docs/operations/runbook.md changes it)' >&2
    exit 78
    ;;
  esac
done

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set password="$BOOK_PASSWORD" \
  ${MONITORING_PASSWORD:+--set monitoring="$MONITORING_PASSWORD"} --dbname postgres <<'SQL'
SELECT 'CREATE ROLE sanaga LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sanaga') \gexec
ALTER ROLE sanaga PASSWORD :'password';
\if :{?monitoring}
SELECT 'CREATE ROLE monitoring LOGIN IN ROLE pg_monitor' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'monitoring') \gexec
ALTER ROLE monitoring PASSWORD :'monitoring';
GRANT CONNECT ON DATABASE postgres TO monitoring;
\endif
SELECT 'CREATE DATABASE book OWNER sanaga' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'book') \gexec
SELECT format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', datname) FROM pg_database WHERE datname <> 'template0' \gexec
SQL
