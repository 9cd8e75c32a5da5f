/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RESULTS_SET_SAID_H
#define SK_TESTS_RESULTS_SET_SAID_H

/* A set of annotations, and a frame of results, in words: all that they say. */
#include "base/text.h"
#include "results/annotations.h"
#include "results/sink.h"

#include <string.h>

static inline void say_set(const sk_annotation_set *set, sk_text *out)
{
    sk_text_appendf(out, "%s, has %x, %d keypoints, rate %.6g%s%s%s\n", set->format, set->has,
                    set->n_keypoints, set->rate, set->every_frame ? ", every frame" : "",
                    set->stems ? ", stems" : "", set->unscored ? ", unscored" : "");
    for (int32_t i = 0; i < set->n_keypoints && set->keypoint_names; i++)
        sk_text_appendf(out, "keypoint '%s'\n", set->keypoint_names[i]);
    for (size_t i = 0; i < set->n_sources; i++)
        sk_text_appendf(out, "source '%s'\n", set->sources[i]);
    for (size_t i = 0; i < set->n_classes; i++)
        sk_text_appendf(out, "class %lld '%s'\n", (long long)set->classes[i].number, set->classes[i].name);
    for (size_t i = 0; i < set->n_images; i++) {
        const sk_annotation_image *m = &set->images[i];
        sk_text_appendf(out, "image %d %lld %lld %d x %d %lld\n", m->source, (long long)m->frame,
                        (long long)m->id, m->width, m->height, (long long)m->video);
    }
    for (size_t i = 0; i < set->n_items; i++) {
        const sk_annotation *a = &set->items[i];
        sk_text_appendf(out, "item %d %d has %x%s%s%s %.6g", a->image, a->class_id, a->has,
                        a->predicted ? " predicted" : "", a->directed ? " directed" : "",
                        a->crowd ? " crowd" : "", a->score);
        sk_text_appendf(out, " box %.6g %.6g %.6g %.6g", a->box[0], a->box[1], a->box[2], a->box[3]);
        sk_text_appendf(out, " turned %.6g %.6g %.6g %.6g %.6g", a->obb[0], a->obb[1], a->obb[2], a->obb[3],
                        a->obb[4]);
        sk_text_appendf(out, " area %.6g length %.6g visible %.6g labelled %d track %lld", a->area, a->length,
                        a->visible, a->labelled, (long long)a->track);
        for (int32_t k = 0; k < set->n_keypoints && a->has & SK_HAS_KEYPOINTS; k++) {
            const sk_annotation_point *p = &set->points[a->first + (size_t)k];
            sk_text_appendf(out, " (%.6g %.6g %.6g %d)", p->x, p->y, p->score, p->visible);
        }
        sk_text_append(out, "\n");
    }
    if (sk_text_get(&set->notes)[0])
        sk_text_appendf(out, "notes: %s\n", sk_text_get(&set->notes));
}

static inline void say_frame(const sk_result_frame *f, sk_text *out)
{
    const sk_instances *all = f->instances;
    sk_text_appendf(out, "frame '%s' %lld at %.6g, %d x %d, ns %lld, picture %llu, '%s', '%s'\n", f->source,
                    (long long)f->index, f->time, f->width, f->height, (long long)f->wall_ns,
                    (unsigned long long)f->picture, f->frame_id ? f->frame_id : "-",
                    f->problem ? f->problem : "-");
    for (int32_t i = 0; i < all->count; i++) {
        const sk_found *in = &all->items[i];
        sk_text_appendf(out, "found has %x class %d score %.6g track %d %.6g", in->has, in->class_id,
                        (double)in->score, in->track_id, (double)in->tracking_score);
        for (int k = 0; k < 4; k++)
            sk_text_appendf(out, " %.6g", in->has & SK_HAS_BOX ? (double)in->box[k] : 0);
        for (int k = 0; k < 5; k++)
            sk_text_appendf(out, " %.6g", in->has & SK_HAS_OBB ? (double)in->obb[k] : 0);
        for (int32_t k = 0; k < all->n_keypoints && in->has & SK_HAS_KEYPOINTS; k++) {
            const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
            sk_text_appendf(out, " (%.6g %.6g %.6g)", (double)p->x, (double)p->y, (double)p->score);
        }
        if (f->sightings) {
            const sk_sighting *s = &f->sightings[i];
            sk_text_appendf(out, " sighting %d %d %d %d %.6g %.6g %.6g %.6g %.6g", s->track, s->place,
                            s->detection, (int)s->state, s->x, s->y, s->heading, s->certainty,
                            s->uncertainty);
        }
        if (f->looks)
            for (int k = 0; k < SK_TRACK_LOOKS; k += 11)
                sk_text_appendf(out, " %d", f->looks[i * SK_TRACK_LOOKS + k]);
        sk_text_append(out, "\n");
    }
}

#endif
