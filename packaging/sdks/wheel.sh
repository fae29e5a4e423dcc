#!/usr/bin/env bash
# Builds a wheel for every Python from 3.10, into dist:
#
#   packaging/sdks/wheel.sh         for every glibc from 2.17, and the source distribution: `make package-wheel`
#   packaging/sdks/wheel.sh musl    for musl, such as Alpine: `make package-musl-wheel`
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/sdks/zig.sh
[[ ${1:-} != musl ]] || TARGET=$ARCH-unknown-linux-musl
rustup target list --installed 2>/dev/null | grep -qx "$TARGET" || rustup target add "$TARGET"
# Of the crates in the native library. All wheels and the source distribution have it (pyproject.toml).
packaging/licenses target/tools/bin/cargo-about python "" sdk/python/licenses.txt
mkdir -p dist
# Only what this run makes again.
if [[ ${1:-} == musl ]]; then rm -f dist/oasis_monitor-*musllinux*_"$ARCH".whl; else rm -f dist/oasis_monitor-*manylinux*_"$ARCH".whl dist/oasis_monitor-*.tar.gz; fi
# Maturin has a linker of its own: in one folder, each build would begin where the other one began.
export CARGO_TARGET_DIR=$PWD/target/package-wheel
cd sdk/python
build() { maturin build --quiet --release --locked --strip --zig --target "$TARGET" --out ../../dist "$@"; }
if [[ ${1:-} == musl ]]; then
  build --compatibility musllinux_1_2
else
  build --compatibility "manylinux_${GLIBC/./_}"
  maturin sdist --out ../../dist
fi
ls ../../dist/oasis_monitor-* | sed 's|^../../||'
