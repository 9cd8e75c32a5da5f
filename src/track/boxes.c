/* SPDX-License-Identifier: Apache-2.0 */
#include "track/boxes.h"

#include "base/memory.h"
#include "tasks/overlap.h"

#include <math.h>
#include <string.h>

sk_box sk_box_make(double x, double y, double w, double h, double angle, bool turned)
{
    return (sk_box){.x = x,
                    .y = y,
                    .w = w,
                    .h = h,
                    .angle = angle,
                    .c = turned ? cos(angle) : 1,
                    .s = turned ? sin(angle) : 0,
                    .turned = turned};
}

sk_box sk_box_of(const sk_detection *d, bool turned)
{
    if (turned)
        return sk_box_make(d->x, d->y, d->major, d->minor, d->angle, true);
    const double *b = d->box;
    return sk_box_make((b[0] + b[2]) / 2, (b[1] + b[3]) / 2, b[2] - b[0], b[3] - b[1], 0, false);
}

double sk_box_overlap(const sk_box *a, const sk_box *b)
{
    const double dx = fabs(a->x - b->x), dy = fabs(a->y - b->y);
    if (a->turned == 0 && b->turned == 0) {
        const double w = fmin(fmin(a->w, b->w), (a->w + b->w) / 2 - dx);
        const double h = fmin(fmin(a->h, b->h), (a->h + b->h) / 2 - dy);
        if (!(w > 0 && h > 0))
            return 0;
        return w * h / (a->w * a->h + b->w * b->h - w * h);
    }
    /* Along a side of either, do they lie apart? */
    const double ex = b->x - a->x, ey = b->y - a->y;
    const double along = fabs(a->c * b->c + a->s * b->s), across = fabs(a->c * b->s - a->s * b->c);
    if (fabs(ex * a->c + ey * a->s) >= (a->w + b->w * along + b->h * across) / 2 ||
        fabs(ey * a->c - ex * a->s) >= (a->h + b->w * across + b->h * along) / 2 ||
        fabs(ex * b->c + ey * b->s) >= (b->w + a->w * along + a->h * across) / 2 ||
        fabs(ey * b->c - ex * b->s) >= (b->h + a->w * across + a->h * along) / 2)
        return 0;
    const double p[5] = {0, 0, a->w, a->h, a->angle}; /* near the origin, where rounding is least */
    const double q[5] = {b->x - a->x, b->y - a->y, b->w, b->h, b->angle};
    return sk_overlap_oriented(p, q, false);
}

void sk_box_align(sk_box *box, const sk_box *like)
{
    sk_box best = *box;
    double least = INFINITY;
    for (int k = 0; k < 4; k++) {
        sk_box b = *box;
        if (k & 1) {
            b.w = box->h;
            b.h = box->w;
        }
        b.angle = like->angle + sk_angle_between(box->angle + k * (SK_PI_D / 2), like->angle);
        const double far = fabs(b.angle - like->angle) + 0.05 * (fabs(log(b.w / fmax(like->w, 1e-6))) +
                                                                 fabs(log(b.h / fmax(like->h, 1e-6))));
        if (far < least) {
            least = far;
            best = b;
        }
    }
    *box = best;
}

sk_status sk_box_pairs_open(sk_box_pairs *p, sk_error *err)
{
    return sk_assign_open(&p->solver, err);
}

void sk_box_pairs_close(sk_box_pairs *p)
{
    sk_near_free(&p->near);
    sk_assign_close(&p->solver);
    sk_free(p->pairs);
    sk_free(p->apart);
    sk_free(p->match);
    *p = (sk_box_pairs){0};
}

/* How far a box reaches from its centre, at most. */
static double reach_of(const sk_box *b)
{
    return b->turned != 0 ? sqrt(b->w * b->w + b->h * b->h) / 2 : fmax(b->w, b->h) / 2;
}

sk_status sk_box_pairs_find(sk_box_pairs *p, const sk_box *rows, int32_t n_rows, const sk_box *columns,
                            int32_t n_columns, sk_error *err)
{
    p->n = 0;
    if (!n_rows || !n_columns)
        return SK_OK;
    double most = 0;
    for (int32_t j = 0; j < n_columns; j++)
        most = fmax(most, reach_of(&columns[j]));
    SK_TRY(
        sk_near_fill(&p->near, &columns->x, &columns->y, sizeof *columns / sizeof(double), n_columns, err));
    for (int32_t i = 0; i < n_rows; i++) {
        if (!isfinite(rows[i].x + rows[i].y + reach_of(&rows[i])))
            continue;
        const sk_near_cells c = sk_near_around(&p->near, rows[i].x, rows[i].y, reach_of(&rows[i]) + most);
        for (int32_t down = c.top; down <= c.bottom && c.left <= c.right; down++) {
            const int32_t *start = p->near.start + (size_t)down * (size_t)p->near.across;
            for (int32_t k = start[c.left]; k < start[c.right + 1]; k++) {
                const int32_t j = p->near.order[k];
                const double overlap = sk_box_overlap(&rows[i], &columns[j]);
                if (!(overlap > 0))
                    continue;
                SK_BOXES_RESERVE(p->pairs, p->pairs_room, (size_t)p->n + 1);
                p->pairs[p->n++] = (sk_assign_pair){i, j, overlap};
            }
        }
    }
    return SK_OK;
}

sk_status sk_box_pairs_solve(sk_box_pairs *p, int32_t rows, int32_t columns, double apart, sk_error *err)
{
    SK_BOXES_RESERVE(p->match, p->match_room, (size_t)rows + 1);
    SK_BOXES_RESERVE(p->apart, p->apart_room, (size_t)rows + 1);
    for (int32_t i = 0; i < rows; i++)
        p->apart[i] = apart;
    return sk_assign_solve(p->solver, rows, columns, p->pairs, p->n, p->apart, p->match, err);
}

/* --- what is told --- */

sk_status sk_box_list_reserve(sk_box_list *list, int32_t tracks, sk_error *err)
{
    const size_t wanted = (size_t)tracks + 1, before = list->taken_room;
    SK_BOXES_RESERVE(list->taken, list->taken_room, wanted);
    memset(list->taken + before, 0, list->taken_room - before);
    SK_BOXES_RESERVE(list->by_place, list->by_place_room, wanted);
    SK_BOXES_RESERVE(list->sightings, list->sightings_room, wanted);
    return SK_OK;
}

void sk_box_list_close(sk_box_list *list)
{
    sk_free(list->taken);
    sk_free(list->by_place);
    sk_free(list->sightings);
    *list = (sk_box_list){0};
}

void sk_box_list_enter(sk_box_list *list, sk_box_track *track)
{
    if (track->track >= 0)
        return;
    track->track = list->next_track++;
    track->place = 0;
    while (list->taken[track->place])
        track->place++;
    list->taken[track->place] = 1;
}

void sk_box_list_leave(sk_box_list *list, const sk_box_track *track)
{
    if (track->place >= 0)
        list->taken[track->place] = 0;
}

void sk_box_track_seen(sk_box_track *t, const sk_detection *d, int32_t index, double certainty)
{
    t->detection = index;
    t->missed = 0;
    t->certainty = certainty;
    sk_heading_predict(&t->heading, 1, 0.95, 0.02);
    if (!d->upright || d->directed)
        sk_heading_correct(&t->heading, d->directed ? d->heading : d->angle, d->directed, 0.02, 1);
    sk_heading_moved(&t->heading, t->vx / d->major * 25, t->vy / d->major * 25);
}

static sk_sighting sighting_of(const sk_box_track *t, int64_t frame, sk_track_state state)
{
    const bool swap = t->box.w < t->box.h;
    const double angle = sk_angle_axis(t->box.angle + (swap ? SK_PI_D / 2 : 0));
    return (sk_sighting){.frame = frame,
                         .track = t->track,
                         .place = t->place,
                         .detection = t->detection,
                         .state = state,
                         .x = t->box.x,
                         .y = t->box.y,
                         .heading = t->heading.angle,
                         .major = swap ? t->box.h : t->box.w,
                         .minor = swap ? t->box.w : t->box.h,
                         .angle = angle,
                         .score = NAN, /* a detection's is told of it by the tracker */
                         .certainty = t->detection >= 0 ? t->certainty : 0,
                         .uncertainty = t->uncertainty};
}

int32_t sk_box_list_tell(sk_box_list *list, const void *tracks, size_t bytes, int32_t n, int64_t frame,
                         const sk_track_settings *settings)
{
    int32_t places = 0, told = 0;
    const double covered = settings->life.covered * settings->fps;
#define TRACK(i) ((const sk_box_track *)((const char *)tracks + (size_t)(i)*bytes))
    for (int32_t i = 0; i < n; i++)
        if (TRACK(i)->place >= places)
            places = TRACK(i)->place + 1;
    for (int32_t k = 0; k < places; k++)
        list->by_place[k] = -1;
    for (int32_t i = 0; i < n; i++)
        if (TRACK(i)->place >= 0)
            list->by_place[TRACK(i)->place] = i;
    for (int32_t k = 0; k < places; k++) {
        if (list->by_place[k] < 0)
            continue;
        const sk_box_track *t = TRACK(list->by_place[k]);
        const sk_track_state state = !t->missed             ? SK_TRACK_ACTIVE
                                     : t->missed <= covered ? SK_TRACK_COVERED
                                                            : SK_TRACK_LOST;
        if (t->untold || (state == SK_TRACK_COVERED && !settings->tell_covered) ||
            (state == SK_TRACK_LOST && !settings->tell_lost))
            continue;
        list->sightings[told++] = sighting_of(t, frame, state);
    }
#undef TRACK
    return told;
}

/* --- all that is needed for a step --- */

sk_status sk_box_work_open(sk_box_work *w, const sk_track_settings *settings, sk_error *err)
{
    w->settings = *settings;
    return sk_box_pairs_open(&w->pairs, err);
}

void sk_box_work_close(sk_box_work *w)
{
    sk_free_all(w->rows, w->columns, w->row_of, w->column_of, w->used);
    sk_box_pairs_close(&w->pairs);
    sk_box_list_close(&w->list);
}

sk_status sk_box_work_reserve(sk_box_work *w, int32_t most, sk_error *err)
{
    const size_t wanted = (size_t)most + 1;
    SK_BOXES_RESERVE(w->rows, w->rows_room, wanted);
    SK_BOXES_RESERVE(w->columns, w->columns_room, wanted);
    SK_BOXES_RESERVE(w->row_of, w->row_of_room, wanted);
    SK_BOXES_RESERVE(w->column_of, w->column_of_room, wanted);
    SK_BOXES_RESERVE(w->used, w->used_room, wanted);
    return sk_box_list_reserve(&w->list, most, err);
}
