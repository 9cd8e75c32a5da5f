#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheel as people get it: made twice with the same bytes, installed without a network into a fresh environment, and used there.
# SKITTER_PYTHON_TESTS=whole also runs what takes minutes (scripts/check python).
set -euo pipefail
source=$SKITTER_TEST_SOURCE build=$SKITTER_TEST_BUILD
skip() { echo "skipped: $1"; exit 77; }
module=$(ls "$build"/wheel/_native.*so 2>/dev/null | head -n 1)
[ -n "$module" ] || skip "the Python package was not built (Debian: python3-dev)"
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3) || skip "there is no Python"
"$python" -c 'import venv, ensurepip' 2>/dev/null || skip "there is no venv (Debian: python3-venv)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

turbojpeg=$(ldd "$build/wheel/libskitter.so" | sed -n 's/.*libturbojpeg.* => \([^ ]*\) .*/\1/p')
for once in a b; do
    "$python" -B "$source/python/build_wheel.py" --source "$source" --binaries "$build/wheel" --module "$(basename "$module")" --library "$turbojpeg" \
        --out "$work/$once" >/dev/null
done
wheel=$(ls "$work"/a/*.whl)
cmp "$wheel" "$work/b/$(basename "$wheel")" || { echo "two wheels of the same files differ"; exit 1; }
# a module for another Python that was built before stays where it is
mkdir "$work/mixed" && ln -s "$build"/wheel/* "$work/mixed/" && ln -sf /dev/null "$work/mixed/_native.cpython-313t-x86_64-linux-gnu.so"
"$python" -B "$source/python/build_wheel.py" --source "$source" --binaries "$work/mixed" --module "$(basename "$module")" \
    --library "$turbojpeg" --out "$work/c" >/dev/null
cmp "$wheel" "$work/c/$(basename "$wheel")" || { echo "a module for another Python went into the wheel"; exit 1; }
case $(basename "$wheel") in
skitter-"$(cat "$source/VERSION")"-cp39-abi3-manylinux_2_[0-9]*_"$(uname -m)".whl) ;;
*) echo "an unexpected name: $wheel"; exit 1 ;;
esac

"$python" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install -q --no-index --no-deps --disable-pip-version-check "$wheel"
# Nothing of the build, the repository or the caller's environment: only what was installed.
export -n SKITTER_PROGRAM SKITTER_MODELS VIRTUAL_ENV PYTHONPATH
unset SKITTER_PROGRAM SKITTER_MODELS VIRTUAL_ENV PYTHONPATH
cd "$work"
venv/bin/skitter --version | grep -q "^skitter $(cat "$source/VERSION")"
# The environment's own runtime library is found, activated or not: by the program, and by Python.
fake=$build/tests/fake_ort_old.so
if [ -f "$fake" ]; then
    site=$(ls -d "$work"/venv/lib/python3*/site-packages)
    mkdir -p "$site/onnxruntime/capi"
    cp "$fake" "$site/onnxruntime/capi/libonnxruntime.so.1.99.0"
    : >"$site/onnxruntime/__init__.py"
    venv/bin/skitter doctor --json | grep -q "$site/onnxruntime/capi/libonnxruntime" || { echo "venv/bin/skitter does not see its own onnxruntime"; exit 1; }
    venv/bin/python -c "import skitter, json; print(json.dumps(skitter.doctor()))" |
        grep -q "$site/onnxruntime/capi/libonnxruntime" || { echo "Python does not see its own onnxruntime"; exit 1; }
    rm -r "$site/onnxruntime"
fi
export SKITTER_TEST_WORK=$work
venv/bin/python -W error::ResourceWarning "$source/tests/python/suite.py"
venv/bin/python -W error::ResourceWarning "$source/tests/python/edges.py"
venv/bin/python "$source/tests/python/documented.py"
if venv/bin/python -c 'import numpy' 2>/dev/null; then
    venv/bin/python "$source/tests/python/fuzz_frames.py" "$([ "${SKITTER_PYTHON_TESTS:-}" = whole ] && echo 60 || echo 1)"
fi
if [ "${SKITTER_PYTHON_TESTS:-}" = whole ]; then
    venv/bin/python "$source/tests/python/endurance.py"
    venv/bin/skitter scene -q -o long.mp4 --seconds 2 >/dev/null
    venv/bin/python "$source/bench/python_loop.py" "$source/share/models/demo-pose.pt" long.mp4 --rounds 15 \
        --frame-loop "$build/frame_loop"
fi
