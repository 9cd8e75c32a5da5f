/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "eval/eval.h"
#include "eval/tracks.h"
#include "formats/config.h"
#include "support/fault.h"
#include "support/test.h"

#include "evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- matching --- */

static uint32_t random_state = 1;
static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)random_state * below) >> 32);
}

/* Tries everything. */
static double best_sum(const double *weight, int32_t rows, int32_t cols, int32_t row, uint32_t taken)
{
    if (row == rows)
        return 0;
    double best = best_sum(weight, rows, cols, row + 1, taken);
    for (int32_t c = 0; c < cols; c++)
        if (weight[row * cols + c] > 0 && !(taken >> c & 1))
            best =
                fmax(best, weight[row * cols + c] + best_sum(weight, rows, cols, row + 1, taken | 1u << c));
    return best;
}

static void matching_finds_the_largest_sum(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_matching *m;
    assert_ok(sk_matching_open(&m, &err), &err);
    for (int round = 0; round < 3000; round++) {
        int32_t rows = (int32_t)draw(7), cols = (int32_t)draw(7), pair_of[8];
        double weight[64] = {0}, sum = 0;
        sk_weighted_pair pairs[64];
        size_t n = 0;
        uint32_t dense = 1 + draw(6), taken = 0;
        for (int32_t i = 0; i < rows * cols; i++)
            if (draw(6) < dense) {
                weight[i] = 1 + draw(round % 2 ? 4 : 1000);
                pairs[n++] = (sk_weighted_pair){i / cols, i % cols, weight[i]};
            }
        assert_ok(sk_matching_solve(m, rows, cols, pairs, n, pair_of, &err), &err);
        for (int32_t r = 0; r < rows; r++) {
            if (pair_of[r] < 0)
                continue;
            const sk_weighted_pair *p = &pairs[pair_of[r]];
            assert_int_equal(p->row, r);
            assert_false(taken >> p->col & 1);
            taken |= 1u << p->col;
            sum += p->weight;
        }
        assert_true(fabs(sum - best_sum(weight, rows, cols, 0, 0)) < 1e-9);
    }
    sk_matching_close(&m);
}

/* Too large for a full matrix; every row's best column is another row's, too. */
static void large_parts_are_solved_over_their_pairs(void **state)
{
    (void)state;
    enum { N = 3000 };
    sk_error err = {0};
    sk_matching *m;
    sk_weighted_pair *pairs = sk_malloc(2 * N * sizeof *pairs);
    int32_t *pair_of = sk_malloc(N * sizeof *pair_of);
    assert_true(pairs && pair_of);
    for (int32_t i = 0; i < N; i++) { /* one long chain: each column wanted by two rows */
        pairs[2 * i] = (sk_weighted_pair){i, i, 10};
        pairs[2 * i + 1] = (sk_weighted_pair){i, i + 1 < N ? i + 1 : N - 1, i + 1 < N ? 11 : 3};
    }
    assert_ok(sk_matching_open(&m, &err), &err);
    assert_ok(sk_matching_solve(m, N, N, pairs, 2 * N - 1, pair_of, &err), &err);
    double sum = 0;
    for (int32_t i = 0; i < N; i++)
        sum += pair_of[i] < 0 ? 0 : pairs[pair_of[i]].weight;
    assert_true(sum == 11.0 * (N - 1)); /* all but the last along the chain; straight ones sum to 10 N */
    sk_matching_close(&m);
    sk_free(pairs);
    sk_free(pair_of);
}

/* --- TrackEval's figures --- */

static const char *const cases[] = {"perfect", "swapped",    "split",     "merged",  "gaps",
                                    "empty",   "wrong_only", "one_frame", "ignored", "pause"};

static void load(const char *folder, const char *name, sk_annotation_set *set)
{
    sk_error err = {0};
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/tracking/%s/%s", folder, name);
    assert_ok(sk_annotations_read(test_source(path), set, &err), &err);
}

static void near_to(const char *where, const char *what, double got, double want)
{
    if (!(fabs(got - want) < 1e-9))
        fail_msg("%s: %s is %.15g, TrackEval says %.15g", where, what, got, want);
}

static void compare(const char *where, const sk_config_value *want, const sk_track_score *s)
{
    const struct {
        const char *name;
        double got;
    } all[] = {{"hota", s->mean.hota},
               {"det_a", s->mean.det_a},
               {"ass_a", s->mean.ass_a},
               {"loc_a", s->mean.loc_a},
               {"det_re", s->mean.det_re},
               {"det_pr", s->mean.det_pr},
               {"ass_re", s->mean.ass_re},
               {"ass_pr", s->mean.ass_pr},
               {"owta", s->mean.owta},
               {"mota", s->mota},
               {"motp", s->motp},
               {"moda", s->moda},
               {"smota", s->smota},
               {"precision", s->precision},
               {"recall", s->recall},
               {"right", (double)s->right},
               {"missed", (double)s->missed},
               {"wrong", (double)s->wrong},
               {"switches", (double)s->switches},
               {"fragments", (double)s->fragments},
               {"mostly_tracked", (double)s->mostly_tracked},
               {"partly_tracked", (double)s->partly_tracked},
               {"mostly_lost", (double)s->mostly_lost},
               {"idf1", s->idf1},
               {"idp", s->idp},
               {"idr", s->idr},
               {"id_right", (double)s->id_right},
               {"id_missed", (double)s->id_missed},
               {"id_wrong", (double)s->id_wrong}};
    assert_int_equal(sk_config_count(want), sizeof all / sizeof *all + 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        near_to(where, all[i].name, all[i].got, sk_config_real_or(want, all[i].name, NAN));
    const sk_config_value *levels = sk_config_get(want, "levels");
    static const char *const curves[] = {"hota", "det_a", "ass_a", "loc_a", "right"};
    for (int c = 0; c < 5; c++)
        for (int i = 0; i < SK_HOTA_LEVELS; i++) {
            const sk_hota *h = &s->level[i];
            double got[] = {h->hota, h->det_a, h->ass_a, h->loc_a, (double)h->right}, number = NAN;
            assert_true(
                sk_config_to_real(sk_config_at(sk_config_get(levels, curves[c]), (size_t)i), &number));
            near_to(where, curves[c], got[c], number);
        }
}

static void equals_trackeval(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_annotation_set result, truth;
        load(cases[i], "result.csv", &result);
        load(cases[i], "truth.csv", &truth);
        sk_eval_settings s;
        sk_eval_defaults(&s);
        s.distance = 25;
        sk_eval_report r;
        assert_ok(sk_eval_run(&result, &truth, &s, &r, &err), &err);
        char path[256], where[64], *text;
        size_t length;
        sk_config *config;
        snprintf(path, sizeof path, "tests/fixtures/tracking/%s/expected.json", cases[i]);
        assert_ok(sk_file_read(test_source(path), 1 << 20, &text, &length, &err), &err);
        assert_ok(sk_config_open_json(text, length, path, &config, &err), &err);
        for (int kind = 0; kind < SK_TRACKS_KINDS; kind++) {
            snprintf(where, sizeof where, "%s, %s", cases[i], sk_tracks_names[kind]);
            assert_true(r.tracks[kind].measured);
            compare(where, sk_config_get(sk_config_root(config), sk_tracks_names[kind]), &r.tracks[kind].all);
        }
        sk_config_close(&config);
        sk_free(text);
        sk_eval_free(&r);
        sk_annotations_free(&result);
        sk_annotations_free(&truth);
    }
}

/* --- what is measured, and what is said --- */

#define HEAD "source,frame,track,x1,y1,x2,y2\n"

/* Track 1 of one video is not track 1 of the other. */
static void videos_are_sequences_of_their_own(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *truth = HEAD "a,0,1,0,0,10,10\na,1,1,0,0,10,10\nb,0,1,0,0,10,10\nb,1,1,0,0,10,10\n";
    evaluate(HEAD "a,0,5,0,0,10,10\na,1,5,0,0,10,10\nb,0,6,0,0,10,10\nb,1,6,0,0,10,10\n", truth, NULL, &r);
    const sk_track_score *s = &r.tracks[SK_TRACKS_BOX].all;
    assert_true(r.tracks[SK_TRACKS_BOX].measured);
    assert_int_equal(s->switches, 0);
    assert_true(fabs(s->mean.hota - 1) < 1e-12 && fabs(s->idf1 - 1) < 1e-12);
    assert_int_equal(s->truth_tracks, 2);
    sk_eval_free(&r);
}

static void rows_out_of_order_are_put_in_order(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *truth = HEAD "a,2,1,0,0,10,10\na,0,1,0,0,10,10\na,1,1,0,0,10,10\n";
    evaluate(HEAD "a,1,8,0,0,10,10\na,2,9,0,0,10,10\na,0,8,0,0,10,10\n", truth, NULL, &r);
    assert_int_equal(r.tracks[SK_TRACKS_BOX].all.switches, 1); /* 8 8 9, not 8 9 8 */
    sk_eval_free(&r);
}

static void a_track_twice_in_a_frame_is_named(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *truth = HEAD "a,3,1,0,0,10,10\na,3,2,50,0,60,10\n";
    evaluate(HEAD "a,3,7,0,0,10,10\na,3,7,50,0,60,10\n", truth, NULL, &r);
    assert_false(r.tracks[SK_TRACKS_BOX].measured);
    assert_non_null(strstr(sk_text_get(&r.notes), "the result has track 7 twice in frame 3"));
    assert_int_equal(r.all.box.right, 2); /* the rest is measured all the same */
    sk_eval_free(&r);
}

static void animals_without_a_track_are_counted_in_a_note(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *truth = HEAD "a,0,1,0,0,10,10\na,1,1,0,0,10,10\n";
    evaluate(HEAD "a,0,7,0,0,10,10\na,1,,0,0,10,10\n", truth, NULL, &r);
    assert_int_equal(r.tracks[SK_TRACKS_BOX].all.found, 1);
    assert_non_null(strstr(sk_text_get(&r.notes), "1 detections of the result belong to no track"));
    sk_eval_free(&r);
    evaluate("frame,x1,y1,x2,y2\n0,0,0,10,10\n", "frame,x1,y1,x2,y2,track\n0,0,0,10,10,1\n", NULL, &r);
    assert_false(r.tracks[SK_TRACKS_BOX].measured);
    sk_eval_free(&r);
}

/* Without --distance centres are compared by the length of the truth's bodies. */
static void centres_are_measured_by_the_bodys_length(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *head = "frame,track,cx,cy,w,h,angle\n";
    char truth[256], result[256];
    snprintf(truth, sizeof truth, "%s0,1,100,100,8,40,0.5\n1,1,100,100,40,8,0.5\n", head);
    snprintf(result, sizeof result, "%s0,1,110,100,8,40,0.5\n1,1,100,130,40,8,0.5\n", head);
    evaluate(result, truth, NULL, &r);
    assert_true(fabs(r.track_distance - 40) < 1e-9);
    const sk_track_score *s = &r.tracks[SK_TRACKS_POINT].all;
    assert_int_equal(s->right, 1); /* 10 of 40 pixels off: similarity 0.75; 30 of 40: 0.25 */
    assert_true(fabs(s->motp - 0.75) < 1e-9);
    assert_int_equal(s->level[4].right, 2);
    sk_eval_free(&r);
}

/* A hundred animals for a long time: what is far apart costs nothing. */
static void large_sequences_are_quick(void **state)
{
    (void)state;
    enum { ANIMALS = 200, FRAMES = 200 };
    sk_error err = {0};
    sk_annotation_set set = {0};
    assert_ok(sk_annotations_begin(&set, "CSV", &err), &err);
    int32_t source, image, class_id;
    assert_ok(sk_annotations_source(&set, "", 0, &source, &err), &err);
    assert_ok(sk_annotations_class(&set, 0, "", 0, &class_id, &err), &err);
    for (int64_t f = 0; f < FRAMES; f++) {
        assert_ok(sk_annotations_image(&set, source, f, -1, &image, &err), &err);
        for (int k = 0; k < ANIMALS; k++) {
            sk_annotation *a;
            assert_ok(sk_annotations_add(&set, image, class_id, false, &a, &err), &err);
            a->has = SK_HAS_BOX;
            a->track = k;
            a->box[0] = (k % 20) * 50 + (double)(f % 40), a->box[1] = (k / 20) * 50.0;
            a->box[2] = a->box[3] = 40;
        }
    }
    set.has = SK_HAS_BOX;
    sk_eval_settings s;
    sk_eval_defaults(&s);
    sk_eval_report r;
    assert_ok(sk_eval_run(&set, &set, &s, &r, &err), &err);
    assert_int_equal(r.tracks[SK_TRACKS_BOX].all.right, ANIMALS * FRAMES);
    assert_int_equal(r.tracks[SK_TRACKS_BOX].all.switches, 0);
    assert_true(fabs(r.tracks[SK_TRACKS_BOX].all.mean.hota - 1) < 1e-9);
    sk_eval_free(&r);
    sk_annotations_free(&set);
}

static void curves_are_drawn(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *truth = HEAD "a,0,1,0,0,10,10\na,1,1,0,0,10,10\n";
    evaluate(HEAD "a,0,7,0,0,10,10\na,1,8,0,0,10,10\n", truth, NULL, &r);
    char name[64];
    bool drawn = false;
    sk_text svg = {0};
    for (int i = 0; sk_eval_plot(&r, i, name, &svg); i++) {
        if (strcmp(name, "BoxHOTA_curve.svg") == 0) {
            drawn = true;
            assert_non_null(strstr(sk_text_get(&svg), "AssA 0.500"));
        }
        sk_text_clear(&svg);
    }
    assert_true(drawn);
    sk_text_free(&svg);
    sk_eval_free(&r);
}

static sk_status evaluate_swapped(void *context, sk_error *err)
{
    sk_annotation_set *sets = context;
    sk_eval_settings s;
    sk_eval_defaults(&s);
    sk_eval_report r;
    sk_status status = sk_eval_run(&sets[0], &sets[1], &s, &r, err);
    sk_eval_free(&r);
    return status;
}

static void survives_running_out_of_memory(void **state)
{
    (void)state;
    sk_annotation_set sets[2];
    load("ignored", "result.csv", &sets[0]);
    load("ignored", "truth.csv", &sets[1]);
    assert_true(test_every_allocation(evaluate_swapped, sets) > 20);
    sk_annotations_free(&sets[0]);
    sk_annotations_free(&sets[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matching_finds_the_largest_sum),
        cmocka_unit_test(large_parts_are_solved_over_their_pairs),
        cmocka_unit_test(equals_trackeval),
        cmocka_unit_test(videos_are_sequences_of_their_own),
        cmocka_unit_test(rows_out_of_order_are_put_in_order),
        cmocka_unit_test(a_track_twice_in_a_frame_is_named),
        cmocka_unit_test(animals_without_a_track_are_counted_in_a_note),
        cmocka_unit_test(centres_are_measured_by_the_bodys_length),
        cmocka_unit_test(large_sequences_are_quick),
        cmocka_unit_test(curves_are_drawn),
        cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
