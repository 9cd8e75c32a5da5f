/* SPDX-License-Identifier: Apache-2.0 */
/* Many GPUs, and one several times: the cuda plugin on GPUs of loops (gpu_emulate.c), each with a speed of its own, found and named
 * as real ones are. Frames are shared out by speed, come out in order, and none is lost with a device. */
#include "one_model.h"

#include "base/cpu.h"
#include "runner/devices.h"

#include <dlfcn.h>
#include <stdlib.h>

static sk_runner *open_on(const char *emulated, const char *devices, bool failover)
{
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_settings s;
    setenv("SKITTER_EMULATE", emulated, 1);
    sk_runner_defaults(&s);
    s.detector.runtime = "cuda";
    s.detector.precision = "f32";
    s.detector.height = s.detector.width = 64;
    s.detector.confidence = 0.01f;
    s.devices = devices;
    s.frame_width = 48;
    s.frame_height = 40;
    s.quick_open = true;
    s.allow_failover = failover;
    const sk_model *models[] = {model};
    assert_ok(sk_runner_open(models, 1, &s, &r, &err), &err);
    return r;
}

/* All frames through it; tickets and indices in order. */
static void run_all(sk_runner *r, const frames *set, int (*look)(const sk_runner_result *, int))
{
    sk_error err = {0};
    int submitted = 0;
    for (int i = 0; i < set->count; i++) {
        sk_runner_result result;
        while (submitted < set->count && sk_runner_in_flight(r) < sk_runner_depth(r))
            assert_ok(sk_runner_submit(r, &set->frames[submitted++], NULL, NULL, &err), &err);
        sk_runner_flush(r);
        assert_ok(sk_runner_wait(r, &result, &err), &err);
        assert_int_equal(result.ticket, i);
        assert_int_equal(result.index, i);
        if (look)
            assert_int_equal(look(&result, i), 0);
    }
}

/* Eight, the quickest of `quickest` milliseconds a batch and eight times as quick as the slowest: whether the quick ones did their
 * part of `set`. */
static bool quick_ones_did_more(const frames *set, int quickest)
{
    static const int takes[] = {1, 1, 2, 2, 4, 4, 8, 8};
    char emulated[256] = "idle";
    for (int k = 0; k < 8; k++)
        snprintf(emulated + strlen(emulated), sizeof emulated - strlen(emulated), " %d",
                 takes[k] * quickest * 1000);
    sk_runner *r = open_on(emulated, "cuda:0,cuda:1,cuda:2,cuda:3,cuda:4,cuda:5,cuda:6,cuda:7", false);
    sk_runner_stats stats;
    double rate = 0;
    run_all(r, set, NULL);
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.delivered, set->count);
    assert_int_equal(stats.failed, 0);
    for (int k = 0; k < 8; k++)
        rate += 1.0 / takes[k];
    for (int k = 0; k < 8; k++) {
        const double fair = set->count / (takes[k] * rate);
        print_message("device %d: %d frames of %.0f\n", k, (int)stats.devices[k].frames, fair);
        assert_true(stats.devices[k].frames > 0);
    }
    sk_runner_close(&r);
    /* Fair are 160 to 20. Where whoever has room takes the next frame it is about one to one; what is left is for machines that wake
     * threads late. */
    const int64_t quick = stats.devices[0].frames + stats.devices[1].frames,
                  slow = stats.devices[6].frames + stats.devices[7].frames;
    return quick * 2 >= slow * 5;
}

static void test_shares(void **state)
{
    (void)state;
    frames set = make_frames(300, 48, 40);
    /* a machine that is busy wakes threads later than these devices take: then they take longer */
    bool shared = false;
    for (int quickest = 10; quickest <= 80 && !shared; quickest *= 2)
        shared = quick_ones_did_more(&set, quickest);
    assert_true(shared);
    free_frames(&set);
}

/* One of three does not answer for half a second, as somebody else uses it: the others go on. */
static void test_busy(void **state)
{
    (void)state;
    frames set = make_frames(90, 48, 40);
    sk_runner *r = open_on("idle 10000 10000@8 10000", "cuda:0,cuda:1,cuda:2", false);
    sk_runner_stats stats;
    run_all(r, &set, NULL);
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.delivered, 90);
    assert_int_equal(stats.failed, 0);
    for (int k = 0; k < 3; k++)
        assert_true(stats.devices[k].frames >= 5 && !stats.devices[k].failed);
    sk_runner_close(&r);
    free_frames(&set);
}

static sk_instances kept[64];

static int keep(const sk_runner_result *result, int i)
{
    sk_error err = {0};
    assert_ok(sk_instances_alloc(result->instances->capacity, result->instances->n_keypoints, &kept[i], &err),
              &err);
    const sk_instances *from = result->instances;
    memcpy(kept[i].items, from->items, (size_t)from->count * sizeof *from->items);
    memcpy(kept[i].keypoints, from->keypoints,
           (size_t)from->count * (size_t)from->n_keypoints * sizeof *from->keypoints);
    kept[i].count = from->count;
    return 0;
}

static int compare(const sk_runner_result *result, int i)
{
    assert_same_instances(result->instances, &kept[i]);
    return 0;
}

/* One alone; two sessions on it; three of which one is lost on the way: the same results. */
static void test_same_results(void **state)
{
    (void)state;
    frames set = make_frames(40, 48, 40);
    sk_runner_stats stats;
    sk_runner *r = open_on("0", "cuda:0", false);
    run_all(r, &set, keep);
    sk_runner_close(&r);

    r = open_on("2000", "cuda:0,cuda:0", false);
    run_all(r, &set, compare);
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.n_devices, 2);
    assert_true(stats.devices[0].frames > 0 && stats.devices[1].frames > 0);
    assert_int_equal(stats.devices[0].frames + stats.devices[1].frames, 40);
    sk_runner_close(&r);

    r = open_on("3000 3000!6 3000", "cuda:0+1+2", true);
    run_all(r, &set, compare);
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.delivered, 40);
    assert_int_equal(stats.failed, 0);
    assert_true(stats.devices[1].failed && !stats.devices[0].failed && !stats.devices[2].failed);
    assert_non_null(strstr(stats.devices[1].problem, "GPU"));
    for (int k = 0; k < 3; k++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", k);
        assert_string_equal(stats.devices[k].name, name);
    }
    assert_true(stats.moved > 0);
    sk_runner_close(&r);
    for (int i = 0; i < 40; i++)
        sk_instances_free(&kept[i]);
    free_frames(&set);
}

/* A number that no GPU has is told. */
static void test_too_many(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_settings s;
    setenv("SKITTER_EMULATE", "0 0", 1);
    sk_runner_defaults(&s);
    s.detector.runtime = "cuda";
    s.devices = "cuda:0,cuda:2";
    s.frame_width = 48;
    s.frame_height = 40;
    const sk_model *models[] = {model};
    assert_int_not_equal(sk_runner_open(models, 1, &s, &r, &err), SK_OK);
    assert_non_null(strstr(err.message, "GPU"));
}

/* "auto" is every GPU, each as often as there are four cores for it, in turn. */
static void test_auto(void **state)
{
    (void)state;
    static const char *const emulated[] = {"0", "0 0", "0 0 0"};
    for (int32_t n = 1; n <= 3; n++) {
        sk_device devices[SK_RUNNER_MAX_DEVICES];
        int32_t count = 0, lanes = sk_cpu_usable_cores() / (4 * n);
        sk_error err = {0};
        lanes = lanes < 1 ? 1 : lanes > 4 ? 4 : lanes;
        setenv("SKITTER_EMULATE", emulated[n - 1], 1);
        assert_ok(sk_devices_read("auto", "cuda", devices, &count, &err), &err);
        assert_int_equal(count, n * lanes);
        for (int32_t i = 0; i < count; i++) {
            char name[16];
            snprintf(name, sizeof name, "cuda:%d", i % n);
            assert_string_equal(devices[i].name, name);
            assert_int_equal(devices[i].index, i % n);
            assert_int_equal(devices[i].n_cores, 0);
            assert_false(sk_device_on_cpu(&devices[i]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_results), cmocka_unit_test(test_shares),
                                       cmocka_unit_test(test_busy), cmocka_unit_test(test_too_many),
                                       cmocka_unit_test(test_auto)};
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/emulated", getenv("SKITTER_TEST_BUILD"));
    setenv("SKITTER_PLUGIN_DIR", path, 1);
    snprintf(path, sizeof path, "%s/tests/emulated/libcuda.so.1", getenv("SKITTER_TEST_BUILD"));
    if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        return 1;
    return cmocka_run_group_tests(tests, setup, teardown);
}
