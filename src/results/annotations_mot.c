/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config_build.h"
#include "results/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MOTChallenge's text: gt.txt, det.txt and results. A line an animal, numbers parted by commas or blanks, no heading: what they
 * are, their number says (docs/eval.md has the table). */

#define MAX_COLUMNS (15 + 3 * SK_ANNOTATION_MAX_KEYPOINTS)
#define MOST_FRAMES 2000000 /* beyond, only frames with a line are listed */
#define CORNERS     11      /* columns from which four corners stand in place of a box … */
#define CORNERS_END 13      /* … and up to which */
#define PLAIN       10      /* frame, track, box, confidence, three more */
#define TURNED      15      /* these, and an oriented box */

typedef struct reader {
    const char *path;
    sk_annotation_set *set;
    int64_t line, first_line; /* first_line: the one that says how many columns there are */
    double values[MAX_COLUMNS];
    int32_t count, columns;   /* of this line; of all */
    bool corners;             /* an oriented box's, in place of the box */
    bool turned;              /* an oriented box follows the ten columns */
    int64_t base, last_frame; /* number of the first frame there can be: 1, or 0 */
    bool world;               /* columns 8 to 10 are places in the world, or nothing */
    bool unsure_visible;      /* column 9 is not the part that is seen */
    bool scored;
} reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *line_end(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop ? stop : end;
}

/* --- numbers of a line --- */

/* The next cell from *at; false at the end of the line. Blanks around a comma belong to it. */
static bool next_cell(const char **at, const char *end, const char **cell, size_t *length)
{
    while (*at < end && is_blank(**at))
        ++*at;
    if (*at == end)
        return false;
    *cell = *at;
    while (*at < end && **at != ',' && !is_blank(**at))
        ++*at;
    *length = (size_t)(*at - *cell);
    while (*at < end && is_blank(**at))
        ++*at;
    if (*at < end && **at == ',')
        ++*at;
    return true;
}

static bool parse(const char *cell, size_t length, double *out)
{
    sk_config_value value;
    if (length == 3 && (memcmp(cell, "nan", 3) == 0 || memcmp(cell, "NaN", 3) == 0)) {
        *out = NAN;
        return true;
    }
    if (!sk_config_parse_number(cell, length, &value))
        return false;
    *out = value.kind == SK_CONFIG_INT ? (double)value.u.integer : value.u.real;
    return isfinite(*out);
}

bool sk_annotations_is_mot(const char *text, size_t length)
{
    const char *end = line_end(text, text + length), *cell;
    size_t n;
    double number;
    int count = 0;
    for (const char *at = text; next_cell(&at, end, &cell, &n); count++)
        if (!parse(cell, n, &number))
            return false;
    return count > 1;
}

static sk_status read_numbers(reader *r, const char *at, const char *end, sk_error *err)
{
    const char *cell;
    size_t length;
    for (r->count = 0; next_cell(&at, end, &cell, &length); r->count++) {
        if (r->count == MAX_COLUMNS)
            return sk_fail(err, SK_ERR_LIMIT, "%s: line %lld: more than %d numbers", r->path,
                           (long long)r->line, MAX_COLUMNS);
        if (!parse(cell, length, &r->values[r->count]))
            return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld, column %d: '%.*s' is no number", r->path,
                           (long long)r->line, r->count + 1, (int)(length < 40 ? length : 40), cell);
    }
    return SK_OK;
}

/* --- what they are --- */

static sk_status wrong(const reader *r, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT,
                   "%s: line %lld: %s\na line of MOTChallenge text is frame, track, left, "
                   "top, width, height[, confidence …]; docs/eval.md has all forms",
                   r->path, (long long)r->line, why);
}

/* The first line decides; columns 8 to 10 of -1 are MOTChallenge's own. */
static sk_status find_form(reader *r, sk_error *err)
{
    int32_t n = r->columns = r->count, points = 0;
    bool plain = n >= PLAIN && r->values[8] == -1 && r->values[9] == -1;
    r->first_line = r->line;
    if (n >= CORNERS && n <= CORNERS_END && !plain)
        r->corners = true;
    else if (n >= TURNED && (n - TURNED) % 3 == 0)
        r->turned = true, points = (n - TURNED) / 3;
    else if (n >= PLAIN && (n - PLAIN) % 3 == 0)
        points = (n - PLAIN) / 3;
    else if (n < 6 || n > PLAIN) {
        char why[96];
        snprintf(why, sizeof why, "%d numbers", n);
        return wrong(r, why, err);
    }
    r->set->has = (r->corners ? 0 : SK_HAS_BOX) | (r->corners || r->turned ? SK_HAS_OBB : 0) |
                  (points ? SK_HAS_KEYPOINTS : 0);
    return points ? sk_annotations_keypoints(r->set, points, NULL, err) : SK_OK;
}

static bool is_whole(double value)
{
    return value == floor(value) && fabs(value) <= 9e15;
}

static void add_points(const reader *r, sk_annotation *a)
{
    const double *v = &r->values[r->turned ? TURNED : PLAIN];
    for (int32_t k = 0; k < r->set->n_keypoints; k++, v += 3) {
        bool found = !isnan(v[0]) && !isnan(v[1]);
        r->set->points[a->first + (size_t)k] = (sk_annotation_point){found ? v[0] : NAN, found ? v[1] : NAN,
                                                                     isnan(v[2]) ? 1 : v[2], found ? 2 : 0};
    }
}

static sk_status check_line(const reader *r, sk_error *err)
{
    const double *v = r->values;
    char why[128];
    if (r->count != r->columns) {
        snprintf(why, sizeof why, "%d numbers, where line %lld has %d", r->count, (long long)r->first_line,
                 r->columns);
        return wrong(r, why, err);
    }
    if (!is_whole(v[0]) || v[0] < (double)r->base)
        return wrong(r, "the frame is no whole number from 1", err);
    if (!is_whole(v[1]))
        return wrong(r, "the track is no whole number", err);
    int32_t shape = r->corners ? 8 : 4;
    for (int32_t i = 2; i < 2 + shape; i++)
        if (isnan(v[i]))
            return wrong(r, "the box is not all numbers", err);
    if (!r->corners && (v[4] < 0 || v[5] < 0))
        return wrong(r, "a box of negative width or height", err);
    return SK_OK;
}

/* Column 8 is a class where it is a whole number; in files of ten columns and more only where the two behind it are -1, for
 * else the three are a place in the world. */
static int64_t class_of(const reader *r, int32_t at)
{
    if (r->columns <= at || !is_whole(r->values[at]) || r->values[at] < 0 || r->world)
        return -1;
    return (int64_t)r->values[at];
}

static sk_status add_line(reader *r, sk_error *err)
{
    SK_TRY(check_line(r, err));
    const double *v = r->values;
    int32_t after = r->corners ? 10 : 6, source, image, class_id;
    int64_t frame = (int64_t)v[0] - r->base;
    r->last_frame = frame > r->last_frame ? frame : r->last_frame;
    if (!r->corners && r->columns >= PLAIN && (v[8] != -1 || v[9] != -1))
        r->world = true;
    SK_TRY(sk_annotations_source(r->set, "", 0, &source, err));
    SK_TRY(sk_annotations_image(r->set, source, frame, -1, &image, err));
    SK_TRY(sk_annotations_class(r->set, class_of(r, after + 1), "", 0, &class_id, err));
    sk_annotation *a;
    SK_TRY(sk_annotations_add(r->set, image, class_id, r->set->n_keypoints > 0, &a, err));
    a->track = v[1] >= 0 ? (int64_t)v[1] : -1;
    if (r->corners) {
        sk_obb_of_corners(&v[2], a->obb);
    } else {
        memcpy(a->box, &v[2], sizeof a->box);
        if (r->turned)
            memcpy(a->obb, &v[PLAIN], sizeof a->obb);
    }
    a->has |= r->set->has & (SK_HAS_BOX | SK_HAS_OBB);
    if (r->turned && isnan(a->obb[0] + a->obb[1] + a->obb[2] + a->obb[3] + a->obb[4]))
        a->has &= ~SK_HAS_OBB;
    double sure = r->columns > after ? v[after] : NAN;
    a->score = sure >= 0 ? sure : 1;
    a->crowd = sure == 0; /* of a truth: does not count */
    r->scored = r->scored || sure >= 0;
    double seen = r->columns == PLAIN - 1 ? v[8] : NAN;
    if (seen > 1 || (seen < 0 && seen != -1))
        r->unsure_visible = true;
    a->visible = seen >= 0 ? seen : 1;
    add_points(r, a);
    return SK_OK;
}

/* --- the whole --- */

/* What does not count may have any class ("distractors"): it is none of the others' only where several count. */
static void join_ignored(sk_annotation_set *set)
{
    int32_t only = -1;
    for (size_t i = 0; i < set->n_items; i++) {
        if (set->items[i].crowd)
            continue;
        if (only >= 0 && set->items[i].class_id != only)
            return;
        only = set->items[i].class_id;
    }
    for (size_t i = 0; only >= 0 && i < set->n_items; i++)
        set->items[i].class_id = only;
}

/* Frames are counted from 1, or from 0 where the file has one of that number. */
static int64_t first_frame(sk_annotation_set *set, const char *text, const char *end)
{
    for (const char *at = text; at < end;) {
        const char *stop = line_end(at, end), *line = at, *cell;
        size_t length;
        double number;
        at = stop < end ? stop + 1 : stop;
        if (next_cell(&line, stop, &cell, &length) && parse(cell, length, &number) && number == 0) {
            sk_annotations_note(set,
                                "frames are counted from 0: MOTChallenge's begin with 1, but one here has "
                                "the number 0");
            return 0;
        }
    }
    return 1;
}

/* Frames between the lines were looked at, too. */
static sk_status list_frames(reader *r, sk_error *err)
{
    sk_annotation_set *set = r->set;
    set->every_frame = r->last_frame < MOST_FRAMES;
    for (int64_t f = 0; set->every_frame && f <= r->last_frame; f++) {
        int32_t image;
        SK_TRY(sk_annotations_image(set, 0, f, -1, &image, err));
    }
    return SK_OK;
}

sk_status sk_annotations_read_mot(const char *path, const char *text, size_t length, sk_annotation_set *set,
                                  sk_error *err)
{
    SK_TRY(sk_annotations_begin(set, "MOT text", err));
    reader *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    *r = (reader){.path = path, .set = set, .last_frame = -1};
    sk_status status = SK_OK;
    const char *end = text + length;
    r->base = first_frame(set, text, end);
    for (const char *at = text; at < end && status == SK_OK;) {
        const char *stop = line_end(at, end), *begin = at;
        at = stop < end ? stop + 1 : stop;
        r->line++;
        while (begin < stop && is_blank(*begin))
            begin++;
        if (begin == stop || *begin == '#')
            continue;
        SK_TRY_GOTO(read_numbers(r, begin, stop, err));
        if (!r->columns)
            SK_TRY_GOTO(find_form(r, err));
        status = add_line(r, err);
    }
    if (status == SK_OK)
        status = list_frames(r, err);
    if (status == SK_OK) {
        set->unscored = !r->scored;
        for (size_t i = 0; r->unsure_visible && i < set->n_items; i++)
            set->items[i].visible = 1;
        join_ignored(set);
    }
done:
    sk_free(r);
    return status;
}

/* --- seqinfo.ini --- */

static int64_t ini_number(const char *text, const char *key, int64_t most)
{
    size_t length = strlen(key);
    for (const char *at = text; (at = strstr(at, key)); at += length)
        if ((at == text || at[-1] == '\n') && at[length] == '=') {
            long long value = strtoll(at + length + 1, NULL, 10);
            return value > 0 && value <= most ? value : 0;
        }
    return 0;
}

static sk_status apply_info(const char *path, sk_annotation_set *set, bool *found, sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    *found = sk_file_is_regular(path);
    if (!*found)
        return SK_OK;
    SK_TRY(sk_file_read(path, 1 << 16, &text, &length, err));
    int64_t frames = ini_number(text, "seqLength", MOST_FRAMES);
    int32_t width = (int32_t)ini_number(text, "imWidth", 1 << 20),
            height = (int32_t)ini_number(text, "imHeight", 1 << 20), image;
    sk_status status = SK_OK;
    set->rate = (double)ini_number(text, "frameRate", 1000000);
    for (int64_t f = 0; status == SK_OK && f < frames && set->n_sources; f++)
        status = sk_annotations_image(set, 0, f, -1, &image, err);
    for (size_t i = 0; width && height && i < set->n_images; i++)
        set->images[i].width = width, set->images[i].height = height;
    sk_free(text);
    return status;
}

sk_status sk_annotations_mot_info(const char *path, sk_annotation_set *set, sk_error *err)
{
    sk_status status = SK_OK;
    bool found = false;
    size_t folder = strlen(path) - strlen(sk_path_name(path));
    static const char *const places[] = {"seqinfo.ini", "../seqinfo.ini"};
    for (int i = 0; status == SK_OK && !found && i < 2; i++) {
        sk_text info = {0};
        sk_text_appendf(&info, "%.*s%s", (int)folder, path, places[i]);
        status = sk_text_status(&info, err);
        if (status == SK_OK)
            status = apply_info(sk_text_get(&info), set, &found, err);
        sk_text_free(&info);
    }
    return status;
}
