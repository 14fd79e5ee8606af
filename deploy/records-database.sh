#!/bin/sh
# Creates the database of the records, and the role that owns it, with RECORDS_PASSWORD. What is there already is left
# as it is, but for the password, so that this runs at every start. PGHOST, PGUSER and PGPASSWORD say where, and as
# whom.
#
# The API and the workers come with a role of their own: nobody who takes one of them over gets at Temporal's databases.
set -eu

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set password="$RECORDS_PASSWORD" --dbname postgres <<'SQL'
SELECT 'CREATE ROLE sanaga LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sanaga') \gexec
ALTER ROLE sanaga PASSWORD :'password';
SELECT 'CREATE DATABASE records OWNER sanaga' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'records') \gexec
SELECT format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', datname) FROM pg_database WHERE datname <> 'template0' \gexec
SQL
