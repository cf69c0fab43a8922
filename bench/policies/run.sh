#!/bin/sh
# The allocation policies against each other on our own workloads. Takes the build folder.
build=$1
shift
mkdir -p "$build/bench/results"
exec "$build/bin/plimsoll-bench" policies --json "$build/bench/results/policies.json" \
  --svg "$build/bench/results/policies.svg" "$@"
