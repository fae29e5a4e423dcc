#!/usr/bin/env bash
# Packs the sources of the Go module into dist: `make package-go`.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/sdks/version.sh
mkdir -p dist
tar --create --gzip --file "dist/oasis-go-$VERSION.tar.gz" --owner=0 --group=0 --sort=name \
  --transform "s|^sdk/go|oasis-go-$VERSION|" --exclude '*_test.go' sdk/go LICENSE --transform "s|^LICENSE|oasis-go-$VERSION/LICENSE|"
echo "dist/oasis-go-$VERSION.tar.gz"
