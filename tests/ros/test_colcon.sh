#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A generated package, unchanged, under Debian's colcon and ament: `colcon build`, `colcon test` (with a model, so that images pass
# through), and the installed node. What Debian does not have (rclcpp, message packages) the double stands for.
source "${SKITTER_TEST_SOURCE:?run through ctest}/tests/support/shell.sh"
build=$SKITTER_TEST_BUILD
PATH=/usr/bin:/bin:$PATH # colcon's Python is the system's
export PYTHONDONTWRITEBYTECODE=1
case ${SKITTER_TEST_SANITIZE:-} in ?*) echo "skipped: the package links the plain library" && exit 77 ;; esac
for needed in share/ament_cmake share/ament_cmake_gtest share/ament_cmake_pytest bin/colcon lib/python3/dist-packages/colcon_cmake \
    lib/python3/dist-packages/colcon_ros lib/python3/dist-packages/colcon_test_result; do
    [ -e "/usr/$needed" ] || { echo "skipped: /usr/$needed is not there (Debian: scripts/install-packages test)"; exit 77; }
done

test_colcon() {
    "$build/tests/ros_msg_texts" "$work/texts" &&
        python3 "$SKITTER_TEST_SOURCE/tests/ros/rclcpp_double/make_prefix.py" "$work/texts" "$work/prefix" || return 1
    cmake --install "$build" --prefix "$work/skitter" >"$work/log" 2>&1 || fail "make install: $(cat "$work/log")" || return 1
    run ros generate --model yolo_pose_track --backend cpu --package-name fly_watch --format dir --output "$work/ws/src"
    expect_code 0 || return 1
    cp "$SKITTER_TEST_SOURCE/share/models/demo-pose.pt" "$work/ws/src/fly_watch/models/"
    cd "$work/ws" || return 1
    export CMAKE_PREFIX_PATH=$work/prefix:$work/skitter CXXFLAGS="-O0 -Werror" MAKEFLAGS=-j2
    export VISION_TEST_WEIGHTS=$SKITTER_TEST_SOURCE/share/models/demo-pose.pt
    colcon build --cmake-args -DCMAKE_BUILD_TYPE=Debug >"$work/log" 2>&1 || fail "colcon build: $(tail -30 "$work/log")" || return 1
    colcon test >"$work/log" 2>&1 && colcon test-result --verbose >>"$work/log" 2>&1 ||
        fail "colcon test: $(tail -40 "$work/log")" || return 1
    grep -q "AnImagePassesThrough" build/fly_watch/test_results/fly_watch/test_node.gtest.xml || fail "no image passed" || return 1
    for file in lib/libfly_watch_component.so lib/fly_watch/fly_watch_node share/fly_watch/launch/vision.launch.py \
        share/fly_watch/config/params.yaml share/fly_watch/models/demo-pose.pt; do
        [ -e "install/fly_watch/$file" ] || fail "not installed: $file" || return 1
    done
}

run_tests
