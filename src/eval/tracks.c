/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracks.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* From annotations to sequences of tracks: every class and video is one, its frames in the order of time. */

#define MOST ((size_t)1 << 31)

typedef struct entry {
    int32_t class_id, time;
    uint32_t index; /* of the annotation */
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->class_id != y->class_id)
        return x->class_id < y->class_id ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* One side of the frame at hand. */
typedef struct side {
    const sk_annotation_set *set;
    entry *entries;
    size_t count, at; /* at: the first that was not taken yet */
    const sk_annotation **here;
    sk_reach *reach;
    bool *drop; /* truth that need not be found; found animals that are one of those */
    size_t n_here, here_capacity, reach_capacity, drop_capacity;
    sk_numbering tracks;
    int64_t *seen;  /* by track: the last frame it was in, from 1 */
    int32_t *place; /* in the frame's list of those that stay, by place in `here`; -1: dropped */
    size_t seen_capacity, place_capacity;
    size_t untracked; /* left out */
} side;

typedef struct run {
    const sk_tracks_task *task;
    sk_eval_report *report;
    side truth, found;
    sk_track_sequence sequence;
    sk_matching *matching; /* for what need not be found */
    sk_weighted_pair *pairs;
    size_t n_pairs, pairs_capacity;
    int32_t *pair_of;
    size_t pair_of_capacity;
    int64_t frames;
    char twice[160]; /* which track is twice in a frame; "" none */
} run;

static uint32_t has_of(sk_tracks_kind kind)
{
    return kind == SK_TRACKS_BOX    ? SK_HAS_BOX
           : kind == SK_TRACKS_OBB  ? SK_HAS_OBB
           : kind == SK_TRACKS_POSE ? SK_HAS_KEYPOINTS
                                    : SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS | SK_HAS_POINT;
}

/* --- who takes part --- */

static bool takes_part(const run *r, side *s, const sk_annotation *a)
{
    double centre[2];
    if (!(a->has & has_of(r->task->kind)))
        return false;
    if (r->task->kind == SK_TRACKS_POINT && !sk_tracks_centre(r->task, s->set, a, centre))
        return false;
    s->untracked += a->track < 0;
    return a->track >= 0;
}

static sk_status collect(run *r, side *s, bool truth, sk_error *err)
{
    const sk_pairing *p = r->task->pairing;
    s->entries = sk_malloc((s->set->n_items + 1) * sizeof *s->entries);
    if (!s->entries)
        return sk_fail_memory(err, s->set->n_items * sizeof *s->entries);
    bool sorted = true;
    for (size_t i = 0; i < s->set->n_items; i++) {
        const sk_annotation *a = &s->set->items[i];
        int32_t image = truth ? a->image : p->image[a->image];
        if (image < 0 || (!truth && a->score < r->task->settings->confidence) || !takes_part(r, s, a))
            continue;
        s->entries[s->count] = (entry){(truth ? p->truth_class : p->result_class)[a->class_id],
                                       r->task->time[image], (uint32_t)i};
        sorted = sorted &&
                 (s->count == 0 || compare_entries(&s->entries[s->count - 1], &s->entries[s->count]) < 0);
        s->count++;
    }
    if (!sorted)
        qsort(s->entries, s->count, sizeof *s->entries, compare_entries);
    return SK_OK;
}

static sk_status take_frame(run *r, side *s, int32_t class_id, int32_t time, sk_error *err)
{
    s->n_here = 0;
    for (; s->at < s->count && s->entries[s->at].class_id == class_id && s->entries[s->at].time == time;
         s->at++) {
        size_t n = s->n_here + 1;
        SK_TRY(sk_array_reserve((void **)&s->here, &s->here_capacity, n, sizeof *s->here, MOST, err));
        SK_TRY(sk_array_reserve((void **)&s->reach, &s->reach_capacity, n, sizeof *s->reach, MOST, err));
        SK_TRY(sk_array_reserve((void **)&s->drop, &s->drop_capacity, n, sizeof *s->drop, MOST, err));
        SK_TRY(sk_array_reserve((void **)&s->place, &s->place_capacity, n, sizeof *s->place, MOST, err));
        bool truth = s == &r->truth;
        const sk_annotation *a = &s->set->items[s->entries[s->at].index];
        s->here[s->n_here] = a;
        s->reach[s->n_here] = sk_tracks_reach(r->task, a, truth, (int32_t)s->n_here);
        s->drop[s->n_here++] = truth && sk_annotation_is_crowd(a, r->task->settings->min_visible);
    }
    return SK_OK;
}

/* --- what is similar --- */

static int compare_reaches(const void *a, const void *b)
{
    const sk_reach *x = a, *y = b;
    return x->x1 != y->x1 ? (x->x1 < y->x1 ? -1 : 1) : (x->place > y->place) - (x->place < y->place);
}

static int compare_pairs(const void *a, const void *b)
{
    const sk_weighted_pair *x = a, *y = b;
    return (x->col > y->col) - (x->col < y->col);
}

/* All similar pairs of the frame, by truth and then by what was found. */
static sk_status find_pairs(run *r, sk_error *err)
{
    side *f = &r->found, *t = &r->truth;
    r->n_pairs = 0;
    double widest = 0;
    if (f->n_here)
        qsort(f->reach, f->n_here, sizeof *f->reach, compare_reaches);
    for (size_t i = 0; i < f->n_here; i++)
        widest = fmax(widest, f->reach[i].x2 - f->reach[i].x1);
    for (size_t i = 0; i < t->n_here; i++) {
        const sk_reach *a = &t->reach[i];
        size_t first = r->n_pairs, low = 0, high = f->n_here;
        while (low < high) { /* the first that can reach as far as this one */
            size_t middle = (low + high) / 2;
            if (f->reach[middle].x1 < a->x1 - widest)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < f->n_here && f->reach[low].x1 <= a->x2; low++) {
            const sk_reach *b = &f->reach[low];
            if (b->x2 < a->x1 || b->y1 > a->y2 || b->y2 < a->y1)
                continue;
            double similarity = sk_tracks_similarity(r->task, f->here[b->place], t->here[i]);
            if (!(similarity > 0))
                continue;
            SK_TRY(sk_array_reserve((void **)&r->pairs, &r->pairs_capacity, r->n_pairs + 1, sizeof *r->pairs,
                                    MOST, err));
            r->pairs[r->n_pairs++] = (sk_weighted_pair){(int32_t)i, b->place, similarity};
        }
        if (r->n_pairs > first + 1)
            qsort(&r->pairs[first], r->n_pairs - first, sizeof *r->pairs, compare_pairs);
    }
    return SK_OK;
}

/* As MOTChallenge does with what need not be found: everything is put together by similarity, and what was found of those
 * leaves with them. */
static sk_status drop_ignored(run *r, sk_error *err)
{
    side *t = &r->truth, *f = &r->found;
    bool any = false;
    for (size_t i = 0; i < f->n_here; i++)
        f->drop[i] = false;
    for (size_t i = 0; i < t->n_here; i++)
        any = any || t->drop[i];
    if (!any)
        return SK_OK;
    if (!r->matching)
        SK_TRY(sk_matching_open(&r->matching, err));
    sk_weighted_pair *close = sk_malloc((r->n_pairs + 1) * sizeof *close);
    if (!close)
        return sk_fail_memory(err, r->n_pairs * sizeof *close);
    size_t n = 0;
    for (size_t i = 0; i < r->n_pairs; i++)
        if (r->pairs[i].weight >= SK_TRACK_SIMILAR - DBL_EPSILON)
            close[n++] = r->pairs[i];
    sk_status status = sk_array_reserve((void **)&r->pair_of, &r->pair_of_capacity, t->n_here + 1,
                                        sizeof *r->pair_of, MOST, err);
    if (status == SK_OK)
        status =
            sk_matching_solve(r->matching, (int32_t)t->n_here, (int32_t)f->n_here, close, n, r->pair_of, err);
    for (size_t i = 0; status == SK_OK && i < t->n_here; i++)
        if (t->drop[i] && r->pair_of[i] >= 0)
            f->drop[close[r->pair_of[i]].col] = true;
    sk_free(close);
    return status;
}

/* --- sequences --- */

static void tell_twice(run *r, const side *s, const sk_annotation *a)
{
    const sk_annotation_image *im = &s->set->images[a->image];
    if (!r->twice[0])
        snprintf(r->twice, sizeof r->twice, "the %s has track %lld twice in frame %lld",
                 s == &r->truth ? "truth" : "result", (long long)a->track,
                 (long long)(im->frame >= 0 ? im->frame : im->id));
}

static sk_status put_side(run *r, side *s, sk_error *err)
{
    int32_t places = 0;
    for (size_t i = 0; i < s->n_here; i++) {
        int32_t track;
        s->place[i] = -1;
        if (s->drop[i])
            continue;
        SK_TRY(sk_numbering_get(&s->tracks, (uint64_t)s->here[i]->track, &track, err));
        size_t before = s->seen_capacity;
        SK_TRY(sk_array_reserve((void **)&s->seen, &s->seen_capacity, (size_t)track + 1, sizeof *s->seen,
                                MOST, err));
        for (size_t k = before; k < s->seen_capacity; k++)
            s->seen[k] = 0;
        if (s->seen[track] == r->frames)
            tell_twice(r, s, s->here[i]);
        s->seen[track] = r->frames;
        SK_TRY(s == &r->truth ? sk_track_sequence_truth(&r->sequence, track, err)
                              : sk_track_sequence_found(&r->sequence, track, err));
        s->place[i] = places++;
    }
    return SK_OK;
}

static sk_status put_frame(run *r, sk_error *err)
{
    r->frames++;
    SK_TRY(find_pairs(r, err));
    SK_TRY(drop_ignored(r, err));
    SK_TRY(sk_track_sequence_frame(&r->sequence, err));
    SK_TRY(put_side(r, &r->truth, err));
    SK_TRY(put_side(r, &r->found, err));
    for (size_t i = 0; i < r->n_pairs; i++) {
        int32_t truth = r->truth.place[r->pairs[i].row], found = r->found.place[r->pairs[i].col];
        if (truth >= 0 && found >= 0)
            SK_TRY(sk_track_sequence_pair(&r->sequence, truth, found, r->pairs[i].weight, err));
    }
    return SK_OK;
}

static sk_status measure_sequence(run *r, int32_t class_id, sk_eval_tracks *out, sk_error *err)
{
    sk_track_score score;
    SK_TRY(sk_tracking_measure(&r->sequence, &score, err));
    sk_tracking_add(&out->classes[class_id], &score);
    sk_tracking_add(&out->all, &score);
    sk_track_sequence_clear(&r->sequence);
    sk_numbering_clear(&r->truth.tracks);
    sk_numbering_clear(&r->found.tracks);
    return SK_OK;
}

static sk_status measure_all(run *r, sk_eval_tracks *out, sk_error *err)
{
    side *t = &r->truth, *f = &r->found;
    const int32_t *videos = r->task->sequence; /* by time */
    int32_t class_before = -1, video_before = -1;
    for (;;) {
        const entry *a = t->at < t->count ? &t->entries[t->at] : NULL;
        const entry *b = f->at < f->count ? &f->entries[f->at] : NULL;
        const entry *next =
            !b || (a && (a->class_id != b->class_id ? a->class_id < b->class_id : a->time <= b->time)) ? a
                                                                                                       : b;
        if (!next)
            break;
        int32_t class_id = next->class_id, time = next->time;
        if (r->sequence.n_frames && (class_id != class_before || videos[time] != video_before))
            SK_TRY(measure_sequence(r, class_before, out, err));
        class_before = class_id;
        video_before = videos[time];
        SK_TRY(take_frame(r, t, class_id, time, err));
        SK_TRY(take_frame(r, f, class_id, time, err));
        SK_TRY(put_frame(r, err));
        if (r->twice[0])
            return SK_OK;
    }
    return r->sequence.n_frames ? measure_sequence(r, class_before, out, err) : SK_OK;
}

static void free_side(side *s)
{
    sk_free(s->entries);
    sk_free(s->here);
    sk_free(s->reach);
    sk_free(s->drop);
    sk_free(s->seen);
    sk_free(s->place);
    sk_numbering_free(&s->tracks);
}

static void note_run(const run *r, sk_eval_tracks *out)
{
    sk_text *notes = &r->report->notes;
    if (r->twice[0]) {
        sk_text_appendf(notes, "tracks are not measured: %s\n", r->twice);
        out->measured = false;
        return;
    }
    if (r->found.untracked)
        sk_text_appendf(notes, "tracks: %zu detections of the result belong to no track and were left out\n",
                        r->found.untracked);
    if (r->truth.untracked)
        sk_text_appendf(notes, "tracks: %zu animals of the truth belong to no track and were left out\n",
                        r->truth.untracked);
}

static sk_status run_kind(const sk_tracks_task *task, bool first, sk_eval_report *report, sk_error *err)
{
    sk_eval_tracks *out = &report->tracks[task->kind];
    run r = {.task = task, .report = report};
    r.truth.set = task->truth;
    r.found.set = task->result;
    sk_status status = SK_OK;
    out->classes = sk_calloc(report->n_classes + 1, sizeof *out->classes);
    if (!out->classes) {
        status = sk_fail_memory(err, (report->n_classes + 1) * sizeof *out->classes);
        goto done;
    }
    SK_TRY_GOTO(collect(&r, &r.truth, true, err));
    SK_TRY_GOTO(collect(&r, &r.found, false, err));
    SK_TRY_GOTO(measure_all(&r, out, err));
    out->measured = true;
    if (first || r.twice[0])
        note_run(&r, out);
done:
    free_side(&r.truth);
    free_side(&r.found);
    sk_track_sequence_free(&r.sequence);
    sk_matching_close(&r.matching);
    sk_free(r.pairs);
    sk_free(r.pair_of);
    return status;
}

/* --- time --- */

typedef struct moment {
    int64_t video, frame;
    int32_t rank, image;
} moment;

static int compare_moments(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    if (x->video != y->video)
        return x->video < y->video ? -1 : 1;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Pictures without a video are one sequence. */
static sk_status order_images(sk_tracks_task *task, sk_error *err)
{
    size_t n = task->truth->n_images;
    task->sequence = sk_malloc((n + 1) * sizeof *task->sequence);
    task->time = sk_malloc((n + 1) * sizeof *task->time);
    moment *moments = sk_malloc((n + 1) * sizeof *moments);
    if (!task->sequence || !task->time || !moments) {
        sk_free(moments);
        return sk_fail_memory(err, n * sizeof *moments);
    }
    for (size_t i = 0; i < n; i++) {
        const sk_annotation_image *im = &task->truth->images[i];
        const int64_t video = im->video >= 0 ? im->video : task->pairing->pictures ? -1 : im->source;
        moments[i] = (moment){video, im->frame, task->pairing->rank[i], (int32_t)i};
    }
    qsort(moments, n, sizeof *moments, compare_moments);
    for (size_t i = 0; i < n; i++) {
        task->time[moments[i].image] = (int32_t)i;
        task->sequence[i] = i == 0 ? 0 : task->sequence[i - 1] + (moments[i].video != moments[i - 1].video);
    }
    sk_free(moments);
    return SK_OK;
}

static bool has_tracks(const sk_annotation_set *set)
{
    for (size_t i = 0; i < set->n_items; i++)
        if (set->items[i].track >= 0)
            return true;
    return false;
}

/* What centres are of: the first part that both have. */
static uint32_t common_centre(uint32_t both)
{
    static const uint32_t parts[] = {SK_HAS_POINT, SK_HAS_OBB, SK_HAS_BOX, SK_HAS_KEYPOINTS};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (both & parts[i])
            return parts[i];
    return 0;
}

sk_status sk_tracks_run(const sk_annotation_set *result, const sk_annotation_set *truth,
                        const sk_pairing *pairing, const sk_eval_settings *settings,
                        const sk_keypoint_task *points, sk_eval_report *report, sk_error *err)
{
    bool found = has_tracks(result) || result->n_items == 0,
         wanted = has_tracks(truth); /* nothing found: all missed */
    if (!found || !wanted) {
        if (found && result->n_items)
            sk_text_append(&report->notes, "tracks are not measured: the truth has none\n");
        return SK_OK;
    }
    sk_tracks_task task = {.result = result,
                           .truth = truth,
                           .pairing = pairing,
                           .settings = settings,
                           .points = points,
                           .centre = common_centre(result->has & truth->has),
                           .distance = settings->distance};
    sk_status status = SK_OK;
    bool first = true;
    SK_TRY_GOTO(order_images(&task, err));
    if (!(task.distance > 0))
        SK_TRY_GOTO(sk_tracks_body(&task, &task.distance, err));
    report->track_distance = task.distance;
    for (int kind = 0; kind < SK_TRACKS_KINDS; kind++) {
        task.kind = (sk_tracks_kind)kind;
        bool compared = kind == SK_TRACKS_POINT ? task.distance > 0 : report->compared & has_of(task.kind);
        if (!compared)
            continue;
        SK_TRY_GOTO(run_kind(&task, first, report, err));
        first = false;
    }
    if (!(task.distance > 0))
        sk_text_append(&report->notes,
                       "centres are not compared: neither file says how long the animals are; "
                       "--distance says how far apart they may be\n");
done:
    sk_free(task.sequence);
    sk_free(task.time);
    return status;
}
