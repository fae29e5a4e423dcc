##@ Packages for programmers, in dist

.PHONY: package-sdks package-c package-wheel package-musl-wheel package-npm package-crates package-java package-go test-package-sdks

package-sdks: package-c package-wheel package-npm package-crates package-java package-go ## Build every package for programmers

package-c: target/venv-package/sdks $(ABOUT) ## C and C++: libraries, headers, CMake and pkg-config
	packaging/sdks/c.sh

package-wheel: target/venv-package/sdks $(ABOUT) ## Python: the wheel and the source distribution
	packaging/sdks/wheel.sh

package-musl-wheel: target/venv-package/sdks $(ABOUT) ## Python on musl, such as Alpine: the wheel
	packaging/sdks/wheel.sh musl

package-npm: node_modules/.package-lock.json ## TypeScript: the package for npm
	packaging/sdks/npm.sh

package-crates: ## Rust: the crates
	packaging/sdks/crates.sh

package-java: maven ## Java: the jar, its sources, Javadoc and POM
	packaging/sdks/java.sh

package-go: ## Go: the sources of the module
	packaging/sdks/go.sh

# OASIS_BIN names the program to test with. Registries of pip, npm and Cargo have what the packages depend on.
test-package-sdks: target/venv-package/sdks cpp maven go ## Install each package outside the tree, and use it
	@test -n "$$OASIS_BIN" || $(BUILD)
	target/venv-package/bin/pytest packaging/sdks/tests

# Zig links for old systems. Other packages install more into the same folder.
target/venv-package/sdks: packaging/sdks/requirements.txt packaging/requirements.txt
	@python3 -c 'import ensurepip' 2>/dev/null || { echo "installing python3-venv"; $(call install,python3-venv); }
	python3 -m venv target/venv-package
	target/venv-package/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@
