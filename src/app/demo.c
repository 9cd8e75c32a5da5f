/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo_internal.h"

#include "app/run_folder.h"
#include "app/runtimes.h"
#include "app/scene_run.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

const char *const sk_demo_part_names[SK_DEMO_PARTS] = {"boxes", "poses"};

void sk_demo_defaults(sk_demo_settings *settings)
{
    *settings = (sk_demo_settings){.out = "skitter-demo",
                                   .scene = sk_scene_defaults(),
                                   .program = "skitter",
                                   .seconds = 4,
                                   .runtime = "cpu",
                                   .runtime_requested = "cpu"};
    settings->scene.species = SK_SPECIES_MIXED;
    settings->scene.animals = 7;
    settings->scene.seed = SK_DEMO_FIRST_SEED;
}

typedef struct demo {
    const sk_demo_settings *settings;
    sk_demo_report *report;
    sk_demo_watch watch;
    void *context;
    char what[64]; /* being done, for the watcher */
    char fingerprint[1024];
    char *scene, *truth; /* paths */
    sk_lock *lock;
    bool restart; /* earlier results in the folder do not count */
} demo;

/* --- the folder --- */

static sk_status hold_folder(demo *d, sk_error *err)
{
    const char *out = d->settings->out;
    d->scene = sk_demo_scene(out);
    d->truth = sk_path_join(out, "truth.csv");
    if (!d->scene || !d->truth)
        return sk_fail_memory(err, strlen(out));
    sk_lock_holder holder = {0};
    sk_status status = sk_run_folder_hold(out, &d->lock, &holder, err);
    if (status == SK_ERR_BUSY)
        status = sk_fail(err, SK_ERR_BUSY,
                         "%s: another demo is writing here: process %lld, '%s'\nwait for it, or choose "
                         "another --out",
                         out, (long long)holder.pid, holder.command);
    return status;
}

/* --- the scene --- */

static bool watch_scene(void *context, int64_t done, int64_t total)
{
    demo *d = context;
    return d->watch && d->watch(d->context, "drawing the scene", done, total, 0);
}

static sk_status draw_scene_as(demo *d, bool pictures, sk_scene_report *r, sk_error *err)
{
    sk_scene_run_settings s;
    const char *out = d->settings->out;
    sk_scene_run_defaults(&s);
    sk_free(d->scene);
    d->scene = sk_path_join(out, pictures ? "scene" : "scene.mp4");
    char *other = sk_path_join(out, pictures ? "scene.mp4" : "scene");
    if (!d->scene || !other) {
        sk_free(other);
        return sk_fail_memory(err, strlen(out));
    }
    if (pictures)
        remove(other); /* of an earlier demo, which is begun anew */
    sk_folder_empty_own(pictures ? d->scene : other, ".png");
    sk_free(other);
    s.scene = d->settings->scene;
    s.output = d->scene;
    s.sequence = pictures;
    s.truth = d->truth;
    s.frames = d->report->frames;
    return sk_scene_run(&s, watch_scene, d, r, err);
}

static sk_status draw_scene(demo *d, sk_error *err)
{
    sk_scene_report r;
    sk_error no_video = {0};
    bool pictures = d->settings->pictures;
    sk_status status = SK_OK;
    SK_TRY(sk_demo_write_state(d->settings, d->fingerprint, SK_DEMO_BEGUN, d->report, err));
    if (!pictures) {
        status = draw_scene_as(d, false, &r, &no_video);
        pictures = status == SK_ERR_UNSUPPORTED; /* FFmpeg is not here */
        if (status != SK_OK && !pictures) {
            *err = no_video;
            return status;
        }
        if (pictures)
            sk_log(SK_LOG_WARN, "%s; the demo goes on with pictures", no_video.message);
    }
    if (pictures)
        SK_TRY(draw_scene_as(d, true, &r, err));
    d->report->stopped = r.stopped;
    d->report->scene_seconds = r.seconds;
    if (r.stopped)
        return SK_OK; /* half a scene is drawn anew */
    return sk_demo_write_state(d->settings, d->fingerprint, SK_DEMO_DRAWN, d->report, err);
}

/* --- one runtime --- */

static bool watch_predict(void *context, const sk_predict_progress *p)
{
    demo *d = context;
    return d->watch && d->watch(d->context, d->what, p->done - p->continued,
                                p->total > 0 ? p->total - p->continued : p->total, p->seconds);
}

/* boxes, poses; of further runtimes boxes-onnx_cpu … */
static char *part_folder(const demo *d, const sk_demo_entry *entry, int part)
{
    char name[96];
    if (entry == &d->report->entries[0])
        snprintf(name, sizeof name, "%s", sk_demo_part_names[part]);
    else
        snprintf(name, sizeof name, "%s-%s", sk_demo_part_names[part], entry->runtime);
    return sk_path_join(d->settings->out, name);
}

static sk_status run_part(demo *d, sk_demo_entry *entry, int part, sk_error *err)
{
    bool chosen = entry == &d->report->entries[0];
    sk_predict_settings s;
    sk_predict_defaults(&s);
    char *folder = part_folder(d, entry, part);
    if (!folder)
        return sk_fail_memory(err, strlen(d->settings->out));
    s.source = d->scene;
    s.n_models = 1;
    s.models[0] = d->report->models[part];
    s.out = folder;
    s.detector.runtime = entry->runtime;
    s.detector.threads = d->settings->threads;
    s.detector.confidence = SK_DEMO_CONFIDENCE;
    s.detector.iou = SK_DEMO_IOU;
    s.detector.rect = SK_RECT_ON; /* the same network input on every runtime, so that they can be compared */
    s.runtime_requested = chosen ? d->settings->runtime_requested : entry->runtime;
    s.runtime_fell_back = chosen && d->settings->runtime_fell_back;
    s.n_formats = chosen ? 2 : 1;
    s.formats[1] = "slp";
    s.overlay = chosen && part == SK_DEMO_POSES; /* the boxes are in the tracks' */
    s.restart = d->restart;
    snprintf(d->what, sizeof d->what, "%s on %s", sk_demo_part_names[part], entry->runtime);
    sk_status status = sk_predict_run(&s, watch_predict, d, &entry->parts[part], err);
    d->report->stopped = status == SK_OK && entry->parts[part].stopped;
    d->report->continued =
        d->report->continued || entry->parts[part].total_frames > entry->parts[part].frames;
    sk_free(folder);
    return status;
}

static sk_status read_tracks(const demo *d, sk_annotation_set *set, sk_error *err)
{
    char *path = sk_path_join(d->settings->out, "tracks/results.csv");
    sk_status status = !path                  ? sk_fail_memory(err, strlen(d->settings->out))
                       : sk_file_exists(path) ? sk_annotations_read(path, set, err)
                                              : SK_OK;
    sk_free(path);
    return status;
}

static sk_status read_part(const demo *d, const sk_demo_entry *entry, int part, sk_annotation_set *set,
                           sk_error *err)
{
    char *folder = part_folder(d, entry, part), *path = folder ? sk_path_join(folder, "results.csv") : NULL;
    sk_status status =
        path ? sk_annotations_read(path, set, err) : sk_fail_memory(err, strlen(d->settings->out));
    sk_free(path);
    sk_free(folder);
    return status;
}

/* By the watcher's own clock: what takes time is not the passing of frames but what is written and drawn at their end. */
static bool watch_tracks(void *context, const sk_predict_progress *p)
{
    demo *d = context;
    return d->watch && d->watch(d->context, d->what, p->done, p->total, 0);
}

static sk_status run_tracks(demo *d, sk_error *err)
{
    sk_demo_tracks *t = &d->report->tracks;
    sk_annotation_set boxes = {0};
    SK_TRY(read_part(d, &d->report->entries[0], SK_DEMO_BOXES, &boxes, err));
    const bool none = boxes.n_items == 0;
    sk_annotations_free(&boxes);
    if (none)
        return SK_OK; /* nobody was found: nobody is followed */
    snprintf(d->what, sizeof d->what, "following");
    sk_status status = sk_demo_track(d->settings, d->scene, d->report->models[SK_DEMO_BOXES], d->restart,
                                     watch_tracks, d, t, err);
    d->report->stopped = status == SK_OK && t->run.stopped;
    return status;
}

static sk_status measure_part(const demo *d, sk_demo_entry *entry, int part, const sk_demo_sets *sets,
                              sk_error *err)
{
    sk_annotation_set own = {0};
    const sk_annotation_set *found = &sets->found[part];
    sk_eval_settings s;
    sk_eval_defaults(&s);
    sk_status status = SK_OK;
    if (entry != &d->report->entries[0]) {
        SK_TRY_GOTO(read_part(d, entry, part, &own, err));
        SK_TRY_GOTO(sk_agreement_measure(found, &own, &entry->agreement[part], err));
        found = &own;
    }
    status = sk_eval_run(found, &sets->truth, &s, &entry->scores[part], err);
done:
    sk_annotations_free(&own);
    return status;
}

/* A further runtime that fails is a line in the table, not the end. */
static sk_status forgive(sk_demo_entry *entry, sk_status status, sk_error *err)
{
    if (status == SK_OK || status == SK_ERR_MEMORY || status == SK_ERR_CANCELLED)
        return status;
    entry->failed = true;
    snprintf(entry->problem, sizeof entry->problem, "%.*s", (int)strcspn(err->message, "\n"), err->message);
    *err = (sk_error){0};
    return SK_OK;
}

static sk_status run_entry(demo *d, sk_demo_entry *entry, sk_error *err)
{
    sk_status status = SK_OK;
    for (int part = 0; part < SK_DEMO_PARTS && status == SK_OK && !d->report->stopped; part++)
        status = run_part(d, entry, part, err);
    return entry == &d->report->entries[0] ? status : forgive(entry, status, err);
}

static sk_status list_entries(demo *d, sk_error *err)
{
    sk_demo_report *r = d->report;
    snprintf(r->entries[r->n_entries++].runtime, sizeof r->entries[0].runtime, "%s", d->settings->runtime);
    if (!d->settings->compare)
        return SK_OK;
    sk_runtimes_view *view = sk_calloc(1, sizeof *view);
    if (!view)
        return sk_fail_memory(err, sizeof *view);
    sk_runtimes_look(0, false, view);
    for (int i = 0; i < SK_RUNTIME_COUNT && r->n_entries < SK_RUNTIME_COUNT; i++) {
        const char *name = sk_runtime_name((sk_runtime)i);
        if (view->rows[i].available && strcmp(name, d->settings->runtime) != 0)
            snprintf(r->entries[r->n_entries++].runtime, sizeof r->entries[0].runtime, "%s", name);
    }
    sk_free(view);
    return SK_OK;
}

/* --- the whole --- */

static sk_status measure_and_report(demo *d, sk_error *err)
{
    sk_demo_sets *sets = sk_calloc(1, sizeof *sets);
    if (!sets)
        return sk_fail_memory(err, sizeof *sets);
    sk_demo_report *r = d->report;
    sk_status status = SK_OK;
    SK_TRY_GOTO(sk_annotations_read(d->truth, &sets->truth, err));
    for (int part = 0; part < SK_DEMO_PARTS; part++)
        SK_TRY_GOTO(read_part(d, &r->entries[0], part, &sets->found[part], err));
    SK_TRY_GOTO(read_tracks(d, &sets->tracks, err));
    SK_TRY_GOTO(sk_demo_measure_tracks(sets, &r->tracks, err));
    for (int32_t i = 0; i < r->n_entries; i++)
        for (int part = 0; part < SK_DEMO_PARTS && !r->entries[i].failed; part++)
            SK_TRY_GOTO(measure_part(d, &r->entries[i], part, sets, err));
    sk_demo_summarize(d->settings, r);
    SK_TRY_GOTO(sk_text_status(&r->summary, err));
    SK_TRY_GOTO(sk_demo_write_page(d->settings, r, sets, err));
    char *path = sk_path_join(d->settings->out, "summary.txt");
    status = path ? sk_file_replace(path, r->summary.data, r->summary.length, err) : sk_fail_memory(err, 64);
    sk_free(path);
    if (status == SK_OK)
        status = sk_demo_write_state(d->settings, d->fingerprint, SK_DEMO_FINISHED, r, err);
done:
    sk_annotations_free(&sets->truth);
    sk_annotations_free(&sets->tracks);
    for (int part = 0; part < SK_DEMO_PARTS; part++)
        sk_annotations_free(&sets->found[part]);
    sk_free(sets);
    return status;
}

/* An earlier demo had come to its end: what it said then. */
static sk_status recall(demo *d, sk_error *err)
{
    d->report->nothing_to_do = true;
    char *path = sk_path_join(d->settings->out, "summary.txt"), *text = NULL;
    size_t length = 0;
    sk_status status = path ? sk_file_read(path, 1 << 20, &text, &length, err) : sk_fail_memory(err, 64);
    if (status == SK_OK)
        sk_text_append_bytes(&d->report->summary, text, length);
    sk_free(text);
    sk_free(path);
    return status == SK_OK ? sk_text_status(&d->report->summary, err) : status;
}

static sk_status run_all(demo *d, sk_error *err)
{
    const sk_demo_settings *s = d->settings;
    sk_demo_report *r = d->report;
    sk_demo_stage stage;
    SK_TRY(sk_demo_find_models(s->models, r->models, err));
    SK_TRY(sk_demo_fingerprint(s, r->models, d->fingerprint, sizeof d->fingerprint, err));
    SK_TRY(hold_folder(d, err));
    SK_TRY(sk_demo_read_state(s, d->fingerprint, &stage, err));
    if (stage == SK_DEMO_FINISHED)
        return recall(d, err);
    d->restart = s->restart;
    if (stage == SK_DEMO_DRAWN && sk_file_exists(d->scene) && sk_file_is_regular(d->truth)) {
        r->continued = true;
    } else {
        d->restart = true; /* what there may be belongs to another scene */
        SK_TRY(draw_scene(d, err));
    }
    r->pictures = sk_file_is_directory(d->scene);
    if (r->stopped)
        return SK_OK;
    SK_TRY(list_entries(d, err));
    for (int32_t i = 0; i < r->n_entries && !r->stopped; i++)
        SK_TRY(run_entry(d, &r->entries[i], err));
    if (!r->stopped)
        SK_TRY(run_tracks(d, err));
    return r->stopped ? SK_OK : measure_and_report(d, err);
}

sk_status sk_demo_run(const sk_demo_settings *settings, sk_demo_watch watch, void *context,
                      sk_demo_report **out, sk_error *err)
{
    SK_CHECK_ARG(settings && settings->out && settings->runtime && out, err);
    sk_error own = {0};
    demo d = {.settings = settings, .watch = watch, .context = context};
    *out = d.report = sk_calloc(1, sizeof *d.report);
    if (!d.report)
        return sk_fail_memory(err, sizeof *d.report);
    double frames = settings->seconds * settings->scene.rate + 0.5;
    d.report->frames = frames < 1 ? 1 : (int64_t)frames;
    sk_status status = run_all(&d, err ? err : &own);
    sk_lock_close(&d.lock);
    sk_free(d.scene);
    sk_free(d.truth);
    if (status != SK_OK)
        sk_demo_free(out);
    return status;
}

void sk_demo_free(sk_demo_report **report)
{
    if (!report || !*report)
        return;
    for (int32_t i = 0; i < (*report)->n_entries; i++)
        for (int part = 0; part < SK_DEMO_PARTS; part++)
            sk_eval_free(&(*report)->entries[i].scores[part]);
    sk_eval_free(&(*report)->tracks.scores);
    sk_text_free(&(*report)->summary);
    sk_free(*report);
    *report = NULL;
}
