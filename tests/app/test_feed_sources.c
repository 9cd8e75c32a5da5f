/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of sources on their way: names and times of frames, pictures that cannot be read in their place, the frame_ids of a bag's
 * images, and a finder that fails. */
#include "app/consumers.h"
#include "app/feed.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/ros_messages.h"
#include "formats/rosbag.h"
#include "media/reader.h"
#include "media/video_sink.h"
#include "runner/runner_fixture.h"

#include <unistd.h>

#define EYE 300 /* more than a run's header has room for */

static sk_error err;
static sk_model *model;

static void put_pictures(const char *folder, const char *spoilt)
{
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < 6; i++) {
        char path[128];
        sk_frame f = make_frame(48, 40, i);
        snprintf(path, sizeof path, "%s/%c.png", folder, 'a' + i);
        if (strchr(spoilt, 'a' + i))
            assert_ok(sk_file_replace(path, "no picture", 10, &err), &err);
        else
            assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
}

/* Names of eyes by image: l left, r right, A to D of 255 to 258 letters, L a left one whose name is too long for a header, R the same with another end. */
static void put_bag(const char *path, const char *eyes)
{
    static uint8_t pixels[48 * 40 * 3];
    sk_bag_writer *writer = NULL;
    sk_cdr_writer cdr = {0};
    size_t topic = 0;
    assert_ok(sk_bag_writer_open(path, SK_BAG_MCAP, &writer, &err), &err);
    assert_ok(sk_bag_writer_topic(writer, "/image", sk_msg_type_find("sensor_msgs/msg/Image"), &topic, &err),
              &err);
    for (int i = 0; eyes[i]; i++) {
        char name[EYE + 16];
        const int zeros = eyes[i] == 'L' || eyes[i] == 'R'   ? EYE
                          : eyes[i] >= 'A' && eyes[i] <= 'D' ? 254 + eyes[i] - 'A'
                                                             : 1;
        snprintf(name, sizeof name, "%0*d%c", zeros, 0, eyes[i]);
        const sk_msg_image image = {
            .header = {sk_msg_time_of(1700000000000000000 + i * (int64_t)1000000000), sk_msg_text_of(name)},
            .height = 40,
            .width = 48,
            .encoding = sk_msg_text_of("rgb8"),
            .step = 48 * 3,
            .data = {pixels, sizeof pixels}};
        memset(pixels, 40 * i, sizeof pixels);
        assert_ok(sk_msg_encode(&sk_msg_image_layout, &image, &cdr, &err), &err);
        assert_ok(sk_bag_writer_write(writer, topic, 1700000000000000000 + i, cdr.data, cdr.length, &err),
                  &err);
    }
    assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    sk_cdr_writer_free(&cdr);
}

typedef struct passed {
    sk_text told;
    int64_t stop_at;
    int64_t frames;
} passed;

static bool pass(void *context, const sk_result_frame *r, const sk_frame *frame)
{
    passed *p = context;
    (void)frame;
    assert_non_null(r->instances);
    sk_text_appendf(&p->told, "%s%lld", p->told.length ? " " : "", (long long)r->index);
    if (strlen(sk_path_name(r->source)) == 5)
        sk_text_appendf(&p->told, "=%s", sk_path_name(r->source));
    if (r->problem)
        sk_text_append(&p->told, "!");
    else
        assert_true(r->width == 48 && r->height == 40);
    if (r->frame_id) /* its length, and its last letter */
        sk_text_appendf(&p->told, ":%zu%c", strlen(r->frame_id), r->frame_id[strlen(r->frame_id) - 1]);
    if ((r->picture != 0) != (strlen(sk_path_name(r->source)) == 5))
        fail_msg("%s: %lld", r->source, (long long)r->picture);
    p->frames += !r->problem;
    return p->stop_at && p->frames == p->stop_at;
}

static bool yes(void *context)
{
    ++*(int *)context;
    return true;
}

typedef struct trial {
    const char *path;
    int64_t frames, stop_at;
    int32_t in_flight;
    const sk_finder *finder;
    bool without_consumers, interrupted;
    char told[512];
    sk_feed_report report;
    int asked;
} trial;

static sk_status feed(trial *t)
{
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_pipeline *pipeline = NULL;
    sk_source *source = NULL;
    sk_consumers list = {0};
    passed p = {.stop_at = t->stop_at};
    const sk_tap tap = {.needs = SK_NEEDS_PROBLEMS | SK_NEEDS_NAMES, .take = pass, .context = &p};
    sk_source_defaults(&media);
    media.skip_unreadable = true;
    sk_pipeline_defaults(&how);
    how.threads = 1;
    how.keep_frames = true;
    how.height = how.width = 32;
    how.confidence = 0.01f;
    const sk_model *models[] = {model};
    assert_ok(sk_source_open(t->path, &media, &source, &err), &err);
    assert_ok(sk_consumers_add(&list, sk_consumer_tap(&tap), &err), &err);
    assert_ok(sk_pipeline_open_models(models, 1, &how, &pipeline, &err), &err);
    const sk_feed wish = {.source = source,
                          .pipeline = pipeline,
                          .consumers = t->without_consumers ? NULL : &list,
                          .frames = t->frames,
                          .in_flight = t->in_flight,
                          .finder = t->finder,
                          .interrupted = t->interrupted ? yes : NULL,
                          .interrupted_context = &t->asked};
    const sk_status status = sk_feed_run(&wish, &t->report, &err);
    assert_int_equal(t->without_consumers ? 0 : t->report.frames, p.frames);
    snprintf(t->told, sizeof t->told, "%s", sk_text_get(&p.told));
    sk_pipeline_close(&pipeline);
    sk_source_close(&source);
    sk_consumers_close(&list);
    sk_text_free(&p.told);
    return status;
}

static void expect(trial t, const char *told, int64_t n, bool stopped)
{
    for (t.in_flight = 0; t.in_flight < 3; t.in_flight++) { /* with a reading thread, and without */
        t.asked = 0;
        assert_ok(feed(&t), &err);
        assert_string_equal(t.told, told);
        assert_true(t.report.frames == n && t.report.stopped == stopped && !t.report.checked);
        assert_true(t.report.seconds > 0 && t.report.seconds < 100 && t.report.wait_source > 0 &&
                    t.report.wait_source < 100);
        assert_int_equal(t.asked, t.interrupted);
    }
}

/* Each in its place: before the next that can be read, or behind the last. */
static void pictures(void **state)
{
    (void)state;
    put_pictures("all", "");
    put_pictures("some", "acf");
    expect((trial){.path = "all"}, "0=a.png 1=b.png 2=c.png 3=d.png 4=e.png 5=f.png", 6, false);
    expect((trial){.path = "some"}, "0=a.png! 1=b.png 2=c.png! 3=d.png 4=e.png 5=f.png!", 3, false);
    expect((trial){.path = "some", .frames = 2}, "0=a.png! 1=b.png 2=c.png! 3=d.png", 2, false);
    expect((trial){.path = "some", .stop_at = 2}, "0=a.png! 1=b.png 2=c.png! 3=d.png", 2, true);
    expect((trial){.path = "some", .interrupted = true}, "0=a.png! 1=b.png 2=c.png! 3=d.png 4=e.png 5=f.png!",
           3, true);
    expect((trial){.path = "some", .without_consumers = true}, "", 3, false);
}

/* The first one's is the run's; another is told with its image, and one that is too long for a run always. */
static void eyes(void **state)
{
    (void)state;
    put_bag("one.mcap", "lll");
    put_bag("two.mcap", "lrl");
    put_bag("long.mcap", "lLRl");
    put_bag("longer.mcap", "LLR");
    for (int i = 0; i < 4; i++) { /* each as the first that is kept: whole */
        const char one[] = {'l', (char)('A' + i), '\0'};
        char told[32];
        put_bag("edge.mcap", one);
        snprintf(told, sizeof told, "0 1:%d%c", 255 + i, 'A' + i);
        expect((trial){.path = "edge.mcap"}, told, 2, false);
    }
    expect((trial){.path = "one.mcap"}, "0 1 2", 3, false);
    expect((trial){.path = "two.mcap"}, "0 1:2r 2", 3, false);
    expect((trial){.path = "long.mcap"}, "0 1:301L 2:301R 3", 4, false);
    expect((trial){.path = "longer.mcap"}, "0:301L 1:301L 2:301R", 3, false);
}

/* --- a finder --- */

static int find_calls, find_fails_at;

static sk_status find(void *context, const sk_frame *frame, const sk_instances **found, sk_error *e)
{
    (void)context, (void)found;
    assert_int_equal(frame->index, find_calls);
    if (find_calls++ == find_fails_at)
        return sk_fail(e, SK_ERR_LIMIT, "it looked away");
    return SK_OK;
}

static void a_finder_that_fails(void **state)
{
    (void)state;
    const sk_finder finder = {.find = find};
    trial t = {.path = "all", .finder = &finder};
    for (t.in_flight = 0; t.in_flight < 3; t.in_flight++)
        for (find_fails_at = 0; find_fails_at < 5; find_fails_at += 2) {
            find_calls = 0;
            assert_int_equal(feed(&t), SK_ERR_LIMIT);
            assert_string_equal(err.message, "it looked away");
            assert_int_equal(find_calls, find_fails_at + 1);
            assert_true(t.report.frames <= find_fails_at && !t.report.stopped);
        }
    find_calls = 0;
    find_fails_at = -1;
    t.in_flight = 0;
    assert_ok(feed(&t), &err);
    assert_true(find_calls == 6 && t.report.frames == 6);
}

/* Each time the frame goes back to the source, which has only so many. */
static void frames_go_back(void **state)
{
    (void)state;
    const sk_finder finder = {.find = find};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    sk_source_defaults(&media);
    media.loop = 20;
    assert_ok(sk_source_open("all", &media, &source, &err), &err);
    for (int i = 0; i < 40; i++) {
        sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
        sk_pipeline *pipeline = NULL;
        sk_feed_report report;
        sk_pipeline_defaults(&how);
        how.threads = 1;
        how.height = how.width = 32;
        const sk_model *models[] = {model};
        assert_ok(sk_pipeline_open_models(models, 1, &how, &pipeline, &err), &err);
        const sk_feed wish = {.source = source, .pipeline = pipeline, .in_flight = 1, .finder = &finder};
        find_calls = find_fails_at = i;
        assert_int_equal(sk_feed_run(&wish, &report, &err), SK_ERR_LIMIT);
        sk_pipeline_close(&pipeline);
    }
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_int_equal(frame->index, 40);
    sk_source_release(source, frame);
    sk_source_close(&source);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    model = tiny_model();
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures), cmocka_unit_test(eyes),
                                       cmocka_unit_test(a_finder_that_fails),
                                       cmocka_unit_test(frames_go_back)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_model_close(&model);
    return failed;
}
