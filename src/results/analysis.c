/* SPDX-License-Identifier: Apache-2.0 */
#include "results/hdf5_output.h"
#include "results/sink.h"
#include "results/track_names.h"

#include "base/file.h"
#include "base/text.h"
#include "formats/hdf5_file.h"
#include "formats/json_text.h"

#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SLEAP's analysis file: positions as plain arrays, one row of every array a frame, for MATLAB and Python scripts.
 * Arrays are written transposed, as SLEAP does by default, so that MATLAB sees [frames][nodes][2][tracks]:
 *   tracks [tracks][2][nodes][frames], track_occupancy [frames][tracks], point_scores [tracks][nodes][frames],
 *   instance_scores and tracking_scores [tracks][frames].
 * Without tracks the i-th instance of a frame stands in the i-th row, and track_names is empty, as SLEAP leaves it; with
 * more rows than one they are "instance_0" and so on, because sleap-io opens no file with several rows and no names. The
 * arrays grow with the largest row seen. */

#define BATCH 256
/* Chunks kept unpacked, of each array: with one chunk a track and less room, every frame would unpack and pack them all. */
#define CACHE_BYTES (64u << 20)
#define CACHE_SLOTS 12007

extern const sk_sink_kind sk_sink_analysis;

typedef struct array {
    hid_t dataset;
    int rank;
    int track_axis, frame_axis;
    hsize_t dims[4];
    double fill;
    hid_t type;
} array;

typedef struct analysis_sink {
    sk_sink base;
    char *path;
    hid_t file;
    sk_hdf5_output *output;
    int32_t n_nodes, n_tracks;
    bool centers, identities, tracked;
    array tracks, occupancy, points, instances, tracking;
    sk_track_names named;
} analysis_sink;

static sk_status check(const analysis_sink *sink, const char *what, bool ok, sk_error *err)
{
    return sk_hdf5_output_check(sink->output, sink->path, what, ok, err);
}

static bool array_open(hid_t file, const char *name, hid_t type, double fill, int rank, const hsize_t *dims,
                       int track_axis, int frame_axis, array *a)
{
    hsize_t maximum[4], chunk[4];
    *a =
        (array){.rank = rank, .track_axis = track_axis, .frame_axis = frame_axis, .fill = fill, .type = type};
    for (int i = 0; i < rank; i++) {
        a->dims[i] = dims[i];
        maximum[i] = H5S_UNLIMITED;
        chunk[i] = i == frame_axis ? BATCH : i == track_axis ? 1 : dims[i] ? dims[i] : 1;
    }
    hid_t space = H5Screate_simple(rank, dims, maximum), plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plist, rank, chunk);
    H5Pset_fill_value(plist, H5T_NATIVE_DOUBLE, &fill);
    H5Pset_deflate(plist, 1);
    a->dataset = sk_hdf5_create_dataset(file, name, type, space, plist);
    H5Pclose(plist);
    H5Sclose(space);
    return a->dataset >= 0;
}

static bool array_grow(array *a, hsize_t tracks, hsize_t frames)
{
    if (a->dims[a->track_axis] >= tracks && a->dims[a->frame_axis] >= frames)
        return true;
    if (a->dims[a->track_axis] < tracks)
        a->dims[a->track_axis] = tracks;
    if (a->dims[a->frame_axis] < frames)
        a->dims[a->frame_axis] = frames;
    return H5Dset_extent(a->dataset, a->dims) >= 0;
}

/* Writes one frame's values of tracks that follow each other. */
static bool array_put(array *a, hsize_t track, hsize_t tracks, hsize_t frame, const double *values)
{
    hsize_t start[4] = {0}, count[4], total = 1;
    for (int i = 0; i < a->rank; i++) {
        start[i] = i == a->track_axis ? track : i == a->frame_axis ? frame : 0;
        count[i] = i == a->track_axis ? tracks : i == a->frame_axis ? 1 : a->dims[i];
        total *= count[i];
    }
    hid_t space = H5Dget_space(a->dataset), memory = H5Screate_simple(1, &total, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    bool ok = H5Dwrite(a->dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return ok;
}

/* A list of texts; two a row where `rank` is 2. */
static bool write_names(hid_t file, const char *name, int rank, const char *const *texts, size_t count)
{
    char **valid = sk_calloc(count, sizeof *valid);
    bool ok = valid != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = (valid[i] = sk_text_utf8_copy(texts[i])) != NULL;
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hsize_t rows[2] = {rank == 2 ? count / 2 : count, 2};
    hid_t space = H5Screate_simple(rank, rows, NULL);
    hid_t dataset = ok ? sk_hdf5_create_dataset(file, name, type, space, H5P_DEFAULT) : -1;
    ok = dataset >= 0 && (count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, valid) >= 0);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
    for (size_t i = 0; valid && i < count; i++)
        sk_free(valid[i]);
    sk_free(valid);
    return ok;
}

static bool write_text(hid_t file, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t dataset = sk_hdf5_create_dataset(file, name, type, space, H5P_DEFAULT);
    bool ok = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0;
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
    return ok;
}

/* A frame's numbers, instance after instance as the arrays have them. */
typedef struct frame_values {
    double *places /* [2][nodes] */, *scores /* [nodes] */, *present, *score, *tracking;
} frame_values;

static void take_instance(const analysis_sink *sink, const sk_instances *all, int32_t i,
                          const frame_values *v)
{
    const sk_found *in = &all->items[i];
    const size_t n = (size_t)sink->n_nodes;
    const bool turned = in->has & SK_HAS_OBB;
    double *places = v->places + (size_t)i * 2 * n, *scores = v->scores + (size_t)i * n;
    for (size_t k = 0; k < n; k++) {
        const sk_keypoint *p = sink->centers ? NULL : &all->keypoints[in->first_keypoint + (int32_t)k];
        places[k] = p        ? (double)p->x
                    : turned ? (double)in->obb[0]
                             : ((double)in->box[0] + (double)in->box[2]) / 2;
        places[n + k] = p        ? (double)p->y
                        : turned ? (double)in->obb[1]
                                 : ((double)in->box[1] + (double)in->box[3]) / 2;
        scores[k] = p ? (double)p->score : (double)in->score;
    }
    v->present[i] = 1;
    v->score[i] = (double)in->score;
    v->tracking[i] = (double)in->tracking_score;
}

/* Instances from `first` whose tracks follow each other, `count` of them. */
static bool put_instances(analysis_sink *sink, hsize_t track, size_t first, size_t count, hsize_t row,
                          const frame_values *v)
{
    const size_t n = (size_t)sink->n_nodes;
    return array_put(&sink->tracks, track, count, row, v->places + first * 2 * n) &&
           array_put(&sink->points, track, count, row, v->scores + first * n) &&
           array_put(&sink->occupancy, track, count, row, v->present + first) &&
           array_put(&sink->instances, track, count, row, v->score + first) &&
           array_put(&sink->tracking, track, count, row, v->tracking + first);
}

static int32_t track_of(const analysis_sink *sink, const sk_instances *all, int32_t i)
{
    const sk_found *in = &all->items[i];
    if (sink->identities)
        return in->class_id;
    return in->track_id >= 0 || sink->tracked ? in->track_id
                                              : i; /* of a run with tracks, those without have no row */
}

static bool put_frame(analysis_sink *sink, const sk_instances *all, hsize_t row)
{
    const size_t n = (size_t)sink->n_nodes, count = (size_t)all->count;
    double *memory = sk_calloc(count * (3 * n + 3), sizeof *memory);
    if (!memory)
        return false;
    const frame_values v = {memory, memory + count * 2 * n, memory + count * 3 * n,
                            memory + count * (3 * n + 1), memory + count * (3 * n + 2)};
    for (int32_t i = 0; i < all->count; i++)
        take_instance(sink, all, i, &v);
    bool ok = true;
    for (int32_t i = 0, end; ok && i < all->count; i = end) {
        const int32_t track = track_of(sink, all, i);
        for (end = i + 1; end < all->count && track_of(sink, all, end) == track + (end - i);)
            end++;
        if (track < 0)
            end = i + 1;
        else
            ok = put_instances(sink, (hsize_t)track, (size_t)i, (size_t)(end - i), row, &v);
    }
    sk_free(memory);
    return ok;
}

static bool add_frame(analysis_sink *sink, const sk_result_frame *frame)
{
    if (frame->index < 0)
        return false;
    /* Readers take the row for the frame's number; rows that are never written take no room. */
    hsize_t row = (hsize_t)frame->index, tracks = (hsize_t)sink->n_tracks;
    for (int32_t i = 0; i < frame->instances->count; i++) {
        const int32_t track = track_of(sink, frame->instances, i);
        sink->tracked = sink->tracked || frame->instances->items[i].track_id >= 0;
        if (track >= 0 && (hsize_t)track + 1 > tracks)
            tracks = (hsize_t)track + 1;
        sk_track_names_note(&sink->named, track, frame->instances->items[i].class_id);
    }
    sink->n_tracks = (int32_t)tracks;
    array *arrays[] = {&sink->tracks, &sink->occupancy, &sink->points, &sink->instances, &sink->tracking};
    for (size_t i = 0; i < 5; i++)
        if (!array_grow(arrays[i], tracks, row + 1))
            return false;
    return put_frame(sink, frame->instances, row);
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    analysis_sink *sink = (analysis_sink *)base;
    sk_hdf5_enter();
    bool ok = add_frame(sink, frame);
    sk_hdf5_leave();
    return check(sink, "writing a frame", ok, err);
}

static sk_status flush(sk_sink *base, sk_error *err)
{
    analysis_sink *sink = (analysis_sink *)base;
    sk_hdf5_enter();
    bool ok = H5Fflush(sink->file, H5F_SCOPE_LOCAL) >= 0;
    sk_hdf5_leave();
    return check(sink, "writing", ok, err);
}

/* Ends the sink; its own failure counts where there was no other. */
static sk_status release(analysis_sink *sink, sk_status status, sk_error *err)
{
    sk_hdf5_enter();
    array *arrays[] = {&sink->tracks, &sink->occupancy, &sink->points, &sink->instances, &sink->tracking};
    for (size_t i = 0; i < 5; i++)
        if (arrays[i]->dataset > 0)
            H5Dclose(arrays[i]->dataset);
    if (sink->file > 0)
        H5Fclose(sink->file);
    sk_hdf5_leave();
    if (status == SK_OK)
        status = check(sink, "completing the file", true, err);
    sk_hdf5_output_close(&sink->output);
    sk_track_names_close(&sink->named);
    sk_free(sink->path);
    sk_free(sink);
    return status;
}

/* Tracks are known only at the end. */
static bool write_track_names(analysis_sink *sink, const char *const *identities)
{
    size_t n = !identities && !sink->tracked && sink->n_tracks <= 1 ? 0 : (size_t)sink->n_tracks;
    char(*numbered)[SK_TRACK_NAME] = sk_calloc(n, sizeof *numbered);
    const char **names = sk_calloc(n, sizeof *names);
    bool ok = numbered && names;
    for (size_t i = 0; ok && i < n; i++) {
        snprintf(numbered[i], sizeof numbered[i], "instance_%zu", i);
        names[i] = identities      ? identities[i]
                   : sink->tracked ? sk_track_names_get(&sink->named, (int32_t)i, numbered[i])
                                   : numbered[i];
    }
    ok = ok && write_names(sink->file, "track_names", 1, (const char *const *)names, n);
    sk_free(names);
    sk_free(numbered);
    return ok;
}

static sk_status close_analysis(sk_sink *base, sk_error *err)
{
    analysis_sink *sink = (analysis_sink *)base;
    sk_hdf5_enter();
    bool ok = sink->identities || write_track_names(sink, NULL);
    sk_hdf5_leave();
    sk_status status = ok ? flush(base, err) : check(sink, "completing the file", false, err);
    return release(sink, status, err);
}

static const char *node_name(const sk_run_header *h, int32_t i)
{
    return i >= 0 && i < h->n_keypoints ? h->keypoint_names[i] : "";
}

static bool write_edges(hid_t file, const sk_run_header *h)
{
    size_t count = h->n_keypoints > 0 ? (size_t)h->n_edges : 0;
    hsize_t dims[2] = {count, 2};
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t dataset = sk_hdf5_create_dataset(file, "edge_inds", H5T_NATIVE_INT32, space, H5P_DEFAULT);
    bool ok = dataset >= 0 && (count == 0 || H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL,
                                                      H5P_DEFAULT, h->edges) >= 0);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Sclose(space);
    const char **names = sk_calloc(2 * count, sizeof *names);
    for (size_t i = 0; names && i < 2 * count; i++)
        names[i] = node_name(h, h->edges[i / 2][i % 2]);
    ok = ok && names && write_names(file, "edge_names", 2, names, 2 * count);
    sk_free(names);
    return ok;
}

/* The video from the root: scripts that open this file look for it from anywhere. */
static bool write_video_path(hid_t file, const sk_run_header *h)
{
    bool here = strcmp(h->source_kind, "live") != 0 && sk_file_exists(h->source);
    char *path = here ? sk_path_absolute(h->source) : sk_strdup(h->source);
    char *valid = path ? sk_text_utf8_copy(path) : NULL;
    bool ok = valid && write_text(file, "video_path", valid);
    sk_free(valid);
    sk_free(path);
    return ok;
}

static sk_status begin_file(analysis_sink *sink, const sk_run_header *h, sk_error *err)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_cache(access, 0, CACHE_SLOTS, CACHE_BYTES, 0.75);
    sk_status status = sk_hdf5_output_open(sink->path, access, &sink->output, &sink->file, err);
    H5Pclose(access);
    SK_TRY(status);
    static const char *const center[] = {"center"};
    hsize_t n = (hsize_t)sink->n_nodes, t = (hsize_t)sink->n_tracks;
    char line[2048];
    json_t *provenance =
        json_pack("{s:o}", "skitter", sk_json_text(sk_run_header_line(h, line, sizeof line)));
    char *told = provenance ? json_dumps(provenance, JSON_COMPACT) : NULL;
    bool ok = told && write_text(sink->file, "provenance", told);
    free(told);
    json_decref(provenance);
    ok = ok &&
         array_open(sink->file, "tracks", H5T_NATIVE_DOUBLE, NAN, 4, (hsize_t[]){t, 2, n, 0}, 0, 3,
                    &sink->tracks) &&
         array_open(sink->file, "track_occupancy", H5T_NATIVE_UINT8, 0, 2, (hsize_t[]){0, t}, 1, 0,
                    &sink->occupancy) &&
         array_open(sink->file, "point_scores", H5T_NATIVE_DOUBLE, NAN, 3, (hsize_t[]){t, n, 0}, 0, 2,
                    &sink->points) &&
         array_open(sink->file, "instance_scores", H5T_NATIVE_DOUBLE, NAN, 2, (hsize_t[]){t, 0}, 0, 1,
                    &sink->instances) &&
         array_open(sink->file, "tracking_scores", H5T_NATIVE_DOUBLE, NAN, 2, (hsize_t[]){t, 0}, 0, 1,
                    &sink->tracking) &&
         write_names(sink->file, "node_names", 1, sink->centers ? center : h->keypoint_names,
                     (size_t)sink->n_nodes) &&
         write_edges(sink->file, h) && write_video_path(sink->file, h) &&
         write_text(sink->file, "labels_path", "") &&
         (!sink->identities || write_track_names(sink, h->class_names));
    return check(sink, "creating the file", ok, err);
}

static sk_status open_analysis(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    SK_TRY(sk_run_header_needs_shapes(header, "analysis", err));
    analysis_sink *sink = sk_calloc(1, sizeof *sink);
    if (!sink)
        return sk_fail_memory(err, sizeof *sink);
    sink->base = (sk_sink){&sk_sink_analysis, write_frame, flush, close_analysis};
    sink->path = sk_strdup(path);
    sink->centers = header->n_keypoints == 0;
    sink->n_nodes = sink->centers ? 1 : header->n_keypoints;
    sink->identities = header->identities && !header->tracked;
    sink->tracked = header->tracked;
    sink->n_tracks = sink->identities ? header->n_classes : 0;
    if (!sk_track_names_open(&sink->named, header) || !sink->path) {
        (void)!release(sink, SK_ERR_MEMORY, NULL);
        return sk_fail_memory(err, strlen(path));
    }
    sk_hdf5_enter();
    sk_status status = begin_file(sink, header, err);
    sk_hdf5_leave();
    if (status != SK_OK)
        return release(sink, status, NULL);
    *out = &sink->base;
    return SK_OK;
}

const sk_sink_kind sk_sink_analysis = {
    .name = "analysis",
    .file = "results.analysis.h5",
    .help = "SLEAP analysis HDF5: positions as arrays",
    .open = open_analysis,
    .takes_turns = true,
};
