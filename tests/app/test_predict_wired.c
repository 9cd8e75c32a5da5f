/* SPDX-License-Identifier: Apache-2.0 */
/* How a run's parts are wired: what of its settings reaches the source, whose times the report tells, what run.json says of a part, who
 * sees frames as they pass, and what is taken of parts that overlap or have holes. */
#include "predict_fixture.h"

#include "app/predict_internal.h"
#include "pipeline/pipeline.h"

#include <math.h>
#include <unistd.h>

static char second[4300];
static sk_predict_report r; /* large */

/* --- where overlays are encoded --- */

static void overlays_on_the_gpu(void **state)
{
    (void)state;
    static const struct {
        const char *runtime;
        sk_choice choice;
        bool wanted;
    } rows[] = {{"cuda", SK_CHOICE_AUTO, true},       {"cpu", SK_CHOICE_AUTO, false},
                {"reference", SK_CHOICE_AUTO, false}, {NULL, SK_CHOICE_AUTO, false},
                {"cuda", SK_CHOICE_OFF, false},       {"cuda", SK_CHOICE_ON, true},
                {"reference", SK_CHOICE_ON, true},    {NULL, SK_CHOICE_ON, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_predict_settings s = quick("nine", "x");
        s.detector.runtime = rows[i].runtime;
        s.overlay_gpu = rows[i].choice;
        if (sk_overlay_on_gpu(&s) != rows[i].wanted)
            fail_msg("row %zu", i);
    }
}

/* --- frames, as the run wants them --- */

/* The pipeline's own kinds of frames where it alone looks at a video; else RGB. */
static void kinds_of_frames(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        uint32_t needs;
        bool strict;
        bool own; /* the pipeline's */
    } rows[] = {{"v.mp4", 0, false, true},
                {"v.mp4", SK_NEEDS_NAMES, true, true},
                {"v.mp4", SK_NEEDS_PIXELS, false, false},
                {"nine", 0, false, false},
                {"nine/000.png", 0, true, false},
                {"rtsp://h/s", 0, false, false},
                {"-", 0, false, false}};
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&how);
    put_pictures("nine", 9);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_predict_settings s = quick(rows[i].source, "x");
        predict_run run = {.settings = &s};
        const sk_tap tap = {.needs = rows[i].needs};
        s.strict = rows[i].strict;
        s.media.first = 3;
        s.media.threads = 2;
        assert_ok(sk_pipeline_prepare(s.models, 1, &s.detector, &how, &run.pipeline, &err), &err);
        assert_ok(sk_consumers_add(&run.consumers, sk_consumer_tap(&tap), &err), &err);
        const sk_source_settings m = predict_media_of(&run);
        const sk_pipeline_info *about = sk_pipeline_about(run.pipeline);
        assert_true(about->n_accepts > 0 && m.first == 3 && m.threads == 2);
        assert_int_equal(m.skip_unreadable, !rows[i].strict);
        if ((m.n_accepts == about->n_accepts && m.accepts == about->accepts) != rows[i].own)
            fail_msg("row %zu: %d kinds", i, m.n_accepts);
        if (!rows[i].own)
            assert_int_equal(m.n_accepts, 0);
        /* frames stay until they are written where somebody draws on them, or wants their picture's name */
        const bool pictures = strncmp(rows[i].source, "nine", 4) == 0;
        assert_int_equal(predict_holds_frames(&run), rows[i].needs & SK_NEEDS_PIXELS);
        const sk_tap names = {.needs = SK_NEEDS_NAMES};
        assert_ok(sk_consumers_add(&run.consumers, sk_consumer_tap(&names), &err), &err);
        assert_int_equal(predict_holds_frames(&run), (rows[i].needs & SK_NEEDS_PIXELS) || pictures);
        sk_consumers_close(&run.consumers);
        sk_pipeline_close(&run.pipeline);
    }
}

/* --- times --- */

typedef struct seen {
    double ms[SK_STAGE_COUNT];
    int64_t last;
    double seconds;
} seen;

static bool look(void *context, const sk_predict_progress *p)
{
    seen *s = context;
    for (int i = 0; i < SK_STAGE_COUNT; i++) {
        sk_stage_stats stats = SK_STAGE_STATS_INIT;
        s->ms[i] = sk_pipeline_get_stage(p->pipeline, (sk_stage)i, &stats) ? stats.sum : 0;
    }
    s->last = p->done;
    s->seconds = p->seconds;
    return false;
}

static double number_behind(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    return at ? strtod(at + strlen(words), NULL) : -1;
}

#define SAME(a, b) assert_true(fabs((a) - (b)) <= 1e-9 + 1e-6 * fabs(b))

/* Of two models the times are those of both. */
static void times_of_two_models(void **state)
{
    (void)state;
    seen s = {.last = -1};
    put_pictures("nine", 9);
    for (int models = 1; models <= 2; models++) {
        sk_predict_settings p = quick("nine", models == 1 ? "one" : "two");
        p.n_models = models;
        p.models[0] = models == 1 ? network : second;
        p.models[1] = network;
        assert_ok(sk_predict_run(&p, look, &s, &r, &err), &err);
        assert_true(s.last == 9 && r.frames == 9 && r.instances > 0);
        SAME(r.pre, 1e-3 * s.ms[SK_STAGE_PRE]);
        SAME(r.network, 1e-3 * (s.ms[SK_STAGE_NETWORK] + s.ms[SK_STAGE_SECOND]));
        SAME(r.post, 1e-3 * (s.ms[SK_STAGE_POST] + s.ms[SK_STAGE_CROPS] + s.ms[SK_STAGE_SECOND_POST]));
        SAME(r.seconds, s.seconds);
        assert_true((s.ms[SK_STAGE_SECOND] > 0) == (models == 2) &&
                    (s.ms[SK_STAGE_CROPS] > 0) == (models == 2));
        assert_true(r.wait_source >= 0 && r.wait_source <= r.seconds);
        SAME(r.decode, r.source.decode_seconds);
        char *told = NULL;
        size_t length = 0;
        assert_ok(sk_file_read(models == 1 ? "one/run.json" : "two/run.json", 1 << 20, &told, &length, &err),
                  &err);
        const double part = number_behind(told, "\"last_part\": {\n    \"frames\": 9,\n    \"seconds\": ");
        assert_true(fabs(part / r.seconds - 1) < 1e-4);
        assert_true(strstr(told, "\"frames\": 9") && strstr(told, "\"decoder\": \"") &&
                    strstr(told, "\"hwaccel\": \"\""));
        sk_free(told);
    }
}

static bool stop_at(void *context, const sk_predict_progress *p)
{
    return p->done == *(int64_t *)context;
}

/* What run.json says of the last part is that part's, what it says of the run is all of it; pictures left out are none of its frames. */
static void what_is_said_of_a_part(void **state)
{
    (void)state;
    put_pictures("holes", 6);
    assert_ok(sk_file_replace("holes/001.png", "no picture", 10, &err), &err);
    sk_predict_settings s = quick("holes", "said");
    int64_t at = 4;
    assert_ok(sk_predict_run(&s, stop_at, &at, &r, &err), &err);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 2 && r.total_frames == 5 && r.instances == 15 && r.unreadable == 1);
    char *told = text_of("said", "run.json");
    assert_non_null(
        strstr(told, "\"frames\": 5,\n  \"instances\": 15,\n  \"last_part\": {\n    \"frames\": 2,"));
    sk_free(told);
}

/* --- who sees frames pass --- */

typedef struct tapped {
    int begun, taken, ended, pixels;
    bool finished, tracked;
    double rate;
    int64_t stop_at;
} tapped;

static void tap_begins(void *context, const sk_run_header *header)
{
    tapped *t = context;
    t->begun++;
    t->tracked = header->tracked;
    t->rate = header->rate;
}

static bool tap_takes(void *context, const sk_result_frame *result, const sk_frame *frame)
{
    tapped *t = context;
    assert_int_equal(result->index, t->taken);
    t->taken++;
    t->pixels += frame != NULL && frame->data != NULL;
    return t->taken == t->stop_at;
}

static void tap_ends(void *context, bool finished)
{
    tapped *t = context;
    t->ended++;
    t->finished = finished;
}

static void frames_that_pass(void **state)
{
    (void)state;
    put_pictures("nine", 9);
    for (int i = 0; i < 3; i++) {
        char out[16];
        tapped t = {.stop_at = i == 2 ? 4 : -1};
        const sk_tap tap = {.needs = i ? SK_NEEDS_PIXELS : 0,
                            .begin = tap_begins,
                            .take = tap_takes,
                            .end = tap_ends,
                            .context = &t};
        snprintf(out, sizeof out, "tapped%d", i);
        sk_predict_settings s = quick("nine", out);
        s.tap = &tap;
        s.find_only = i == 1; /* nothing else is written then, but who looks on sees it all the same */
        assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
        const int wanted = i == 2 ? 4 : 9;
        assert_true(t.begun == 1 && t.taken == wanted && t.ended == 1 && t.pixels == (i ? wanted : 0));
        assert_true(t.finished == (i != 2) && r.stopped == (i == 2) && !t.tracked);
    }
}

/* --- what was found before --- */

static void find(const char *source, const char *out, int64_t first, int64_t last)
{
    sk_predict_settings s = quick(source, out);
    s.find_only = true;
    s.media.first = first;
    s.media.last = last;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
}

/* A part that lies within another takes nothing away from it; one to the last frame covers all that follows. */
static void parts_within_parts(void **state)
{
    (void)state;
    static const char *const nested[] = {"f2to4", "f8", "f0to8"}, *const open[] = {"f8", "f0on", "f2to4"},
                             *const same[] = {"f0on", "f0to8"};
    put_pictures("nine", 9);
    find("nine", "f0to8", 0, 8);
    find("nine", "f2to4", 2, 4);
    find("nine", "f8", 8, 9);
    find("nine", "f0on", 0, -1);
    const struct {
        const char *out;
        const char *const *found;
        int32_t n;
    } rows[] = {{"nested", nested, 3}, {"open", open, 3}, {"same", same, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_predict_settings s = quick("nine", rows[i].out);
        s.found = rows[i].found;
        s.n_found = rows[i].n;
        assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
        if (r.frames != 0 || r.total_frames != 9 || r.instances != 27)
            fail_msg("%s: %lld of %lld computed", rows[i].out, (long long)r.frames,
                     (long long)r.total_frames);
        assert_int_equal(count_of(rows[i].out, "results.jsonl", "\"frame\":"), 9);
    }
}

/* Pictures that could not be read stay left out, and are told as if this run had tried them. */
static void holes_that_were_found(void **state)
{
    (void)state;
    static const char *const found[] = {"holes_found"};
    put_pictures("torn", 4);
    assert_ok(sk_file_replace("torn/002.png", "no picture", 10, &err), &err);
    find("torn", "holes_found", 0, -1);
    sk_predict_settings s = quick("torn", "holes_taken");
    s.found = found;
    s.n_found = 1;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 0 && r.total_frames == 3 && r.unreadable == 1 && r.instances == 9);
    assert_true(count_of("holes_taken", "run.json", "002.png") > 0 &&
                count_of("holes_taken", "run.json", "001.png") == 0);
    /* a journal of which only the begin is there */
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("holes_found/journal.skj", 1 << 22, &bytes, &length, &err), &err);
    assert_ok(sk_file_replace("holes_found/journal.skj", bytes, 12, &err), &err);
    sk_free(bytes);
    s.out = "holes_again";
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "holes_found: its journal cannot be read");
}

int main(void)
{
    const yolo_fixture pose = {.head = "Pose", .f32 = true}, detect = {.head = "Detect", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&pose, "pose.pt"));
    snprintf(second, sizeof second, "%s", yolo_save(&detect, "detect.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlays_on_the_gpu),   cmocka_unit_test(kinds_of_frames),
        cmocka_unit_test(times_of_two_models),   cmocka_unit_test(what_is_said_of_a_part),
        cmocka_unit_test(frames_that_pass),      cmocka_unit_test(parts_within_parts),
        cmocka_unit_test(holes_that_were_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
