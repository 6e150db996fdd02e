#!/usr/bin/env bash
# Part of Eider, under the Apache License v2.0.
#
#   scripts/tidy.sh [FILE.cpp…]
#
# clang-tidy over our C++ (over FILE.cpp… alone where given), after a build has been configured. Exit
# status: 0 nothing to report, 1 something, 3 no clang-tidy.
set -euo pipefail
cd "$(dirname "$0")/.."
tidy=$(command -v clang-tidy-22) || {
  echo "tidy: no clang-tidy-22; install Debian's package of that name" >&2
  exit 3
}
if [[ $# == 0 ]]; then
  mapfile -t files < <(git ls-files '*.cpp')
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" "$tidy" -p build --quiet || exit 1
