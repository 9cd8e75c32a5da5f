/* SPDX-License-Identifier: Apache-2.0 */
#include "results/label_set.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture_size.h"
#include "results/stem_index.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Ultralytics' label text: of a dataset (labels/val beside images/val) or of a result (predict and val with save_txt). */

#define MOST_FILES     ((size_t)1 << 24)
#define MOST_FILE_SIZE ((size_t)256 << 20)
#define MOST_DEPTH     16

/* --- files --- */

sk_status sk_files_add(sk_files *files, const char *path, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&files->paths, &files->capacity, files->count + 1, sizeof *files->paths,
                            MOST_FILES, err));
    char *copy = sk_strdup(path);
    if (!copy)
        return sk_fail_memory(err, strlen(path));
    files->paths[files->count++] = copy;
    return SK_OK;
}

void sk_files_free(sk_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        sk_free(files->paths[i]);
    sk_free(files->paths);
    *files = (sk_files){0};
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void sk_files_sort(sk_files *files)
{
    if (files->count)
        qsort(files->paths, files->count, sizeof *files->paths, compare_files);
}

/* The folders from the first down to one. */
typedef struct walk {
    const struct walk *above;
    dev_t device;
    ino_t number;
    int depth;
} walk;

/* A link to a folder above leads round in a circle; its pictures are listed already. */
static bool goes_round(const walk *here)
{
    for (const walk *w = here->above; w; w = w->above)
        if (w->device == here->device && w->number == here->number)
            return true;
    return false;
}

static sk_status list(const char *folder, bool (*wanted)(const char *), const walk *above, sk_files *out,
                      sk_error *err)
{
    DIR *directory = opendir(folder);
    struct stat info = {0};
    if (!directory || fstat(dirfd(directory), &info) != 0) {
        int reason = errno;
        if (directory)
            closedir(directory);
        return sk_fail(err, reason == ENOENT ? SK_ERR_NOT_FOUND : SK_ERR_IO,
                       "%s: the folder cannot be read: %s", folder, strerror(reason));
    }
    const walk here = {above, info.st_dev, info.st_ino, above ? above->depth + 1 : 0};
    sk_status status = SK_OK;
    if (goes_round(&here))
        goto done;
    for (struct dirent *entry; status == SK_OK && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = sk_path_join(folder, entry->d_name);
        if (!path)
            status = sk_fail_memory(err, strlen(folder));
        else if (sk_file_is_directory(path))
            status = here.depth < MOST_DEPTH ? list(path, wanted, &here, out, err) : SK_OK;
        else if (wanted(entry->d_name))
            status = sk_files_add(out, path, err);
        sk_free(path);
    }
done:
    closedir(directory);
    return status;
}

sk_status sk_files_list(const char *folder, bool (*wanted)(const char *), sk_files *out, sk_error *err)
{
    SK_TRY(list(folder, wanted, NULL, out, err));
    sk_files_sort(out);
    return SK_OK;
}

static bool is_text(const char *name)
{
    return strcasecmp(sk_path_extension(name), ".txt") == 0 && strcmp(name, "classes.txt") != 0;
}

/* A path with its last part `/from/` (or its end, /from) made `/to`. */
sk_status sk_path_swap_part(const char *path, const char *from, const char *to, char **out, sk_error *err)
{
    *out = NULL;
    size_t length = strlen(from);
    const char *last = NULL;
    for (const char *at = path; (at = strchr(at, '/')); at++)
        if (strncmp(at + 1, from, length) == 0 && (at[1 + length] == '/' || at[1 + length] == '\0'))
            last = at;
    bool first = strncmp(path, from, length) == 0 && (path[length] == '/' || path[length] == '\0');
    if (!last && !first)
        return SK_OK;
    sk_text text = {0};
    size_t before = last ? (size_t)(last - path) + 1 : 0;
    sk_text_append_bytes(&text, path, before);
    sk_text_append(&text, to);
    sk_text_append(&text, path + before + length);
    return sk_text_take(&text, out, err);
}

/* --- one picture and its labels --- */

sk_status sk_label_set_image(sk_annotation_set *set, const char *picture, bool sized, int32_t *image,
                             sk_error *err)
{
    int32_t source;
    SK_TRY(sk_annotations_source(set, picture, sk_stem_length(picture), &source, err));
    SK_TRY(sk_annotations_image(set, source, -1, -1, image, err));
    sk_annotation_image *im = &set->images[*image];
    return sized && !im->width ? sk_picture_size(picture, &im->width, &im->height, err) : SK_OK;
}

sk_status sk_label_set_read(const char *path, int32_t image, sk_label_rows *rows, sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    SK_TRY(sk_file_read(path, MOST_FILE_SIZE, &text, &length, err));
    sk_status status = sk_label_rows_parse(path, text, length, image, rows, err);
    sk_free(text);
    return status;
}

/* --- a folder of label text --- */

/* *out null: none is known. */
static sk_status folder_of_pictures(const char *folder, const sk_annotation_reading *how, char **out,
                                    sk_error *err)
{
    if (how && how->images) {
        *out = sk_strdup(how->images);
        return *out ? SK_OK : sk_fail_memory(err, strlen(how->images));
    }
    SK_TRY(sk_path_swap_part(folder, "labels", "images", out, err));
    if (*out && !sk_file_is_directory(*out)) {
        sk_free(*out);
        *out = NULL;
    }
    return SK_OK;
}

typedef struct finder {
    const sk_files *pictures;
    sk_stem_index inside, bare;     /* of the pictures */
    const sk_annotation_set *other; /* has sizes, may be null */
    sk_stem_index others;           /* its sources … */
    int32_t *image_of;              /* … and an image of each that has a size; -1: none */
} finder;

static sk_status open_finder(const sk_files *pictures, const sk_annotation_set *other, finder *f,
                             sk_error *err)
{
    *f = (finder){.pictures = pictures, .other = other};
    SK_TRY(sk_stem_index_open(pictures->paths, pictures->count, pictures->skip, false, &f->inside, err));
    SK_TRY(sk_stem_index_open(pictures->paths, pictures->count, 0, true, &f->bare, err));
    if (!other)
        return SK_OK;
    f->image_of = sk_malloc(other->n_sources * sizeof *f->image_of);
    if (!f->image_of)
        return sk_fail_memory(err, other->n_sources * sizeof *f->image_of);
    for (size_t i = 0; i < other->n_sources; i++)
        f->image_of[i] = -1;
    for (size_t i = 0; i < other->n_images; i++)
        if (other->images[i].source >= 0 && other->images[i].width > 0)
            f->image_of[other->images[i].source] = (int32_t)i;
    return sk_stem_index_open(other->sources, other->n_sources, 0, true, &f->others, err);
}

static void close_finder(finder *f)
{
    sk_stem_index_free(&f->inside);
    sk_stem_index_free(&f->bare);
    sk_stem_index_free(&f->others);
    sk_free(f->image_of);
}

/* The other file's image of that name, if it knows its size. */
static bool size_from_other(const finder *f, const char *label, sk_annotation_image *im)
{
    ptrdiff_t source = f->other ? sk_stem_index_find(&f->others, label, true) : -1;
    if (source < 0 || f->image_of[source] < 0)
        return false;
    im->width = f->other->images[f->image_of[source]].width;
    im->height = f->other->images[f->image_of[source]].height;
    return true;
}

static sk_status gather(const char *folder, const sk_files *labels, const finder *f, sk_annotation_set *set,
                        sk_label_rows *rows, sk_error *err)
{
    int32_t image;
    for (size_t i = 0; i < f->pictures->count; i++)
        SK_TRY(sk_label_set_image(set, f->pictures->paths[i], false, &image, err));
    for (size_t i = 0; i < labels->count; i++) {
        const char *label = labels->paths[i];
        ptrdiff_t at = sk_stem_index_find(&f->inside, label + labels->skip, false);
        at = at < 0 ? sk_stem_index_find(&f->bare, label, true) : at;
        SK_TRY(sk_label_set_image(set, at >= 0 ? f->pictures->paths[at] : label, at >= 0, &image, err));
        if (at < 0 && !size_from_other(f, label, &set->images[image]))
            return sk_fail(
                err, SK_ERR_NOT_FOUND,
                "%s: the size of its picture is not known: it is neither in a folder 'images' beside "
                "%s nor in the file this is compared with; --images FOLDER says where the pictures are",
                label, folder);
        SK_TRY(sk_label_set_read(label, image, rows, err));
    }
    return SK_OK;
}

static size_t own_bytes(const char *folder, const sk_files *files)
{
    size_t skip = strlen(folder);
    while (files->count && files->paths[0][skip] == '/')
        skip++;
    return skip;
}

/* A dataset to classify: folders called as classes, with pictures in them. */
static sk_status read_class_folders(const char *folder, const sk_annotation_reading *how,
                                    sk_annotation_set *set, sk_error *err)
{
    char *split = sk_path_join(folder, how && how->split ? how->split : "val");
    const char *root = split && sk_file_is_directory(split) ? split : folder;
    sk_files pictures = {0};
    sk_status status = sk_files_list(root, sk_picture_has_ending, &pictures, err);
    pictures.skip = own_bytes(root, &pictures);
    for (size_t i = 0; status == SK_OK && i < pictures.count; i++) {
        const char *inside = pictures.paths[i] + pictures.skip, *end = strchr(inside, '/');
        int32_t image, class_id;
        sk_annotation *a;
        if (!end)
            continue; /* a picture of no class */
        status = sk_label_set_image(set, pictures.paths[i], false, &image, err);
        if (status == SK_OK)
            status = sk_annotations_class(set, -1, inside, (size_t)(end - inside), &class_id, err);
        if (status == SK_OK)
            status = sk_annotations_add(set, image, class_id, false, &a, err);
    }
    if (status == SK_OK && set->n_items == 0)
        status = sk_fail(
            err, SK_ERR_FORMAT,
            "%s: this folder holds no result file, no label text, and no folders of pictures called as "
            "classes",
            folder);
    set->every_frame = true;
    sk_files_free(&pictures);
    sk_free(split);
    return status;
}

sk_status sk_annotations_read_labels(const char *folder, const sk_annotation_reading *how,
                                     sk_annotation_set *set, sk_error *err)
{
    sk_files labels = {0}, pictures = {0};
    sk_label_rows rows = {0};
    sk_label_form form;
    finder find = {0};
    char *images = NULL;
    sk_status status = SK_OK;
    SK_TRY_GOTO(folder_of_pictures(folder, how, &images, err));
    SK_TRY_GOTO(sk_annotations_begin(set, "label text", err));
    set->stems = true;
    SK_TRY_GOTO(sk_files_list(folder, is_text, &labels, err));
    if (images) {
        SK_TRY_GOTO(sk_files_list(images, sk_picture_has_ending, &pictures, err));
        pictures.skip = own_bytes(images, &pictures);
    }
    if (labels.count == 0) {
        status = read_class_folders(folder, how, set, err);
        goto done;
    }
    labels.skip = own_bytes(folder, &labels);
    SK_TRY_GOTO(open_finder(&pictures, how ? how->other : NULL, &find, err));
    SK_TRY_GOTO(gather(folder, &labels, &find, set, &rows, err));
    SK_TRY_GOTO(
        sk_label_rows_form(folder, &rows, how && how->other ? how->other->n_keypoints : 0, 0, &form, err));
    SK_TRY_GOTO(sk_label_rows_add(&rows, &form, !form.confidence && pictures.count > 0, set, err));
    set->every_frame = pictures.count > 0;
done:
    close_finder(&find);
    sk_free(images);
    sk_files_free(&labels);
    sk_files_free(&pictures);
    sk_label_rows_free(&rows);
    return status;
}
