#!/usr/bin/env bash
# Part of Eider, under the Apache License v2.0.
#
#   tests/fuzz/run.sh BUILD [SECONDS]
#
# Fuzzes every target for SECONDS (60), from its corpus. New inputs stay in BUILD/fuzz/corpus; what
# crashes is left in BUILD/fuzz/crashes and belongs into tests/fuzz/corpus once it is mended. Exit
# status: 0 nothing found, 1 a crash.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
seconds=${2:-60}
crashes=$build/fuzz/crashes
mkdir -p "$crashes"
status=0

for target in safetensors contract meta archive; do
  corpus=$build/fuzz/corpus/$target
  mkdir -p "$corpus"
  log=$build/fuzz/$target.log
  if "$build/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="$crashes/$target-" "$corpus" "$here/corpus/$target" \
    >"$log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, nothing found"
  else
    echo "$target: found something, see $log"
    tail -n 30 "$log"
    status=1
  fi
done
"$build/bin/fuzz-mlir" --seconds "$seconds" --crashes "$crashes" "$here/corpus/mlir" \
  "$here/../lit" || status=1
exit $status
