/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "app/feed.h"
#include "app/predict.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "runner/runner_fixture.h"

#include <string.h>

/* Frames on their way: the list of consumers and its rules, the feed, and a tap on a whole run. */

/* --- the list --- */

static char said[512];

static void say(const char *what, const char *who)
{
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s %s; ", what, who);
}

typedef struct toy {
    sk_consumer base;
    const char *name;
    const char *fails; /* in which call */
} toy;

static sk_status toy_does(toy *t, const char *what, sk_error *err)
{
    say(what, t->name);
    if (t->fails && strcmp(t->fails, what) == 0)
        return sk_fail(err, SK_ERR_IO, "%s failed in %s", t->name, what);
    return SK_OK;
}

static sk_status toy_begin(sk_consumer *c, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    assert_non_null(header);
    (void)folder;
    return toy_does((toy *)c, "begin", err);
}

static sk_status toy_take(sk_consumer *c, sk_passing *passing, sk_error *err)
{
    passing->stop = ((toy *)c)->fails && strcmp(((toy *)c)->fails, "stop") == 0;
    return toy_does((toy *)c, "take", err);
}

static sk_status toy_complete(sk_consumer *c, sk_error *err)
{
    return toy_does((toy *)c, "complete", err);
}

static sk_status toy_end(sk_consumer *c, bool finished, sk_error *err)
{
    return toy_does((toy *)c, finished ? "finish" : "end", err);
}

static void toy_close(sk_consumer *c)
{
    say("close", ((toy *)c)->name);
}

static const sk_consumer_kind toy_kind = {"toy",        toy_begin, NULL,      toy_take,
                                          toy_complete, toy_end,   toy_close, NULL};

static void add_toy(sk_consumers *list, const char *name, const char *fails, uint32_t needs)
{
    sk_error err = {0};
    toy *t = sk_calloc(1, sizeof *t);
    t->base = (sk_consumer){.kind = &toy_kind, .needs = needs};
    t->name = name;
    t->fails = fails;
    assert_ok(sk_consumers_add(list, &t->base, &err), &err);
}

static const sk_instances nothing = {0};
static const sk_result_frame a_frame = {.source = "a.png", .instances = &nothing};

/* One frame through a, b and c, where b fails in one call. */
static sk_status pass_three(const char *fails, sk_error *err)
{
    sk_consumers list = {0};
    const sk_run_header header = {0};
    sk_passing passing = {.result = &a_frame};
    said[0] = '\0';
    add_toy(&list, "a", NULL, 0);
    add_toy(&list, "b", fails, SK_NEEDS_PIXELS);
    add_toy(&list, "c", fails && strcmp(fails, "complete") == 0 ? "end" : NULL, SK_NEEDS_PROBLEMS);
    assert_int_equal(sk_consumers_needs(&list), SK_NEEDS_PIXELS | SK_NEEDS_PROBLEMS);
    sk_status status = sk_consumers_begin(&list, &header, NULL, err);
    if (status == SK_OK)
        status = sk_consumers_take(&list, &passing, 0, err);
    const bool finished = status == SK_OK;
    status = sk_consumers_complete(&list, status, err);
    status = sk_consumers_end(&list, finished, status, err);
    sk_consumers_close(&list);
    return status;
}

static void first_error_stays_and_everybody_is_ended(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(pass_three(NULL, &err), &err);
    assert_string_equal(said, "begin a; begin b; begin c; take a; take b; take c; complete a; complete b; "
                              "complete c; finish a; finish b; finish c; close a; close b; close c; ");
    assert_int_equal(pass_three("begin", &err), SK_ERR_IO);
    assert_string_equal(said, "begin a; begin b; complete a; end a; close a; close b; close c; ");
    assert_int_equal(pass_three("take", &err), SK_ERR_IO);
    assert_string_equal(said, "begin a; begin b; begin c; take a; take b; complete a; complete b; "
                              "complete c; end a; end b; end c; close a; close b; close c; ");
    assert_int_equal(pass_three("complete", &err), SK_ERR_IO); /* c fails after it */
    assert_string_equal(err.message, "b failed in complete");
    assert_non_null(strstr(said, "complete b; complete c; end a; end b; end c; close a"));
    assert_int_equal(pass_three("finish", &err), SK_ERR_IO); /* who comes after it hears of it */
    assert_non_null(strstr(said, "finish a; finish b; end c; close a"));
}

static void pictures_left_out_pass_those_who_ask(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_consumers list = {0};
    sk_result_frame problem = a_frame;
    problem.problem = "no picture";
    sk_passing passing = {.result = &problem};
    said[0] = '\0';
    add_toy(&list, "a", NULL, 0);
    add_toy(&list, "b", NULL, SK_NEEDS_PROBLEMS);
    assert_ok(sk_consumers_take(&list, &passing, 0, &err), &err);
    assert_string_equal(said, "take b; ");
    for (int i = 2; i < SK_CONSUMERS_MOST; i++)
        add_toy(&list, "more", NULL, 0);
    toy *one_more = sk_calloc(1, sizeof *one_more);
    *one_more = (toy){.base = {.kind = &toy_kind}, .name = "one more"};
    assert_int_equal(sk_consumers_add(&list, &one_more->base, &err), SK_ERR_ARG);
    assert_int_equal(sk_consumers_add(&list, NULL, &err), SK_ERR_MEMORY);
    sk_consumers_close(&list);
}

/* --- the feed --- */

typedef struct supply {
    frames set;
    int32_t given;
    int32_t fails_at; /* -1: never */
} supply;

static sk_status next_frame(void *context, const sk_frame **frame, sk_error *err)
{
    supply *s = context;
    if (s->given == s->fails_at)
        return sk_fail(err, SK_ERR_IO, "the camera fell down");
    *frame = s->given < s->set.count ? &s->set.frames[s->given++] : NULL;
    return SK_OK;
}

typedef struct seen {
    int64_t next, stop_at;
} seen;

static bool see(void *context, const sk_result_frame *result, const sk_frame *frame)
{
    seen *s = context;
    assert_null(frame);
    assert_int_equal(result->index, s->next++);
    assert_non_null(result->instances);
    return s->next == s->stop_at;
}

static sk_model *model; /* of every feed */

static sk_status feed_once(int32_t in_flight, int64_t limit, int32_t fails_at, int64_t stop_at,
                           sk_feed_report *report, sk_error *err)
{
    if (!model)
        model = tiny_model();
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&how);
    how.threads = 1;
    how.height = how.width = 32;
    how.confidence = 0.01f;
    sk_pipeline *pipeline = NULL;
    supply supplied = {.set = make_frames(9, 48, 40), .fails_at = fails_at};
    seen seen_by_tap = {.stop_at = stop_at};
    sk_consumers list = {0};
    const sk_tap tap = {.take = see, .context = &seen_by_tap};
    const sk_model *models[] = {model};
    assert_ok(sk_consumers_add(&list, sk_consumer_tap(&tap), err), err);
    assert_ok(sk_pipeline_open_models(models, 1, &how, &pipeline, err), err);
    const sk_feed feed = {.next = next_frame,
                          .context = &supplied,
                          .pipeline = pipeline,
                          .consumers = &list,
                          .frames = limit,
                          .in_flight = in_flight};
    sk_status status = sk_feed_run(&feed, report, err);
    assert_int_equal(report->frames, seen_by_tap.next);
    if (limit && status == SK_OK && !report->stopped)
        assert_int_equal(supplied.given, limit);
    sk_pipeline_close(&pipeline);
    sk_consumers_close(&list);
    free_frames(&supplied.set);
    return status;
}

static void feed_ends_in_order(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_feed_report report;
    for (int32_t in_flight = 0; in_flight < 3; in_flight++) { /* with a reading thread, and without */
        assert_ok(feed_once(in_flight, 0, -1, 0, &report, &err), &err);
        assert_int_equal(report.frames, 9);
        assert_false(report.stopped);
        assert_true(report.instances > 0 && report.seconds > 0);
        assert_ok(feed_once(in_flight, 4, -1, 0, &report, &err), &err);
        assert_int_equal(report.frames, 4);
        assert_ok(feed_once(in_flight, 0, -1, 3, &report, &err), &err);
        assert_int_equal(report.frames, 3);
        assert_true(report.stopped);
        assert_int_equal(feed_once(in_flight, 0, 5, 0, &report, &err), SK_ERR_IO);
        assert_string_equal(err.message, "the camera fell down");
        assert_true(report.frames <= 5);
        assert_int_equal(feed_once(in_flight, 0, 0, 0, &report, &err), SK_ERR_IO);
        assert_int_equal(report.frames, 0);
    }
    sk_model_close(&model);
}

/* Who did not ask for pixels is given none, also where they are at hand; what it need not be told of it may leave out. */
static const sk_frame *tapped_frame;

static bool note_frame(void *context, const sk_result_frame *result, const sk_frame *frame)
{
    (void)context, (void)result;
    tapped_frame = frame;
    return frame != NULL;
}

static void pixels_for_who_asks(void **state)
{
    (void)state;
    sk_error err = {0};
    const sk_frame frame = {.width = 1, .height = 1};
    const sk_result_frame result = {.source = "x"};
    const sk_run_header header = {0};
    for (int asks = 0; asks < 2; asks++) {
        const sk_tap wish = {.needs = asks ? SK_NEEDS_PIXELS : 0, .take = note_frame};
        sk_consumers list = {0};
        sk_passing passing = {.result = &result, .frame = &frame};
        assert_ok(sk_consumers_add(&list, sk_consumer_tap(&wish), &err), &err);
        sk_consumer *tap = list.items[0];
        assert_ok(tap->kind->begin(tap, &header, NULL, &err), &err);
        tapped_frame = &(const sk_frame){0};
        assert_ok(tap->kind->take(tap, &passing, &err), &err);
        assert_ptr_equal(tapped_frame, asks ? &frame : NULL);
        assert_int_equal(passing.stop, asks);
        assert_ok(tap->kind->end(tap, true, &err), &err);
        sk_consumers_close(&list);
    }
}

/* --- a tap on a whole run --- */

typedef struct tapped {
    int64_t frames, problems, stop_at;
    int begun;
    bool ended, finished;
    char names[256];
} tapped;

static void tap_begin(void *context, const sk_run_header *header)
{
    tapped *t = context;
    t->begun++;
    assert_int_equal(header->n_keypoints, 3);
    assert_string_equal(header->source_kind, "pictures");
}

static bool tap_take(void *context, const sk_result_frame *result, const sk_frame *frame)
{
    tapped *t = context;
    size_t used = strlen(t->names);
    snprintf(t->names + used, sizeof t->names - used, "%s%s ", sk_path_name(result->source),
             result->problem ? "!" : "");
    if (result->problem) {
        assert_null(frame);
        t->problems++;
        return false;
    }
    assert_non_null(frame);
    assert_int_equal(frame->width, result->width);
    assert_int_equal(frame->format, SK_PIXEL_RGB);
    return ++t->frames == t->stop_at;
}

static void tap_end(void *context, bool finished)
{
    tapped *t = context;
    t->ended = true;
    t->finished = finished;
}

static sk_predict_report *tap_run(const char *path, const char *source, const char *out, tapped *t)
{
    static sk_predict_report report;
    sk_error err = {0};
    sk_predict_settings s;
    sk_predict_defaults(&s);
    const sk_tap tap = {.needs = SK_NEEDS_PIXELS | SK_NEEDS_NAMES | SK_NEEDS_PROBLEMS,
                        .begin = tap_begin,
                        .take = tap_take,
                        .end = tap_end,
                        .context = t};
    s.source = source;
    s.out = out;
    s.n_formats = out ? 2 : 0; /* a door that keeps nothing: no folder, no file, only what passes */
    s.n_models = 1;
    s.models[0] = path;
    s.detector.height = s.detector.width = 32;
    s.detector.confidence = 0.01f;
    s.tap = &tap;
    assert_ok(sk_predict_run(&s, NULL, NULL, &report, &err), &err);
    return &report;
}

static void tap_sees_what_passes(void **state)
{
    (void)state;
    sk_error err = {0};
    char folder[4300], path[4400], out[4300];
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    char network[4300];
    snprintf(network, sizeof network, "%s", yolo_save(&fixture, "tap.pt"));
    snprintf(folder, sizeof folder, "%s/pictures", test_folder());
    snprintf(out, sizeof out, "%s/run", test_folder());
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < 4; i++) {
        sk_frame f = make_frame(48, 40, i);
        f.stride = 48 * 3;
        snprintf(path, sizeof path, "%s/%c.jpg", folder, 'a' + i);
        if (i == 1)
            assert_ok(sk_file_replace(path, "no picture", 10, &err), &err);
        else
            assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
    tapped first = {.stop_at = 2};
    sk_predict_report *r = tap_run(network, folder, out, &first);
    assert_true(r->stopped);
    assert_int_equal(r->frames, 2);
    assert_string_equal(first.names, "a.jpg b.jpg! c.jpg ");
    assert_int_equal(first.begun, 1);
    assert_true(first.ended && !first.finished);
    tapped second = {0}; /* goes on: what is known is not passed again */
    r = tap_run(network, folder, out, &second);
    assert_false(r->stopped);
    assert_int_equal(r->total_frames, 3);
    assert_int_equal(r->unreadable, 1);
    assert_string_equal(second.names, "d.jpg ");
    assert_true(second.ended && second.finished);
    tapped third = {0};
    r = tap_run(network, folder, out, &third);
    assert_true(r->nothing_to_do && third.begun == 1 && third.finished);
    assert_string_equal(third.names, "");
    tapped alone = {0};
    r = tap_run(network, folder, NULL, &alone);
    assert_int_equal(r->n_files, 0);
    assert_string_equal(alone.names, "a.jpg b.jpg! c.jpg d.jpg ");
    assert_true(alone.finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_stays_and_everybody_is_ended),
        cmocka_unit_test(pictures_left_out_pass_those_who_ask), cmocka_unit_test(pixels_for_who_asks),
        cmocka_unit_test(feed_ends_in_order), cmocka_unit_test(tap_sees_what_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
