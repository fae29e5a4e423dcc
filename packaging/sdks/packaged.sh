#!/usr/bin/env bash
# Lays out the SDKs of `make package-sdks` for the packages of the program, in FOLDER/share/oasis/sdk:
#
#   packaging/sdks/packaged.sh FOLDER
#   packaging/sdks/packaged.sh --check      whether all of them are there, for this version and processor
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/sdks/version.sh
source packaging/sdks/zig.sh

libraries=target/package-c/oasis-c-$VERSION-$ARCH-linux-gnu/lib
wheel=$(find dist -maxdepth 1 -name "oasis_monitor-$VERSION-*manylinux*_$ARCH.whl" 2>/dev/null | head -n 1)
# Only where the static program is made. `oasis init` takes the wheel for the C library of the host.
musl=$(find dist -maxdepth 1 -name "oasis_monitor-$VERSION-*musllinux*_$ARCH.whl" 2>/dev/null | head -n 1)
jar=dist/java/oasis-monitor-$VERSION.jar
npm=dist/oasis-wire-$VERSION.tgz
crates=target/package-crates/oasis-crates-$VERSION

for file in "$libraries/liboasis.a" "${wheel:-dist/oasis_monitor-$VERSION-*manylinux*_$ARCH.whl}" "$jar" "$npm" "$crates/.cargo/config.toml"; do
  test -e "$file" || { echo "$file is missing: make package-sdks"; exit 1; }
done
[[ $1 != --check ]] || exit 0
packaging/sdks/lay_out.sh "$libraries" "$wheel" "$jar" "$npm" "$crates" "$1"
[[ -z $musl ]] || install -m 644 -t "$1/share/oasis/sdk/python" "$musl"
