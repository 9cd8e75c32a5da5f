/* SPDX-License-Identifier: Apache-2.0 */
#include "results/label_set.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"
#include "media/picture_size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ultralytics' data.yaml: where the pictures of a dataset are, and what its numbers mean. Paths are found as Ultralytics
 * finds them: `path` as it stands (from the current folder), else in its folder of datasets; without `path`, and as a last
 * resort, from where the file is. A split is a folder, a text file with a picture a line, or a list of such. */

#define MOST_LIST ((size_t)256 << 20)

typedef struct reader {
    const char *path;
    const sk_config_value *root;
    char *bases[3]; /* what splits may be relative to; null: none */
    bool noted;
    sk_annotation_set *set;
    sk_files pictures;
} reader;

/* The folder that Ultralytics' own settings name; null: none. */
static char *datasets_folder(void)
{
    const char *home = getenv("YOLO_CONFIG_DIR");
    char *folder = home && home[0] ? sk_strdup(home) : NULL;
    if (!folder && (home = getenv("HOME")))
        folder = sk_path_join(home, ".config/Ultralytics");
    char *file = folder ? sk_path_join(folder, "settings.json") : NULL, *text = NULL, *out = NULL;
    size_t length;
    sk_config *config = NULL;
    if (file && sk_file_read(file, SK_CONFIG_MAX_BYTES, &text, &length, NULL) == SK_OK &&
        sk_config_open_json(text, length, file, &config, NULL) == SK_OK)
        out = sk_strdup(sk_config_text_or(sk_config_root(config), "datasets_dir", ""));
    sk_config_close(&config);
    sk_free_all(text, file, folder);
    return out;
}

/* What splits may be relative to, in Ultralytics' order, then in ours: beside the file. */
static sk_status find_bases(reader *r, sk_error *err)
{
    const char *path = sk_config_text_or(r->root, "path", "");
    char *own = sk_path_folder(r->path), *datasets = NULL;
    if (path[0]) {
        bool here = sk_file_is_directory(path);
        datasets = here || path[0] == '/' ? NULL : datasets_folder();
        r->bases[0] = here ? sk_strdup(path) : datasets && datasets[0] ? sk_path_join(datasets, path) : NULL;
        r->bases[1] = own && path[0] != '/' ? sk_path_join(own, path) : NULL;
    } else {
        r->bases[0] = own ? sk_strdup(own) : NULL;
    }
    r->bases[2] = own;
    sk_free(datasets);
    return own ? SK_OK : sk_fail_memory(err, strlen(r->path));
}

/* A picture a line; "./" is where the list is. */
static sk_status read_list(reader *r, const char *file, sk_error *err)
{
    char *text = NULL, *folder = NULL;
    size_t length = 0;
    SK_TRY(sk_file_read(file, MOST_LIST, &text, &length, err));
    folder = sk_path_folder(file);
    sk_status status = folder ? SK_OK : sk_fail_memory(err, strlen(file));
    char *at = text + (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    for (char *rest = NULL, *line = strtok_r(at, "\r\n", &rest); line && status == SK_OK;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (!sk_picture_has_ending(line))
            continue;
        char *path = strncmp(line, "./", 2) == 0 ? sk_path_join(folder, line + 2) : sk_strdup(line);
        status = path ? sk_files_add(&r->pictures, path, err) : sk_fail_memory(err, length);
        sk_free(path);
    }
    sk_free(folder);
    sk_free(text);
    return status;
}

static sk_status read_place(reader *r, const char *split, const char *place, sk_error *err)
{
    char *path = NULL;
    for (int i = 0; i < 3; i++)
        for (int up = 0; up < 2; up++) { /* "../images" of an export that was unpacked one level higher */
            if (path || !r->bases[i] || (up && strncmp(place, "../", 3) != 0))
                continue;
            path = sk_path_join(r->bases[i], place + (up ? 3 : 0));
            if (!path)
                return sk_fail_memory(err, strlen(place));
            if (sk_file_exists(path)) {
                if (i > 0 && !r->noted)
                    sk_annotations_note(
                        r->set,
                        "%s was found beside the file; Ultralytics would look for path '%s' in the current "
                        "folder and in its own folder of datasets",
                        split, sk_config_text_or(r->root, "path", ""));
                r->noted |= i > 0;
                break;
            }
            sk_free(path);
            path = NULL;
        }
    if (!path)
        return sk_fail(
            err, SK_ERR_NOT_FOUND,
            "%s: %s: %s: there is no such folder or list: not from its path '%s' (in the current folder or "
            "Ultralytics' folder of datasets) and not beside the file",
            r->path, split, place, sk_config_text_or(r->root, "path", ""));
    sk_status status = sk_file_is_directory(path)
                           ? sk_files_list(path, sk_picture_has_ending, &r->pictures, err)
                           : read_list(r, path, err);
    sk_free(path);
    return status;
}

static sk_status list_pictures(reader *r, const char *split, sk_error *err)
{
    const sk_config_value *places = sk_config_get(r->root, split);
    if (!places && strcmp(split, "val") == 0)
        places = sk_config_get(r->root, "validation");
    if (sk_config_is_null(places))
        return sk_fail(err, SK_ERR_FORMAT, "%s: has no '%s'; --split names another (train, val, test)",
                       r->path, split);
    const char *one = sk_config_text(places);
    if (one)
        SK_TRY(read_place(r, split, one, err));
    for (size_t i = 0; !one && i < sk_config_count(places); i++) {
        const char *place = sk_config_text(sk_config_at(places, i));
        if (!place)
            return sk_fail(err, SK_ERR_FORMAT, "%s: '%s' is a folder, a text file or a list of these",
                           r->path, split);
        SK_TRY(read_place(r, split, place, err));
    }
    sk_files_sort(&r->pictures);
    return r->pictures.count
               ? SK_OK
               : sk_fail(err, SK_ERR_NOT_FOUND, "%s: its '%s' holds no pictures", r->path, split);
}

/* names: a list, or a map from numbers; without it, nc classes called class_0 … */
static sk_status read_names(reader *r, sk_error *err)
{
    const sk_config_value *names = sk_config_get(r->root, "names");
    int64_t count = names ? (int64_t)sk_config_count(names) : sk_config_int_or(r->root, "nc", 0);
    if (count < 1 || count > 100000)
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a data.yaml: it names no classes ('names' or 'nc')",
                       r->path);
    for (int64_t i = 0; i < count; i++) {
        int64_t number = i;
        char made[32];
        snprintf(made, sizeof made, "class_%lld", (long long)i);
        const sk_config_value *value = NULL;
        if (names && sk_config_is(names, SK_CONFIG_MAP)) {
            if (!sk_config_to_int(names->u.pairs[i].key, &number))
                return sk_fail(err, SK_ERR_FORMAT, "%s: names: '%s' is not a class's number", r->path,
                               names->u.pairs[i].name);
            value = names->u.pairs[i].value;
        } else {
            value = sk_config_at(names, (size_t)i);
        }
        char numbered[40];
        const char *name = value ? sk_config_text(value) : made;
        int64_t plain;
        if (!name && sk_config_to_int(value, &plain)) { /* names may be numbers */
            snprintf(numbered, sizeof numbered, "%lld", (long long)plain);
            name = numbered;
        }
        int32_t index;
        SK_TRY(sk_annotations_class(r->set, number, name ? name : made, strlen(name ? name : made), &index,
                                    err));
    }
    return SK_OK;
}

static sk_status read_labels(reader *r, sk_label_rows *rows, sk_error *err)
{
    size_t missing = 0;
    for (size_t i = 0; i < r->pictures.count; i++) {
        const char *picture = r->pictures.paths[i];
        int32_t image;
        SK_TRY(sk_label_set_image(r->set, picture, true, &image, err));
        char *beside = NULL;
        SK_TRY(sk_path_swap_part(picture, "images", "labels", &beside, err));
        char *label = sk_path_with_extension(beside ? beside : picture, ".txt");
        sk_status status = !label                      ? sk_fail_memory(err, strlen(picture))
                           : sk_file_is_regular(label) ? sk_label_set_read(label, image, rows, err)
                                                       : SK_OK;
        missing += label && !sk_file_is_regular(label);
        sk_free(label);
        sk_free(beside);
        SK_TRY(status);
    }
    if (missing)
        sk_annotations_note(r->set, "%zu of %zu pictures have no label file: nothing is to be found in them",
                            missing, r->pictures.count);
    return SK_OK;
}

/* kpt_shape: [17, 3] */
static sk_status keypoint_shape(const reader *r, int32_t *count, int32_t *each, sk_error *err)
{
    const sk_config_value *shape = sk_config_get(r->root, "kpt_shape");
    int64_t n = 0, per = 0;
    *count = *each = 0;
    if (sk_config_is_null(shape))
        return SK_OK;
    if (!sk_config_to_int(sk_config_at(shape, 0), &n) || !sk_config_to_int(sk_config_at(shape, 1), &per) ||
        n < 1 || n > SK_ANNOTATION_MAX_KEYPOINTS || per < 2 || per > 3)
        return sk_fail(err, SK_ERR_FORMAT, "%s: kpt_shape is [number of keypoints, 2 or 3]", r->path);
    *count = (int32_t)n;
    *each = (int32_t)per;
    return SK_OK;
}

/* kpt_names: a list for every class, of which the first that fits is taken. */
static sk_status name_keypoints(const reader *r, int32_t count, sk_error *err)
{
    const sk_config_value *all = sk_config_get(r->root, "kpt_names"), *list = NULL;
    for (size_t i = 0; sk_config_is(all, SK_CONFIG_MAP) && i < all->length && !list; i++)
        if (sk_config_is(all->u.pairs[i].value, SK_CONFIG_LIST) &&
            sk_config_count(all->u.pairs[i].value) == (size_t)count)
            list = all->u.pairs[i].value;
    const char *names[SK_ANNOTATION_MAX_KEYPOINTS];
    for (int32_t k = 0; list && k < count; k++) {
        names[k] = sk_config_text(sk_config_at(list, (size_t)k));
        if (!names[k])
            list = NULL;
    }
    return sk_annotations_keypoints(r->set, count, list ? names : NULL, err);
}

static sk_status check_classes(const reader *r, const sk_label_rows *rows, sk_error *err)
{
    for (size_t i = 0; i < rows->n_rows; i++) {
        bool known = false;
        for (size_t c = 0; !known && c < r->set->n_classes; c++)
            known = r->set->classes[c].number == rows->rows[i].class_id;
        if (!known)
            return sk_fail(err, SK_ERR_FORMAT, "%s: a label of class %d (%s), which the file does not name",
                           r->path, rows->rows[i].class_id,
                           r->set->sources[r->set->images[rows->rows[i].image].source]);
    }
    return SK_OK;
}

sk_status sk_annotations_read_data_yaml(const char *path, const char *text, size_t length,
                                        const sk_annotation_reading *how, sk_annotation_set *set,
                                        sk_error *err)
{
    reader r = {.path = path, .set = set};
    sk_config *config = NULL;
    sk_label_rows rows = {0};
    sk_label_form form;
    sk_status status = SK_OK;
    int32_t n_keypoints, each;
    SK_TRY_GOTO(sk_annotations_begin(set, "data.yaml", err));
    SK_TRY_GOTO(sk_config_open_yaml(text, length, path, &config, err));
    r.root = sk_config_root(config);
    if (!sk_config_is(r.root, SK_CONFIG_MAP)) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: not a data.yaml", path);
        goto done;
    }
    set->stems = set->every_frame = true;
    SK_TRY_GOTO(read_names(&r, err));
    SK_TRY_GOTO(keypoint_shape(&r, &n_keypoints, &each, err));
    SK_TRY_GOTO(find_bases(&r, err));
    SK_TRY_GOTO(list_pictures(&r, how && how->split ? how->split : "val", err));
    SK_TRY_GOTO(read_labels(&r, &rows, err));
    SK_TRY_GOTO(check_classes(&r, &rows, err));
    SK_TRY_GOTO(sk_label_rows_form(path, &rows, n_keypoints, each, &form, err));
    if (form.confidence) {
        status = sk_fail(
            err, SK_ERR_FORMAT,
            "%s: its labels carry one number more than boxes, oriented boxes, polygons or its kpt_shape have",
            path);
        goto done;
    }
    if (form.n_keypoints)
        SK_TRY_GOTO(name_keypoints(&r, form.n_keypoints, err));
    SK_TRY_GOTO(sk_label_rows_add(&rows, &form, true, set, err));
done:
    sk_label_rows_free(&rows);
    sk_files_free(&r.pictures);
    sk_config_close(&config);
    for (int i = 0; i < 3; i++)
        sk_free(r.bases[i]);
    return status;
}
