#!/usr/bin/env bash
# Builds cargo-deny, which `make check` runs, from its published source with its own Cargo.lock, into hack/tools/bin: once
# for each version, nothing to do where that version is. Not optimised: that would take four minutes of one core instead of
# 100 seconds, and save three seconds of each run.
#
# FOO_TOOLS_BIN   another place for the program
set -euo pipefail

# renovate: datasource=crate depName=cargo-deny
version=0.20.2

bin=${FOO_TOOLS_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/bin}
if [ "$("$bin/cargo-deny" --version 2>/dev/null)" = "cargo-deny $version" ]; then exit 0; fi

echo "  cargo-deny: building …"
started=$SECONDS
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
# A folder of its own for what is built on the way: it shares no dependency with the workspace.
CARGO_TARGET_DIR=$new/target CARGO_PROFILE_DEV_DEBUG=false cargo install --quiet --debug --locked \
  --no-track --root "$new" --version "=$version" cargo-deny
mkdir -p "$bin"
mv -f "$new/bin/cargo-deny" "$bin/cargo-deny"
echo "  cargo-deny: built in $((SECONDS - started)) s"
