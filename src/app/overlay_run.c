/* SPDX-License-Identifier: Apache-2.0 */
#include "app/overlay_run.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "media/video_sink.h"
#include "results/stems.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAMES_A_PART 500

typedef struct part {
    int64_t first, count;
} part;

struct sk_overlay_run {
    char *folder; /* the run's */
    char *parts;  /* folder/overlay.parts, or folder/overlay for pictures */
    char *joined; /* folder/overlay.mp4 */
    char *done;   /* folder/overlay.done: parts that are joined and only to be removed */
    bool pictures, begun_before, folder_made;
    sk_overlay_place place;
    int64_t frames_a_part;
    sk_overlay *overlay;
    sk_stems *stems;     /* pictures' names */
    size_t n_parts;      /* complete ones, in order, without gaps */
    sk_video_sink *sink; /* the part being written */
    int64_t first, count;
    sk_frame canvas;
    size_t canvas_bytes;
};

/* --- paths --- */

static sk_status part_path(const sk_overlay_run *run, const char *folder, int64_t number, char **out,
                           sk_error *err)
{
    char name[64];
    if (number < 0)
        snprintf(name, sizeof name, "unfinished.mp4");
    else
        snprintf(name, sizeof name, "part-%016llx-%010lld.mp4", (unsigned long long)run->place.id,
                 (long long)number);
    *out = sk_path_join(folder, name);
    return *out ? SK_OK : sk_fail_memory(err, strlen(folder));
}

/* The folder for parts or pictures; a link in its place would lead elsewhere. */
static sk_status make_folder(sk_overlay_run *run, sk_error *err)
{
    if (run->folder_made)
        return SK_OK;
    SK_TRY(sk_folder_make_own(run->parts, err));
    run->folder_made = true;
    return SK_OK;
}

/* --- opening --- */

/* Counts complete parts of this run from the first on; everything else in the folder is of no use and removed. */
static sk_status list_parts(sk_overlay_run *run, sk_error *err)
{
    struct stat info;
    if (lstat(run->parts, &info) != 0)
        return SK_OK;
    SK_TRY(make_folder(run, err));
    run->begun_before = true;
    char *path = NULL;
    for (;; run->n_parts++) {
        SK_TRY(part_path(run, run->parts, (int64_t)run->n_parts, &path, err));
        bool there = lstat(path, &info) == 0 && S_ISREG(info.st_mode);
        sk_free(path);
        if (!there)
            break;
    }
    DIR *directory = opendir(run->parts);
    if (!directory)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be read: %s", run->parts, strerror(errno));
    for (struct dirent *entry; (entry = readdir(directory));) {
        unsigned long long id;
        long long number;
        char last;
        bool ours = sscanf(entry->d_name, "part-%llx-%lld.mp%c", &id, &number, &last) == 3 && last == '4' &&
                    id == run->place.id && number >= 0 && number < (int64_t)run->n_parts;
        if (!ours && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    }
    closedir(directory);
    return SK_OK;
}

/* An overlay that shows other things than this one shall is removed, so that none is half of each. */
static sk_status agree_on_style(sk_overlay_run *run, const sk_overlay_settings *settings, sk_error *err)
{
    char style[64], *before = NULL;
    size_t length = 0;
    /* parts of two encoders do not go into one video */
    snprintf(style, sizeof style, "draw %u line %g%s\n", settings->what, (double)settings->line_width,
             run->place.gpu && !run->pictures ? " gpu" : "");
    char *path = sk_path_join(run->folder, SK_OVERLAY_STYLE_FILE);
    if (!path)
        return sk_fail_memory(err, strlen(run->folder));
    sk_overlay_settings usual;
    sk_overlay_defaults(&usual);
    bool same = sk_file_read(path, sizeof style, &before, &length, NULL) == SK_OK
                    ? strcmp(before, style) == 0
                    : settings->what == usual.what && !(settings->line_width > 0) &&
                          !run->place.gpu; /* as before there was a choice */
    sk_status status = SK_OK;
    if (!same) {
        unlink(run->joined);
        sk_folder_empty_own(run->parts, run->pictures ? ".jpg" : ".mp4");
        status = sk_file_replace(path, style, strlen(style), err);
    }
    sk_free(before);
    sk_free(path);
    return status;
}

/* For tests: parts of fewer frames. */
static int64_t frames_a_part(void)
{
    const char *text = getenv("SKITTER_OVERLAY_PART");
    long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 ? number : FRAMES_A_PART;
}

sk_status sk_overlay_run_open(const sk_overlay_place *place, const sk_overlay_settings *settings,
                              sk_overlay_run **out, sk_error *err)
{
    *out = NULL;
    sk_overlay_run *run = sk_calloc(1, sizeof *run);
    if (!run)
        return sk_fail_memory(err, sizeof *run);
    sk_status status = SK_OK;
    run->place = *place;
    run->pictures = place->pictures;
    run->frames_a_part = frames_a_part();
    run->folder = sk_strdup(place->folder);
    run->parts = sk_path_join(place->folder, place->pictures ? "overlay" : "overlay.parts");
    run->joined = sk_path_join(place->folder, "overlay.mp4");
    run->done = sk_path_join(place->folder, "overlay.done");
    if (!run->folder || !run->parts || !run->joined || !run->done) {
        status = sk_fail_memory(err, strlen(place->folder));
        goto done;
    }
    run->place.folder = run->folder;
    SK_TRY_GOTO(sk_overlay_open(settings, &run->overlay, err));
    SK_TRY_GOTO(sk_stems_open(true, &run->stems, err));
    SK_TRY_GOTO(agree_on_style(run, settings, err));
    if (!place->pictures) {
        sk_folder_empty_own(run->done, NULL);
        SK_TRY_GOTO(list_parts(run, err));
    }
    *out = run;
    return SK_OK;
done:
    sk_overlay_run_close(&run);
    return status;
}

bool sk_overlay_run_is_there(const sk_overlay_run *run)
{
    return !run->pictures && !run->begun_before && sk_file_is_regular(run->joined);
}

sk_status sk_overlay_run_begin(sk_overlay_run *run, int64_t known, int64_t *covered, sk_error *err)
{
    *covered = 0;
    if (run->pictures)
        return SK_OK;
    while ((int64_t)run->n_parts * run->frames_a_part > known) {
        char *path = NULL;
        SK_TRY(part_path(run, run->parts, (int64_t)--run->n_parts, &path, err));
        bool gone = unlink(path) == 0 || errno == ENOENT;
        sk_status status =
            gone ? SK_OK : sk_fail(err, SK_ERR_IO, "%s: cannot be removed: %s", path, strerror(errno));
        sk_free(path);
        SK_TRY(status);
    }
    run->first = *covered = (int64_t)run->n_parts * run->frames_a_part;
    return SK_OK;
}

static sk_status picture_path(sk_overlay_run *run, const char *name, int64_t frame, char **out, sk_error *err)
{
    const char *stem = NULL;
    SK_TRY(sk_stems_of(run->stems, name, frame, &stem, err));
    size_t room = strlen(run->parts) + strlen(stem) + 8;
    *out = sk_malloc(room);
    if (!*out)
        return sk_fail_memory(err, room);
    snprintf(*out, room, "%s/%s.jpg", run->parts, stem);
    return SK_OK;
}

bool sk_overlay_run_has(sk_overlay_run *run, const char *name, int64_t frame)
{
    char *path = NULL;
    bool there = picture_path(run, name, frame, &path, NULL) == SK_OK && sk_file_is_regular(path);
    sk_free(path);
    return there;
}

/* --- writing --- */

static sk_status copy_frame(sk_overlay_run *run, const sk_frame *frame, sk_error *err)
{
    size_t bytes = (size_t)frame->stride * (size_t)frame->height;
    if (bytes > run->canvas_bytes) {
        sk_free(run->canvas.data);
        run->canvas.data = sk_calloc(1, bytes + SK_VIDEO_SINK_SPARE);
        run->canvas_bytes = run->canvas.data ? bytes : 0;
        if (!run->canvas.data)
            return sk_fail_memory(err, bytes);
    }
    uint8_t *data = run->canvas.data;
    memcpy(data, frame->data, bytes);
    run->canvas = *frame;
    run->canvas.data = data;
    return SK_OK;
}

static sk_status open_part(sk_overlay_run *run, const sk_frame *frame, sk_error *err)
{
    char *path = NULL;
    SK_TRY(make_folder(run, err));
    SK_TRY(part_path(run, run->parts, -1, &path, err));
    if (!run->place.width || !run->place.height) {
        run->place.width = frame->width;
        run->place.height = frame->height;
    }
    sk_status status = run->place.gpu ? sk_video_sink_open_gpu(path, run->place.width, run->place.height,
                                                               run->place.rate, &run->sink, err)
                                      : sk_video_sink_open(path, run->place.width, run->place.height,
                                                           run->place.rate, &run->sink, err);
    sk_free(path);
    return status;
}

sk_status sk_overlay_run_write(sk_overlay_run *run, const sk_frame *frame, const char *name,
                               const sk_instances *instances, const sk_overlay_track *tracks, sk_error *err)
{
    SK_TRY(copy_frame(run, frame, err));
    sk_overlay_draw_tracks(run->overlay, &run->canvas, instances, tracks);
    if (run->pictures) {
        char *path = NULL;
        SK_TRY(make_folder(run, err));
        SK_TRY(picture_path(run, name, frame->index, &path, err));
        sk_status status = sk_picture_write(path, &run->canvas, err);
        sk_free(path);
        return status;
    }
    if (!run->sink)
        SK_TRY(open_part(run, frame, err));
    SK_TRY(sk_video_sink_write(run->sink, &run->canvas, err));
    run->count++;
    return SK_OK;
}

bool sk_overlay_run_part_is_full(const sk_overlay_run *run)
{
    return run->count >= run->frames_a_part;
}

/* Onto the disk before it has the name that says it is complete. */
static sk_status settle(const char *path, sk_error *err)
{
    int file;
    SK_TRY(sk_file_open_own(path, O_RDWR, &file, err));
    bool ok = fsync(file) == 0 || errno == EINVAL;
    sk_status status = ok ? SK_OK : sk_fail(err, SK_ERR_IO, "%s: syncing failed: %s", path, strerror(errno));
    close(file);
    return status;
}

static sk_status put_in_place(const char *from, const char *to, sk_error *err)
{
    SK_TRY(settle(from, err));
    if (rename(from, to) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be renamed: %s", from, strerror(errno));
    return SK_OK;
}

sk_status sk_overlay_run_end_part(sk_overlay_run *run, sk_error *err)
{
    if (!run->sink)
        return SK_OK;
    char *from = NULL, *to = NULL;
    sk_status status = sk_video_sink_close(&run->sink, err);
    if (status == SK_OK)
        status = part_path(run, run->parts, -1, &from, err);
    if (status == SK_OK)
        status = part_path(run, run->parts, (int64_t)run->n_parts, &to, err);
    /* A part of fewer frames keeps its name: it is joined, and drawn again by whoever goes on. */
    if (status == SK_OK && run->count == run->frames_a_part) {
        status = put_in_place(from, to, err);
        if (status == SK_OK) {
            run->n_parts++;
            run->first += run->count;
            run->count = 0;
        }
    }
    sk_free(from);
    sk_free(to);
    return status;
}

/* --- joining --- */

static sk_status join_parts(sk_overlay_run *run, const char *half, sk_error *err)
{
    size_t count = run->n_parts + (run->count > 0);
    char **paths = sk_calloc(count, sizeof *paths);
    sk_status status = paths ? SK_OK : sk_fail_memory(err, count * sizeof *paths);
    for (size_t i = 0; i < count && status == SK_OK; i++)
        status = part_path(run, run->parts, i < run->n_parts ? (int64_t)i : -1, &paths[i], err);
    if (status == SK_OK)
        status = sk_video_join((const char *const *)paths, (int32_t)count, half, err);
    for (size_t i = 0; paths && i < count; i++)
        sk_free(paths[i]);
    sk_free(paths);
    return status;
}

sk_status sk_overlay_run_join(sk_overlay_run *run, bool finished, sk_error *err)
{
    if (run->pictures || (run->n_parts == 0 && run->count == 0))
        return SK_OK;
    char *half = sk_path_join(run->parts, "joined.mp4");
    if (!half)
        return sk_fail_memory(err, strlen(run->parts));
    sk_status status = join_parts(run, half, err);
    if (status == SK_OK)
        status = put_in_place(half, run->joined, err);
    else
        unlink(half); /* what it takes of a full disk */
    sk_free(half);
    if (status == SK_OK && finished && rename(run->parts, run->done) == 0) /* in one step: joined, or not */
        sk_folder_empty_own(run->done, NULL);
    return status;
}

void sk_overlay_run_close(sk_overlay_run **pointer)
{
    SK_TAKE_OR_RETURN(run, pointer);
    if (run->sink)
        (void)!sk_video_sink_close(&run->sink, NULL);
    sk_overlay_close(&run->overlay);
    sk_stems_close(&run->stems);
    sk_free_all(run->canvas.data, run->parts, run->joined, run->done, run->folder, run);
}

sk_overlay_track sk_overlay_track_of(const sk_sighting *s)
{
    return (sk_overlay_track){.track = s->track,
                              .covered = s->detection < 0,
                              .x = (float)s->x,
                              .y = (float)s->y,
                              .heading = (float)s->heading,
                              .reach = (float)(s->major / 2)};
}
