# The packages of a release, in dist/. packaging/README.md says how a release is made.
# No part of `make test`: each of two builds takes 10 to 15 minutes, the tests 8, and both need root or a kernel that lends it.

##@ Packages (dist/)

PACKAGE_VERSION ?= $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# Of the processor: x86_64 or aarch64. Another one than this machine's is cross-compiled.
PACKAGE_ARCH ?= $(shell uname -m)
# The oldest C library that the program runs with: Debian 10, RHEL 8, Ubuntu 18.10 and all later ones have it.
PACKAGE_GLIBC := 2.28
# More than a site needs: make package PACKAGE_FEATURES=site,nats
PACKAGE_FEATURES ?= site
PACKAGE_TARGET := $(PACKAGE_ARCH)-unknown-linux-gnu
PACKAGE_TREE := target/package/$(PACKAGE_ARCH)/tree
PACKAGE_PROGRAM := target/$(PACKAGE_TARGET)/packaged/oasis
# The same program without any C library, for every Linux.
STATIC_TARGET := $(PACKAGE_ARCH)-unknown-linux-musl
STATIC_TREE := target/package/$(PACKAGE_ARCH)/static
CYCLONEDX_VERSION := 0.5.9
CYCLONEDX := target/tools/bin/cargo-cyclonedx
HELM_VERSION := v3.22.0
HELM := target/tools/bin/helm
ABOUT_VERSION := 0.9.3
ABOUT := target/tools/bin/cargo-about

# Files of packages get the time of the commit, so that the same commit makes the same packages. A tarball of sources has neither.
# Only there: Cargo compiles C libraries again when the time changes, and all that depends on them.
package% test-package%: export SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),$(shell stat -c %Y Cargo.toml))
PACKAGE_COMMIT := $(shell git describe --always --abbrev=10 --dirty --exclude '*' 2>/dev/null)
# Messages of panics name files of the sources, and not where this machine keeps them.
PACKAGE_PATHS := --remap-path-prefix=$(CURDIR)=oasis --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src=registry

.PHONY: package package-files package-static-files package-sdk-files package-binary package-static package-npx package-live-wheel package-deb package-rpm package-image package-chart package-sbom package-sums test-packages test-static-cross test-chart package-tools

package: ## Make everything that a release has, with checksums, bill of materials and signature
	rm -rf dist
	$(MAKE) package-sdks
	$(MAKE) package-binary package-live-wheel package-deb package-rpm package-image package-chart package-sbom package-static package-npx
	$(MAKE) package-sums

# What `oasis init` takes; those of another release or processor are made again.
package-sdk-files:
	@packaging/sdks/packaged.sh --check || $(MAKE) package-sdks

# Builds the program for the target $(1), which may name a version of glibc after a dot.
define build_program
	@rustup target list --installed 2>/dev/null | grep -qx $(basename $(basename $(1))) || rustup target add $(basename $(basename $(1)))
	PATH="$(CURDIR)/target/venv-package/bin:$$PATH" RUSTFLAGS="$(PACKAGE_PATHS)" $(if $(PACKAGE_COMMIT),OASIS_COMMIT=$(PACKAGE_COMMIT)) \
	  cargo zigbuild --profile packaged --locked -p oasis --features $(PACKAGE_FEATURES) --target $(1)
endef

# What is installed, as a tree that all packages are made of.
package-files: page target/venv-package/installed $(ABOUT) package-sdk-files
	$(call build_program,$(PACKAGE_TARGET).$(PACKAGE_GLIBC))
	packaging/tree $(PACKAGE_PROGRAM) $(PACKAGE_ARCH) $(PACKAGE_TREE)
	packaging/sdks/packaged.sh $(PACKAGE_TREE)/usr
	packaging/licenses $(ABOUT) oasis $(PACKAGE_FEATURES) $(PACKAGE_TREE)/usr/share/oasis/licenses.txt
	packaging/tests/program $(PACKAGE_TREE)/usr/bin/oasis $(PACKAGE_GLIBC)

# The same tree with the static program.
package-static-files: page target/venv-package/installed $(ABOUT) package-sdk-files package-musl-wheel
	$(call build_program,$(STATIC_TARGET))
	packaging/tree target/$(STATIC_TARGET)/packaged/oasis $(PACKAGE_ARCH) $(STATIC_TREE)
	packaging/sdks/packaged.sh $(STATIC_TREE)/usr
	packaging/licenses $(ABOUT) oasis $(PACKAGE_FEATURES) $(STATIC_TREE)/usr/share/oasis/licenses.txt
	packaging/tests/program $(STATIC_TREE)/usr/bin/oasis static

package-static: package-static-files ## The static program for any Linux, as a tarball and for pip on musl
	packaging/tarball $(STATIC_TREE) $(PACKAGE_VERSION) $(PACKAGE_ARCH) dist linux-musl
	packaging/wheel $(STATIC_TREE) $(PACKAGE_VERSION) $(PACKAGE_ARCH) musllinux_1_2 dist

package-npx: package-static-files ## The static program for npm: `npx oasis-live`
	packaging/npx/pack $(STATIC_TREE) $(PACKAGE_VERSION) $(PACKAGE_ARCH) dist

package-live-wheel: package-files ## The program for pip: a wheel beside that of the SDK
	packaging/wheel $(PACKAGE_TREE) $(PACKAGE_VERSION) $(PACKAGE_ARCH) manylinux_$(subst .,_,$(PACKAGE_GLIBC)) dist

package-binary: package-files ## The program as a tarball, for any Linux with glibc 2.28
	packaging/tarball $(PACKAGE_TREE) $(PACKAGE_VERSION) $(PACKAGE_ARCH) dist

package-deb: package-files package-tools ## A package for Debian and Ubuntu
	packaging/deb $(PACKAGE_TREE) $(PACKAGE_VERSION) $(PACKAGE_ARCH) dist

package-rpm: package-files package-tools ## A package for Fedora, RHEL and openSUSE
	packaging/rpm $(PACKAGE_TREE) $(PACKAGE_VERSION) $(PACKAGE_ARCH) dist

package-image: package-files ## A container image as an OCI layout, made without a daemon
	packaging/image $(PACKAGE_TREE) $(PACKAGE_VERSION) $(PACKAGE_ARCH) dist

package-chart: ## A chart for Kubernetes, and a compose file
	packaging/chart $(PACKAGE_VERSION) dist

package-sbom: $(CYCLONEDX) node_modules/.package-lock.json ## Bills of materials (CycloneDX) of program and page
	packaging/sbom $(CYCLONEDX) $(PACKAGE_VERSION) $(PACKAGE_TARGET) $(PACKAGE_FEATURES) dist

# Another processor than this machine's. A release has it from a machine of its own; here the program is built and started alone.
CROSS_ARCH := $(if $(filter aarch64,$(shell uname -m)),x86_64,aarch64)
CROSS_FOLDER := target/package/$(CROSS_ARCH)/cross
CROSS_STRIP := $(CROSS_ARCH)-linux-gnu-strip
CROSS_BINUTILS := binutils-$(subst _,-,$(CROSS_ARCH))-linux-gnu

test-static-cross: page target/venv-package/installed package-tools ## Cross-build the static program, and start it under QEMU
	$(call build_program,$(CROSS_ARCH)-unknown-linux-musl)
	mkdir -p $(CROSS_FOLDER)
	$(CROSS_STRIP) --strip-all -o $(CROSS_FOLDER)/oasis target/$(CROSS_ARCH)-unknown-linux-musl/packaged/oasis
	$(ROOT) packaging/tests/static $(CROSS_FOLDER) $(PACKAGE_VERSION) $(CROSS_ARCH)

# OASIS_SIGNING_KEY is the file of a secret key of minisign.
package-sums:
	packaging/sums dist

test-chart: $(HELM) chart-tools ## Render the chart with many values and check its objects: a minute
	@packaging/tests/chart --helm $(HELM) --objects target/tools/bin/objects $(if $(wildcard target/debug/oasis),--program target/debug/oasis)

test-packages: package-tools test-chart ## Install and use what is in dist/, also under systemd: 8 minutes, as root
	$(ROOT) packaging/tests/all dist $(PACKAGE_VERSION) $(PACKAGE_ARCH) $(PACKAGE_TREE)

package-tools:
	@command -v dh >/dev/null && command -v lintian >/dev/null && command -v rpmbuild >/dev/null && command -v debootstrap >/dev/null && command -v systemd-nspawn >/dev/null && command -v qemu-aarch64-static >/dev/null && command -v $(CROSS_STRIP) >/dev/null && command -v umoci >/dev/null && command -v runc >/dev/null && command -v ip >/dev/null && command -v nginx >/dev/null && command -v minisign >/dev/null && command -v mandoc >/dev/null \
	  || { echo "installing debhelper, lintian, rpm, debootstrap, qemu-user-static, $(CROSS_BINUTILS), systemd-container, umoci, runc, iproute2, nginx, minisign, mandoc"; $(call install,debhelper lintian rpm debootstrap qemu-user-static $(CROSS_BINUTILS) debian-archive-keyring systemd-container umoci runc iproute2 nginx-light minisign mandoc); }

# Programs of our own, with the types of Kubernetes, the reader of Compose and the filter of runtimes: compiled again only if they have changed.
.PHONY: chart-tools
chart-tools: go
	@cd packaging/tests/objects && GOFLAGS=-mod=readonly $(GO) build -o $(CURDIR)/target/tools/bin/objects .
	@cd packaging/tests/seccomp && GOFLAGS=-mod=readonly $(GO) run . > $(CURDIR)/target/tools/seccomp.json
	@cd packaging/tests/compose && GOFLAGS=-mod=readonly $(GO) build -o $(CURDIR)/target/tools/bin/compose .

$(HELM): | go
	@echo "installing helm"
	@GOBIN=$(CURDIR)/target/tools/bin $(GO) install helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)

target/venv-package/installed: packaging/requirements.txt
	@python3 -c 'import ensurepip' 2>/dev/null || { echo "installing python3-venv"; $(call install,python3-venv); }
	python3 -m venv target/venv-package
	target/venv-package/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# A few minutes of processor time each, once. Without optimizations, cargo-about needs a quarter of an hour to read all licenses.
$(ABOUT):
	cargo install --quiet --locked --root target/tools --features cli cargo-about@$(ABOUT_VERSION)

$(CYCLONEDX):
	cargo install --quiet --debug --locked --root target/tools cargo-cyclonedx@$(CYCLONEDX_VERSION)
