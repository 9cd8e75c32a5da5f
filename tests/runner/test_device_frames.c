/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that lie in a GPU's memory, through the runner, on the cuda engine with a GPU of loops behind it (its "device
 * memory" is the host's): the same instances as from the same pixels in memory, and held until the device has read them. */
#include "runner_fixture.h"

#include "kernels/nv12.h"

#include <stdatomic.h>
#include <math.h>

extern const sk_engine gpu_engine;
static const sk_engine *const engines[] = {&gpu_engine};

enum { W = 48, H = 40, STRIDE = W + 16, COUNT = 9 };

typedef struct clip {
    sk_frame there[COUNT], here[COUNT]; /* NV12 on the device; the same as RGB in memory */
    atomic_int given_back;              /* frames are given back by several threads */
} clip;

static void make_clip(clip *c)
{
    *c = (clip){.given_back = 0};
    for (int k = 0; k < COUNT; k++) {
        uint32_t noise = 31u * (uint32_t)k + 7u;
        uint8_t *nv12 = malloc(STRIDE * H * 3 / 2), *rgb = malloc(W * H * 3);
        for (int i = 0; i < STRIDE * H * 3 / 2; i++) {
            noise = noise * 1664525u + 1013904223u;
            nv12[i] = (uint8_t)(noise >> 24);
        }
        c->there[k] = (sk_frame){.format = SK_PIXEL_NV12,
                                 .width = W,
                                 .height = H,
                                 .stride = STRIDE,
                                 .data = nv12,
                                 .index = k,
                                 .matrix = SK_COLOUR_BT709};
        sk_yuv_to_rgb(&c->there[k], rgb);
        c->there[k].place = SK_PLACE_CUDA;
        c->here[k] = (sk_frame){
            .format = SK_PIXEL_RGB, .width = W, .height = H, .stride = W * 3, .data = rgb, .index = k};
    }
}

static void free_clip(clip *c)
{
    for (int k = 0; k < COUNT; k++) {
        free(c->there[k].data);
        free(c->here[k].data);
    }
}

static void given_back(void *context, const sk_frame *frame)
{
    (void)frame;
    atomic_fetch_add(&((clip *)context)->given_back, 1);
}

static sk_runner_settings settings_for(clip *c, int batch)
{
    sk_runner_settings s = tiny_settings();
    s.devices = "reference";
    s.frames = SK_RUNNER_BORROW;
    s.frame_done = given_back;
    s.context = c;
    s.quick_open = true;
    s.detector.batch = batch;
    s.like = &c->there[0];
    return s;
}

enum { MOST = 20 };
typedef struct kept {
    int32_t count;
    sk_found items[MOST];
} kept;

static void assert_alike(const sk_instances *a, const kept *b)
{
    assert_int_equal(a->count, b->count);
    for (int32_t i = 0; i < a->count; i++) {
        assert_true(fabsf(a->items[i].score - b->items[i].score) < 1e-6f);
        for (int k = 0; k < 4; k++)
            assert_true(fabsf(a->items[i].box[k] - b->items[i].box[k]) < 1e-4f);
    }
}

/* One runner, first with frames in memory, then on the device. */
static void run_both(int batch)
{
    clip c;
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_model *model = tiny_model();
    make_clip(&c);
    sk_runner_settings s = settings_for(&c, batch);
    kept found[COUNT];
    assert_ok(sk_runner_open_on((const sk_model *const *)&model, 1, &s, engines, &r, &err), &err);
    assert_true(sk_runner_takes_device_frames(r, 0));
    assert_false(sk_runner_takes_device_frames(r, 1));
    int total = 0;
    sk_frame nv12[COUNT];
    for (int k = 0; k < COUNT; k++) {
        nv12[k] = c.there[k];
        nv12[k].place = SK_PLACE_HOST; /* the same in memory */
    }
    for (int there = 0; there < 3; there++) {
        const sk_frame *list = there == 0 ? c.here : there == 1 ? c.there : nv12;
        int out = 0;
        for (int k = 0; k < COUNT || out < COUNT;) {
            sk_runner_result result;
            if (k < COUNT && sk_runner_in_flight(r) < sk_runner_depth(r)) {
                assert_ok(sk_runner_submit(r, &list[k], NULL, NULL, &err), &err);
                if (++k == COUNT)
                    sk_runner_flush(r);
                continue;
            }
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            assert_int_equal(result.index, out);
            if (there) {
                assert_alike(result.instances, &found[out]);
            } else {
                assert_true(result.instances->count <= MOST);
                found[out].count = result.instances->count;
                memcpy(found[out].items, result.instances->items,
                       (size_t)result.instances->count * sizeof(sk_found));
                total += result.instances->count;
            }
            out++;
        }
    }
    assert_true(total > 0);
    assert_int_equal(atomic_load(&c.given_back), 3 * COUNT);
    sk_runner_close(&r);
    sk_model_close(&model);
    free_clip(&c);
}

static void test_same_instances(void **state)
{
    (void)state;
    run_both(1);
    run_both(4); /* the last batch is not full */
}

static void test_refusals(void **state)
{
    (void)state;
    clip c;
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_result result;
    sk_model *model = tiny_model();
    make_clip(&c);
    sk_runner_settings s = settings_for(&c, 1);
    assert_ok(sk_runner_open_on((const sk_model *const *)&model, 1, &s, engines, &r, &err), &err);
    /* on a device this runner is not on: that frame fails, the next one does not */
    sk_frame elsewhere = c.there[1];
    elsewhere.device = 3;
    assert_int_equal(sk_runner_run(r, &elsewhere, NULL, &result, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "lies in the memory of GPU 3"));
    assert_ok(sk_runner_run(r, &c.there[1], NULL, &result, &err), &err);
    sk_frame in_memory = c.there[1];
    in_memory.place = SK_PLACE_HOST;
    assert_ok(sk_runner_run(r, &in_memory, NULL, &result, &err), &err);
    assert_true(sk_runner_takes_nv12(r));
    const sk_runner_call check = {.check_pcc = true};
    assert_int_equal(sk_runner_submit(r, &c.there[1], &check, NULL, &err), SK_ERR_UNSUPPORTED);
    sk_runner_close(&r);
    /* a runner that copies pixels, and one on an engine that cannot read them */
    s.frames = SK_RUNNER_COPY;
    assert_ok(sk_runner_open_on((const sk_model *const *)&model, 1, &s, engines, &r, &err), &err);
    assert_false(sk_runner_takes_device_frames(r, 0));
    assert_int_equal(sk_runner_submit(r, &c.there[1], NULL, NULL, &err), SK_ERR_UNSUPPORTED);
    assert_ok(sk_runner_run(r, &in_memory, NULL, &result, &err), &err); /* copied, chroma too */
    sk_runner_close(&r);
    s = settings_for(&c, 1);
    s.like = NULL;
    s.devices = "cpu";
    assert_ok(sk_runner_open((const sk_model *const *)&model, 1, &s, &r, &err), &err);
    assert_false(sk_runner_takes_device_frames(r, 0));
    assert_int_equal(sk_runner_run(r, &c.there[1], NULL, &result, &err), SK_ERR_UNSUPPORTED);
    assert_false(sk_runner_takes_nv12(r));
    assert_ok(sk_runner_run(r, &in_memory, NULL, &result, &err), &err); /* made RGB on the host */
    assert_ok(sk_runner_run(r, &c.here[1], NULL, &result, &err), &err);
    sk_runner_close(&r);
    sk_model_close(&model);
    free_clip(&c);
}

/* Frames of many sizes in memory: the host fits them in from then on. Frames on the device are taken all the same, since nobody
 * else can read them. */
static void test_after_many_sizes(void **state)
{
    (void)state;
    clip c;
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_result result;
    sk_model *model = tiny_model();
    make_clip(&c);
    sk_runner_settings s = settings_for(&c, 1);
    assert_ok(sk_runner_open_on((const sk_model *const *)&model, 1, &s, engines, &r, &err), &err);
    for (int k = 0; k < 2 * COUNT; k++) {
        sk_frame part = c.here[k % COUNT];
        part.width -= 2 * (k % 9);
        assert_ok(sk_runner_run(r, &part, NULL, &result, &err), &err);
        assert_ok(sk_runner_run(r, &c.there[k % COUNT], NULL, &result, &err), &err);
    }
    sk_runner_close(&r);
    sk_model_close(&model);
    free_clip(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_instances), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_after_many_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
