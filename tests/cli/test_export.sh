#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `skitter export` is asked for against what the file then is, and where it goes. Needs no runtime of others.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
export SKITTER_CONFIG_DIR=$work/config SKITTER_CACHE_DIR=$work/cache SKITTER_ARTIFACTS=beside
cd "$work" || exit 1
cp -r "$SKITTER_TEST_SOURCE/tests/fixtures/sleap_keras/convolutions" "$work/net" || exit 1
chmod -R u+w "$work/net"

# One line of what an export is: bytes of weights in halves or whole, and what its input takes.
looks() { # options…
    run export net --overwrite -o x.onnx "$@" && expect_code 0 || return 1
    run info x.onnx --json && expect_code 0 || return 1
    local told bytes=small
    [ "$(stat -c %s x.onnx)" -gt 8000 ] && bytes=whole
    told=$(tr -d ' \n' <<<"$out" | sed 's/.*"input":{\([^}]*\)}.*/\1/; s/"//g')
    echo "$bytes,$told,$(grep -c 'float16 in the file' <<<"$out"),opset:$(sed -n 's/.*"opset": "\(.*\)".*/\1/p' <<<"$out")"
}
expect_look() { # what, options…
    local want=$1 got
    shift
    got=$(looks "$@") || return 1
    [ "$got" = "$want" ] || fail "export $*: $got, not $want"
}

test_options_against_the_file() {
    local sizes="channels:1,height:512,width:512,stride:4"
    expect_look "whole,$sizes,fixed_size:true,fixed_batch:1,color:gray,0,opset:17" || return 1
    expect_look "small,$sizes,fixed_size:true,fixed_batch:1,color:gray,0,opset:17" --half || return 1
    expect_look "small,$sizes,fixed_size:true,fixed_batch:1,color:gray,1,opset:17" --half-io || return 1
    expect_look "whole,$sizes,fixed_size:false,color:gray,0,opset:17" --dynamic || return 1
    expect_look "whole,$sizes,fixed_size:true,color:gray,0,opset:17" --dynamic-batch || return 1
    expect_look "whole,$sizes,fixed_size:true,fixed_batch:2,color:gray,0,opset:13" --batch 2 --opset 13 || return 1
    expect_look "whole,channels:1,height:64,width:32,stride:4,fixed_size:true,fixed_batch:1,color:gray,0,opset:17" --imgsz 64x32
}

test_where_it_goes() {
    local given
    for given in net net/ net// "$work/net/"; do
        rm -rf net.onnx
        run export "$given" && expect_code 0 || return 1
        [ -s net.onnx/model.onnx ] || fail "export $given wrote no net.onnx/model.onnx" || return 1
        [ "$(ls net)" = "$(ls "$SKITTER_TEST_SOURCE/tests/fixtures/sleap_keras/convolutions")" ] ||
            fail "export $given wrote into the model's folder" || return 1
    done
    cp -r net n && run export n/ && expect_code 0 && [ -s n.onnx/model.onnx ] || fail "a folder of one letter" || return 1
    run export net/ && expect_code 1 && expect_in "is there already" "$err" || return 1
    mkdir one && cp net.onnx/model.onnx one/m.pt.onnx
    run export one/m.pt.onnx && expect_code 2 && expect_in "one/m.pt.onnx: is the model" "$err"
}

# What is read stays, and no ONNX file gets the name of something else; nothing is written then.
test_what_is_not_written_over() {
    local before after name
    run export net -o own.onnx && expect_code 0 && ln own.onnx second.onnx && echo film >film.mp4 || return 1
    before=$(find . -type f ! -path './config/*' ! -path './cache/*' ! -name stderr -exec sha256sum {} + | sort)
    for name in "own.onnx ./own.onnx" "own.onnx second.onnx" "net net/best_model.h5" "net net/training_config.json" \
        "own.onnx film.mp4" "own.onnx new.skq" "own.onnx new.pt"; do
        # shellcheck disable=SC2086
        set -- $name
        run export "$1" -o "$2" --overwrite && expect_code 2 || return 1
    done
    expect_in "call it new.onnx" "$err" || return 1
    after=$(find . -type f ! -path './config/*' ! -path './cache/*' ! -name stderr -exec sha256sum {} + | sort)
    [ "$before" = "$after" ] || fail "files changed: $(diff <(echo "$before") <(echo "$after"))"
}

test_precision_is_for_runtimes() {
    local p
    for p in f32 f16 i8 fp8; do
        run export net --precision $p -o p.onnx && expect_code 2 && expect_in "--precision $p is for" "$err" &&
            expect_in "--runtime" "$err" && expect_in "skitter quantize" "$err" && [ ! -e p.onnx ] || return 1
    done
}

# As a full disk: told, and nothing half-written is left.
test_files_may_grow_no_longer() {
    mkdir narrow
    out=$(ulimit -f 4 && "$skitter" export net -o narrow/x.onnx 2>&1)
    code=$?
    expect_code 1 && expect_in "narrow/x.onnx: could not be written" "$out" && expect_in "ulimit -f" "$out" &&
        [ -z "$(ls -A narrow)" ] || fail "$(ls -A narrow)"
}

run_tests
