/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations_json.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* COCO: a dataset (images, annotations, categories, in any order) or the bare list of results its evaluator takes.
 * Read annotation by annotation, so that the file's size is bounded by nothing but patience. */

typedef struct reader {
    const char *path;
    sk_annotation_set *set;
    bool results; /* the bare list: keypoints carry scores, not visibilities */
    int64_t n_annotations, without_shape;
    sk_config *keypoints; /* the category that names them */
} reader;

static bool is_key(sk_json_span key, const char *name)
{
    return key.length == strlen(name) && memcmp(key.text, name, key.length) == 0;
}

static sk_status wrong(const reader *r, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: %s %lld: %s", r->path, r->results ? "result" : "annotation",
                   (long long)r->n_annotations, why);
}

static sk_status read_points(reader *r, const sk_config_value *list, sk_annotation *a, sk_error *err)
{
    for (size_t k = 0; k < (size_t)r->set->n_keypoints; k++) {
        double v[3] = {NAN, NAN, NAN};
        for (size_t i = 0; i < 3; i++)
            if (!sk_config_to_real(list->u.items[3 * k + i], &v[i]) &&
                !sk_config_is_null(list->u.items[3 * k + i]))
                return wrong(r, "keypoints are numbers", err);
        sk_annotation_point *p = &r->set->points[a->first + k];
        bool absent = v[0] == 0 && v[1] == 0 && v[2] == 0; /* as COCO writes what is not there */
        bool found = !isnan(v[0]) && !isnan(v[1]) && (r->results ? !absent : v[2] > 0);
        *p = (sk_annotation_point){v[0], v[1], r->results && !isnan(v[2]) ? v[2] : 1,
                                   !found                    ? 0
                                   : r->results || v[2] >= 2 ? 2
                                                             : 1};
        if (!found)
            p->x = p->y = NAN;
    }
    return SK_OK;
}

static sk_status start_points(reader *r, size_t numbers, sk_error *err)
{
    if (numbers % 3)
        return wrong(r, "keypoints come as x, y and a third number each", err);
    if (numbers / 3 > SK_ANNOTATION_MAX_KEYPOINTS)
        return wrong(r, "too many keypoints", err);
    if (!r->set->n_keypoints)
        return sk_annotations_keypoints(r->set, (int32_t)(numbers / 3), NULL, err);
    if ((size_t)r->set->n_keypoints * 3 != numbers)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: annotation %lld has %zu keypoints, those before had %d; evaluate one skeleton at a time",
            r->path, (long long)r->n_annotations, numbers / 3, r->set->n_keypoints);
    return SK_OK;
}

/* TAO and skitter say "track_id", CocoVID "instance_id", CVAT has it among the attributes. */
static int64_t track_of(const sk_config_value *o)
{
    const sk_config_value *more = sk_config_get(o, "attributes");
    int64_t track = sk_config_int_or(o, "track_id", -1);
    track = track >= 0 ? track : sk_config_int_or(o, "instance_id", -1);
    return track >= 0 ? track : sk_config_int_or(more, "track_id", -1);
}

static sk_status read_annotation(reader *r, const sk_config_value *o, sk_error *err)
{
    int64_t image_id, category;
    r->n_annotations++;
    if (!sk_config_is(o, SK_CONFIG_MAP) || !sk_config_to_int(sk_config_get(o, "image_id"), &image_id) ||
        image_id < 0)
        return wrong(r, "no image_id (COCO's are whole numbers)", err);
    if (!sk_config_to_int(sk_config_get(o, "category_id"), &category))
        category = -1;
    int32_t image, class_id;
    SK_TRY(sk_annotations_image(r->set, -1, -1, image_id, &image, err));
    SK_TRY(sk_annotations_class(r->set, category, "", 0, &class_id, err));
    const sk_config_value *points = sk_config_get(o, "keypoints");
    bool posed = sk_config_is(points, SK_CONFIG_LIST) && points->length > 0;
    if (posed)
        SK_TRY(start_points(r, points->length, err));
    sk_annotation *a;
    SK_TRY(sk_annotations_add(r->set, image, class_id, posed, &a, err));
    if (posed)
        SK_TRY(read_points(r, points, a, err));
    sk_annotations_common(o, a);
    if (sk_annotations_numbers(sk_config_get(o, "bbox"), a->box, 4) &&
        !isnan(a->box[0] + a->box[1] + a->box[2] + a->box[3]))
        a->has |= SK_HAS_BOX;
    a->score = sk_config_real_or(o, "score", 1);
    a->crowd = sk_config_bool_or(o, "iscrowd", false);
    a->labelled = (int32_t)fmax(-1, fmin(1e6, sk_config_real_or(o, "num_keypoints", -1)));
    a->track = track_of(o);
    r->without_shape += a->has == 0;
    r->set->has |= a->has;
    return SK_OK;
}

static sk_status read_image(reader *r, const sk_config_value *o, sk_error *err)
{
    int64_t id;
    if (!sk_config_is(o, SK_CONFIG_MAP) || !sk_config_to_int(sk_config_get(o, "id"), &id) || id < 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: an image without an id (COCO's are whole numbers)", r->path);
    int32_t image, source = -1;
    SK_TRY(sk_annotations_image(r->set, -1, -1, id, &image, err));
    /* skitter's images of a video name it, too */
    const char *name = sk_config_text_or(o, "video", sk_config_text_or(o, "file_name", ""));
    if (name[0])
        SK_TRY(sk_annotations_source(r->set, name, strlen(name), &source, err));
    r->set->images[image].source = source;
    r->set->images[image].frame = sk_config_int_or(o, "frame", -1);
    r->set->images[image].video = sk_config_int_or(o, "video_id", -1);
    r->set->images[image].width = (int32_t)fmax(0, fmin(1e6, sk_config_real_or(o, "width", 0)));
    r->set->images[image].height = (int32_t)fmax(0, fmin(1e6, sk_config_real_or(o, "height", 0)));
    return SK_OK;
}

static sk_status read_category(reader *r, sk_config **config, sk_error *err)
{
    const sk_config_value *o = sk_config_root(*config);
    int64_t id;
    if (!sk_config_is(o, SK_CONFIG_MAP) || !sk_config_to_int(sk_config_get(o, "id"), &id))
        return sk_fail(err, SK_ERR_FORMAT, "%s: a category without an id", r->path);
    int32_t class_id;
    const char *name = sk_config_text_or(o, "name", "");
    SK_TRY(
        sk_annotations_class(r->set, id, "", 0, &class_id, err)); /* named below: the number is what counts */
    char *copy = sk_strdup(name);
    if (!copy)
        return sk_fail_memory(err, strlen(name));
    sk_free(r->set->classes[class_id].name);
    r->set->classes[class_id].name = copy;
    if (!r->keypoints && sk_config_count(sk_config_get(o, "keypoints")) > 0) {
        r->keypoints = *config;
        *config = NULL;
    }
    return SK_OK;
}

typedef enum part { ANNOTATIONS, IMAGES, CATEGORIES } part;

static sk_status read_list(reader *r, sk_json_scan *scan, part which, sk_error *err)
{
    SK_TRY(sk_json_scan_enter(scan, '[', err));
    for (;;) {
        sk_json_span item;
        SK_TRY(sk_json_scan_item(scan, &item, err));
        if (!item.text)
            return SK_OK;
        sk_config *config = NULL;
        SK_TRY(sk_annotations_part(r->path, item, &config, err));
        sk_status status = which == ANNOTATIONS ? read_annotation(r, sk_config_root(config), err)
                           : which == IMAGES    ? read_image(r, sk_config_root(config), err)
                                                : read_category(r, &config, err);
        sk_config_close(&config);
        SK_TRY(status);
    }
}

/* One of the three lists of a dataset. */
static sk_status find_list(reader *r, sk_json_scan whole, part which, const char *name, bool *found,
                           sk_error *err)
{
    *found = false;
    SK_TRY(sk_json_scan_enter(&whole, '{', err));
    for (;;) {
        sk_json_span key, value;
        SK_TRY(sk_json_scan_pair(&whole, &key, &value, err));
        if (!key.text)
            return sk_json_scan_finish(&whole, err);
        if (!is_key(key, name))
            continue;
        *found = true;
        sk_json_scan inside = sk_json_scan_over(value.text, value.length, r->path);
        inside.begin = whole.begin; /* so that errors say where in the file */
        SK_TRY(read_list(r, &inside, which, err));
    }
}

/* Names for the keypoints, where the category that has any has as many as the annotations. */
static sk_status name_points(reader *r, sk_error *err)
{
    const sk_config_value *list = sk_config_get(sk_config_root(r->keypoints), "keypoints");
    sk_annotation_set *set = r->set;
    size_t count = sk_config_count(list);
    if (!list || !sk_config_is(list, SK_CONFIG_LIST) || count != (size_t)set->n_keypoints)
        return SK_OK;
    const char **names = sk_calloc(count, sizeof *names);
    bool all = names != NULL;
    for (size_t i = 0; all && i < count; i++)
        all = (names[i] = sk_config_text(list->u.items[i])) != NULL;
    sk_status status = !names ? sk_fail_memory(err, count * sizeof *names)
                       : all  ? sk_annotations_keypoints(set, (int32_t)count, names, err)
                              : SK_OK;
    sk_free(names);
    return status;
}

static sk_status read_dataset(reader *r, sk_json_scan scan, sk_error *err)
{
    static const struct {
        part which;
        const char *name;
    } lists[] = {{IMAGES, "images"}, {CATEGORIES, "categories"}}; /* categories last: they rename classes */
    bool found = false, other;
    SK_TRY(find_list(r, scan, ANNOTATIONS, "annotations", &found, err));
    for (size_t i = 0; found && i < 2; i++)
        SK_TRY(find_list(r, scan, lists[i].which, lists[i].name, &other, err));
    if (!found)
        return sk_fail(
            err, SK_ERR_FORMAT,
            "%s: JSON, but neither a COCO dataset (it has no \"annotations\"), a list of COCO results nor "
            "skitter's JSON lines",
            r->path);
    r->set->every_frame = true;
    return name_points(r, err);
}

sk_status sk_annotations_read_coco(const char *path, const char *text, size_t length, sk_annotation_set *set,
                                   sk_error *err)
{
    reader r = {.path = path, .set = set, .results = text[0] == '['};
    SK_TRY(sk_annotations_begin(set, r.results ? "COCO results" : "COCO dataset", err));
    sk_json_scan scan = sk_json_scan_over(text, length, path);
    sk_status status = SK_OK;
    if (r.results) {
        status = read_list(&r, &scan, ANNOTATIONS, err);
        if (status == SK_OK)
            status = sk_json_scan_finish(&scan, err);
    } else {
        status = read_dataset(&r, scan, err);
    }
    sk_config_close(&r.keypoints);
    if (status == SK_OK && r.without_shape)
        sk_annotations_note(set, "%lld annotations have neither a box nor keypoints (masks are not read)",
                            (long long)r.without_shape);
    return status;
}
