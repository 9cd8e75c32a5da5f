# SPDX-License-Identifier: Apache-2.0
# What the tests with streams share; sourced. ffmpeg serves a moving picture, skitter reads it in the background.
# shellcheck source=tests/support/shell.sh
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without FFmpeg"; exit 77; }
command -v ffmpeg >/dev/null || { echo "skipped: no ffmpeg to serve streams (apt-get install ffmpeg)"; exit 77; }
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_no_decoder
# below the ports that the system gives to connections: other tests make thousands of those
port=$((20000 + $$ % 12000))
children=()
trap 'kill -9 "${children[@]}" 2>/dev/null; rm -rf "$work"' EXIT

# serve FORMAT CODEC ADDRESS [ffmpeg's options…]: a moving picture, 20 a second; the process is $server.
serve() {
    ffmpeg -v quiet -nostdin -re -f lavfi -i testsrc2=s=160x128:r=20 -c:v "$2" -g 10 -pix_fmt "${pixels:-yuv420p}" -f "$1" \
        "${@:4}" "$3" >/dev/null 2>&1 &
    server=$!
    disown $server
    children+=("$server")
}
# Until something listens on this port, a quarter of a minute at most; asking by connecting would be the one guest some servers
# take.
listening() {
    for _ in $(seq 150); do
        grep -q ":$(printf %04X "$1") 00000000:0000 0A" /proc/net/tcp && return 0
        sleep 0.1
    done
    fail "nothing listens on port $1"
}
end() { kill -9 "$1" 2>/dev/null; }
# predict SOURCE OUT [options…] in the background; its process is $run, its streams OUT.json and OUT.log.
predict() {
    timeout 60 "$skitter" predict "$1" -m "$model" -o "$work/$2" --format "${formats:-jsonl}" --json "${@:3}" >"$work/$2.json" 2>"$work/$2.log" &
    run=$!
    children+=("$run")
}
lines() { cat "$work/$1/results.jsonl" 2>/dev/null | wc -l; }
wait_lines() { # OUT N: until there are so many results, half a minute at most
    for _ in $(seq 300); do
        [ "$(lines "$1")" -ge "$2" ] && return 0
        sleep 0.1
    done
    fail "$1: only $(lines "$1") frames of $2: $(cat "$work/$1.log")"
}
wait_said() { # OUT WORDS: until it has said so, half a minute at most
    for _ in $(seq 300); do
        grep -q "$2" "$work/$1.log" && return 0
        sleep 0.1
    done
    fail "$1: has not said '$2': $(cat "$work/$1.log")"
}
ended() { # waits for $run; its exit code in $code
    wait "$run"
    code=$?
    err=$(cat "$work/$1.log")
    out=$(cat "$work/$1.json")
}
