/* SPDX-License-Identifier: Apache-2.0 */
#include "results/hdf5_output.h"
#include "results/sink.h"
#include "results/slp_tables.h"
#include "results/track_names.h"

#include "base/file.h"
#include "base/text.h"
#include "formats/hdf5_file.h"
#include "formats/json_text.h"

#include <errno.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SLEAP's labels file, format 1.2: predicted instances, written in batches as frames come. Opens in SLEAP >= 1.3, in
 * sleap-io and in sleap-nn. Models without keypoints get one node, "center", at the box's centre. */

#define FORMAT_ID 1.2

typedef struct slp_sink {
    sk_sink base;
    char *path;
    hid_t file;
    sk_hdf5_output *output;
    slp_table frames, instances, points;
    uint64_t n_frames, n_instances, n_points;
    int32_t n_nodes;
    bool centers; /* no keypoints: one node at the box's centre */
    bool identities;
    int32_t n_tracks;
    uint32_t *track_first; /* frame a track began */
    size_t track_capacity;
    char **track_names; /* identities; null: those of `named` */
    sk_track_names named;
    bool pictures, no_empty;
    json_t *picture_paths;
    json_t *video; /* the video's entry */
} slp_sink;

extern const sk_sink_kind sk_sink_slp;

static sk_status check(const slp_sink *sink, const char *what, bool ok, sk_error *err)
{
    return sk_hdf5_output_check(sink->output, sink->path, what, ok, err);
}

/* --- the JSON parts --- */

/* A dataset of fixed-length strings, one a row; an empty float64 one where there are none, as SLEAP writes it. */
static bool write_texts(hid_t file, const char *name, char **texts, size_t count)
{
    if (H5Lexists(file, name, H5P_DEFAULT) > 0)
        H5Ldelete(file, name, H5P_DEFAULT);
    if (count == 0) {
        hid_t dataset = slp_create_dataset(file, name, H5T_NATIVE_DOUBLE, 0);
        return dataset >= 0 && H5Dclose(dataset) >= 0;
    }
    size_t width = 1;
    for (size_t i = 0; i < count; i++)
        width = strlen(texts[i]) > width ? strlen(texts[i]) : width;
    char *rows = sk_calloc(count, width);
    if (!rows)
        return false;
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * width, texts[i], strlen(texts[i]));
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, width);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    hid_t dataset = slp_create_dataset(file, name, type, count);
    bool ok = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0;
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Tclose(type);
    sk_free(rows);
    return ok;
}

static json_t *edge_link(int32_t index, int32_t from, int32_t to)
{
    /* jsonpickle writes an enum value once and then refers to it */
    json_t *type = index == 0 ? json_pack("{s:[{s:s},{s:[i]}]}", "py/reduce", "py/type",
                                          "sleap.skeleton.EdgeType", "py/tuple", 1)
                              : json_pack("{s:i}", "py/id", 1);
    return json_pack("{s:i,s:i,s:i,s:i,s:o}", "edge_insert_idx", index, "key", 0, "source", from, "target",
                     to, "type", type);
}

static json_t *metadata(const slp_sink *sink, const sk_run_header *h)
{
    json_t *nodes = json_array(), *ids = json_array(), *links = json_array();
    for (int32_t i = 0; i < sink->n_nodes; i++) {
        const char *name = sink->centers ? "center" : h->keypoint_names[i];
        json_array_append_new(nodes, json_pack("{s:o,s:f}", "name", sk_json_text(name), "weight", 1.0));
        json_array_append_new(ids, json_pack("{s:i}", "id", i));
    }
    int32_t n_edges = sink->centers ? 0 : h->n_edges;
    for (int32_t i = 0; i < n_edges; i++)
        json_array_append_new(links, edge_link(i, h->edges[i][0], h->edges[i][1]));
    json_t *skeleton =
        json_pack("{s:b,s:{s:s,s:i},s:o,s:b,s:o}", "directed", 1, "graph", "name", "Skeleton-0",
                  "num_edges_inserted", n_edges, "links", links, "multigraph", 1, "nodes", ids);
    char line[2048];
    json_t *provenance = json_pack("{s:o,s:s,s:s,s:o,s:o}", "predictor",
                                   sk_json_text(sk_run_header_line(h, line, sizeof line)), "skitter_version",
                                   h->version, "runtime", h->runtime, "data_path", sk_json_text(h->source),
                                   "model", sk_json_text(h->n_models ? h->model_paths[0] : ""));
    return json_pack("{s:s,s:[o],s:o,s:[],s:[],s:[],s:{},s:o}", "version", "2.0.0", "skeletons", skeleton,
                     "nodes", nodes, "videos", "tracks", "suggestions", "negative_anchors", "provenance",
                     provenance ? provenance : json_object());
}

static bool write_metadata(slp_sink *sink, const sk_run_header *header)
{
    json_t *tree = metadata(sink, header);
    char *text = tree ? json_dumps(tree, JSON_COMPACT) : NULL;
    json_decref(tree);
    if (!text)
        return false;
    hid_t group = H5Gcreate2(sink->file, "metadata", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t scalar = H5Screate(H5S_SCALAR);
    hid_t id = H5Acreate2(group, "format_id", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    double format = FORMAT_ID;
    bool ok = H5Awrite(id, H5T_NATIVE_DOUBLE, &format) >= 0;
    H5Aclose(id);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    hid_t json = H5Acreate2(group, "json", type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    ok = ok && json >= 0 && H5Awrite(json, type, text) >= 0;
    if (json >= 0)
        H5Aclose(json);
    H5Tclose(type);
    H5Sclose(scalar);
    H5Gclose(group);
    free(text);
    return ok;
}

static bool write_video(slp_sink *sink)
{
    json_t *backend = json_object_get(sink->video, "backend");
    if (sink->pictures) {
        /* "filename" is the first one: readers take it for a path before they look at the list. */
        json_t *first = json_array_get(sink->picture_paths, 0);
        json_object_set(backend, "filenames", sink->picture_paths);
        if (first) {
            json_object_set(backend, "filename", first);
            json_object_set(sink->video, "filename", first);
        }
        json_array_set_new(json_object_get(backend, "shape"), 0,
                           json_integer((json_int_t)json_array_size(sink->picture_paths)));
    }
    char *text = json_dumps(sink->video, JSON_COMPACT);
    bool ok = text && write_texts(sink->file, "videos_json", &text, 1);
    free(text);
    return ok;
}

static bool write_tracks(slp_sink *sink)
{
    size_t count = (size_t)sink->n_tracks;
    char **texts = sk_calloc(count, sizeof *texts);
    bool ok = texts != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        char own[SK_TRACK_NAME];
        json_t *row = json_pack("[i,s]", (int)sink->track_first[i],
                                sink->track_names ? sink->track_names[i]
                                                  : sk_track_names_get(&sink->named, (int32_t)i, own));
        texts[i] = row ? json_dumps(row, JSON_COMPACT) : NULL;
        json_decref(row);
        ok = texts[i] != NULL;
    }
    ok = ok && write_texts(sink->file, "tracks_json", texts, count);
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    sk_free(texts);
    return ok;
}

/* --- frames --- */

static int32_t track_of(slp_sink *sink, const sk_found *in, int64_t frame)
{
    int32_t track = sink->identities ? in->class_id : in->track_id;
    if (track < 0)
        return -1;
    if (track >= sink->n_tracks && !sink->identities) {
        if (sk_array_reserve((void **)&sink->track_first, &sink->track_capacity, (size_t)track + 1,
                             sizeof *sink->track_first, 1u << 24, NULL) != SK_OK)
            return -1;
        for (int32_t i = sink->n_tracks; i <= track; i++)
            sink->track_first[i] = (uint32_t)frame;
        sink->n_tracks = track + 1;
    }
    sk_track_names_note(&sink->named, track, in->class_id);
    return track < sink->n_tracks ? track : -1;
}

static bool add_points(slp_sink *sink, const sk_instances *all, const sk_found *in)
{
    for (int32_t k = 0; k < sink->n_nodes; k++) {
        slp_point_row row = {.x = NAN, .y = NAN};
        if (sink->centers) {
            bool turned = in->has & SK_HAS_OBB;
            row.x = turned ? (double)in->obb[0] : ((double)in->box[0] + (double)in->box[2]) / 2;
            row.y = turned ? (double)in->obb[1] : ((double)in->box[1] + (double)in->box[3]) / 2;
            row.score = (double)in->score;
        } else if (in->has & SK_HAS_KEYPOINTS) {
            const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
            row.x = (double)p->x;
            row.y = (double)p->y;
            row.score = isnan(p->x) ? 0 : (double)p->score;
        }
        row.visible = !isnan(row.x);
        if (!slp_table_add(&sink->points, &row))
            return false;
    }
    sink->n_points += (uint64_t)sink->n_nodes;
    return true;
}

/* From the root: a labels file is opened from anywhere. */
static json_t *absolute_name(const char *path)
{
    char *absolute = sk_file_exists(path) ? sk_path_absolute(path) : sk_strdup(path);
    json_t *name = absolute ? sk_json_text(absolute) : NULL;
    sk_free(absolute);
    return name;
}

static bool add_frame(slp_sink *sink, const sk_result_frame *frame)
{
    const sk_instances *all = frame->instances;
    slp_frame_row row = {.frame_id = sink->n_frames,
                         .frame_idx =
                             sink->pictures ? json_array_size(sink->picture_paths) : (uint64_t)frame->index,
                         .instance_id_start = sink->n_instances,
                         .instance_id_end = sink->n_instances + (uint64_t)all->count};
    if (sink->pictures)
        json_array_append_new(sink->picture_paths, absolute_name(frame->source));
    if (sink->no_empty && all->count == 0)
        return true;
    for (int32_t i = 0; i < all->count; i++) {
        const sk_found *in = &all->items[i];
        slp_instance_row instance = {.instance_id = (int64_t)sink->n_instances,
                                     .instance_type = 1,
                                     .frame_id = sink->n_frames,
                                     .track = track_of(sink, in, frame->index),
                                     .from_predicted = -1,
                                     .score = in->score,
                                     .point_id_start = sink->n_points,
                                     .point_id_end = sink->n_points + (uint64_t)sink->n_nodes,
                                     .tracking_score = in->tracking_score};
        sink->n_instances++;
        if (!slp_table_add(&sink->instances, &instance) || !add_points(sink, all, in))
            return false;
    }
    sink->n_frames++;
    return slp_table_add(&sink->frames, &row);
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    slp_sink *sink = (slp_sink *)base;
    sk_hdf5_enter();
    bool ok = add_frame(sink, frame);
    sk_hdf5_leave();
    return check(sink, "writing a frame", ok, err);
}

static sk_status flush(sk_sink *base, sk_error *err)
{
    slp_sink *sink = (slp_sink *)base;
    sk_hdf5_enter();
    bool ok = slp_table_flush(&sink->frames) && slp_table_flush(&sink->instances) &&
              slp_table_flush(&sink->points) && write_tracks(sink) && write_video(sink) &&
              H5Fflush(sink->file, H5F_SCOPE_LOCAL) >= 0;
    sk_hdf5_leave();
    return check(sink, "writing", ok, err);
}

/* Ends the sink; its own failure counts where there was no other. */
static sk_status release(slp_sink *sink, sk_status status, sk_error *err)
{
    sk_hdf5_enter();
    slp_table_close(&sink->frames);
    slp_table_close(&sink->instances);
    slp_table_close(&sink->points);
    if (sink->file > 0)
        H5Fclose(sink->file);
    sk_hdf5_leave();
    if (status == SK_OK)
        status = check(sink, "completing the file", true, err);
    sk_hdf5_output_close(&sink->output);
    for (int32_t i = 0; sink->track_names && i < sink->n_tracks; i++)
        sk_free(sink->track_names[i]);
    sk_free(sink->track_names);
    sk_free(sink->track_first);
    sk_track_names_close(&sink->named);
    json_decref(sink->picture_paths);
    json_decref(sink->video);
    sk_free(sink->path);
    sk_free(sink);
    return status;
}

static sk_status close_slp(sk_sink *base, sk_error *err)
{
    sk_status status = flush(base, err);
    return release((slp_sink *)base, status, err);
}

static sk_status begin_file(slp_sink *sink, const sk_run_header *h, sk_error *err)
{
    /* Format 1.8 of the library keeps files readable by every SLEAP. */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
    sk_status status = sk_hdf5_output_open(sink->path, access, &sink->output, &sink->file, err);
    H5Pclose(access);
    SK_TRY(status);
    slp_table empty = {0};
    bool ok =
        write_metadata(sink, h) &&
        slp_table_open(sink->file, "frames", slp_frame_type(), sizeof(slp_frame_row), &sink->frames) &&
        slp_table_open(sink->file, "instances", slp_instance_type(), sizeof(slp_instance_row),
                       &sink->instances) &&
        slp_table_open(sink->file, "points", slp_point_type(false), HOFFSET(slp_point_row, score), &empty) &&
        slp_table_open(sink->file, "pred_points", slp_point_type(true), sizeof(slp_point_row),
                       &sink->points) &&
        write_texts(sink->file, "suggestions_json", NULL, 0);
    slp_table_close(&empty);
    return check(sink, "creating the file", ok, err);
}

static bool fill(slp_sink *sink, const char *path, const sk_run_header *h)
{
    sink->path = sk_strdup(path);
    sink->centers = h->n_keypoints == 0;
    sink->n_nodes = sink->centers ? 1 : h->n_keypoints;
    sink->identities = h->identities && !h->tracked; /* the tracker's word counts */
    sink->no_empty = h->no_empty;
    sink->pictures = strcmp(h->source_kind, "pictures") == 0;
    sink->picture_paths = json_array();
    bool live = strcmp(h->source_kind, "live") == 0;
    json_t *name = live ? sk_json_text(h->source) : absolute_name(h->source);
    sink->video = json_pack("{s:O,s:{s:s,s:[I,i,i,i],s:o,s:b,s:b,s:s,s:s}}", "filename", name, "backend",
                            "type", sink->pictures ? "ImageVideo" : "MediaVideo", "shape",
                            (json_int_t)(h->source_frames > 0 ? h->source_frames : 0), h->height, h->width, 3,
                            "filename", name, "grayscale", 0, "bgr", 1, "dataset", "", "input_format", "");
    if (!sk_track_names_open(&sink->named, h) || !sink->path || !sink->picture_paths || !sink->video)
        return false;
    json_t *backend = json_object_get(sink->video, "backend");
    if (sink->pictures && (json_object_set_new(backend, "height_", json_integer(h->height)) != 0 ||
                           json_object_set_new(backend, "width_", json_integer(h->width)) != 0 ||
                           json_object_set_new(backend, "channels_", json_integer(3)) != 0))
        return false;
    if (sink->identities) {
        sink->track_names = sk_calloc((size_t)h->n_classes, sizeof *sink->track_names);
        sink->track_first = sk_calloc((size_t)h->n_classes, sizeof *sink->track_first);
        for (int32_t i = 0; sink->track_names && i < h->n_classes; i++, sink->n_tracks++)
            if (!(sink->track_names[i] = sk_text_utf8_copy(h->class_names[i])))
                return false;
        return sink->track_names && sink->track_first;
    }
    return true;
}

static sk_status open_slp(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    SK_TRY(sk_run_header_needs_shapes(header, "slp", err));
    slp_sink *sink = sk_calloc(1, sizeof *sink);
    if (!sink)
        return sk_fail_memory(err, sizeof *sink);
    sink->base = (sk_sink){&sk_sink_slp, write_frame, flush, close_slp};
    if (!fill(sink, path, header)) {
        (void)!release(sink, SK_ERR_MEMORY, NULL);
        return sk_fail(err, SK_ERR_MEMORY, "%s: out of memory", path);
    }
    sk_hdf5_enter();
    sk_status status = begin_file(sink, header, err);
    sk_hdf5_leave();
    if (status != SK_OK)
        return release(sink, status, NULL);
    *out = &sink->base;
    return SK_OK;
}

const sk_sink_kind sk_sink_slp = {
    .name = "slp",
    .file = "results.slp",
    .help = "SLEAP labels file (SLEAP, sleap-io, sleap-nn)",
    .open = open_slp,
    .takes_turns = true,
};
