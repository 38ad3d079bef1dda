#!/usr/bin/env bash
# Signs the checksums of a release: `hack/sign.sh dist` writes SHA256SUMS.sig, a signature in base64, and SHA256SUMS.pub, the key
# that verifies it, beside dist/SHA256SUMS. The private key is PEM (ECDSA or RSA) in FOO_SIGNING_KEY, or in the file that
# FOO_SIGNING_KEY_FILE names. It is given to openssl by a file descriptor: no process shows it among its arguments.
set -euo pipefail

sums=$1/SHA256SUMS
if [ -z "${FOO_SIGNING_KEY:-}${FOO_SIGNING_KEY_FILE:-}" ]; then
  rm -f "$sums.sig" "$sums.pub"
  echo "== $sums is not signed: neither FOO_SIGNING_KEY nor FOO_SIGNING_KEY_FILE has a key"
  exit 0
fi
key() {
  if [ -n "${FOO_SIGNING_KEY:-}" ]; then printf '%s\n' "$FOO_SIGNING_KEY"; else cat "$FOO_SIGNING_KEY_FILE"; fi
}
openssl pkey -in <(key) -pubout -out "$sums.pub"
openssl dgst -sha256 -sign <(key) "$sums" | openssl base64 -A >"$sums.sig"
openssl dgst -sha256 -verify "$sums.pub" -signature <(openssl base64 -d -A -in "$sums.sig") "$sums" >/dev/null
echo "== $sums is signed: $sums.sig, with the key of $sums.pub"
