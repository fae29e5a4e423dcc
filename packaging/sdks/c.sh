#!/usr/bin/env bash
# Packs headers, libraries, pkg-config files and the CMake package for C and C++ into dist: `make package-c`. Of all
# packages, only this one can be of 32-bit ARM: `make package-c PACKAGE_ARCH=armv7`, or armv5te. That for Alpine:
# `make package-c PACKAGE_LIBC=musl`.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/sdks/version.sh
source packaging/sdks/zig.sh

name=oasis-c-$VERSION-$ARCH-linux-$ABI
work=target/package-c
libraries=$work/$name-libraries
# Those for other processors and C libraries stay: packages of the program take the one for glibc.
rm -rf "$work/$name" "$work/$name-build" "$libraries"
mkdir -p "$libraries" dist

# With CARGO_UNSTABLE_BUILD_STD=std,panic_unwind and RUSTC_BOOTSTRAP=1, no library of rustup is needed.
[[ -n ${CARGO_UNSTABLE_BUILD_STD:-} ]] || rustup target list --installed 2>/dev/null | grep -qx "$TARGET" || rustup target add "$TARGET"
build=(cargo-zigbuild rustc --target "$TARGET.$GLIBC")
if [[ $ABI == musl* ]]; then
  # Without a C library inside: the program has it, and a shared library of musl would have a second one.
  export RUSTFLAGS=-Ctarget-feature=-crt-static
  build=(cargo-zigbuild rustc --target "$TARGET")
fi
if [[ $ARCH == armv5te ]]; then
  # The library of Zig needs instructions that an ARMv5 lacks; the cross compiler of Debian is for one.
  export CARGO_TARGET_ARMV5TE_UNKNOWN_LINUX_GNUEABI_LINKER=$TOOLS-gcc CC_armv5te_unknown_linux_gnueabi=$TOOLS-gcc
  build=(cargo rustc --target "$TARGET")
fi
"${build[@]}" --quiet --release --locked --package oasis-c-abi -- "-Clink-arg=-Wl,-soname,liboasis.so.${VERSION%.*}"
# Lines of debug information are nine tenths of the archive.
strip=strip
[[ $ARCH == "$(uname -m)" ]] || strip=$TOOLS-strip
for library in liboasis.so liboasis.a; do
  "$strip" --strip-debug -o "$libraries/$library" "target/$TARGET/release/$library"
done

cmake -S sdk/cpp -B "$work/$name-build" "-DOASIS_LIBRARY_DIR=$PWD/$libraries" >/dev/null
# Without the program oasis, which has packages of its own.
cmake --install "$work/$name-build" --prefix "$work/$name" --component Unspecified >/dev/null
install -D -m 644 -t "$work/$name/share/doc/oasis" LICENSE docs/sdk/c.md docs/sdk/cpp.md
packaging/licenses target/tools/bin/cargo-about c-abi "" "$work/$name/share/doc/oasis/licenses.txt"
tar --create --gzip --file "dist/$name.tar.gz" --owner=0 --group=0 --sort=name --directory "$work" "$name"
echo "dist/$name.tar.gz"
