#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter run: the table, the JSON, the timeline, the check, several devices; and what is wrong is explained.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_single_kernel5_convs3
picture=$SKITTER_TEST_SOURCE/tests/fixtures/grey_64x48.png

test_table() {
    run run "$model" --input "$picture" --iterations 12 --rounds 3 --threads 1 --check-pcc -q
    expect_code 0 || return 1
    for part in "without the runner" "with it" "speed-up" "frames/s" "3 rounds of 4 frames" "network" "replays from the start" \
        "correlation with the reference"; do
        expect_in "$part" "$out" || return 1
    done
}

test_json_and_timeline() {
    run run "$model" --input "$picture" --iterations 10 --rounds 2 --threads 1 --devices cpu,cpu --check-pcc --json \
        --trace-out "$work/trace.json"
    expect_code 0 || return 1
    command -v python3 >/dev/null || return 0
    echo "$out" >"$work/out.json"
    python3 - "$work/out.json" "$work/trace.json" <<'END' || fail "the JSON is not as documented"
import json, sys
out = json.load(open(sys.argv[1]))
assert out["basic"]["fps"] > 0 and out["runner"]["fps"] > 0
assert abs(out["speedup"] / (out["runner"]["fps"] / out["basic"]["fps"]) - 1) < 1e-4
assert out["speedup_least"] <= out["speedup_most"]
assert 0.99999 <= out["pcc"] <= 1.0000001 and out["check"]["passed"] is True
assert out["basic"]["instances"] == out["runner"]["instances"]
assert len(out["runner"]["devices"]) == 2 and sum(d["frames"] for d in out["runner"]["devices"]) >= 10
stages = out["runner"]["stages_ms"]
assert stages["network"]["count"] == 10 and stages["network"]["p50"] <= stages["network"]["p99"]
events = json.load(open(sys.argv[2]))["traceEvents"]
names = {e["name"] for e in events if e["ph"] == "X"}
assert {"decode", "pre", "network", "post"} <= names, names
assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in events if e["ph"] == "X")
END
}

# The speed-up is that of the two lines above it, whatever single rounds say.
test_lines_agree() {
    run run "$model" --input "$picture" --iterations 60 --rounds 12 --threads 1 -q && expect_code 0 || return 1
    awk '/^without the runner/ {a = $4} /^with it/ {b = $3} /^speed-up/ {s = $2 + 0}
        END {d = b / a - s; exit !(a > 0 && d < 0.02 + 0.02 * s && d > -0.02 - 0.02 * s)}' <<<"$out" || fail "$out"
}

test_precision() {
    run run "$model" --input "$picture" --iterations 2 --rounds 1 --threads 1 --precision f32 --json &&
        expect_code 0 && expect_in '"precision": "f32"' "$out" || return 1
    run run "$model" --input "$picture" --iterations 2 --precision f16 && expect_code 3 && expect_in "f16" "$err" || return 1
    run run "$model" --input "$picture" --precision f8 && expect_code 2
}

test_noise_and_latency() {
    run run "$model" --input "$picture" --iterations 9 --rounds 3 --threads 1 --mode latency --json
    expect_code 0 && expect_in '"count": 9' "$out" || return 1 # not one was dropped
    run run "$model" --iterations 4 --rounds 1 --threads 1 --mode latency --runner-only --json
    expect_code 0 || return 1
    expect_in '"pcc": null' "$out" && expect_in '"mode": "latency"' "$out" || return 1
    case $out in *'"basic"'*) fail "basic execution was left out, and is told" ;; esac
}

test_mistakes() {
    run run
    expect_code 2 || return 1
    run run "$model" --input "$work/none.png"
    expect_code 1 && expect_in "none.png" "$err" && ! expect_in "0 rounds" "$err" >/dev/null || return 1
    run run "$model" --devices cpu:oops
    expect_code 2 && expect_in "core list" "$err" || return 1
    run run "$model" --input rtsp://nowhere/1
    expect_code 3 && expect_in "stream" "$err" || return 1
    run run "$model" --input "$picture" --iterations 2 --check-pcc --pcc-min 1 -q # nothing is that good, or it is exact
    [ "$code" -eq 0 ] || expect_in "correlates" "$err"
}

run_tests
