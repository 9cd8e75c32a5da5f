/* SPDX-License-Identifier: Apache-2.0 */
/* A run that tracks, as it asks others: which formats are written by whom, what is played to them from the folder, when the overlay is
 * drawn, and whose failure is told. The teller, the files and who plays frames again are this test's own. */
#include "support/test.h"

#include "app/retell.h"
#include "app/track_internal.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static char heard[2048];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const size_t used = strlen(heard);
    vsnprintf(heard + used, sizeof heard - used, format, list);
    va_end(list);
}

/* --- in the places of others --- */

struct sk_track_teller {
    sk_track_figures figures;
};
static sk_status settling, playing, ending;

sk_status sk_track_teller_open(const sk_track_wish *wish, const sk_run_header *header, sk_track_teller **out,
                               sk_error *error)
{
    (void)wish, (void)header;
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(error, sizeof **out);
}

void sk_track_teller_close(sk_track_teller **teller)
{
    sk_free(*teller);
    *teller = NULL;
}

sk_status sk_track_teller_settle(sk_track_teller *teller, sk_run_folder *folder, bool raw, sk_error *error)
{
    assert_ptr_equal(folder, &err);
    teller->figures.found = 5;
    say("settle%s; ", raw ? " with raw" : "");
    return settling == SK_OK ? SK_OK : sk_fail(error, settling, "not settled");
}

sk_status sk_track_teller_tell(sk_track_teller *teller, int64_t entry, const sk_result_frame *known,
                               sk_result_frame *told, sk_error *error)
{
    (void)error;
    *told = *known;
    told->index = known->index + 100;
    teller->figures.sightings++;
    say("tell %lld; ", (long long)entry);
    return known->index == 9 ? sk_fail(error, SK_ERR_FORMAT, "not told") : SK_OK;
}

const sk_track_figures *sk_track_teller_figures(const sk_track_teller *teller)
{
    return &teller->figures;
}

typedef struct toy {
    sk_consumer base;
    char name[32];
} toy;

static sk_status toy_begin(sk_consumer *c, const sk_run_header *header, sk_run_folder *folder,
                           sk_error *error)
{
    (void)header, (void)error;
    assert_ptr_equal(folder, &err);
    say("begin %s; ", ((toy *)c)->name);
    return SK_OK;
}

static sk_status toy_complete(sk_consumer *c, sk_error *error)
{
    (void)error;
    say("complete %s; ", ((toy *)c)->name);
    return SK_OK;
}

static sk_status toy_end(sk_consumer *c, bool finished, sk_error *error)
{
    say("%s %s; ", finished ? "finish" : "end", ((toy *)c)->name);
    return ending == SK_OK ? SK_OK : sk_fail(error, ending, "not ended");
}

static void toy_settle(sk_consumer *c, const sk_run_header *header)
{
    say("%s of %s; ", ((toy *)c)->name, header->source_kind);
}

static const sk_consumer_kind toy_kind = {
    .name = "toy", .begin = toy_begin, .complete = toy_complete, .end = toy_end, .settle = toy_settle};

static sk_consumer *make(const char *name, uint32_t needs)
{
    toy *t = sk_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->base = (sk_consumer){.kind = &toy_kind, .needs = needs};
    snprintf(t->name, sizeof t->name, "%s", name);
    return &t->base;
}

sk_consumer *sk_consumer_file(const sk_sink_kind *format)
{
    return make(format->name, SK_NEEDS_NAMES);
}

static const sk_predict_report *reported;

sk_consumer *sk_consumer_report(const sk_track_run *run, const sk_predict_settings *settings,
                                const sk_predict_report *report)
{
    (void)run, (void)settings;
    reported = report;
    return make("report", 0);
}

static sk_overlay_wish drawn;

sk_consumer *sk_consumer_overlay(const sk_overlay_wish *wish)
{
    drawn = *wish;
    return make("overlay", SK_NEEDS_PIXELS | SK_NEEDS_NAMES);
}

bool sk_overlay_on_gpu(const sk_predict_settings *settings)
{
    return settings->draw == 7;
}

sk_status sk_retell_run(const sk_retell *retell, sk_error *error)
{
    const sk_result_frame known = {.index = 3};
    sk_result_frame told = {0};
    assert_ptr_equal(retell->folder, &err);
    assert_true(retell->side_by_side);
    say("play %s to %d%s%s; ", retell->source, retell->consumers->count,
        retell->drawn_only ? " who draw" : "", retell->media->skip_unreadable ? "" : " strictly");
    assert_ok(retell->tell(retell->context, 4, &known, &told, error), error);
    assert_int_equal(told.index, 103);
    return playing == SK_OK ? SK_OK : sk_fail(error, playing, "not played");
}

/* --- a run --- */

static sk_track_run run;
static sk_predict_settings settings;
static const sk_predict_report report;
static const sk_run_header header = {.source = "v", .source_kind = "video"};

static void begin(int32_t n, const char *const *formats)
{
    memset(&run, 0, sizeof run);
    settings = (sk_predict_settings){0};
    settings.source = "v.mp4";
    settings.n_formats = n;
    for (int32_t i = 0; i < n; i++)
        settings.formats[i] = formats[i];
    settling = playing = ending = SK_OK;
    heard[0] = '\0';
}

/* The whole of it: what it gives when it is completed, and when it ends. */
static const char *through(bool at_once, sk_status completed, bool finished, sk_status ended)
{
    sk_consumers list = {0};
    reported = NULL;
    run.figures.tracks = 77;
    assert_ok(sk_consumers_add(&list, sk_consumer_track(&run, &settings, &report, at_once), &err), &err);
    sk_consumer *c = list.items[0];
    assert_ok(c->kind->begin(c, &header, (sk_run_folder *)(void *)&err, &err), &err);
    assert_int_equal(run.figures.tracks, 0);
    assert_int_equal(c->kind->complete(c, &err), completed);
    assert_int_equal(run.figures.found, at_once ? 0 : 5);
    say("| ");
    assert_int_equal(c->kind->end(c, finished, &err), ended);
    sk_consumers_close(&list);
    return heard;
}

static const char *const two[] = {"csv", "jsonl"}, *const three[] = {"csv", "raw", "jsonl"};

static void who_writes(void **state)
{
    (void)state;
    begin(2, two);
    assert_string_equal(
        through(false, SK_OK, true, SK_OK),
        "settle; begin csv; begin jsonl; play v.mp4 to 2; tell 4; complete csv; complete jsonl; "
        "finish csv; finish jsonl; | ");
    begin(3, three); /* what each pass saw is written while it settles … */
    assert_string_equal(through(false, SK_OK, true, SK_OK),
                        "settle with raw; begin csv; begin jsonl; play v.mp4 to 2; tell 4; complete csv; "
                        "complete jsonl; finish csv; finish jsonl; | ");
    begin(3, three); /* … unless there is one pass alone */
    run.wish.online = true;
    settings.strict = true;
    assert_string_equal(
        through(false, SK_OK, true, SK_OK),
        "settle; begin csv; begin raw; begin jsonl; play v.mp4 to 3 strictly; tell 4; complete "
        "csv; complete raw; complete jsonl; finish csv; finish raw; finish jsonl; | ");
    begin(0, NULL);
    run.wish.report = true;
    assert_string_equal(through(false, SK_OK, true, SK_OK),
                        "settle; begin report; play v.mp4 to 1; tell 4; complete report; finish report; | ");
    assert_ptr_equal(reported, &report);
    begin(2, two); /* others write */
    run.wish.report = settings.overlay = true;
    assert_string_equal(through(true, SK_OK, true, SK_OK), "| ");
}

static void who_draws(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(0, NULL);
        settings.overlay = true;
        settings.draw = i ? 7 : 3;
        settings.line_width = 2.5F;
        assert_string_equal(
            through(false, SK_OK, true, SK_OK),
            "settle; play v.mp4 to 0; tell 4; | overlay of video; begin overlay; play v.mp4 to 1 "
            "who draw; tell 4; complete overlay; finish overlay; ");
        assert_true(drawn.draw == settings.draw && drawn.line_width == 2.5F && drawn.gpu == i);
        begin(0, NULL);
        settings.overlay = true; /* of a run that was stopped nothing is drawn */
        assert_string_equal(through(false, SK_OK, false, SK_OK), "settle; play v.mp4 to 0; tell 4; | ");
    }
}

static void whose_failure(void **state)
{
    (void)state;
    begin(1, two);
    settling = SK_ERR_LIMIT;
    assert_string_equal(through(false, SK_ERR_LIMIT, false, SK_OK), "settle; | ");
    assert_string_equal(err.message, "not settled");
    begin(1, two); /* files are closed where not all came */
    playing = SK_ERR_FORMAT;
    ending = SK_ERR_IO;
    assert_string_equal(through(false, SK_ERR_FORMAT, false, SK_OK),
                        "settle; begin csv; play v.mp4 to 1; tell 4; complete csv; end csv; | ");
    assert_string_equal(err.message, "not played");
    begin(1, two);
    ending = SK_ERR_IO;
    assert_string_equal(through(false, SK_ERR_IO, false, SK_OK),
                        "settle; begin csv; play v.mp4 to 1; tell 4; complete csv; finish csv; | ");
    begin(0, NULL); /* and of what is drawn */
    settings.overlay = true;
    ending = SK_ERR_IO;
    (void)through(false, SK_OK, true, SK_ERR_IO);
    assert_string_equal(err.message, "not ended");
}

/* Frames that pass are told on as tracks, at once or not at all. */
static void what_passes(void **state)
{
    (void)state;
    for (int at_once = 0; at_once < 2; at_once++) {
        sk_consumers list = {0};
        begin(0, NULL);
        assert_ok(sk_consumers_add(&list, sk_consumer_track(&run, &settings, NULL, at_once), &err), &err);
        sk_consumer *c = list.items[0];
        assert_ok(c->kind->begin(c, &header, (sk_run_folder *)(void *)&err, &err), &err);
        for (int64_t i = 5; i < 8; i++) {
            const sk_result_frame frame = {.index = i};
            sk_passing passing = {.result = &frame};
            assert_ok(c->kind->take(c, &passing, &err), &err);
            assert_int_equal(passing.result->index, at_once ? i + 100 : i);
            assert_int_equal(passing.result != &frame, at_once);
        }
        assert_string_equal(heard, at_once ? "tell 0; tell 1; tell 2; " : "");
        const sk_result_frame wrong = {.index = 9};
        sk_passing passing = {.result = &wrong};
        assert_int_equal(c->kind->take(c, &passing, &err), at_once ? SK_ERR_FORMAT : SK_OK);
        assert_ok(c->kind->complete(c, &err), &err);
        assert_int_equal(run.figures.sightings, at_once ? 4 : 1);
        sk_consumers_close(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_writes), cmocka_unit_test(who_draws),
                                       cmocka_unit_test(whose_failure), cmocka_unit_test(what_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
