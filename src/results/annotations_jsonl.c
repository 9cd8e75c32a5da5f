/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations_json.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* skitter's results.jsonl: one object a frame. Older files name no keypoints; those are known by their
 * place. */

bool sk_annotations_numbers(const sk_config_value *list, double *out, size_t count)
{
    if (!sk_config_is(list, SK_CONFIG_LIST) || list->length != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        out[i] = NAN;
        if (!sk_config_to_real(list->u.items[i], &out[i]) && !sk_config_is_null(list->u.items[i]))
            return false;
    }
    return true;
}

sk_status sk_annotations_part(const char *what, sk_json_span span, sk_config **out, sk_error *err)
{
    return sk_config_open_json(span.text, span.length, what, out, err);
}

void sk_annotations_common(const sk_config_value *object, sk_annotation *a)
{
    double obb[5];
    if (sk_annotations_numbers(sk_config_get(object, "obb"), obb, 5) && !isnan(obb[0] + obb[1] + obb[2]) &&
        !isnan(obb[3] + obb[4])) {
        memcpy(a->obb, obb, sizeof obb);
        a->has |= SK_HAS_OBB;
    }
    a->area = sk_config_real_or(object, "area", NAN);
    a->length = sk_config_real_or(object, "length", NAN);
    a->visible = sk_config_real_or(object, "visible", 1);
}

typedef struct reader {
    const char *path;
    int64_t line;
    sk_annotation_set *set;
} reader;

static sk_status wrong(const reader *r, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld: %s\ndocs/results.md describes these lines", r->path,
                   (long long)r->line, why);
}

static sk_status read_points(const reader *r, const sk_config_value *object, sk_annotation *a, sk_error *err)
{
    const sk_config_value *list = sk_config_get(object, "keypoints");
    const sk_config_value *seen = sk_config_get(object, "keypoint_visible");
    for (size_t k = 0; k < (size_t)r->set->n_keypoints; k++) {
        double v[3];
        if (!sk_annotations_numbers(sk_config_at(list, k), v, 3))
            return wrong(r, "a keypoint is a list of x, y and score", err);
        bool found = !isnan(v[0]) && !isnan(v[1]);
        int64_t visible = found ? 2 : 0;
        if (seen && !sk_config_to_int(sk_config_at(seen, k), &visible))
            return wrong(r, "keypoint_visible is a list of 0, 1 and 2", err);
        r->set->points[a->first + k] =
            (sk_annotation_point){found ? v[0] : NAN, found ? v[1] : NAN, isnan(v[2]) ? 1 : v[2],
                                  !found || visible <= 0 ? 0
                                  : visible >= 2         ? 2
                                                         : 1};
    }
    return SK_OK;
}

static sk_status read_instance(const reader *r, const sk_config_value *object, int32_t image, sk_error *err)
{
    if (!sk_config_is(object, SK_CONFIG_MAP))
        return wrong(r, "an instance is an object", err);
    const char *name = sk_config_text_or(object, "name", "");
    int32_t class_id;
    SK_TRY(sk_annotations_class(r->set, sk_config_int_or(object, "class", -1), name, strlen(name), &class_id,
                                err));
    const sk_config_value *points = sk_config_get(object, "keypoints");
    size_t count = sk_config_count(points);
    if (count && !r->set->n_keypoints) {
        if (count > SK_ANNOTATION_MAX_KEYPOINTS)
            return wrong(r, "too many keypoints", err);
        SK_TRY(sk_annotations_keypoints(r->set, (int32_t)count, NULL, err));
    }
    if (count && count != (size_t)r->set->n_keypoints)
        return wrong(r, "not as many keypoints as the instances before", err);
    sk_annotation *a;
    SK_TRY(sk_annotations_add(r->set, image, class_id, count > 0, &a, err));
    if (count)
        SK_TRY(read_points(r, object, a, err));
    sk_annotations_common(object, a);
    double box[4];
    if (sk_annotations_numbers(sk_config_get(object, "box"), box, 4) &&
        !isnan(box[0] + box[1] + box[2] + box[3])) {
        a->has |= SK_HAS_BOX;
        a->box[0] = box[0], a->box[1] = box[1], a->box[2] = box[2] - box[0], a->box[3] = box[3] - box[1];
    }
    a->score = sk_config_real_or(object, "score", 1);
    a->track = sk_config_int_or(object, "track", -1);
    a->crowd = sk_config_bool_or(object, "crowd", false);
    r->set->has |= a->has;
    return SK_OK;
}

/* The first line with names tells them for all. */
static sk_status name_points(const reader *r, const sk_config_value *list, sk_error *err)
{
    size_t count = sk_config_count(list);
    if (r->set->keypoint_names || r->set->n_keypoints || !sk_config_is(list, SK_CONFIG_LIST) || count == 0)
        return SK_OK;
    if (count > SK_ANNOTATION_MAX_KEYPOINTS)
        return wrong(r, "too many keypoint_names", err);
    const char **names = sk_calloc(count, sizeof *names);
    sk_status status = names ? SK_OK : sk_fail_memory(err, count * sizeof *names);
    for (size_t i = 0; status == SK_OK && i < count; i++)
        if (!(names[i] = sk_config_text(list->u.items[i])))
            status = wrong(r, "keypoint_names is a list of texts", err);
    if (status == SK_OK)
        status = sk_annotations_keypoints(r->set, (int32_t)count, names, err);
    sk_free(names);
    return status;
}

static sk_status read_line(const reader *r, const sk_config_value *root, sk_error *err)
{
    int64_t frame = sk_config_int_or(root, "frame", -1);
    const sk_config_value *list = sk_config_get(root, "instances");
    if (frame < 0 || !sk_config_is(list, SK_CONFIG_LIST))
        return wrong(r, "an object with \"frame\" and \"instances\" was expected", err);
    SK_TRY(name_points(r, sk_config_get(root, "keypoint_names"), err));
    const char *source = sk_config_text_or(root, "source", "");
    int32_t index, image;
    SK_TRY(sk_annotations_source(r->set, source, strlen(source), &index, err));
    SK_TRY(sk_annotations_image(r->set, index, frame, -1, &image, err));
    sk_annotations_time(r->set, frame, sk_config_real_or(root, "time", NAN));
    for (size_t i = 0; i < list->length; i++)
        SK_TRY(read_instance(r, list->u.items[i], image, err));
    return SK_OK;
}

sk_status sk_annotations_read_jsonl(const char *path, const char *text, size_t length, sk_annotation_set *set,
                                    sk_error *err)
{
    SK_TRY(sk_annotations_begin(set, "JSON lines", err));
    set->every_frame = true;
    reader r = {.path = path, .set = set};
    const char *end = text + length;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        r.line++;
        sk_json_span line = {at, (size_t)(stop - at)};
        at = stop < end ? stop + 1 : stop;
        size_t blank = 0;
        while (blank < line.length && memchr(" \t\r", line.text[blank], 3))
            blank++;
        if (blank == line.length)
            continue;
        sk_config *config = NULL;
        sk_status status = sk_annotations_part(path, line, &config, err);
        if (status != SK_OK) {
            sk_error_prefix(err, "line %lld", (long long)r.line);
            return status;
        }
        status = read_line(&r, sk_config_root(config), err);
        sk_config_close(&config);
        SK_TRY(status);
    }
    return SK_OK;
}
