#!/bin/bash -e
# As the official image: a first start makes the databases, of which the socket and 127.0.0.1 are trusted; the rest
# signs in.
as_postgres=(setpriv --reuid postgres --regid postgres --init-groups)
# As a volume, it may come as root's.
install -d -m 3775 -o postgres -g postgres /var/run/postgresql
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  install -d -m 700 -o postgres -g postgres "$PGDATA"
  chown postgres: "$PGDATA"
  password=$(mktemp)
  echo "${POSTGRES_PASSWORD:?is not set}" >"$password"
  chown postgres: "$password"
  "${as_postgres[@]}" initdb --username="$POSTGRES_USER" --pwfile="$password" --auth=trust >/dev/null
  rm "$password"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  "${as_postgres[@]}" pg_ctl -w -o "-c listen_addresses=''" start >/dev/null
  createdb -h /var/run/postgresql -U "$POSTGRES_USER" "${POSTGRES_DB:-$POSTGRES_USER}" || true
  "${as_postgres[@]}" pg_ctl -w stop >/dev/null
fi
exec "${as_postgres[@]}" "$@" -c listen_addresses='*'
