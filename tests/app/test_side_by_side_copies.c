/* SPDX-License-Identifier: Apache-2.0 */
/* What consumers in threads of their own are told is a copy: all of a frame, whatever becomes of the caller's; however many frames come,
 * each once and in order. */
#include "support/fault.h"
#include "support/test.h"

#include "app/side_by_side.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 300, TOYS = 2 };

typedef struct heard {
    sk_result_frame frame;
    char source[40], frame_id[40], problem[40];
    int32_t count, n_keypoints;
    float box, point;
    double sighting;
} heard;

typedef struct toy {
    sk_consumer base;
    int64_t told, fails_at;
    heard frames[MOST];
} toy;

static toy toys[TOYS];
static sk_consumers list;
static sk_error err;

static void put(char to[40], const char *text)
{
    snprintf(to, 40, "%s", text ? text : "none");
}

static sk_status hear(sk_consumer *c, int64_t entry, const sk_result_frame *f, bool *lacks, sk_error *why)
{
    toy *t = (toy *)c;
    assert_false(*lacks);
    if (entry == t->fails_at)
        return sk_fail(why, SK_ERR_FORMAT, "no more than %lld", (long long)entry);
    assert_int_equal(entry, t->told + c->has);
    heard *h = &t->frames[t->told++];
    const sk_instances *in = f->instances;
    *h = (heard){.frame = *f, .count = in->count, .n_keypoints = in->n_keypoints};
    put(h->source, f->source);
    put(h->frame_id, f->frame_id);
    put(h->problem, f->problem);
    if (in->count) {
        const sk_found *last = &in->items[in->count - 1];
        h->box = last->box[3];
        h->point =
            last->has & SK_HAS_KEYPOINTS ? in->keypoints[last->first_keypoint + in->n_keypoints - 1].y : -1;
        h->sighting = f->sightings ? f->sightings[in->count - 1].y : -1;
    }
    return SK_OK;
}

static const sk_consumer_kind kind = {.name = "toy", .retell = hear}, deaf = {.name = "deaf"};

static void begin(void)
{
    list = (sk_consumers){.count = TOYS};
    for (int i = 0; i < TOYS; i++) {
        memset(&toys[i], 0, sizeof toys[i]);
        toys[i].base.kind = &kind;
        toys[i].fails_at = -1;
        list.items[i] = &toys[i].base;
    }
}

/* Frame f has f % 4 animals; of every third frame somebody has followed them; the next one is written over all of it. */
static sk_status tell(sk_side_by_side *side, int64_t f, sk_error *why)
{
    static char source[40], frame_id[40], problem[40];
    static sk_found items[3];
    static sk_keypoint points[6];
    static sk_sighting sightings[3];
    static const uint8_t looks[1];
    const int32_t n = (int32_t)(f % 4);
    snprintf(source, sizeof source, "source %lld", (long long)f);
    snprintf(frame_id, sizeof frame_id, "id %lld", (long long)(7 * f));
    snprintf(problem, sizeof problem, "problem %lld", (long long)(11 * f));
    for (int32_t i = 0; i < n; i++) {
        items[i] = (sk_found){.has = f % 5 ? SK_HAS_KEYPOINTS : SK_HAS_BOX, .first_keypoint = 2 * i};
        items[i].box[3] = (float)(f + i);
        points[2 * i + 1].y = (float)(2 * f + i);
        sightings[i].y = (double)(3 * f + i);
    }
    const sk_instances in = {.items = n ? items : NULL,
                             .keypoints = f % 5 ? points : NULL,
                             .count = n,
                             .capacity = n,
                             .n_keypoints = 2};
    const sk_result_frame frame = {.source = source,
                                   .index = f + 1000,
                                   .time = (double)f / 4,
                                   .width = 64,
                                   .height = 48,
                                   .instances = &in,
                                   .sightings = f % 3 ? NULL : sightings,
                                   .looks = looks,
                                   .wall_ns = 5 * f,
                                   .picture = (uint64_t)f + 9,
                                   .frame_id = f % 2 ? frame_id : NULL,
                                   .problem = f % 7 ? NULL : problem};
    return sk_side_by_side_tell(side, f, &frame, why);
}

static void is_frame(const heard *h, int64_t f)
{
    char text[40];
    snprintf(text, sizeof text, "source %lld", (long long)f);
    assert_string_equal(h->source, text);
    snprintf(text, sizeof text, "id %lld", (long long)(7 * f));
    assert_string_equal(h->frame_id, f % 2 ? text : "none");
    snprintf(text, sizeof text, "problem %lld", (long long)(11 * f));
    assert_string_equal(h->problem, f % 7 ? "none" : text);
    assert_true(h->frame.index == f + 1000 && h->frame.time == (double)f / 4 && h->frame.width == 64 &&
                h->frame.height == 48 && h->frame.wall_ns == 5 * f && h->frame.picture == (uint64_t)f + 9);
    assert_null(h->frame.looks);
    assert_true(!h->frame.sightings == (f % 3 != 0));
    assert_true(h->count == f % 4 && h->n_keypoints == 2);
    if (h->count == 0)
        return;
    const int64_t last = h->count - 1;
    assert_true(h->box == (float)(f + last));
    assert_true(h->point == (f % 5 ? (float)(2 * f + last) : -1));
    assert_true(h->sighting == (f % 3 ? -1 : (double)(3 * f + last)));
}

/* Null where this machine has one core. */
static sk_side_by_side *open_side(void)
{
    sk_side_by_side *side = NULL;
    assert_ok(sk_side_by_side_open(&list, &side, &err), &err);
    return side;
}

/* Around what is gathered before anybody is told. */
static void however_many_come(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 127, 128, 129, 255, 256, 257, MOST};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        begin();
        toys[1].base.has = i % 2 ? 0 : counts[i] / 2;
        sk_side_by_side *side = open_side();
        if (!side)
            return;
        for (int64_t f = 0; f < counts[i]; f++)
            assert_ok(tell(side, f, &err), &err);
        assert_ok(sk_side_by_side_end(&side, SK_OK, &err), &err);
        assert_null(side);
        for (int k = 0; k < TOYS; k++) {
            assert_int_equal(toys[k].told, counts[i] - toys[k].base.has);
            for (int64_t f = 0; f < toys[k].told; f++)
                is_frame(&toys[k].frames[f], f + toys[k].base.has);
        }
    }
}

/* Who failed is told no more; the others are, to the end. */
static void one_that_fails(void **state)
{
    (void)state;
    for (int which = 0; which < TOYS; which++)
        for (int with_text = 0; with_text < 2; with_text++) {
            begin();
            toys[which].fails_at = 3;
            sk_side_by_side *side = open_side();
            if (!side)
                return;
            for (int64_t f = 0; f < 100; f++)
                assert_ok(tell(side, f, &err), &err);
            err = (sk_error){0};
            assert_int_equal(sk_side_by_side_end(&side, SK_OK, with_text ? &err : NULL), SK_ERR_FORMAT);
            assert_string_equal(err.message, with_text ? "no more than 3" : "");
            assert_int_equal(toys[which].told, 3);
            assert_int_equal(toys[1 - which].told, 100);
        }
}

/* After a failure of the caller's what was not handed over is not told, and the failure stays what it was. */
static void ended_early(void **state)
{
    (void)state;
    begin();
    sk_side_by_side *side = NULL;
    assert_int_equal(sk_side_by_side_end(&side, SK_ERR_IO, &err), SK_ERR_IO); /* there is nobody */
    assert_int_equal(sk_side_by_side_end(&side, SK_OK, &err), SK_OK);
    toys[0].fails_at = 150;
    side = open_side();
    if (!side)
        return;
    for (int64_t f = 0; f < 200; f++)
        assert_ok(tell(side, f, &err), &err);
    assert_int_equal(sk_side_by_side_end(&side, SK_ERR_CANCELLED, &err), SK_ERR_CANCELLED);
    assert_null(side);
    assert_true(toys[0].told == 128 && toys[1].told == 128);
}

/* Threads are for two and more of them; those that hear nothing get none. */
static void who_gets_threads(void **state)
{
    (void)state;
    begin();
    for (int32_t count = 0; count < 2; count++) {
        sk_side_by_side *side = (sk_side_by_side *)&list;
        list.count = count;
        assert_ok(sk_side_by_side_open(&list, &side, &err), &err);
        assert_null(side);
    }
    list.count = TOYS;
    for (int i = 0; i < 2; i++) {
        begin();
        toys[i].base.kind = &deaf;
        toys[1 - i].base.needs = SK_NEEDS_NAMES | SK_NEEDS_PROBLEMS;
        sk_side_by_side *side = open_side();
        if (!side)
            return;
        for (int64_t f = 0; f < 10; f++)
            assert_ok(tell(side, f, &err), &err);
        assert_ok(sk_side_by_side_end(&side, SK_OK, &err), &err);
        assert_true(toys[i].told == 0 && toys[1 - i].told == 10);
    }
}

static sk_status few(void *context, sk_error *why)
{
    sk_side_by_side *side = NULL;
    sk_status status = SK_OK;
    (void)context;
    begin();
    SK_TRY(sk_side_by_side_open(&list, &side, why));
    for (int64_t f = 0; side && f < 9 && status == SK_OK; f++)
        status = tell(side, f, why);
    return sk_side_by_side_end(&side, status, why);
}

static void without_memory(void **state)
{
    (void)state;
    const int failed = test_every_allocation(few, NULL);
    begin();
    sk_side_by_side *side = open_side();
    assert_true(!side || failed >= 3 + 9 * 4);
    assert_ok(sk_side_by_side_end(&side, SK_OK, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(however_many_come), cmocka_unit_test(one_that_fails), cmocka_unit_test(ended_early),
        cmocka_unit_test(who_gets_threads),  cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
