# Sourced by the scripts beside it: the version of every package, from the top Cargo.toml.
VERSION=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
[[ -n $VERSION ]] || { echo "Cargo.toml has no workspace.package.version" >&2; exit 1; }
