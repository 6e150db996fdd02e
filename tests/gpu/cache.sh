#!/usr/bin/env bash
# Part of Eider, under the Apache License v2.0.
#
#   tests/gpu/cache.sh [BINARIES]
#
# The cache in front of a GPU: cold and warm starts, EIDER_JIT=never and its cure, a bundle without
# NVRTC, an archive, sixteen processes at once; every result is checked against the reference. One
# line `ok …` or `not ok …` a check. BINARIES is the directory of the programs (else $EIDER_BIN, else
# build/bin). Exit status: 0 all ok, 1 something failed, 77 there is no GPU.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:-${EIDER_BIN:-$here/../../build/bin}}" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset EIDER_TARGET EIDER_JIT EIDER_CACHE_BUNDLES EIDER_CACHE_SIZE
cd "$work" || exit 2

"$bin/eider" devices --json >devices.json || exit 1
reason=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["why_no_gpu"])' <devices.json)
if [ -n "$reason" ]; then
  echo "skipped: $reason"
  exit 77
fi
python3 - <<'EOF'
import array, json, struct
values = array.array("f", (((i * 2654435761) % 2001 - 1000) / 64 for i in range(64 * 512)))
head = json.dumps({"x": {"dtype": "F32", "shape": [64, 512], "data_offsets": [0, 4 * len(values)]}}).encode()
open("in.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + values.tobytes())
EOF

failed=0
check() { # NAME COMMAND…
  local name=$1
  shift
  if "$@" >log 2>&1; then
    echo "ok $name"
  else
    echo "not ok $name (exit status $?)"
    sed 's/^/  /' log
    failed=1
  fi
}

run() { # DIRECTORY [OUTPUT]
  EIDER_CACHE_DIR=$work/$1 timeout 60 "$bin/eider" run quantize --dtype f32 --device cuda \
    --in in.safetensors --out "${2:-out}" --check --why-miss
}
# A run that says nothing of a miss.
hit() { run "$@" 2>misses && ! grep -q 'cache miss' misses; }
never() { EIDER_JIT=never run "$@"; }

refused_with_the_cure() {
  local status=0
  never "$1" 2>refusal || status=$?
  sed -n 's/.*EIDER_JIT=never; run: eider //p' refusal >cure
  cat refusal
  [ "$status" = 3 ] && [ -s cure ]
}
cured() { # DIRECTORY
  EIDER_CACHE_DIR=$work/$1 EIDER_JIT=never bash -c "$bin/eider $(cat cure)" && never "$1"
}
bundle_without_nvrtc() {
  EIDER_CACHE_BUNDLES=$work/cured EIDER_NVRTC=/nonexistent run empty
}
archive() {
  EIDER_CACHE_DIR=$work/cured "$bin/eider" cache export all &&
    EIDER_CACHE_DIR=$work/imported "$bin/eider" cache import all && never imported
}
rivals() {
  local status=0 processes=() i
  for ((i = 0; i < 16; ++i)); do
    run rivals "out.$i" >"rival.$i" 2>&1 &
    processes+=($!)
  done
  for i in "${!processes[@]}"; do
    wait "${processes[i]}" || { status=1; cat "rival.$i"; }
  done
  return $status
}
sound() { EIDER_CACHE_DIR=$work/$1 "$bin/eider" cache verify; }

check "cold start" run cold
check "warm start" hit cold
check "EIDER_JIT=never names the cure" refused_with_the_cure cured
check "the cure cures" cured cured
check "a bundle without NVRTC" bundle_without_nvrtc
check "an archive" archive
check "sixteen processes at once" rivals
check "what they left is sound" sound rivals
exit $failed
