#!/usr/bin/env bash
# Packages the crates for programs, as `cargo publish` uploads them, and packs them into dist: `make package-crates`.
# packaging/sdks/crates.sh publish --dry-run passes the same crates, in their order, to `cargo publish`.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/sdks/version.sh

# Each depends on those before it only.
CRATES=(
  oasis-wire oasis-tls oasis-channel oasis-probe-derive oasis-probe oasis-pdl oasis-pdl-gen
  oasis-no-openapi oasis-tem oasis-client oasis-ei-node oasis-serial oasis-probes oasis-tracing
)

if [[ ${1:-} == publish ]]; then
  shift
  exec cargo publish --locked "$@" "${CRATES[@]/#/--package=}"
fi

# Cargo resolves them against each other, in a registry of its own. What it says of files that are left out is expected.
work=target/package-crates
mkdir -p "$work"
rm -rf "$work/package"
cargo package --quiet --locked --no-verify --allow-dirty --target-dir "$work" "${CRATES[@]/#/--package=}" 2>"$work.log" ||
  { cat "$work.log" >&2; exit 1; }

# Unpacked, with settings of Cargo that find them: for programs, while no registry has them.
name=oasis-crates-$VERSION
rm -rf "${work:?}/$name"
mkdir -p "$work/$name/.cargo" dist
settings=$work/$name/.cargo/config.toml
printf '# The crates of OASIS %s beside this folder, in the place of those of crates.io.\n[patch.crates-io]\n' "$VERSION" >"$settings"
for crate in "${CRATES[@]}"; do
  tar --extract --gzip --file "$work/package/$crate-$VERSION.crate" --directory "$work/$name"
  printf '%s = { path = "%s" }\n' "$crate" "$crate-$VERSION" >>"$settings"
done
tar --create --gzip --file "dist/$name.tar.gz" --owner=0 --group=0 --sort=name --directory "$work" "$name"
echo "dist/$name.tar.gz"
