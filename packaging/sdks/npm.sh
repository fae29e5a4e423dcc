#!/usr/bin/env bash
# Packs the TypeScript SDK into dist: `make package-npm`.
set -euo pipefail
cd "$(dirname "$0")/../.."
rm -rf sdk/typescript/dist
npm run --silent build --workspace sdk/typescript
mkdir -p dist
npm pack --silent ./sdk/typescript/dist --pack-destination dist
