/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_view_json.h"

#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the run --- */

void sk_run_view_json_corrections(const sk_run_view *view, sk_json *json)
{
    sk_run_view_info info;
    sk_text words = {0};
    sk_run_view_get_info(view, &info);
    const sk_corrections *list = info.corrections;
    sk_json_object(json);
    sk_json_key_array(json, "list");
    for (size_t i = 0; i < list->count; i++) {
        sk_text_clear(&words);
        sk_correction_describe(&list->items[i], &words);
        sk_json_object(json);
        sk_json_key_string(json, "text", sk_text_get(&words));
        sk_json_key(json, "step");
        sk_correction_write(SK_STEP_ADD, &list->items[i], NULL, json);
        sk_json_close(json);
    }
    sk_json_close(json);
    sk_json_key_bool(json, "can_undo", list->count);
    sk_json_key_bool(json, "can_redo", list->undone);
    sk_json_key_string(json, "notice", info.notice[0] ? info.notice : NULL);
    sk_json_close(json);
    sk_text_free(&words);
}

/* A folder, "labels/", is told as the archive that it is sent as: how long that will be nobody knows yet. */
static void put_file(const char *folder, const char *format, const char *name, sk_json *json)
{
    char *path = sk_path_join(folder, name), shown[80];
    const size_t plain = strcspn(name, "/");
    if (path && (name[plain] ? sk_file_is_directory(path) : sk_file_is_regular(path))) {
        snprintf(shown, sizeof shown, "%.*s%s", (int)plain, name, name[plain] ? ".zip" : "");
        sk_json_object(json);
        sk_json_key_string(json, "format", format);
        sk_json_key_string(json, "name", shown);
        sk_json_key(json, "bytes");
        name[plain] ? sk_json_null(json) : sk_json_int(json, sk_file_size(path));
        sk_json_close(json);
    }
    sk_free(path);
}

/* Files of results that lie in the folder. */
static void put_files(const sk_run_view_info *info, sk_json *json)
{
    const sk_sink_kind *const *lists[] = {sk_sink_track_kinds, sk_sink_kinds};
    static const char *const others[][2] = {{"report.html", "report.html"},
                                            {"plots", "plots/"},
                                            {"overlay.mp4", "overlay.mp4"},
                                            {"crops", "crops/"}};
    sk_json_key_array(json, "files");
    for (int l = 0; l < 2; l++)
        for (const sk_sink_kind *const *kind = lists[l]; *kind; kind++)
            put_file(info->folder, (*kind)->name, (*kind)->file, json);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        put_file(info->folder, others[i][0], others[i][1], json);
    sk_json_close(json);
}

const char *sk_run_view_source(const sk_run_view *view)
{
    sk_run_view_info info;
    sk_run_view_get_info(view, &info);
    const char *place = sk_run_record_identity(sk_run_view_record(view), "source_path");
    const bool pictures =
        strcmp(info.header->source_kind, "pictures") == 0; /* a pattern's place is its folder */
    return place && place[0] && (!pictures || sk_file_exists(info.header->source)) ? place
                                                                                   : info.header->source;
}

static void put_source(const sk_run_view *view, const sk_run_view_info *info, bool readable, sk_json *json)
{
    const sk_run_header *h = info->header;
    sk_json_key_object(json, "source");
    sk_json_key_string(json, "path", sk_run_view_source(view));
    sk_json_key_string(json, "given", h->source);
    sk_json_key_string(json, "kind", h->source_kind);
    sk_json_key_ints(json, {"frames", info->last + 1}, {"width", h->width}, {"height", h->height});
    sk_json_key_float(json, "fps", h->rate);
    sk_json_key_bool(json, "readable", readable && strcmp(h->source_kind, "live") != 0);
    sk_json_close(json);
}

void sk_run_view_json_members(const sk_run_view *view, bool readable, sk_json *json)
{
    sk_run_view_info info;
    sk_run_view_get_info(view, &info);
    const sk_run_header *h = info.header;
    sk_json_key_strings(json, {"folder", info.folder}, {"command", h->tracked ? "track" : "predict"},
                        {"state", info.state}, {"told_by", info.told_by}, {"task", h->task},
                        {"started", h->started}, {"skitter", h->version}, {"runtime", h->runtime},
                        {"runtime_requested", h->runtime_requested}, {"device", h->device},
                        {"settings", h->settings});
    sk_json_key_bool(json, "complete", strcmp(info.state, "running") != 0);
    sk_json_key_bool(json, "tracked", info.tracked);
    sk_json_key(json, "tracks");
    if (info.tracks < 0)
        sk_json_null(json);
    else
        sk_json_int(json, info.tracks);
    put_source(view, &info, readable, json);
    sk_json_key_ints(json, {"frames", info.frames}, {"first", info.first}, {"last", info.last});
    sk_json_key_array(json, "classes");
    for (int32_t i = 0; i < h->n_classes; i++)
        sk_json_string(json, h->class_names[i]);
    sk_json_close(json);
    sk_json_key_object(json, "skeleton");
    sk_run_header_keypoints(h, "names", json);
    sk_json_close(json);
    put_files(&info, json);
    sk_json_key(json, "corrections");
    sk_run_view_json_corrections(view, json);
}

void sk_run_view_json_info(const sk_run_view *view, bool readable, sk_json *json)
{
    sk_json_object(json);
    sk_run_view_json_members(view, readable, json);
    sk_json_close(json);
}

/* --- frames --- */

/* cx, cy, w, h, angle: of the oriented box, or of the upright one. */
static void put_box(const sk_found *in, sk_json *json)
{
    const float *b = in->box;
    const float upright[5] = {(b[0] + b[2]) / 2, (b[1] + b[3]) / 2, b[2] - b[0], b[3] - b[1], 0};
    const float *box = in->has & SK_HAS_OBB ? in->obb : upright;
    if (!(in->has & (SK_HAS_BOX | SK_HAS_OBB)))
        return;
    sk_json_key_array(json, "box");
    for (int i = 0; i < 5; i++)
        sk_json_float(json, (double)box[i]);
    sk_json_close(json);
}

static void put_keypoints(const sk_result_frame *f, const sk_found *in, sk_json *json)
{
    const sk_keypoint *p = f->instances->keypoints + in->first_keypoint;
    sk_json_key_array(json, "keypoints");
    for (int32_t k = 0; k < f->instances->n_keypoints; k++) {
        if (!isfinite(p[k].x) || !isfinite(p[k].y)) {
            sk_json_null(json);
            continue;
        }
        sk_json_array(json);
        sk_json_float(json, (double)p[k].x);
        sk_json_float(json, (double)p[k].y);
        sk_json_float(json, (double)p[k].score);
        sk_json_close(json);
    }
    sk_json_close(json);
}

static void put_instance(const sk_run_view_info *info, const sk_result_frame *f, int32_t i, sk_json *json)
{
    const sk_found *in = &f->instances->items[i];
    const sk_run_header *h = info->header;
    const sk_sighting *s = f->sightings ? &f->sightings[i] : NULL;
    const char *name = in->track_id >= 0 ? sk_corrections_name(info->corrections, in->track_id) : NULL;
    sk_json_object(json);
    if (in->track_id >= 0)
        sk_json_key_int(json, "track", in->track_id);
    if (name)
        sk_json_key_string(json, "name", name);
    sk_json_key_int(json, "class", in->class_id);
    if (in->class_id >= 0 && in->class_id < h->n_classes)
        sk_json_key_string(json, "label", h->class_names[in->class_id]);
    sk_json_key_float(json, "score", (double)in->score);
    put_box(in, json);
    if (in->has & SK_HAS_KEYPOINTS)
        put_keypoints(f, in, json);
    if (s) {
        sk_json_key_string(json, "state", sk_track_state_name(s->state));
        sk_json_key_floats(json, {"x", s->x}, {"y", s->y}, {"heading", s->heading},
                           {"certainty", s->certainty});
    }
    sk_json_close(json);
}

static void put_frame(const sk_run_view_info *info, const sk_result_frame *f, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_int(json, "frame", f->index);
    sk_json_key_float(json, "time", f->time);
    if (strcmp(info->header->source_kind, "pictures") == 0)
        sk_json_key_string(json, "source", f->source);
    if (f->problem)
        sk_json_key_string(json, "problem", f->problem);
    sk_json_key_int(json, "width", f->width);
    sk_json_key_int(json, "height", f->height);
    sk_json_key_array(json, "instances");
    for (int32_t i = 0; i < f->instances->count; i++)
        put_instance(info, f, i, json);
    sk_json_close(json);
    sk_json_close(json);
}

sk_status sk_run_view_json_frames(sk_run_view *view, int64_t from, int64_t to, int32_t most, sk_json *json,
                                  sk_error *err)
{
    sk_run_view_info info;
    sk_run_view_get_info(view, &info);
    int64_t place = sk_run_view_place(view, from), frame = sk_run_view_number(view, place);
    sk_json_object(json);
    sk_json_key_array(json, "frames");
    for (int32_t n = 0; n < most && frame >= 0 && frame <= to; n++) {
        sk_result_frame f;
        SK_TRY(sk_run_view_frame(view, frame, &f, err));
        put_frame(&info, &f, json);
        frame = sk_run_view_number(view, ++place);
    }
    sk_json_close(json);
    sk_json_key(json, "next");
    if (frame >= 0 && frame <= to)
        sk_json_int(json, frame);
    else
        sk_json_null(json);
    sk_json_close(json);
    return SK_OK;
}

/* --- tracks --- */

static int by_number(const sk_movement *m, size_t i)
{
    return m->tracks[i].track;
}

static void put_track(const sk_run_view_info *info, const sk_movement_track *t, sk_json *json)
{
    const char *name = sk_corrections_name(info->corrections, t->track);
    int64_t told = 0;
    for (size_t i = 0; i < t->n_spans; i++)
        told += t->spans[i].last - t->spans[i].first + 1;
    sk_json_object(json);
    sk_json_key_int(json, "id", t->track);
    sk_json_key_string(json, "name", name ? name : "");
    sk_json_key_ints(json, {"first", t->first}, {"last", t->last}, {"seen", t->seen},
                     {"covered", told > t->seen ? told - t->seen : 0}, {"gaps", t->gaps},
                     {"longest_gap", t->longest_gap});
    sk_json_key_floats(json, {"distance", t->distance}, {"seconds", t->seconds},
                       {"speed", t->seconds > 0 ? t->distance / t->seconds : NAN},
                       {"median_speed", sk_movement_speed(t, 0.5)}, {"top_speed", t->top_speed},
                       {"body", t->body});
    sk_json_close(json);
}

sk_status sk_run_view_json_tracks(sk_run_view *view, sk_json *json, sk_error *err)
{
    const sk_movement *m;
    const sk_suspects *suspects;
    sk_run_view_info info;
    SK_TRY(sk_run_view_movement(view, &m, &suspects, err));
    sk_run_view_get_info(view, &info);
    sk_json_object(json);
    sk_json_key_array(json, "tracks");
    int last = -1;
    for (size_t done = 0; done < m->n_tracks; done++) { /* by number: they come by their first frame */
        size_t next = m->n_tracks;
        for (size_t i = 0; i < m->n_tracks; i++)
            if (by_number(m, i) > last && (next == m->n_tracks || by_number(m, i) < by_number(m, next)))
                next = i;
        if (next == m->n_tracks)
            break;
        last = by_number(m, next);
        put_track(&info, &m->tracks[next], json);
    }
    sk_json_close(json);
    sk_json_key_int(json, "frames", m->frames);
    sk_json_close(json);
    return SK_OK;
}

/* --- moments --- */

const char *sk_suspect_words(const sk_suspect *s, char *buffer, size_t capacity)
{
    static const struct {
        uint32_t bit;
        const char *words;
    } all[] = {{SK_SUSPECT_TOUCHED, "they touched"},
               {SK_SUSPECT_UNSEEN, "one was not seen"},
               {SK_SUSPECT_UNSURE, "the assignment was not sure"},
               {SK_SUSPECT_JUMPED, "one jumped"}};
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t used = strlen(buffer);
        if (s->why & all[i].bit)
            snprintf(buffer + used, capacity - used, "%s%s", used ? ", " : "", all[i].words);
    }
    return buffer;
}

sk_status sk_run_view_json_suspects(sk_run_view *view, sk_json *json, sk_error *err)
{
    const sk_movement *m;
    const sk_suspects *suspects;
    char words[160];
    SK_TRY(sk_run_view_movement(view, &m, &suspects, err));
    sk_json_object(json);
    sk_json_key_int(json, "count", suspects->count);
    sk_json_key_array(json, "suspects");
    for (int32_t i = 0; i < suspects->n_worst; i++) {
        const sk_suspect *s = &suspects->worst[i];
        sk_json_object(json);
        sk_json_key_ints(json, {"frame", s->frame}, {"first", s->first}, {"last", s->last});
        sk_json_key_array(json, "tracks");
        sk_json_int(json, s->a);
        if (s->b >= 0)
            sk_json_int(json, s->b);
        sk_json_close(json);
        sk_json_key_floats(json, {"x", s->x}, {"y", s->y}, {"distance", s->distance},
                           {"certainty", s->certainty}, {"weight", s->weight});
        sk_json_key_string(json, "text", sk_suspect_words(s, words, sizeof words));
        sk_json_close(json);
    }
    sk_json_close(json);
    sk_json_close(json);
    return SK_OK;
}
