/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "base/clock.h"

/* Frames that change hands: from a device that broke to one that slept, and by several threads into memory a device reads. */

/* One frame at a time, so that every other device sleeps: the one whose device breaks is done by another all the same. */
static void sleepers_take_over(void **state)
{
    (void)state;
    for (int devices = 2; devices <= 3; devices++) {
        sk_error err = {0};
        sk_runner_settings s = tiny_settings();
        s.devices = devices == 2 ? "reference,reference" : "reference,reference,reference";
        s.allow_failover = true;
        s.timeout_ms = 20000;
        fault_reset();
        sk_runner *r = open_faulty(model, &s);
        fault_begin();
        atomic_store(&faults[0].fail_after, 0);
        static sk_runner_stats stats;
        frames set = make_frames(60, 48, 40);
        int done = 0;
        const int64_t patience =
            sk_clock_ns() +
            20000000000; /* any device that sleeps may take a frame: the one that breaks has its turn */
        for (; sk_clock_ns() < patience; done++) {
            sk_runner_result result;
            assert_ok(sk_runner_run(r, &set.frames[done % set.count], NULL, &result, &err), &err);
            assert_int_equal(result.index, done);
            sk_runner_get_stats(r, &stats);
            if (stats.moved) {
                assert_true(result.device > 0);
                done++;
                break;
            }
        }
        assert_int_equal(stats.moved, 1);
        assert_true(stats.devices[0].failed && !stats.devices[1].failed);
        assert_non_null(strstr(stats.devices[0].problem, "the device was unplugged"));
        int64_t all = 0;
        for (int k = 1; k < devices; k++)
            all += stats.devices[k].frames;
        assert_int_equal(all + stats.devices[0].frames, done);
        assert_int_equal(stats.failed, 0);
        sk_runner_close(&r);
        free_frames(&set);
    }
    fault_reset();
}

/* Large frames, for an engine that fits them in by itself: copied by one thread or by several, it is given the same, and the threads
 * end with the runner. */
static void many_hands_copy_the_same(void **state)
{
    (void)state;
    static const sk_engine *const fits[] = {&fault_engine_3};
    sk_instances first[3];
    frames set = make_frames(3, 480, 320);
    for (int threads = 1; threads <= 3; threads++) {
        sk_error err = {0};
        sk_runner *r = NULL;
        const sk_model *m = model;
        sk_runner_settings s = tiny_settings();
        s.devices = "reference";
        s.detector.threads = threads;
        s.frame_width = 480, s.frame_height = 320;
        fault_reset();
        assert_ok(sk_runner_open_on(&m, 1, &s, fits, &r, &err), &err);
        assert_true(sk_runner_takes_frames(r));
        for (int i = 0; i < 3; i++) {
            sk_runner_result result;
            assert_ok(sk_runner_run(r, &set.frames[i], NULL, &result, &err), &err);
            const sk_instances *got = result.instances;
            if (threads > 1) {
                assert_same_instances(got, &first[i]);
                continue;
            }
            assert_ok(sk_instances_alloc(got->capacity, got->n_keypoints, &first[i], &err), &err);
            first[i].count = got->count;
            memcpy(first[i].items, got->items, (size_t)got->count * sizeof *got->items);
            memcpy(first[i].keypoints, got->keypoints,
                   (size_t)got->count * (size_t)got->n_keypoints * sizeof *got->keypoints);
        }
        sk_runner_close(&r);
    }
    for (int i = 0; i < 3; i++)
        sk_instances_free(&first[i]);
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleepers_take_over),
        cmocka_unit_test(many_hands_copy_the_same),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
