/* SPDX-License-Identifier: Apache-2.0 */
/* What consumers ask of those who draw and cut: with which place an overlay is opened, which frames it lacks, when a part of it ends;
 * crops, and looks. All others here are this test's own. */
#include "support/test.h"

#include "app/consumers.h"
#include "app/crop_run.h"
#include "app/frame_looks.h"
#include "app/overlay_run.h"
#include "base/memory.h"
#include "base/text.h"
#include "media/overlay.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_text heard;

static const char *told(void)
{
    static char text[4096];
    snprintf(text, sizeof text, "%s", sk_text_get(&heard));
    sk_text_free(&heard);
    return text;
}

/* --- the folder --- */

struct sk_run_folder {
    const char *path;
    int64_t known;
    sk_run_stage stage;
};

const char *sk_run_folder_path(const sk_run_folder *folder)
{
    return folder->path;
}

uint64_t sk_run_folder_id(const sk_run_folder *folder)
{
    (void)folder;
    return 0xABCDEF0123456789;
}

int64_t sk_run_folder_known(const sk_run_folder *folder)
{
    return folder->known;
}

sk_run_stage sk_run_folder_stage(const sk_run_folder *folder)
{
    return folder->stage;
}

sk_status sk_run_folder_flush(sk_run_folder *folder, bool durable, sk_error *error)
{
    (void)folder, (void)error;
    sk_text_append(&heard, durable ? "to the disk; " : "flush; ");
    return SK_OK;
}

/* --- who draws --- */

struct sk_overlay_run {
    sk_overlay_place place;
    sk_overlay_settings how;
};
static bool is_there, full;
static sk_overlay_run opened;
static const sk_overlay_track *tracks;

sk_status sk_overlay_run_open(const sk_overlay_place *place, const sk_overlay_settings *settings,
                              sk_overlay_run **out, sk_error *error)
{
    opened = (sk_overlay_run){*place, *settings};
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(error, sizeof **out);
}

bool sk_overlay_run_is_there(const sk_overlay_run *run)
{
    assert_non_null(run);
    return is_there;
}

sk_status sk_overlay_run_begin(sk_overlay_run *run, int64_t known, int64_t *covered, sk_error *error)
{
    (void)run, (void)error;
    sk_text_appendf(&heard, "begin at %lld; ", (long long)known);
    *covered = known > 2 ? known - 2 : 0;
    return SK_OK;
}

bool sk_overlay_run_has(sk_overlay_run *run, const char *name, int64_t frame)
{
    (void)run;
    sk_text_appendf(&heard, "has %s %lld?; ", name, (long long)frame);
    return frame % 2 == 0;
}

sk_status sk_overlay_run_write(sk_overlay_run *run, const sk_frame *frame, const char *name,
                               const sk_instances *instances, const sk_overlay_track *which, sk_error *error)
{
    (void)run, (void)error;
    tracks = which;
    sk_text_appendf(&heard, "draw %s %lld %d; ", name, (long long)frame->index, instances->count);
    for (int32_t i = 0; which && i < instances->count; i++)
        sk_text_appendf(&heard, "track %d; ", which[i].track);
    return SK_OK;
}

bool sk_overlay_run_part_is_full(const sk_overlay_run *run)
{
    assert_non_null(run);
    return full;
}

sk_status sk_overlay_run_end_part(sk_overlay_run *run, sk_error *error)
{
    (void)run, (void)error;
    sk_text_append(&heard, "end of part; ");
    return SK_OK;
}

sk_status sk_overlay_run_join(sk_overlay_run *run, bool finished, sk_error *error)
{
    (void)run, (void)error;
    sk_text_append(&heard, finished ? "join all; " : "join; ");
    return SK_OK;
}

void sk_overlay_run_close(sk_overlay_run **run)
{
    sk_free(*run);
    *run = NULL;
}

sk_overlay_track sk_overlay_track_of(const sk_sighting *sighting)
{
    return (sk_overlay_track){.track = 100 + sighting->track};
}

static const char *const classes[] = {"fly", "bee"};
static const int32_t edges[][2] = {{0, 1}, {1, 2}, {2, 3}};
static const sk_sighting seen[] = {{.track = 3}, {.track = 1}};

static sk_run_header header_of(const char *kind)
{
    return (sk_run_header){.source = "v",
                           .source_kind = kind,
                           .width = 64,
                           .height = 48,
                           .rate = 12.5,
                           .n_classes = 2,
                           .class_names = classes,
                           .n_edges = 3,
                           .edges = edges};
}

static void how_an_overlay_is_opened(void **state)
{
    (void)state;
    static const char *const kinds[] = {"video", "pictures", "live"};
    sk_overlay_settings usual;
    sk_overlay_defaults(&usual);
    assert_true(usual.trail != 0);
    for (int i = 0; i < 3; i++)
        for (int gpu = 0; gpu < 2; gpu++) {
            const sk_overlay_wish wish = {.draw = 5, .line_width = 1.5F, .gpu = gpu};
            const sk_run_header header = header_of(kinds[i]);
            sk_run_folder folder = {.path = "out", .known = 7, .stage = SK_RUN_BEGUN};
            sk_consumers list = {0};
            assert_ok(sk_consumers_add(&list, sk_consumer_overlay(&wish), &err), &err);
            sk_consumer *c = list.items[0];
            assert_string_equal(c->kind->name, "overlay");
            assert_int_equal(c->needs, SK_NEEDS_PIXELS | SK_NEEDS_NAMES);
            sk_consumers_settle(&list, &header);
            assert_string_equal(c->files[0], i == 1 ? "overlay/" : "overlay.mp4");
            assert_null(c->files[1]);
            is_there = true; /* … of a run that is not at its end it does not matter */
            assert_ok(sk_consumers_begin(&list, &header, &folder, &err), &err);
            assert_string_equal(told(), "begin at 7; ");
            assert_int_equal(c->has, 5);
            const sk_overlay_place *p = &opened.place;
            assert_true(p->id == 0xABCDEF0123456789 && p->pictures == (i == 1) && p->width == 64 &&
                        p->height == 48 && p->rate == 12.5 && p->gpu == gpu);
            assert_string_equal(p->folder, "out");
            const sk_overlay_settings *s = &opened.how;
            assert_true(s->n_classes == 2 && s->class_names == classes && s->n_edges == 3 &&
                        s->edges == edges && s->what == 5 && s->line_width == 1.5F &&
                        s->trail == usual.trail);
            sk_consumers_close(&list);
        }
    for (int there = 0; there < 2; there++) { /* a run that is complete draws what is not there */
        const sk_overlay_wish wish = {.draw = 5};
        const sk_run_header header = header_of("video");
        sk_run_folder folder = {.path = "out", .known = 7, .stage = SK_RUN_COMPLETE};
        sk_consumers list = {0};
        assert_ok(sk_consumers_add(&list, sk_consumer_overlay(&wish), &err), &err);
        is_there = there;
        assert_ok(sk_consumers_begin(&list, &header, &folder, &err), &err);
        assert_string_equal(told(), there ? "" : "begin at 7; ");
        assert_int_equal(list.items[0]->has, there ? 7 : 5);
        sk_consumers_close(&list);
    }
}

static void what_an_overlay_does(void **state)
{
    (void)state;
    const sk_overlay_wish wish = {.draw = 1};
    static const sk_instances two = {.count = 2};
    for (int pictures = 0; pictures < 2; pictures++) {
        const sk_run_header header = header_of(pictures ? "pictures" : "video");
        sk_run_folder folder = {.path = "out", .known = 4, .stage = SK_RUN_BEGUN};
        sk_consumers list = {0};
        assert_ok(sk_consumers_add(&list, sk_consumer_overlay(&wish), &err), &err);
        sk_consumer *c = list.items[0];
        sk_consumers_settle(&list, &header);
        assert_ok(sk_consumers_begin(&list, &header, &folder, &err), &err);
        (void)told();
        for (int64_t i = 0; i < 4; i++) { /* two are covered; of pictures each of the others is looked for */
            bool lacks = false;
            const sk_result_frame known = {.source = "a.png", .index = 10 + i, .instances = &two};
            assert_ok(c->kind->retell(c, i, &known, &lacks, &err), &err);
            assert_int_equal(lacks, i >= 2 && (!pictures || i % 2 == 1));
        }
        assert_string_equal(told(), pictures ? "has a.png 12?; has a.png 13?; " : "");
        const sk_frame frame = {.index = 14};
        sk_result_frame result = {.source = "b.png", .index = 14, .instances = &two, .sightings = seen};
        sk_passing passing = {.result = &result, .frame = &frame};
        full = false;
        assert_ok(c->kind->take(c, &passing, &err), &err);
        assert_string_equal(told(), "draw b.png 14 2; track 103; track 101; ");
        result.sightings = NULL;
        full = true;
        assert_ok(c->kind->take(c, &passing, &err), &err);
        assert_null(tracks);
        assert_string_equal(told(), "draw b.png 14 2; to the disk; end of part; "); /* in this order */
        assert_ok(c->kind->complete(c, &err), &err);
        assert_ok(c->kind->end(c, false, &err), &err);
        assert_ok(c->kind->end(c, true, &err), &err);
        assert_string_equal(told(), "end of part; join; join all; ");
        sk_consumers_close(&list);
    }
}

/* --- crops and looks --- */

struct sk_crop_run {
    int unused;
};

sk_status sk_crop_run_open(const char *folder, const sk_run_header *header, sk_crop_run **out,
                           sk_error *error)
{
    sk_text_appendf(&heard, "crops in %s of %s; ", folder, header->source);
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(error, sizeof **out);
}

void sk_crop_run_close(sk_crop_run **run)
{
    sk_free(*run);
    *run = NULL;
}

sk_status sk_crop_run_has(sk_crop_run *run, const sk_result_frame *result, bool *all, sk_error *error)
{
    (void)run;
    *all = result->index % 2 == 0;
    return result->index == 9 ? sk_fail(error, SK_ERR_IO, "gone") : SK_OK;
}

sk_status sk_crop_run_write(sk_crop_run *run, const sk_frame *frame, const sk_result_frame *result,
                            sk_error *error)
{
    (void)run, (void)error;
    sk_text_appendf(&heard, "cut %lld of %lld; ", (long long)result->index, (long long)frame->index);
    return SK_OK;
}

static void crops(void **state)
{
    (void)state;
    const sk_run_header header = header_of("video");
    sk_run_folder folder = {.path = "out"};
    sk_consumers list = {0};
    assert_ok(sk_consumers_add(&list, sk_consumer_crops(), &err), &err);
    sk_consumer *c = list.items[0];
    assert_string_equal(c->kind->name, "crops");
    assert_int_equal(c->needs, SK_NEEDS_PIXELS | SK_NEEDS_NAMES);
    assert_string_equal(c->files[0], "crops/");
    assert_null(c->files[1]);
    assert_ok(sk_consumers_begin(&list, &header, &folder, &err), &err);
    sk_result_frame result = {.source = "v"};
    for (int64_t i = 0; i < 4; i++) {
        bool lacks = false;
        result.index = i;
        assert_ok(c->kind->retell(c, i, &result, &lacks, &err), &err);
        assert_int_equal(lacks, i % 2 == 1);
    }
    bool lacks = false;
    result.index = 9;
    assert_int_equal(c->kind->retell(c, 9, &result, &lacks, &err), SK_ERR_IO);
    const sk_frame frame = {.index = 9};
    sk_passing passing = {.result = &result, .frame = &frame};
    assert_ok(c->kind->take(c, &passing, &err), &err);
    assert_string_equal(told(), "crops in out of v; cut 9 of 9; ");
    sk_consumers_close(&list);
}

static uint8_t looks_of[4];

sk_status sk_frame_looks_fill(sk_frame_looks *looks, const sk_frame *frame, const sk_instances *found,
                              sk_error *error)
{
    (void)error;
    sk_text_appendf(&heard, "look at %d in %lld; ", found->count, (long long)frame->index);
    looks->bytes = looks_of;
    return SK_OK;
}

void sk_frame_looks_free(sk_frame_looks *looks)
{
    (void)looks;
    sk_text_append(&heard, "enough; ");
}

bool sk_frame_looks_get(const uint8_t *bytes, int32_t instance, float out[SK_TRACK_LOOKS])
{
    (void)bytes, (void)instance, (void)out;
    return false;
}

/* Those behind it are told what was seen; a frame that was not read again comes with what was seen then. */
static void looks(void **state)
{
    (void)state;
    static const sk_instances two = {.count = 2};
    static const uint8_t before[1];
    const sk_frame frame = {.index = 6};
    for (int i = 0; i < 3; i++) {
        sk_result_frame result = {.source = "v",
                                  .index = 6,
                                  .time = 0.5,
                                  .instances = &two,
                                  .looks = before,
                                  .problem = i == 2 ? "torn" : NULL};
        sk_passing passing = {.result = &result, .frame = i == 1 ? NULL : &frame};
        sk_consumers list = {0};
        assert_ok(sk_consumers_add(&list, sk_consumer_looks(), &err), &err);
        sk_consumer *c = list.items[0];
        assert_string_equal(c->kind->name, "looks");
        assert_int_equal(c->needs, SK_NEEDS_PIXELS);
        assert_ok(c->kind->take(c, &passing, &err), &err);
        if (i == 0) {
            assert_ptr_not_equal(passing.result, &result);
            assert_true(passing.result->looks == looks_of && passing.result->index == 6 &&
                        passing.result->time == 0.5 && passing.result->instances == &two);
            assert_ptr_equal(result.looks, before);
        } else {
            assert_ptr_equal(passing.result, &result);
        }
        assert_string_equal(told(), i == 0 ? "look at 2 in 6; " : "");
        sk_consumers_close(&list);
        assert_string_equal(told(), "enough; ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(how_an_overlay_is_opened),
                                       cmocka_unit_test(what_an_overlay_does), cmocka_unit_test(crops),
                                       cmocka_unit_test(looks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
