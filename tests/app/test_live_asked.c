/* SPDX-License-Identifier: Apache-2.0 */
/* What live tracks ask of the tracker: with which wishes it is opened, when each frame is, and whose number an instance gets. A teller of
 * this test's own takes the real one's place and writes down what it hears. */
#include "support/fault.h"
#include "support/test.h"

#include "app/track_teller.h"
#include "base/instances.h"
#include "base/memory.h"
#include "skitter/skitter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;

/* --- the teller that listens --- */

struct sk_track_teller {
    int unused;
};
static sk_track_wish wish;
static sk_run_header header;
static char method[32];
static int64_t entries[16];
static sk_result_frame frames[16];
static int n_told, closed;
static const sk_sighting *answers;
static int32_t n_answers;
static bool silent; /* it tells of no sightings */
static sk_status refused;

sk_status sk_track_teller_open(const sk_track_wish *asked, const sk_run_header *about, sk_track_teller **out,
                               sk_error *error)
{
    wish = *asked;
    header = *about;
    snprintf(method, sizeof method, "%s", asked->track.method);
    *out = NULL;
    if (refused != SK_OK)
        return sk_fail(error, refused, "no such tracker");
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(error, sizeof **out);
}

void sk_track_teller_close(sk_track_teller **teller)
{
    closed += *teller != NULL;
    sk_free(*teller);
    *teller = NULL;
}

sk_status sk_track_teller_tell(sk_track_teller *teller, int64_t entry, const sk_result_frame *known,
                               sk_result_frame *told, sk_error *error)
{
    static sk_instances some;
    assert_non_null(teller);
    assert_true(n_told < 16);
    entries[n_told] = entry;
    frames[n_told++] = *known;
    if (refused != SK_OK)
        return sk_fail(error, refused, "not now");
    *told = *known;
    some.count = n_answers;
    told->instances = &some;
    told->sightings = silent ? NULL : answers;
    return SK_OK;
}

/* Nobody settles or asks for figures here; they are defined so that nothing of the real one is linked. */
sk_status sk_track_teller_settle(sk_track_teller *teller, sk_run_folder *folder, bool raw, sk_error *error)
{
    (void)teller, (void)folder, (void)raw;
    return sk_fail(error, SK_ERR_ARG, "not asked for");
}

const sk_track_figures *sk_track_teller_figures(const sk_track_teller *teller)
{
    (void)teller;
    return NULL;
}

/* --- who asks --- */

static sk_live_tracks *open_tracks(double fps, int32_t animals)
{
    static const char *const classes[] = {"fly"};
    const sk_pipeline_info about = {
        .task = SK_TASK_DETECT, .n_classes = 1, .class_names = classes, .has = SK_HAS_BOX};
    sk_live_tracks_settings s = SK_LIVE_TRACKS_SETTINGS_INIT;
    sk_live_tracks *tracks = NULL;
    sk_live_tracks_defaults(&s);
    s.fps = fps;
    s.animals = animals;
    n_told = closed = 0;
    assert_ok(sk_live_tracks_open(&about, &s, &tracks, &err), &err);
    return tracks;
}

static sk_status tell(sk_live_tracks *t, int64_t ns, int32_t n, int32_t *ids, int32_t capacity)
{
    static sk_instances list;
    list = (sk_instances){.count = n, .capacity = n};
    const sk_result result = {.size = sizeof result,
                              .index = 70,
                              .time_ns = ns,
                              .width = 640,
                              .height = 200,
                              .instances = n < 0 ? NULL : &list};
    return sk_live_tracks_tell(t, &result, ids, capacity, &err);
}

static void how_it_is_opened(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        sk_live_tracks *t = open_tracks(i ? 12.5 : 0, 3 * i);
        assert_true(wish.online && wish.track.fps == (i ? 12.5 : 0) && wish.track.animals == 3 * i);
        sk_track_wish usual;
        sk_track_wish_defaults(&usual);
        for (size_t k = 0; sk_track_setting_at(k); k++) { /* all else is as usual */
            const sk_track_setting *s = sk_track_setting_at(k);
            assert_true(strcmp(s->name, "fps") == 0 || strcmp(s->name, "animals") == 0 ||
                        sk_track_setting_get(s, &wish) == sk_track_setting_get(s, &usual));
        }
        assert_string_equal(method, "skitter");
        assert_string_equal(header.source_kind, "live");
        assert_true(header.n_classes == 1 && header.has == SK_HAS_BOX);
        sk_live_tracks_close(&t);
        assert_true(!t && closed == 1);
    }
    const sk_pipeline_info about = {.task = SK_TASK_DETECT};
    sk_live_tracks *t = NULL;
    assert_ok(sk_live_tracks_open(&about, NULL, &t, &err), &err); /* as usual */
    assert_string_equal(method, "skitter");
    assert_true(wish.track.fps == 0 && wish.track.animals == 0);
    sk_live_tracks_close(&t);
    sk_live_tracks_settings s = SK_LIVE_TRACKS_SETTINGS_INIT;
    sk_live_tracks_defaults(&s);
    s.tracker = "another";
    assert_ok(sk_live_tracks_open(&about, &s, &t, &err), &err);
    assert_string_equal(method, "another");
    sk_live_tracks_close(&t);
    s.tracker = NULL;
    assert_ok(sk_live_tracks_open(&about, &s, &t, &err), &err);
    assert_string_equal(method, "skitter");
    sk_live_tracks_close(&t);
    refused = SK_ERR_ARG;
    assert_int_equal(sk_live_tracks_open(&about, &s, &t, &err), SK_ERR_ARG);
    assert_null(t);
    refused = SK_OK;
    assert_int_equal(sk_live_tracks_open(NULL, &s, &t, &err), SK_ERR_ARG);
    assert_int_equal(sk_live_tracks_open(&about, &s, NULL, &err), SK_ERR_ARG);
}

/* From the first frame on; frames that say the same time, or none, are a frame apart. */
static void when_frames_are(void **state)
{
    (void)state;
    static const struct {
        double fps;
        int64_t ns[5];
        double wanted[5];
    } rows[] = {
        {0, {7000000000, 7040000000, 7040000000, 7040000001, 8000000000}, {0, 0.04, 0.08, 0.080000001, 1.04}},
        {10, {0, 0, 0, 50000000, 50000000}, {0, 0.1, 0.2, 0.25, 0.35}},
        {-3, {0, 0, 0, 0, 0}, {0, 0.04, 0.08, 0.12, 0.16}},
        {1, {-5000000000, -4999999999, 0, 0, 1}, {0, 1e-9, 5, 6, 6.000000001}},
        {0.5, {1, 1, 2, 2, 2}, {0, 2, 2.000000001, 4.000000001, 6.000000001}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_live_tracks *t = open_tracks(rows[i].fps, 0);
        for (int k = 0; k < 5; k++) {
            assert_ok(tell(t, rows[i].ns[k], 0, NULL, 0), &err);
            assert_int_equal(n_told, k + 1);
            assert_true(entries[k] == k && frames[k].index == k);
            assert_true(frames[k].width == 640 && frames[k].height == 200 && !frames[k].problem);
            assert_string_equal(frames[k].source, "");
            if (fabs(frames[k].time - rows[i].wanted[k]) > 1e-12)
                fail_msg("row %zu, frame %d: %.12f", i, k, frames[k].time);
        }
        sk_live_tracks_close(&t);
    }
    /* earlier ones are refused, also by a nanosecond, and change nothing; failed frames are not told */
    sk_live_tracks *t = open_tracks(0, 0);
    assert_ok(tell(t, 1000, 0, NULL, 0), &err);
    assert_int_equal(tell(t, 999, 0, NULL, 0), SK_ERR_ARG);
    assert_ok(tell(t, 5, -1, NULL, 0), &err);
    assert_int_equal(n_told, 1);
    assert_ok(tell(t, 1001, 0, NULL, 0), &err);
    assert_true(n_told == 2 && entries[1] == 1 && fabs(frames[1].time - 1e-9) < 1e-15);
    sk_live_tracks_close(&t);
}

/* A frame that the tracker could not begin with leaves the beginning to the next one; a later one that failed was one. */
static void what_fails_first(void **state)
{
    (void)state;
    sk_live_tracks *t = open_tracks(0, 0);
    for (int k = 0; k < 5; k++) {
        static const int64_t wanted[] = {0, 0, 0, 1, 2};
        refused = k < 2 || k == 3 ? SK_ERR_MEMORY : SK_OK;
        assert_int_equal(tell(t, k, 0, NULL, 0), refused);
        assert_int_equal(entries[k], wanted[k]);
    }
    refused = SK_OK;
    sk_live_tracks_close(&t);
}

static void whose_numbers(void **state)
{
    (void)state;
    static const sk_sighting seen[] = {{.track = 7, .detection = 2},  {.track = 8, .detection = -1},
                                       {.track = 9, .detection = 0},  {.track = 10, .detection = 4},
                                       {.track = 11, .detection = 5}, {.track = 12, .detection = 3}};
    static const int32_t wanted[] = {9, -1, 7, 12, -99};
    sk_live_tracks *t = open_tracks(0, 0);
    int32_t ids[5] = {-99, -99, -99, -99, -99};
    answers = seen, n_answers = 6;
    assert_ok(tell(t, 0, 4, ids, 5), &err);
    assert_memory_equal(ids, wanted, sizeof ids);
    n_answers = 3; /* no more of them than there are */
    assert_ok(tell(t, 1, 4, ids, 4), &err);
    assert_true(ids[0] == 9 && ids[1] == -1 && ids[2] == 7 && ids[3] == -1 && ids[4] == -99);
    silent = true;
    ids[0] = ids[3] = -99;
    assert_ok(tell(t, 2, 4, ids, 4), &err);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ids[i], -1);
    silent = false;
    assert_int_equal(n_told, 3);
    assert_int_equal(tell(t, 3, 4, ids, 3), SK_ERR_ARG);
    assert_int_equal(n_told, 3); /* not told at all */
    refused = SK_ERR_IO;
    ids[0] = -99;
    assert_int_equal(tell(t, 3, 1, ids, 3), SK_ERR_IO);
    assert_int_equal(ids[0], -1);
    refused = SK_OK;
    answers = NULL, n_answers = 0;
    sk_live_tracks_close(&t);
}

static sk_status open_close(void *context, sk_error *error)
{
    (void)context;
    const sk_pipeline_info about = {.task = SK_TASK_DETECT};
    sk_live_tracks *t = NULL;
    const sk_status status = sk_live_tracks_open(&about, NULL, &t, error);
    assert_int_equal(t != NULL, status == SK_OK);
    sk_live_tracks_close(&t);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(open_close, NULL), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(how_it_is_opened), cmocka_unit_test(when_frames_are),
                                       cmocka_unit_test(what_fails_first), cmocka_unit_test(whose_numbers),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
