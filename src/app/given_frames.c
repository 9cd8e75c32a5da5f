/* SPDX-License-Identifier: Apache-2.0 */
#include "app/given_frames.h"

#include "base/log.h"
#include "base/memory.h"
#include "track/track.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MOST ((int64_t)1 << 28) /* three months at 30 frames a second */

/* One of the file's annotations, by frame. */
typedef struct entry {
    int64_t frame;
    size_t item;
} entry;

struct sk_given_frames {
    const sk_annotation_set *set;
    const int32_t *class_numbers; /* of the set's classes */
    bool pictures;                /* numbers are those of images */
    int64_t first, step, count;
    entry *entries; /* by frame, and of one frame in the file's order */
    size_t n_entries, cursor;
    sk_instances instances;
};

static int by_frame(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t number_of(const sk_given_frames *f, size_t image)
{
    return f->pictures ? (int64_t)image : f->set->images[image].frame;
}

/* Pictures: no image has a number, or each has a source of its own. */
static sk_status find_kind(const char *path, sk_given_frames *f, sk_error *err)
{
    const sk_annotation_set *set = f->set;
    bool numbered = set->n_images > 0;
    for (size_t i = 0; i < set->n_images; i++)
        numbered = numbered && set->images[i].frame >= 0;
    f->pictures = !numbered || (set->n_sources > 1 && set->n_sources == set->n_images);
    if (!f->pictures && set->n_sources > 1)
        return sk_fail(
            err, SK_ERR_FORMAT,
            "%s: is about %zu videos, '%s' and '%s' among them; tracks are made of one at a time: write each "
            "into a file of its own",
            path, set->n_sources, set->sources[0], set->sources[1]);
    return SK_OK;
}

static sk_status find_range(const char *path, sk_given_frames *f, sk_error *err)
{
    const sk_annotation_set *set = f->set;
    int64_t last = 0;
    for (size_t i = 0; i < set->n_images; i++) {
        const int64_t number = number_of(f, i);
        f->first = i == 0 || number < f->first ? number : f->first;
        last = i == 0 || number > last ? number : last;
    }
    for (size_t i = 0; i < set->n_images; i++)
        f->step = divisor(f->step, number_of(f, i) - f->first);
    f->step = f->step > 0 ? f->step : 1;
    if (set->n_images == 0) /* nothing was found: a run without frames */
        return SK_OK;
    if ((last - f->first) / f->step >= FRAMES_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "%s: names frames %lld and %lld; so many frames no video has", path,
                       (long long)f->first, (long long)last);
    f->count = (last - f->first) / f->step + 1;
    return SK_OK;
}

static sk_status sort_entries(const char *path, sk_given_frames *f, sk_error *err)
{
    const sk_annotation_set *set = f->set;
    size_t most = 0, here = 0;
    f->entries = sk_malloc((set->n_items + 1) * sizeof *f->entries);
    if (!f->entries)
        return sk_fail_memory(err, set->n_items * sizeof *f->entries);
    for (size_t i = 0; i < set->n_items; i++)
        if (!set->items[i].crowd)
            f->entries[f->n_entries++] = (entry){number_of(f, (size_t)set->items[i].image), i};
    if (f->n_entries > 1)
        qsort(f->entries, f->n_entries, sizeof *f->entries, by_frame);
    for (size_t i = 0; i < f->n_entries; i++) {
        here = i && f->entries[i].frame == f->entries[i - 1].frame ? here + 1 : 1;
        most = here > most ? here : most;
    }
    if (most > SK_TRACK_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "%s: a frame has %zu detections; at most %d are followed", path,
                       most, SK_TRACK_MOST);
    return sk_instances_alloc(most > 0 ? (int32_t)most : 1, set->n_keypoints, &f->instances, err);
}

static void fill(const sk_given_frames *f, const sk_annotation *a, sk_found *in)
{
    in->has = a->has;
    in->class_id = a->class_id >= 0 ? f->class_numbers[a->class_id] : -1;
    in->score = (float)a->score;
    for (int i = 0; i < 2; i++) {
        in->box[i] = (float)a->box[i];
        in->box[i + 2] = (float)(a->box[i] + a->box[i + 2]);
    }
    for (int i = 0; i < 5; i++)
        in->obb[i] = (float)a->obb[i];
    for (int32_t k = 0; k < f->set->n_keypoints && (a->has & SK_HAS_KEYPOINTS); k++) {
        const sk_annotation_point *p = &f->set->points[a->first + (size_t)k];
        f->instances.keypoints[in->first_keypoint + k] =
            (sk_keypoint){(float)p->x, (float)p->y, (float)p->score};
    }
}

/* What is no animal for the tracker, a box inside out for one, is told: its row would be lost without a word. */
static void tell_unsound(const char *path, sk_given_frames *f)
{
    sk_detection ignored;
    size_t unsound = 0;
    int64_t first = 0;
    for (size_t i = 0; i < f->n_entries; i++) {
        f->instances.count = 0;
        sk_found *in = sk_instances_add(&f->instances);
        if (!in)
            return;
        fill(f, &f->set->items[f->entries[i].item], in);
        if (!sk_detection_of(&f->instances, 0, NULL, &ignored) && unsound++ == 0)
            first = f->entries[i].frame;
    }
    f->instances.count = 0;
    if (unsound)
        sk_log(
            SK_LOG_WARN,
            "%s: %zu of %zu detections, the first of them in frame %lld, have no place or no size (a number "
            "is missing or beyond all bounds, or a side is not above 0); they are left out",
            path, unsound, f->n_entries, (long long)first);
}

sk_status sk_given_frames_open(const char *path, const sk_annotation_set *set, const int32_t *class_numbers,
                               sk_given_frames **out, sk_error *err)
{
    *out = NULL;
    sk_given_frames *f = sk_calloc(1, sizeof *f);
    if (!f)
        return sk_fail_memory(err, sizeof *f);
    f->set = set;
    f->class_numbers = class_numbers;
    sk_status status = find_kind(path, f, err);
    if (status == SK_OK)
        status = find_range(path, f, err);
    if (status == SK_OK)
        status = sort_entries(path, f, err);
    if (status == SK_OK)
        tell_unsound(path, *out = f);
    else
        sk_given_frames_close(&f);
    return status;
}

void sk_given_frames_close(sk_given_frames **pointer)
{
    sk_given_frames *f = pointer ? *pointer : NULL;
    if (!f)
        return;
    *pointer = NULL;
    sk_instances_free(&f->instances);
    sk_free(f->entries);
    sk_free(f);
}

int64_t sk_given_frames_count(const sk_given_frames *f)
{
    return f->count;
}

void sk_given_frames_gap(const sk_given_frames *f, int64_t *from, int64_t *to)
{
    *from = *to = f->first;
    for (size_t i = 1; i < f->n_entries; i++)
        if (f->entries[i].frame - f->entries[i - 1].frame > *to - *from) {
            *from = f->entries[i - 1].frame;
            *to = f->entries[i].frame;
        }
}

int64_t sk_given_frames_first(const sk_given_frames *f)
{
    return f->first;
}

int64_t sk_given_frames_number(const sk_given_frames *f, int64_t frame)
{
    const int64_t number = (frame - f->first) / f->step;
    return frame >= f->first && (frame - f->first) % f->step == 0 && number < f->count ? number : -1;
}

const char *sk_given_frames_source(const sk_given_frames *f)
{
    return f->set->n_sources == 1 ? f->set->sources[0] : NULL;
}

void sk_given_frames_size(const sk_given_frames *f, int32_t *width, int32_t *height)
{
    *width = f->set->n_images ? f->set->images[0].width : 0;
    *height = f->set->n_images ? f->set->images[0].height : 0;
}

sk_status sk_given_frames_get(sk_given_frames *f, int64_t number, sk_result_frame *out, sk_error *err)
{
    const int64_t frame = f->first + number * f->step;
    if (number < 0 || number >= f->count)
        return sk_fail(err, SK_ERR_ARG, "there are %lld frames, and none numbered %lld", (long long)f->count,
                       (long long)number);
    if (f->cursor > 0 && f->entries[f->cursor - 1].frame >= frame)
        f->cursor = 0; /* asked for anew */
    while (f->cursor < f->n_entries && f->entries[f->cursor].frame < frame)
        f->cursor++;
    f->instances.count = 0;
    for (; f->cursor < f->n_entries && f->entries[f->cursor].frame == frame; f->cursor++) {
        sk_found *in = sk_instances_add(&f->instances);
        if (in)
            fill(f, &f->set->items[f->entries[f->cursor].item], in);
    }
    *out = (sk_result_frame){.index = frame, .instances = &f->instances};
    sk_given_frames_size(f, &out->width, &out->height);
    return SK_OK;
}
