#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Streams from servers on this machine: HTTP (MPEG-TS, MJPEG, a file) and UDP. A server that is killed and started again is
# found again, and the run says so; Ctrl-C ends a run while its stream is away; patience has an end.
# shellcheck source=tests/support/streams.sh
source "$SKITTER_TEST_SOURCE/tests/support/streams.sh"

test_http_drop_out() {
    local address=http://127.0.0.1:$port/a.ts
    serve mpegts mpeg2video "$address" -listen 1
    listening "$port" || return
    predict "$address" outage --frames 0:70
    wait_lines outage 10 || return
    end "$server"
    sleep 1
    serve mpegts mpeg2video "$address" -listen 1
    ended outage
    end "$server"
    expect_code 0 && expect_in "connecting again" "$err" && expect_in "connected again after" "$err" &&
        expect_in '"outages": 1' "$out" && expect_in '"connected": true' "$out" &&
        expect_in '"outages": 1' "$(cat "$work/outage/run.json")"
}

test_ctrl_c_while_away() {
    local address=http://127.0.0.1:$((port + 1))/a.ts
    serve mpegts mpeg2video "$address" -listen 1
    listening $((port + 1)) || return
    predict "$address" away
    wait_lines away 5 || return
    end "$server"
    wait_said away "connecting again" || return
    kill -INT "$(pgrep -P "$run")"
    ended away
    expect_code 130 && expect_in '"state": "stopped"' "$(cat "$work/away/run.json")" &&
        expect_in '"connected": false' "$(cat "$work/away/run.json")"
}

test_patience_ends() {
    local address=http://127.0.0.1:$((port + 2))/a.ts
    serve mpegts mpeg2video "$address" -listen 1
    listening $((port + 2)) || return
    predict "$address" gone --reconnect 3
    wait_lines gone 5 || return
    end "$server"
    ended gone
    expect_code 1 && expect_in "no frame for 3 s" "$err" && expect_in "Connection refused" "$err"
}

# The first connection has the same patience: a server may come after its reader, and one that never comes is given up in time.
# What comes carries the wall clock, in order.
test_server_that_comes_late() {
    local address=http://127.0.0.1:$((port + 6))/a.ts begin=$EPOCHSECONDS
    formats=jsonl,csv predict "$address" late --frames 0:10
    wait_said late "Connection refused" || return
    serve mpegts mpeg2video "$address" -listen 1
    ended late
    end "$server"
    expect_code 0 && expect_in "Connection refused; trying again for 60 s" "$err" &&
        expect_in "connected after" "$err" || return
    grep -o '"utc":"[^"]*Z"' "$work/late/results.jsonl" | cut -d'"' -f4 >"$work/clock"
    [ "$(wc -l <"$work/clock")" -eq "$(lines late)" ] && sort -C "$work/clock" || fail "clocks: $(cat "$work/clock")" || return
    local first
    first=$(date -d "$(head -n 1 "$work/clock")" +%s) || return
    [ "$first" -ge "$begin" ] && [ "$first" -le "$EPOCHSECONDS" ] || fail "$first is not between $begin and now" || return
    grep -q "^source,frame,time,utc,instance" "$work/late/results.csv" || fail "the table has no clock" || return
    begin=$EPOCHSECONDS
    run predict "http://127.0.0.1:$((port + 7))/never" -m "$model" -o "$work/never" --reconnect 1
    expect_code 1 && expect_in "gave up after 1 s" "$err" && [ $((EPOCHSECONDS - begin)) -le 30 ] # of 60 without the option
}

test_mjpeg_camera() {
    local address=http://127.0.0.1:$((port + 3))/cam.mjpg
    pixels=yuvj420p serve mpjpeg mjpeg "$address" -listen 1
    listening $((port + 3)) || return
    predict "$address" mjpeg --frames 0:10
    ended mjpeg
    end "$server"
    expect_code 0 && [ "$(lines mjpeg)" -ge 5 ]
}

test_udp() {
    predict "udp://127.0.0.1:$((port + 4))" udp --frames 0:10
    serve mpegts mpeg2video "udp://127.0.0.1:$((port + 4))"
    ended udp
    end "$server"
    expect_code 0 && [ "$(lines udp)" -ge 5 ]
}

# A file behind a server is a video: every frame once, then the end.
test_http_file() {
    command -v python3 >/dev/null || return 0
    mkdir "$work/files"
    ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=160x128:r=20:d=2 -c:v mpeg2video -f mpegts "$work/files/a.ts"
    python3 -m http.server --bind 127.0.0.1 --directory "$work/files" $((port + 5)) >/dev/null 2>&1 &
    local files=$!
    disown $files
    children+=("$files")
    listening $((port + 5)) || return
    predict "http://127.0.0.1:$((port + 5))/a.ts" file
    ended file
    end "$files"
    expect_code 0 && [ "$(lines file)" -eq 40 ] && expect_in '"source_kind": "video"' "$(cat "$work/file/run.json")"
}

test_hardware_decoding_falls_back() {
    ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=160x128:r=20:d=0.5 -c:v libx264 -pix_fmt yuv420p "$work/v.mp4" ||
        ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=160x128:r=20:d=0.5 -c:v mpeg4 -y "$work/v.mp4"
    run predict "$work/v.mp4" -m "$model" -o "$work/hw" --hwaccel vaapi --format jsonl
    expect_code 0 && [ "$(lines hw)" -eq 10 ] || return
    if [ ! -e /dev/dri ]; then
        expect_in "decoded by the processor" "$err" && expect_in '"hwaccel": ""' "$(cat "$work/hw/run.json")" || return
    fi
    run predict "$work/v.mp4" -m "$model" -o "$work/hw2" --hwaccel auto --format jsonl
    expect_code 0 && [ "$(lines hw2)" -eq 10 ] || return
    run predict "$work/v.mp4" -m "$model" -o "$work/hw3" --hwaccel none --format jsonl
    expect_code 0 && [ -z "$(grep "decoded by the processor" <<<"$err")" ] || return
    run predict "$work/v.mp4" -m "$model" -o "$work/hw4" --hwaccel nonsense
    expect_code 2 && expect_in "vaapi" "$err"
}
run_tests
