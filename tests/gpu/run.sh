#!/usr/bin/env bash
# Part of Eider, under the Apache License v2.0.
#
#   tests/gpu/run.sh [BINARIES] [RESULTS] [STEP…]
#
# Every test that needs a GPU, from a build that may have been made on another machine. BINARIES is
# the directory of its programs (else $EIDER_BIN, else build/bin); RESULTS gets gpu-tests.json,
# after each step anew, and gpu-tests.log (else $OUT, else a temporary directory). With STEPs only
# those, whose rows replace the same steps' in a gpu-tests.json that is there; others keep theirs and
# the run that they are of. Exit status: 0 all passed, 1 something failed, 77 there is no GPU.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(cd "${1:-${EIDER_BIN:-$root/build/bin}}" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
results=${2:-${OUT:-$(mktemp -d)}}
only=${*:3}
mkdir -p "$results" || exit 2
export EIDER_CACHE_DIR=$work/cache
unset EIDER_TARGET EIDER_TEST_SHARE

if ! "$bin/eider" devices --json >"$work/devices.json"; then
  echo "tests/gpu/run.sh: $bin/eider does not run; give the directory of the programs" >&2
  exit 1
fi
reason=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["why_no_gpu"])' <"$work/devices.json")
if [ -n "$reason" ]; then
  echo "skipped: $reason"
  exit 77
fi

#--- How a step is counted ----------------------------------------------------------------------

# passed, failed, skipped of a log: gtest's, gpu-conformance's, the matrix's, a sanitizer's last
# lines, and the lines `ok …` and `not ok …` of this script.
counts() {
  awk '
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
    /^\[  SKIPPED \] all tests/ { skipped += 1 }
    /^[0-9]+ checks, [0-9]+ failed/ { passed += $1 - $3; failed += $3 }
    /^[0-9]+ cells, .* cells failed/ {
      all = $1; sub(/ cells failed.*/, ""); bad = $NF; passed += all - bad; failed += bad }
    /(ERROR|RACECHECK) SUMMARY: [0-9]+/ { sub(/.*SUMMARY: /, ""); failed += $1 }
    /^skipped / { skipped += 1 }
    /^ok / { passed += 1 }
    /^not ok / { failed += 1 }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# step NAME COMMAND…: a line of the table, and the log if the step failed. A step that passed nothing
# has failed, unless it exits with 77.
step() {
  local name=$1 log=$work/$1.log status=0 start=$EPOCHREALTIME passed failed skipped seconds
  shift
  [ -z "$only" ] || [[ " $only " == *" $name "* ]] || return 0
  "$@" >"$log" 2>&1 || status=$?
  seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  read -r passed failed skipped < <(counts "$log")
  if [ "$status" = 77 ] && [ "$failed" = 0 ]; then
    skipped=$((skipped + 1))
  elif [ "$failed" = 0 ] && { [ "$status" != 0 ] || [ "$((passed + skipped))" = 0 ]; }; then
    failed=1
  fi
  echo "$name $passed $failed $skipped $seconds" >>"$work/steps"
  python3 "$here/results.py" "$work/steps" "$work/devices.json" "$results/gpu-tests.json" ${only:+keep} || exit 1
  echo "$name: $passed passed, $failed failed, $skipped skipped, $seconds s"
  if [ "$failed" != 0 ] || [ "$skipped" != 0 ]; then
    { echo "=== $name (exit status $status)"; head -c 400000 "$log"; } >>"$results/gpu-tests.log"
  fi
}

# check NAME COMMAND…: one `ok` or `not ok` line.
check() {
  local name=$1
  shift
  if "$@"; then echo "ok $name"; else echo "not ok $name (exit status $?)"; fi
}

# later NAME COMMAND…: a check beside others, for compiling dominates. collect waits for them and
# says their lines in order.
laters=0
later() {
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
  laters=$((laters + 1))
  check "$@" >"$work/later.$laters" 2>&1 </dev/null &
}
collect() {
  local i
  wait
  for ((i = 1; i <= laters; ++i)); do cat "$work/later.$i"; done
  laters=0
}

#--- The steps ----------------------------------------------------------------------------------

# in_parts HOW COMMAND…: its parts, each in a process of its own; HOW (shard, gtest_shard) says which it
# is. Compiling dominates, and one process compiles less in parallel than several do.
shards=8
in_parts() {
  local how=$1 status=0 processes=() i
  shift
  for ((i = 1; i <= shards; ++i)); do
    "$how" "$i" "$@" >"$work/shard.$i" 2>&1 &
    processes+=($!)
  done
  for ((i = 1; i <= shards; ++i)); do
    local one=0
    wait "${processes[i - 1]}" || one=$?
    cat "$work/shard.$i"
    # Exit status 1 is of what failed, which the shard's last lines count.
    [ "$one" -le 1 ] || echo "not ok shard $i/$shards (exit status $one)"
    [ "$one" = 0 ] || status=1
  done
  return $status
}
shard() { timeout 120 "${@:2}" --shard "$1/$shards"; }
gtest_shard() { GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$(($1 - 1)) timeout 150 "${@:2}"; }
on_the_device() { in_parts gtest_shard env EIDER_TEST_DEVICE=cuda "$@" --gtest_filter='*OnTheDevice'; }

matrix_shards() { # ARRAYS OPTION…
  local arrays=$1
  shift
  in_parts shard "$bin/matrix" --pairwise --arrays "$arrays" --device cuda "$@"
}

# What an older GPU is given, compiled by this GPU's driver from PTX.
matrix_as() { EIDER_TARGET=$1 matrix_shards 1 --codec software; }

run_checked_in() { # DIRECTORY OP PARAMS…
  local inputs=$1 out=$work/out.$BASHPID.safetensors status=0
  shift
  timeout 60 "$bin/eider" run "$@" --device cuda --in "$inputs/$1.safetensors" --out "$out" --check || status=$?
  rm -f "$out"
  return $status
}

run_checked() { run_checked_in "$work" "$@"; } # OP PARAMS…

# Inputs of every op in a directory, with a list of the ops; once.
inputs() { # DIRECTORY SHAPE…
  [ -s "$1/ops" ] && return 0
  mkdir -p "$1"
  python3 "$here/inputs.py" "$bin/eider" "$@" >"$1/ops.new" && mv "$1/ops.new" "$1/ops"
}

newer_target_is_refused() {
  local said status=0
  said=$(EIDER_TARGET=sm_121a run_checked quantize 2>&1) || status=$?
  echo "$said"
  [ "$status" = 2 ] && [[ $said == *"EIDER_TARGET: 'sm_121a' does not run on a GPU of"* ]]
}

command_line() {
  local op kind
  inputs "$work" || return 1
  while read -r op kind; do
    if [ "$kind" = plain ]; then
      later "$op" run_checked "$op"
      continue
    fi
    for codec in hardware software; do
      later "$op $codec" run_checked "$op" --codec "$codec"
    done
    if [ "$kind" = blocks ]; then
      later "$op transposed" run_checked "$op" --transposed yes
      for format in e4m3 e5m2; do
        later "$op $format stochastic" run_checked "$op" --format "$format" --set rounding=stochastic \
          --set seed=7 --set offset=3
      done
    fi
    if [ "$kind" = blocks ] || [ "$kind" = rows ]; then
      later "$op e4m3 1x*" run_checked "$op" --block '1x*'
    fi
    if [ "$kind" = blocks ] || [ "$kind" = tiles ]; then
      later "$op e5m2 128x128" run_checked "$op" --format e5m2 --block '128x128'
      later "$op mn_major_aligned" run_checked "$op" --scale-layout mn_major_aligned
      later "$op packed_ue8m0" run_checked "$op" --scale e8m0 --scale-layout packed_ue8m0
      later "$op swizzled_128x4" run_checked "$op" --mode mx --scale-layout swizzled_128x4
      later "$op te_gemm_ready" run_checked "$op" --block '128x128' --scale-layout te_gemm_ready
    fi
    if [ "$kind" != codes ]; then
      later "$op mx" run_checked "$op" --mode mx
      later "$op e5m2fnuz bf16" run_checked "$op" --format e5m2fnuz --scale bf16
    fi
  done <"$work/ops"
  collect
  # Two codes a byte: even rows.
  inputs "$work/even" 261 1182 || return 1
  while read -r op kind; do
    [ "$kind" = blocks ] || [ "$kind" = rows ] || continue
    later "$op e2m1 mx" run_checked_in "$work/even" "$op" --format e2m1 --mode mx
    later "$op e2m1 1x16 f16" run_checked_in "$work/even" "$op" --format e2m1 --block 1x16 --scale f16
    later "$op e2m1 1x16 e4m3" run_checked_in "$work/even" "$op" --format e2m1 --block 1x16 --scale e4m3
  done <"$work/ops"
  collect
  check "a target newer than the GPU" newer_target_is_refused
}

# Rows that several blocks hold together: from the matrix' cells, then by a person's command line.
clusters() {
  local schedule
  later "rows over clusters" env EIDER_TEST_DEVICE=cuda timeout 120 "$bin/cluster-test"
  inputs "$work" && inputs "$work/wide" 9 100000 || return 1
  later "quantize 9x100000" run_checked_in "$work/wide" quantize --block '1x*'
  later "add_rms_norm_quant 9x100000" run_checked_in "$work/wide" add_rms_norm_quant --block '1x*'
  for schedule in 'row<threads = 96, vector = 4, cluster = 4>' \
    'row<threads = 64, vector = 8, tiles = 4, cluster = 8>'; do
    later "rms_norm_quant $schedule" run_checked rms_norm_quant --block '1x*' --schedule "$schedule"
  done
  collect
}

# One kernel for a reduction over the whole matrix: from cells, at sizes about what the GPU holds, then
# by a person's command line, which may choose it and turn it off.
cooperative() {
  local op schedule
  later "all blocks at once" env EIDER_TEST_DEVICE=cuda timeout 200 "$bin/cooperative-test"
  inputs "$work" || return 1
  for op in quantize silu_mul_quant rms_norm_quant add_rms_norm_quant; do
    later "$op *x*" run_checked "$op" --block '*x*'
  done
  for schedule in 'map<threads = 32, vector = 8, rows = 4, loads = 2, resident = 8, cooperative = 1>' \
    'map<threads = 128, vector = 16, loads = 1>'; do
    later "quantize $schedule" run_checked quantize --block '*x*' --schedule "$schedule"
  done
  collect
}

# Rows that no registers hold: as older targets have them, which have no clusters, sooner.
long_rows() {
  local as
  for as in "" sm_75 sm_80; do
    later "long rows ${as:-of this GPU}" env EIDER_TEST_DEVICE=cuda ${as:+EIDER_TARGET=$as} timeout 200 "$bin/long-rows-test"
  done
  collect
}

demo() {
  check demo timeout 120 "$bin/eider-demo" "$root/examples/data/minilm.safetensors" "$work/demo"
}

# Its products are cuBLASLt's, which comes with CUDA or with PyTorch.
linear() {
  local found
  found=$(python3 "$root/scripts/find_cublaslt.py")
  if [ -z "$found" ]; then
    echo "cuBLASLt is not here; it comes with the CUDA toolkit"
    return 77
  fi
  EIDER_CUBLASLT=$found timeout 120 "$bin/fp8-linear" --check
}

kernels() { timeout 120 "$bin/gpu-kernels"; }

# `tool`: the command line of a sanitizer, which exits with `complaint` where it has one.
complaint=99
sanitizer_of() { # TOOL
  local program
  program=$(command -v compute-sanitizer || ls "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null)
  if [ -z "$program" ]; then
    echo "compute-sanitizer is not here; it comes with the CUDA toolkit"
    return 77
  fi
  tool=("$program" --tool "$1" --error-exitcode "$complaint")
}

# sanitizer TOOL DEFECT OPTION…: silent about every kernel of ours, not about one that has the defect.
sanitizer() {
  local tool status=0 control=0 options=("${@:3}")
  sanitizer_of "$1" || return
  timeout 60 "${tool[@]}" "$bin/gpu-kernels" --defect "$2" >"$work/control.log" 2>&1 || control=$?
  if [ "$control" = "$complaint" ]; then
    echo "ok $1 complains of $2"
  else
    sed 's/^/control: /; s/SUMMARY/summary/' "$work/control.log"
    echo "not ok $1 complains of $2 (exit status $control)"
  fi
  timeout 180 "${tool[@]}" "$bin/gpu-kernels" "${options[@]}" || status=$?
  return $status
}

# sanitized_matrix TOOL: silent about an array of the matrix.
sanitized_matrix() {
  local tool cells=("$bin/matrix" --pairwise --device cuda)
  sanitizer_of "$1" || return
  if [ "$1" = racecheck ]; then # see below
    timeout 180 "${tool[@]}" "${cells[@]}" --in-turn
  else
    in_parts shard "${tool[@]}" "${cells[@]}"
  fi
}

[ -n "$only" ] || : >"$results/gpu-tests.log"
step runtime timeout 90 "$bin/gpu-runtime-tests"
step conformance timeout 120 "$bin/gpu-conformance"
step tune timeout 120 "$bin/gpu-tune-tests"
step matrix matrix_shards 3
step matrix-as-sm_75 matrix_as sm_75
step matrix-as-sm_80 matrix_as sm_80
step command-line command_line
step traps env EIDER_TEST_DEVICE=cuda timeout 200 "$bin/trap-test"
step clusters clusters
step cooperative cooperative
step long-rows long_rows
step few-rows env EIDER_TEST_DEVICE=cuda timeout 120 "$bin/few-rows-test"
step whole env EIDER_TEST_DEVICE=cuda timeout 120 "$bin/given-test"
step schedules env EIDER_TEST_DEVICE=cuda timeout 120 "$bin/loop-test"
step indices on_the_device "$bin/indices-test"
step attention on_the_device "$bin/attention-test"
step attention-as-sm_75 on_the_device env EIDER_TARGET=sm_75 "$bin/attention-test"
step attention-as-sm_80 on_the_device env EIDER_TARGET=sm_80 "$bin/attention-test"
step contraction on_the_device "$bin/contraction-test"
step contraction-as-sm_75 on_the_device env EIDER_TARGET=sm_75 "$bin/contraction-test"
step contraction-as-sm_80 on_the_device env EIDER_TARGET=sm_80 "$bin/contraction-test"
step linear linear
step layer timeout 120 "$bin/bench-llm" --check "$root/examples/data/minilm_layer.safetensors"
step heldout env EIDER_TEST_DEVICE=cuda timeout 120 "$bin/heldout-test" --gtest_filter=HeldOut.AgreeWithTheReference
step random in_parts shard "$bin/random-test" --programs 400 --device cuda
step aot timeout 120 "$bin/gpu-aot"
step demo demo
step kernels kernels
step large timeout 120 "$bin/gpu-large"
step memcheck sanitizer memcheck out-of-bounds
step initcheck sanitizer initcheck uninitialised --without bulk # whose stores it does not see
step synccheck sanitizer synccheck divergence
step racecheck sanitizer racecheck race --in-turn # of several at a time it did not end on one machine
step matrix-memcheck sanitized_matrix memcheck
step matrix-initcheck sanitized_matrix initcheck
step matrix-synccheck sanitized_matrix synccheck
step matrix-racecheck sanitized_matrix racecheck

[ -s "$work/steps" ] || { echo "tests/gpu/run.sh: no step is named '$only'" >&2; exit 2; }
echo
{ echo "step passed failed skipped seconds"; cat "$work/steps"; } |
  awk '{ printf "%-18s %8s %8s %8s %8s\n", $1, $2, $3, $4, $5 }'
logs=
[ ! -s "$results/gpu-tests.log" ] || logs="; logs of what failed or was skipped: $results/gpu-tests.log"
echo "results: $results/gpu-tests.json$logs"
! awk '$3 > 0 { found = 1 } END { exit !found }' "$work/steps"
