#!/usr/bin/env bash
# Part of Eider, under the Apache License v2.0.
#
# bench/run.sh OUT [SECONDS] [PART…]: measures on the first GPU, each part into a file of bench/README.md's schema:
#   ops      OUT/ops.json, what is large and cold by two processes    sm_80   OUT/sm_80.json, code for an older GPU
#   peers    OUT/peers.json, what others take                         linear  OUT/linear.json
#   llm      OUT/llm.json, a decode layer of ours and of PyTorch      latency OUT/latency.json
#   report   OUT/report.html, of what is there
# Without a PART all of them. EIDER_ONLY: words, of which ops and peers have one (`gemv attention`). Builds nothing;
# EIDER_BIN is where the programs are (build/bin). SECONDS: how long the peers may take, for each word; what they lack then, another
# call with the same OUT goes on with. EIDER_COMMIT is written into the results; bench/join.py brings them into bench/results.
# Exit status 1: a part failed, which a line says, and the others were measured; 2: there is no such part; 3: there is no GPU.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${EIDER_BIN:-$root/build/bin}
out=${1:?usage: bench/run.sh OUT [SECONDS] [PART…]}
seconds=${2:-100000}
[[ $seconds =~ ^[0-9]+$ ]] || { echo "bench/run.sh: '$seconds' is no number of seconds; parts come after it" >&2; exit 2; }
all=(ops peers llm linear sm_80 latency report)
parts=("${@:3}")
[[ ${#parts[@]} -gt 0 ]] || parts=("${all[@]}")
read -ra words <<<"${EIDER_ONLY:-}"
[[ ${#words[@]} -gt 0 ]] || words=("")
for name in "${parts[@]}"; do
  [[ " ${all[*]} " == *" $name "* ]] || { echo "bench/run.sh: no part is named '$name': ${all[*]}" >&2; exit 2; }
done
mkdir -p "$out" || exit 3
: "${EIDER_COMMIT:=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)}"
export EIDER_COMMIT

"$bin/eider" devices | grep -q '^cuda:0' || { echo "bench/run.sh: no GPU: see eider devices" >&2; exit 3; }

bench() { "$bin/eider" bench --device cuda:0 "$@"; }

# The first word's cells make the file, which the others join.
ops() {
  local word again=() large=("${words[@]}")
  for word in "${words[@]}"; do
    bench --only "$word" --rounds 10 --beside-copy "${again[@]}" --json "$out/ops.json" || return
    again=(--again)
  done
  [[ -n ${words[0]} ]] || large=(16384x)
  for word in "${large[@]}"; do
    bench --only "$word" --rounds 10 --l2 cold --beside-copy --again --json "$out/ops.json" || return
  done
}

peers() {
  local word
  for word in "${words[@]}"; do
    python3 "$root/bench/peers/run.py" --json "$out/peers.json" --only "$word" --seconds "$seconds" --continue || return
  done
}

llm() { "$bin/bench-llm" --device cuda:0 --json "$out/llm.json" && python3 "$root/bench/llm/torch_layer.py" --json "$out/llm.json"; }

linear() { EIDER_CUBLASLT=$(python3 "$root/scripts/find_cublaslt.py") "$bin/fp8-linear" --json "$out/linear.json"; }

sm_80() {
  EIDER_TARGET=sm_80 bench --only gemv --l2 cold --json "$out/sm_80.json" &&
    EIDER_TARGET=sm_80 bench --only attention --l2 cold --again --json "$out/sm_80.json"
}

latency() { "$bin/bench-latency" --device cuda:0 --json "$out/latency.json"; }

report() { "$bin/eider" report "$out"/*.json -o "$out/report.html"; }

failures=0
for name in "${parts[@]}"; do
  begin=$SECONDS
  echo "== $name"
  "$name" || {
    echo "bench/run.sh: $name ended with status $?" >&2
    failures=$((failures + 1))
  }
  echo "== $name took $((SECONDS - begin)) s"
done
exit $((failures > 0))
