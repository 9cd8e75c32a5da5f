/* SPDX-License-Identifier: Apache-2.0 */
#include "app/correct.h"
#include "app/run_view_internal.h"
#include "app/run_view_json.h"
#include "app/track_given.h"
#include "app/track_recorded.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run of its own (track_given.h) whose frames are the other run's. Of its journal the tracker makes the same tracks again, to the last
 * bit; results.jsonl, which has seven digits, is the witness. Where there is no journal, or where it gives other tracks (it is of
 * another version), the lines themselves are told again. */

typedef struct saving {
    sk_run_view *view;
    const sk_correct_save *how;
    sk_result_reader *frames;  /* whose frames are taken: of the journal, or the lines */
    sk_result_reader *witness; /* lines only: whose sightings are told */
    int64_t next;
    bool differs; /* the journal gives other tracks */
    /* of one frame: */
    sk_instances found;
    sk_sighting *sightings;
    int32_t *ids;
    size_t found_capacity, sightings_capacity, ids_capacity;
} saving;

/* --- frames --- */

static sk_status next_known(void *context, int64_t last, sk_result_frame *out, bool *any, sk_error *err)
{
    saving *s = context;
    *any = false;
    while (!*any && s->next < sk_result_reader_count(s->frames)) {
        SK_TRY(sk_result_reader_read(s->frames, s->next++, out, err));
        *any = out->index > last;
    }
    return SK_OK;
}

/* Of a line: what was found. Places of tracks that were not are told as sightings alone. */
static sk_status next_found(void *context, int64_t last, sk_result_frame *out, bool *any, sk_error *err)
{
    saving *s = context;
    int32_t n = 0;
    SK_TRY(next_known(context, last, out, any, err));
    if (!*any)
        return SK_OK;
    const sk_instances *all = out->instances;
    SK_TRY(sk_array_reserve((void **)&s->found.items, &s->found_capacity, (size_t)all->count + 1,
                            sizeof *s->found.items, SIZE_MAX / 4096, err));
    for (int32_t i = 0; i < all->count; i++)
        if (!out->sightings || out->sightings[i].detection >= 0)
            s->found.items[n++] = all->items[i];
    s->found.count = s->found.capacity = n;
    s->found.n_keypoints = all->n_keypoints;
    s->found.keypoints = all->keypoints;
    out->instances = &s->found;
    out->sightings = NULL;
    out->width = out->width > 0 ? out->width : s->view->header.width;
    out->height = out->height > 0 ? out->height : s->view->header.height;
    return SK_OK;
}

/* --- sightings --- */

static sk_status told(void *context, const sk_result_frame *known, const sk_sighting **sightings, int32_t *n,
                      sk_error *err)
{
    saving *s = context;
    sk_result_frame f;
    int32_t found = 0;
    const int64_t entry = sk_result_reader_find(s->witness, known->index);
    *n = 0;
    if (sk_result_reader_number(s->witness, entry) != known->index)
        return SK_OK; /* a frame without animals, with --no-empty */
    SK_TRY(sk_result_reader_read(s->witness, entry, &f, err));
    SK_TRY(sk_array_reserve((void **)&s->sightings, &s->sightings_capacity, (size_t)f.instances->count + 1,
                            sizeof *s->sightings, SIZE_MAX / 4096, err));
    for (int32_t i = 0; f.sightings && i < f.instances->count; i++) {
        s->sightings[i] = f.sightings[i];
        s->sightings[i].detection = f.sightings[i].detection >= 0 ? found++ : -1;
        *n = i + 1;
    }
    *sightings = s->sightings;
    return SK_OK;
}

static bool near(double a, float b)
{
    return (isnan(a) && isnan(b)) || fabs(a - (double)b) <= 1e-3 + 1e-5 * fabs(a);
}

/* Are these the tracks that the view shows? */
static sk_status witnessed(saving *s, int64_t frame, const sk_sighting *now, int32_t n, sk_error *err)
{
    const sk_run_view *v = s->view;
    const int64_t place = sk_run_view_place(v, frame);
    const bool there = sk_run_view_number(v, place) == frame;
    const size_t first = there ? v->frames[place].first : 0;
    bool same = n == (there ? (int32_t)(v->frames[place + 1].first - first) : 0);
    for (int32_t i = 0; i < n && same; i++) {
        const sk_run_seen *then = &v->seen[first + (size_t)i];
        same = then->track == now[i].track && near(now[i].x, then->x) && near(now[i].y, then->y);
    }
    s->differs = !same;
    return same ? SK_OK
                : sk_fail(err, SK_ERR_MISMATCH,
                          "%s: its journal gives other tracks in frame %lld than "
                          "results.jsonl has",
                          v->folder, (long long)frame);
}

static int by_track(const void *a, const void *b)
{
    const sk_sighting *x = a, *y = b;
    return (x->track > y->track) - (x->track < y->track);
}

static sk_status correct(void *context, int64_t frame, sk_sighting *sightings, int32_t *n, sk_error *err)
{
    saving *s = context;
    int32_t kept = 0;
    if (!s->witness)
        SK_TRY(witnessed(s, frame, sightings, *n, err));
    if (!s->view->corrections.count)
        return SK_OK;
    SK_TRY(sk_array_reserve((void **)&s->ids, &s->ids_capacity, (size_t)*n + 1, sizeof *s->ids,
                            SIZE_MAX / 4096, err));
    for (int32_t i = 0; i < *n; i++)
        s->ids[i] = sightings[i].track;
    sk_corrections_apply(&s->view->corrections, frame, s->ids, *n);
    for (int32_t i = 0; i < *n; i++) {
        if (s->ids[i] < 0)
            continue;
        sightings[kept] = sightings[i];
        sightings[kept].track = sightings[kept].place = s->ids[i];
        kept++;
    }
    *n = kept;
    qsort(sightings, (size_t)kept, sizeof *sightings, by_track);
    return SK_OK;
}

/* --- what the copy is --- */

static bool left_out(const char *name)
{
    return sk_track_is_recorded(name) || strcmp(name, "corrected_run") == 0 ||
           strcmp(name, "corrections") == 0;
}

static sk_status write_identity(const saving *s, sk_text *out, sk_error *err)
{
    const sk_corrections *list = &s->view->corrections;
    SK_TRY(sk_run_record_identity_text(s->view->record, left_out, out, err));
    char *folder = sk_path_absolute(s->view->folder);
    if (folder && !strpbrk(folder, "\n\t"))
        sk_text_appendf(out, "corrected_run\t%s\n", folder);
    sk_free(folder);
    sk_text_append(out, "corrections\t");
    for (size_t i = 0; i < list->count; i++) {
        if (i)
            sk_text_append(out, "; ");
        sk_correction_describe(&list->items[i], out);
    }
    sk_text_append(out, "\n");
    return sk_text_status(out, err);
}

static bool has_file(const char *folder, const sk_sink_kind *kind)
{
    char *path = sk_path_join(folder, kind->file);
    const size_t length = path ? strlen(path) : 0;
    if (length && path[length - 1] == '/')
        path[length - 1] = '\0';
    const bool there = path && sk_file_exists(path);
    sk_free(path);
    return there;
}

static void find_formats(const saving *s, sk_predict_settings *settings)
{
    const sk_sink_kind *const *lists[] = {sk_sink_track_kinds, sk_sink_kinds};
    settings->n_formats = 0;
    for (int32_t i = 0; i < s->how->n_formats; i++)
        settings->formats[settings->n_formats++] = s->how->formats[i];
    for (int l = 0; l < 2 && !s->how->n_formats; l++)
        for (const sk_sink_kind *const *kind = lists[l]; *kind; kind++)
            if (has_file(s->view->folder, *kind) && settings->n_formats < SK_PREDICT_MAX_FORMATS)
                settings->formats[settings->n_formats++] = (*kind)->name;
}

/* Lines have what the steps decided, not what each pass saw. */
static void drop_raw(sk_predict_settings *settings)
{
    int32_t n = 0;
    for (int32_t i = 0; i < settings->n_formats; i++)
        if (strcmp(settings->formats[i], "raw") != 0)
            settings->formats[n++] = settings->formats[i];
    settings->n_formats = n;
}

/* --- the two ways --- */

static sk_status open_frames(saving *s, bool lines, sk_error *err)
{
    char *path = sk_path_join(s->view->folder, lines ? "results.jsonl" : "journal.skj");
    const int32_t points = s->view->header.n_keypoints;
    s->next = 0;
    sk_result_reader_close(&s->frames);
    if (!path)
        return sk_fail_memory(err, strlen(s->view->folder));
    sk_status status = lines ? sk_result_reader_open_jsonl(path, points, &s->frames, err)
                             : sk_result_reader_open_journal(path, &s->frames, err);
    if (status == SK_OK && lines)
        status = sk_result_reader_open_jsonl(path, points, &s->witness, err);
    sk_free(path);
    return status;
}

/* Was results.jsonl written with --no-empty? Then the copy's is, too. */
static bool leaves_empty_out(const saving *s)
{
    return sk_result_reader_count(s->frames) > sk_result_reader_count(s->view->reader);
}

/* Did the run keep what animals look like? Then it counts again. */
static bool has_looks(saving *s)
{
    for (int64_t i = 0; i < sk_result_reader_count(s->frames); i++) {
        sk_result_frame f;
        if (sk_result_reader_read(s->frames, i, &f, NULL) != SK_OK)
            return false;
        if (f.instances->count > 0)
            return f.looks;
    }
    return false;
}

static sk_status follow(saving *s, bool lines, const sk_predict_settings *settings, const char *identity,
                        sk_predict_report *report, sk_error *err)
{
    const sk_track_retold retold = {lines ? told : NULL, correct, s};
    sk_track_wish wish;
    sk_region *region = NULL;
    sk_text region_text = {0};
    sk_track_run *run = NULL;
    sk_status status = sk_track_wish_recorded(s->view->record, &wish, &region, &region_text, err);
    if (status == SK_ERR_UNSUPPORTED && lines)
        status = SK_OK; /* nobody tracks */
    if (status == SK_OK)
        status = open_frames(s, lines, err);
    wish.looks = status == SK_OK && !lines && has_looks(s);
    wish.report = s->how->report;
    wish.cached = false;
    wish.retold = &retold;
    if (status == SK_OK)
        status = sk_track_run_open(&wish, &run, err);
    if (status == SK_OK) {
        run->without_video = s->how->without_video;
        sk_run_header header = s->view->header;
        header.no_empty = leaves_empty_out(s);
        const sk_given given = {.settings = settings,
                                .run = run,
                                .name = s->view->folder,
                                .header = header,
                                .identity = identity,
                                .frames = sk_result_reader_count(s->frames),
                                .named = true,
                                .next = lines ? next_found : next_known,
                                .context = s};
        status = sk_track_given_run(&given, s->how->watch, s->how->context, report, err);
    }
    sk_track_run_close(&run);
    sk_region_close(&region);
    sk_text_free(&region_text);
    return status;
}

static bool may_tell_lines(const saving *s, sk_status status)
{
    return s->differs || (!s->frames && status != SK_ERR_MEMORY) || status == SK_ERR_UNSUPPORTED;
}

static sk_status save(saving *s, const sk_predict_settings *settings, const char *identity,
                      sk_predict_report *report, sk_error *err)
{
    sk_error why = {0};
    sk_status status = follow(s, false, settings, identity, report, &why);
    if (status == SK_OK)
        return SK_OK;
    if (!may_tell_lines(s, status))
        return sk_fail(err, status, "%s", why.message);
    sk_predict_settings again = *settings;
    again.restart = again.restart || s->differs;
    drop_raw(&again);
    SK_TRY(follow(s, true, &again, identity, report, err));
    snprintf(report->notice, sizeof report->notice,
             "made of results.jsonl, with its seven digits and without the numbers of detections: %.380s",
             why.message);
    return SK_OK;
}

/* Names that were given stay with the copy, whose tracks are as corrected. */
static sk_status keep_names(const saving *s, sk_error *err)
{
    sk_run_view *copy = NULL;
    const sk_corrections *list = &s->view->corrections;
    bool any = false;
    for (size_t i = 0; i < list->count; i++)
        any = any || list->items[i].kind == SK_CORRECTION_RENAME;
    if (!any)
        return SK_OK;
    SK_TRY(sk_run_view_open(s->how->out, &copy, err));
    sk_status status = SK_OK;
    for (size_t i = 0; i < list->count && status == SK_OK && copy->tracked; i++) {
        const sk_correction *c = &list->items[i];
        const char *name = sk_corrections_name(list, c->a);
        bool there = false;
        if (c->kind != SK_CORRECTION_RENAME || !name || strcmp(name, c->name) != 0 ||
            sk_corrections_name(&copy->corrections, c->a))
            continue;
        status = sk_run_view_has(copy, c->a, 0, -1, &there, err);
        if (status == SK_OK && there)
            status = sk_correct_step(copy, SK_STEP_ADD, c, err);
    }
    sk_run_view_close(&copy);
    return status;
}

static sk_status check(const saving *s, sk_error *err)
{
    const sk_run_view *v = s->view;
    char *from = realpath(v->folder, NULL), *to = realpath(s->how->out, NULL);
    const bool one = from && to && strcmp(from, to) == 0;
    free(from);
    free(to);
    if (one)
        return sk_fail(err, SK_ERR_ARG, "%s: the copy needs a folder of its own; nothing of a run is changed",
                       s->how->out);
    if (!v->tracked)
        return sk_fail(err, SK_ERR_ARG, "%s: there are no tracks to make a corrected copy of", v->folder);
    if (s->how->without_video && s->how->overlay)
        return sk_fail(err, SK_ERR_ARG, "%s: an overlay needs the video", v->folder);
    for (int32_t i = 0; i < s->how->n_formats; i++)
        if (!sk_sink_find(s->how->formats[i]))
            return sk_fail(err, SK_ERR_ARG, "no result format is called '%s'", s->how->formats[i]);
    if (v->notice[0])
        return sk_fail(err, SK_ERR_MISMATCH, "%s", v->notice);
    return SK_OK;
}

sk_status sk_correct_save_run(sk_run_view *view, const sk_correct_save *how, sk_predict_report *report,
                              sk_error *err)
{
    saving s = {.view = view, .how = how};
    sk_text identity = {0};
    sk_predict_settings settings;
    const sk_movement *movement;
    const sk_suspects *suspects;
    memset(report, 0, sizeof *report);
    sk_status status = SK_OK;
    SK_TRY_GOTO(check(&s, err));
    SK_TRY_GOTO(sk_run_view_movement(view, &movement, &suspects, err)); /* gathers all sightings */
    SK_TRY_GOTO(write_identity(&s, &identity, err));
    sk_predict_defaults(&settings);
    settings.source = sk_run_view_source(view);
    settings.out = how->out;
    settings.overlay = how->overlay;
    settings.draw = how->draw;
    settings.line_width = how->line_width;
    settings.restart = how->restart;
    settings.overwrite = how->overwrite;
    find_formats(&s, &settings);
    status = save(&s, &settings, sk_text_get(&identity), report, err);
    if (status == SK_OK && !report->stopped)
        status = keep_names(&s, err);
done:
    sk_result_reader_close(&s.frames);
    sk_result_reader_close(&s.witness);
    sk_free_all(s.found.items, s.sightings, s.ids);
    sk_text_free(&identity);
    return status;
}
