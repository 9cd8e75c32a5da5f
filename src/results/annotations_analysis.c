/* SPDX-License-Identifier: Apache-2.0 */
#include "results/annotations_analysis.h"

#include "base/memory.h"
#include "formats/config.h"

#include <math.h>
#include <string.h>

/* SLEAP's analysis file: tracks [tracks][2][nodes][frames], or the other way round, [frames][nodes][2][tracks], where it was
 * written for Python; sleap-io writes any order and names it in the attribute "dims". Scores have the same order. Where nothing
 * names it, the number of nodes says which one it is, and where that is 2, how many names the tracks have. */

#define MAX_BYTES   ((size_t)1 << 30)
#define MOST_FRAMES 2000000

enum { TRACK, XY, NODE, FRAME, AXES };

typedef struct array {
    sk_blob *blob; /* null: not in the file */
    sk_shape shape;
    int64_t step[AXES]; /* elements from one to the next; 0: the array has no such axis */
} array;

typedef struct reader {
    const char *path;
    sk_hdf5_file *file;
    sk_annotation_set *set;
    array places, points, instances, present;
    int axis[AXES]; /* of `places`: which one is which */
    int64_t size[AXES];
    bool tracked; /* rows are tracks, not the i-th instance of each frame */
} reader;

static sk_status wrong(const reader *r, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: HDF5, but not SLEAP's analysis file: %s", r->path, why);
}

static sk_status load(reader *r, const char *name, array *out, sk_error *err)
{
    return sk_hdf5_exists(r->file, name)
               ? sk_hdf5_dataset_read(r->file, name, SK_DTYPE_F64, MAX_BYTES, &out->blob, &out->shape, err)
               : SK_OK;
}

/* NaN where the file has no such array. */
static double value(const array *a, int64_t track, int64_t part, int64_t node, int64_t frame)
{
    return a->blob ? ((const double *)sk_blob_data(a->blob))[track * a->step[TRACK] + part * a->step[XY] +
                                                             node * a->step[NODE] + frame * a->step[FRAME]]
                   : NAN;
}

/* "dims": ["track", "xy", "node", "frame"] */
static bool named_axes(const reader *r, int axis[AXES])
{
    static const char *const names[AXES] = {"\"track\"", "\"xy\"", "\"node\"", "\"frame\""};
    char *text = NULL;
    if (!sk_hdf5_has_attribute(r->file, "tracks", "dims") ||
        sk_hdf5_attribute_text(r->file, "tracks", "dims", &text, NULL) != SK_OK)
        return false;
    const char *at[AXES];
    bool all = true;
    for (int i = 0; i < AXES; i++)
        all = (at[i] = strstr(text, names[i])) != NULL && all;
    for (int i = 0; all && i < AXES; i++) {
        axis[i] = 0;
        for (int k = 0; k < AXES; k++)
            axis[i] += at[k] < at[i];
    }
    sk_free(text);
    return all;
}

/* Who is there: [frames][tracks] in what SLEAP and sleap-io write, unless its size says that it is the other way round. */
static void set_present(const reader *r, array *a)
{
    const sk_shape *s = &a->shape;
    bool usual = s->rank == 2 && s->dim[0] == r->size[FRAME] && s->dim[1] == r->size[TRACK];
    bool round = s->rank == 2 && s->dim[1] == r->size[FRAME] && s->dim[0] == r->size[TRACK];
    a->step[FRAME] = usual ? r->size[TRACK] : 1;
    a->step[TRACK] = usual ? 1 : r->size[FRAME];
    if (!usual && !round)
        sk_blob_unref(&a->blob);
}

static sk_status find_axes(reader *r, int64_t nodes, int64_t names, sk_error *err)
{
    const sk_shape *s = &r->places.shape;
    if (!r->places.blob || s->rank != AXES)
        return wrong(r, "'tracks' has not four axes", err);
    bool plain = s->dim[1] == 2 && s->dim[2] == nodes, round = s->dim[2] == 2 && s->dim[1] == nodes;
    if (!named_axes(r, r->axis)) {
        bool turned = !plain || (round && names > 0 && s->dim[0] != names && s->dim[3] == names);
        for (int i = 0; i < AXES; i++)
            r->axis[i] = turned ? AXES - 1 - i : i;
    }
    for (int i = 0; i < AXES; i++)
        r->size[i] = s->dim[r->axis[i]];
    return r->size[XY] == 2 && r->size[NODE] == nodes
               ? SK_OK
               : wrong(r, "'tracks' is not as large as its nodes' names say", err);
}

/* Steps of an array that has these axes, in the order that `places` has them. One of another size is not used. */
static void set_steps(const reader *r, const bool has[AXES], array *a)
{
    int64_t step = 1;
    for (int place = AXES - 1; place >= 0; place--)
        for (int i = 0; i < AXES; i++)
            if (r->axis[i] == place && has[i]) {
                a->step[i] = step;
                step *= r->size[i];
            }
    int64_t count = a->blob ? 1 : step;
    for (int k = 0; a->blob && k < a->shape.rank; k++)
        count *= a->shape.dim[k];
    if (count != step)
        sk_blob_unref(&a->blob);
}

/* Rows called "instance_0" and so on are skitter's for files without tracks. */
static bool are_tracks(const sk_hdf5_texts *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (strncmp(sk_hdf5_text_at(names, i), "instance_", 9) != 0)
            return true;
    return false;
}

static sk_status read_names(reader *r, int64_t *n_nodes, int64_t *tracks, sk_error *err)
{
    sk_hdf5_texts nodes = {0}, names = {0};
    const char **texts = NULL;
    sk_status status = SK_OK;
    SK_TRY_GOTO(sk_hdf5_dataset_texts(r->file, "node_names", &nodes, err));
    if (sk_hdf5_exists(r->file, "track_names"))
        SK_TRY_GOTO(sk_hdf5_dataset_texts(r->file, "track_names", &names, err));
    if (nodes.count < 1 || nodes.count > SK_ANNOTATION_MAX_KEYPOINTS) {
        status = wrong(r, "it has no nodes, or too many", err);
        goto done;
    }
    texts = sk_calloc(nodes.count, sizeof *texts);
    if (!texts) {
        status = sk_fail_memory(err, nodes.count * sizeof *texts);
        goto done;
    }
    for (size_t i = 0; i < nodes.count; i++)
        texts[i] = sk_hdf5_text_at(&nodes, i);
    *n_nodes = (int64_t)nodes.count;
    r->tracked = are_tracks(&names);
    *tracks = (int64_t)names.count;
    status = sk_annotations_keypoints(r->set, (int32_t)nodes.count, texts, err);
done:
    sk_free(texts);
    sk_free(nodes.bytes);
    sk_free(names.bytes);
    return status;
}

static sk_status read_source(reader *r, int32_t *out, sk_error *err)
{
    sk_hdf5_texts path = {0};
    if (sk_hdf5_exists(r->file, "video_path"))
        SK_TRY(sk_hdf5_dataset_texts(r->file, "video_path", &path, err));
    const char *name = path.count ? sk_hdf5_text_at(&path, 0) : "";
    sk_status status = sk_annotations_source(r->set, name, strlen(name), out, err);
    sk_free(path.bytes);
    return status;
}

/* sleap-io keeps what it knows about the video, as text. */
static void read_rate(reader *r)
{
    char *text = NULL;
    sk_config *config = NULL;
    double rate = 0;
    if (sk_hdf5_has_attribute(r->file, "/", "video_backend_metadata") &&
        sk_hdf5_attribute_text(r->file, "/", "video_backend_metadata", &text, NULL) == SK_OK &&
        sk_config_open_json(text, strlen(text), r->path, &config, NULL) == SK_OK)
        rate = sk_config_real_or(sk_config_root(config), "fps", 0);
    r->set->rate = rate > 0 && rate <= 1e6 ? rate : 0;
    sk_config_close(&config);
    sk_free(text);
}

static sk_status read_instance(reader *r, int64_t track, int64_t frame, int32_t image, sk_error *err)
{
    bool there = false;
    if (value(&r->present, track, 0, 0, frame) == 0)
        return SK_OK;
    for (int64_t k = 0; k < r->size[NODE] && !there; k++)
        there = isfinite(value(&r->places, track, 0, k, frame)) &&
                isfinite(value(&r->places, track, 1, k, frame));
    if (!there)
        return SK_OK;
    int32_t class_id;
    sk_annotation *a;
    SK_TRY(sk_annotations_class(r->set, -1, "", 0, &class_id, err));
    SK_TRY(sk_annotations_add(r->set, image, class_id, true, &a, err));
    a->track = r->tracked ? track : -1;
    double sure = value(&r->instances, track, 0, 0, frame);
    a->score = isfinite(sure) ? sure : 1;
    for (int64_t k = 0; k < r->size[NODE]; k++) {
        double x = value(&r->places, track, 0, k, frame), y = value(&r->places, track, 1, k, frame);
        double s = value(&r->points, track, 0, k, frame);
        bool found = isfinite(x) && isfinite(y);
        r->set->points[a->first + (size_t)k] =
            (sk_annotation_point){found ? x : NAN, found ? y : NAN, isfinite(s) ? s : 1, found ? 2 : 0};
    }
    return SK_OK;
}

static sk_status read_all(reader *r, sk_error *err)
{
    int64_t nodes = 0, names = 0;
    int32_t source, image;
    SK_TRY(read_names(r, &nodes, &names, err));
    SK_TRY(load(r, "tracks", &r->places, err));
    SK_TRY(load(r, "point_scores", &r->points, err));
    SK_TRY(load(r, "instance_scores", &r->instances, err));
    SK_TRY(load(r, "track_occupancy", &r->present, err));
    SK_TRY(find_axes(r, nodes, names, err));
    set_steps(r, (const bool[AXES]){true, true, true, true}, &r->places);
    set_steps(r, (const bool[AXES]){true, false, true, true}, &r->points);
    set_steps(r, (const bool[AXES]){true, false, false, true}, &r->instances);
    set_present(r, &r->present);
    SK_TRY(read_source(r, &source, err));
    read_rate(r);
    if (r->size[FRAME] > MOST_FRAMES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %lld frames; at most %d are read", r->path,
                       (long long)r->size[FRAME], MOST_FRAMES);
    r->set->has = SK_HAS_KEYPOINTS;
    r->set->every_frame = true;
    for (int64_t f = 0; f < r->size[FRAME]; f++) {
        SK_TRY(sk_annotations_image(r->set, source, f, -1, &image, err));
        for (int64_t t = 0; t < r->size[TRACK]; t++)
            SK_TRY(read_instance(r, t, f, image, err));
    }
    return SK_OK;
}

bool sk_annotations_is_analysis(sk_hdf5_file *file)
{
    return sk_hdf5_exists(file, "tracks") && sk_hdf5_exists(file, "node_names");
}

sk_status sk_annotations_read_analysis(const char *path, sk_hdf5_file *file, sk_annotation_set *set,
                                       sk_error *err)
{
    reader r = {.path = path, .file = file, .set = set};
    set->format = "SLEAP analysis";
    sk_status status = read_all(&r, err);
    sk_blob_unref(&r.places.blob);
    sk_blob_unref(&r.points.blob);
    sk_blob_unref(&r.instances.blob);
    sk_blob_unref(&r.present.blob);
    return status;
}
