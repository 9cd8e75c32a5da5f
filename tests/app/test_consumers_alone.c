/* SPDX-License-Identifier: Apache-2.0 */
/* Each consumer alone, by a folder, a cache and a clock of this test's own: when what it wrote is handed on, what it counts, what it says
 * of itself; and the list's own sums. */
#include "standing_clock.h"
#include "support/test.h"

#include "app/consumers.h"
#include "base/memory.h"
#include "base/text.h"
#include "skitter/log.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static sk_error err;
static sk_text heard;

/* All that was heard since it was asked last; static text. */
static const char *told(void)
{
    static char text[4096];
    snprintf(text, sizeof text, "%s", sk_text_get(&heard));
    sk_text_free(&heard);
    return text;
}

/* --- in the places of the folder and the cache --- */

struct sk_run_folder {
    const char *path;
    int64_t left_out;
};
struct sk_inference_cache {
    int64_t count;
};

const char *sk_run_folder_path(const sk_run_folder *folder)
{
    return folder->path;
}

sk_status sk_run_folder_append(sk_run_folder *folder, const sk_result_frame *frame, sk_error *error)
{
    (void)folder, (void)error;
    sk_text_appendf(&heard, "append %lld; ", (long long)frame->index);
    return frame->index == 99 ? sk_fail(error, SK_ERR_IO, "full") : SK_OK;
}

sk_status sk_run_folder_flush(sk_run_folder *folder, bool durable, sk_error *error)
{
    (void)folder, (void)error;
    sk_text_append(&heard, durable ? "to the disk; " : "flush; ");
    return SK_OK;
}

sk_status sk_run_folder_leave_out(sk_run_folder *folder, const sk_result_frame *picture, sk_error *error)
{
    (void)error;
    folder->left_out++;
    sk_text_appendf(&heard, "left out %lld; ", (long long)picture->index);
    return SK_OK;
}

int64_t sk_run_folder_left_out(const sk_run_folder *folder)
{
    return folder->left_out;
}

int64_t sk_inference_cache_count(const sk_inference_cache *cache)
{
    return cache ? cache->count : 0;
}

void sk_inference_cache_append(sk_inference_cache *cache, const sk_result_frame *frame)
{
    sk_text_appendf(&heard, "keep %lld; ", (long long)frame->index);
    if (cache)
        cache->count++;
}

void sk_inference_cache_flush(sk_inference_cache *cache)
{
    (void)cache;
    sk_text_append(&heard, "flush; ");
}

void sk_inference_cache_finish(sk_inference_cache *cache)
{
    (void)cache;
    sk_text_append(&heard, "finish; ");
}

static sk_run_folder folder;
static const sk_run_header header = {.source = "v"};

static sk_consumer *begun(sk_consumers *list, sk_consumer *c)
{
    folder = (sk_run_folder){.path = "out"};
    assert_ok(sk_consumers_add(list, c, &err), &err);
    if (c->kind->begin)
        assert_ok(c->kind->begin(c, &header, &folder, &err), &err);
    return c;
}

static sk_result_frame frame_of(int64_t index, const char *problem)
{
    static const sk_instances three = {.count = 3};
    return (sk_result_frame){.source = "v", .index = index, .instances = &three, .problem = problem};
}

static void take(sk_consumer *c, int64_t index, const char *problem)
{
    const sk_result_frame frame = frame_of(index, problem);
    sk_passing passing = {.result = &frame};
    assert_ok(c->kind->take(c, &passing, &err), &err);
    assert_false(passing.stop);
}

/* --- the journal, and what is kept for others --- */

/* Handed on when half a second is over since it was last, and to the disk at the end. */
static void journal(void **state)
{
    (void)state;
    sk_consumers list = {0};
    stands = true;
    shown = 7 * SECOND;
    sk_consumer *c = begun(&list, sk_consumer_journal());
    assert_string_equal(c->kind->name, "journal");
    assert_int_equal(c->needs, SK_NEEDS_NAMES | SK_NEEDS_PROBLEMS);
    take(c, 0, NULL);
    assert_string_equal(told(), "append 0; flush; ");
    shown += 500 * MS;
    take(c, 1, "torn");
    assert_string_equal(told(), "append 1; ");
    shown += 1;
    take(c, 2, NULL);
    assert_string_equal(told(), "append 2; flush; ");
    take(c, 3, NULL);
    shown += 500 * MS;
    take(c, 4, NULL);
    assert_string_equal(told(), "append 3; append 4; ");
    const sk_result_frame last = frame_of(99, NULL);
    sk_passing passing = {.result = &last};
    shown += SECOND;
    assert_int_equal(c->kind->take(c, &passing, &err), SK_ERR_IO);
    assert_string_equal(told(), "append 99; ");
    assert_ok(c->kind->complete(c, &err), &err);
    assert_string_equal(told(), "to the disk; ");
    sk_consumers_close(&list);
    stands = false;
}

/* Frames that are not there yet, whether an earlier part of the run looked at them or this one. */
static void cache(void **state)
{
    (void)state;
    bool lacks = false;
    for (int64_t has = 0; has < 5; has += 2) {
        sk_inference_cache there = {has}, *kept = NULL;
        sk_consumers list = {0};
        sk_text wanted = {0};
        stands = true;
        shown = 7 * SECOND;
        sk_consumer *c = begun(&list, sk_consumer_cache(&kept));
        assert_string_equal(c->kind->name, "cache");
        assert_int_equal(c->needs, SK_NEEDS_PROBLEMS);
        kept = &there; /* it is opened later */
        for (int64_t i = 0; i < 3; i++) {
            const sk_result_frame known = frame_of(i, i == 1 ? "torn" : NULL);
            assert_ok(c->kind->retell(c, i, &known, &lacks, &err), &err);
            if (i >= has)
                sk_text_appendf(&wanted, "keep %lld; ", (long long)i);
        }
        assert_string_equal(told(), sk_text_get(&wanted));
        assert_false(lacks);
        take(c, 3, NULL);
        assert_string_equal(told(), has <= 3 ? "keep 3; flush; " : "flush; ");
        shown += 500 * MS;
        take(c, 4, NULL);
        assert_string_equal(told(), "keep 4; ");
        shown += 1;
        take(c, 5, NULL);
        assert_string_equal(told(), "keep 5; flush; ");
        assert_ok(c->kind->complete(c, &err), &err);
        assert_string_equal(told(), "flush; ");
        assert_ok(c->kind->end(c, false, &err), &err);
        assert_string_equal(told(), "");
        assert_ok(c->kind->end(c, true, &err), &err);
        assert_string_equal(told(), "finish; ");
        sk_consumers_close(&list);
        sk_text_free(&wanted);
        stands = false;
    }
}

/* --- who counts --- */

static sk_predict_progress count;
static int watched;

static bool watch(void *context, const sk_predict_progress *p)
{
    assert_ptr_equal(context, &watched);
    assert_ptr_equal(p, &count);
    return ++watched == 3;
}

static void progress(void **state)
{
    (void)state;
    for (int watching = 0; watching < 2; watching++) {
        sk_consumers list = {0};
        bool lacks = false;
        count = (sk_predict_progress){.done = 2, .total = 9, .instances = 1, .continued = 2};
        watched = 0;
        sk_consumer *c =
            begun(&list, sk_consumer_progress(&count, watching ? watch : NULL, watching ? &watched : NULL));
        assert_string_equal(c->kind->name, "progress");
        assert_int_equal(c->needs, SK_NEEDS_PROBLEMS);
        const sk_result_frame known = frame_of(0, NULL), torn = frame_of(1, "torn");
        assert_ok(c->kind->retell(c, 0, &known, &lacks, &err), &err);
        assert_ok(c->kind->retell(c, 1, &torn, &lacks, &err), &err);
        assert_true(count.instances == 4 && count.done == 2 && watched == 0);
        for (int i = 0; i < 4; i++) {
            const sk_result_frame frame = frame_of(2 + i, i == 1 ? "torn" : NULL);
            sk_passing passing = {.result = &frame, .seconds = 0.5 + i};
            assert_ok(c->kind->take(c, &passing, &err), &err);
            assert_int_equal(passing.stop, watching && i == 3);
            assert_true(count.done == 3 + i && count.instances == 4 + 3 * (i + (i == 0)));
            assert_true(count.seconds == (i == 1 ? 0.5 : 0.5 + i));
        }
        assert_int_equal(watched, 3 * watching);
        assert_true(count.total == 9 && count.continued == 2);
        sk_consumers_close(&list);
    }
}

static int warnings;
static char warned[128];

static void hear(void *context, sk_log_level level, const char *message)
{
    (void)context, (void)level;
    warnings++;
    snprintf(warned, sizeof warned, "%s", message);
}

/* Ten are named, and with the tenth it is said where the others are; those of earlier parts were told then. */
static void left_out(void **state)
{
    (void)state;
    sk_consumers list = {0};
    sk_log_listener *listener = NULL;
    bool lacks = false;
    sk_consumer *c = begun(&list, sk_consumer_left_out());
    assert_string_equal(c->kind->name, "left out");
    assert_int_equal(c->needs, SK_NEEDS_NAMES | SK_NEEDS_PROBLEMS);
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    warnings = 0;
    const sk_result_frame known = frame_of(0, NULL), torn = frame_of(1, "1.png: torn");
    assert_ok(c->kind->retell(c, 0, &known, &lacks, &err), &err);
    assert_ok(c->kind->retell(c, 1, &torn, &lacks, &err), &err);
    assert_true(warnings == 0 && !lacks);
    assert_string_equal(told(), "left out 1; ");
    take(c, 2, NULL);
    assert_string_equal(told(), "");
    for (int i = 2; i < 14; i++) {
        char problem[32], wanted[128];
        snprintf(problem, sizeof problem, "%d.png: torn", i);
        take(c, i, problem);
        assert_int_equal(warnings, i < 10 ? i - 1 : 9);
        snprintf(wanted, sizeof wanted, "left out: %d.png: torn%s", i < 10 ? i : 10,
                 i < 10 ? "" : " (more are in run.json only)");
        assert_string_equal(warned, wanted);
    }
    assert_int_equal(folder.left_out, 13);
    (void)told();
    sk_log_unlisten(&listener);
    sk_consumers_close(&list);
}

/* --- the list's sums --- */

typedef struct slow {
    sk_consumer base;
    int64_t takes_ns;
} slow;

static sk_status slow_take(sk_consumer *base, sk_passing *passing, sk_error *error)
{
    (void)error;
    sk_text_appendf(&heard, "%.9g; ", passing->seconds);
    shown += ((slow *)base)->takes_ns;
    return SK_OK;
}

static const sk_consumer_kind slow_kind = {.name = "slow", .take = slow_take},
                              other_kind = {.name = "other", .take = slow_take}, idle_kind = {.name = "idle"};

static void add_slow(sk_consumers *list, const sk_consumer_kind *kind, int64_t takes_ns, uint32_t needs,
                     const char *a, const char *b)
{
    slow *c = sk_calloc(1, sizeof *c);
    assert_non_null(c);
    *c = (slow){.base = {.kind = kind, .needs = needs, .files = {a, b}}, .takes_ns = takes_ns};
    assert_ok(sk_consumers_add(list, &c->base, &err), &err);
}

/* How long each took, and what the next is told of the time since the first frame was asked for. */
static void seconds(void **state)
{
    (void)state;
    sk_consumers list = {0};
    const sk_result_frame frame = frame_of(0, NULL), torn = frame_of(1, "torn");
    sk_passing passing = {.result = &frame};
    stands = true;
    shown = 100 * SECOND;
    add_slow(&list, &slow_kind, 250 * MS, 0, NULL, NULL);
    add_slow(&list, &idle_kind, 0, 0, NULL, NULL);
    add_slow(&list, &other_kind, 3 * SECOND, SK_NEEDS_PROBLEMS, NULL, NULL);
    add_slow(&list, &slow_kind, 1 * SECOND, 0, NULL, NULL);
    assert_ok(sk_consumers_take(&list, &passing, 98 * SECOND, &err), &err);
    assert_string_equal(told(), "2; 2.25; 5.25; ");
    assert_true(fabs(sk_consumers_seconds(&list, "slow") - 1.25) < 1e-12);
    assert_true(fabs(sk_consumers_seconds(&list, "other") - 3) < 1e-12);
    assert_true(sk_consumers_seconds(&list, "idle") == 0 && sk_consumers_seconds(&list, "nobody") == 0);
    passing.result = &torn;
    assert_ok(sk_consumers_take(&list, &passing, 98 * SECOND, &err), &err);
    assert_string_equal(told(), "6.25; ");
    assert_true(fabs(sk_consumers_seconds(&list, "other") - 6) < 1e-12);
    assert_true(fabs(sk_consumers_seconds(&list, "slow") - 1.25) < 1e-12);
    sk_consumers_close(&list);
    assert_int_equal(list.count, 0);
    stands = false;
}

/* Results in their order, then what is cut out and drawn; run.json last of all. */
static void files(void **state)
{
    (void)state;
    const char *all[SK_CONSUMER_FILES * SK_CONSUMERS_MOST + 2];
    sk_consumers list = {0};
    sk_consumers_files(&list, all);
    assert_string_equal(all[0], "run.json");
    assert_null(all[1]);
    assert_int_equal(sk_consumers_needs(&list), 0); /* nobody needs anything */
    add_slow(&list, &idle_kind, 0, SK_NEEDS_PIXELS, "crops/", NULL);
    add_slow(&list, &idle_kind, 0, 0, NULL, NULL);
    add_slow(&list, &idle_kind, 0, SK_NEEDS_NAMES, "a.csv", "a.json");
    add_slow(&list, &idle_kind, 0, SK_NEEDS_PIXELS | SK_NEEDS_NAMES, "overlay.mp4", NULL);
    add_slow(&list, &idle_kind, 0, 0, "b.csv", NULL);
    sk_consumers_files(&list, all);
    static const char *const wanted[] = {"a.csv", "a.json", "b.csv", "crops/", "overlay.mp4", "run.json"};
    for (int i = 0; i < 6; i++)
        assert_string_equal(all[i], wanted[i]);
    assert_null(all[6]);
    assert_int_equal(sk_consumers_needs(&list), SK_NEEDS_PIXELS | SK_NEEDS_NAMES);
    sk_consumers_close(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(journal),  cmocka_unit_test(cache),
                                       cmocka_unit_test(progress), cmocka_unit_test(left_out),
                                       cmocka_unit_test(seconds),  cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
