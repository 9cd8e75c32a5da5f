/* SPDX-License-Identifier: Apache-2.0 */
#include "app/finder_detections.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

sk_status sk_finder_detections_identity(const char *path, sk_text *out, sk_error *err)
{
    sk_sha256 hash;
    char hex[SK_SHA256_TEXT] = "";
    if (sk_file_is_regular(path)) {
        SK_TRY(sk_hash_sha256_file(path, &hash, err));
        sk_sha256_text(&hash, hex);
    }
    sk_text_appendf(out, "detections\t%s\n", hex[0] ? hex : path);
    return SK_OK;
}

/* A file without a byte is what programs leave that write a line for each detection, and had none. */
sk_status sk_finder_detections_read(const char *path, sk_annotation_set *set, sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    if (sk_file_is_regular(path) && sk_file_read(path, 4096, &text, &length, NULL) == SK_OK) {
        const bool empty = strspn(text, " \t\r\n") == length;
        sk_free(text);
        if (empty)
            return sk_annotations_begin(set, "nothing", err);
    }
    return sk_annotations_read(path, set, err);
}

static sk_status begin(void *context, const sk_finder_source *source, sk_error *err)
{
    const sk_finder_detections *f = context;
    const int64_t last = sk_given_frames_first(f->frames), total = source->info->total;
    if (source->info->exact && total >= 0 && last >= total)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "%s: has %lld frames, and the first of %s is number %lld: they are of another video",
                       source->source, (long long)total, f->finder.name, (long long)last);
    return SK_OK;
}

static sk_status find(void *context, const sk_frame *frame, const sk_instances **found, sk_error *err)
{
    sk_finder_detections *f = context;
    static const sk_instances nothing = {0};
    sk_result_frame known;
    const int64_t number = sk_given_frames_number(f->frames, frame->index);
    *found = &nothing;
    if (number < 0)
        return SK_OK;
    SK_TRY(sk_given_frames_get(f->frames, number, &known, err));
    *found = known.instances;
    return SK_OK;
}

static void end(void *context)
{
    (void)context;
}

/* Crops are cut around boxes: poses that came without one get the one around their points. */
static void box_poses(sk_annotation_set *set)
{
    for (size_t i = 0; i < set->n_items; i++) {
        sk_annotation *a = &set->items[i];
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        if (!(a->has & SK_HAS_KEYPOINTS) || (a->has & (SK_HAS_BOX | SK_HAS_OBB)))
            continue;
        for (int32_t k = 0; k < set->n_keypoints; k++) {
            const sk_annotation_point *p = &set->points[a->first + (size_t)k];
            if (!isfinite(p->x) || !isfinite(p->y))
                continue;
            low[0] = fmin(low[0], p->x), low[1] = fmin(low[1], p->y);
            high[0] = fmax(high[0], p->x), high[1] = fmax(high[1], p->y);
        }
        if (!isfinite(low[0])) /* nothing of it was seen */
            continue;
        for (int d = 0; d < 2; d++) {
            a->box[d] = low[d];
            a->box[2 + d] = fmax(high[d] - low[d], 1);
        }
        a->has |= SK_HAS_BOX;
        set->has |= SK_HAS_BOX;
    }
}

sk_status sk_finder_detections_open(const char *path, double body, sk_finder_detections *f, sk_error *err)
{
    SK_TRY(sk_finder_detections_read(path, &f->set, err));
    SK_TRY(sk_annotations_as_detections(path, body, &f->set, err));
    box_poses(&f->set);
    SK_TRY(sk_given_classes_of(&f->set, &f->classes, err));
    SK_TRY(sk_given_frames_open(path, &f->set, f->classes.number, &f->frames, err));
    SK_TRY(sk_finder_detections_identity(path, &f->identity, err));
    f->finder = (sk_finder){.name = path,
                            .identity = sk_text_get(&f->identity),
                            .n_classes = f->classes.count,
                            .class_names = f->classes.names,
                            .oriented = f->set.has & SK_HAS_OBB,
                            .begin = begin,
                            .find = find,
                            .end = end,
                            .context = f};
    return sk_text_status(&f->identity, err);
}

void sk_finder_detections_close(sk_finder_detections *f)
{
    sk_given_frames_close(&f->frames);
    sk_annotations_free(&f->set);
    sk_text_free(&f->identity);
    sk_given_classes_free(&f->classes);
    *f = (sk_finder_detections){0};
}
