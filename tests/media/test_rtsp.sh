#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# RTSP from the small server of Debian's package rtsp-server-perl, which speaks UDP only: it is read, and found again after
# it was killed.
# shellcheck source=tests/support/streams.sh
source "$SKITTER_TEST_SOURCE/tests/support/streams.sh"
command -v rtsp-server-perl >/dev/null || { echo "skipped: no RTSP server (apt-get install rtsp-server-perl)"; exit 77; }

start_rtsp() {
    rtsp-server-perl -c $((port + 6)) -s $((port + 7)) --client_listen_address 127.0.0.1 --source_listen_address 127.0.0.1 \
        --rtp_start_port $((port + 100 - port % 2)) >/dev/null 2>&1 &
    rtsp=$!
    disown $rtsp
    children+=("$rtsp")
    listening $((port + 6)) && listening $((port + 7)) || return
    for _ in 1 2 3 4 5; do # who publishes gives up at once where the server is not ready
        serve rtsp mpeg4 "rtsp://127.0.0.1:$((port + 7))/cam" -rtsp_transport udp
        sleep 1.5
        kill -0 "$server" 2>/dev/null && return
    done
}
test_rtsp_drop_out() {
    start_rtsp
    predict "rtsp://127.0.0.1:$((port + 6))/cam" rtsp --frames 0:100
    wait_lines rtsp 10 || return
    end "$server"
    end "$rtsp"
    sleep 1
    start_rtsp
    ended rtsp
    end "$server"
    end "$rtsp"
    expect_code 0 && expect_in "connected again after" "$err" && expect_in '"outages": 1' "$out"
}
run_tests
