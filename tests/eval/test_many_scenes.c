/* SPDX-License-Identifier: Apache-2.0 */
/* Some hundred small scenes by chance, on a grid where much is equal: scores, overlaps of exactly a half, distances at their limits,
 * animals without parts, several videos, pictures, numbers of COCO; under settings of all kinds. What is said of each is recorded, and
 * what must hold of every report is checked. */
#include "support/test.h"

#include "base/hash.h"
#include "base/memory.h"
#include "eval/agreement.h"
#include "eval/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENES 300
#define DRAWN  8 /* of so many one is drawn, which takes time */

static sk_error err;
static uint32_t noise;

static int below(int n)
{
    noise = noise * 1664525u + 1013904223u;
    return (int)((noise >> 8) % (uint32_t)n);
}

static bool one_in(int n)
{
    return below(n) == 0;
}

/* --- a scene --- */

typedef struct kind {
    bool pictures, ids, nameless, stems, tracks, boxes, turned, points, scored, videos, lengths, areas, named;
    int sources, frames, animals, classes, keypoints;
} kind;

static kind a_kind(void)
{
    kind k = {.frames = 1 + below(5), .animals = 1 + below(5), .classes = 1 + below(3)};
    k.sources = one_in(3) ? 2 : 1;
    k.pictures = one_in(5);
    k.ids = one_in(4);
    k.nameless = k.ids && one_in(2);
    k.stems = k.pictures && one_in(2);
    k.tracks = !one_in(4);
    k.boxes = !one_in(3);
    k.turned = one_in(2);
    k.keypoints = one_in(2) ? 1 + below(3) : 0;
    k.points = !k.boxes && !k.turned && !k.keypoints;
    k.scored = !one_in(6);
    k.videos = k.ids && one_in(2);
    k.lengths = one_in(3);
    k.areas = one_in(3);
    k.named = !one_in(5);
    return k;
}

static void place(sk_annotation *a, sk_annotation_set *set, const kind *k, int x, int y, int w, int h)
{
    if (k->boxes && !one_in(12)) {
        a->has |= SK_HAS_BOX;
        a->box[0] = x, a->box[1] = y, a->box[2] = w, a->box[3] = h;
    }
    if (k->turned && !one_in(12)) {
        a->has |= SK_HAS_OBB;
        a->obb[0] = x + w / 2.0, a->obb[1] = y + h / 2.0, a->obb[2] = w, a->obb[3] = h;
        a->obb[4] = one_in(3) ? 0.5 : 0;
    }
    if (k->points) {
        a->has |= SK_HAS_POINT;
        a->obb[0] = x, a->obb[1] = y;
    }
    for (int i = 0; i < k->keypoints && (a->has & SK_HAS_KEYPOINTS); i++) {
        const bool none = one_in(10);
        set->points[a->first + (size_t)i] =
            (sk_annotation_point){none ? NAN : x + 5 * i, none ? NAN : y + 4 * i, 1,
                                  none        ? 0
                                  : one_in(8) ? below(2)
                                              : 2};
    }
}

/* The same animals for both sides, moved by steps of the grid on the second. */
static void make_set(const kind *k, bool truth, uint32_t animals_noise, sk_annotation_set *set)
{
    static const char *const names[] = {"fly", "bee", "ant"}, *const points[] = {"nose", "mid", "tail"};
    const uint32_t own = noise;
    int32_t ignored;
    assert_ok(sk_annotations_begin(set, "by chance", &err), &err);
    set->stems = k->stems && truth;
    set->unscored = !k->scored && !truth;
    set->every_frame = one_in(2);
    for (int c = 0; c < k->classes; c++)
        assert_ok(sk_annotations_class(set, k->named && !truth ? c + 3 : c, k->named ? names[c] : "",
                                       k->named ? 3 : 0, &ignored, &err),
                  &err);
    if (k->keypoints)
        assert_ok(sk_annotations_keypoints(set, k->keypoints, k->named ? points : NULL, &err), &err);
    uint32_t mine = own;
    for (int s = 0; s < k->sources; s++)
        for (int f = 0; f < k->frames; f++) {
            char name[64];
            int32_t source = -1, image;
            snprintf(name, sizeof name, k->pictures ? "d/p%d%d%s" : "d/v%d.mp4%.0d%.0s", s,
                     k->pictures ? f : 0, set->stems ? "" : ".png");
            const bool bare = k->nameless && !truth;
            if (!bare)
                assert_ok(sk_annotations_source(set, name, strlen(name), &source, &err), &err);
            const int64_t id = k->ids ? 100 - 10 * s - f : -1; /* against the order of time */
            noise = mine;
            const bool left_out = one_in(9);
            mine = noise;
            if (left_out && !(truth && f == 0 && s == 0))
                continue;
            assert_ok(sk_annotations_image(set, source,
                                           bare || k->pictures ? (k->pictures && !bare ? 0 : -1) : f, id,
                                           &image, &err),
                      &err);
            if (k->videos)
                set->images[image].video = s;
            for (int i = 0; i < k->animals; i++) {
                noise = animals_noise + (uint32_t)(i * 7919); /* who it is: the same on both sides */
                below(2);
                const int x = 20 * below(6) + 10 * f, y = 20 * below(4), w = one_in(2) ? 20 : 40, h = 20,
                          class_id = below(k->classes);
                noise = mine;
                sk_annotation *a = NULL;
                const int moved =
                    truth ? 0 : below(8); /* none, or so that overlaps are a half, a third, none … */
                const bool posed = k->keypoints && !one_in(10);
                static const int by[8][3] = {{0, 0, 0}, {0, 0, 0},  {1, 0, 0},  {0, 0, -10},
                                             {5, 0, 0}, {10, 0, 0}, {0, 10, 0}, {60, 60, 0}};
                if (one_in(truth ? 12 : 6)) {
                    mine = noise;
                    continue;
                }
                assert_ok(
                    sk_annotations_add(set, image, one_in(8) ? below(k->classes) : class_id, posed, &a, &err),
                    &err);
                a->has = posed ? SK_HAS_KEYPOINTS : 0;
                place(a, set, k, x + by[moved][0], y + by[moved][1], w, h + by[moved][2]);
                a->score = truth || !k->scored ? 1 : 0.25 * (1 + below(4)); /* many are as sure */
                static const double visible[] = {1, 1, 1, 1, 0.3, 0.25, 0.5, 0};
                a->visible = truth ? visible[below(8)] : 1;
                a->crowd = truth && one_in(12);
                a->track = k->tracks && !one_in(10) ? i : -1;
                if (!truth && k->tracks && f > 1 && i < 2 && k->animals > 1)
                    a->track = 1 - i; /* swapped */
                if (k->lengths && !one_in(5))
                    a->length = 20 + 10 * below(3);
                if (k->areas && truth)
                    a->area = one_in(6) ? (one_in(2) ? -1 : 2e10) : w * h / 2;
                if (posed && truth && one_in(3))
                    a->labelled = below(2);
                set->has |= a->has;
                mine = noise;
            }
        }
    noise = mine;
    /* a track stands once in a frame */
    for (size_t i = 0; i < set->n_items; i++)
        for (size_t j = 0; j < i; j++)
            if (set->items[i].image == set->items[j].image && set->items[i].track == set->items[j].track &&
                !one_in(40))
                set->items[i].track = -1;
}

static sk_eval_settings some_settings(const kind *k)
{
    static const double sigmas[] = {0.05, 0.1, 0.025};
    static const double least[] = {0.3, 0.3, 0.5, 0, 0.25};
    sk_eval_settings s;
    sk_eval_defaults(&s);
    s.any_class = one_in(4);
    s.confidence = one_in(3) ? 0.5 : 0;
    s.min_visible = least[below(5)];
    if (one_in(4))
        s.box_max_det = 1 + below(3);
    if (one_in(4))
        s.pose_max_det = 1 + below(2);
    if (one_in(2))
        s.sigmas = sigmas, s.n_sigmas = one_in(2) ? 1 : k->keypoints ? k->keypoints : 1;
    if (k->keypoints > 1 && k->named && one_in(3))
        s.body_from = "nose", s.body_to = "mid";
    if (one_in(3))
        s.n_pck = 2, s.pck[0] = 0.25, s.pck[1] = 0.5;
    s.covered_only = one_in(4);
    s.distance = one_in(3) ? 10 : 0;
    s.shift = one_in(4) ? 1 : 0;
    return s;
}

/* --- what is said of it --- */

static void rounded(const char *text, sk_text *out)
{
    while (*text) {
        if ((*text >= '0' && *text <= '9') || (*text == '-' && text[1] >= '0' && text[1] <= '9')) {
            char *stop;
            const double value = strtod(text, &stop);
            sk_text_appendf(out, "%.6g", value == 0 ? 0 : value);
            text = stop;
            continue;
        }
        sk_text_append_bytes(out, text++, 1);
    }
}

static uint64_t hash_of(sk_text *text)
{
    sk_text round = {.limit = 1 << 24};
    rounded(sk_text_get(text), &round);
    const uint64_t h = sk_hash_xxh3(sk_text_get(&round), round.length, 0);
    sk_text_free(&round);
    sk_text_clear(text);
    return h;
}

static void check_score(const sk_eval_score *s)
{
    assert_true(s->right + s->wrong == s->found && s->right + s->missed == s->wanted);
    assert_true(s->right >= 0 && s->wrong >= 0 && s->missed >= 0 && s->ignored >= 0);
    assert_true(s->ap <= 1 && s->ap50 <= 1 && s->ap75 <= 1 && s->ar <= 1 && s->ap <= s->ap50 + 1e-12);
    assert_true(s->precision <= 1 && s->recall <= 1 && s->f1 <= 1);
}

static void check_tracks(const sk_track_score *t)
{
    assert_true(t->right + t->missed == t->truth && t->right + t->wrong == t->found);
    assert_true(t->id_right + t->id_missed == t->truth && t->id_right + t->id_wrong == t->found);
    assert_true(t->mostly_tracked + t->partly_tracked + t->mostly_lost == t->truth_tracks);
    for (int i = 0; i < SK_HOTA_LEVELS; i++) {
        assert_true(t->level[i].right + t->level[i].missed == t->truth);
        assert_true(t->level[i].right + t->level[i].wrong == t->found);
        assert_true(t->level[i].hota >= 0 && t->level[i].hota <= 1 + 1e-9);
        assert_true(i == 0 || t->level[i].right <= t->level[i - 1].right);
    }
}

/* Every number as it is: what JSON leaves out (-1: nothing to divide by), too. */
static void put_raw(sk_text *out, const sk_eval_row *row)
{
    const sk_eval_score *scores[] = {&row->box, &row->obb, &row->pose};
    for (int i = 0; i < 3; i++)
        sk_text_appendf(out, "%lld %lld %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g\n",
                        (long long)scores[i]->ignored, (long long)scores[i]->missed, scores[i]->precision,
                        scores[i]->recall, scores[i]->f1, scores[i]->ap, scores[i]->ap50, scores[i]->ap75,
                        scores[i]->ar, scores[i]->best_f1, scores[i]->best_confidence);
    const sk_eval_errors *e = &row->points;
    sk_text_appendf(out, "%s %lld %lld %.6g %.6g %.6g %.6g %.6g %.6g", row->name, (long long)e->wanted,
                    (long long)e->measured, e->median, e->mean, e->p90, e->median_percent, e->mean_percent,
                    e->p90_percent);
    for (int i = 0; i < SK_EVAL_MAX_PCK; i++)
        sk_text_appendf(out, " %.6g", e->pck[i]);
}

static void put_raw_tracks(sk_text *out, const sk_track_score *t)
{
    for (int i = 0; i <= SK_HOTA_LEVELS; i++) {
        const sk_hota *h = i < SK_HOTA_LEVELS ? &t->level[i] : &t->mean;
        sk_text_appendf(out, "%lld %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g\n", (long long)h->right,
                        h->hota, h->det_a, h->det_re, h->det_pr, h->ass_a, h->ass_re, h->ass_pr, h->loc_a,
                        h->owta);
    }
    sk_text_appendf(out, "%lld %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g\n", (long long)t->frames,
                    t->similarity_sum, t->mota, t->motp, t->moda, t->smota, t->precision, t->recall, t->idf1,
                    t->idp, t->idr);
}

static void put_raw_yolo(sk_text *out, const sk_yolo_score *y)
{
    for (int32_t c = -1; y->measured && c < y->n_classes; c++) {
        const sk_yolo_row *row = c < 0 ? &y->all : &y->classes[c];
        sk_text_appendf(out, "%lld %lld %.6g %.6g %.6g %.6g %.6g\n", (long long)row->images,
                        (long long)row->instances, row->precision, row->recall, row->ap50, row->ap,
                        y->confidence);
    }
}

static uint64_t hash_of_all(const sk_eval_report *r)
{
    sk_text raw = {.limit = 1 << 24};
    put_raw(&raw, &r->all);
    for (size_t i = 0; i < r->n_classes; i++)
        put_raw(&raw, &r->classes[i]);
    for (int32_t i = 0; i < r->n_keypoints; i++)
        put_raw(&raw, &r->keypoints[i]);
    for (int i = 0; i < SK_TRACKS_KINDS; i++) {
        put_raw_tracks(&raw, &r->tracks[i].all);
        for (size_t c = 0; r->tracks[i].classes && c < r->n_classes; c++)
            put_raw_tracks(&raw, &r->tracks[i].classes[c]);
    }
    put_raw_yolo(&raw, &r->yolo_box);
    put_raw_yolo(&raw, &r->yolo_obb);
    put_raw_yolo(&raw, &r->yolo_pose);
    for (int32_t i = 0;
         i < (r->confusion.n_classes + 1) * (r->confusion.n_classes + 1) && r->confusion.n_classes; i++)
        sk_text_appendf(&raw, "%lld ", (long long)r->confusion.counts[i]);
    sk_text_appendf(&raw, "%zu %zu %u %.6g %s %s", r->frames, r->covered, r->compared, r->track_distance,
                    r->length ? r->length : "", r->matched ? r->matched : "");
    const uint64_t h = sk_hash_xxh3(sk_text_get(&raw), raw.length, 0);
    sk_text_free(&raw);
    return h;
}

static void say_drawings(const sk_eval_report *r, sk_text *all)
{
    sk_text text = {.limit = 1 << 24};
    sk_json j = sk_json_to_text(&text, 0);
    char name[64];
    sk_eval_curves_to_json(r, &j);
    assert_ok(sk_json_end(&j, &err), &err);
    sk_text_appendf(all, " curves %016llx", (unsigned long long)hash_of(&text));
    for (int i = 0; sk_eval_plot(r, i, name, &text); i++)
        sk_text_append(&text, name);
    sk_text_appendf(all, " drawn %016llx", (unsigned long long)hash_of(&text));
    sk_text_free(&text);
}

static void say_scene(int number, const kind *k, sk_text *all)
{
    sk_annotation_set result = {0}, truth = {0};
    const uint32_t animals = noise;
    static sk_eval_report r;
    sk_agreement g = {0};
    sk_text text = {.limit = 1 << 24};
    make_set(k, true, animals, &truth);
    make_set(k, false, animals, &result);
    const sk_eval_settings s = some_settings(k);
    const sk_status status = sk_eval_run(&result, &truth, &s, &r, &err);
    sk_text_appendf(all, "%d: %zu of %zu", number, result.n_items, truth.n_items);
    if (status != SK_OK) {
        sk_text_appendf(all, " error %d %s\n", status, err.message);
    } else {
        sk_json j = sk_json_to_text(&text, 0);
        sk_eval_to_json(&r, &j);
        assert_ok(sk_json_end(&j, &err), &err);
        check_score(&r.all.box);
        check_score(&r.all.obb);
        check_score(&r.all.pose);
        for (int i = 0; i < SK_TRACKS_KINDS; i++)
            if (r.tracks[i].measured)
                check_tracks(&r.tracks[i].all);
        sk_text_appendf(all, " ap %.6g %.6g %.6g off %.6g hota %.6g %.6g %.6g %.6g idf1 %.6g all %016llx",
                        r.all.box.ap, r.all.obb.ap, r.all.pose.ap, r.all.points.mean,
                        r.tracks[0].all.mean.hota, r.tracks[1].all.mean.hota, r.tracks[2].all.mean.hota,
                        r.tracks[3].all.mean.hota, r.tracks[2].all.idf1, (unsigned long long)hash_of(&text));
        sk_text_appendf(all, " notes %016llx",
                        (unsigned long long)sk_hash_xxh3(sk_text_get(&r.notes), r.notes.length, 0));
        sk_text_appendf(all, " raw %016llx", (unsigned long long)hash_of_all(&r));
        if (number % DRAWN == 0)
            say_drawings(&r, all);
        sk_eval_free(&r);
        const sk_status agreed = sk_agreement_measure(&truth, &result, &g, &err);
        sk_text_appendf(all, " agree %d %lld %lld %lld %.6g %.6g %.6g\n", agreed, (long long)g.first,
                        (long long)g.second, (long long)g.paired, g.largest_px, g.mean_px, g.largest_score);
    }
    sk_text_free(&text);
    sk_annotations_free(&result);
    sk_annotations_free(&truth);
}

static void scenes_by_chance(void **state)
{
    (void)state;
#ifndef __x86_64__ /* others fuse products and sums, and the sixth digit of a figure in a thousand may differ */
    skip();
#endif
    sk_text all = {.limit = 1 << 24};
    for (int i = 0; i < SCENES; i++) {
        noise = (uint32_t)i * 2654435761u + 12345u;
        below(3);
        const kind k = a_kind();
        say_scene(i, &k, &all);
    }
    test_text_is("tests/eval/reports/scenes.txt", sk_text_get(&all));
    sk_text_free(&all);
}

static void what_must_be_given(void **state)
{
    (void)state;
    sk_annotation_set set = {0};
    sk_eval_settings s;
    sk_eval_report r;
    sk_track_sequence sequence = {0};
    sk_track_score score;
    sk_eval_defaults(&s);
    assert_int_equal(sk_eval_run(NULL, &set, &s, &r, &err), SK_ERR_ARG);
    assert_int_equal(sk_eval_run(&set, NULL, &s, &r, &err), SK_ERR_ARG);
    assert_int_equal(sk_eval_run(&set, &set, NULL, &r, &err), SK_ERR_ARG);
    assert_int_equal(sk_eval_run(&set, &set, &s, NULL, &err), SK_ERR_ARG);
    s.n_pck = SK_EVAL_MAX_PCK + 1;
    assert_int_equal(sk_eval_run(&set, &set, &s, &r, &err), SK_ERR_ARG);
    s.n_pck = -1;
    assert_int_equal(sk_eval_run(&set, &set, &s, &r, &err), SK_ERR_ARG);
    s.n_pck = SK_EVAL_MAX_PCK;
    assert_int_equal(sk_eval_run(&set, &set, &s, &r, &err), SK_ERR_FORMAT); /* there is no truth */
    assert_int_equal(sk_tracking_measure(NULL, &score, &err), SK_ERR_ARG);
    assert_int_equal(sk_tracking_measure(&sequence, NULL, &err), SK_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_by_chance),
                                       cmocka_unit_test(what_must_be_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
