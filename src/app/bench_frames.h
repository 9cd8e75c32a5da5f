/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BENCH_FRAMES_H
#define SK_APP_BENCH_FRAMES_H

#include "app/bench.h"

/* The benchmark's second figure: frames in ordinary memory, of the network's own size, to instances, all stages included. */
typedef struct sk_bench_frames sk_bench_frames;

/* `options` are the session's; `pictures` are s->batch pictures of that size, borrowed until close. */
sk_status sk_bench_frames_open(const sk_bench_settings *s, const char *runtime, const char *options,
                               int32_t channels, uint8_t *pictures, int32_t height, int32_t width,
                               sk_bench_frames **out, sk_error *err) SK_MUST_CHECK;
/* A batch handed in until its last result is out. */
sk_status sk_bench_frames_run(sk_bench_frames *frames, double *ms, sk_error *err) SK_MUST_CHECK;
void sk_bench_frames_close(sk_bench_frames **frames);

#endif
