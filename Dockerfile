# Image of the manager and the runtime extension: two static programs, no shell, no root.
#
# It can be built only where there is a container engine; nothing in `make test` builds it. What is tested instead: the
# program itself (end to end, as a process), the Deployment that runs it (clusterctl takes it; its security settings are
# tests of crates/xtask), and that the toolchain here is the pinned one (`cargo xtask tidy`). It is compiled by
# `make manager extension`, as the programs of a release are.
#
#   docker build -t registry.foo.com/cluster-api-provider-foo:v0.1.0 .

# Bases are named by digest (each of an index for several platforms), so that a build today and one in a year begin alike;
# the tag says what it is. docs/operations/release.md says how a newer one is looked up. What apk adds is used to compile only.

# Alpine's Rust links against musl, statically.
FROM rust:1.95.0-alpine@sha256:606fd313a0f49743ee2a7bd49a0914bab7deedb12791f3a846a34a4711db7ed2 AS build
# bash for the Makefile; the rest for aws-lc, the crypto library below rustls.
RUN apk add --no-cache bash build-base cmake linux-headers perl
# Without this rustup would first install the development components that rust-toolchain.toml asks for.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
# The target of the machine that builds, so that one Dockerfile serves amd64 and arm64.
RUN make manager extension MANAGER_TARGET="$(uname -m)-unknown-linux-musl" && \
    install -D target/*-unknown-linux-musl/release/foo-manager /out/manager && \
    install -D target/*-unknown-linux-musl/release/foo-extension /out/extension

# CA certificates, time zones and a user; nothing else.
FROM gcr.io/distroless/static:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3
COPY --from=build /out/manager /manager
COPY --from=build /out/extension /extension
USER 65532:65532
ENTRYPOINT ["/manager"]
