#!/bin/sh
# Makes a Temporal server ready for Sanaga with Temporal's own command line: the namespace, and the search attributes
# that payments carry. What is there already is left as it is, so that this may run at every start. TEMPORAL_ADDRESS and
# TEMPORAL_NAMESPACE say where, as they do for every client.
set -eu
namespace="${TEMPORAL_NAMESPACE:-default}"
export TEMPORAL_NAMESPACE="$namespace"

# For so long operators can look in the Web UI at what was done for a payment. The payment itself stays in the book.
retention_days=30

echo "waiting for Temporal at ${TEMPORAL_ADDRESS:-127.0.0.1:7233}"
tries=0
until temporal operator cluster health >/dev/null 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -ge 60 ]; then
    echo 'Temporal does not answer' >&2
    exit 1
  fi
  sleep 2
done

if ! temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1; then
  temporal operator namespace create --namespace "$namespace" --retention "${retention_days}d"
fi

# A namespace that was just made is not known everywhere at once.
tries=0
until present=$(temporal operator search-attribute list --output json 2>/dev/null); do
  tries=$((tries + 1))
  if [ "$tries" -ge 30 ]; then
    echo "the search attributes of $namespace can't be listed" >&2
    exit 1
  fi
  sleep 1
done
while read -r name type; do
  case "$present" in
  *"\"$name\""*) continue ;;
  esac
  temporal operator search-attribute create --name "$name" --type "$type"
done <<'ATTRIBUTES'
Merchant Keyword
PaymentStatus Keyword
PaymentKind Keyword
ExternalId Keyword
TransId Keyword
ATTRIBUTES
echo "namespace $namespace is ready"
