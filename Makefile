# SPDX-License-Identifier: Apache-2.0
.PHONY: build test
build:
	cmake --preset release
	ninja -C build
test: build
	ctest --test-dir build --output-on-failure
