#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a person meets first: no arguments, help, version, typing mistakes, broken output.
. "$(dirname "$0")/../support/shell.sh"

commands() { "$skitter" | sed -n 's/^  \([a-z]*\)  .*/\1/p'; }

test_no_arguments_give_an_overview() {
    run && expect_code 0 && expect_in "Usage: skitter COMMAND" "$out" && expect_in "version" "$out" && [ -z "$err" ]
}

test_every_command_explains_itself() {
    [ "$(commands | wc -l)" -ge 4 ] || fail "the overview lists too few commands"
    for command in $(commands); do
        run "$command" --help && expect_code 0 && expect_in "Usage: skitter $command" "$out" &&
            expect_in "Examples:" "$out" && expect_in "  skitter" "${out#*Examples:}" || return 1
        local page=$out
        run help "$command" && expect_code 0 && [ "$out" = "$page" ] || fail "'help $command' is not the same page" ||
            return 1
        [ -z "$(awk 'length > 100' <<<"$page")" ] || fail "$command: help is wider than 100 columns" || return 1
    done
}

test_help_wins_over_mistakes() {
    run version --jsno --help && expect_code 0 && expect_in "Usage: skitter version" "$out"
}

test_version() {
    run --version && expect_code 0 && expect_in "skitter $(cat "$SKITTER_TEST_SOURCE/VERSION")" "$out" &&
        expect_in "FFmpeg" "$out" && expect_in "CUDA" "$out" && expect_in "processor" "$out"
}

test_version_json() {
    run --version --json && expect_code 0 &&
        expect_in "\"version\": \"$(cat "$SKITTER_TEST_SOURCE/VERSION")\"" "$out" &&
        expect_in '"commit"' "$out" && expect_in '"ffmpeg"' "$out" || return 1
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(sys.stdin)["cpu"]["model"]' <<<"$out" || fail "not JSON: $out"
    fi
}

test_mistyped_command() {
    run verison && expect_code 2 && expect_in "skitter: error: there is no command 'verison'" "$err" &&
        expect_in "did you mean 'skitter version'?" "$err" && [ -z "$out" ] || return 1
    run xyzzyplugh && expect_code 2 && expect_in "'skitter help' lists them" "$err"
}

test_mistyped_option() {
    run version --jsno && expect_code 2 && expect_in "did you mean '--json'?" "$err" || return 1
    run --verison && expect_code 2 && expect_in "did you mean '--version'?" "$err" || return 1
    run version --json=yes && expect_code 2 && expect_in "takes no value" "$err" || return 1
    run version surplus && expect_code 2 && expect_in "no use for 'surplus'" "$err" || return 1
    run completion && expect_code 2 && expect_in "needs a shell" "$err" || return 1
    run completion bsh && expect_code 2 && expect_in "did you mean 'bash'?" "$err"
}

test_options_may_stand_before_the_command() {
    run -q --json version && expect_code 0 && expect_in '"version"' "$out"
}

test_closed_output() {
    "$skitter" --help >&- 2>"$work/stderr"
    code=$? err=$(cat "$work/stderr")
    expect_code 1 && expect_in "standard output could not be written" "$err" || return 1
    # all three closed: nobody to tell, but no crash and no success
    "$skitter" --help <&- >&- 2>&-
    [ $? -eq 1 ]
}

test_full_disk() {
    [ -e /dev/full ] || return 0
    "$skitter" man >/dev/full 2>"$work/stderr"
    code=$? err=$(cat "$work/stderr")
    expect_code 1 && expect_in "No space left on device" "$err"
}

test_closed_pipe_is_quiet() {
    { "$skitter" man; } 2>"$work/stderr" | head -n 1 >/dev/null
    [ ! -s "$work/stderr" ] || fail "stderr: $(cat "$work/stderr")" || return 1
    # where the signal is ignored the write fails instead: not a success, and still nothing to say
    (trap '' PIPE && exec "$skitter" man) 2>"$work/stderr" | true
    [ ! -s "$work/stderr" ] || fail "stderr: $(cat "$work/stderr")"
}

test_no_colours_outside_a_terminal() {
    run --help && [[ $out != *$'\033'* ]] || fail "escape sequences in a pipe" || return 1
    local shown
    script -qec true /dev/null </dev/null >/dev/null 2>&1 || return 0 # no pseudo-terminals here
    shown=$(TERM=xterm script -qec "'$skitter' --help" /dev/null </dev/null)
    [[ $shown == *$'\033'* ]] || fail "no colours in a terminal" || return 1
    shown=$(NO_COLOR=1 TERM=xterm script -qec "'$skitter' --help" /dev/null </dev/null)
    [[ $shown != *$'\033'* ]] || fail "NO_COLOR is not respected"
}

test_wrong_cpu_mask() {
    SKITTER_CPU_MASK=fast run version && expect_code 2 && expect_in "SKITTER_CPU_MASK" "$err"
}

test_works_in_a_read_only_folder() {
    mkdir -p "$work/locked" && chmod a-w "$work/locked" && cd "$work/locked" && run --version && expect_code 0
}

run_tests
