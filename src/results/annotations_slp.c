/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations_analysis.h"

#include "base/memory.h"
#include "formats/config.h"
#include "formats/hdf5_file.h"
#include "formats/skeleton_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* SLEAP's .slp: labelled frames with instances by hand and by a model. Where a frame has instances by hand, those are
 * what counts: they are the truth, and predictions beside them are what was corrected. */

#define MAX_BYTES ((size_t)1 << 30)

enum { BY_HAND = 0 };

typedef struct column {
    sk_blob *blob;
    size_t count;
} column;

typedef struct reader {
    const char *path;
    sk_hdf5_file *file;
    sk_annotation_set *set;
    column frame_video, frame_index, frame_first, frame_end;
    column type, skeleton, score, point_first, point_end, track;
    column hand_x, hand_y, hand_seen, model_x, model_y, model_score, model_seen;
    double shift; /* files before format 1.1 count from the corner of the pixel */
    int64_t predicted_beside, other_skeletons;
    double taken; /* instances that frames had so far */
} reader;

static double at(const column *c, size_t i)
{
    return ((const double *)sk_blob_data(c->blob))[i];
}

static sk_status load(reader *r, const char *table, const char *name, column *out, sk_error *err)
{
    return sk_hdf5_dataset_column(r->file, table, name, SK_DTYPE_F64, MAX_BYTES, &out->blob, &out->count,
                                  err);
}

static sk_status load_all(reader *r, sk_error *err)
{
    const struct {
        const char *table, *name;
        column *to;
    } wanted[] = {{"frames", "video", &r->frame_video},
                  {"frames", "frame_idx", &r->frame_index},
                  {"frames", "instance_id_start", &r->frame_first},
                  {"frames", "instance_id_end", &r->frame_end},
                  {"instances", "instance_type", &r->type},
                  {"instances", "skeleton", &r->skeleton},
                  {"instances", "score", &r->score},
                  {"instances", "track", &r->track},
                  {"instances", "point_id_start", &r->point_first},
                  {"instances", "point_id_end", &r->point_end},
                  {"points", "x", &r->hand_x},
                  {"points", "y", &r->hand_y},
                  {"points", "visible", &r->hand_seen},
                  {"pred_points", "x", &r->model_x},
                  {"pred_points", "y", &r->model_y},
                  {"pred_points", "visible", &r->model_seen},
                  {"pred_points", "score", &r->model_score}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        SK_TRY(load(r, wanted[i].table, wanted[i].name, wanted[i].to, err));
    return SK_OK;
}

static void unload(reader *r)
{
    column *all[] = {&r->frame_video, &r->frame_index, &r->frame_first, &r->frame_end, &r->type,
                     &r->skeleton,    &r->score,       &r->point_first, &r->point_end, &r->track,
                     &r->hand_x,      &r->hand_y,      &r->hand_seen,   &r->model_x,   &r->model_y,
                     &r->model_seen,  &r->model_score};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sk_blob_unref(&all[i]->blob);
}

/* --- skeleton and videos --- */

static sk_status read_skeleton(reader *r, sk_error *err)
{
    char *text = NULL;
    sk_config *config = NULL;
    sk_arena *arena = NULL;
    sk_skeleton skeleton;
    sk_status status = sk_hdf5_attribute_text(r->file, "metadata", "json", &text, err);
    if (status != SK_OK)
        return status;
    SK_TRY_GOTO(sk_config_open_json(text, strlen(text), r->path, &config, err));
    SK_TRY_GOTO(sk_arena_open(4096, &arena, err));
    const sk_config_value *root = sk_config_root(config), *list = sk_config_get(root, "skeletons");
    const sk_config_value *first = sk_config_at(list, 0);
    if (!first) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: no skeleton is in this .slp", r->path);
        goto done;
    }
    if (sk_config_count(list) > 1)
        sk_annotations_note(r->set, "only the first of its %zu skeletons is read", sk_config_count(list));
    SK_TRY_GOTO(sk_skeleton_read(first, sk_config_get(root, "nodes"), arena, r->path, &skeleton, err));
    if (skeleton.n_nodes < 1 || skeleton.n_nodes > SK_ANNOTATION_MAX_KEYPOINTS) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: a skeleton of %d nodes", r->path, skeleton.n_nodes);
        goto done;
    }
    status = sk_annotations_keypoints(r->set, skeleton.n_nodes, skeleton.node_names, err);
done:
    sk_arena_close(&arena);
    sk_config_close(&config);
    sk_free(text);
    return status;
}

/* Every video becomes a source, named by its file. */
static sk_status read_videos(reader *r, sk_error *err)
{
    sk_hdf5_texts texts = {0};
    SK_TRY(sk_hdf5_dataset_texts(r->file, "videos_json", &texts, err));
    sk_status status = SK_OK;
    const char *entry = texts.bytes;
    for (size_t i = 0; status == SK_OK && i < texts.count; i++, entry += strlen(entry) + 1) {
        sk_config *config = NULL;
        status = sk_config_open_json(entry, strlen(entry), r->path, &config, err);
        const sk_config_value *root = sk_config_root(config);
        const char *name = sk_config_text(sk_config_find(root, "backend.filename"));
        name = name ? name : sk_config_text(sk_config_find(root, "filename"));
        char numbered[48];
        snprintf(numbered, sizeof numbered, "video %zu", i);
        int32_t source = 0;
        const double rate = sk_config_real_or(sk_config_get(root, "backend"), "fps", 0);
        if (status == SK_OK && i == 0 && rate > 0 && rate <= 1e6) /* newer files say it */
            r->set->rate = rate;
        if (status == SK_OK)
            status = sk_annotations_source(r->set, name ? name : numbered, strlen(name ? name : numbered),
                                           &source, err);
        if (status == SK_OK && (size_t)source != i) /* two videos of one name: keep them apart */
            status = sk_annotations_source(r->set, numbered, strlen(numbered), &source, err);
        sk_config_close(&config);
    }
    sk_free(texts.bytes);
    return status;
}

/* --- instances --- */

static sk_status damaged(const reader *r, const char *what, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: the .slp is damaged: %s", r->path, what);
}

static sk_status read_instance(reader *r, size_t i, int32_t image, sk_error *err)
{
    bool by_hand = at(&r->type, i) == BY_HAND;
    const column *x = by_hand ? &r->hand_x : &r->model_x, *y = by_hand ? &r->hand_y : &r->model_y;
    const column *seen = by_hand ? &r->hand_seen : &r->model_seen;
    double first = at(&r->point_first, i), end = at(&r->point_end, i);
    if (!(first >= 0) || !(end >= first) || end > (double)x->count ||
        end - first != (double)r->set->n_keypoints)
        return damaged(r, "an instance's points are not there", err);
    int32_t class_id;
    sk_annotation *a;
    SK_TRY(sk_annotations_class(r->set, -1, "", 0, &class_id, err));
    SK_TRY(sk_annotations_add(r->set, image, class_id, true, &a, err));
    double score = at(&r->score, i), track = at(&r->track, i);
    a->score = by_hand || !isfinite(score) ? 1 : score;
    a->track = track >= 0 && track < 1e9 ? (int64_t)track : -1;
    for (int32_t k = 0; k < r->set->n_keypoints; k++) {
        size_t p = (size_t)first + (size_t)k;
        double px = at(x, p) + r->shift, py = at(y, p) + r->shift;
        bool found = isfinite(px) && isfinite(py);
        double sure = by_hand ? 1 : at(&r->model_score, p);
        r->set->points[a->first + (size_t)k] =
            (sk_annotation_point){found ? px : NAN, found ? py : NAN, isfinite(sure) ? sure : 1,
                                  !found            ? 0
                                  : at(seen, p) > 0 ? 2
                                                    : 1};
    }
    r->set->has |= SK_HAS_KEYPOINTS;
    return SK_OK;
}

static sk_status read_frame(reader *r, size_t f, sk_error *err)
{
    double video = at(&r->frame_video, f), number = at(&r->frame_index, f);
    double first = at(&r->frame_first, f), end = at(&r->frame_end, f);
    if (!(number >= 0) || number > 9e15 || !(first >= 0) || !(end >= first) || end > (double)r->type.count)
        return damaged(r, "a frame's instances are not there", err);
    /* an instance is in one frame: a million frames of the same million instances would take a day, and all memory */
    r->taken += end - first;
    if (r->taken > (double)r->type.count)
        return damaged(r, "several frames have the same instances", err);
    int32_t image, source = video >= 0 && video < (double)r->set->n_sources ? (int32_t)video : 0;
    SK_TRY(sk_annotations_image(r->set, source, (int64_t)number, -1, &image, err));
    bool by_hand = false;
    for (size_t i = (size_t)first; i < (size_t)end; i++)
        by_hand = by_hand || at(&r->type, i) == BY_HAND;
    for (size_t i = (size_t)first; i < (size_t)end; i++) {
        if (at(&r->skeleton, i) != 0)
            r->other_skeletons++;
        else if (by_hand && at(&r->type, i) != BY_HAND)
            r->predicted_beside++;
        else
            SK_TRY(read_instance(r, i, image, err));
    }
    return SK_OK;
}

static sk_status read_all(reader *r, sk_error *err)
{
    double format = 1.2;
    if (sk_hdf5_has_attribute(r->file, "metadata", "format_id"))
        SK_TRY(sk_hdf5_attribute_real(r->file, "metadata", "format_id", &format, err));
    r->shift = format < 1.1 ? -0.5 : 0;
    SK_TRY(read_skeleton(r, err));
    SK_TRY(read_videos(r, err));
    SK_TRY(load_all(r, err));
    for (size_t f = 0; f < r->frame_index.count; f++)
        SK_TRY(read_frame(r, f, err));
    if (r->predicted_beside)
        sk_annotations_note(r->set, "%lld predictions beside instances made by hand were not used",
                            (long long)r->predicted_beside);
    if (r->other_skeletons)
        sk_annotations_note(r->set, "%lld instances of other skeletons were not used",
                            (long long)r->other_skeletons);
    r->set->every_frame = true;
    return SK_OK;
}

sk_status sk_annotations_read_slp(const char *path, const void *bytes, size_t length, sk_annotation_set *set,
                                  sk_error *err)
{
    SK_TRY(sk_annotations_begin(set, "SLEAP labels", err));
    reader r = {.path = path, .set = set};
    SK_TRY(sk_hdf5_open_memory(bytes, length, path, &r.file, err));
    sk_status status = SK_OK;
    if (sk_annotations_is_analysis(r.file))
        status = sk_annotations_read_analysis(path, r.file, set, err);
    else if (!sk_hdf5_exists(r.file, "frames") || !sk_hdf5_exists(r.file, "pred_points"))
        status = sk_fail(err, SK_ERR_FORMAT,
                         "%s: HDF5, but neither SLEAP's .slp (it has no frames and points) nor its "
                         "analysis file (it has no tracks and node_names)",
                         path);
    else
        status = read_all(&r, err);
    unload(&r);
    sk_hdf5_close(&r.file);
    return status;
}
