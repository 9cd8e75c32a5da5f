#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A batch on SLURM, by stand-ins for its programs: tasks that vanish, a controller that is away, an answer that is lost, what is
# asked for. A real one: tests/slurm/run.
# shellcheck source=tests/support/shell.sh
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_no_decoder
export SKITTER_CACHE_DIR=$work/cache SKITTER_BATCH_INTERVAL_MS=200
cd "$work" && mkdir v bin || exit 1
run scene -o v/a.mp4 --seconds 0.2 --size 96x64 -q
if [ "$code" -eq 3 ]; then
    echo "skipped: this build writes no video"
    exit 77
fi
"$skitter" scene -o v/b.mp4 --seconds 0.3 --size 96x64 --seed 2 -q
for program in sbatch squeue sacct scancel scontrol; do ln -s "$SKITTER_TEST_SOURCE/tests/app/fake_slurm.sh" bin/$program; done
export PATH=$work/bin:$PATH
"$skitter" predict v -m "$model" -o single -q
batch() { run batch --command predict --videos v -m "$model" --slurm "$@"; }
same() { diff -r -x run.json -x journal.skj -x .skitter.lock -x .batch -x 'summary.*' "$1" "$2" || fail "$1 and $2 differ"; }
fresh() { export FAKE_SLURM=$work/$1.slurm && mkdir "$FAKE_SLURM"; }

test_asked_for() {
    fresh asked
    batch -o asked --partition gpu --time 02:00:00 --gpus 1 --memory 8G --cpus 4 --module cuda/12.4 --module 'source env.sh' --sbatch --account=lab --dry-run
    expect_code 0 && [ ! -e "$FAKE_SLURM/calls" ] || return
    expect_in "--partition=gpu --time=02:00:00 --gres=gpu:1 --mem=8G --cpus-per-task=4 --account=lab" "$out" && expect_in "--array=0-1 " "$out"
}

# One task vanishes (its node fails), the answer of sbatch is lost, the controller is away for a while.
test_lost_and_found() {
    fresh lost && echo 1 >"$FAKE_SLURM/lose" && touch "$FAKE_SLURM/account"
    batch -o lost --module 'echo module line' --split 5
    expect_code 0 && same single lost && expect_in "2 of 2 videos done" "$out" || return
    [ "$(grep -c '^sbatch' "$FAKE_SLURM/calls")" -eq 2 ] && grep -q '^sacct' "$FAKE_SLURM/calls" || fail "$(cat "$FAKE_SLURM/calls")" || return
    grep -q "module line" "$FAKE_SLURM/101_0.log" || fail "module line" || return
    batch -o lost -q --split 5 && expect_code 0 && [ "$(grep -c '^sbatch' "$FAKE_SLURM/calls")" -eq 2 ] || fail "handed over again"
}

test_lost_answer() {
    fresh deaf && touch "$FAKE_SLURM/deaf"
    batch -o deaf -q
    expect_code 1 && expect_in "sbatch: error: killed" "$err" || return
    batch -o deaf -q # the job that it has begun is found by its name
    expect_code 0 && same single deaf && [ "$(grep -c '^sbatch' "$FAKE_SLURM/calls")" -eq 1 ] || fail "$(cat "$FAKE_SLURM/calls")"
}

# Where skitter, or a module, is not on the nodes, nothing of a batch is ever begun: it ends, and says where the reason is.
test_tasks_that_never_begin() {
    fresh idle
    batch -o idle --module 'exit 7' --retries 1 --losses 0
    expect_code 1 && expect_in "2 pieces were handed to SLURM 2 times, and their tasks ended before they began" "$err" || return
    expect_in "idle/.batch/slurm/102_0.log says why" "$err" && [ "$(grep -c '^sbatch' "$FAKE_SLURM/calls")" -eq 2 ] || fail "$(cat "$FAKE_SLURM/calls")"
}

# Pieces are done by the program that began the batch, whatever it is called.
test_another_name() {
    fresh another
    cp "$skitter" skitter-9.9
    skitter=$work/skitter-9.9 batch -o another --dry-run
    expect_code 0 && expect_in "$work/skitter-9.9 predict" "$out"
}

test_controller_away() {
    fresh away
    "$skitter" batch --command predict --videos v -m "$model" --slurm -o away >away.out 2>away.err &
    local keeper=$!
    for _ in $(seq 50); do [ -e "$FAKE_SLURM/101_0" ] && break || sleep 0.1; done
    touch "$FAKE_SLURM/down" && sleep 1 && rm "$FAKE_SLURM/down"
    wait $keeper || fail "$(cat away.err)" || return
    same single away && expect_in "SLURM does not answer" "$(cat away.err)" && expect_in "SLURM answers again" "$(cat away.err)"
}

test_detached_and_cancelled() {
    fresh detached
    batch -o detached --detach
    expect_code 0 && expect_in "--dependency=afterany:101" "$(cat "$FAKE_SLURM/calls")" || return
    for _ in $(seq 100); do [ -e detached/.batch/pieces/0000/0000001.done ] && break || sleep 0.1; done
    run batch merge detached -q && expect_code 0 && same single detached || return
    run batch cancel detached && expect_code 0 && grep -q '^scancel 101' "$FAKE_SLURM/calls" || fail "$(cat "$FAKE_SLURM/calls")"
}

test_no_slurm() {
    PATH=${PATH#*:} run_without batch -o none
}
run_without() {
    [ -x /usr/bin/sbatch ] && return 0
    batch -o none
    expect_code 3 && expect_in "there is no SLURM on this machine" "$err"
}
run_tests
