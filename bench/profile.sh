#!/usr/bin/env bash
# Part of Eider, under the Apache License v2.0.
#
# bench/profile.sh OUT [RESULTS]: what Nsight Compute says of one launch of each cell that misses what is asked of it, by
# the results in RESULTS (bench/results), into OUT/profile.json of bench/README.md's schema; what is there already stays.
# Builds nothing; EIDER_BIN is where the programs are (build/bin), NCU is ncu if it is not in PATH or the CUDA toolkit.
# Exit status 77: there is no GPU or no ncu; 1: a cell could not be profiled, which a line says, and the others were.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: bench/profile.sh OUT [RESULTS]}
results=${2:-$root/bench/results}
export EIDER_BIN=${EIDER_BIN:-$root/build/bin}
: "${EIDER_COMMIT:=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)}"
export EIDER_COMMIT
mkdir -p "$out" || exit 2

"$EIDER_BIN/eider" devices | grep -q '^cuda:0' || { echo "bench/profile.sh: no GPU: see eider devices" >&2; exit 77; }
NCU=${NCU:-$(command -v ncu || ls "${CUDA_HOME:-/usr/local/cuda}"/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)}
[ -n "$NCU" ] || { echo "bench/profile.sh: ncu is not here; Nsight Compute has it" >&2; exit 77; }
export NCU

exec python3 "$root/bench/profile_cells.py" "$out/profile.json" "$results"
