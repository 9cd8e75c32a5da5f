#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The completions and the manual, made from the same tables as --help.
. "$(dirname "$0")/../support/shell.sh"

test_bash_completion_parses() {
    run completion bash && expect_code 0 && bash -n <<<"$out"
}

# complete WORDS…: what bash would offer for the last word
complete_words() {
    eval "$("$skitter" completion bash)"
    compopt() { :; } # bash allows it only while completing
    COMP_WORDS=(skitter "$@")
    COMP_CWORD=$#
    _skitter 2>/dev/null
    echo "${COMPREPLY[@]:-}"
}

test_bash_completion_completes() {
    expect_in "version" "$(complete_words ver)" && expect_in "--json" "$(complete_words version --js)" &&
        expect_in "bash" "$(complete_words completion ba)" && expect_in "completion" "$(complete_words help com)" ||
        return 1
    [ "$(complete_words completion zs)" = zsh ] || fail "choices are not completed"
}

test_zsh_completion_parses() {
    run completion zsh && expect_code 0 && expect_in "#compdef skitter" "$out" || return 1
    ! command -v zsh >/dev/null || zsh -n <<<"$out"
}

test_manual_renders() {
    run man && expect_code 0 && expect_in ".SH EXIT STATUS" "$out" || return 1
    command -v groff >/dev/null || return 0
    local page warnings
    page=$(groff -Tutf8 -man -ww -k <<<"$out" 2>"$work/warnings" | sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g')
    warnings=$(cat "$work/warnings")
    [ -z "$warnings" ] || fail "groff: $warnings" || return 1
    expect_in "skitter - detects" "$page" && expect_in "skitter version [options]" "$page" &&
        expect_in "130" "$page"
}

test_help_begins_with_the_usage() {
    run export --help && expect_code 0 && expect_in "skitter export: write a model" "$out" &&
        expect_in "Usage: skitter export MODEL [options]" "$out" || return 1
    run track --help && expect_in "Usage: skitter track [SOURCE...] [options]" "$out"
}

# The pages that a text speaks of are named once, where it speaks of any.
test_help_says_where_the_pages_are() {
    [ -f "$(dirname "$skitter")/../docs/results.md" ] || return 0 # a build that lies elsewhere
    local text
    for text in help "predict --help" "batch --help"; do
        # shellcheck disable=SC2086
        run $text && expect_code 0 && [ "$(grep -c '^Pages called docs/… are in /' <<<"$out")" = 1 ] || fail "$text" || return 1
    done
    run version --help && expect_code 0 && ! grep -q "Pages called" <<<"$out"
}

run_tests
