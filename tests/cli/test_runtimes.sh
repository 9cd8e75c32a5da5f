#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# doctor, runtimes and config at the door; nothing of the user's own settings is read or written.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
export SKITTER_CONFIG_DIR=$work/config SKITTER_CACHE_DIR=$work/cache
unset SKITTER_COMPUTE_RUNTIME
cd "$work" || exit 1
names="cpu mps cuda rocm onnx_cpu onnx_cuda onnx_rocm tensorrt openvino"

clean() { rm -rf "$work/config" "$work/skitter.yaml" "$work/sub"; }
saved() { grep -o '"compute_runtime": "[a-z_]*"' "$work/config/skitter.json"; }

# Why rocm is not here: no device, or, where ROCm's library is installed all the same, no plugin.
no_rocm() { # text
    case $1 in *libskitter_rocm*) return 0 ;; esac
    expect_in "/dev/kfd" "$1"
}

test_doctor_has_a_row_for_every_runtime() {
    run doctor && expect_code 0 || return 1
    local name
    for name in $names; do
        grep -Eq "^$name +(yes|no) " <<<"$out" || fail "no row for $name in: $out" || return 1
    done
    grep -Eq "^cpu +yes" <<<"$out" || fail "the processor must always work: $out"
}

# What each computes in, the usual one first, without a flag that asks for it.
test_precisions_are_listed() {
    run doctor && expect_in "computes in f32, bf16, i8" "$out" || return 1
    run runtimes && expect_in "on the processor: f32, bf16, i8" "$out" || return 1
    run runtimes --options && expect_in "NVIDIA GPU; f16, f32, " "$out" || return 1
    run doctor --json && expect_code 0 && expect_in '"precisions"' "$out" || return 1
    echo "$out" >"$work/doctor.json"
    python3 -c '
import json, sys
rows = {r["name"]: r["precisions"] for r in json.load(open(sys.argv[1]))["runtimes"]}
assert rows["cpu"] == ["f32", "bf16", "i8"], rows
assert rows["cuda"][0] == "f16" and "i8" in rows["cuda"], rows
assert rows["onnx_cpu"] == ["f32", "f16", "i8"], rows
' "$work/doctor.json" || fail "doctor --json: $out"
}

# A precision is listed where a session opens in it on the usual device, and nowhere else.
test_listed_precisions_are_those_that_open() {
    local name precision
    picture
    # oneDNN's tiles are not let in everywhere that the processor names them
    local -x ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 SKITTER_CACHE_DIR=$work/without-tiles
    run doctor --json && expect_code 0 || return 1
    python3 -c '
import json, sys
for r in json.load(sys.stdin)["runtimes"]:
    if r["available"]:
        print(r["name"], *r["precisions"])' <<<"$out" >"$work/listed"
    while read -r name listed; do
        for precision in f32 f16 bf16; do
            predict -r "$name" --precision $precision -o "opens-$name-$precision"
            case " $listed " in
            *" $precision "*) [ "$code" -eq 0 ] || fail "$name lists $precision: $err" || return 1 ;;
            *) [ "$code" -eq 3 ] || fail "$name does not list $precision, and ended with $code: $err" || return 1 ;;
            esac
        done
    done <"$work/listed"
}

test_engines_options_are_listed_and_checked() {
    run runtimes --options && expect_code 0 && expect_in "winograd=on|off (on)" "$out" &&
        expect_in "device=CPU|GPU" "$out" && expect_in "no options" "$out" || return 1
    run runtimes --json && expect_in '"key": "winograd"' "$out" || return 1
    local model=$SKITTER_TEST_SOURCE/share/models/demo-obb.pt
    run bench "$model" --iterations 1 --imgsz 64 --engine-option winogard=off
    expect_in "the engine 'cpu' has no option 'winogard' (did you mean 'winograd'?)" "$out$err" || return 1
    run bench "$model" --iterations 1 --imgsz 64 --engine-option winograd=off --engine-option cpu.tune=off,openvino.hint=latency &&
        expect_code 0 && expect_in ", 0 by winograd" "$out" || return 1
    run predict "$SKITTER_TEST_SOURCE/share" -m "$model" -o "$work/x" --engine-option cup.tune=off
    expect_code 2 && expect_in "no engine is called 'cup' (did you mean 'cpu'?)" "$err" &&
        { [ ! -e "$work/x" ] || fail "a folder was begun for it"; }
}

# Three libraries that are wrong: one crashes, one hangs, one answers everything with success and computes nothing. The
# program goes on and the row says what happened.
test_doctor_survives_wrong_libraries() {
    local kind want seconds fakes=$SKITTER_TEST_BUILD/tests
    [ -e "$fakes/fake_ort_crashes.so" ] || fail "the fake libraries were not built" || return 1
    for kind in crashes hangs idle; do
        seconds=60 # a busy machine is no hang
        [ $kind != hangs ] || seconds=1
        SKITTER_PROBE_SECONDS=$seconds SKITTER_ONNXRUNTIME=$fakes/fake_ort_$kind.so run doctor && expect_code 0 || return 1
        case $kind in
        crashes) want="the probe crashed with signal 6" ;;
        hangs) want="the probe hung and was ended after 1.0 s" ;;
        idle) want="gave 0 where 4.5 is right" ;;
        esac
        grep -Eq "^onnx_cpu +no +.*$want" <<<"$out" || fail "$kind: $out" || return 1
        grep -Eq "^openvino +(yes|no)" <<<"$out" || fail "the rows after it are missing: $out" || return 1
        SKITTER_PROBE_SECONDS=$seconds SKITTER_ONNXRUNTIME=$fakes/fake_ort_$kind.so run runtimes --json && expect_code 0 &&
            expect_in "$want" "$out" || return 1
    done
}

test_doctor_json() {
    run doctor --json && expect_code 0 && expect_in '"name": "cpu"' "$out" || return 1
    command -v python3 >/dev/null || return 0
    echo "$out" >"$work/doctor.json"
    python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["runtimes"]
assert [r["name"] for r in rows] == sys.argv[2].split(), rows
for r in rows:
    assert set(r) >= {"name", "label", "available", "reason", "library", "version", "devices"}, r
    assert r["reason"], r
    assert r["available"] or r["name"] != "cpu", r
' "$work/doctor.json" "$names" || fail "doctor --json: $out"
}

test_runtimes_json() {
    run runtimes --pipelines yolo_obb_detection,sleap_pose --json && expect_code 0 || return 1
    command -v python3 >/dev/null || return 0
    echo "$out" >"$work/runtimes.json"
    python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
order = sys.argv[2].split()
assert r["allowed"][0] == "cpu", r
assert r["allowed"] == [n for n in order if n in r["allowed"]], r
assert sorted(r["allowed"] + [e["name"] for e in r["excluded"]]) == sorted(order), r
assert all("YOLO, turned boxes: " in e["because"] or "SLEAP: " in e["because"] for e in r["excluded"]), r
' "$work/runtimes.json" "$names" || fail "runtimes --json: $out"
}

# What docs/troubleshooting.md cites: a model's own list, with what excluded the rest.
test_runtimes_of_models() {
    run runtimes "$model" --json && expect_code 0 && expect_in '"sleap_pose"' "$out" && expect_in '"cpu"' "$out" || return 1
    [ -e /dev/kfd ] || { run runtimes "$model" && expect_in "rocm       SLEAP: " "$out" && no_rocm "$out" || return 1; }
    echo no model >none.pt
    run runtimes none.pt && expect_code 1 && expect_in "none.pt" "$err" || return 1
    run runtimes "$model" --pipelines yolo_pose --json && expect_in '"yolo_pose"' "$out"
}

test_unknown_pipeline() {
    run runtimes --pipelines yolo_dance && expect_code 2 && expect_in "'yolo_dance'" "$err"
}

test_config_order() {
    clean
    run config get && expect_code 0 && [ "$out" = cpu ] || fail "$out" || return 1
    run config set compute_runtime CPU && expect_code 0 && [ "$(saved)" = '"compute_runtime": "cpu"' ] || return 1
    mkdir -p sub/sub && echo "compute_runtime: onnx_cpu" >skitter.yaml
    out=$(cd sub/sub && "$skitter" config get) && [ "$out" = onnx_cpu ] || fail "project: $out" || return 1
    SKITTER_COMPUTE_RUNTIME=openvino run config get && [ "$out" = openvino ] || fail "environment: $out" || return 1
    run config && expect_code 0 && expect_in "project" "$out" && expect_in "user" "$out" && expect_in "<- " "$out" ||
        return 1
    run config set compute_runtime cpu && expect_code 0 && expect_in "overrules" "$err" || return 1
    run config list --json && expect_in '"from": "project"' "$out"
}

test_config_refuses() {
    clean
    run config set compute_runtime warp && expect_code 2 && expect_in "there are cpu, mps" "$err" || return 1
    run config set colour red && expect_code 2 && expect_in "no setting 'colour'" "$err" || return 1
    run config set compute_runtime && expect_code 2 || return 1
    run config get colour && expect_code 2 || return 1
    if ! [ -e /dev/kfd ]; then
        run config set compute_runtime rocm && expect_code 3 && no_rocm "$err" || return 1
    fi
    [ ! -e "$work/config/skitter.json" ] || fail "a refused value was saved"
}

test_config_import() {
    clean
    echo '{"compute_runtime": "cpu", "yolo_device": "mps"}' >old.json
    run config import old.json && expect_code 0 && expect_in "compute_runtime 'cpu' means cpu" "$out" &&
        [ "$(saved)" = '"compute_runtime": "cpu"' ] || return 1
    echo '{"runtime_tier": "cpu"}' >new.json
    run config import new.json && expect_code 0 && expect_in "runtime_tier 'cpu' means cpu" "$out" || return 1
    if [ "$(uname)" != Darwin ]; then
        echo '{"compute_runtime": "mps", "detection_method": "yolo_obb"}' >mac.json
        run config import mac.json && expect_code 0 && expect_in "'mps' was reset to 'cpu': YOLO, turned boxes" "$err" &&
            [ "$(saved)" = '"compute_runtime": "cpu"' ] || return 1
    fi
    echo '{"fps": 30}' >none.json
    run config import none.json && expect_code 1 && expect_in "says nothing about the compute runtime" "$err" || return 1
    run config import absent.json && expect_code 1
}

picture() { cp "$SKITTER_TEST_SOURCE/tests/fixtures/grey_64x48.png" "$work/p.png"; } # readable without FFmpeg
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_keras/convolutions
predict() { run predict "$work/p.png" -m "$model" "$@"; }

test_predict_says_what_was_asked_and_what_ran() {
    clean && picture
    predict -o plain --json && expect_code 0 && expect_in '"runtime_requested": "cpu"' "$out" &&
        expect_in '"runtime": "cpu"' "$out" || return 1
    SKITTER_COMPUTE_RUNTIME=reference predict -o env --json && expect_code 0 &&
        expect_in '"runtime": "reference"' "$out" || return 1
    SKITTER_COMPUTE_RUNTIME=reference predict -o both --json -r CPU && expect_code 0 &&
        expect_in '"runtime_requested": "CPU"' "$out" && expect_in '"runtime": "cpu"' "$out" || return 1
    predict -o word -r warp && expect_code 2 && expect_in "there are cpu, mps" "$err"
}

test_precision_is_kept_or_refused() {
    clean && picture
    predict -o f32 -r cpu --precision f32 --json && expect_code 0 && expect_in '"precision": "f32"' "$out" || return 1
    predict -o f16 -r cpu --precision f16 && expect_code 3 && expect_in "f16" "$err" || return 1
    [ ! -e f16 ] || fail "refused, and left a folder: $(ls -A f16)" || return 1
    # also with the parents it made, and not those that were there, nor a folder that somebody else had made
    mkdir -p there/empty
    predict -o there/deep/er/ -r cpu --precision f16 && expect_code 3 && [ "$(ls -A there)" = empty ] ||
        fail "there: $(ls -A there)" || return 1
    predict -o there/empty -r cpu --precision f16 && expect_code 3 && [ -d there/empty ] || fail "a folder was taken away" ||
        return 1
    predict -o odd -r cpu --precision f8 && expect_code 2
}

test_predict_without_folders_of_its_own() {
    clean && picture
    SKITTER_CONFIG_DIR=/dev/null/x SKITTER_CACHE_DIR=/dev/null/x predict -o homeless && expect_code 0 &&
        expect_in "could be changed during this run" "$err" && [ -s homeless/results.csv ]
}

test_predict_never_falls_back_silently() {
    [ -e /dev/kfd ] && return 0
    clean && picture
    predict -o loud -r rocm && expect_code 3 && expect_in "'rocm' (--runtime) cannot be used here" "$err" &&
        no_rocm "$err" || return 1
    [ ! -e loud/results.csv ] || fail "results without a runtime" || return 1
    predict -o fall -r rocm --allow-fallback && expect_code 0 && expect_in "runs instead" "$err" &&
        expect_in "(requested rocm)" "$out" || return 1
    expect_in "runtime fallback rocm -> " "$(cat fall/run.json)" &&
        expect_in '"runtime_requested": "rocm"' "$(cat fall/run.json)"
}

test_predict_resets_what_was_saved() {
    [ -e /dev/kfd ] && return 0
    clean && picture
    echo "compute_runtime: rocm" >skitter.yaml
    predict -o reset && expect_code 0 && expect_in "'rocm' was reset to 'cpu'" "$err" || return 1
    # a project's file is shared with other machines
    [ "$(cat skitter.yaml)" = "compute_runtime: rocm" ] || fail "the project's file was changed: $(cat skitter.yaml)" ||
        return 1
    expect_in "skitter.yaml is left as it is" "$err" || return 1
    rm skitter.yaml
    mkdir -p config && echo '{"compute_runtime": "rocm", "other": 1}' >config/skitter.json
    predict -o users && expect_code 0 && expect_in "'rocm' was reset to 'cpu': SLEAP: " "$err" || return 1
    [ "$(saved)" = '"compute_runtime": "cpu"' ] && grep -q '"other": 1' config/skitter.json ||
        fail "not written back: $(cat config/skitter.json)" || return 1
    predict -o again && expect_code 0 && [ -z "$(grep reset <<<"$err")" ]
}

test_net_and_bench_know_the_words() {
    [ -e /dev/kfd ] && return 0
    run net "$model" -i "$model/input.npy" -o "$work/y.npy" -r ROCM:0 && expect_code 3 && no_rocm "$err" ||
        return 1
    run bench "$model" --imgsz 64 -r auto,ROCM:0 -n 1 --warmup 0 --json && expect_code 0 &&
        expect_in '"median_ms"' "$out" && no_rocm "$out"
}

# NAME COMMAND...: is the setting locked while the command is on?
locked_during() {
    local name=$1 pid good
    shift
    "$skitter" "$@" >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 1200); do grep -qs "^run $name" cache/runs/*.lock && break; sleep 0.05; done
    run config set compute_runtime cpu
    expect_code 1 && expect_in "while a run is on: '$name', process $pid" "$err" && expect_in "kill $pid" "$err" &&
        [ ! -e config/skitter.json ]
    good=$?
    predict -o meanwhile -q && expect_code 0 || good=1 # runs do not hinder each other
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    [ $good -eq 0 ] || return 1
    rm -rf meanwhile
    run config set compute_runtime cpu && expect_code 0 && [ "$(saved)" = '"compute_runtime": "cpu"' ] && clean
}

test_setting_is_locked_during_a_run() {
    clean && picture
    locked_during long predict p.png -m "$model" -o long --loop 1000000 -q &&
        locked_during "skitter run" run "$model" -i p.png -n 100000000 --rounds 1 --threads 1 &&
        locked_during "skitter bench" bench "$model" --imgsz 64 -n 1000000 --threads 1
}

test_all_commands_follow_the_setting() {
    clean && picture
    local work_on="$model -i p.png -n 1 --rounds 1 --threads 1 --runner-only"
    # shellcheck disable=SC2086
    SKITTER_COMPUTE_RUNTIME=reference run run $work_on --json && expect_in '"runtime": "reference"' "$out" || return 1
    SKITTER_COMPUTE_RUNTIME=reference run bench "$model" --imgsz 64 -n 1 --warmup 0 --json &&
        expect_in '"runtime": "reference"' "$out" || return 1
    run bench "$model" --imgsz 64 -n 1 --warmup 0 --json && expect_in '"runtime": "cpu"' "$out" || return 1
    [ -e /dev/kfd ] && return 0
    SKITTER_COMPUTE_RUNTIME=rocm run net "$model" -i "$model/input.npy" -o y.npy && expect_code 3 || return 1
    local each
    # shellcheck disable=SC2086
    for each in "run $work_on" "bench $model --imgsz 64 -n 1 --warmup 0" "net $model -i $model/input.npy -o y.npy"; do
        mkdir -p config && echo '{"compute_runtime": "rocm"}' >config/skitter.json
        run $each && expect_in "'rocm' was reset to 'cpu': SLEAP: " "$err" || return 1
    done
}

test_config_says_what_cannot_be_used() {
    [ -e /dev/kfd ] && return 0
    clean && mkdir -p config && echo '{"compute_runtime": "rocm"}' >config/skitter.json
    run config && expect_code 0 && expect_in "compute_runtime cpu: 'rocm' cannot be used here" "$out" &&
        expect_in "<- counts, but cannot be used: " "$out" && no_rocm "$out" || return 1
    run config --json && expect_in '"usable": false' "$out" && expect_in '"runs": "cpu"' "$out" || return 1
    run config get && [ "$out" = rocm ] && expect_in "cannot be used here" "$err" || return 1
    SKITTER_COMPUTE_RUNTIME=warp run config && expect_in "no compute runtime is called 'warp'" "$out" &&
        expect_in "runs end with an error" "$out"
}

test_a_provider_is_blamed_by_its_own_name() {
    [ -e /dev/nvidia0 ] && return 0
    clean && picture
    predict -o provider --execution-provider CUDA && expect_code 3 &&
        expect_in "'onnx_cuda' (--execution-provider CUDA) cannot be used here" "$err"
}

test_config_export() {
    clean
    run config export && expect_code 0 && expect_in '"pose_runtime_flavor": "cpu"' "$out" || return 1
    echo '{"fps": 30, "yolo_device": "mps", "enable_tensorrt": true}' >theirs.json
    run config export theirs.json && expect_code 0 && expect_in "compute_runtime cpu" "$out" &&
        grep -q '"fps": 30' theirs.json && grep -q '"enable_tensorrt": false' theirs.json || fail "$(cat theirs.json)" ||
        return 1
    run config import theirs.json && expect_code 0 && expect_in "'cpu' means cpu" "$out" || return 1
    # every other key stays, as it was written: 0.2 not 0.20000000000000001, and 1.0 no whole number
    echo '{"a": 0.2, "b": [1.0, -3.0, 0.05], "c": 1e-7}' >theirs.json
    run config export theirs.json && [ "$(grep -v cpu theirs.json | tr -d ' \n' | sed 's/.*"a"/"a"/')" = \
        '"a":0.2,"b":[1.0,-3.0,0.05],"c":1e-07}' ] || fail "$(cat theirs.json)" || return 1
    run config export theirs.yaml && expect_code 2 && expect_in "ends in .json" "$err"
}

run_tests
