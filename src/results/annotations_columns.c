/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations_csv.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* The first name of each is skitter's; the others are those of upstream's tracks, clean ("id") and whole ("TrajectoryID"). */
static const struct {
    int what;
    const char *name;
} names[] = {{SK_CSV_SOURCE, "source"},
             {SK_CSV_FRAME, "frame"},
             {SK_CSV_FRAME, "FrameID"},
             {SK_CSV_TRACK, "track"},
             {SK_CSV_TRACK, "id"},
             {SK_CSV_TRACK, "TrajectoryID"},
             {SK_CSV_CLASS, "class"},
             {SK_CSV_NAME, "name"},
             {SK_CSV_STATE, "state"},
             {SK_CSV_STATE, "State"},
             {SK_CSV_TIME, "time"},
             {SK_CSV_TIME, "time_s"},
             {SK_CSV_SCORE, "score"},
             {SK_CSV_SCORE, "detection_confidence"},
             {SK_CSV_SCORE, "DetectionConfidence"},
             {SK_CSV_X1, "x1"},
             {SK_CSV_Y1, "y1"},
             {SK_CSV_X2, "x2"},
             {SK_CSV_Y2, "y2"},
             {SK_CSV_CX, "cx"},
             {SK_CSV_CY, "cy"},
             {SK_CSV_W, "w"},
             {SK_CSV_H, "h"},
             {SK_CSV_ANGLE, "angle"},
             {SK_CSV_X, "x"},
             {SK_CSV_X, "X"},
             {SK_CSV_Y, "y"},
             {SK_CSV_Y, "Y"},
             {SK_CSV_HEADING, "heading"},
             {SK_CSV_HEADING, "Theta"},
             {SK_CSV_HEADING_DEGREES, "heading_deg"},
             {SK_CSV_VISIBLE, "visible"},
             {SK_CSV_AREA, "area"},
             {SK_CSV_LENGTH, "length"},
             {SK_CSV_CROWD, "crowd"}};

/* "<keypoint>_x" beside "<keypoint>_y", and what else tells of it; upstream's whole tables call them otherwise. */
typedef struct point_form {
    const char *prefix;
    struct {
        const char *suffix;
        int part; /* 0 x, 1 y, 2 score, 3 visible */
    } parts[5];
} point_form;
static const point_form forms[] = {{"", {{"_x", 0}, {"_y", 1}, {"_score", 2}, {"_conf", 2}, {"_visible", 3}}},
                                   {"PoseKpt_", {{"_X", 0}, {"_Y", 1}, {"_Conf", 2}, {NULL, 0}, {NULL, 0}}}};

static bool is(const sk_csv_cell *c, const char *prefix, const char *name, const char *suffix)
{
    size_t p = strlen(prefix), n = strlen(name), s = strlen(suffix);
    return c->length == p + n + s && memcmp(c->text, prefix, p) == 0 && memcmp(c->text + p, name, n) == 0 &&
           memcmp(c->text + p + n, suffix, s) == 0;
}

static void find_fixed(const sk_csv_cell *cells, sk_csv_columns *out)
{
    for (int f = 0; f < SK_CSV_FIXED; f++)
        out->fixed[f] = -1;
    for (size_t i = 0; i < out->count; i++)
        out->what[i] = SK_CSV_UNUSED;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t i = 0; i < out->count && out->fixed[names[n].what] < 0; i++)
            if (out->what[i] == SK_CSV_UNUSED && is(&cells[i], "", names[n].name, "")) {
                out->what[i] = names[n].what;
                out->fixed[names[n].what] = (int)i;
            }
}

/* Marks the columns of the keypoint whose x column i is; its name in fresh memory, null where it is none. */
static sk_status find_point(const sk_csv_cell *cells, size_t i, const point_form *form, sk_csv_columns *out,
                            char **name, sk_error *err)
{
    const sk_csv_cell *c = &cells[i];
    size_t prefix = strlen(form->prefix), suffix = strlen(form->parts[0].suffix);
    *name = NULL;
    if (out->what[i] != SK_CSV_UNUSED || c->length <= prefix + suffix ||
        memcmp(c->text, form->prefix, prefix) != 0 ||
        memcmp(c->text + c->length - suffix, form->parts[0].suffix, suffix) != 0)
        return SK_OK;
    char *own = sk_strndup(c->text + prefix, c->length - prefix - suffix);
    if (!own)
        return sk_fail_memory(err, c->length);
    bool pair = false;
    for (size_t k = 0; k < out->count; k++)
        pair = pair || is(&cells[k], form->prefix, own, form->parts[1].suffix);
    if (!pair) {
        sk_free(own);
        return SK_OK;
    }
    for (size_t k = 0; k < out->count; k++)
        for (int p = 0; p < 5 && form->parts[p].suffix; p++)
            if (out->what[k] == SK_CSV_UNUSED && is(&cells[k], form->prefix, own, form->parts[p].suffix))
                out->what[k] = SK_CSV_POINT + 4 * out->n_points + form->parts[p].part;
    out->n_points++;
    *name = own;
    return SK_OK;
}

static sk_status find_points(const sk_csv_cell *cells, sk_annotation_set *set, sk_csv_columns *out,
                             sk_error *err)
{
    char **points = sk_calloc(out->count, sizeof *points);
    sk_status status = points ? SK_OK : sk_fail_memory(err, out->count * sizeof *points);
    for (size_t i = 0; status == SK_OK && i < out->count; i++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms && status == SK_OK; f++) {
            char *name = NULL;
            if (out->n_points < SK_ANNOTATION_MAX_KEYPOINTS)
                status = find_point(cells, i, &forms[f], out, &name, err);
            if (name)
                points[out->n_points - 1] = name;
        }
    if (status == SK_OK)
        status = sk_annotations_keypoints(set, out->n_points, (const char *const *)points, err);
    for (int32_t i = 0; points && i < out->n_points; i++)
        sk_free(points[i]);
    sk_free(points);
    return status;
}

static bool has_all(const sk_csv_columns *c, int first, int last)
{
    for (int f = first; f <= last; f++)
        if (c->fixed[f] < 0)
            return false;
    return true;
}

/* What the rows can carry. */
static sk_status find_shapes(const char *path, int64_t line, const sk_csv_columns *c, sk_annotation_set *set,
                             sk_error *err)
{
    bool box = has_all(c, SK_CSV_X1, SK_CSV_Y2), obb = has_all(c, SK_CSV_CX, SK_CSV_ANGLE);
    bool place = has_all(c, SK_CSV_X, SK_CSV_Y) && !obb;
    bool classes = (c->fixed[SK_CSV_CLASS] >= 0 || c->fixed[SK_CSV_NAME] >= 0) &&
                   c->fixed[SK_CSV_SCORE] >= 0; /* of whole pictures */
    if (!box && !obb && !place && !c->n_points && !classes)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: line %lld: no box (x1, y1, x2, y2), no oriented box (cx, cy, w, h, angle), no "
                       "keypoints (<name>_x, <name>_y) and no place (x, y) among its columns",
                       path, (long long)line);
    set->has = (box ? SK_HAS_BOX : 0) | (obb ? SK_HAS_OBB : 0) | (c->n_points ? SK_HAS_KEYPOINTS : 0) |
               (place ? SK_HAS_POINT : 0);
    return SK_OK;
}

static void note_unused(const sk_csv_cell *cells, const sk_csv_columns *columns, sk_annotation_set *set)
{
    /* a number of its own, times, and what a tracker thinks of itself */
    static const char *const known[] = {"instance",           "utc",         "TrackID",
                                        "certainty",          "Index",       "place",
                                        "uncertainty",        "DetectionID", "AssignmentConfidence",
                                        "PositionUncertainty"};
    sk_text list = {.limit = 300};
    for (size_t i = 0; i < columns->count; i++) {
        const sk_csv_cell *c = &cells[i];
        bool skip = columns->what[i] != SK_CSV_UNUSED || c->length > 60;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            skip = skip || is(c, "", known[k], "");
        if (!skip)
            sk_text_appendf(&list, "%s%.*s", list.length ? ", " : "", (int)c->length, c->text);
    }
    if (list.length)
        sk_annotations_note(set, "columns that were not used: %s", sk_text_get(&list));
    sk_text_free(&list);
}

sk_status sk_csv_columns_find(const char *path, int64_t line, const sk_csv_cell *cells, size_t count,
                              sk_annotation_set *set, sk_csv_columns *out, sk_error *err)
{
    *out = (sk_csv_columns){.count = count};
    out->what = sk_calloc(count, sizeof *out->what);
    if (!out->what)
        return sk_fail_memory(err, count * sizeof *out->what);
    find_fixed(cells, out);
    if (out->fixed[SK_CSV_FRAME] < 0)
        return sk_fail(
            err, SK_ERR_FORMAT,
            "%s: line %lld: no column is called 'frame'\nskitter's CSV names its columns in the first "
            "line that is no comment; docs/results.md lists them",
            path, (long long)line);
    SK_TRY(find_points(cells, set, out, err));
    SK_TRY(find_shapes(path, line, out, set, err));
    note_unused(cells, out, set);
    return SK_OK;
}
