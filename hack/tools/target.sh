#!/usr/bin/env bash
# Sees to what compiling for a target takes: Rust's standard library for it, and for musl a C compiler (aws-lc, the crypto
# library below rustls, is C). Nothing to do where both are there; else rustup's, and Debian's package, which only root can
# install.
set -euo pipefail

target=$1

sysroot=$(rustc --print sysroot)
if [ ! -d "$sysroot/lib/rustlib/$target/lib" ]; then
  if ! command -v rustup >/dev/null; then
    echo "Rust's standard library for $target is not installed, and there is no rustup to install it." >&2
    exit 1
  fi
  rustup target add "$target"
fi

# Where everything is linked against musl, as on Alpine, any C compiler will do.
case $target in
  *-musl) [[ $(rustc -vV) != *-musl* ]] || exit 0 ;;
  *) exit 0 ;;
esac
# Where the crate cc looks for one.
named="CC_${target//-/_}"
architecture=${target%%-*}
if [ -n "${!named:-}${TARGET_CC:-}" ] || command -v "$architecture-linux-musl-gcc" >/dev/null; then exit 0; fi
if [ "$architecture" = "$(uname -m)" ] && command -v musl-gcc >/dev/null; then exit 0; fi

if [ "$architecture" != "$(uname -m)" ] || [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "No C compiler for $target found. Install one (for this machine's own architecture, on Debian: apt-get install" >&2
  echo "musl-tools), or name one with $named." >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends musl-tools >/dev/null
