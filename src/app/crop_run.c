/* SPDX-License-Identifier: Apache-2.0 */
#include "app/crop_run.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "media/cutout.h"
#include "media/video_sink.h"
#include "results/shape.h"
#include "results/stems.h"

#include <stdio.h>
#include <string.h>

struct sk_crop_run {
    const sk_run_header *header;
    char **folders; /* of each class, and behind them the one for none; null until it is made */
    char *crops;
    sk_stems *stems;
    sk_frame canvas;
    size_t capacity;
};

sk_status sk_crop_run_open(const char *folder, const sk_run_header *header, sk_crop_run **out, sk_error *err)
{
    *out = NULL;
    sk_crop_run *run = sk_calloc(1, sizeof *run);
    if (!run)
        return sk_fail_memory(err, sizeof *run);
    run->header = header;
    run->crops = sk_path_join(folder, "crops");
    run->folders = sk_calloc((size_t)header->n_classes + 1, sizeof *run->folders);
    sk_status status =
        run->crops && run->folders ? sk_folder_make_own(run->crops, err) : sk_fail_memory(err, 64);
    if (status == SK_OK)
        status = sk_stems_open(strcmp(header->source_kind, "pictures") == 0, &run->stems, err);
    return SK_HAND_OVER(status, run, out, sk_crop_run_close);
}

void sk_crop_run_close(sk_crop_run **pointer)
{
    SK_TAKE_OR_RETURN(run, pointer);
    for (int32_t i = 0; run->folders && i <= run->header->n_classes; i++)
        sk_free(run->folders[i]);
    sk_free_all(run->folders, run->crops, run->canvas.data);
    sk_stems_close(&run->stems);
    sk_free(run);
}

/* A class's name as a folder's: it stays inside crops/ and on one line, whatever the model calls it. */
static void folder_name(const char *name, int32_t class_id, char *out, size_t capacity)
{
    if (!name[0])
        snprintf(out, capacity, "class_%d", class_id);
    else
        sk_text_shorten(name, out, capacity < 201 ? capacity : 201);
    for (char *c = out; *c; c++)
        if (*c == '/' || (unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '_';
    if (out[0] == '.')
        out[0] = '_';
}

static sk_status folder_of(sk_crop_run *run, const sk_found *in, const char **out, sk_error *err)
{
    const sk_run_header *h = run->header;
    bool known = in->class_id >= 0 && in->class_id < h->n_classes;
    int32_t i = known ? in->class_id : h->n_classes;
    if (!run->folders[i]) {
        char name[256];
        if (known)
            folder_name(h->class_names[i], i, name, sizeof name);
        char *path = known ? sk_path_join(run->crops, name) : sk_strdup(run->crops);
        sk_status status = path ? sk_folder_make_own(path, err) : sk_fail_memory(err, 64);
        if (status != SK_OK) {
            sk_free(path);
            return status;
        }
        run->folders[i] = path;
    }
    *out = run->folders[i];
    return SK_OK;
}

/* The instance's part of the frame; *any false where none of it is in the frame. */
static sk_status cut(sk_crop_run *run, const sk_frame *frame, const sk_instances *all, const sk_found *in,
                     sk_frame *out, bool *any, sk_error *err)
{
    if (in->has & SK_HAS_OBB) {
        SK_TRY(sk_cutout_turned(frame, in->obb, &run->canvas, &run->capacity, any, err));
        *out = run->canvas;
        return SK_OK;
    }
    double box[4];
    sk_instance_bounds(all, in, box);
    bool found = (in->has & SK_HAS_BOX) || box[2] > 0 || box[3] > 0 || box[0] != 0 || box[1] != 0;
    box[2] += box[0];
    box[3] += box[1];
    *any = found && sk_cutout_box(frame, box, out);
    return SK_OK;
}

static sk_status crop_path(sk_crop_run *run, const sk_result_frame *result, const char *stem, int32_t i,
                           char **out, sk_error *err)
{
    const char *folder = NULL;
    SK_TRY(folder_of(run, &result->instances->items[i], &folder, err));
    size_t room = strlen(folder) + strlen(stem) + 32;
    *out = sk_malloc(room);
    if (!*out)
        return sk_fail_memory(err, room);
    snprintf(*out, room, "%s/%s_%d.jpg", folder, stem, i);
    return SK_OK;
}

sk_status sk_crop_run_has(sk_crop_run *run, const sk_result_frame *result, bool *all, sk_error *err)
{
    const char *stem = NULL;
    SK_TRY(sk_stems_of(run->stems, result->source, result->index, &stem, err));
    *all = true;
    for (int32_t i = 0; *all && i < result->instances->count; i++) {
        char *path = NULL;
        SK_TRY(crop_path(run, result, stem, i, &path, err));
        *all = sk_file_is_regular(path);
        sk_free(path);
    }
    return SK_OK;
}

sk_status sk_crop_run_write(sk_crop_run *run, const sk_frame *frame, const sk_result_frame *result,
                            sk_error *err)
{
    const char *stem = NULL;
    SK_TRY(sk_stems_of(run->stems, result->source, result->index, &stem, err));
    for (int32_t i = 0; i < result->instances->count; i++) {
        sk_frame piece;
        bool any = false;
        SK_TRY(cut(run, frame, result->instances, &result->instances->items[i], &piece, &any, err));
        if (!any)
            continue;
        char *path = NULL;
        SK_TRY(crop_path(run, result, stem, i, &path, err));
        sk_status status = sk_picture_write(path, &piece, err);
        sk_free(path);
        SK_TRY(status);
    }
    return SK_OK;
}
