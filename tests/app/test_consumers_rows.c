/* SPDX-License-Identifier: Apache-2.0 */
/* A tap's calls, and rows without a shape: what those hear who take frames and results, or write them. */
#include "support/test.h"

#include "app/consumers.h"
#include "base/memory.h"
#include "base/text.h"

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

static const sk_run_header about = {.source = "v", .source_kind = "video"};

/* Of all of a folder they ask for its path alone. */
struct sk_run_folder {
    const char *path;
};

const char *sk_run_folder_path(const sk_run_folder *folder)
{
    return folder->path;
}

/* --- a tap --- */

static void tap_begin(void *context, const sk_run_header *header)
{
    sk_text_appendf(&heard, "%s of %s; ", (const char *)context, header->source);
}

static bool tap_take(void *context, const sk_result_frame *result, const sk_frame *frame)
{
    (void)context;
    sk_text_appendf(&heard, "%lld%s; ", (long long)result->index, frame ? " with its frame" : "");
    return result->index == 2;
}

static void tap_end(void *context, bool finished)
{
    (void)context;
    sk_text_append(&heard, finished ? "finished; " : "ended; ");
}

static void taps(void **state)
{
    (void)state;
    static char name[] = "begin";
    sk_run_folder folder = {.path = "out"};
    const sk_frame frame = {.index = 1};
    for (int all = 0; all < 2; all++) { /* who asks to be told of its begin and end, and who does not */
        const sk_tap wish = {.needs = all ? SK_NEEDS_PIXELS | SK_NEEDS_NAMES : SK_NEEDS_NAMES,
                             .begin = all ? tap_begin : NULL,
                             .take = tap_take,
                             .end = all ? tap_end : NULL,
                             .context = name};
        sk_consumers list = {0};
        assert_ok(sk_consumers_add(&list, sk_consumer_tap(&wish), &err), &err);
        sk_consumer *c = list.items[0];
        assert_string_equal(c->kind->name, "tap");
        assert_int_equal(c->needs, wish.needs);
        assert_ok(sk_consumers_begin(&list, &about, &folder, &err), &err);
        for (int64_t i = 1; i < 4; i++) {
            const sk_result_frame result = {.source = "v", .index = i};
            sk_passing passing = {.result = &result, .frame = &frame};
            assert_ok(c->kind->take(c, &passing, &err), &err);
            assert_int_equal(passing.stop, i == 2);
        }
        assert_ok(c->kind->end(c, false, &err), &err);
        assert_ok(c->kind->end(c, true, &err), &err);
        assert_string_equal(told(), all ? "begin of v; 1 with its frame; 2 with its frame; 3 with its frame; "
                                          "ended; finished; "
                                        : "1; 2; 3; ");
        sk_consumers_close(&list);
    }
}

/* --- files --- */

static sk_status write_row(sk_sink *sink, const sk_result_frame *frame, sk_error *error)
{
    (void)sink, (void)error;
    sk_text_appendf(&heard, "%lld:", (long long)frame->index);
    for (int32_t i = 0; i < frame->instances->count; i++)
        sk_text_appendf(&heard, " %d/%d", frame->instances->items[i].class_id,
                        frame->sightings ? frame->sightings[i].track : -1);
    sk_text_appendf(&heard, " of %d; ", frame->instances->n_keypoints);
    return SK_OK;
}

static sk_status close_rows(sk_sink *sink, sk_error *error)
{
    (void)error;
    sk_text_append(&heard, "closed; ");
    sk_free(sink);
    return SK_OK;
}

static sk_status open_rows(const char *path, const sk_run_header *header, sk_sink **out, sk_error *error)
{
    sk_text_appendf(&heard, "%s of %s; ", path, header->source);
    *out = sk_calloc(1, sizeof **out);
    if (!*out)
        return sk_fail_memory(error, sizeof **out);
    (*out)->write = write_row, (*out)->close = close_rows;
    return SK_OK;
}

/* Tracks of which there is nothing but a place are left out where a format has no words for them. */
static void files(void **state)
{
    (void)state;
    sk_found items[] = {{.class_id = 0, .has = SK_HAS_BOX},
                        {.class_id = 1},
                        {.class_id = 2, .has = SK_HAS_OBB},
                        {.class_id = 3}};
    sk_keypoint points[8];
    static const sk_sighting four[] = {{.track = 5}, {.track = 6}, {.track = 7}, {.track = 8}};
    for (int i = 0; i < 4; i++) {
        const bool no_shapes = i & 1, turns = i & 2;
        const sk_sink_kind format = {.name = "rows",
                                     .file = "rows.txt",
                                     .beside = turns ? "more.txt" : NULL,
                                     .open = open_rows,
                                     .takes_turns = turns,
                                     .no_shapes = no_shapes};
        sk_run_folder folder = {.path = turns ? NULL : "out"};
        sk_consumers list = {0};
        bool lacks = false;
        assert_ok(sk_consumers_add(&list, sk_consumer_file(&format), &err), &err);
        sk_consumer *c = list.items[0];
        assert_string_equal(c->kind->name, "file");
        assert_int_equal(c->needs, turns ? SK_NEEDS_NAMES | SK_NEEDS_TURNS : SK_NEEDS_NAMES);
        assert_string_equal(c->files[0], "rows.txt");
        assert_true(turns ? strcmp(c->files[1], "more.txt") == 0 : !c->files[1]);
        assert_ok(sk_consumers_begin(&list, &about, &folder, &err), &err);
        assert_string_equal(told(), turns ? "- of v; " : "out/rows.txt of v; ");
        const sk_instances all = {
            .items = items, .count = 4, .capacity = 4, .n_keypoints = 2, .keypoints = points};
        sk_result_frame frame = {.index = 1, .instances = &all, .sightings = four};
        sk_passing passing = {.result = &frame};
        assert_ok(c->kind->take(c, &passing, &err), &err);
        assert_string_equal(told(), no_shapes ? "1: 0/5 1/6 2/7 3/8 of 2; " : "1: 0/5 2/7 of 2; ");
        assert_ptr_equal(passing.result, &frame);
        assert_int_equal(all.count, 4);
        static const uint32_t kinds[3][2] = {{0, SK_HAS_BOX}, {0, 0}, {SK_HAS_OBB, SK_HAS_KEYPOINTS}};
        for (int k = 0; k < 3;
             k++) { /* the first alone has nothing, both have nothing, both have something */
            static const char *const rows[] = {"1: 1/6 of 2; ", "1: of 2; ", "1: 0/5 1/6 of 2; "};
            sk_found pair[] = {{.class_id = 0, .has = kinds[k][0]}, {.class_id = 1, .has = kinds[k][1]}};
            const sk_instances few = {
                .items = pair, .count = 2, .capacity = 2, .n_keypoints = 2, .keypoints = points};
            frame.instances = &few;
            assert_ok(c->kind->take(c, &passing, &err), &err);
            assert_string_equal(told(), no_shapes ? "1: 0/5 1/6 of 2; " : rows[k]);
        }
        frame.instances = &all;
        frame.index = 2, frame.sightings = NULL; /* nobody tracks: all are told */
        assert_ok(c->kind->take(c, &passing, &err), &err);
        assert_ok(c->kind->retell(c, 0, &frame, &lacks, &err), &err);
        assert_string_equal(told(), "2: 0/-1 1/-1 2/-1 3/-1 of 2; 2: 0/-1 1/-1 2/-1 3/-1 of 2; ");
        frame.problem = "torn";
        assert_ok(c->kind->retell(c, 0, &frame, &lacks, &err), &err);
        assert_string_equal(told(), "");
        assert_false(lacks);
        if (!no_shapes) {
            assert_ok(c->kind->complete(c, &err), &err);
            assert_string_equal(told(), "closed; ");
            assert_ok(c->kind->complete(c, &err), &err);
            assert_string_equal(told(), "");
        }
        sk_consumers_close(&list);
        assert_string_equal(told(), no_shapes ? "closed; " : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(taps), cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
