#!/usr/bin/env bash
# Builds the wheel for every Python from 3.10 on every glibc from 2.17, and the source distribution, into dist: `make package-wheel`.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/sdks/zig.sh
mkdir -p dist
rm -f dist/oasis_monitor-*
# Maturin has a linker of its own: in one folder, each build would begin where the other one began.
export CARGO_TARGET_DIR=$PWD/target/package-wheel
cd sdk/python
maturin build --quiet --release --locked --strip --zig --target "$TARGET" --compatibility "manylinux_${GLIBC/./_}" --out ../../dist
maturin sdist --out ../../dist
ls ../../dist/oasis_monitor-* | sed 's|^../../||'
