#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Models in eight bits: made from frames, the same bytes each time, with what they lost, and read like any other.
. "$(dirname "$0")/../support/shell.sh"

root=$SKITTER_TEST_SOURCE
model=$root/share/models/demo-pose.pt
"$skitter" scene -q --species mouse --animals 2 --size 192x160 --fps 20 --seconds 0.5 -o "$work/mice.mp4" ||
    { echo "skipped: no video can be written here"; exit 77; }
small=(--frames 5 --imgsz 128)
"$skitter" quantize -q "$model" --data "$work/mice.mp4" "${small[@]}" -o "$work/m.skq" --report "$work/m.json" \
    >"$work/printed" || exit 1

test_says_what_was_lost() {
    expect_in "convolutions in eight bits" "$(cat "$work/printed")" && expect_in "loss" "$(cat "$work/printed")" &&
        expect_in '"weight_error"' "$(cat "$work/m.json")" && expect_in '"percent"' "$(cat "$work/m.json")" || return 1
    run info "$work/m.skq" && expect_code 0 && expect_in "skitter model in eight bits" "$out" && expect_in "loss" "$out"
}

test_same_input_same_bytes() {
    run quantize -q "$model" --data "$work/mice.mp4" "${small[@]}" -o "$work/again.skq" --threads 1 && expect_code 0 &&
        cmp "$work/m.skq" "$work/again.skq"
}

test_is_read_like_any_model() {
    run predict "$work/mice.mp4" -m "$work/m.skq" --imgsz 128 --out "$work/run" && expect_code 0 &&
        [ -s "$work/run/results.csv" ] && grep -q '"precision": "i8"' "$work/run/run.json" || return 1
    run export "$work/m.skq" -o "$work/m.onnx" && expect_code 0 || return 1
    run info "$work/m.onnx" && expect_code 0 && expect_in "pose" "$out"
}

# Roundings differ from engine to engine, and heads that say almost the same everywhere correlate little: right all the same.
test_engines_that_round_otherwise_are_right() {
    local name
    run quantize -q "$root/share/models/demo-obb.pt" --data "$work/mice.mp4" "${small[@]}" -o "$work/obb.skq" && expect_code 0 || return 1
    for name in obb m; do
        run run "$work/$name.skq" --check-pcc --imgsz 128 -n 2 --rounds 1 --runner-only && expect_code 0 && expect_in ": right" "$out" || return 1
        run run "$work/$name.skq" --check-pcc --imgsz 128 -n 2 --rounds 1 --runner-only -i "$work/mice.mp4" && expect_code 0 &&
            expect_in ": right" "$out" || return 1
    done
    run predict "$work/mice.mp4" -m "$work/obb.skq" --imgsz 128 -f csv -o "$work/by-cpu" && expect_code 0 || return 1
    run runtimes --json && expect_code 0 || return 1
    for name in onnx_cpu openvino; do
        python3 -c 'import json, sys; sys.exit(sys.argv[1] not in json.load(sys.stdin)["allowed"])' "$name" <<<"$out" || continue
        # oneDNN's tiles are not let in everywhere that the processor names them
        ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 "$skitter" predict "$work/mice.mp4" -m "$work/obb.skq" --imgsz 128 -f csv -r "$name" -o "$work/by-$name" \
            >/dev/null 2>"$work/stderr" || fail "$name: $(cat "$work/stderr")" || return 1
        grep -q '"precision": "i8"' "$work/by-$name/run.json" || fail "$name ran in something else" || return 1
    done
}

# Of two into one file the second is refused at once; a killed one leaves nothing in the way.
test_two_at_once() {
    mkdir -p "$work/both"
    "$skitter" quantize -q "$model" --data "$work/mice.mp4" --frames 8 --imgsz 512 -o "$work/both/m.skq" >/dev/null 2>&1 &
    local pid=$! i
    for i in $(seq 200); do grep -qs "^pid" "$work/both/.m.skq.skitter.lock" && break; sleep 0.05; done
    run quantize -q "$model" --data "$work/mice.mp4" "${small[@]}" -o "$work/both/m.skq" --overwrite
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    expect_code 1 && expect_in "is being made by process $pid" "$err" || return 1
    run quantize -q "$model" --data "$work/mice.mp4" "${small[@]}" -o "$work/both/m.skq" && expect_code 0 &&
        [ "$(ls -A "$work/both")" = m.skq ] || fail "$(ls -A "$work/both")"
}

# What was lost on frames that nobody would make a model from: told with the remedy, and not an error.
test_a_large_loss_is_told() {
    python3 -c 'import json, sys; sys.exit((json.load(open(sys.argv[1]))["loss"]["percent"] or 0) <= 10)' "$work/m.json" || return 0
    run quantize "$model" --data "$work/mice.mp4" "${small[@]}" -o "$work/loses.skq" && expect_code 0 &&
        expect_in "warning:" "$err" && expect_in "--frames 100" "$err"
}

test_loss_is_told_and_limited() {
    run predict "$work/mice.mp4" -m "$work/m.skq" --imgsz 128 --out "$work/limited" --max-loss 100
    [ "$code" -eq 0 ] || grep -q "not known" <<<"$err" || fail "$err" || return 1
    expect_in "i8, loss" "$err" || return 1
    grep -q '"measured": true' "$work/m.json" || return 0
    run predict "$work/mice.mp4" -m "$work/m.skq" --imgsz 128 --out "$work/none" --max-loss 0
    grep -q '"percent": 0,' "$work/m.json" || { expect_code 1 && expect_in "--max-loss" "$err" || return 1; }
    run doctor "$work/m.skq" && expect_code 0 && expect_in "m.skq: i8, loss" "$out" || return 1
    run doctor "$model" && expect_code 2 || return 1
    # an export has lost as much
    run export "$work/m.skq" -o "$work/lossy.onnx" && expect_code 0 && run doctor "$work/lossy.onnx" && expect_code 0 &&
        expect_in "lossy.onnx: i8, loss" "$out" || return 1
    run predict "$work/mice.mp4" -m "$work/lossy.onnx" --imgsz 128 --out "$work/none" --max-loss 0
    grep -q '"percent": 0,' "$work/m.json" || { expect_code 1 && expect_in "--max-loss" "$err" || return 1; }
}

# The loss is the cpu's and that of eight bits, at the size and on the frames that it names.
test_says_where_it_was_measured() {
    run quantize "$model" --data "$work/mice.mp4" "${small[@]}" --conf 0.001 -o "$work/found.skq" --report "$work/found.json" && expect_code 0 &&
        expect_in "on other frames (cpu, i8): i8, loss " "$out" && expect_in "% on cpu, 1 frame at 128x128: of" "$out" &&
        expect_in "measured on 1 frame alone" "$err" || return 1
    run predict "$work/mice.mp4" -m "$work/found.skq" --precision f32 --out "$work/wide" && expect_code 0 &&
        expect_in "That is the loss of eight bits" "$err" || return 1
    run predict "$work/mice.mp4" -m "$work/found.skq" --out "$work/narrow" && expect_code 0 && expect_in "% on cpu" "$err" || return 1
    case $err in *"That is the loss"*) fail "$err" ;; esac
}

# --imgsz is the file's usual size from then on.
test_keeps_the_size() {
    run info "$work/m.skq" && expect_code 0 && expect_in "128x128 rgb" "$out" || return 1
    run predict "$work/mice.mp4" -m "$work/m.skq" --out "$work/usual" && expect_code 0 &&
        expect_in '"network_input": "128x128"' "$(cat "$work/usual/run.json")" &&
        expect_in '"height": 128' "$(cat "$work/m.json")"
}

# What was read is told: fewer frames than asked for, a video that is cut off, a truth of other frames.
test_tells_of_its_frames() {
    run scene -q --species mouse --animals 2 --size 160x120 --seconds 2 -o "$work/whole.mp4" && expect_code 0 || return 1
    head -c "$(($(stat -c %s "$work/whole.mp4") * 6 / 10))" "$work/whole.mp4" >"$work/cut.mp4"
    # all that is there, and some spread over it
    run quantize "$model" --data "$work/cut.mp4" --imgsz 64 -o "$work/all.skq" && expect_code 0 && expect_in "cut.mp4: cut off: " "$err" &&
        expect_in "header promises" "$err" && expect_in " of the 100 frames asked for" "$out" || return 1
    run quantize "$model" --data "$work/cut.mp4" --imgsz 64 --frames 5 -o "$work/some.skq" && expect_code 0 &&
        expect_in "cut.mp4: cut off: " "$err" && expect_in ", 5 frames, " "$out" || return 1
    run quantize "$model" --data "$work/whole.mp4" --imgsz 64 --frames 5 -o "$work/whole.skq" && expect_code 0 || return 1
    case $err in *"cut off"*) fail "$err" ;; esac
}

test_truth_of_other_frames() {
    printf 'frame,x1,y1,x2,y2\n1000,2,3,30,30\n' >"$work/other.csv"
    run quantize "$model" --data "$work/mice.mp4" "${small[@]}" --truth "$work/other.csv" -o "$work/x.skq" && expect_code 1 &&
        expect_in "other.csv: --truth says nothing of the frames of $work/mice.mp4" "$err" || return 1
    case $err in *calibrating*) fail "it computed first: $err" || return 1 ;; esac
    [ ! -e "$work/x.skq" ]
}

# Numbers with an exponent: made like the others, computed by GPUs alone unless f32 is asked for by name.
test_fp8() {
    run quantize "$model" --data "$work/mice.mp4" "${small[@]}" --precision fp8 -o "$work/f.skq" --report "$work/f.json" &&
        expect_code 0 && expect_in "fp8, loss" "$out" && expect_in "cpu, fp8 by f32" "$out" &&
        expect_in '"precision": "fp8"' "$(cat "$work/f.json")" || return 1
    run quantize -q "$model" --data "$work/mice.mp4" "${small[@]}" --precision fp8 -o "$work/f2.skq" --threads 1 && expect_code 0 &&
        cmp "$work/f.skq" "$work/f2.skq" || return 1
    run info "$work/f.skq" && expect_code 0 && expect_in "fp8, loss" "$out" || return 1
    run doctor "$work/f.skq" && expect_code 0 && expect_in "computed in fp8 by cuda on GPUs of compute capability 8.9" "$out" || return 1
    run predict "$work/mice.mp4" -m "$work/f.skq" -r cpu --imgsz 128 --out "$work/none8" && expect_code 3 &&
        expect_in "which the runtime cpu does not compute in" "$err" && expect_in "--runtime cuda" "$err" || return 1
    run predict "$work/mice.mp4" -m "$work/f.skq" -r cpu --imgsz 128 --precision i8 --out "$work/none8" && expect_code 2 &&
        expect_in "is in fp8, not in i8" "$err" || return 1
    run predict "$work/mice.mp4" -m "$model" -r cpu --imgsz 128 --precision fp8 --out "$work/none8" && expect_code 2 &&
        expect_in "--precision fp8 -o MODEL.skq" "$err" || return 1
    [ ! -e "$work/none8/run.json" ] || fail "a refused run began" || return 1
    run predict "$work/mice.mp4" -m "$work/f.skq" -r cpu --imgsz 128 --precision f32 --out "$work/f32" && expect_code 0 &&
        grep -q '"precision": "f32"' "$work/f32/run.json" || return 1
    run export "$work/f.skq" -o "$work/f.onnx" && expect_code 0 && run info "$work/f.onnx" && expect_code 0 && expect_in "pose" "$out" ||
        return 1
    ! command -v python3 >/dev/null || ! python3 -c 'import onnx' 2>/dev/null || python3 -c '
import onnx, sys
m = onnx.load(sys.argv[1])
onnx.checker.check_model(m)
assert m.opset_import[0].version == 19 and m.ir_version == 9
assert sum(t.data_type == onnx.TensorProto.FLOAT8E4M3FN for t in m.graph.initializer) > 50' "$work/f.onnx"
}

# A model that looks at crops: around what another model finds, or what a file says.
test_crops_of_a_pair() {
    local models=$root/share/models
    run quantize -q "$model" --finder "$models/demo-obb.pt" --data "$work/mice.mp4" "${small[@]}" -o "$work/crops.skq" \
        --report "$work/crops.json" && expect_code 0 && expect_in '"finder": "demo-obb.pt"' "$(cat "$work/crops.json")" || return 1
    cmp -s "$work/m.skq" "$work/crops.skq" && { fail "crops and whole frames gave the same file"; return 1; }
    run predict "$work/mice.mp4" -m "$models/demo-obb.pt" -m "$work/crops.skq" --imgsz 128 --out "$work/pair" && expect_code 0 &&
        expect_in "crops.skq: i8, loss" "$err" || return 1
    # poses without boxes: crops lie around their points, where the pose model finds them again
    run predict -q "$work/mice.mp4" -m "$models/demo-bottomup" -f csv --out "$work/poses" && expect_code 0 || return 1
    run quantize -q "$model" --detections "$work/poses" --data "$work/mice.mp4" "${small[@]}" -o "$work/given.skq" --json &&
        expect_code 0 || return 1
    python3 -c '
import json, sys
loss = json.load(sys.stdin)["loss"]
assert loss["instances"] > 0 and loss["keypoint_px_95"] > 0, loss' <<<"$out" || fail "$out"
}

test_sleap_pair() {
    local data=$root/../shared/data/sleap/nn film=$root/../shared/data/video/centered_pair_small.mp4
    local crops=$data/minimal_instance_centered_instance finder=$data/minimal_instance_centroid
    [ -d "$crops" ] || { echo "skipped: no reference data"; return 0; }
    run quantize "$crops" --data "$film" -o "$work/s.skq" && expect_code 2 && expect_in "--finder" "$err" || return 1
    run quantize "$finder" --finder "$crops" --data "$film" -o "$work/s.skq" && expect_code 2 && expect_in "whole frames" "$err" || return 1
    run quantize -q "$crops" --finder "$finder" --data "$film" --frames 8 -o "$work/s.skq" --json && expect_code 0 || return 1
    python3 -c '
import json, sys
loss = json.load(sys.stdin)["loss"]
assert loss["instances"] >= 4 and loss["keypoint_px"] < 0.3, loss' <<<"$out" || fail "$out" || return 1
    run predict "$film" --frames 0:3 -m "$finder" -m "$work/s.skq" -o "$work/s" && expect_code 0 && expect_in "s.skq: i8, loss" "$err"
}

test_refuses() {
    run quantize "$model" -o "$work/x.skq" && expect_code 2 && expect_in "--data" "$err" || return 1
    run quantize "$model" --data "$work/mice.mp4" -o "$work/m.skq" && expect_code 1 && expect_in "--overwrite" "$err" || return 1
    run quantize "$model" --data "$work/mice.mp4" -o "$work/x.pt" && expect_code 2 && expect_in ".skq" "$err" || return 1
    run quantize "$work/m.skq" --data "$work/mice.mp4" -o "$work/x.skq" && expect_code 2 &&
        expect_in "demo-pose.pt" "$err" || return 1
    run net "$model" -i /dev/null -o "$work/y.npy" --precision i8 && expect_code 1 || return 1
    head -c 5000 "$work/m.skq" >"$work/cut.skq"
    run info "$work/cut.skq" && expect_code 1 && expect_in "fetch it again" "$err" || return 1
    run quantize "$model" --finder "$root/share/models/demo-obb.pt" --detections "$work/m.json" --data "$work/mice.mp4" \
        -o "$work/x.skq" && expect_code 2 && expect_in "one of them" "$err" || return 1
    run quantize "$root/share/models/demo-obb.pt" --finder "$model" --data "$work/mice.mp4" -o "$work/x.skq" &&
        expect_code 2 && expect_in "takes whole frames" "$err" || return 1
    [ ! -e "$work/x.skq" ]
}

# What cannot be written or read is told before the work, not after it.
test_tells_early() {
    local where
    for where in "-o $work/absent/x.skq" "-o $work/late.skq --report $work/absent/r.json" "-o $work/x.skq --truth $work/absent.csv"; do
        # shellcheck disable=SC2086
        run quantize "$model" --data "$work/mice.mp4" $where && [ "$code" -ne 0 ] && expect_in "absent" "$err" || return 1
        case $err in *"reading frames"*) fail "frames were read first: $err" || return 1 ;; esac
    done
    mkdir -p "$work/folder.skq"
    run quantize "$model" --data "$work/mice.mp4" -o "$work/folder.skq" --overwrite && expect_in "is a folder" "$err"
}

# A report replaces no file that is read or made, by whichever name, and no other without being asked to.
test_a_report_replaces_nothing_else() {
    local name
    cp "$model" "$work/own.pt" && cp "$work/mice.mp4" "$work/own.mp4" && ln "$work/own.mp4" "$work/second.json" &&
        ln -s own.pt "$work/link.json" && echo '{}' >"$work/old.json" || return 1
    sha256sum "$work"/own.* "$work/m.skq" "$work/old.json" >"$work/sums"
    for name in own.mp4 second.json own.pt link.json new.skq m.skq; do
        run quantize "$work/own.pt" --data "$work/own.mp4" "${small[@]}" -o "$work/new.skq" --report "$work/../${work##*/}/$name" --overwrite &&
            expect_code 2 || return 1
        case $err in *"reading frames"*) fail "frames were read first: $err" || return 1 ;; esac
    done
    run quantize "$work/own.pt" --data "$work/own.mp4" "${small[@]}" -o "$work/new.skq" --report "$work/old.json" && expect_code 1 &&
        expect_in "old.json: is there already; --overwrite replaces it" "$err" && sha256sum --quiet -c "$work/sums" && [ ! -e "$work/new.skq" ]
}

# As a full disk: told, and nothing half-written is left.
test_files_may_grow_no_longer() {
    mkdir "$work/narrow"
    err=$(ulimit -f 500 && "$skitter" quantize -q "$model" --data "$work/mice.mp4" "${small[@]}" -o "$work/narrow/x.skq" 2>&1)
    code=$?
    expect_code 1 && expect_in "x.skq: could not be written" "$err" && [ -z "$(ls -A "$work/narrow")" ] || fail "$(ls -A "$work/narrow")" || return 1
    err=$(ulimit -f 1 && "$skitter" predict -q "$work/mice.mp4" -m "$model" --imgsz 128 -f jsonl --out "$work/narrow/run" 2>&1)
    code=$?
    expect_code 1 && expect_in "$work/narrow/run/" "$err"
}

test_eight_bits_are_made_of_their_source() {
    run quantize "$work/m.skq" --data "$work/mice.mp4" && expect_code 2 && expect_in "is in eight bits already" "$err" &&
        expect_in "demo-pose.pt" "$err" || return 1
    run predict "$work/mice.mp4" -m "$work/m.skq" --precision fp8 --out "$work/none" && expect_code 2 &&
        expect_in "skitter quantize demo-pose.pt --data" "$err" || return 1
    run export "$work/m.skq" --half -o "$work/half.onnx" && expect_code 3 && expect_in "leave --half out" "$err" && [ ! -e "$work/half.onnx" ] ||
        return 1
    run help quantize && ! grep -q "a .skq" <<<"$(sed -n '/Arguments/,/Options/p' <<<"$out")"
}

# Whole or not at all.
test_doctor_of_a_damaged_file() {
    cp "$work/m.skq" "$work/flipped.skq" && printf 'x' | dd of="$work/flipped.skq" bs=1 seek=5000 conv=notrunc status=none
    : >"$work/empty.skq"
    run doctor "$work/m.skq" "$work/flipped.skq" --json && expect_code 1 && expect_in "damaged" "$err" && [ -z "$out" ] || fail "$out" || return 1
    run doctor "$work/absent.skq" --json && expect_code 1 && expect_in "no such file" "$err" && [ -z "$out" ] || fail "$out" || return 1
    local command
    for command in "doctor" "info" "predict $work/mice.mp4 --out $work/none -m"; do
        # shellcheck disable=SC2086
        run $command "$work/empty.skq" && expect_code 1 && expect_in "empty.skq: the file is empty" "$err" || return 1
    done
}

test_f32_model_says_what_helps() {
    run predict "$work/mice.mp4" -m "$model" --imgsz 128 --precision i8 --out "$work/none" && expect_code 2 &&
        expect_in "skitter quantize" "$err"
}

test_interrupted_writes_nothing() {
    mkdir -p "$work/late" && cp "$work/mice.mp4" "$work/late/old.skq" # anything: it must stay
    "$skitter" quantize -q "$model" --data "$work/mice.mp4" --frames 8 --imgsz 512 -o "$work/late/old.skq" --overwrite 2>/dev/null &
    local pid=$!
    sleep 0.7
    kill -INT "$pid" 2>/dev/null
    wait "$pid"
    local code=$?
    expect_in "old.skq" "$(ls -A "$work/late")" && [ "$(ls -A "$work/late" | wc -l)" = 1 ] || fail "$(ls -A "$work/late")" || return 1
    [ $code -eq 0 ] || { [ $code -eq 130 ] && cmp "$work/mice.mp4" "$work/late/old.skq"; }
}

run_tests
