/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_view_json.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define DEFAULT_TRACKS 12
#define PAIR_TRACKS    8 /* of which distances are told: 28 pairs */
#define PI             3.14159265358979323846

typedef double (*point_member)(const sk_run_point *point);

static double x_of(const sk_run_point *p)
{
    return p->x;
}

static double y_of(const sk_run_point *p)
{
    return p->y;
}

static double speed_of(const sk_run_point *p)
{
    return p->speed;
}

static double distance_of(const sk_run_point *p)
{
    return p->distance;
}

/* Degrees, -180 to 180. */
static double heading_of(const sk_run_point *p)
{
    return remainder(p->heading, 2 * PI) * 180 / PI;
}

static void put_column(const char *key, point_member get, const sk_run_point *points, int32_t n,
                       sk_json *json)
{
    sk_json_key_array(json, key);
    for (int32_t i = 0; i < n; i++)
        sk_json_float(json, get(&points[i]));
    sk_json_close(json);
}

/* A track's line, or that of a pair. */
static sk_status put_line(sk_run_view *view, const sk_run_plot *plot, int32_t track, int32_t other,
                          sk_run_point *points, sk_json *json, sk_error *err)
{
    const sk_run_series which = {track, other, plot->from, plot->to, plot->points};
    int32_t n = 0;
    SK_TRY(sk_run_view_series(view, &which, points, &n, err));
    sk_json_object(json);
    sk_json_key_int(json, other < 0 ? "id" : "a", track);
    if (other >= 0)
        sk_json_key_int(json, "b", other);
    sk_json_key_array(json, "frame");
    for (int32_t i = 0; i < n; i++)
        sk_json_int(json, points[i].frame);
    sk_json_close(json);
    if (strcmp(plot->kind, "trajectory") == 0) {
        put_column("x", x_of, points, n, json);
        put_column("y", y_of, points, n, json);
    } else {
        put_column("value",
                   other >= 0                           ? distance_of
                   : strcmp(plot->kind, "heading") == 0 ? heading_of
                                                        : speed_of,
                   points, n, json);
    }
    sk_json_close(json);
    return SK_OK;
}

static sk_status put_lines(sk_run_view *view, const sk_run_plot *plot, const int32_t *tracks, int32_t n,
                           sk_json *json, sk_error *err)
{
    const bool pairs = strcmp(plot->kind, "distance") == 0;
    const char *unit = pairs ? "px" : strcmp(plot->kind, "heading") == 0 ? "°" : "px/s";
    const size_t bytes =
        (size_t)(plot->points > 0 && plot->points <= 100000 ? plot->points : 1) * sizeof(sk_run_point);
    sk_run_point *points = sk_malloc(bytes);
    sk_status status = points ? SK_OK : sk_fail_memory(err, bytes);
    sk_json_object(json);
    if (strcmp(plot->kind, "trajectory") != 0)
        sk_json_key_string(json, "unit", unit);
    sk_json_key_array(json, "series");
    for (int32_t i = 0; i < n && status == SK_OK && !pairs; i++)
        status = put_line(view, plot, tracks[i], -1, points, json, err);
    for (int32_t i = 0; i < n && i < PAIR_TRACKS && pairs; i++)
        for (int32_t k = i + 1; k < n && k < PAIR_TRACKS && status == SK_OK; k++)
            status = put_line(view, plot, tracks[i], tracks[k], points, json, err);
    sk_json_close(json);
    sk_json_close(json);
    sk_free(points);
    return status;
}

static void put_cells(const sk_movement *m, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_ints(json, {"columns", m->columns}, {"rows", m->rows}, {"width", m->width},
                     {"height", m->height});
    sk_json_key_array(json, "counts");
    for (int32_t i = 0; i < m->columns * m->rows; i++)
        sk_json_int(json, m->occupancy[i]);
    sk_json_close(json);
    sk_json_close(json);
}

sk_status sk_run_view_json_plot(sk_run_view *view, const sk_run_plot *plot, sk_json *json, sk_error *err)
{
    static const char *const kinds[] = {"trajectory", "speed", "heading", "distance"};
    const sk_movement *m;
    const sk_suspects *suspects;
    int32_t first[DEFAULT_TRACKS], n = 0;
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        known = known || strcmp(plot->kind, kinds[i]) == 0;
    if (!known && strcmp(plot->kind, "occupancy") != 0)
        return sk_fail(err, SK_ERR_ARG,
                       "'%.40s' is no plot; there are trajectory, speed, heading, distance and occupancy",
                       plot->kind);
    if (plot->n_tracks > SK_RUN_PLOT_TRACKS)
        return sk_fail(err, SK_ERR_ARG, "%d tracks in one plot: at most %d", plot->n_tracks,
                       SK_RUN_PLOT_TRACKS);
    if (!known || !plot->n_tracks)
        SK_TRY(sk_run_view_movement(view, &m, &suspects, err));
    if (!known) {
        put_cells(m, json);
        return SK_OK;
    }
    if (plot->n_tracks)
        return put_lines(view, plot, plot->tracks, plot->n_tracks, json, err);
    for (size_t i = 0; i < m->n_tracks && n < DEFAULT_TRACKS; i++)
        first[n++] = m->tracks[i].track;
    return put_lines(view, plot, first, n, json, err);
}
