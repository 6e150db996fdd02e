#!/usr/bin/env bash
# Part of Eider, under the Apache License v2.0.
#
# bench/run.sh OUT [SECONDS]: measures on the first GPU, each part into a file of bench/README.md's schema, and makes
# the page: OUT/ops.json, OUT/latency.json, OUT/peers.json, OUT/report.html. Builds nothing; EIDER_BIN is where the
# programs are (build/bin). SECONDS: how long the peers may take; what
# they lack then, another call with the same OUT goes on with. EIDER_COMMIT is written into the results.
# Exit status 1: a part failed, which a line says, and the others were measured; 3: there is no GPU.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${EIDER_BIN:-$root/build/bin}
out=${1:?usage: bench/run.sh OUT [SECONDS]}
seconds=${2:-100000}
mkdir -p "$out" || exit 3
: "${EIDER_COMMIT:=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)}"
export EIDER_COMMIT

"$bin/eider" devices | grep -q '^cuda:0' || { echo "bench/run.sh: no GPU: see eider devices" >&2; exit 3; }

failures=0
part() { # NAME COMMAND…
  local name=$1 begin=$SECONDS
  shift
  echo "== $name"
  "$@" || {
    echo "bench/run.sh: $name ended with status $?" >&2
    failures=$((failures + 1))
  }
  echo "== $name took $((SECONDS - begin)) s"
}

part ops "$bin/eider" bench --device cuda:0 --beside-copy --json "$out/ops.json"
part again "$bin/eider" bench --device cuda:0 --only 16384x --l2 cold --beside-copy --again --json "$out/ops.json"
part latency "$bin/bench-latency" --device cuda:0 --json "$out/latency.json"
part peers python3 "$root/bench/peers/run.py" --json "$out/peers.json" --seconds "$seconds" --continue

files=()
for name in ops latency peers; do
  [[ -s $out/$name.json ]] && files+=("$out/$name.json")
done
[[ ${#files[@]} -gt 0 ]] && part report "$bin/eider" report "${files[@]}" -o "$out/report.html"
exit $((failures > 0))
