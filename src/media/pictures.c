/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/frame_choice.h"
#include "media/pattern.h"
#include "media/picture_size.h"
#include "media/text_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Still pictures: one file, a folder, a glob, a numbered pattern (frame_%05d.png) or a text list. */

/* One frame: a picture's file, or a page of one. */
typedef struct picture {
    uint32_t path; /* index into paths */
    uint32_t page; /* counted from 0 */
    uint64_t first,
        place; /* TIFF: where the file's first page and this one are; 0: not a TIFF, or not to be read */
} picture;

typedef struct pictures_reader {
    sk_reader base;
    char **paths;
    size_t n_paths, capacity;
    const char *list; /* while they are found: what names them */
    bool in_order;    /* of a text list: as it has them */
    picture *frames;
    size_t n_frames, frames_capacity;
    sk_frame_choice choice;
    int64_t next;        /* number from which on the next frame is looked for */
    sk_tiff_range range; /* of the file the last page came from */
    uint32_t range_path;
    int32_t rounds; /* plays left */
    int64_t given;  /* frames given so far: the index of the next one when looping */
    sk_source_settings settings;
} pictures_reader;

static const char *const picture_suffixes[] = {".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp",
                                               ".pgm", ".ppm",  ".pnm", ".jp2", ".dng", ".mpo"};

bool sk_picture_has_ending(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot)
        return false;
    for (size_t i = 0; i < sizeof picture_suffixes / sizeof *picture_suffixes; i++)
        if (strcasecmp(dot, picture_suffixes[i]) == 0)
            return true;
    return false;
}

/* "%d" or "%05d" in the last part of a path. */
static const char *find_number_pattern(const char *uri, const char **after)
{
    const char *slash = strrchr(uri, '/');
    const char *percent = strchr(slash ? slash : uri, '%');
    if (!percent)
        return NULL;
    const char *p = percent + 1;
    while (isdigit((unsigned char)*p))
        p++;
    if (*p != 'd')
        return NULL;
    if (after)
        *after = p + 1;
    return percent;
}

bool sk_uri_is_pictures(const char *uri)
{
    struct stat info;
    if (stat(uri, &info) == 0)
        return (S_ISDIR(info.st_mode) && !sk_uri_is_bag(uri)) || sk_picture_has_ending(uri) ||
               sk_path_is_text_list(uri);
    if (sk_uri_is_address(uri)) /* where '?' is part of it */
        return false;
    if (strpbrk(uri, "*?[") || find_number_pattern(uri, NULL))
        return true;
    return sk_picture_has_ending(uri);
}

static sk_status add_path(pictures_reader *reader, const char *path, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&reader->paths, &reader->capacity, reader->n_paths + 1,
                            sizeof *reader->paths, (size_t)1 << 26, err));
    char *copy = sk_strdup(path);
    if (!copy)
        return sk_fail_memory(err, strlen(path) + 1);
    reader->paths[reader->n_paths++] = copy;
    return SK_OK;
}

/* img2 before img10: what a person means by the order of a folder. */
static int compare_paths(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static sk_status list_folder(pictures_reader *reader, const char *folder, sk_error *err)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return sk_fail(err, SK_ERR_IO, "%s: the folder cannot be read: %s", folder, strerror(errno));
    sk_status status = SK_OK;
    char path[4096];
    for (struct dirent *entry; status == SK_OK && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.' || !sk_picture_has_ending(entry->d_name))
            continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length < 0 || length >= (int)sizeof path)
            status = sk_fail(err, SK_ERR_LIMIT, "%s: a path is longer than %zu bytes", folder, sizeof path);
        else
            status = add_path(reader, path, err);
    }
    closedir(directory);
    if (status == SK_OK && reader->n_paths == 0)
        status = sk_fail(
            err, SK_ERR_NOT_FOUND,
            "%s: the folder holds no pictures (jpg, png, bmp, tiff, webp, pnm). For a video give its file; a "
            "SLEAP model's folder is a model and no source",
            folder);
    return status;
}

static sk_status list_glob(pictures_reader *reader, const char *pattern, sk_error *err)
{
    sk_pattern_files found = {0};
    sk_status status = sk_pattern_find(pattern, &found, err);
    if (status == SK_OK && found.count == 0)
        status = sk_fail(err, SK_ERR_NOT_FOUND, "%s: no file matches this pattern", pattern);
    for (size_t i = 0; status == SK_OK && i < found.count; i++)
        if (sk_picture_has_ending(found.paths[i]))
            status = add_path(reader, found.paths[i], err);
    if (status == SK_OK && reader->n_paths == 0)
        status = sk_fail(err, SK_ERR_NOT_FOUND, "%s: none of the %zu matching files is a picture", pattern,
                         found.count);
    sk_pattern_free(&found);
    return status;
}

/* frame_%05d.png: every file frame_<digits>.png, by number. */
static sk_status list_numbered(pictures_reader *reader, const char *uri, const char *percent,
                               const char *after, sk_error *err)
{
    char pattern[4096];
    int length = snprintf(pattern, sizeof pattern, "%.*s[0-9]*%s", (int)(percent - uri), uri, after);
    if (length < 0 || length >= (int)sizeof pattern)
        return sk_fail(err, SK_ERR_LIMIT, "%s: the pattern is too long", uri);
    SK_TRY(list_glob(reader, pattern, err));
    /* The glob's star also matches letters; keep whole numbers only. */
    size_t kept = 0;
    for (size_t i = 0; i < reader->n_paths; i++) {
        const char *digits = reader->paths[i] + (percent - uri);
        size_t n = strspn(digits, "0123456789");
        if (strcmp(digits + n, after) == 0)
            reader->paths[kept++] = reader->paths[i];
        else
            sk_free(reader->paths[i]);
    }
    reader->n_paths = kept;
    return kept ? SK_OK : sk_fail(err, SK_ERR_NOT_FOUND, "%s: no numbered file matches this pattern", uri);
}

static sk_status add_listed(void *context, const char *name, sk_error *err)
{
    pictures_reader *reader = context;
    if (!sk_picture_has_ending(name) || !sk_file_is_regular(name))
        return sk_fail(err, sk_file_exists(name) ? SK_ERR_FORMAT : SK_ERR_NOT_FOUND,
                       "%s: a list is read as one source where all it names are pictures, and '%s' is %s",
                       reader->list, name, sk_file_exists(name) ? "none" : "not there");
    return add_path(reader, name, err);
}

static sk_status list_paths(pictures_reader *reader, const char *uri, sk_error *err)
{
    struct stat info;
    reader->list = uri;
    const int why = stat(uri, &info) == 0 ? 0 : errno;
    if (why == 0) {
        reader->in_order = sk_path_is_text_list(uri);
        if (reader->in_order)
            return sk_text_list_read(uri, add_listed, reader, err);
        if (S_ISDIR(info.st_mode))
            return list_folder(reader, uri, err);
        return add_path(reader, uri, err);
    }
    const char *after = NULL, *percent = find_number_pattern(uri, &after);
    if (percent)
        return list_numbered(reader, uri, percent, after, err);
    if (strpbrk(uri, "*?["))
        return list_glob(reader, uri, err);
    return sk_fail(err, SK_ERR_NOT_FOUND, "%s: %s", uri, strerror(why));
}

static void pictures_close(sk_reader *base)
{
    pictures_reader *reader = (pictures_reader *)base;
    for (size_t i = 0; i < reader->n_paths; i++)
        sk_free(reader->paths[i]);
    sk_free_all(reader->paths, reader->frames, reader);
}

static sk_status add_frame(pictures_reader *reader, picture p, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&reader->frames, &reader->frames_capacity, reader->n_frames + 1,
                            sizeof *reader->frames, (size_t)1 << 26, err));
    reader->frames[reader->n_frames++] = p;
    return SK_OK;
}

/* Every page of a TIFF is a frame. A file whose list of pages is damaged is one frame, which tells why when it is read:
 * one bad picture is not the end of a folder. */
static sk_status add_frames(pictures_reader *reader, uint32_t path, sk_error *err)
{
    const char *file = reader->paths[path], *ending = sk_path_extension(file);
    sk_tiff_pages pages = {0};
    bool tiff = strcasecmp(ending, ".tif") == 0 || strcasecmp(ending, ".tiff") == 0;
    if (!tiff || sk_tiff_list(file, NULL, 0, &pages, NULL) != SK_OK)
        return add_frame(reader, (picture){.path = path}, err);
    sk_status status = SK_OK;
    for (size_t i = 0; status == SK_OK && i < pages.count; i++)
        status = add_frame(reader, (picture){path, (uint32_t)i, pages.offsets[0], pages.offsets[i]}, err);
    sk_tiff_pages_free(&pages);
    return status;
}

static sk_status decode(pictures_reader *reader, const picture *p, sk_slot *slot, sk_error *err)
{
    const char *path = reader->paths[p->path];
    if (!p->place)
        return sk_picture_decode(path, reader->settings.format, reader->settings.max_pixels, slot, err);
    int64_t size = sk_file_size(path);
    sk_picture_task task = {.path = path,
                            .format = reader->settings.format,
                            .max_pixels = reader->settings.max_pixels,
                            .length = size > 0 ? (size_t)size : 0};
    if (reader->range_path != p->path)
        reader->range = (sk_tiff_range){0};
    reader->range_path = p->path;
    return sk_picture_decode_tiff(&task, p->first, p->place, &reader->range, slot, err);
}

/* A page among other pictures is called stack.tif#3, counting from 0; alone, a stack is like a video. */
static sk_status name_frame(const pictures_reader *reader, const picture *p, sk_slot *slot, sk_error *err)
{
    const char *path = reader->paths[p->path];
    bool one = reader->n_paths == 1;
    bool paged = p->page > 0 || (p + 1 < reader->frames + reader->n_frames && p[1].path == p->path);
    char name[4200];
    if (one || !paged)
        return sk_slot_set_name(slot, path, err);
    snprintf(name, sizeof name, "%.4096s#%u", path, p->page);
    return sk_slot_set_name(slot, name, err);
}

static const char *picture_at(const sk_reader *base, size_t index)
{
    const pictures_reader *reader = (const pictures_reader *)base;
    return index < reader->n_paths ? reader->paths[index] : NULL;
}

static sk_status read_next(sk_reader *base, sk_slot *slot, bool *end, bool *left_out, sk_error *err)
{
    pictures_reader *reader = (pictures_reader *)base;
    int64_t number = sk_frame_choice_next(&reader->choice, reader->next);
    if (number < 0 || number >= (int64_t)reader->n_frames) {
        reader->choice = sk_frame_choice_of(&reader->settings);
        number = sk_frame_choice_next(&reader->choice, 0);
        if (--reader->rounds <= 0 || number < 0 || number >= (int64_t)reader->n_frames) {
            *end = true;
            return SK_OK;
        }
    }
    const picture *p = &reader->frames[number];
    const int64_t index = reader->settings.loop > 1 ? reader->given : number;
    sk_error problem = {0};
    SK_TRY(name_frame(reader, p, slot, err));
    sk_status status = decode(reader, p, slot, &problem);
    *left_out = status != SK_OK && status != SK_ERR_MEMORY && base->unreadable;
    if (*left_out)
        SK_TRY(base->unreadable(base->publish_context, index, slot->name, problem.message, err));
    else if (status != SK_OK && err)
        *err = problem;
    if (status != SK_OK && !*left_out)
        return status;
    reader->given++;
    reader->next = number + 1;
    slot->frame.index = index;
    slot->frame.time_ns = 0;
    return SK_OK;
}

static sk_status pictures_read(sk_reader *base, sk_slot *slot, bool *end, sk_error *err)
{
    bool left_out = false;
    do
        SK_TRY(read_next(base, slot, end, &left_out, err));
    while (left_out && !*end && !atomic_load(base->stop));
    if (left_out) /* stopped behind one that was left out: the slot holds no picture */
        *end = true;
    return SK_OK;
}

sk_status sk_reader_open_pictures(const char *uri, const sk_source_settings *settings, sk_reader **out,
                                  sk_error *err)
{
    pictures_reader *reader = sk_calloc(1, sizeof *reader);
    if (!reader)
        return sk_fail_memory(err, sizeof *reader);
    reader->base.read = pictures_read;
    reader->base.close = pictures_close;
    reader->base.picture = picture_at;
    reader->settings = *settings;
    reader->rounds = settings->loop;
    reader->choice = sk_frame_choice_of(settings);
    sk_status status = list_paths(reader, uri, err);
    if (status != SK_OK) {
        pictures_close(&reader->base);
        return status;
    }
    if (!reader->in_order)
        qsort(reader->paths, reader->n_paths, sizeof *reader->paths, compare_paths);
    for (size_t i = 0; status == SK_OK && i < reader->n_paths; i++)
        status = add_frames(reader, (uint32_t)i, err);
    if (status != SK_OK) {
        pictures_close(&reader->base);
        return status;
    }
    reader->base.info.kind =
        reader->n_paths == 1 && reader->n_frames > 1 ? SK_SOURCE_VIDEO : SK_SOURCE_PICTURES;
    reader->base.info.frames = sk_frames_wanted(settings, (int64_t)reader->n_frames);
    if (reader->base.info.frames > 0)
        reader->base.info.frames *= settings->loop;
    reader->base.info.total = (int64_t)reader->n_frames;
    reader->base.info.exact = true;
    reader->base.any_size = true;
    reader->base.info.decoder = "pictures"; /* each file by its own; fixed, since other threads read it */
    *out = &reader->base;
    return SK_OK;
}
