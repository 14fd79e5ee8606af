#!/bin/bash -e
# As the official image: the address that other members of the cluster are told.
if [ "${BIND_ON_IP:-}" = 0.0.0.0 ]; then
  address=$(getent hosts "$(hostname)" | awk '{ print $1; exit }')
  export TEMPORAL_BROADCAST_ADDRESS="${TEMPORAL_BROADCAST_ADDRESS:-$address}"
fi
exec temporal-server --env docker start
