/* SPDX-License-Identifier: Apache-2.0 */
#include "app/overlay_run.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_A_PART 500

typedef struct part {
    int64_t first, count;
} part;

struct sk_overlay_run {
    char *folder;       /* the run's */
    char *parts_folder; /* folder/overlay.parts, or folder/overlay for pictures */
    bool pictures;
    double rate;
    sk_overlay *overlay;
    part *parts; /* complete ones, in order, without gaps */
    size_t n_parts, capacity;
    sk_video_sink *sink; /* the part being written */
    int64_t first, count;
    sk_frame canvas;
    size_t canvas_bytes;
};

static void part_path(const sk_overlay_run *run, part p, char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/part-%010lld-%06lld.mp4", run->parts_folder, (long long)p.first,
             (long long)p.count);
}

static void open_part_path(const sk_overlay_run *run, char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/unfinished.mp4", run->parts_folder);
}

static int compare_parts(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static sk_status add_part(sk_overlay_run *run, part p, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&run->parts, &run->capacity, run->n_parts + 1, sizeof *run->parts,
                            1u << 24, err));
    run->parts[run->n_parts++] = p;
    return SK_OK;
}

/* Finds complete parts; only those that follow each other from frame 0 count. */
static sk_status list_parts(sk_overlay_run *run, sk_error *err)
{
    DIR *directory = opendir(run->parts_folder);
    if (!directory)
        return SK_OK;
    sk_status status = SK_OK;
    for (struct dirent *entry; status == SK_OK && (entry = readdir(directory));) {
        long long first, count;
        char rest;
        if (sscanf(entry->d_name, "part-%lld-%lld.mp%c", &first, &count, &rest) == 3 && rest == '4')
            status = add_part(run, (part){first, count}, err);
    }
    closedir(directory);
    if (status != SK_OK || run->n_parts == 0)
        return status;
    qsort(run->parts, run->n_parts, sizeof *run->parts, compare_parts);
    size_t good = 0;
    for (int64_t next = 0; good < run->n_parts && run->parts[good].first == next; good++)
        next += run->parts[good].count;
    run->n_parts = good;
    return SK_OK;
}

sk_status sk_overlay_run_open(const char *folder, bool pictures, double rate,
                              const sk_overlay_settings *settings, sk_overlay_run **out, sk_error *err)
{
    *out = NULL;
    sk_overlay_run *run = sk_calloc(1, sizeof *run);
    if (!run)
        return sk_fail_memory(err, sizeof *run);
    sk_status status = SK_OK;
    run->pictures = pictures;
    run->rate = rate;
    run->folder = sk_strdup(folder);
    run->parts_folder = sk_path_join(folder, pictures ? "overlay" : "overlay.parts");
    if (!run->folder || !run->parts_folder) {
        status = sk_fail_memory(err, strlen(folder));
        goto done;
    }
    SK_TRY_GOTO(sk_overlay_open(settings, &run->overlay, err));
    SK_TRY_GOTO(sk_folder_make(run->parts_folder, err));
    if (!pictures)
        SK_TRY_GOTO(list_parts(run, err));
    *out = run;
    return SK_OK;
done:
    (void)!sk_overlay_run_close(&run, false, NULL);
    return status;
}

sk_status sk_overlay_run_clear(sk_overlay_run *run, sk_error *err)
{
    return run->pictures ? SK_OK : sk_overlay_run_continue(run, 0, err);
}

int64_t sk_overlay_run_covered(const sk_overlay_run *run)
{
    if (run->pictures)
        return INT64_MAX;
    return run->n_parts ? run->parts[run->n_parts - 1].first + run->parts[run->n_parts - 1].count : 0;
}

sk_status sk_overlay_run_continue(sk_overlay_run *run, int64_t count, sk_error *err)
{
    run->first = count;
    if (run->pictures)
        return SK_OK;
    while (run->n_parts && run->parts[run->n_parts - 1].first >= count) {
        char path[4200];
        part_path(run, run->parts[--run->n_parts], path, sizeof path);
        if (unlink(path) != 0 && errno != ENOENT)
            return sk_fail(err, SK_ERR_IO, "%s: cannot be removed: %s", path, strerror(errno));
    }
    if (sk_overlay_run_covered(run) != count)
        return sk_fail(err, SK_ERR_INTERNAL, "the overlay's parts end at frame %lld, not %lld",
                       (long long)sk_overlay_run_covered(run), (long long)count);
    return SK_OK;
}

static sk_status finish_part(sk_overlay_run *run, sk_error *err)
{
    if (!run->sink)
        return SK_OK;
    char from[4200], to[4200];
    open_part_path(run, from, sizeof from);
    SK_TRY(sk_video_sink_close(&run->sink, err));
    part p = {run->first, run->count};
    part_path(run, p, to, sizeof to);
    if (rename(from, to) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be renamed: %s", from, strerror(errno));
    run->first += run->count;
    run->count = 0;
    return add_part(run, p, err);
}

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

sk_status sk_overlay_run_write(sk_overlay_run *run, const sk_frame *frame, const char *name,
                               const sk_instances *instances, sk_error *err)
{
    char path[4200];
    SK_TRY(copy_frame(run, frame, err));
    sk_overlay_draw(run->overlay, &run->canvas, instances);
    if (run->pictures) {
        char *stem = sk_path_stem(name);
        snprintf(path, sizeof path, "%s/%.255s.jpg", run->parts_folder, stem ? stem : "picture");
        sk_free(stem);
        return sk_picture_write(path, &run->canvas, err);
    }
    if (!run->sink) {
        open_part_path(run, path, sizeof path);
        SK_TRY(sk_video_sink_open(path, frame->width, frame->height, run->rate, &run->sink, err));
    }
    SK_TRY(sk_video_sink_write(run->sink, &run->canvas, err));
    if (++run->count >= FRAMES_A_PART)
        return finish_part(run, err);
    return SK_OK;
}

static sk_status join(sk_overlay_run *run, bool remove_parts, sk_error *err)
{
    char path[4200], target[4200], half[4200];
    if (run->n_parts == 0)
        return SK_OK;
    snprintf(target, sizeof target, "%s/overlay.mp4", run->folder);
    snprintf(half, sizeof half, "%s/joined.mp4", run->parts_folder);
    char **paths = sk_calloc(run->n_parts, sizeof *paths);
    sk_status status = paths ? SK_OK : sk_fail_memory(err, run->n_parts * sizeof *paths);
    for (size_t i = 0; i < run->n_parts && status == SK_OK; i++) {
        part_path(run, run->parts[i], path, sizeof path);
        paths[i] = sk_strdup(path);
        if (!paths[i])
            status = sk_fail_memory(err, strlen(path));
    }
    if (status == SK_OK)
        status = sk_video_join((const char *const *)paths, (int32_t)run->n_parts, half, err);
    if (status == SK_OK && rename(half, target) != 0)
        status = sk_fail(err, SK_ERR_IO, "%s: cannot be renamed: %s", half, strerror(errno));
    for (size_t i = 0; paths && i < run->n_parts; i++) {
        if (status == SK_OK && remove_parts)
            unlink(paths[i]);
        sk_free(paths[i]);
    }
    sk_free(paths);
    if (status == SK_OK && remove_parts)
        rmdir(run->parts_folder);
    return status;
}

sk_status sk_overlay_run_close(sk_overlay_run **pointer, bool finished, sk_error *err)
{
    sk_overlay_run *run = pointer ? *pointer : NULL;
    if (!run)
        return SK_OK;
    *pointer = NULL;
    sk_status status = SK_OK;
    if (!run->pictures && run->overlay) {
        status = finish_part(run, err);
        if (status == SK_OK)
            status = join(run, finished, err);
    }
    sk_overlay_close(&run->overlay);
    sk_free(run->parts);
    sk_free(run->canvas.data);
    sk_free(run->parts_folder);
    sk_free(run->folder);
    sk_free(run);
    return status;
}

const char *sk_overlay_run_file(const sk_overlay_run *run)
{
    return run->pictures ? "overlay/" : "overlay.mp4";
}
