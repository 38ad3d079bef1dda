#!/usr/bin/env bash
# Sees to a Chromium for the test of the simulator's web page: nothing to do where there is one (or FOO_CHROMIUM names
# one), else Debian's package, which only root can install.
set -euo pipefail

for name in ${FOO_CHROMIUM:+"$FOO_CHROMIUM"} chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" >/dev/null; then exit 0; fi
done

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "No Chromium found, which the test of the simulator's web page needs. Install it (on Debian: apt-get install" >&2
  echo "chromium), or name one with FOO_CHROMIUM." >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends chromium >/dev/null
