#!/usr/bin/env bash
# A cluster of three machines, all of them this one: a scheduler, two executors, and a query. It ends with the script.
#
#   cargo build --release --manifest-path crates/jird-cluster/Cargo.toml
#   PATH="$PWD/crates/jird-cluster/target/release:$PATH" examples/cluster.sh examples/events.ndjson
set -euo pipefail
file=$(realpath "${1:-$(dirname "$0")/events.ndjson}")
sql=${2:-'select "@l" as level, count(*) as n group by "@l"'}
first=${JIRD_CLUSTER_PORT:-50050} # this port, and the four after it

folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$folder"' EXIT

scheduler="df://127.0.0.1:$first"
jird-cluster scheduler --listen "127.0.0.1:$first" 2>"$folder/scheduler.log" &
for machine in 1 2; do
    jird-cluster executor --at "$scheduler" --listen "127.0.0.1:$((first + 2 * machine - 1))" --cores 1 \
        --folder "$folder/machine-$machine" 2>"$folder/machine-$machine.log" &
done

# The executors are there when a query is answered.
for _ in $(seq 100); do
    jird-cluster query --at "$scheduler" "select 1 as ready limit 0" "$file" --quiet 2>/dev/null && break
    sleep 0.1
done
jird-cluster query --at "$scheduler" "$sql" "$file" --stats
