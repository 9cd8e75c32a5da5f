#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter ros at the door: vision-factory's words and exit codes, and nothing written after a mistake.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
cd "$work" || exit 1
own=$SKITTER_TEST_SOURCE/tests/fixtures/ros/models
nothing() { [ ! -e output ] && [ ! -e out ] || fail "something was written: $(find output out 2>/dev/null)"; }
generate() { run ros generate --model "$1" --backend "$2" --package-name "$3" "${@:4}"; }

test_models_are_listed_as_upstream_lists_them() {
    run ros list-models && expect_code 0 || return 1
    expect_in "Available models:

" "$out" && expect_in "  yolo                      detections           (20 variants)" "$out" &&
        expect_in "  sleap_topdown             keypoints            (1 variants)" "$out" &&
        expect_in "  depth_anything            it estimates depth" "$out" || return 1
    run ros list-models --models "$own" && expect_code 0 &&
        expect_in "  flies                     tracked_objects      (2 variants)" "$out" &&
        expect_in "is of the family 'depth'" "$err" || return 1
    run ros list-models --json && expect_code 0 && expect_in '"name": "yolo_obb"' "$out" &&
        { ! command -v python3 >/dev/null || python3 -m json.tool <<<"$out" >/dev/null; }
}

test_a_model_is_told_as_upstream_tells_it() {
    run ros info yolo && expect_code 0 || return 1
    expect_in "Model:    yolo
Family:   ultralytics
Source:   ultralytics (ultralytics/ultralytics)
Output:   detections (xyxy)
Default:  yolo_v8s
Variants:
  - yolo_v8n  [200 MB VRAM]
  - yolo_v8s (default)  [400 MB VRAM]
" "$out" && expect_in "  - yolo_v26x  [? MB VRAM]" "$out" && expect_in "Backends:
  - cuda" "$out" || return 1
    run ros info nope && expect_code 1 && expect_in "Unknown model: nope
Available: sleap_bottomup, sleap_single," "$err" || return 1
    run ros info florence && expect_code 1 && expect_in "'florence' is known" "$err" || return 1
    run ros info && expect_code 2 && expect_in "Missing argument 'MODEL'." "$err"
}

test_requests_that_cannot_be_met_write_nothing() {
    generate nope cuda pp && expect_code 1 && expect_in "Error: Unknown model 'nope'. Available: ['sleap_bottomup', " "$err" || return 1
    generate yolo tpu pp && expect_code 2 && expect_in "Error: Unknown backend 'tpu'. Choose from: ['cuda', 'rocm', 'openvino', 'tensorrt', 'onnx', 'cpu']" "$err" || return 1
    generate sleap_single rocm 'Bad-Name!!' --variant v9 --output out && expect_code 1 &&
        expect_in "Error: Backend 'rocm' is not supported by model 'sleap_single'. Supported backends: ['cuda', 'openvino', 'tensorrt', 'onnx', 'cpu']
Error: Unknown variant 'v9' for model 'sleap_single'. Choose from: ['sleap_single']
Error: Invalid package name 'Bad-Name!!'" "$err" || return 1
    generate grounding_dino cuda pp && expect_code 1 && expect_in "Error: Model 'grounding_dino' is known, but" "$err" || return 1
    generate my_depth cuda pp --models "$own" && expect_code 1 && expect_in "manifest.yaml:4:11: Model 'my_depth' is of" "$err" || return 1
    run ros generate --backend cuda && expect_code 2 && expect_in "Error: Missing option '--model'.
Error: Missing option '--package-name'." "$err" || return 1
    generate yolo cuda pp --models /nonexistent && expect_code 2 &&
        expect_in "Invalid value for '--models': Path '/nonexistent' does not exist." "$err" || return 1
    generate yolo cuda pp --track && expect_code 2 && run ros generate yolo && expect_code 2 || return 1
    run ros list-models --backend cuda && expect_code 2 && run ros && expect_code 2 && run ros bogus && expect_code 2 || return 1
    generate nope cuda pp --json && expect_code 1 && expect_in '"Unknown model ' "$out" && expect_in '"generated": null' "$out" || return 1
    nothing
}

test_a_wrong_manifest_is_told_and_the_others_stay() {
    mkdir -p models/good models/bad models/twin && cp "$own/flies/manifest.yaml" models/good &&
        cp "$own/flies/manifest.yaml" models/twin && cp "$SKITTER_TEST_SOURCE/tests/fixtures/ros/wrong/manifest.yaml" models/bad || return 1
    run ros list-models --models models && expect_code 1 && expect_in "  flies  " "$out" &&
        expect_in "Error: models/bad/manifest.yaml:2:9: model.name must be a text" "$err" &&
        expect_in "Error: models/bad/manifest.yaml:20:14: ros.parameters[1]: the parameter 'conf' is there twice" "$err" &&
        expect_in "models/twin/manifest.yaml: 'flies' is the model of models/good/manifest.yaml, too" "$err" || return 1
    rm -r models/twin
    generate bad cpu pp --models models && expect_code 1 && expect_in "models/bad/manifest.yaml:2:9" "$err" || return 1
    generate flies cpu pp --models models --dry-run && expect_code 0 &&
        expect_in "warning: models/bad/manifest.yaml:2:9" "$err" || return 1
    mkfifo models/bad/pipe && rm models/bad/manifest.yaml && mv models/bad/pipe models/bad/manifest.yaml || return 1
    run ros list-models --models models && expect_code 1 && expect_in "models/bad/manifest.yaml" "$err" || return 1
    mkdir -p empty && run ros list-models --models empty && expect_code 1 && expect_in "empty/<model>/manifest.yaml" "$err" || return 1
    nothing
}

test_targets_of_the_build_have_names_of_their_own() {
    local twice
    run ros generate --model yolo_pose --backend cpu --package-name vision --format dir --output "$work/targets" && expect_code 0 || return 1
    twice=$(sed -nE 's/^ *(add_library|add_executable|ament_add_gtest)\(([^ )]+).*/\2/p' "$work/targets/vision/CMakeLists.txt" | sort | uniq -d)
    [ -z "$twice" ] || fail "two targets are called $twice"
}

test_packages_are_written() {
    generate yolo onnx fly_watch --dry-run && expect_code 0 && expect_in "Would generate: output/fly_watch.zip" "$out" &&
        expect_in "fly_watch/package.xml" "$out" && nothing || return 1
    generate yolo onnx fly_watch && expect_code 0 && expect_in "Generated: output/fly_watch.zip
  Model:   yolo (default)
  Backend: onnx
  Package: fly_watch" "$out" || return 1
    local before
    before=$(sha256sum <output/fly_watch.zip)
    generate yolo onnx fly_watch --variant yolo_v8s && expect_code 0 && expect_in "  Model:   yolo (yolo_v8s)" "$out" || return 1
    [ "$before" = "$(sha256sum <output/fly_watch.zip)" ] || fail "the same request gave other bytes" || return 1
    if ! command -v python3 >/dev/null; then
        echo "skipped: python3 is not on this machine" && rm -r output && return 0
    fi
    python3 - <<'PYTHON' || return 1
import sys, zipfile
z = zipfile.ZipFile("output/fly_watch.zip")
names = z.namelist()
assert z.testzip() is None and names == sorted(names) and all(n.startswith("fly_watch/") for n in names), names
assert all(i.date_time == (1980, 1, 1, 0, 0, 0) for i in z.infolist())
z.extractall("unpacked")
PYTHON
    generate yolo onnx fly_watch --format dir --output out --json && expect_code 0 && expect_in '"generated": "out/fly_watch"' "$out" || return 1
    diff -r unpacked/fly_watch out/fly_watch || fail "folder and archive differ" || return 1
    [ -z "$(ls -A out | grep -v '^fly_watch$')" ] || fail "left over: $(ls -A out)" || return 1
    generate yolo onnx fly_watch --format dir --output out && expect_code 1 && expect_in "--overwrite" "$err" || return 1
    generate yolo onnx fly_watch --format dir --output out --dry-run && expect_code 1 && expect_in "--overwrite" "$err" || return 1
    echo changed >out/fly_watch/package.xml
    generate yolo onnx fly_watch --format dir --output out --overwrite && expect_code 0 || return 1
    diff -r unpacked/fly_watch out/fly_watch || return 1
    echo file >in_the_way
    generate yolo onnx fly_watch --output in_the_way && expect_code 1 && [ "$(cat in_the_way)" = file ] || return 1
    if [ "$(id -u)" -ne 0 ]; then
        mkdir locked && chmod a-w locked
        generate yolo onnx fly_watch --output locked --format dir && expect_code 1 && [ -z "$(ls -A locked)" ] || return 1
    fi
    rm -r output out
}

# What a stranger writes into a manifest stays text in every language of the package.
test_hostile_texts_stay_texts() {
    run ros generate --models "$SKITTER_TEST_SOURCE/tests/fixtures/ros/hostile" --model hostile --backend onnx --package-name pp \
        --format dir --output out && expect_code 0 || return 1
    command -v python3 >/dev/null || { echo "skipped: python3 is not on this machine" && rm -r out && return 0; }
    python3 - <<'PYTHON' || return 1
import ast, glob, xml.etree.ElementTree as tree
for path in glob.glob("out/pp/**/*.py", recursive=True):
    ast.parse(open(path).read(), path)
assert tree.parse("out/pp/package.xml").getroot().find("name").text == "pp"
params = [line for line in open("out/pp/config/params.yaml").read().splitlines() if not line.lstrip().startswith("#")]
assert "    max_detections: 5" in params and not any("animals" in line for line in params), params
assert r"""    frame_id: "a\"b'c\\d\ne: f # g" """.rstrip() in params, params
PYTHON
    rm -r out
}

# What a package uses is what rosdep installs for it.
test_package_xml_names_all_that_is_used() {
    command -v python3 >/dev/null || { echo "skipped: python3 is not on this machine" && return 0; }
    local model
    for model in yolo yolo_pose yolo_obb_track yolo_pose_track sleap_topdown; do
        generate $model cpu "uses_$model" --format dir && expect_code 0 || return 1
    done
    python3 "$SKITTER_TEST_SOURCE/tests/ros/check_depends.py" output/uses_* && rm -r output
}

test_a_manifest_for_an_own_model_leads_to_a_package() {
    run ros manifest "$SKITTER_TEST_SOURCE/share/models/demo-pose.pt" && expect_code 0 && expect_in '    - "tail_base"' "$out" || return 1
    run ros manifest "$SKITTER_TEST_SOURCE/share/models/demo-obb.pt" --track --model my_fish --output mine && expect_code 0 &&
        expect_in "Wrote: mine/my_fish/manifest.yaml" "$out" && expect_in "next: " "$err" || return 1
    generate my_fish cpu fish_eyes --models mine && expect_code 0 && [ -s output/fish_eyes.zip ] || return 1
    echo mine >mine/my_fish/manifest.yaml
    run ros manifest "$SKITTER_TEST_SOURCE/share/models/demo-obb.pt" --model my_fish --output mine && expect_code 1 &&
        expect_in "is there already" "$err" && [ "$(cat mine/my_fish/manifest.yaml)" = mine ] || return 1
    run ros manifest "$SKITTER_TEST_SOURCE/share/models/demo-obb.pt" --model my_fish --output mine --overwrite && expect_code 0 &&
        generate my_fish cpu fish_eyes --models mine/my_fish --dry-run && expect_code 0 || return 1
    cp "$SKITTER_TEST_SOURCE/share/models/demo-obb.pt" './_Best (1).pt' && run ros manifest './_Best (1).pt' && expect_code 0 &&
        expect_in "name: best_1_
" "$out" || return 1
    cp -r "$SKITTER_TEST_SOURCE/share/models/demo-bottomup" . && run ros manifest demo-bottomup/ && expect_code 0 &&
        expect_in "from demo-bottomup." "$out" && expect_in "name: demo_bottomup
" "$out" && expect_in "/demo-bottomup\"]" "$out" || return 1
    run ros manifest demo-bottomup/ --output mine && generate demo_bottomup cpu poses --models mine --format dir && expect_code 0 &&
        grep -q "^cp -r .*/demo-bottomup poses/models/" output/poses/README.md || fail "a folder is not copied by that" || return 1
    cp -r demo-bottomup flies.UNet.bottomup && run ros manifest flies.UNet.bottomup && expect_code 0 &&
        expect_in "name: flies_unet_bottomup
" "$out" || return 1
    head -c 300000 './_Best (1).pt' >cut.pt && run ros manifest cut.pt && expect_code 1 && expect_in "cut.pt" "$err" || return 1
    run ros manifest nothing.pt && expect_code 1 && expect_in "nothing.pt" "$err" || return 1
    run ros manifest && expect_code 2 && run ros manifest a b c && expect_code 2 || return 1
    rm -rf output
}

run_tests
