/* SPDX-License-Identifier: Apache-2.0 */
/* What is equally near, what is just enough, what is just too much. */
#include "base/memory.h"
#include "eval/eval.h"
#include "eval/numbering.h"
#include "eval/pairing.h"
#include "support/test.h"

#include "evaluate.h"

#include <math.h>
#include <stdio.h>

#define HEAD "source,frame,track,x1,y1,x2,y2\n"

/* Two detections are equally near to one animal: the one that the file has first is its, wherever it lies. So the animal's track goes
 * on, or changes. */
static void of_equals_the_first_is_taken(void **state)
{
    (void)state;
    static const char truth[] = HEAD "a,0,1,100,0,200,10\na,1,1,100,0,200,10\n";
    for (int right_first = 0; right_first < 2; right_first++)
        for (int stays = 0; stays < 2; stays++) {
            char result[256];
            const int first = right_first ? 110 : 90, second = right_first ? 90 : 110;
            snprintf(result, sizeof result, HEAD "a,0,5,%d,0,%d,10\na,0,6,%d,0,%d,10\na,1,%d,100,0,200,10\n",
                     first, first + 100, second, second + 100, stays ? 5 : 6);
            sk_eval_report r;
            evaluate(result, truth, NULL, &r);
            const sk_track_score *s = &r.tracks[SK_TRACKS_BOX].all;
            assert_int_equal(s->right, 2);
            assert_int_equal(s->switches, !stays);
            sk_eval_free(&r);
        }
}

/* Levels of HOTA are 0.05, 0.1 … 0.95: a similarity reaches those up to itself. */
static void similarities_reach_their_levels(void **state)
{
    (void)state;
    static const char truth[] = HEAD "a,0,1,0,0,100,100\n";
    for (int part = 1; part <= 100; part++) {
        char result[128];
        sk_eval_report r;
        snprintf(result, sizeof result, HEAD "a,0,5,0,0,%d,100\n", part); /* they share part of a hundred */
        evaluate(result, truth, NULL, &r);
        const sk_track_score *s = &r.tracks[SK_TRACKS_BOX].all;
        for (int level = 0; level < SK_HOTA_LEVELS; level++)
            if (s->level[level].right != (part >= 5 * (level + 1)))
                fail_msg("%d %% at level %d: %lld", part, level, (long long)s->level[level].right);
        assert_int_equal(s->right, part >= 50);
        assert_int_equal(s->mean.right, part >= 5); /* the lowest level's, as everything counts there */
        assert_int_equal(s->mean.missed, part < 5);
        assert_int_equal(s->mean.wrong, part < 5);
        sk_eval_free(&r);
    }
}

static void make_classes(sk_annotation_set *set, int n)
{
    sk_error err = {0};
    int32_t source, image, class_id;
    assert_ok(sk_annotations_begin(set, "CSV", &err), &err);
    assert_ok(sk_annotations_source(set, "", 0, &source, &err), &err);
    assert_ok(sk_annotations_image(set, source, 0, -1, &image, &err), &err);
    for (int i = 0; i < n; i++) {
        char name[16];
        sk_annotation *a;
        const int length = snprintf(name, sizeof name, "c%d", i);
        assert_ok(sk_annotations_class(set, i, name, (size_t)length, &class_id, &err), &err);
        if (i > 3)
            continue;
        assert_ok(sk_annotations_add(set, image, class_id, false, &a, &err), &err);
        a->has = SK_HAS_BOX;
        a->box[0] = 50 * i, a->box[1] = 0, a->box[2] = a->box[3] = 20;
    }
    set->has = SK_HAS_BOX;
}

/* Classes are compared one by one up to a limit; without them there is none. */
static void so_many_classes(void **state)
{
    (void)state;
    static const struct {
        int result, truth;
        bool any, fits;
    } cases[] = {{4096, 4, false, true},
                 {4, 4096, false, true},
                 {4097, 4, false, false},
                 {4, 4097, false, false},
                 {4097, 4097, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_annotation_set result = {0}, truth = {0};
        sk_pairing p;
        sk_error err = {0};
        make_classes(&result, cases[i].result);
        make_classes(&truth, cases[i].truth);
        const sk_status status = sk_pairing_open(&result, &truth, cases[i].any, &p, &err);
        if (cases[i].fits) {
            assert_ok(status, &err);
            assert_int_equal(p.n_classes, cases[i].any ? 1 : 4096);
            assert_int_equal(p.result_class[3], cases[i].any ? 0 : 3);
            assert_int_equal(p.truth_class[3], cases[i].any ? 0 : 3);
            sk_pairing_free(&p);
        } else {
            assert_int_equal(status, SK_ERR_LIMIT);
            assert_non_null(strstr(err.message, "more than 4096 classes; use --any-class"));
        }
        sk_annotations_free(&result);
        sk_annotations_free(&truth);
    }
}

/* Numbers from 0 in the order in which keys come, however many there are and however alike: pairs of tracks, each in 32 bits. */
static void keys_are_numbered(void **state)
{
    (void)state;
    enum { N = 300000 };
    sk_numbering n = {0};
    sk_error err = {0};
    for (int round = 0; round < 3; round++) {
        for (int32_t i = 0; i < N; i++) {
            int32_t number;
            const uint64_t key = round == 1 ? (uint64_t)i << 32 : ((uint64_t)(i / 1000) << 32) + i % 1000;
            assert_ok(sk_numbering_get(&n, key, &number, &err), &err);
            if (number != i)
                fail_msg("round %d: key %d has number %d", round, i, number);
        }
        assert_int_equal(n.count, N);
        if (round < 2) /* the last one asks for what the one before gave */
            sk_numbering_clear(&n);
        if (round == 1)
            for (int32_t i = 0; i < N; i++) {
                int32_t number;
                assert_ok(sk_numbering_get(&n, ((uint64_t)(i / 1000) << 32) + i % 1000, &number, &err), &err);
            }
    }
    sk_numbering_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_equals_the_first_is_taken), cmocka_unit_test(similarities_reach_their_levels),
        cmocka_unit_test(so_many_classes), cmocka_unit_test(keys_are_numbered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
