#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A batch on a cluster that we do not have: how long, how busy, and what gives way first.

Every piece is one event: a node takes the next video, reads it, computes, writes, and takes another. What all nodes share is a file
server with so many operations and bytes a second, and SLURM with so many arrays. Constants are measured (docs/scale.md) unless marked.
    bench/batch_scale.py [--nodes N] [--videos V] [--gpu] ...      without options: the table of docs/scale.md
"""
import argparse
import heapq
import random

MEASURED = {
    "start_s": 0.053,        # a piece's process, beyond the work: bench/batch.sh
    "decode_ms": 0.27,       # a frame of 192 x 160; four times as much is taken, for 640 x 480
    "network_ms": {"cpu": 12.0, "gpu": 1.4},  # a frame, all stages: one thread of an EPYC; an H200 on full HD (both: bench/README.md)
    "merge_us": 83.0,        # a frame: found parts read, tracked, written; 1800 frames against 300
    "ops_piece": 133,        # operations on the shared file system: strace
    "beat_s": 5.0,           # one write
    "bytes_frame": 2300,     # results of four animals: journal, csv, jsonl, tracks
    "look_us": 26.0,         # processor time to read the file of a piece that is done: 20 000 of them
    "list_ops": 6,           # operations for a thousand pieces that are not begun: strace of a status of 200 000
}


def simulate(nodes, videos, frames, video_bytes, gpu, server_ops, server_bytes, mtbf_h, seed=1, batch_of=1, slots=1):
    """Event by event. Returns seconds, share of time the workers computed, operations and bytes a second of the server, lost attempts."""
    rng = random.Random(seed)
    m = MEASURED
    per_frame = max(m["decode_ms"] * 4, m["network_ms"]["gpu" if gpu else "cpu"]) / 1000 + m["merge_us"] * 1e-6
    workers = nodes * slots
    heap = [(rng.random() * 5, i) for i in range(min(workers, videos))]
    heapq.heapify(heap)
    server_free_ops = server_free_bytes = 0.0
    left, busy, lost, end = videos, 0.0, 0, 0.0
    length = lambda: max(1, int(rng.lognormvariate(0, 0.6) / 1.197 * frames))
    while heap:
        now, worker = heapq.heappop(heap)
        end = max(end, now)
        take = min(batch_of, left)
        if take == 0:
            continue
        left -= take
        n = sum(length() for _ in range(take))
        work = n * per_frame
        ops = m["ops_piece"] * take + work / m["beat_s"]
        moved = n / frames * video_bytes + n * m["bytes_frame"]
        # the server does one thing after the other; a piece waits for its share
        server_free_ops = max(server_free_ops, now) + ops / server_ops
        server_free_bytes = max(server_free_bytes, now) + moved / server_bytes
        waits = max(server_free_ops, server_free_bytes) - now
        seconds = m["start_s"] + max(work, waits)
        if mtbf_h and rng.random() < seconds / (mtbf_h * 3600):  # its node fails half way; the next attempt goes on from the journal
            lost += 1
            seconds += 60 + m["start_s"]
        busy += work
        heapq.heappush(heap, (now + seconds, worker))
    ops = videos * m["ops_piece"] + busy / m["beat_s"]
    return end, busy / (end * workers), ops / end, videos * (video_bytes + frames * m["bytes_frame"]) / end, lost


def looks(videos, done, nfs_ms=0.5):
    """Seconds of one look of who looks after the batch: folders listed, files of newly done pieces read once."""
    shards = videos / 1000
    return shards * MEASURED["list_ops"] * nfs_ms / 1000, done * (2 * nfs_ms / 1000 + MEASURED["look_us"] * 1e-6)


def table(args):
    print(f"{args.frames} frames a video of {args.megabytes} MB, a server of {args.server_ops} operations and {args.server_gb} GB a second")
    print("nodes   videos  what   hours  busy  ops/s  MB/s  lost  a look, s")
    for gpu in (False, True):
        for nodes, videos in ((1, 100), (10, 1000), (100, 10000), (100, 100000), (1000, 100000), (1000, 1000000)):
            if gpu and nodes == 1:
                continue
            s, busy, ops, bps, lost = simulate(nodes, videos, args.frames, args.megabytes * 1e6, gpu, args.server_ops, args.server_gb * 1e9,
                                               args.mtbf, batch_of=args.pieces_per_task)
            listed, _ = looks(videos, 0)
            print(f"{nodes:5d} {videos:8d}  {'gpu' if gpu else 'cpu'} {s / 3600:8.1f} {100 * busy:4.0f}% {ops:6.0f} {bps / 1e6:5.0f} {lost:5d} {listed:8.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--videos", type=int)
    parser.add_argument("--frames", type=int, default=18000, help="ten minutes at 30")
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--server-ops", type=float, default=10000)
    parser.add_argument("--server-gb", type=float, default=5)
    parser.add_argument("--mtbf", type=float, default=10000, help="hours a node lives")
    parser.add_argument("--pieces-per-task", type=int, default=1)
    a = parser.parse_args()
    if not a.nodes:
        table(a)
    else:
        s, busy, ops, bps, lost = simulate(a.nodes, a.videos, a.frames, a.megabytes * 1e6, a.gpu, a.server_ops, a.server_gb * 1e9, a.mtbf,
                                           batch_of=a.pieces_per_task)
        print(f"{s / 3600:.2f} h, {100 * busy:.1f} % busy, {ops:.0f} operations and {bps / 1e6:.0f} MB a second, {lost} lost")
