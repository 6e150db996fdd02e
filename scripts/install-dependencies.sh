#!/usr/bin/env bash
# Part of Eider, under the Apache License v2.0.
#
# Installs on Debian 12 what building and testing need; does nothing, at once, when all is there.
# Exit status 3: this machine lacks something that the script cannot install; one line says what.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build ccache git
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22 libclang-rt-22-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev
  libcli11-dev libsqlite3-dev nlohmann-json3-dev libboost-context-dev zlib1g-dev libzstd-dev
  python3 python3-venv
)

lacking() {
  echo "install-dependencies: $1" >&2
  exit 3
}

missing_packages() {
  comm -23 <(printf '%s\n' "${packages[@]}" | sort) \
    <(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null |
      sed -n 's/^ii //p' | sort)
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    lacking "this is no Debian system; install what these packages hold, then build with cmake --preset release: ${packages[*]}"
  local missing sudo=()
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} == 0 ]] && return
  if [[ $EUID != 0 ]]; then
    command -v sudo >/dev/null || lacking "neither root nor sudo; install as root: ${missing[*]}"
    sudo=(sudo)
  fi
  echo "install-dependencies: installing ${missing[*]}" >&2
  "${sudo[@]}" apt-get update -qq >&2
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >&2 ||
    lacking "apt-get could not install: ${missing[*]} (LLVM 22 is in Debian 12's security suite)"
}

# Python oracles of the tests, in an environment of the checkout's own.
install_python() {
  cmp -s scripts/requirements.txt .venv/installed.txt && [[ -x .venv/bin/python ]] && return
  echo "install-dependencies: making .venv" >&2
  rm -rf .venv
  /usr/bin/python3 -m venv .venv
  .venv/bin/pip install -q --disable-pip-version-check -r scripts/requirements.txt >&2 ||
    lacking "pip could not install scripts/requirements.txt into .venv"
  cp scripts/requirements.txt .venv/installed.txt
}

# NVRTC cannot be installed from Debian: it comes with NVIDIA's toolkit.
find_nvrtc() {
  local root file
  [[ -e ${EIDER_NVRTC:-} ]] && return
  for root in ${CUDA_HOME:+"$CUDA_HOME"} /usr/local/cuda /usr/local/cuda-*; do
    for file in "$root"/{lib64,lib,targets/*/lib}/libnvrtc.so.1[23]; do
      [[ -e $file ]] && return
    done
  done
  [[ $(PATH=$PATH:/sbin ldconfig -p) == *libnvrtc.so.1[23]* ]] && return
  lacking "no NVRTC (libnvrtc.so.13) under CUDA_HOME, /usr/local/cuda* or in the dynamic linker's path; install the CUDA 13 toolkit, set CUDA_HOME to it, or EIDER_NVRTC to the file"
}

install_packages
install_python
find_nvrtc
