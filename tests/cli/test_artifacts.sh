#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Artifacts at the door. What needs ONNX Runtime is left out, saying so, where it is not found; tests/runtime covers
# the same with a stand-in.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
export SKITTER_CONFIG_DIR=$work/config SKITTER_CACHE_DIR=$work/cache SKITTER_ARTIFACTS=beside
cd "$work" || exit 1
cp -r "$SKITTER_TEST_SOURCE/tests/fixtures/sleap_keras/convolutions" "$work/net" || exit 1
chmod -R u+w "$work/net"
cp "$SKITTER_TEST_SOURCE/tests/fixtures/grey_64x48.png" "$work/p.png"
have_ort=$("$skitter" runtimes --json 2>/dev/null | sed -n '/allowed/,/]/p' | grep -c '"onnx_cpu"')
needs_ort() {
    [ "$have_ort" -gt 0 ] && return 0
    echo "skipped: ONNX Runtime is not on this machine"
    return 1
}

test_nothing_yet() {
    local SKITTER_CACHE_DIR=$work/empty
    run artifacts && expect_code 0 && expect_in "no artifacts" "$out" || return 1
    run artifacts list --json && expect_code 0 && expect_in '"artifacts": []' "$out" || return 1
    SKITTER_CACHE_DIR=/dev/null/x run artifacts && expect_code 1 && expect_in "SKITTER_CACHE_DIR" "$err" || return 1
    run artifacts verify /nowhere && expect_code 1 && expect_in "/nowhere: no such file" "$err" || return 1
    run artifacts polish && expect_code 2
}

test_export_refuses_what_it_cannot() {
    run export net --runtime cpu && expect_code 2 && expect_in "nothing to export" "$err" || return 1
    run export net --runtime onnx_cpu --output x.onnx && expect_code 2 && expect_in "does not go with --runtime" "$err" ||
        return 1
    run export net --runtime warp && expect_code 2
}

test_export_run_verify_clean() {
    needs_ort || return 0
    run export net --runtime onnx_cpu --imgsz 64 --json && expect_code 0 && expect_in '"made": true' "$out" &&
        expect_in '"pcc": ' "$out" && expect_in "making net.onnx/model.onnx" "$err" || return 1
    [ -s net.onnx/model.onnx ] && [ -s net.onnx/model.onnx.skitter.json ] || fail "not beside the model" || return 1
    run export net --runtime onnx_cpu --imgsz 64 --json && expect_in '"made": false' "$out" || return 1
    run artifacts verify net && expect_code 0 && expect_in "fresh" "$out" || return 1
    truncate -s 1000 net.onnx/model.onnx
    run artifacts verify net && expect_code 1 && expect_in "damaged" "$out" || return 1
    run predict p.png -m net -o made_anew -r onnx_cpu && expect_code 0 || return 1
    run artifacts verify net && expect_code 0 || return 1
    echo "mine" >net.onnx/model.onnx && rm net.onnx/model.onnx.skitter.json
    run predict p.png -m net -o left_alone -r onnx_cpu && expect_code 0 && expect_in "is left alone" "$err" || return 1
    [ "$(cat net.onnx/model.onnx)" = mine ] || fail "a user's file was overwritten" || return 1
    run artifacts clean --all && expect_code 0 && [ "$(cat net.onnx/model.onnx)" = mine ] || return 1
    rm -r net.onnx
    run predict p.png -m net -o again -r onnx_cpu && expect_code 0 && run artifacts clean --all net && expect_code 0 &&
        [ ! -e net.onnx ] || fail "the folder stayed"
}

# Needs no runtime: verify computes with skitter's own engine.
test_an_export_follows_its_model() {
    rm -rf net.onnx other && cp -r net other
    run export net && expect_code 0 && [ -s net.onnx/model.onnx.skitter.json ] || fail "no record" || return 1
    run artifacts verify net && expect_code 0 && expect_in "exported" "$out" || return 1
    printf ' ' >>"$(echo other/*.json | cut -d' ' -f1)" # the model is another one now
    run export other --overwrite && expect_code 0 && printf ' ' >>"$(echo other/*.json | cut -d' ' -f1)"
    run artifacts verify other && expect_code 1 && expect_in "was changed since" "$out" || return 1
    run artifacts clean other && expect_code 0 && [ -s other.onnx/model.onnx ] || fail "a person's export was removed" ||
        return 1
    # a model that was replaced by something that cannot be read: nothing says that the export is still its own
    cp -r other kept && echo broken >other/best_model.h5
    run artifacts verify other && expect_code 1 && expect_in "unread" "$out" && expect_in "its model cannot be read" "$out" ||
        return 1
    rm -r other && mv kept other
    # other weights with a record that says they are this model's
    if command -v python3 >/dev/null; then
        python3 - net.onnx/model.onnx <<'P' || return 1
import hashlib, json, sys
path = sys.argv[1]
data = bytearray(open(path, "rb").read())
for i in range(len(data) // 2, len(data) - 8, 16):
    if data[i + 3] in (0x3d, 0x3e, 0xbd, 0xbe):
        data[i + 2] ^= 0x40
open(path, "wb").write(data)
record = json.load(open(path + ".skitter.json"))
record["sha256"] = hashlib.sha256(data).hexdigest()
json.dump(record, open(path + ".skitter.json", "w"), indent=2)
P
        run artifacts verify net && expect_code 1 && expect_in "its record is not true" "$out" || return 1
        run export net --overwrite && expect_code 0 || return 1
    fi
    rm net.onnx/model.onnx.skitter.json
    run artifacts verify net && expect_code 0 && expect_in "computes what net computes" "$out" || return 1
    echo mine >net.onnx/model.onnx
    run artifacts verify net && expect_code 1 && expect_in "user-made" "$out" && rm -r net.onnx other other.onnx
}

test_what_a_person_exports_is_theirs() {
    needs_ort || return 0
    rm -rf net.onnx
    run export net --runtime onnx_cpu && expect_code 0 || return 1
    run export net --overwrite --dynamic && expect_code 0 || return 1
    local before
    before=$(sha256sum <net.onnx/model.onnx | cut -c1-64)
    run predict p.png -m net -o theirs -r onnx_cpu && expect_code 0 || return 1
    [ "$before" = "$(sha256sum <net.onnx/model.onnx | cut -c1-64)" ] || fail "a user's file was overwritten" || return 1
    expect_in "\"sha256\": \"$before\"" "$(cat theirs/run.json)" || return 1
    printf ' ' >>"$(echo net/*.json | cut -d' ' -f1)" # retrained
    run predict p.png -m net -o anew -r onnx_cpu && expect_code 0 && expect_in "was changed since" "$err" || return 1
    [ "$before" = "$(sha256sum <net.onnx/model.onnx | cut -c1-64)" ] || fail "a user's file was overwritten" || return 1
    grep -q "$before" anew/run.json && fail "the old weights answered"
    return 0
}

run_tests
