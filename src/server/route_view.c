/* SPDX-License-Identifier: Apache-2.0 */
#include "app/correct.h"
#include "app/run_view_json.h"
#include "base/file.h"
#include "server/pictures.h"
#include "server/routes.h"
#include "server/views.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MOST 2000

/* The view of the folder that is named; the caller leaves it. */
static sk_status enter(sk_server *server, const char *folder, sk_run_view **view, sk_error *err)
{
    char *real = NULL;
    *view = NULL;
    if (!folder || !folder[0])
        return sk_fail(err, SK_ERR_ARG, "folder= names a run's folder");
    SK_TRY(sk_roots_resolve(&server->roots, folder, &real, err));
    sk_status status = sk_views_enter(server->views, real, view, err);
    sk_free(real);
    return status;
}

/* --- what there is --- */

static void put_formats(sk_json *j, bool tracked)
{
    sk_json_key_array(j, "formats");
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++)
        if (sk_download_is_made(*kind))
            sk_json_string(j, (*kind)->name);
    for (const sk_sink_kind *const *kind = sk_sink_track_kinds; *kind && tracked; kind++)
        if (sk_download_is_made(*kind))
            sk_json_string(j, (*kind)->name);
    sk_json_close(j);
}

/* A video outside the folders that may be used is none that can be read here. */
static sk_status put_info(sk_server *server, const sk_run_view *view, sk_reply *reply, sk_error *err)
{
    char *source = NULL;
    sk_run_view_info info;
    sk_run_view_get_info(view, &info);
    const bool allowed = sk_views_source(server, view, &source, NULL) == SK_OK;
    sk_free(source);
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_run_view_json_members(view, allowed, &j);
    put_formats(&j, info.tracked);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

sk_status sk_serve_view(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_run_view *view = NULL;
    SK_TRY(enter(server, sk_request_query(r, "folder"), &view, err));
    const sk_status status = put_info(server, view, reply, err);
    sk_views_leave(server->views, view);
    return status;
}

sk_status sk_serve_view_frames(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_run_view *view = NULL;
    int64_t from = 0, to = 0;
    SK_TRY(sk_request_query_int(r, "from", 0, INT64_MAX / 2, 0, &from, err));
    SK_TRY(sk_request_query_int(r, "to", from, INT64_MAX / 2, from, &to, err));
    SK_TRY(enter(server, sk_request_query(r, "folder"), &view, err));
    sk_json j = sk_reply_json(reply);
    sk_status status = sk_run_view_json_frames(view, from, to, FRAMES_MOST, &j, err);
    sk_views_leave(server->views, view);
    return status == SK_OK ? sk_json_end(&j, err) : status;
}

/* All that a view has of one kind. */
static sk_status serve_whole(sk_server *server, const sk_request *r, sk_reply *reply,
                             sk_status (*put)(sk_run_view *view, sk_json *j, sk_error *err), sk_error *err)
{
    sk_run_view *view = NULL;
    SK_TRY(enter(server, sk_request_query(r, "folder"), &view, err));
    sk_json j = sk_reply_json(reply);
    sk_status status = put(view, &j, err);
    sk_views_leave(server->views, view);
    return status == SK_OK ? sk_json_end(&j, err) : status;
}

sk_status sk_serve_view_tracks(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    return serve_whole(server, r, reply, sk_run_view_json_tracks, err);
}

sk_status sk_serve_view_suspects(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    return serve_whole(server, r, reply, sk_run_view_json_suspects, err);
}

/* "3,5,7" */
static sk_status read_tracks(const char *text, int32_t tracks[SK_RUN_PLOT_TRACKS], int32_t *n, sk_error *err)
{
    *n = 0;
    while (text && *text) {
        char *end = NULL;
        const long value = strtol(text, &end, 10);
        if (end == text || (*end && *end != ',') || value < 0 || value > INT32_MAX)
            return sk_fail(err, SK_ERR_ARG, "tracks=: numbers of tracks, parted by commas");
        if (*n == SK_RUN_PLOT_TRACKS)
            return sk_fail(err, SK_ERR_ARG, "tracks=: at most %d", SK_RUN_PLOT_TRACKS);
        tracks[(*n)++] = (int32_t)value;
        text = end + (*end == ',');
    }
    return SK_OK;
}

sk_status sk_serve_view_series(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_run_view *view = NULL;
    int32_t tracks[SK_RUN_PLOT_TRACKS];
    int64_t points = 0;
    sk_run_plot plot = {.kind = sk_request_query(r, "kind"), .tracks = tracks, .to = -1};
    if (!plot.kind)
        return sk_fail(err, SK_ERR_ARG, "kind= is trajectory, speed, heading, occupancy or distance");
    SK_TRY(read_tracks(sk_request_query(r, "tracks"), tracks, &plot.n_tracks, err));
    SK_TRY(sk_request_query_int(r, "points", 1, 20000, 800, &points, err));
    SK_TRY(sk_request_query_int(r, "from", 0, INT64_MAX / 2, 0, &plot.from, err));
    SK_TRY(sk_request_query_int(r, "to", -1, INT64_MAX / 2, -1, &plot.to, err));
    plot.points = (int32_t)points;
    SK_TRY(enter(server, sk_request_query(r, "folder"), &view, err));
    sk_json j = sk_reply_json(reply);
    sk_status status = sk_run_view_json_plot(view, &plot, &j, err);
    sk_views_leave(server->views, view);
    return status == SK_OK ? sk_json_end(&j, err) : status;
}

sk_status sk_serve_view_picture(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_run_view *view = NULL;
    char *source = NULL, *topic = NULL;
    SK_TRY(enter(server, sk_request_query(r, "folder"), &view, err));
    sk_status status = sk_views_source(server, view, &source, err);
    const char *said = sk_run_record_identity(sk_run_view_record(view), "topic"); /* of a bag */
    if (status == SK_OK && said && said[0]) {
        topic = sk_strdup(said);
        status = topic ? SK_OK : sk_fail_memory(err, strlen(said) + 1);
    }
    sk_views_leave(server->views, view); /* decoding needs the video alone */
    if (status == SK_OK)
        status = sk_serve_picture_of(server, r, source, topic, reply, err);
    sk_free_all(source, topic);
    return status;
}

/* --- corrections --- */

/* A frame's number; `fallback` where none is named. */
static sk_status read_frame(const sk_config_value *body, const char *name, int64_t fallback, int64_t *out,
                            sk_error *err)
{
    const sk_config_value *value = sk_config_get(body, name);
    *out = fallback;
    if (!value || sk_config_is_null(value))
        return SK_OK;
    if (!sk_config_is(value, SK_CONFIG_INT))
        return sk_fail(err, SK_ERR_ARG, "\"%s\" is the number of a frame", name);
    *out = value->u.integer;
    return SK_OK;
}

static sk_status read_correction(const sk_config_value *body, sk_correction *c, sk_error *err)
{
    static const char *const kinds[] = {[SK_CORRECTION_SWAP] = "swap",
                                        [SK_CORRECTION_DELETE] = "delete",
                                        [SK_CORRECTION_MERGE] = "merge",
                                        [SK_CORRECTION_RENAME] = "rename"};
    const char *kind = sk_config_text_or(body, "kind", ""), *name = sk_config_text_or(body, "name", "");
    int k = SK_CORRECTION_SWAP;
    while (k <= SK_CORRECTION_RENAME && strcmp(kinds[k], kind) != 0)
        k++;
    const int64_t a = sk_config_int_or(body, "a", -1), b = sk_config_int_or(body, "b", -1);
    const int64_t prefer = sk_config_int_or(body, "prefer", -1);
    if (k > SK_CORRECTION_RENAME)
        return sk_fail(err, SK_ERR_ARG, "\"kind\" is swap, delete, merge or rename");
    if (a < 0 || a > INT32_MAX || b > INT32_MAX || prefer > INT32_MAX || b < -1 || prefer < -1)
        return sk_fail(err, SK_ERR_ARG, "\"a\" and \"b\" are numbers of tracks");
    if (strlen(name) >= SK_CORRECTION_NAME)
        return sk_fail(err, SK_ERR_ARG, "a name has at most %d bytes", SK_CORRECTION_NAME - 1);
    const bool two = k == SK_CORRECTION_SWAP || k == SK_CORRECTION_MERGE;
    *c = (sk_correction){.kind = (sk_correction_kind)k,
                         .a = (int32_t)a,
                         .b = two ? (int32_t)b : -1,
                         .prefer = (int32_t)prefer};
    memcpy(c->name, name, strlen(name) + 1);
    SK_TRY(read_frame(body, "frame", 0, &c->from, err));
    return read_frame(body, "to", -1, &c->to, err);
}

static sk_status step(sk_server *server, const sk_request *r, sk_correction_step what, sk_reply *reply,
                      sk_error *err)
{
    sk_config *body = NULL;
    sk_run_view *view = NULL;
    sk_correction correction;
    sk_status status;
    SK_TRY(sk_request_json(r, &body, err));
    const sk_config_value *root = sk_config_root(body);
    if (what == SK_STEP_ADD)
        SK_TRY_GOTO(read_correction(root, &correction, err));
    SK_TRY_GOTO(enter(server, sk_config_text(sk_config_get(root, "folder")), &view, err));
    SK_TRY_GOTO(sk_correct_step(view, what, what == SK_STEP_ADD ? &correction : NULL, err));
    sk_json j = sk_reply_json(reply);
    sk_run_view_json_corrections(view, &j);
    status = sk_json_end(&j, err);
done:
    sk_views_leave(server->views, view);
    sk_config_close(&body);
    return status;
}

sk_status sk_serve_view_correct(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    return step(server, r, SK_STEP_ADD, reply, err);
}

sk_status sk_serve_view_undo(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    return step(server, r, SK_STEP_UNDO, reply, err);
}

sk_status sk_serve_view_redo(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    return step(server, r, SK_STEP_REDO, reply, err);
}
