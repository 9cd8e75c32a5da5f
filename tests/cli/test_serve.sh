#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 'skitter serve' from a terminal: the link, who needs a password, TLS, two at once, how it ends, and that a run outlives it.
. "$(dirname "$0")/../support/shell.sh"
export SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
"$skitter" serve --port 0 "$work" </dev/null >"$work/try" 2>&1 &
try=$!
for _ in $(seq 100); do [ -s "$work/try" ] && break; sleep 0.05; done
kill -INT $try 2>/dev/null
wait $try
if grep -q "libmicrohttpd" "$work/try"; then
    echo "skipped: $(cat "$work/try")"
    exit 77
fi

# start NAME ARGUMENTS…: a server in the background; its link in $link, its process in $server
start() {
    local name=$1
    shift
    : >"$work/$name.out" # another test's link is not this one's; the process truncates it only when it has begun
    "$skitter" serve --port 0 "$@" </dev/null >"$work/$name.out" 2>"$work/$name.err" &
    server=$!
    for _ in $(seq 200); do
        link=$(cat "$work/$name.out")
        [ -n "$link" ] && return 0
        sleep 0.05
    done
    fail "no link came: $(cat "$work/$name.err")"
}
stop() { # the process ends in order, with 0
    kill -"${1:-INT}" $server
    wait $server
    code=$?
    [ $code -eq 0 ] || fail "ended with $code"
}
# ask METHOD PATH [BODY]: with the link's token; prints the status and the answer
ask() {
    python3 - "$link" "$@" <<'PYTHON'
import ssl, sys, urllib.error, urllib.parse, urllib.request
link, method, path = sys.argv[1:4]
body = sys.argv[4].encode() if len(sys.argv) > 4 else None
base, token = link.split("/?token=")
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
request = urllib.request.Request(base + path, data=body, method=method, headers={"Authorization": "Bearer " + token})
try:
    with urllib.request.urlopen(request, context=context, timeout=20) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
PYTHON
}

test_the_link_opens_the_server_and_it_ends_in_order() {
    start one "$work" && expect_in "http://127.0.0.1:" "$link" && expect_in "?token=" "$link" &&
        expect_in '200 {"name":"skitter"' "$(ask GET /api/v1/about)" && stop INT
    start two "$work" && stop TERM
}

test_two_at_once() {
    start one "$work" || return 1
    local first=$server port=${link##*:}
    port=${port%%/*}
    start two "$work" || return 1
    stop || return 1
    run serve --port "$port" "$work"
    expect_code 1 && expect_in "--port 0" "$err" || return 1
    server=$first
    stop
}

test_others_need_a_password() {
    run serve --port 0 --host 0.0.0.0 "$work"
    expect_code 2 && expect_in "password" "$err" || return 1
    : >"$work/empty"
    run serve --port 0 --host 0.0.0.0 --password "$work/empty" "$work"
    expect_code 2 && expect_in "first line" "$err" || return 1
    run serve --port 0 --certificate "$work/none.pem" "$work"
    expect_code 2 && expect_in "belong together" "$err" || return 1
    run serve --port 0 "$work/no such folder"
    expect_code 1 || return 1
    echo "open sesame" >"$work/password"
    start wide --host 0.0.0.0 --password "$work/password" "$work" && expect_in "nothing is encrypted" "$(cat "$work/wide.err")" && stop
}

test_tls() {
    local tls=$SKITTER_TEST_SOURCE/tests/fixtures/tls
    start tls --certificate "$tls/certificate.pem" --key "$tls/key.pem" "$work" && expect_in "https://127.0.0.1:" "$link" &&
        expect_in '200 {"name":"skitter"' "$(ask GET /api/v1/about)" && stop || return 1
    run serve --port 0 --certificate "$tls/key.pem" --key "$tls/certificate.pem" "$work"
    expect_code 1 && expect_in "PEM" "$err"
}

# The run goes on when the server is gone, also by kill -9; the next one tells how it went.
test_a_run_outlives_the_server() {
    "$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; return; }
    local model=$SKITTER_TEST_SOURCE/share/models/demo-obb.pt answer
    cp "$model" "$work/model.pt"
    "$skitter" scene -o "$work/scene.mp4" --seconds 1 --size 320x240 -q || return 1
    start one "$work" || return 1
    answer=$(ask POST /api/v1/runs "{\"command\":\"predict\",\"settings\":{\"source\":[\"scene.mp4\"],\"model\":[\"model.pt\"],\"out\":\"kept\"}}")
    expect_in '"state":"running"' "$answer" || return 1
    kill -KILL $server
    wait $server 2>/dev/null
    for _ in $(seq 200); do [ -e "$work/kept/results.csv" ] && grep -q '"finished"' "$work/kept/run.json" && break; sleep 0.1; done
    start two "$work" || return 1
    for _ in $(seq 50); do
        answer=$(ask GET /api/v1/runs)
        case $answer in *'"state":"done"'*) break ;; esac
        sleep 0.1
    done
    expect_in '"state":"done"' "$answer" && expect_in '"frame":30' "$answer" && stop
}

run_tests
