/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/pairing.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(sk_pairing *p, const char *format, ...) SK_PRINTF(2, 3);
static void note(sk_pairing *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sk_text_vappendf(&p->notes, format, args);
    va_end(args);
    sk_text_append(&p->notes, "\n");
}

static sk_status numbers(int32_t **out, size_t count, sk_error *err)
{
    *out = sk_malloc((count + 1) * sizeof **out);
    if (!*out)
        return sk_fail_memory(err, count * sizeof **out);
    for (size_t i = 0; i < count; i++)
        (*out)[i] = -1;
    return SK_OK;
}

/* --- frames --- */

/* What an image is looked up by. */
typedef struct key {
    const char *name; /* "": only the frame counts */
    size_t length;    /* of the name, of which the ending may not count */
    int64_t frame;    /* -1: only the name counts */
    int32_t image;
} key;

static int compare_names(const key *x, const key *y)
{
    int names = memcmp(x->name, y->name, x->length < y->length ? x->length : y->length);
    return names ? names : x->length < y->length ? -1 : x->length > y->length;
}

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    int names = compare_names(x, y);
    if (names)
        return names;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

/* How images of the two sides are told to be the same. */
typedef enum way { BY_ID, BY_FRAME, BY_NAME } way;

static bool all_have_ids(const sk_annotation_set *set)
{
    for (size_t i = 0; i < set->n_images; i++)
        if (set->images[i].id < 0)
            return false;
    return true;
}

/* True when no image says where it comes from: the bare list of COCO results. */
static bool nameless(const sk_annotation_set *set)
{
    for (size_t i = 0; i < set->n_images; i++)
        if (set->images[i].source >= 0 || set->images[i].frame >= 0)
            return false;
    return true;
}

static bool lacks_frames(const sk_annotation_set *set)
{
    for (size_t i = 0; i < set->n_images; i++)
        if (set->images[i].frame < 0)
            return true;
    return false;
}

/* Pictures: more sources than one, each with a single frame; or no frame's number at all. */
static bool are_pictures(const sk_annotation_set *set)
{
    return (set->n_sources > 1 && set->n_sources >= set->n_images) || lacks_frames(set);
}

/* `stems`: endings do not count, since one side has label files; a set of stems has none left. */
static key key_of(const sk_annotation_set *set, size_t i, way w, bool pictures, bool bare, bool stems)
{
    const sk_annotation_image *im = &set->images[i];
    const char *name = im->source >= 0 ? set->sources[im->source] : "";
    if (w == BY_ID)
        return (key){"", 0, im->id, (int32_t)i};
    if (w == BY_FRAME)
        return (key){"", 0, im->frame, (int32_t)i};
    name = bare ? sk_path_name(name) : name;
    size_t length = strlen(name) - (stems && !set->stems ? strlen(sk_path_extension(name)) : 0);
    return (key){name, length, pictures ? -1 : im->frame, (int32_t)i};
}

static sk_status make_keys(const sk_annotation_set *set, way w, bool pictures, bool bare, bool stems,
                           key **out, sk_error *err)
{
    *out = sk_calloc(set->n_images + 1, sizeof **out);
    if (!*out)
        return sk_fail_memory(err, set->n_images * sizeof **out);
    for (size_t i = 0; i < set->n_images; i++)
        (*out)[i] = key_of(set, i, w, pictures, bare, stems);
    qsort(*out, set->n_images, sizeof **out, compare_keys);
    return SK_OK;
}

static bool has_twins(const key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (keys[i].frame == keys[i - 1].frame && compare_names(&keys[i], &keys[i - 1]) == 0)
            return true;
    return false;
}

static way choose_way(const sk_annotation_set *result, const sk_annotation_set *truth)
{
    bool ids = result->n_images && truth->n_images && all_have_ids(result) && all_have_ids(truth);
    if (ids && (nameless(result) || nameless(truth)))
        return BY_ID;
    bool video =
        result->n_sources <= 1 && truth->n_sources <= 1 && !lacks_frames(result) && !lacks_frames(truth);
    return video ? BY_FRAME : BY_NAME;
}

static sk_status pair_images(sk_pairing *p, const sk_annotation_set *result, const sk_annotation_set *truth,
                             sk_error *err)
{
    way w = choose_way(result, truth);
    bool pictures = are_pictures(result) || are_pictures(truth), stems = result->stems || truth->stems;
    p->pictures = pictures;
    key *r = NULL, *t = NULL;
    sk_status status = SK_OK;
    /* Names without their folders, unless that makes two pictures one. */
    for (int bare = 1; bare >= 0; bare--) {
        sk_free(r);
        sk_free(t);
        r = t = NULL;
        SK_TRY_GOTO(make_keys(result, w, pictures, bare, stems, &r, err));
        SK_TRY_GOTO(make_keys(truth, w, pictures, bare, stems, &t, err));
        if (!has_twins(r, result->n_images) && !has_twins(t, truth->n_images))
            break;
    }
    SK_TRY_GOTO(numbers(&p->image, result->n_images, err));
    size_t paired = 0;
    for (size_t i = 0, k = 0; i < result->n_images; i++) {
        for (; k < truth->n_images; k++) {
            key probe = {t[k].name, t[k].length, t[k].frame, r[i].image};
            if (compare_keys(&probe, &r[i]) >= 0)
                break;
        }
        if (k < truth->n_images && t[k].frame == r[i].frame && compare_names(&t[k], &r[i]) == 0) {
            p->image[r[i].image] = t[k].image;
            paired++;
        }
    }
    if (!paired && result->n_images && truth->n_images)
        status =
            sk_fail(err, SK_ERR_MISMATCH,
                    "the result and the truth share no frame: the result has %s%s%lld, the truth %s%s%lld\n"
                    "they are paired by %s",
                    r[0].name, r[0].name[0] ? " " : "frame ", (long long)r[0].frame, t[0].name,
                    t[0].name[0] ? " " : "frame ", (long long)t[0].frame,
                    w == BY_ID      ? "COCO's image_id"
                    : w == BY_FRAME ? "the frame's number"
                                    : "the picture's name, or the video's with the frame's number");
done:
    sk_free(r);
    sk_free(t);
    return status;
}

typedef struct place {
    int64_t id, frame;
    int32_t source, image;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

/* COCO's evaluator takes images by rising id; the order decides between equal scores. */
static sk_status rank_images(sk_pairing *p, const sk_annotation_set *truth, sk_error *err)
{
    place *places = sk_calloc(truth->n_images + 1, sizeof *places);
    sk_status status = places ? numbers(&p->rank, truth->n_images, err)
                              : sk_fail_memory(err, truth->n_images * sizeof *places);
    if (status == SK_OK) {
        for (size_t i = 0; i < truth->n_images; i++)
            places[i] =
                (place){truth->images[i].id, truth->images[i].frame, truth->images[i].source, (int32_t)i};
        qsort(places, truth->n_images, sizeof *places, compare_places);
        for (size_t i = 0; i < truth->n_images; i++)
            p->rank[places[i].image] = (int32_t)i;
    }
    sk_free(places);
    return status;
}

/* --- classes --- */

static bool classless(const sk_annotation_set *set)
{
    for (size_t i = 0; i < set->n_classes; i++)
        if (set->classes[i].number >= 0 || set->classes[i].name[0])
            return false;
    return true;
}

static bool any_named(const sk_annotation_set *set)
{
    for (size_t i = 0; i < set->n_classes; i++)
        if (set->classes[i].name[0])
            return true;
    return false;
}

static sk_status add_class(sk_pairing *p, const sk_annotation_class *c, sk_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "class %lld", (long long)c->number);
    p->class_names[p->n_classes] = sk_strdup(c->name[0] ? c->name : c->number >= 0 ? name : "animal");
    if (!p->class_names[p->n_classes])
        return sk_fail_memory(err, 64);
    p->n_classes++;
    return SK_OK;
}

static bool same_class(const sk_annotation_class *a, const sk_annotation_class *b, bool by_name)
{
    return by_name && (a->name[0] || b->name[0]) ? strcmp(a->name, b->name) == 0 : a->number == b->number;
}

static int compare_classes(const void *a, const void *b)
{
    const sk_annotation_class *x = *(const sk_annotation_class *const *)a,
                              *y = *(const sk_annotation_class *const *)b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Classes of one side by rising number, each beside an equal one or new. */
static sk_status gather_classes(sk_pairing *p, const sk_annotation_set *set,
                                const sk_annotation_class **known, bool by_name, int32_t *out, size_t *paired,
                                sk_error *err)
{
    const sk_annotation_class **order = sk_calloc(set->n_classes + 1, sizeof *order);
    if (!order)
        return sk_fail_memory(err, set->n_classes * sizeof *order);
    for (size_t i = 0; i < set->n_classes; i++)
        order[i] = &set->classes[i];
    qsort(order, set->n_classes, sizeof *order, compare_classes);
    sk_status status = SK_OK;
    *paired = 0;
    for (size_t i = 0; status == SK_OK && i < set->n_classes; i++) {
        int32_t c = 0;
        while (c < p->n_classes && known[c] && !same_class(known[c], order[i], by_name))
            c++;
        if (c == p->n_classes) {
            known[c] = order[i];
            status = add_class(p, order[i], err);
        } else {
            ++*paired;
        }
        out[order[i] - set->classes] = c;
    }
    sk_free(order);
    return status;
}

#define MAX_CLASSES 4096

static sk_status pair_classes(sk_pairing *p, const sk_annotation_set *result, const sk_annotation_set *truth,
                              bool any_class, sk_error *err)
{
    if (!any_class && (result->n_classes > MAX_CLASSES || truth->n_classes > MAX_CLASSES))
        return sk_fail(err, SK_ERR_LIMIT, "more than %d classes; use --any-class", MAX_CLASSES);
    SK_TRY(numbers(&p->result_class, result->n_classes, err));
    SK_TRY(numbers(&p->truth_class, truth->n_classes, err));
    size_t room = result->n_classes + truth->n_classes + 1;
    p->class_names = sk_calloc(room, sizeof *p->class_names);
    const sk_annotation_class **known = sk_calloc(room, sizeof *known);
    sk_status status = SK_OK;
    if (!p->class_names || !known) {
        status = sk_fail_memory(err, room * sizeof *known);
        goto done;
    }
    bool one = any_class;
    if (!one && (classless(result) || classless(truth))) {
        one = true;
        if (result->n_classes > 1 || truth->n_classes > 1)
            note(p, "one of the two files knows no classes: all are taken for one");
    }
    if (!one && result->n_classes == 1 && truth->n_classes == 1 &&
        !same_class(&result->classes[0], &truth->classes[0], any_named(result) && any_named(truth))) {
        one = true;
        note(p, "the result's only class, '%s', is taken for the truth's, '%s'", result->classes[0].name,
             truth->classes[0].name);
    }
    if (one) {
        static const sk_annotation_class animal = {-1, (char *)""};
        for (size_t i = 0; i < result->n_classes; i++)
            p->result_class[i] = 0;
        for (size_t i = 0; i < truth->n_classes; i++)
            p->truth_class[i] = 0;
        status = add_class(p, truth->n_classes == 1 ? &truth->classes[0] : &animal, err);
        goto done;
    }
    bool by_name = any_named(result) && any_named(truth);
    size_t paired;
    SK_TRY_GOTO(gather_classes(p, truth, known, by_name, p->truth_class, &paired, err));
    SK_TRY_GOTO(gather_classes(p, result, known, by_name, p->result_class, &paired, err));
    if (!paired && result->n_classes && truth->n_classes)
        note(p,
             "no class of the result ('%s' …) is one of the truth ('%s' …): --any-class compares without "
             "classes",
             result->classes[0].name, truth->classes[0].name);
done:
    sk_free(known);
    return status;
}

/* --- keypoints --- */

static sk_status add_point(sk_pairing *p, int32_t truth, int32_t result, const char *name, sk_error *err)
{
    int32_t i = p->n_keypoints;
    p->truth_point[i] = truth;
    p->result_point[i] = result;
    char numbered[32];
    snprintf(numbered, sizeof numbered, "kpt%d", truth);
    p->keypoint_names[i] = sk_strdup(name ? name : numbered);
    if (!p->keypoint_names[i])
        return sk_fail_memory(err, 32);
    p->n_keypoints++;
    return SK_OK;
}

static sk_status pair_keypoints(sk_pairing *p, const sk_annotation_set *result,
                                const sk_annotation_set *truth, sk_error *err)
{
    if (result->n_keypoints <= 0 || truth->n_keypoints <= 0)
        return SK_OK;
    size_t n = (size_t)truth->n_keypoints;
    SK_TRY(numbers(&p->truth_point, n, err));
    SK_TRY(numbers(&p->result_point, n, err));
    p->keypoint_names = sk_calloc(n, sizeof *p->keypoint_names);
    if (!p->keypoint_names)
        return sk_fail_memory(err, n * sizeof *p->keypoint_names);
    if (result->keypoint_names && truth->keypoint_names)
        for (int32_t t = 0; t < truth->n_keypoints; t++)
            for (int32_t r = 0; r < result->n_keypoints; r++)
                if (strcmp(result->keypoint_names[r], truth->keypoint_names[t]) == 0) {
                    SK_TRY(add_point(p, t, r, truth->keypoint_names[t], err));
                    break;
                }
    if (p->n_keypoints && (p->n_keypoints < truth->n_keypoints || p->n_keypoints < result->n_keypoints))
        note(p, "only the %d keypoints both name are compared (result %d, truth %d)", p->n_keypoints,
             result->n_keypoints, truth->n_keypoints);
    if (p->n_keypoints)
        return SK_OK;
    if (result->n_keypoints != truth->n_keypoints) {
        note(p, "keypoints are not compared: the result has %d, the truth %d, and no name is in both",
             result->n_keypoints, truth->n_keypoints);
        return SK_OK;
    }
    for (int32_t k = 0; k < truth->n_keypoints; k++)
        SK_TRY(add_point(p, k, k,
                         truth->keypoint_names    ? truth->keypoint_names[k]
                         : result->keypoint_names ? result->keypoint_names[k]
                                                  : NULL,
                         err));
    return SK_OK;
}

sk_status sk_pairing_open(const sk_annotation_set *result, const sk_annotation_set *truth, bool any_class,
                          sk_pairing *out, sk_error *err)
{
    *out = (sk_pairing){0};
    sk_status status = SK_OK;
    SK_TRY_GOTO(pair_images(out, result, truth, err));
    SK_TRY_GOTO(rank_images(out, truth, err));
    SK_TRY_GOTO(pair_classes(out, result, truth, any_class, err));
    SK_TRY_GOTO(pair_keypoints(out, result, truth, err));
    SK_TRY_GOTO(sk_text_status(&out->notes, err));
done:
    if (status != SK_OK)
        sk_pairing_free(out);
    return status;
}

void sk_pairing_free(sk_pairing *p)
{
    for (int32_t i = 0; p->class_names && i < p->n_classes; i++)
        sk_free(p->class_names[i]);
    for (int32_t i = 0; p->keypoint_names && i < p->n_keypoints; i++)
        sk_free(p->keypoint_names[i]);
    sk_free_all(p->class_names, p->keypoint_names, p->image, p->rank, p->truth_class, p->result_class,
                p->truth_point, p->result_point);
    sk_text_free(&p->notes);
    *p = (sk_pairing){0};
}
