#!/bin/sh
# Backs PostgreSQL up while it runs: all of it once a week, and each day what has changed since. What isn't taken is
# tried again after a minute. It writes down when the last ones began, for itself and for Prometheus, and says at once
# when PostgreSQL's log isn't archived. PGBACKREST_… of the environment takes precedence over pgbackrest.conf.
set -u
repository=${PGBACKREST_REPO1_PATH:-/var/lib/pgbackrest}
metrics=${METRICS_FOLDER:-/metrics}
day=86400

# When the last backup of a type began, in seconds since 1970.
began() { cat "$repository/began-$1" 2>/dev/null || echo 0; }

back_up() {
  now=$(date +%s)
  pgbackrest --type="$1" backup && echo "$now" >"$repository/began-$1"
}

# A file that Prometheus may read at any moment is never half written.
show() {
  {
    echo '# HELP postgres_backup_timestamp_seconds When the last backup of PostgreSQL began.'
    echo '# TYPE postgres_backup_timestamp_seconds gauge'
    for type in full diff; do echo "postgres_backup_timestamp_seconds{type=\"$type\"} $(began $type)"; done
  } >"$metrics/backup.prom.new" && mv "$metrics/backup.prom.new" "$metrics/backup.prom"
}

show
# What is there already is left as it is.
pgbackrest stanza-create && pgbackrest check || exit 1
while :; do
  now=$(date +%s)
  if [ $((now - $(began full))) -ge $((7 * day)) ]; then
    back_up full
  elif [ $((now - $(began full))) -ge $day ] && [ $((now - $(began diff))) -ge $day ]; then
    back_up diff
  fi
  show
  sleep 60 &
  wait $!
done
