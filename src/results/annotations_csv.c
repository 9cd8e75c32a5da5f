/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations_csv.h"

#include "base/memory.h"
#include "formats/config_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* skitter's results.csv, truth in the same columns, and upstream's tables of tracks. Columns are found by name, in any order. */

#define MAX_COLUMNS 8192
#define PI          3.14159265358979323846

typedef sk_csv_cell cell;

typedef struct reader {
    const char *path, *at, *end;
    int64_t line;
    sk_annotation_set *set;
    cell *cells; /* of the current row */
    size_t n_cells, cells_capacity;
    char *scratch; /* quoted cells, unquoted */
    size_t scratch_capacity;
    sk_csv_columns columns;
    double *numbers; /* 4 * n_points: the row's */
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
        if (r->n_cells == MAX_COLUMNS)
            return sk_fail(err, SK_ERR_LIMIT, "%s: line %lld: has more than %d columns", r->path,
                           (long long)r->line, MAX_COLUMNS);
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

/* --- rows --- */

static sk_status read_header(reader *r, sk_error *err)
{
    SK_TRY(split_row(r, row_end(r), err));
    SK_TRY(sk_csv_columns_find(r->path, r->line, r->cells, r->n_cells, r->set, &r->columns, err));
    r->numbers = sk_calloc(4 * (size_t)r->columns.n_points, sizeof *r->numbers);
    return r->numbers ? SK_OK : sk_fail_memory(err, 4 * (size_t)r->columns.n_points * sizeof *r->numbers);
}

/* The cell of a column; empty where there is none. */
static cell fixed_cell(const reader *r, int what)
{
    int column = r->columns.fixed[what];
    return column >= 0 && (size_t)column < r->n_cells ? r->cells[column] : (cell){"", 0};
}

static sk_status fixed_number(const reader *r, int what, double *out, sk_error *err)
{
    *out = NAN;
    return r->columns.fixed[what] < 0 ? SK_OK : number(r, (size_t)r->columns.fixed[what], out, err);
}

static sk_status read_points(reader *r, sk_error *err)
{
    for (int32_t i = 0; i < 4 * r->columns.n_points; i++)
        r->numbers[i] = NAN;
    for (size_t i = 0; i < r->columns.count && i < r->n_cells; i++)
        if (r->columns.what[i] >= SK_CSV_POINT)
            SK_TRY(number(r, i, &r->numbers[r->columns.what[i] - SK_CSV_POINT], err));
    return SK_OK;
}

static void store_points(const reader *r, sk_annotation *a)
{
    for (int32_t k = 0; k < r->columns.n_points; k++) {
        const double *n = &r->numbers[4 * k];
        sk_annotation_point *p = &r->set->points[a->first + (size_t)k];
        bool found = !isnan(n[0]) && !isnan(n[1]);
        int32_t said = isnan(n[3]) ? 2 : n[3] <= 0 ? 0 : n[3] >= 2 ? 2 : 1;
        *p = (sk_annotation_point){found ? n[0] : NAN, found ? n[1] : NAN, isnan(n[2]) ? 1 : n[2],
                                   found ? said : 0};
    }
}

/* All there; none of them an empty cell. */
static bool given(const double *v, int first, int last)
{
    for (int f = first; f <= last; f++)
        if (isnan(v[f]))
            return false;
    return true;
}

static void store_shapes(const double *v, sk_annotation *a)
{
    if (given(v, SK_CSV_X1, SK_CSV_Y2)) {
        a->has |= SK_HAS_BOX;
        a->box[0] = v[SK_CSV_X1], a->box[2] = v[SK_CSV_X2] - v[SK_CSV_X1];
        a->box[1] = v[SK_CSV_Y1], a->box[3] = v[SK_CSV_Y2] - v[SK_CSV_Y1];
    }
    if (given(v, SK_CSV_CX, SK_CSV_ANGLE)) {
        a->has |= SK_HAS_OBB;
        memcpy(a->obb, &v[SK_CSV_CX], sizeof a->obb);
    } else if (given(v, SK_CSV_X, SK_CSV_Y)) {
        a->has |= SK_HAS_POINT;
        a->obb[0] = v[SK_CSV_X], a->obb[1] = v[SK_CSV_Y];
        a->obb[4] = isnan(v[SK_CSV_HEADING]) ? v[SK_CSV_HEADING_DEGREES] * (PI / 180) : v[SK_CSV_HEADING];
        a->directed = !isnan(a->obb[4]);
        a->obb[4] = a->directed ? a->obb[4] : 0;
    }
}

static sk_status class_of(reader *r, int32_t *out, sk_error *err)
{
    int64_t number_;
    SK_TRY(whole(r, r->columns.fixed[SK_CSV_CLASS], -1, &number_, err));
    cell name = fixed_cell(r, SK_CSV_NAME);
    return sk_annotations_class(r->set, number_, name.text, name.length, out, err);
}

static sk_status read_row(reader *r, sk_error *err)
{
    if (r->n_cells > r->columns.count)
        return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld has %zu cells, the heading %zu", r->path,
                       (long long)r->line, r->n_cells, r->columns.count);
    int64_t frame, track;
    SK_TRY(whole(r, r->columns.fixed[SK_CSV_FRAME], -1, &frame, err));
    SK_TRY(whole(r, r->columns.fixed[SK_CSV_TRACK], -1, &track, err));
    if (frame < 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld: no frame number", r->path, (long long)r->line);
    cell source = fixed_cell(r, SK_CSV_SOURCE), state = fixed_cell(r, SK_CSV_STATE);
    int32_t source_index, image, class_id;
    SK_TRY(sk_annotations_source(r->set, source.text, source.length, &source_index, err));
    SK_TRY(sk_annotations_image(r->set, source_index, frame, -1, &image, err));
    SK_TRY(class_of(r, &class_id, err));
    double v[SK_CSV_FIXED], time = NAN;
    if (fixed_number(r, SK_CSV_TIME, &time, NULL) == SK_OK)
        sk_annotations_time(r->set, frame, time);
    for (int f = SK_CSV_SCORE; f < SK_CSV_FIXED; f++)
        SK_TRY(fixed_number(r, f, &v[f], err));
    SK_TRY(read_points(r, err));
    sk_annotation *a;
    SK_TRY(sk_annotations_add(r->set, image, class_id, r->columns.n_points > 0, &a, err));
    a->track = track;
    a->score = isnan(v[SK_CSV_SCORE]) ? 1 : v[SK_CSV_SCORE];
    a->visible = isnan(v[SK_CSV_VISIBLE]) ? 1 : v[SK_CSV_VISIBLE];
    a->area = v[SK_CSV_AREA];
    a->length = v[SK_CSV_LENGTH];
    a->crowd = v[SK_CSV_CROWD] > 0;
    store_shapes(v, a);
    a->predicted = state.length > 0 && !(state.length == 6 && memcmp(state.text, "active", 6) == 0);
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
    bool row = split_row(r, end, NULL) == SK_OK && r->n_cells == r->columns.count;
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
    sk_free_all(r.cells, r.scratch, r.columns.what, r.numbers);
    return status;
}
