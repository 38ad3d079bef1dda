#!/usr/bin/env bash
# Builds the programs that the tests and the demo run, from the Go modules pinned in the folders next to this script,
# into hack/tools/bin. They are development tools: nothing here is part of the product.
#
# usage: hack/tools/build.sh [NAME…]     without names: everything a test of `make test` needs
#        hack/tools/build.sh --list      names that can be built
#        hack/tools/build.sh --check     is all of that up to date? (builds nothing)
#
# KUBEBUILDER_ASSETS   folder with kube-apiserver, etcd and kubectl that are already built: used instead of a build
# FOO_TOOLS_BIN        another place for the binaries (the test bed reads the same variable)
#
# Deliberately one build at a time: kube-controller-manager alone needs 2 GB, or more with GOGC=400, which takes a fifth
# less processor time than Go's default. The first build takes about 13 minutes on two cores; after that a binary is
# rebuilt only when its go.mod, go.sum, Go files or this script change.
set -euo pipefail

tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${FOO_TOOLS_BIN:-$tools/bin}

# Versions are read from go.mod, so that each is written down once.
pinned() { awk -v m="$2" '$1 == m { print $2; exit } $1 == "require" && $2 == m { print $3; exit }' "$tools/$1/go.mod"; }
kubernetes=$(pinned kubernetes k8s.io/kubernetes)
capi=$(pinned cluster-api sigs.k8s.io/cluster-api)
minor() { echo "$1" | cut -d. -f2; }

needed="etcd kube-apiserver kubectl kube-controller-manager capi-core clusterctl capi-kubeadm-bootstrap capi capi-hooks capi-specs aws-iam-authenticator crane helm"
before_a_release="promtool"

module_of() {
  case $1 in
    etcd) echo etcd ;;
    kube-apiserver | kubectl | kube-controller-manager) echo kubernetes ;;
    capi-core | clusterctl | capi-kubeadm-bootstrap | capi | capi-hooks) echo cluster-api ;;
    capi-specs) echo capi-specs ;;
    promtool) echo prometheus ;;
    aws-iam-authenticator | crane | helm) echo "$1" ;;
    *) echo "unknown program '$1'; known: $needed $before_a_release" >&2; exit 2 ;;
  esac
}

package_of() {
  case $1 in
    etcd | capi-specs) echo . ;;
    kube-apiserver | kubectl | kube-controller-manager) echo "k8s.io/kubernetes/cmd/$1" ;;
    capi-core) echo sigs.k8s.io/cluster-api/core ;;
    clusterctl) echo sigs.k8s.io/cluster-api/cmd/clusterctl ;;
    capi-kubeadm-bootstrap) echo sigs.k8s.io/cluster-api/bootstrap/kubeadm ;;
    capi-hooks) echo ./hooks ;;
    promtool) echo github.com/prometheus/prometheus/cmd/promtool ;;
    helm) echo helm.sh/helm/v4/cmd/helm ;;
    crane) echo github.com/google/go-containerregistry/cmd/crane ;;
    aws-iam-authenticator) echo sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator ;;
  esac
}

# Cluster API builds its own specs for this tag only. promtool without it links the clients of a dozen clouds, to find targets.
tags_of() {
  case $1 in
    capi-specs) echo e2e ;;
    promtool) echo remove_all_sd ;;
  esac
}

# The names of Cluster API's specs, from its sources: capi-specs compares them with those that it knows.
specs_of_capi() {
  local source
  source=$(cd "$tools/capi-specs" && GOWORK=off go list -mod=readonly -tags e2e -f '{{.Dir}}' sigs.k8s.io/cluster-api/test/e2e)
  sed -nE 's/^func ([A-Z][A-Za-z0-9]*Spec)\(.*/\1/p' "$source"/*.go | sort | paste -sd, -
}

# The programs report and compare their versions (clusterctl refuses to work without one).
ldflags_of() {
  local v=k8s.io/component-base/version c=sigs.k8s.io/cluster-api/version
  case $(module_of "$1") in
    kubernetes) echo "-s -w -X $v.gitVersion=$kubernetes -X $v.gitMajor=1 -X $v.gitMinor=$(minor "$kubernetes")" ;;
    cluster-api) echo "-s -w -X $c.gitVersion=$capi -X $c.gitMajor=1 -X $c.gitMinor=$(minor "$capi")" ;;
    capi-specs) echo "-s -w -X main.exported=$(specs_of_capi)" ;;
    *) echo "-s -w" ;;
  esac
}

sha256() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d' ' -f1; }

stamp_of() {
  local module
  module=$(module_of "$1")
  {
    cat "$tools/$module"/go.mod "$tools/$module"/go.sum "$tools/build.sh"
    find "$tools/$module" -name '*.go' -print0 | sort -z | xargs -0 cat
  } | sha256
}

product_of() { if [ "$1" = capi ]; then echo "$bin/capi/core-components.yaml"; else echo "$bin/$1"; fi; }

up_to_date() {
  [ -e "$(product_of "$1")" ] && [ "$(cat "$bin/.stamps/$1" 2>/dev/null)" = "$(stamp_of "$1")" ]
}

from_assets() {
  case $1 in etcd | kube-apiserver | kubectl) ;; *) return 1 ;; esac
  [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ -x "$KUBEBUILDER_ASSETS/$1" ]
}

require_go() {
  command -v go >/dev/null && return
  cat >&2 <<'M'
Go is not installed, and these programs are built from Go modules: see https://go.dev/doc/install
(1.26 or newer; no C compiler is needed). etcd, kube-apiserver and kubectl can also come from a folder named by
KUBEBUILDER_ASSETS, but kube-controller-manager and the Cluster API programs have to be built.
M
  exit 1
}

compile() {
  local name=$1 module
  module=$(module_of "$name")
  # Without cgo no C compiler is needed and the result runs on any distribution. -mod=readonly: a build never
  # changes what is pinned.
  (cd "$tools/$module" && CGO_ENABLED=0 GOWORK=off GOGC=${GOGC:-400} nice -n 10 go build -mod=readonly -trimpath -buildvcs=false \
    -tags "$(tags_of "$name")" -ldflags "$(ldflags_of "$name")" -o "$bin/.new-$name" "$(package_of "$name")")
  mv -f "$bin/.new-$name" "$bin/$name"
}

# What `clusterctl init` reads of a provider's release, and the CRDs that the contract tests compare with ours:
# taken from the module itself, so they always belong to the binary.
export_capi() {
  local source folder=$bin/capi
  source=$(cd "$tools/cluster-api" && GOWORK=off go list -mod=readonly -m -f '{{.Dir}}' sigs.k8s.io/cluster-api)
  if [ -z "$source" ]; then
    (cd "$tools/cluster-api" && GOWORK=off go mod download sigs.k8s.io/cluster-api)
    source=$(cd "$tools/cluster-api" && GOWORK=off go list -mod=readonly -m -f '{{.Dir}}' sigs.k8s.io/cluster-api)
  fi
  rm -rf "$folder" "$folder.new"
  mkdir -p "$folder.new/crds"
  "$bin/kubectl" kustomize "$source/core/config/default" >"$folder.new/core-components.yaml"
  "$bin/kubectl" kustomize "$source/bootstrap/kubeadm/config/default" >"$folder.new/bootstrap-components.yaml"
  cp "$source/metadata.yaml" "$folder.new/metadata.yaml"
  cp "$source"/core/config/crd/bases/*.yaml "$folder.new/crds/"
  chmod -R u+w "$folder.new" # files in the module cache are read-only
  echo "$capi" >"$folder.new/version"
  mv "$folder.new" "$folder"
}

build() {
  local name=$1 started=$SECONDS
  if from_assets "$name"; then
    ln -sf "$KUBEBUILDER_ASSETS/$name" "$bin/$name"
    stamp_of "$name" >"$bin/.stamps/$name"
    echo "  $name: from KUBEBUILDER_ASSETS"
    return
  fi
  if up_to_date "$name"; then
    echo "  $name: up to date"
    return
  fi
  require_go
  echo "  $name: building …"
  if [ "$name" = capi ]; then
    [ -x "$bin/kubectl" ] || build kubectl
    export_capi
  else
    compile "$name"
  fi
  stamp_of "$name" >"$bin/.stamps/$name"
  echo "  $name: built in $((SECONDS - started)) s"
}

case ${1:-} in
  -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit ;;
  --list) echo "$needed $before_a_release" | tr ' ' '\n'; exit ;;
  --check)
    stale=
    for name in $needed; do up_to_date "$name" || stale="$stale $name"; done
    [ -z "$stale" ] || { echo "to be built:$stale (run hack/tools/build.sh)" >&2; exit 1; }
    exit ;;
esac

names=${*:-$needed}
for name in $names; do module_of "$name" >/dev/null; done
mkdir -p "$bin/.stamps"
bin=$(cd "$bin" && pwd)
# Two at once (a test run beside `make demo`) would compile everything twice.
if command -v flock >/dev/null; then exec 9>"$bin/.lock"; flock 9; fi
echo "development tools in $bin"
for name in $names; do build "$name"; done
echo "done in $SECONDS s"
