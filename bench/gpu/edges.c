/* SPDX-License-Identifier: Apache-2.0 */
#include "edges.h"

#include "tasks/nms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What rounding of fp16 heads may move: the claim that is checked. */
#define MOST_SCORE   0.01
#define MOST_OVERLAP 0.02
#define MOST_PIXELS  0.5

typedef struct side {
    const char *name;
    sk_yolo_decoder *decoder;
    sk_candidates all; /* from half the confidence on */
    int32_t *at;       /* [places]: index in it; -1 = none */
    uint8_t *kept;     /* [places] */
    int32_t n_kept, n_candidates;
} side;

typedef struct tally {
    int score, overlap, order, label, follows, unexplained, cut;
    double score_distance, overlap_distance, order_distance;
} tally;

static void stop(const sk_error *err)
{
    printf("FAILED: %s\n", err->message);
    exit(1);
}

static int32_t count_places(const sk_model *m, int32_t width, int32_t height)
{
    int32_t places = 0;
    for (int32_t k = 0; k < m->yolo.n_levels; k++)
        places +=
            (int32_t)(ceilf((float)width / m->yolo.stride[k]) * ceilf((float)height / m->yolo.stride[k]));
    return places;
}

static side open_side(const sk_model *m, const sk_yolo_settings *settings, const char *name,
                      const sk_tensor *heads, int32_t places)
{
    side s = {.name = name};
    sk_error err = {0};
    sk_map maps[32];
    sk_nms *nms = NULL;
    sk_candidates passed = {0};
    int32_t *keep = calloc((size_t)settings->max_det, sizeof *keep);
    s.at = malloc((size_t)places * sizeof *s.at);
    s.kept = calloc((size_t)places, 1);
    for (int32_t i = 0; i < m->yolo.n_heads; i++)
        if (sk_map_of_tensor(&heads[i], 0, 0, &maps[i], &err) != SK_OK)
            stop(&err);
    if (sk_yolo_decoder_open(&m->yolo, m->task, places, &s.decoder, &err) != SK_OK ||
        sk_candidates_alloc(sk_yolo_decoder_capacity(s.decoder), &passed, &err) != SK_OK ||
        sk_candidates_alloc(sk_yolo_decoder_capacity(s.decoder), &s.all, &err) != SK_OK ||
        sk_nms_open(places, settings->max_det, &nms, &err) != SK_OK ||
        sk_yolo_decode(s.decoder, SK_YOLO_HEADS, maps, m->yolo.n_heads, settings->confidence, NULL, &passed,
                       &err) != SK_OK ||
        sk_yolo_decode(s.decoder, SK_YOLO_HEADS, maps, m->yolo.n_heads, settings->confidence * 0.5f, NULL,
                       &s.all, &err) != SK_OK)
        stop(&err);
    s.n_candidates = passed.count;
    s.n_kept = m->task == SK_TASK_OBB ? sk_nms_rotated(nms, &passed, settings->iou, settings->agnostic, keep)
                                      : sk_nms_greedy(nms, &passed, settings->iou, settings->agnostic, keep);
    for (int32_t i = 0; i < places; i++)
        s.at[i] = -1;
    for (int32_t i = 0; i < s.all.count; i++)
        s.at[s.all.place[i]] = i;
    for (int32_t i = 0; i < s.n_kept; i++)
        s.kept[passed.place[keep[i]]] = 1;
    sk_candidates_free(&passed);
    sk_nms_close(&nms);
    free(keep);
    return s;
}

static void close_side(side *s)
{
    sk_yolo_decoder_close(&s->decoder);
    sk_candidates_free(&s->all);
    free(s->at);
    free(s->kept);
}

static double score_of(const side *s, int32_t place)
{
    return s->at[place] < 0 ? 0 : (double)s->all.score[s->at[place]];
}

static int32_t class_of(const side *s, int32_t place)
{
    return s->at[place] < 0 ? -1 : s->all.class_id[s->at[place]];
}

static int better(const side *s, int32_t p, int32_t q)
{
    return score_of(s, p) > score_of(s, q) || (score_of(s, p) == score_of(s, q) && p < q);
}

static double overlap_of(const side *s, const sk_model *m, const sk_yolo_settings *settings, int32_t p,
                         int32_t q)
{
    const int32_t i = s->at[p], k = s->at[q];
    const sk_candidates *c = &s->all;
    if (i < 0 || k < 0 || (!settings->agnostic && c->class_id[i] != c->class_id[k]))
        return 0;
    float a[5], b[5];
    for (int j = 0; j < 5; j++) {
        a[j] = j < 4 ? c->box[j][i] : c->angle[i];
        b[j] = j < 4 ? c->box[j][k] : c->angle[k];
    }
    if (m->task == SK_TASK_OBB)
        return (double)sk_probiou(a, b);
    const double w = fmin((double)a[2], (double)b[2]) - fmax((double)a[0], (double)b[0]);
    const double h = fmin((double)a[3], (double)b[3]) - fmax((double)a[1], (double)b[1]);
    const double inter = fmax(w, 0) * fmax(h, 0);
    const double area = (double)((a[2] - a[0]) * (a[3] - a[1])) + (double)((b[2] - b[0]) * (b[3] - b[1]));
    return inter / (area - inter);
}

/* Why `without` has nothing at this place and `with` has: the first reason that holds for one of those in its way. */
static void explain(const sk_model *m, const sk_yolo_settings *s, const side *with, const side *without,
                    int32_t p, int32_t places, tally *t)
{
    const double limit = s->iou, confidence = (double)s->confidence;
    const double here = score_of(with, p), there = score_of(without, p);
    printf("    %s only, place %d, score %.4f (%s %.4f): ", with->name, p, here, without->name, there);
    if (!(there > confidence)) {
        t->score++;
        t->score_distance = fmax(t->score_distance, fmax(here - confidence, confidence - there));
        t->unexplained += here - there > MOST_SCORE;
        printf("at the confidence, %.4f above and %.4f below\n", here - confidence, confidence - there);
        return;
    }
    int32_t chain = -1, blocked = 0;
    for (int32_t q = 0; q < places; q++) {
        const double over = overlap_of(without, m, s, q, p), under = overlap_of(with, m, s, q, p);
        if (q == p || !(score_of(without, q) > confidence) || !better(without, q, p) || !(over >= limit) ||
            (m->task != SK_TASK_OBB && !without->kept[q]))
            continue;
        blocked = 1;
        if (!(score_of(with, q) > confidence)) {
            t->score++;
            t->unexplained += score_of(without, q) - score_of(with, q) > MOST_SCORE;
            t->score_distance = fmax(t->score_distance,
                                     fmax(score_of(without, q) - confidence, confidence - score_of(with, q)));
            printf("overlapped by place %d, which is at the confidence: %.4f here, %.4f there\n", q,
                   score_of(with, q), score_of(without, q));
            return;
        }
        if (!better(with, q, p)) {
            t->order++;
            t->order_distance =
                fmax(t->order_distance, fmax(here - score_of(with, q), score_of(without, q) - there));
            t->unexplained += fabs(score_of(with, q) - here) > MOST_SCORE;
            printf("changes places with %d: %.5f before %.5f here, %.5f before %.5f there\n", q, here,
                   score_of(with, q), score_of(without, q), there);
            return;
        }
        const int32_t turned = class_of(with, p) != class_of(without, p)   ? p
                               : class_of(with, q) != class_of(without, q) ? q
                                                                           : -1;
        if (turned >= 0) { /* two classes of one score: which is the higher? */
            t->label++;
            t->unexplained += fabs(score_of(with, turned) - score_of(without, turned)) > MOST_SCORE;
            printf("overlapped by place %d, but of another class: place %d is class %d with %.5f here, %d "
                   "with %.5f "
                   "there\n",
                   q, turned, class_of(with, turned), score_of(with, turned), class_of(without, turned),
                   score_of(without, turned));
            return;
        }
        if (!(under > limit)) {
            t->overlap++;
            t->unexplained += over - under > MOST_OVERLAP;
            t->overlap_distance = fmax(t->overlap_distance, fmax(over - limit, limit - under));
            printf("its overlap with place %d is %.4f here, %.4f there; the limit is %.2f\n", q, under, over,
                   limit);
            return;
        }
        chain = q;
    }
    if (chain >= 0) {
        t->follows++;
        printf("follows from place %d, above or below in this list\n", chain);
    } else if (!blocked && without->n_kept == s->max_det) {
        t->cut++;
        printf("beyond the %d there may be\n", s->max_det);
    } else {
        t->unexplained++;
        printf("UNEXPLAINED\n");
    }
}

typedef struct apart {
    double score, box, points;
} apart;

static void measure(const sk_model *m, const side *a, const side *b, int32_t p, double scale, apart *d)
{
    const int32_t i = a->at[p], k = b->at[p], n = m->task == SK_TASK_POSE ? m->yolo.n_keypoints : 0;
    sk_keypoint points[2][512];
    d->score = fmax(d->score, fabs(score_of(a, p) - score_of(b, p)));
    for (int j = 0; j < 4; j++)
        d->box = fmax(d->box, scale * fabs((double)a->all.box[j][i] - (double)b->all.box[j][k]));
    if (n > 512)
        return;
    sk_yolo_decode_keypoints(a->decoder, p, points[0]);
    sk_yolo_decode_keypoints(b->decoder, p, points[1]);
    for (int32_t j = 0; j < n; j++)
        d->points = fmax(d->points, scale * fmax(fabs((double)points[0][j].x - (double)points[1][j].x),
                                                 fabs((double)points[0][j].y - (double)points[1][j].y)));
}

int edges_explain(const sk_model *m, const sk_yolo_settings *settings, const char *const names[2],
                  const sk_tensor *const heads[2], int32_t width, int32_t height, double scale)
{
    const int32_t places = count_places(m, width, height);
    side s[2];
    tally t = {0};
    apart common = {0}, all = {0};
    int32_t both = 0, in_common = 0, alone = 0;
    for (int k = 0; k < 2; k++)
        s[k] = open_side(m, settings, names[k], heads[k], places);
    for (int32_t p = 0; p < places; p++) {
        if (s[0].at[p] >= 0 && s[1].at[p] >= 0) {
            in_common++;
            measure(m, &s[0], &s[1], p, scale, &all);
        }
        if (s[0].kept[p] && s[1].kept[p]) {
            both++;
            measure(m, &s[0], &s[1], p, scale, &common);
        }
        alone += s[0].kept[p] != s[1].kept[p];
    }
    printf("  %s %d found of %d candidates, %s %d of %d; %d in common: boxes within %.3f px of the "
           "frame, keypoints "
           "%.3f px, scores %.5f\n",
           names[0], s[0].n_kept, s[0].n_candidates, names[1], s[1].n_kept, s[1].n_candidates, both,
           common.box, common.points, common.score);
    printf("  rounding, over %d places with half the confidence on both sides: boxes %.3f px, scores %.5f\n",
           in_common, all.box, all.score);
    for (int32_t p = 0; p < places; p++)
        if (s[0].kept[p] != s[1].kept[p])
            explain(m, settings, &s[s[0].kept[p] ? 0 : 1], &s[s[0].kept[p] ? 1 : 0], p, places, &t);
    t.unexplained += common.box > MOST_PIXELS || common.points > MOST_PIXELS || common.score > MOST_SCORE;
    printf("  %d on one side only: %d at the confidence (within %.5f), %d at the overlap's limit "
           "(within %.5f), %d by "
           "order of overlapping boxes (scores within %.5f), %d by class, %d following from these, %d cut "
           "off; unexplained or "
           "too far apart: %d\n",
           alone, t.score, t.score_distance, t.overlap, t.overlap_distance, t.order, t.order_distance,
           t.label, t.follows, t.cut, t.unexplained);
    for (int k = 0; k < 2; k++)
        close_side(&s[k]);
    return t.unexplained;
}
