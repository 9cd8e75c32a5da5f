/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that eight bits are made with: which of them are held back, how many and of how many sizes they may be, and what is left where
 * memory ends. */
#include "runner/runner_fixture.h"
#include "support/fault.h"

#include "app/quantize_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "runner/network.h"

#include <unistd.h>

static sk_error err;
static sk_model *model;
static sk_quantize_settings s;
static sk_quantize_job job;
static int64_t ticks, stop_at;
static char last_step[64];

static bool watch(void *context, const char *step, int64_t done, int64_t total)
{
    assert_ptr_equal(context, &job);
    assert_true(done == ++ticks && total >= done);
    snprintf(last_step, sizeof last_step, "%s of %lld", step, (long long)total);
    return done == stop_at;
}

static void put_pictures(const char *folder, int count, bool sizes)
{
    char path[256];
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < count; i++) {
        sk_frame f = make_frame(sizes ? 16 + i : 24, 20, i);
        snprintf(path, sizeof path, "%s/%03d.png", folder, i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
}

static sk_status read_all(const char *data, int32_t asked, sk_error *why)
{
    sk_quantize_defaults(&s);
    s.data = data;
    s.frames = asked;
    s.height = s.width = 32;
    s.threads = 1;
    s.watch = watch;
    s.context = &job;
    ticks = 0;
    memset(&job, 0, sizeof job);
    job.s = &s;
    job.model = model;
    return sk_quantize_read(&job, why);
}

static void end(void)
{
    sk_quantize_frames_free(&job);
    assert_true(!job.frames && !job.inputs && job.n_frames == 0 && job.n_inputs == 0 && job.n_stages == 0 &&
                job.inputs_capacity == 0);
}

/* A quarter as many more as were asked for, each fifth held; at least five, spread over all that are there. */
static void how_many(void **state)
{
    (void)state;
    static const struct {
        int32_t asked, read;
        int first[6];
    } rows[] = {{1, 5, {0, 2, 4, 6, 8, -1}},  {3, 5, {0, 2, 4, 6, 8, -1}}, {4, 5, {0, 2, 4, 6, 8, -1}},
                {5, 6, {0, 1, 3, 5, 6, 8}},   {7, 8, {0, 1, 2, 3, 5, 6}},  {8, 10, {0, 1, 2, 3, 4, 5}},
                {100, 10, {0, 1, 2, 3, 4, 5}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        stop_at = -1;
        assert_ok(read_all("ten", rows[i].asked, &err), &err);
        assert_int_equal(job.n_frames, rows[i].read);
        assert_true(job.n_inputs == (size_t)rows[i].read && ticks == rows[i].read && job.n_stages == 1);
        snprintf(name, sizeof name, "reading frames of %d", rows[i].asked == 100 ? 125 : rows[i].read);
        assert_string_equal(last_step, name);
        for (int32_t k = 0; k < job.n_frames; k++) {
            const sk_quantize_frame *f = &job.frames[k];
            assert_true(f->held == (k % 5 == 4) && job.inputs[k].held == f->held);
            assert_true(f->first == k && f->count == 1 && f->stage == 0 && f->name);
            if (k < 6 && rows[i].first[k] >= 0) {
                snprintf(name, sizeof name, "%03d.png", rows[i].first[k]);
                assert_string_equal(sk_path_name(f->name), name);
                assert_int_equal(f->index, rows[i].first[k]);
            }
        }
        assert_int_equal(sk_quantize_count(&job, true), rows[i].read / 5);
        assert_int_equal(sk_quantize_inputs(&job, false), rows[i].read - rows[i].read / 5);
        assert_true(job.width == 32 && job.height == 32 && job.channels == 3 && job.missing == 0);
        end();
    }
}

static void too_few(void **state)
{
    (void)state;
    assert_int_equal(read_all("four", 20, &err), SK_ERR_ARG);
    assert_string_equal(err.message,
                        "four: has 4 frames; at least 5 are needed, one of five to measure what is lost");
    end();
    stop_at = 3;
    assert_int_equal(read_all("ten", 20, &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "interrupted; nothing was written");
    assert_int_equal(job.n_frames, 3);
    stop_at = -1;
    end();
    assert_int_not_equal(read_all("nowhere", 20, &err), SK_OK);
    end();
}

static void of_how_many_sizes(void **state)
{
    (void)state;
    put_pictures("sizes", SK_QUANTIZE_MOST_SIZES, true);
    assert_ok(read_all("sizes", 100, &err), &err);
    assert_int_equal(job.n_stages, SK_QUANTIZE_MOST_SIZES);
    for (int32_t i = 0; i < job.n_frames; i++)
        assert_true(job.frames[i].stage == i && job.stages[i].width == 16 + i && job.stages[i].height == 20);
    end();
    put_pictures("sizes", SK_QUANTIZE_MOST_SIZES + 1, true);
    assert_int_equal(read_all("sizes", 100, &err), SK_ERR_LIMIT);
    assert_string_equal(err.message, "sizes: pictures of more than 64 sizes");
    assert_int_equal(job.n_frames, SK_QUANTIZE_MOST_SIZES);
    end();
}

static void what_the_task_is_told(void **state)
{
    (void)state;
    s = (sk_quantize_settings){.height = 40, .width = 72, .confidence = 0.375F, .peak_threshold = 0.625F};
    job = (sk_quantize_job){.s = &s};
    const sk_task_settings t = sk_quantize_task_settings(&job), usual = sk_task_settings_defaults();
    assert_true(t.net_height == 40 && t.net_width == 72);
    assert_true(t.yolo.confidence == 0.375F && t.sleap.peak_threshold == 0.625F);
    assert_true(t.yolo.iou == usual.yolo.iou && t.rect == usual.rect);
}

static sk_status whole(void *context, sk_error *why)
{
    (void)context;
    const sk_status status = read_all("five", 4, why);
    sk_quantize_frames_free(&job);
    return status;
}

static sk_status spread(void *context, sk_error *why)
{
    sk_frame_range *ranges = NULL;
    int32_t count = -1;
    (void)context;
    const sk_status status = sk_quantize_spread(20, 7, &ranges, &count, why);
    if (status != SK_OK ? count != 0 : count != 7)
        return SK_ERR_INTERNAL;
    sk_free(ranges);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(spread, NULL), 1);
    assert_true(test_every_allocation(whole, NULL) >= 12);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    put_pictures("ten", 10, false);
    put_pictures("four", 4, false);
    put_pictures("five", 5, false);
    model = tiny_model();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_many),          cmocka_unit_test(too_few),
        cmocka_unit_test(of_how_many_sizes), cmocka_unit_test(what_the_task_is_told),
        cmocka_unit_test(without_memory),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_model_close(&model);
    return failed;
}
