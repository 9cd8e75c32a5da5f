/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations.h"

#include "base/memory.h"
#include "formats/config_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* skitter's results.csv, and truth in the same columns. Columns are found by name, in any order. */

enum {
    SOURCE,
    FRAME,
    TRACK,
    CLASS,
    NAME,
    SCORE,
    X1,
    Y1,
    X2,
    Y2,
    CX,
    CY,
    W,
    H,
    ANGLE,
    VISIBLE,
    AREA,
    LENGTH,
    CROWD,
    N_FIXED,
    UNUSED = -1,
    POINT = 1000 /* POINT + 4 * keypoint + part */
};
static const char *const fixed_names[N_FIXED] = {
    "source", "frame", "track", "class", "name",  "score",   "x1",   "y1",     "x2",   "y2",
    "cx",     "cy",    "w",     "h",     "angle", "visible", "area", "length", "crowd"};
static const char *const parts[4] = {"_x", "_y", "_score", "_visible"};

#define MAX_COLUMNS 8192

typedef struct cell {
    const char *text;
    size_t length;
} cell;

typedef struct reader {
    const char *path, *at, *end;
    int64_t line;
    sk_annotation_set *set;
    cell *cells; /* of the current row */
    size_t n_cells, cells_capacity;
    char *scratch; /* quoted cells, unquoted */
    size_t scratch_capacity;
    int *column; /* what each column is */
    size_t n_columns;
    int fixed[N_FIXED]; /* column of each, -1 absent */
    int32_t n_points;
    double *numbers; /* 4 * n_points: the row's */
    bool has_visible, has_scores;
} reader;

/* --- rows and cells --- */

/* A quoted cell: its text is gathered in the scratch memory, which is as long as the row at least. */
static sk_status quoted_cell(reader *r, const char *row_end, char **scratch, cell *out, sk_error *err)
{
    char *begin = *scratch;
    for (r->at++; r->at < row_end; r->at++) {
        if (*r->at == '"' && r->at + 1 < row_end && r->at[1] == '"')
            r->at++;
        else if (*r->at == '"')
            break;
        *(*scratch)++ = *r->at;
    }
    if (r->at == row_end)
        return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld: a quotation mark is not closed", r->path,
                       (long long)r->line);
    r->at++;
    *out = (cell){begin, (size_t)(*scratch - begin)};
    return SK_OK;
}

/* The end of the row that begins here: a line end outside quotation marks. */
static const char *row_end(const reader *r)
{
    bool inside = false;
    const char *at = r->at;
    for (; at < r->end && (inside || *at != '\n'); at++)
        inside ^= *at == '"';
    return at;
}

static sk_status split_row(reader *r, const char *end, sk_error *err)
{
    const char *next = end < r->end ? end + 1 : end;
    if (end > r->at && end[-1] == '\r')
        end--;
    size_t room = (size_t)(end - r->at) + 1;
    SK_TRY(sk_array_reserve((void **)&r->scratch, &r->scratch_capacity, room, 1, SIZE_MAX / 4, err));
    char *scratch = r->scratch;
    r->n_cells = 0;
    for (bool more = true; more;) {
        SK_TRY(sk_array_reserve((void **)&r->cells, &r->cells_capacity, r->n_cells + 1, sizeof *r->cells,
                                MAX_COLUMNS, err));
        cell *c = &r->cells[r->n_cells++];
        if (r->at < end && *r->at == '"') {
            SK_TRY(quoted_cell(r, end, &scratch, c, err));
        } else {
            const char *comma = memchr(r->at, ',', (size_t)(end - r->at));
            comma = comma ? comma : end;
            *c = (cell){r->at, (size_t)(comma - r->at)};
            r->at = comma;
        }
        if (r->at < end && *r->at != ',')
            return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld: something follows a quoted cell", r->path,
                           (long long)r->line);
        more = r->at < end;
        r->at += more;
    }
    r->at = next;
    return SK_OK;
}

static sk_status number(const reader *r, size_t column, double *out, sk_error *err)
{
    *out = NAN;
    if (column >= r->n_cells)
        return SK_OK;
    const char *text = r->cells[column].text;
    size_t length = r->cells[column].length;
    while (length && *text == ' ')
        text++, length--;
    while (length && text[length - 1] == ' ')
        length--;
    sk_config_value value;
    if (length == 0 || (length == 3 && (memcmp(text, "nan", 3) == 0 || memcmp(text, "NaN", 3) == 0)))
        return SK_OK;
    if (!sk_config_parse_number(text, length, &value))
        return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld, column %zu: '%.*s' is no number", r->path,
                       (long long)r->line, column + 1, (int)(length < 40 ? length : 40), text);
    *out = value.kind == SK_CONFIG_INT ? (double)value.u.integer : value.u.real;
    return isfinite(*out)
               ? SK_OK
               : sk_fail(err, SK_ERR_FORMAT, "%s: line %lld, column %zu: a number beyond all bounds", r->path,
                         (long long)r->line, column + 1);
}

static sk_status whole(const reader *r, int column, int64_t fallback, int64_t *out, sk_error *err)
{
    *out = fallback;
    if (column < 0)
        return SK_OK;
    double value;
    SK_TRY(number(r, (size_t)column, &value, err));
    if (isnan(value))
        return SK_OK;
    if (value != floor(value) || fabs(value) > 9e15)
        return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld, column %d: a whole number was expected", r->path,
                       (long long)r->line, column + 1);
    *out = (int64_t)value;
    return SK_OK;
}

/* --- the header --- */

static bool is_named(const cell *c, const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    return c->length == n + s && memcmp(c->text, name, n) == 0 && memcmp(c->text + n, suffix, s) == 0;
}

/* Keypoints are where "<keypoint>_x" stands beside "<keypoint>_y". */
static sk_status find_points(reader *r, sk_error *err)
{
    char **names = sk_calloc(r->n_cells + 1, sizeof *names);
    int32_t count = 0;
    sk_status status = names ? SK_OK : sk_fail_memory(err, r->n_cells * sizeof *names);
    for (size_t i = 0; status == SK_OK && i < r->n_cells; i++) {
        const cell *c = &r->cells[i];
        if (r->column[i] != UNUSED || c->length < 3 || memcmp(c->text + c->length - 2, "_x", 2) != 0)
            continue;
        char *name = sk_strndup(c->text, c->length - 2);
        if (!name) {
            status = sk_fail_memory(err, c->length);
            break;
        }
        bool pair = false;
        for (size_t k = 0; k < r->n_cells; k++)
            pair = pair || is_named(&r->cells[k], name, "_y");
        if (!pair || count == SK_ANNOTATION_MAX_KEYPOINTS) {
            sk_free(name);
            continue;
        }
        for (size_t k = 0; k < r->n_cells; k++)
            for (int part = 0; part < 4; part++)
                if (r->column[k] == UNUSED && is_named(&r->cells[k], name, parts[part])) {
                    r->column[k] = POINT + 4 * count + part;
                    r->has_scores = r->has_scores || part == 2;
                    r->has_visible = r->has_visible || part == 3;
                }
        names[count++] = name;
    }
    r->n_points = count;
    if (status == SK_OK)
        status = sk_annotations_keypoints(r->set, count, (const char *const *)names, err);
    for (int32_t i = 0; i < count; i++)
        sk_free(names[i]);
    sk_free(names);
    return status;
}

static void note_unused(reader *r)
{
    sk_text list = {.limit = 300};
    for (size_t i = 0; i < r->n_columns; i++) {
        const cell *c = &r->cells[i];
        if (r->column[i] != UNUSED || is_named(c, "time", "") || is_named(c, "instance", "") ||
            c->length > 60)
            continue;
        sk_text_appendf(&list, "%s%.*s", list.length ? ", " : "", (int)c->length, c->text);
    }
    if (list.length)
        sk_annotations_note(r->set, "columns that were not used: %s", sk_text_get(&list));
    sk_text_free(&list);
}

static sk_status read_header(reader *r, sk_error *err)
{
    SK_TRY(split_row(r, row_end(r), err));
    r->n_columns = r->n_cells;
    r->column = sk_calloc(r->n_columns, sizeof *r->column);
    if (!r->column)
        return sk_fail_memory(err, r->n_columns * sizeof *r->column);
    for (int f = 0; f < N_FIXED; f++)
        r->fixed[f] = -1;
    for (size_t i = 0; i < r->n_columns; i++) {
        r->column[i] = UNUSED;
        for (int f = 0; f < N_FIXED; f++)
            if (r->fixed[f] < 0 && is_named(&r->cells[i], fixed_names[f], "")) {
                r->column[i] = f;
                r->fixed[f] = (int)i;
                break;
            }
    }
    if (r->fixed[FRAME] < 0)
        return sk_fail(
            err, SK_ERR_FORMAT,
            "%s: line %lld: no column is called 'frame'\nskitter's CSV names its columns in the first "
            "line that is no comment; docs/results.md lists them",
            r->path, (long long)r->line);
    SK_TRY(find_points(r, err));
    r->numbers = sk_calloc(4 * (size_t)r->n_points + 1, sizeof *r->numbers);
    if (!r->numbers)
        return sk_fail_memory(err, sizeof *r->numbers);
    bool box = r->fixed[X1] >= 0 && r->fixed[Y1] >= 0 && r->fixed[X2] >= 0 && r->fixed[Y2] >= 0;
    bool obb = r->fixed[ANGLE] >= 0;
    for (int f = CX; f <= ANGLE; f++)
        obb = obb && r->fixed[f] >= 0;
    bool classes =
        (r->fixed[CLASS] >= 0 || r->fixed[NAME] >= 0) && r->fixed[SCORE] >= 0; /* of whole pictures */
    if (!box && !obb && !r->n_points && !classes)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: line %lld: no box (x1, y1, x2, y2), no oriented box (cx, cy, w, h, angle) and no "
                       "keypoints (<name>_x, <name>_y) among its columns",
                       r->path, (long long)r->line);
    r->set->has = (box ? SK_HAS_BOX : 0) | (obb ? SK_HAS_OBB : 0) | (r->n_points ? SK_HAS_KEYPOINTS : 0);
    note_unused(r);
    return SK_OK;
}

/* --- rows --- */

static sk_status fixed_number(const reader *r, int what, double *out, sk_error *err)
{
    *out = NAN;
    return r->fixed[what] < 0 ? SK_OK : number(r, (size_t)r->fixed[what], out, err);
}

static sk_status read_points(reader *r, sk_error *err)
{
    for (int32_t i = 0; i < 4 * r->n_points; i++)
        r->numbers[i] = NAN;
    for (size_t i = 0; i < r->n_columns && i < r->n_cells; i++)
        if (r->column[i] >= POINT)
            SK_TRY(number(r, i, &r->numbers[r->column[i] - POINT], err));
    return SK_OK;
}

static void store_points(const reader *r, sk_annotation *a)
{
    for (int32_t k = 0; k < r->n_points; k++) {
        const double *n = &r->numbers[4 * k];
        sk_annotation_point *p = &r->set->points[a->first + (size_t)k];
        bool found = !isnan(n[0]) && !isnan(n[1]);
        int32_t said = isnan(n[3]) ? 2 : n[3] <= 0 ? 0 : n[3] >= 2 ? 2 : 1;
        *p = (sk_annotation_point){found ? n[0] : NAN, found ? n[1] : NAN, isnan(n[2]) ? 1 : n[2],
                                   found ? said : 0};
    }
}

static sk_status class_of(reader *r, int32_t *out, sk_error *err)
{
    int64_t number_;
    SK_TRY(whole(r, r->fixed[CLASS], -1, &number_, err));
    const char *name = "";
    size_t length = 0;
    if (r->fixed[NAME] >= 0 && (size_t)r->fixed[NAME] < r->n_cells) {
        name = r->cells[r->fixed[NAME]].text;
        length = r->cells[r->fixed[NAME]].length;
    }
    return sk_annotations_class(r->set, number_, name, length, out, err);
}

static sk_status read_row(reader *r, sk_error *err)
{
    if (r->n_cells > r->n_columns)
        return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld has %zu cells, the heading %zu", r->path,
                       (long long)r->line, r->n_cells, r->n_columns);
    int64_t frame, track;
    SK_TRY(whole(r, r->fixed[FRAME], -1, &frame, err));
    SK_TRY(whole(r, r->fixed[TRACK], -1, &track, err));
    if (frame < 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld: no frame number", r->path, (long long)r->line);
    cell source = {"", 0};
    if (r->fixed[SOURCE] >= 0 && (size_t)r->fixed[SOURCE] < r->n_cells)
        source = r->cells[r->fixed[SOURCE]];
    int32_t source_index, image, class_id;
    SK_TRY(sk_annotations_source(r->set, source.text, source.length, &source_index, err));
    SK_TRY(sk_annotations_image(r->set, source_index, frame, -1, &image, err));
    SK_TRY(class_of(r, &class_id, err));
    double v[N_FIXED];
    for (int f = SCORE; f < N_FIXED; f++)
        SK_TRY(fixed_number(r, f, &v[f], err));
    SK_TRY(read_points(r, err));
    sk_annotation *a;
    SK_TRY(sk_annotations_add(r->set, image, class_id, r->n_points > 0, &a, err));
    a->track = track;
    a->score = isnan(v[SCORE]) ? 1 : v[SCORE];
    a->visible = isnan(v[VISIBLE]) ? 1 : v[VISIBLE];
    a->area = v[AREA];
    a->length = v[LENGTH];
    a->crowd = v[CROWD] > 0;
    if (!isnan(v[X1]) && !isnan(v[Y1]) && !isnan(v[X2]) && !isnan(v[Y2])) {
        a->has |= SK_HAS_BOX;
        a->box[0] = v[X1], a->box[1] = v[Y1], a->box[2] = v[X2] - v[X1], a->box[3] = v[Y2] - v[Y1];
    }
    if (!isnan(v[CX]) && !isnan(v[CY]) && !isnan(v[W]) && !isnan(v[H]) && !isnan(v[ANGLE])) {
        a->has |= SK_HAS_OBB;
        memcpy(a->obb, &v[CX], sizeof a->obb);
    }
    store_points(r, a);
    return SK_OK;
}

/* A comment that says "; frames 300;": every frame up to there was looked at, also those without a row. */
static sk_status read_comment(reader *r, const char *end, int64_t *frames, sk_error *err)
{
    char *text = sk_strndup(r->at, (size_t)(end - r->at));
    if (!text)
        return sk_fail_memory(err, (size_t)(end - r->at));
    const char *said = strstr(text, "; frames ");
    if (said) {
        char *after;
        long long count = strtoll(said + 9, &after, 10);
        if ((*after == ';' || *after == '\0' || *after == '\r') && count > 0 && count <= 2000000)
            *frames = count;
    }
    sk_free(text);
    return SK_OK;
}

/* Below the heading a line that begins with # is a comment unless it has a row's cells: a video may be called "#1.mp4". */
static bool is_row(reader *r, const char *end)
{
    const char *begin = r->at;
    bool row = split_row(r, end, NULL) == SK_OK && r->n_cells == r->n_columns;
    r->at = begin;
    return row;
}

static sk_status read_rows(reader *r, sk_error *err)
{
    bool header = false;
    int64_t frames = 0;
    while (r->at < r->end) {
        const char *end = row_end(r);
        r->line++;
        if (*r->at == '#' && !(header && is_row(r, end))) { /* quotation marks mean nothing in a comment */
            end = memchr(r->at, '\n', (size_t)(r->end - r->at));
            end = end ? end : r->end;
            SK_TRY(read_comment(r, end, &frames, err));
            r->at = end < r->end ? end + 1 : end;
            continue;
        }
        bool empty = end == r->at || (end == r->at + 1 && *r->at == '\r');
        if (!header && !empty) {
            SK_TRY(read_header(r, err));
            header = true;
            continue;
        }
        SK_TRY(split_row(r, end, err));
        if (!empty)
            SK_TRY(read_row(r, err));
    }
    if (!header)
        return sk_fail(err, SK_ERR_FORMAT, "%s: no line with the columns' names", r->path);
    for (int64_t i = 0; i < frames && r->set->n_sources <= 1; i++) {
        int32_t source = 0, image;
        SK_TRY(sk_annotations_source(r->set, r->set->n_sources ? r->set->sources[0] : "",
                                     r->set->n_sources ? strlen(r->set->sources[0]) : 0, &source, err));
        SK_TRY(sk_annotations_image(r->set, source, i, -1, &image, err));
        r->set->every_frame = true;
    }
    return SK_OK;
}

sk_status sk_annotations_read_csv(const char *path, const char *text, size_t length, sk_annotation_set *set,
                                  sk_error *err)
{
    SK_TRY(sk_annotations_begin(set, "CSV", err));
    reader r = {.path = path, .at = text, .end = text + length, .set = set};
    sk_status status = read_rows(&r, err);
    sk_free_all(r.cells, r.scratch, r.column, r.numbers);
    return status;
}
