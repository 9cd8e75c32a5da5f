/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on their way to the cuda engine, on a GPU of loops: only the rows that count go up, from pinned memory or any
 * other, with gaps between rows and frames or without, and the picture is the same. */
#include "random_graph.h"

#include "engines/cuda/session.h"
#include "engines/offload.h"

#include <string.h>

extern const sk_engine gpu_engine;
extern int gpu_emulate_pinned;
extern _Thread_local int gpu_emulate_early;
extern int64_t gpu_emulate_live;
extern int gpu_emulate_fail_launch, gpu_emulate_late;

enum { SIDE = 32, BATCH = 3 };

static sk_graph *network(int side)
{
    random_source r = {5};
    sk_graph *g = NULL;
    sk_builder b;
    const sk_shape shape = sk_shape_of(4, BATCH, 3, side, side);
    random_map x = random_begin(&g, &b, &shape);
    x = random_conv(&b, &r, x, 16, 3, 2, 1);
    sk_b_output(&b, x.v, "out");
    assert_int_equal(b.status, SK_OK);
    return g;
}

static sk_session_settings plain_settings(void)
{
    sk_session_settings s = sk_session_defaults();
    s.cache_dir = "";
    strcpy(s.options, "tune=off");
    s.input = SK_INPUT_U8_HWC;
    return s;
}

/* What the pictures give that tasks/letterbox makes of these frames. */
static float *expected(const sk_graph *g, const sk_letterbox_geometry *box, const sk_frame *like,
                       const uint8_t *frames, ptrdiff_t apart)
{
    sk_error err = {0};
    sk_letterbox *letterbox = NULL;
    sk_session *session = NULL;
    sk_tensor out;
    static uint8_t pictures[BATCH * SIDE * SIDE * 3];
    const sk_session_settings s = plain_settings();
    const sk_shape shape = sk_shape_of(4, BATCH, 3, SIDE, SIDE);
    assert_ok(sk_letterbox_open(box, like->format, 1, &letterbox, &err), &err);
    for (int n = 0; n < BATCH; n++) {
        sk_frame frame = *like;
        frame.data = (uint8_t *)(uintptr_t)frames + n * apart;
        assert_ok(sk_letterbox_run(letterbox, &frame, pictures + n * SIDE * SIDE * 3, &err), &err);
    }
    sk_letterbox_close(&letterbox);
    sk_session_input in = {.data = pictures};
    assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), &err);
    assert_ok(sk_session_capture(session, &err), &err);
    assert_ok(sk_session_run(session, &in, 1, &out, 1, &err), &err);
    float *copy = malloc(sk_tensor_bytes(&out));
    memcpy(copy, out.data, sk_tensor_bytes(&out));
    sk_session_close(&session);
    return copy;
}

static void check_frames(const sk_graph *g, int w, int h, sk_pixel_format format, int row_gap,
                         int picture_gap, const sk_row_strips *strips, int copiers)
{
    sk_error err = {0};
    sk_letterbox_geometry box;
    sk_frame_fit fit;
    const int channels = format == SK_PIXEL_GRAY ? 1 : 3;
    const ptrdiff_t row = w * channels + row_gap, apart = row * h + picture_gap;
    const sk_frame like = {.format = format, .width = w, .height = h, .stride = row};
    uint8_t *frames = malloc((size_t)(BATCH * apart));
    random_source r = {(uint64_t)(w * 7 + h)};
    for (ptrdiff_t i = 0; i < BATCH * apart; i++)
        frames[i] = (uint8_t)random_next(&r);
    assert_ok(sk_letterbox_fit(w, h, SIDE, SIDE, 0, &box, &err), &err);
    assert_true(sk_offload_fit(&box, &like, &fit));
    float *want = expected(g, &box, &like, frames, apart);
    const sk_shape shape = sk_shape_of(4, BATCH, 3, SIDE, SIDE);
    sk_session_settings s = plain_settings();
    sk_session *session = NULL;
    sk_tensor out;
    s.input = SK_INPUT_FRAMES;
    s.stages.fit = &fit;
    s.threads = copiers;
    assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), &err);
    assert_ok(sk_session_capture(session, &err), &err);
    assert_memory_equal(&((gpu_session *)session)->plan.strips, strips, sizeof *strips);
    for (gpu_emulate_pinned = 0; gpu_emulate_pinned < 2; gpu_emulate_pinned++) {
        sk_session_input in = {.data = frames, .row_bytes = row_gap ? row : 0, .picture_bytes = apart};
        gpu_session *own = (gpu_session *)session;
        memset(own->slots[0].device + own->plan.buffers[own->plan.inputs[0]].offset, 0x5a,
               own->plan.buffers[own->plan.inputs[0]].bytes);
        gpu_emulate_early = 0;
        assert_ok(sk_session_run(session, &in, 1, &out, 1, &err), &err);
        assert_memory_equal(out.data, want, sk_tensor_bytes(&out));
        assert_true((own->copiers.team != NULL) == (copiers > 1));
        assert_int_equal(gpu_emulate_early, copiers > 1 && !gpu_emulate_pinned);
    }
    gpu_emulate_pinned = 0;
    sk_session_close(&session);
    free(want);
    free(frames);
    assert_int_equal(gpu_emulate_live, 0);
}

static void test_strips(void **state)
{
    (void)state;
    static const struct {
        int w, h;
        sk_row_strips strips;
    } sizes[] = {
        {96, 54, {1, 3, 1, 18}},   /* one row of three */
        {96, 55, {1, 3, 2, 18}},   /* two of three, of which each needs one or both */
        {192, 108, {2, 6, 2, 18}}, /* two of six */
        {128, 72, {1, 4, 2, 18}},  /* two of four */
        {160, 160, {2, 5, 1, 32}}, /* no border */
        {64, 36, {0}},             /* the mean of 2 x 2 */
        {50, 41, {0}},
        {20, 30, {0}},
        {32, 32, {0}},
    };
    sk_graph *g = network(SIDE);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_GRAY; format++)
            for (int gaps = 0; gaps < 4; gaps++)
                check_frames(g, sizes[i].w, sizes[i].h, (sk_pixel_format)format, gaps & 1 ? 13 : 0,
                             gaps & 2 ? 100 : 0, &sizes[i].strips, 0);
    /* large enough that several threads copy */
    const sk_row_strips of_large = {23, 48, 2, 18};
    for (int gaps = 0; gaps < 4; gaps++)
        check_frames(g, 1536, 864, SK_PIXEL_RGB, gaps & 1 ? 13 : 0, gaps & 2 ? 100 : 0, &of_large,
                     2 + gaps % 2);
    sk_graph_close(&g);
}

/* SLEAP's rules may read every row, whatever the sizes: none may be left out. */
static void test_other_rules(void **state)
{
    (void)state;
    sk_frame_fit fit = {
        .frame_width = 96, .frame_height = 54, .channels = 3, .resized_width = 32, .resized_height = 18};
    sk_row_strips strips;
    sk_error err = {0};
    assert_ok(sk_offload_strips(&fit, &strips, &err), &err);
    assert_int_equal(strips.count, 18);
    fit.nv12 = 1;
    assert_ok(sk_offload_strips(&fit, &strips, &err), &err);
    assert_int_equal(strips.count, 18);
    fit.nv12 = 0;
    for (int rule = SK_FIT_SLEAP; rule <= SK_FIT_SLEAP_OLD; rule++) {
        fit.rule = rule;
        assert_ok(sk_offload_strips(&fit, &strips, &err), &err);
        assert_int_equal(strips.count, 0);
    }
}

/* Pictures larger than the parts they are copied in. */
static void test_parts(void **state)
{
    enum { WIDE = 416, ROW = WIDE * 3 + 16 };
    sk_error err = {0};
    sk_graph *g = network(WIDE);
    const sk_shape shape = sk_shape_of(4, BATCH, 3, WIDE, WIDE);
    sk_session_settings s = plain_settings();
    sk_session *session = NULL;
    sk_tensor out;
    s.threads = *(int *)*state;
    uint8_t *gaps = malloc((size_t)BATCH * WIDE * ROW), *dense = malloc((size_t)BATCH * WIDE * WIDE * 3);
    random_source r = {3};
    for (size_t i = 0; i < (size_t)BATCH * WIDE * ROW; i++)
        gaps[i] = (uint8_t)random_next(&r);
    for (size_t y = 0; y < (size_t)BATCH * WIDE; y++)
        memcpy(dense + y * WIDE * 3, gaps + y * ROW, WIDE * 3);
    assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), &err);
    assert_ok(sk_session_capture(session, &err), &err);
    const sk_session_input ways[2] = {{.data = dense}, {.data = gaps, .row_bytes = ROW}};
    float *first = NULL;
    for (int way = 0; way < 4; way++) {
        gpu_emulate_pinned = way & 1;
        assert_ok(sk_session_run(session, &ways[way / 2], 1, &out, 1, &err), &err);
        if (!first) {
            first = malloc(sk_tensor_bytes(&out));
            memcpy(first, out.data, sk_tensor_bytes(&out));
        }
        assert_memory_equal(out.data, first, sk_tensor_bytes(&out));
        gpu_session *own = (gpu_session *)session;
        assert_memory_equal(own->slots[0].device + own->plan.buffers[own->plan.inputs[0]].offset, dense,
                            (size_t)BATCH * WIDE * WIDE * 3);
        memset(own->slots[0].device + own->plan.buffers[own->plan.inputs[0]].offset, 0x5a,
               (size_t)BATCH * WIDE * WIDE * 3);
    }
    gpu_emulate_pinned = 0;
    free(first);
    free(dense);
    free(gaps);
    sk_session_close(&session);
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

/* A launch fails behind a kernel that waits for its parts: nothing of that is left when the submit returns, and the next one works. */
static void test_failed_launch(void **state)
{
    enum { WIDE = 416 };
    (void)state;
    sk_error err = {0};
    sk_graph *g = network(WIDE);
    const sk_shape shape = sk_shape_of(4, BATCH, 3, WIDE, WIDE);
    sk_session_settings s = plain_settings();
    sk_session *session = NULL;
    sk_tensor out;
    const size_t bytes = (size_t)BATCH * WIDE * WIDE * 3;
    uint8_t *pictures = malloc(bytes);
    s.threads = 3;
    s.slots = 2;
    assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), &err);
    assert_ok(sk_session_capture(session, &err), &err);
    gpu_session *own = (gpu_session *)session;
    const sk_session_input in = {.data = pictures};
    gpu_emulate_late = 1;
    for (int round = 0; round < 3; round++) {
        memset(pictures, 11 * (round + 1), bytes);
        gpu_emulate_early = 0;
        gpu_emulate_fail_launch = 1;
        assert_int_equal(sk_session_submit(session, &in, 1, &err), SK_ERR_MEMORY);
        assert_true(round > 0 ||
                    gpu_emulate_early == 1); /* later the others may be late, and nothing is launched early */
        assert_false(own->lost);
        memset(pictures, 13 * (round + 1), bytes);
        assert_ok(sk_session_run(session, &in, 1, &out, 1, &err), &err);
        const uint8_t *device =
            own->slots[own->base.last_slot].device + own->plan.buffers[own->plan.inputs[0]].offset;
        assert_memory_equal(device, pictures, bytes);
    }
    gpu_emulate_late = 0;
    free(pictures);
    sk_session_close(&session);
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

int main(void)
{
    static int one = 1, three = 3;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strips), cmocka_unit_test(test_other_rules),
                                       cmocka_unit_test_prestate(test_parts, &one),
                                       cmocka_unit_test_prestate(test_parts, &three),
                                       cmocka_unit_test(test_failed_launch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
