#!/usr/bin/env bash
# Lays out what `oasis init` needs beside the program, in share/oasis/sdk below FOLDER:
#
#   packaging/sdks/lay_out.sh LIBRARIES WHEEL JAR NPM CRATES FOLDER
#
# LIBRARIES is the folder of liboasis.a, CRATES that of the unpacked crates. An empty argument leaves a language out.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/sdks/version.sh
libraries=$1 wheel=$2 jar=$3 npm=$4 crates=$5 sdk=$6/share/oasis/sdk

umask 022
rm -rf "$sdk"
mkdir -p "$sdk"
if [[ -n $libraries ]]; then
  # Only what links statically: the program of a user then runs without this package.
  cmake -S sdk/cpp -B "$sdk/build" "-DOASIS_LIBRARY_DIR=$(realpath "$libraries")" -DOASIS_STATIC_ONLY=ON >/dev/null
  cmake --install "$sdk/build" --prefix "$sdk/c" --component Unspecified >/dev/null
  rm -rf "$sdk/build"
fi
if [[ -n $wheel ]]; then
  install -D -m 644 -t "$sdk/python" "$wheel"
fi
if [[ -n $jar ]]; then
  # A repository of Maven, and a name that stays for others.
  install -D -m 644 "$jar" "$sdk/java/oasis/oasis-monitor/$VERSION/oasis-monitor-$VERSION.jar"
  install -m 644 sdk/java/pom.xml "$sdk/java/oasis/oasis-monitor/$VERSION/oasis-monitor-$VERSION.pom"
  ln -s "oasis/oasis-monitor/$VERSION/oasis-monitor-$VERSION.jar" "$sdk/java/oasis-monitor.jar"
fi
if [[ -n $npm ]]; then
  install -D -m 644 -t "$sdk/typescript" "$npm"
fi
if [[ -n $crates ]]; then
  mkdir "$sdk/rust"
  for crate in "$crates"/*-"$VERSION"; do
    name=$(basename "$crate" "-$VERSION")
    cp -r --no-preserve=mode "$crate" "$sdk/rust/$name"
  done
  # Locks and manifests as they were before packing.
  find "$sdk/rust" \( -name Cargo.lock -o -name Cargo.toml.orig -o -name .cargo_vcs_info.json \) -delete
fi
mkdir "$sdk/go"
find sdk/go -name '*.go' ! -name '*_test.go' -exec install -m 644 -t "$sdk/go" {} +
install -m 644 -t "$sdk/go" sdk/go/go.mod LICENSE
install -D -m 644 -t "$sdk/embedded/include" sdk/embedded/include/*
install -D -m 644 -t "$sdk/embedded/src" sdk/embedded/src/*
