#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tensorrt runtime at the door: the engine's own C in a plugin, with a stand-in for TensorRT itself, a driver that is
# an empty library, and everything else real.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
export SKITTER_CONFIG_DIR=$work/config SKITTER_CACHE_DIR=$work/cache SKITTER_ARTIFACTS=beside
fakes=$SKITTER_TEST_BUILD/tests
[ -e "$fakes/fake_tensorrt.so" ] && command -v python3 >/dev/null || exit 77
mkdir -p "$work/driver" "$work/plugins"
cp "$fakes/fake_ort_empty.so" "$work/driver/libcuda.so.1"
cp "$fakes/fake_tensorrt.so" "$work/plugins/libskitter_tensorrt.so"
cd "$work" || exit 1
cp -r "$SKITTER_TEST_SOURCE/tests/fixtures/sleap_keras/convolutions" net && chmod -R u+w net
cp "$SKITTER_TEST_SOURCE/tests/fixtures/grey_64x48.png" p.png
engine=net.tensorrt/model.engine
trt() { LD_LIBRARY_PATH=$work/driver SKITTER_PLUGIN_DIR=$work/plugins run "$@"; }
side() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\).*/\\1/p" $engine.skitter.json; }

test_without_plugin_or_driver() {
    [ -e /dev/nvidia0 ] || { run doctor && grep -Eq '^tensorrt +no +no NVIDIA driver' <<<"$out" || fail "$out" || return 1; }
    LD_LIBRARY_PATH=$work/driver SKITTER_PLUGIN_DIR=$work/driver run doctor && expect_code 0 &&
        expect_in "make plugin-tensorrt" "$out"
}

test_build_run_and_find_again() {
    rm -rf net.tensorrt
    trt doctor && grep -Eq '^tensorrt +yes' <<<"$out" || fail "$out" || return 1
    trt predict p.png -m net -o first -r tensorrt --json && expect_code 0 && expect_in '"runtime": "tensorrt"' "$out" &&
        expect_in '"precision": "f16"' "$out" && expect_in "making net.tensorrt/model.engine" "$err" || return 1
    [ "$(side architecture)" = sm_90 ] && [ "$(side library)" = 10.3.0 ] && [ "$(side precision)" = f16 ] ||
        fail "$(cat $engine.skitter.json)" || return 1
    # Ultralytics' beginning: a length, then JSON of that length, then the plan
    python3 - $engine <<'P' || fail "the header" || return 1
import json, struct, sys
data = open(sys.argv[1], "rb").read()
n = struct.unpack("<i", data[:4])[0]
about = json.loads(data[4:4 + n].decode("ascii"))
assert data[4 + n:8 + n] == b"ftrt", data[4 + n:8 + n]
assert about["batch"] == 1 and len(about["imgsz"]) == 2 and about["task"], about
P
    trt predict p.png -m net -o second -r tensorrt && expect_code 0 && [ -z "$(grep making <<<"$err")" ] ||
        fail "made twice: $err" || return 1
    trt predict p.png -m net -o cpu -r cpu -q && expect_code 0 || return 1
    [ "$(grep -vc '^#' second/results.csv)" = "$(grep -vc '^#' cpu/results.csv)" ] || fail "other rows than the cpu's"
}

test_bound_to_device_and_library() {
    rm -rf net.tensorrt
    trt export net -r tensorrt --imgsz 64 && expect_code 0 || return 1
    trt export net -r tensorrt --imgsz 64 --json && expect_in '"made": false' "$out" || return 1
    FAKE_TRT_ARCH=sm_80 trt export net -r tensorrt --imgsz 64 --json && expect_in '"made": true' "$out" || return 1
    [ "$(side architecture)" = sm_80 ] || fail "still for another GPU" || return 1
    FAKE_TRT_ARCH=sm_80 FAKE_TRT_VERSION=10.9.0 trt export net -r tensorrt --imgsz 64 --json &&
        expect_in '"made": true' "$out" && [ "$(side library)" = 10.9.0 ]
}

test_one_engine_for_all_batches_up_to_its_own() {
    rm -rf net.tensorrt
    trt export net -r tensorrt --imgsz 64 --batch 4 --dynamic-batch --json && expect_code 0 &&
        expect_in '"made": true' "$out" || return 1
    local n
    for n in 1 2 4; do
        trt export net -r tensorrt --imgsz 64 --batch $n --json && expect_code 0 && expect_in '"made": false' "$out" ||
            return 1
    done
    trt export net -r tensorrt --imgsz 64 --batch 5 --json && expect_code 0 && expect_in '"made": true' "$out"
}

test_somebody_elses_engine() {
    rm -rf net.tensorrt && mkdir net.tensorrt
    printf 'ftrt of another program' >$engine
    cp $engine mine
    trt predict p.png -m net -o broken -r tensorrt # it says nothing of itself, and cannot be run
    expect_code 0 && expect_in "is left alone and not used" "$err" && cmp -s $engine mine || fail "overwritten" || return 1
    python3 - $engine <<'P'
import json, struct, sys
about = json.dumps({"task": "detect", "imgsz": [640, 640], "batch": 1, "names": {"0": "a"}}).encode()
open(sys.argv[1], "wb").write(struct.pack("<i", len(about)) + about + b"ftrt")
P
    cp $engine mine
    trt predict p.png -m net -o beside -r tensorrt && expect_code 0 && expect_in "is left alone" "$err" &&
        expect_in "it is for the task 'detect'" "$err" && cmp -s $engine mine
}

test_what_cannot_be_run_is_not_made() {
    rm -rf net.tensorrt
    trt predict p.png -m net -o bf16 -r tensorrt --precision bf16 && expect_code 3 && [ ! -e net.tensorrt ] &&
        [ -z "$(grep making <<<"$err")" ] || fail "made first, refused then: $err"
}

test_nothing_is_written_beside_models_that_come_with_skitter() {
    local shipped=$SKITTER_TEST_BUILD/../share/models
    [ -e "$shipped/demo-obb.pt" ] && [ "$(dirname "$(readlink -f "$skitter")")" = "$(readlink -f "$SKITTER_TEST_BUILD")" ] ||
        return 0
    trt export "$shipped/demo-obb.pt" -r tensorrt --imgsz 64 --json && expect_code 0 && expect_in "/cache/artifacts/" "$out" &&
        [ ! -e "$shipped/demo-obb.engine" ]
}

# Stale weights are not run, and results name what did compute.
test_an_engine_of_other_weights() {
    rm -rf net.tensorrt other.tensorrt other && cp -r net other
    trt predict p.png -m other -o other_first -r tensorrt -q && expect_code 0 || return 1
    expect_in "\"path\": \"other.tensorrt/model.engine\"" "$(cat other_first/run.json)" &&
        expect_in "\"sha256\": \"$(sha256sum <other.tensorrt/model.engine | cut -c1-64)\"" "$(cat other_first/run.json)" ||
        return 1
    python3 - other <<'P' || return 1
import sys, glob
# the same length, other weights: the last bytes of the data
for path in glob.glob(sys.argv[1] + "/*.h5"):
    data = bytearray(open(path, "rb").read())
    for i in range(len(data) // 2, len(data) - 4, 64):
        if data[i + 3] in (0x3d, 0x3e, 0xbd, 0xbe):
            data[i + 2] ^= 0x20
    open(path, "wb").write(data)
P
    trt predict p.png -m other -o changed -r tensorrt && expect_code 0 && expect_in "making other.tensorrt" "$err" || return 1
    # without its record: nobody knows, so it is run beside the model; the first model's engine is not taken
    trt export net -r tensorrt --imgsz 64 && rm net.tensorrt/*.json
    trt export net -r tensorrt --imgsz 64 --json && expect_code 0 && expect_in '"user_made": true' "$out" &&
        expect_in "has no record of what it was made from" "$err" || return 1
    trt export other -r tensorrt --imgsz 64 && cp other.tensorrt/model.engine $engine
    trt export net -r tensorrt --imgsz 64 --json && expect_code 0 && expect_in '"user_made": false' "$out" &&
        expect_in "made from another model" "$err" && cmp -s $engine other.tensorrt/model.engine
}

run_tests
