# Thin on purpose: the work is in cargo, crates/xtask and hack/. `make help` lists the targets.
#
# One cargo at a time: rustc needs about 8 GB for aws-sdk-ec2 alone.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

VERSION ?= v0.1.0
# Where the image of a release is, without tag; empty is the one that deploy/default names.
IMAGE ?=
# Where dist/ is published, an address of https, for Krew; empty is the one that `xtask krew` names.
DOWNLOADS ?=
# Linked statically: the program needs nothing but a kernel, so the image has nothing else.
MANAGER_TARGET ?= x86_64-unknown-linux-musl
# GNU tar: the archive of the plugin is the same on every machine.
TAR ?= tar
# Those of a release, separated by spaces.
TARGETS ?= $(MANAGER_TARGET)
bin := $(or $(CARGO_TARGET_DIR),target)/debug

# Cargo takes the features of all selected packages together, and those of development dependencies as soon as one test
# target is asked for. So every build here selects the whole workspace and one small test: then it uses exactly the
# dependencies that `cargo test --workspace` uses, and nothing (the AWS SDK least of all) is compiled twice. For `cargo doc`,
# one example does that. The programs are left out: each takes as long as a library, and has few lines of its own.
build_xtask := cargo build --workspace --bin xtask --test golden
# As `make test` compiles: what follows a build uses the same, so that nothing is compiled twice.
optimised := cargo --config hack/optimised.toml
build_programs := $(optimised) build --workspace --bins --test golden

# Programs of a release name no folder of the machine that built them. (aws-lc, the C code among them, sees to that itself.)
remap := --remap-path-prefix=$(CURDIR)=/src --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo \
    --remap-path-prefix=$(shell rustc --print sysroot 2>/dev/null)=/rust
build_released := RUSTFLAGS="$(remap)" cargo build --locked --release --target $(MANAGER_TARGET)

# $(call timed,what,command): says what is going on and how long it took.
timed = @echo "== $(1)"; start=$$SECONDS; $(2); echo "== $(1): $$((SECONDS - start)) s"

.PHONY: help book demo test release-tests check advisories conformance chaos bench model release release-programs release-index release-manifests manager extension plugin plugin-archive tools browser python build clean \
    cargo-deny prerequisites components

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

demo: tools build ## Play the main job on real components and a simulated AWS (EKS=1: a cluster on EKS; TUTORIAL=1: nothing yet); ONCE=1 checks every step and ends
	@$(bin)/foo-demo $(if $(ONCE),--once) $(if $(EKS),--eks) $(if $(TUTORIAL),--tutorial)

test: tools browser python build ## All tests of every landing, once; the last line is the total
	@$(bin)/xtask test

release-tests: tools browser python build ## Tests that take too long for every run: before a release, beside conformance and chaos
	$(call timed,promtool,hack/tools/build.sh promtool)
	@$(bin)/xtask test --before-a-release

check: prerequisites components cargo-deny ## Formatting, lints, documentation, licences, advisories, generated files, tidiness
	$(call timed,formatting,cargo fmt --all --check)
	$(call timed,lints,cargo clippy --workspace --all-targets -- --deny warnings)
	$(call timed,documentation,RUSTDOCFLAGS="--deny=warnings --allow=rustdoc::private-intra-doc-links" cargo doc --workspace --no-deps --document-private-items --quiet \
	    --lib --example minimal)
	$(call timed,checks,$(build_xtask); \
	    $(bin)/xtask deny; $(bin)/xtask generate --check; $(bin)/xtask tidy; $(bin)/xtask book --out $(book))

# mdBook's pages, and a check of all links between them.
book := $(or $(CARGO_TARGET_DIR),target)/book
book: prerequisites ## The documentation as a book: target/book/index.html (REPOSITORY=https://…: where links to sources lead)
	@$(build_xtask)
	@$(bin)/xtask book --out $(book) $(if $(REPOSITORY),--repository $(REPOSITORY))

# Where no network is, `make check` goes on with the advisories that were written down last.
database := $(or $(CARGO_TARGET_DIR),target)/advisory-db
advisories: prerequisites cargo-deny ## Take newer advisories (hack/advisories.toml) from the RustSec database, and check against them
	@if [ -d $(database) ]; then git -C $(database) pull --quiet --ff-only; else \
	    git clone --quiet https://github.com/RustSec/advisory-db $(database); fi
	@cargo xtask advisories --from $(database)
	@cargo xtask deny

conformance: tools build ## Cluster API's own end-to-end specs with every flavour, on real components, and those left out (make test plays a few)
	@FOO_SPECS=whole $(optimised) test --workspace --test e2e -- upstream:: --nocapture

chaos: tools build ## Roll-outs under accidents on real components (CHAOS_MINUTES=60 CHAOS_SIZE=20 CHAOS_SEED=1)
	@CHAOS_MINUTES=$(or $(CHAOS_MINUTES),60) CHAOS_SIZE=$(or $(CHAOS_SIZE),20) CHAOS_SEED=$(or $(CHAOS_SEED),1) \
	    $(optimised) test --workspace --test e2e -- chaos::storms --nocapture

# The program of a release instead of the one that tests run, if the benchmark measures that.
released_manager := $(if $(or $(RELEASE),$(findstring --full,$(BENCH_ARGS))),$(bin)/../$(MANAGER_TARGET)/release/foo-manager)

bench: tools build $(if $(released_manager),manager) ## Calls, writes, memory and latency, printed and kept as data (RELEASE=1: of the released program; BENCH_ARGS=--full: of that, all sizes, hours, and the page docs/figures.md)
	$(call timed,planner,cargo run --release --quiet -p foo-planner --example plan_1000)
	$(call timed,simulator,cargo run --release --quiet -p foo-simulator --example throughput -- \
	    $(wildcard $(bin)/../tmp/python/bin/python))
	$(call timed,runtime extension,cargo run --release --quiet -p foo-runtime-sdk --example load_sdk)
	$(call timed,our runtime extension,cargo run --release --quiet -p foo-runtime-extension --no-default-features --example load_extension)
	$(call timed,heartbeats,$(optimised) test --quiet --workspace --test suite -- --exact --nocapture \
	    taken::heartbeats_are_sent_in_a_throttling_storm)
	$(call timed,networks,FOO_FIGURES=whole cargo test --release --quiet -p foo-controller --no-default-features --test suite -- \
	    --exact --nocapture --test-threads 1 \
	    networks::figures::creation_and_deletion_take_few_calls_and_little_time_of_the_provider \
	    networks::many::idle_networks_share_their_reads)
	$(call timed,EKS,FOO_FIGURES=whole cargo test --release --quiet -p foo-controller --no-default-features --test suite -- \
	    --exact --nocapture --test-threads 1 \
	    eks::figures::a_life_cycle_takes_few_calls_and_little_time_of_the_provider \
	    eks::figures::an_idle_control_plane_costs_one_read_in_five_minutes \
	    eks::many::idle_clusters_are_polled_at_different_times)
	@$(if $(released_manager),FOO_MANAGER_BIN=$(released_manager)) $(bin)/foo-bench $(BENCH_ARGS)

model: prerequisites ## The planner against every order of events of small worlds, deeper than the tests go (minutes)
	$(call timed,model,PLANNER_MODEL=deep cargo test --release -p foo-planner --test model -- --nocapture --test-threads 1)

release: release-manifests ## All of a release: dist/ (VERSION=v0.1.0); ten minutes and more for each of TARGETS, 8 GB of memory
	@for target in $(TARGETS); do $(MAKE) release-programs MANAGER_TARGET=$$target; done
	@$(MAKE) release-index

release-index: prerequisites ## What is written about the programs in dist/: image, Krew manifest, provenance, checksums, their signature
	@$(build_xtask)
	@$(bin)/xtask image --version $(VERSION) --out dist
	@$(bin)/xtask krew --version $(VERSION) --out dist $(if $(DOWNLOADS),--url $(DOWNLOADS))
	@$(bin)/xtask checksums --out dist
	@hack/sign.sh dist

# $(call released,program): puts it into dist/. Not by `install -D`, which macOS does not have.
released = mkdir -p dist/$(1)/$(VERSION) && cp $(bin)/../$(MANAGER_TARGET)/release/$(1) dist/$(1)/$(VERSION)/$(1)-$(MANAGER_TARGET)

release-programs: manager extension plugin-archive ## The programs of a release alone, in dist/ (MANAGER_TARGET)
	@$(call released,foo-manager) && $(call released,foo-extension)

plugin-archive: plugin ## The kubectl plugin of a release alone, in dist/ (MANAGER_TARGET; TAR=gtar on macOS)
	@$(call released,kubectl-foo)
	@set -euo pipefail; cd dist/kubectl-foo/$(VERSION) && $(TAR) --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
	    --mode=u=rwX,go=rX --transform='s,kubectl-foo-$(MANAGER_TARGET),kubectl-foo,' \
	    kubectl-foo-$(MANAGER_TARGET) --directory=$(CURDIR) LICENSE | gzip --no-name >kubectl-foo-$(MANAGER_TARGET).tar.gz

release-manifests: prerequisites ## A release without its programs: what clusterctl installs from, SBOMs, provenance, checksums
	@$(build_xtask)
	@$(bin)/xtask release --version $(VERSION) --out dist $(if $(IMAGE),--image $(IMAGE))

# Also what the Dockerfile runs. Not part of any test: it compiles the AWS SDK once more, optimised.
manager: ## The static foo-manager alone, optimised (MANAGER_TARGET=x86_64-unknown-linux-musl)
	@hack/tools/target.sh $(MANAGER_TARGET)
	$(call timed,foo-manager,$(build_released) --package foo-controller --bin foo-manager)

# The second program of the image; the AWS SDK is compiled once for both.
extension: ## The static foo-extension alone, optimised
	@hack/tools/target.sh $(MANAGER_TARGET)
	$(call timed,foo-extension,$(build_released) --package foo-runtime-extension --bin foo-extension)

plugin: ## The static kubectl-foo alone, optimised
	@hack/tools/target.sh $(MANAGER_TARGET)
	$(call timed,kubectl-foo,$(build_released) --package kubectl-foo)

tools: prerequisites ## Build the real components that tests and demo run (13 minutes once, then seconds)
	$(call timed,development tools,hack/tools/build.sh)

browser: ## A Chromium for the test of the simulator's web page (Debian's, if there is none)
	$(call timed,browser,hack/tools/browser.sh)

build: prerequisites ## Build all programs
	$(call timed,building,$(build_programs))

cargo-deny:
	@hack/tools/cargo-deny.sh

clean: ## Remove what was built, except the tools in hack/tools/bin
	cargo clean
	rm -rf dist

prerequisites:
	@missing=; \
	for program in cargo cc git go openssl; do \
	    command -v $$program >/dev/null || missing="$$missing $$program"; \
	done; \
	if [ -n "$$missing" ]; then \
	    echo "not installed:$$missing" >&2; \
	    echo "Needed: Rust by rustup (https://rustup.rs), Go 1.26 (https://go.dev/doc/install), a C compiler, git," >&2; \
	    echo "openssl, make. On Debian: apt-get install build-essential git openssl" >&2; \
	    exit 1; \
	fi

# AWS's own SDK for Python judges the simulator.
python:
	@python3 -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "not installed: Python 3 with venv and pip. On Debian: apt-get install python3-venv" >&2; exit 1; }

# rust-toolchain.toml asks for both; a toolchain that was installed before without them is completed here.
components:
	@for component in fmt:rustfmt clippy:clippy; do \
	    cargo $${component%%:*} --version >/dev/null 2>&1 || rustup component add $${component##*:}; \
	done
