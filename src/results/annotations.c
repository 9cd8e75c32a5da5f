/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_ITEMS  ((size_t)1 << 26)
#define MAX_FILE   ((size_t)4 << 30)
#define MAX_NOTES  8192
#define LEAST_ROOM 64

/* --- what is already there: open addressing over the arrays' indices --- */

typedef struct table {
    int32_t *slots; /* index + 1; 0 empty */
    size_t size;    /* a power of two */
} table;

struct sk_annotation_tables {
    table sources, images, ids, classes;
};

static uint64_t hash_pair(int64_t a, int64_t b)
{
    int64_t both[2] = {a, b};
    return sk_hash_xxh3(both, sizeof both, 0);
}

static uint64_t hash_class(int64_t number, const char *name, size_t length)
{
    return sk_hash_xxh3(name, length, (uint64_t)number);
}

static uint64_t hash_at(const sk_annotation_set *set, const table *t, int32_t i)
{
    const struct sk_annotation_tables *all = set->tables;
    if (t == &all->sources)
        return sk_hash_xxh3(set->sources[i], strlen(set->sources[i]), 0);
    if (t == &all->images)
        return hash_pair(set->images[i].source, set->images[i].frame);
    if (t == &all->ids)
        return hash_pair(set->images[i].id, 0);
    return hash_class(set->classes[i].number, set->classes[i].name, strlen(set->classes[i].name));
}

static void put(table *t, uint64_t hash, int32_t index)
{
    size_t at = (size_t)hash & (t->size - 1);
    while (t->slots[at])
        at = (at + 1) & (t->size - 1);
    t->slots[at] = index + 1;
}

/* Room for one more of `count` that are in. */
static sk_status make_room(const sk_annotation_set *set, table *t, size_t count, sk_error *err)
{
    if (2 * (count + 1) <= t->size)
        return SK_OK;
    table bigger = {.size = t->size ? 2 * t->size : LEAST_ROOM};
    bigger.slots = sk_calloc(bigger.size, sizeof *bigger.slots);
    if (!bigger.slots)
        return sk_fail_memory(err, bigger.size * sizeof *bigger.slots);
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i])
            put(&bigger, hash_at(set, t, t->slots[i] - 1), t->slots[i] - 1);
    sk_free(t->slots);
    *t = bigger;
    return SK_OK;
}

#define FOR_EACH_IN(t, hash, index)                                                                          \
    for (size_t at_ = (size_t)(hash) & ((t)->size - 1), index;                                               \
         (t)->size && (t)->slots[at_] && ((index) = (size_t)(t)->slots[at_] - 1, true);                      \
         at_ = (at_ + 1) & ((t)->size - 1))

/* --- building --- */

sk_status sk_annotations_begin(sk_annotation_set *set, const char *format, sk_error *err)
{
    set->format = format;
    set->notes.limit = MAX_NOTES;
    if (!set->tables)
        set->tables = sk_calloc(1, sizeof *set->tables);
    return set->tables ? SK_OK : sk_fail_memory(err, sizeof *set->tables);
}

sk_status sk_annotations_source(sk_annotation_set *set, const char *name, size_t length, int32_t *out,
                                sk_error *err)
{
    table *t = &set->tables->sources;
    uint64_t hash = sk_hash_xxh3(name, length, 0);
    FOR_EACH_IN(t, hash, i)
    {
        if (strlen(set->sources[i]) == length && memcmp(set->sources[i], name, length) == 0) {
            *out = (int32_t)i;
            return SK_OK;
        }
    }
    SK_TRY(make_room(set, t, set->n_sources, err));
    SK_TRY(sk_array_reserve((void **)&set->sources, &set->sources_capacity, set->n_sources + 1,
                            sizeof *set->sources, MAX_ITEMS, err));
    char *copy = sk_strndup(name, strnlen(name, length));
    if (!copy)
        return sk_fail_memory(err, length);
    set->sources[set->n_sources] = copy;
    *out = (int32_t)set->n_sources++;
    put(t, sk_hash_xxh3(copy, strlen(copy), 0), *out);
    return SK_OK;
}

sk_status sk_annotations_image(sk_annotation_set *set, int32_t source, int64_t frame, int64_t id,
                               int32_t *out, sk_error *err)
{
    bool by_id = id >= 0;
    table *t = by_id ? &set->tables->ids : &set->tables->images;
    uint64_t hash = by_id ? hash_pair(id, 0) : hash_pair(source, frame);
    FOR_EACH_IN(t, hash, i)
    {
        const sk_annotation_image *im = &set->images[i];
        if (by_id ? im->id == id : im->source == source && im->frame == frame) {
            *out = (int32_t)i;
            return SK_OK;
        }
    }
    SK_TRY(make_room(set, t, set->n_images, err));
    SK_TRY(sk_array_reserve((void **)&set->images, &set->images_capacity, set->n_images + 1,
                            sizeof *set->images, MAX_ITEMS, err));
    set->images[set->n_images] = (sk_annotation_image){source, frame, id, 0, 0, -1};
    *out = (int32_t)set->n_images++;
    put(t, hash, *out);
    return SK_OK;
}

sk_status sk_annotations_class(sk_annotation_set *set, int64_t number, const char *name, size_t length,
                               int32_t *out, sk_error *err)
{
    table *t = &set->tables->classes;
    length = length ? strnlen(name, length) : 0;
    uint64_t hash = hash_class(number, name, length);
    FOR_EACH_IN(t, hash, i)
    {
        const sk_annotation_class *c = &set->classes[i];
        if (c->number == number && strlen(c->name) == length && memcmp(c->name, name, length) == 0) {
            *out = (int32_t)i;
            return SK_OK;
        }
    }
    SK_TRY(make_room(set, t, set->n_classes, err));
    SK_TRY(sk_array_reserve((void **)&set->classes, &set->classes_capacity, set->n_classes + 1,
                            sizeof *set->classes, (size_t)1 << 20, err));
    char *copy = sk_strndup(length ? name : "", length);
    if (!copy)
        return sk_fail_memory(err, length);
    set->classes[set->n_classes] = (sk_annotation_class){number, copy};
    *out = (int32_t)set->n_classes++;
    put(t, hash, *out);
    return SK_OK;
}

sk_status sk_annotations_keypoints(sk_annotation_set *set, int32_t count, const char *const *names,
                                   sk_error *err)
{
    set->n_keypoints = count;
    if (!names || count <= 0)
        return SK_OK;
    set->keypoint_names = sk_calloc((size_t)count, sizeof *set->keypoint_names);
    if (!set->keypoint_names)
        return sk_fail_memory(err, (size_t)count * sizeof *set->keypoint_names);
    for (int32_t i = 0; i < count; i++)
        if (!(set->keypoint_names[i] = sk_strdup(names[i])))
            return sk_fail_memory(err, strlen(names[i]));
    return SK_OK;
}

sk_status sk_annotations_add(sk_annotation_set *set, int32_t image, int32_t class_id, bool keypoints,
                             sk_annotation **out, sk_error *err)
{
    size_t points = keypoints ? (size_t)set->n_keypoints : 0;
    SK_TRY(sk_array_reserve((void **)&set->items, &set->items_capacity, set->n_items + 1, sizeof *set->items,
                            MAX_ITEMS, err));
    SK_TRY(sk_array_reserve((void **)&set->points, &set->points_capacity, set->n_points + points,
                            sizeof *set->points, MAX_ITEMS * 4, err));
    for (size_t i = 0; i < points; i++)
        set->points[set->n_points + i] = (sk_annotation_point){NAN, NAN, 1, 0};
    *out = &set->items[set->n_items++];
    **out = (sk_annotation){.image = image,
                            .class_id = class_id,
                            .has = points ? SK_HAS_KEYPOINTS : 0,
                            .score = 1,
                            .area = NAN,
                            .length = NAN,
                            .visible = 1,
                            .labelled = -1,
                            .track = -1,
                            .first = set->n_points};
    set->n_points += points;
    return SK_OK;
}

void sk_annotations_time(sk_annotation_set *set, int64_t frame, double time)
{
    if (!isfinite(time))
        return;
    if (!set->any_timed || frame < set->timed[0].frame)
        set->timed[0].frame = frame, set->timed[0].time = time;
    if (!set->any_timed || frame > set->timed[1].frame)
        set->timed[1].frame = frame, set->timed[1].time = time;
    set->any_timed = true;
}

/* Times are written with a millionth of a second: more digits of the rate are not known. What no camera has is no time in
 * seconds. */
static void find_rate(sk_annotation_set *set)
{
    const double frames = (double)(set->timed[1].frame - set->timed[0].frame);
    const double seconds = set->timed[1].time - set->timed[0].time;
    if (set->rate > 0 || !set->any_timed || !(seconds > 0))
        return;
    const double rate = round(frames / seconds * 1000) / 1000;
    set->rate = rate >= 0.1 && rate <= 1e5 ? rate : 0;
}

void sk_annotations_note(sk_annotation_set *set, const char *format, ...)
{
    if (set->notes.length + 600 > MAX_NOTES) /* what does not fit is left out, never an error */
        return;
    va_list args;
    va_start(args, format);
    sk_text_vappendf(&set->notes, format, args);
    va_end(args);
    sk_text_append(&set->notes, "\n");
}

void sk_annotations_free(sk_annotation_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n_sources; i++)
        sk_free(set->sources[i]);
    for (size_t i = 0; i < set->n_classes; i++)
        sk_free(set->classes[i].name);
    for (int32_t i = 0; set->keypoint_names && i < set->n_keypoints; i++)
        sk_free(set->keypoint_names[i]);
    if (set->tables) {
        sk_free_all(set->tables->sources.slots, set->tables->images.slots, set->tables->ids.slots,
                    set->tables->classes.slots);
    }
    sk_free_all(set->tables, set->sources, set->classes, set->images, set->items, set->points,
                set->keypoint_names);
    sk_text_free(&set->notes);
    *set = (sk_annotation_set){0};
}

sk_status sk_annotations_as_detections(const char *what, double body, sk_annotation_set *set, sk_error *err)
{
    for (size_t i = 0; i < set->n_items; i++) {
        sk_annotation *a = &set->items[i];
        a->crowd = a->crowd || a->predicted;
        if ((a->has & SK_HAS_POINT) && !(a->has & (SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS))) {
            if (!(body > 0))
                return sk_fail(err, SK_ERR_ARG,
                               "%s: holds places of animals, and nothing says how large they are\n"
                               "--set body=PIXELS gives the length of their bodies",
                               what);
            a->obb[2] = body, a->obb[3] = body / 2;
            a->has |= SK_HAS_OBB;
            set->has |= SK_HAS_OBB;
        }
        a->has &= ~SK_HAS_POINT;
    }
    set->has &= ~SK_HAS_POINT;
    return SK_OK;
}

/* --- which format --- */

static sk_status fail_unknown(const char *path, const char *why, sk_error *err)
{
    return sk_fail(
        err, SK_ERR_FORMAT,
        "%s: %s\nread are skitter's results.csv and results.jsonl, COCO JSON (a dataset or a list of "
        "results), SLEAP's .slp and analysis files, MOTChallenge text, Ultralytics' data.yaml and folders of "
        "label text",
        path, why);
}

/* One object a line, or one object over many: a dataset in one line is told from JSON lines by its keys. */
static bool is_json_lines(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    size_t line = end ? (size_t)(end - text) : length;
    size_t look = line < 4096 ? line : 4096;
    return memmem(text, look, "\"instances\"", 11) && memmem(text, look, "\"frame\"", 7);
}

static sk_status read_text(const char *path, const char *text, size_t length, sk_annotation_set *out,
                           sk_error *err)
{
    size_t at = 0;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* what spreadsheets put before UTF-8 */
        at = 3;
    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
        at++;
    if (at == length)
        return fail_unknown(path, "the file is empty", err);
    if (memchr(text, '\0', length))
        return fail_unknown(path, "not a text file", err);
    if (text[at] == '[' || (text[at] == '{' && !is_json_lines(text + at, length - at)))
        return sk_annotations_read_coco(path, text + at, length - at, out, err);
    if (text[at] == '{')
        return sk_annotations_read_jsonl(path, text + at, length - at, out, err);
    if (sk_annotations_is_mot(text + at, length - at))
        return sk_annotations_read_mot(path, text + at, length - at, out, err);
    return sk_annotations_read_csv(path, text + at, length - at, out, err);
}

sk_status sk_annotations_parse(const char *what, const void *bytes, size_t length, sk_annotation_set *out,
                               sk_error *err)
{
    SK_CHECK_ARG(what && bytes && out, err);
    *out = (sk_annotation_set){0};
    bool hdf5 = length >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0;
    sk_status status = hdf5 ? sk_annotations_read_slp(what, bytes, length, out, err)
                            : read_text(what, bytes, length, out, err);
    if (status == SK_OK)
        find_rate(out);
    else
        sk_annotations_free(out);
    return status;
}

static sk_status read_file(const char *path, sk_annotation_set *out, sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    SK_TRY(sk_file_read(path, MAX_FILE, &text, &length, err));
    sk_status status = sk_annotations_parse(path, text, length, out, err);
    sk_free(text);
    if (status == SK_OK && strcmp(out->format, "MOT text") == 0)
        status = sk_annotations_mot_info(path, out, err);
    return status;
}

static const char *const result_files[] = {"results.csv", "results.jsonl",   "results.coco.json",
                                           "results.slp", "results.mot.txt", "results.analysis.h5"};

/* The first of a folder's result files, in fresh memory; *out null: it has none. */
static sk_status find_result(const char *folder, char **out, sk_error *err)
{
    *out = NULL;
    for (size_t i = 0; !*out && i < sizeof result_files / sizeof *result_files; i++) {
        char *inside = sk_path_join(folder, result_files[i]);
        if (!inside)
            return sk_fail_memory(err, strlen(folder));
        if (sk_file_is_regular(inside))
            *out = inside;
        else
            sk_free(inside);
    }
    return SK_OK;
}

bool sk_annotations_are_labels(const char *path)
{
    char *result = NULL;
    const bool none = sk_file_is_directory(path) && find_result(path, &result, NULL) == SK_OK && !result;
    sk_free(result);
    return none;
}

static sk_status read_yaml(const char *path, const sk_annotation_reading *how, sk_annotation_set *out,
                           sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    SK_TRY(sk_file_read(path, SK_CONFIG_MAX_BYTES, &text, &length, err));
    sk_status status = sk_annotations_read_data_yaml(path, text, length, how, out, err);
    sk_free(text);
    return status;
}

/* A run's folder, or one of labels. */
static sk_status read_folder(const char *path, const sk_annotation_reading *how, sk_annotation_set *out,
                             sk_error *err)
{
    char *inside = NULL;
    SK_TRY(find_result(path, &inside, err));
    if (inside) {
        sk_status status = read_file(inside, out, err);
        sk_free(inside);
        return status;
    }
    char *yaml = sk_path_join(path, "data.yaml");
    if (!yaml)
        return sk_fail_memory(err, strlen(path));
    sk_status status = sk_file_is_regular(yaml) ? read_yaml(yaml, how, out, err)
                                                : sk_annotations_read_labels(path, how, out, err);
    sk_free(yaml);
    return status;
}

static sk_status read_any(const char *path, const sk_annotation_reading *how, sk_annotation_set *out,
                          sk_error *err)
{
    if (sk_file_is_directory(path))
        return read_folder(path, how, out, err);
    if (sk_path_has_extension(path, ".yaml") || sk_path_has_extension(path, ".yml"))
        return read_yaml(path, how, out, err);
    return read_file(path, out, err);
}

sk_status sk_annotations_read_as(const char *path, const sk_annotation_reading *how, sk_annotation_set *out,
                                 sk_error *err)
{
    SK_CHECK_ARG(path && out, err);
    *out = (sk_annotation_set){0};
    sk_status status = read_any(path, how, out, err);
    if (status != SK_OK)
        sk_annotations_free(out);
    return status;
}

sk_status sk_annotations_read(const char *path, sk_annotation_set *out, sk_error *err)
{
    return sk_annotations_read_as(path, NULL, out, err);
}
