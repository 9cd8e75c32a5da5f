#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter track on a camera: every frame is told as it comes, and who was there before a drop-out is so afterwards.
# shellcheck source=tests/support/streams.sh
source "$(dirname "$0")/../support/streams.sh"
cd "$work" || exit 1

# A dark animal on a light ground that moves to and fro; it is not there in the first frames, which are the background. $1: since when.
camera() {
    ffmpeg -v quiet -nostdin -re -f lavfi -i "color=white:s=160x120:r=20[b];color=black:s=24x12:r=20[a];[b][a]overlay=x='60+20*sin(2*t)':y='if(lt(t,$1),-50,50)':eval=frame" \
        -c:v mjpeg -q:v 3 -f mpjpeg -listen 1 "http://127.0.0.1:$port/live.mjpg" >/dev/null 2>&1 &
    server=$!
    disown $server
    children+=("$server")
}
# Lines with the time at which they came, in front.
stamped() { while IFS= read -r line; do echo "$EPOCHREALTIME $line"; done; }

test_delay_and_drop_out() {
    camera 0.5
    listening "$port" || return
    timeout 60 "$skitter" track "http://127.0.0.1:$port/live.mjpg" --detector background -o - --reconnect 20 --frames 0:80 2>said | stamped >told &
    local i
    for i in $(seq 200); do [ "$(grep -c '"track"' told)" -ge 20 ] && break; sleep 0.1; done
    [ "$(grep -c '"track"' told)" -ge 20 ] || fail "not told: $(tail -n 2 told) $(cat said)" || return
    end "$server"
    sleep 0.5
    camera 0 # its guest is at the door already
    wait %1 2>/dev/null
    end "$server"
    [ "$(grep -c . told)" -ge 60 ] && grep -q "connected again" said || fail "nothing after the drop-out: $(cat said)" || return
    # one animal, one identity, before and after
    [ "$(grep -o '"track":[0-9]*' told | sort -u)" = '"track":0' ] || fail "$(grep -o '"track":[0-9]*' told | sort | uniq -c)" || return
    # a frame is told when it was looked at and waits for no other: half of them within half a second, also on a busy machine
    local late
    late=$(sed 's/^\([0-9.]*\) .*"utc":"\([^"]*\)".*/\1 \2/' told | while read -r came sent; do
        echo "$came $(date -d "$sent" +%s.%N)"
    done | awk '{ print $1 - $2 }' | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
    awk -v d="$late" 'BEGIN { exit !(d >= 0 && d < 0.5) }' || fail "a frame is told after $late s"
}

run_tests
