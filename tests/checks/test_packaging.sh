#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What packages the program agrees with what the build installs; the recipes for conda and for an image have the form that they must
# have. `make deb-check` makes the Debian packages and uses them.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: there is no Python"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR="$work/root" cmake --install "$SKITTER_TEST_BUILD" --prefix /usr >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
export PYTHONDONTWRITEBYTECODE=1
check() { python3 "$SKITTER_TEST_SOURCE/tests/checks/packaging.py" "$1" "$work/root"; }
check "$SKITTER_TEST_SOURCE"
for script in "$SKITTER_TEST_SOURCE"/packaging/debian/tests/{demo,examples,python} "$SKITTER_TEST_SOURCE/packaging/conda/build.sh"; do
    bash -n "$script"
done
if command -v hadolint >/dev/null; then hadolint --ignore DL3008 "$SKITTER_TEST_SOURCE/packaging/Containerfile"; fi

# … and the check notices what it is there for.
mkdir -p "$work/copy/python" "$work/copy/scripts"
cp -r "$SKITTER_TEST_SOURCE"/{packaging,VERSION,LICENSE} "$work/copy/"
cp -r "$SKITTER_TEST_SOURCE/python/skitter" "$work/copy/python/"
cp "$SKITTER_TEST_SOURCE/scripts/packages.txt" "$work/copy/scripts/"
check "$work/copy"
notices() { # file, what sed does to it, what must be said of it
    cp "$work/copy/packaging/$1" "$work/saved"
    sed -i "$2" "$work/copy/packaging/$1"
    if check "$work/copy" >"$work/said" 2>&1 || ! grep -q "$3" "$work/said"; then
        echo "not noticed: $1: $2"; cat "$work/said"; exit 1
    fi
    cp "$work/saved" "$work/copy/packaging/$1"
}
notices debian/skitter.install '/skitter.1$/d' 'skitter.1 belongs to no package'
notices debian/libskitter-dev.install 's/libskitter.so$/libskitter.so*/' 'belongs to libskitter-dev and libskitter0'
notices debian/not-installed '$ausr/share/absent' 'nothing that is installed is called usr/share/absent'
notices debian/control '/libhdf5-dev/d' 'libhdf5-dev is in scripts/packages.txt'
notices debian/changelog '1s/(.*)/(9.9.9)/' 'does not begin with'
notices conda/meta.yaml 's/^requirements:/requirements/' 'Error\|error'
notices Containerfile 's/^COPY --from=packages/COPY --from=absent/' 'no stage is called absent'
notices Containerfile 's/^WORKDIR/WORKDIRS/' 'cannot stand here'
