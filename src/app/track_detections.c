/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_detections.h"

#include "app/given_frames.h"
#include "app/retell.h"
#include "app/run_folder.h"
#include "app/track_internal.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "media/frame_choice.h"
#include "media/source_told.h"
#include "skitter/version.h"

#include <stdio.h>
#include <string.h>

typedef struct given_run {
    const sk_track_detections *wish;
    sk_predict_settings settings; /* the wish's, with a source in any case */
    sk_predict_report *report;
    sk_annotation_set set;
    sk_given_frames *frames;
    sk_text identity;
    const char **class_names, **keypoint_names; /* the header's */
    char unnamed[16];
    sk_run_header header;
    sk_run_folder *folder;
    sk_consumers consumers;
    sk_predict_progress progress;
} given_run;

/* --- what is given --- */

static sk_status write_identity(given_run *r, sk_error *err)
{
    sk_sha256 hash;
    char hex[SK_SHA256_TEXT] = "", frames[SK_FRAMES_TEXT];
    if (sk_file_is_regular(r->wish->path)) {
        SK_TRY(sk_hash_sha256_file(r->wish->path, &hash, err));
        sk_sha256_text(&hash, hex);
    }
    sk_text_appendf(&r->identity, "skitter\t%s\n", sk_version_text());
    sk_text_appendf(&r->identity, "detections\t%s\n", hex[0] ? hex : r->wish->path);
    sk_text_appendf(&r->identity, "found\t%zu in %lld frames\n", r->set.n_items,
                    (long long)sk_given_frames_count(r->frames));
    sk_text_appendf(&r->identity, "frames\t%s\n", sk_frames_text(&r->settings.media, frames, sizeof frames));
    sk_text_append(&r->identity, r->wish->run->more.identity);
    return sk_text_status(&r->identity, err);
}

static sk_status name_all(given_run *r, sk_error *err)
{
    const sk_annotation_set *set = &r->set;
    r->class_names = sk_calloc(set->n_classes + 1, sizeof *r->class_names);
    r->keypoint_names = sk_calloc((size_t)set->n_keypoints + 1, sizeof *r->keypoint_names);
    if (!r->class_names || !r->keypoint_names)
        return sk_fail_memory(err, set->n_classes * sizeof *r->class_names);
    for (size_t i = 0; i < set->n_classes; i++)
        r->class_names[i] = set->classes[i].name;
    for (int32_t i = 0; i < set->n_keypoints; i++)
        r->keypoint_names[i] =
            set->keypoint_names && set->keypoint_names[i] ? set->keypoint_names[i] : "point";
    return SK_OK;
}

/* Size and rate as the video says, where it is there. */
static sk_status look_at_video(given_run *r, sk_error *err)
{
    sk_source *source = NULL;
    sk_run_header *h = &r->header;
    sk_given_frames_size(r->frames, &h->width, &h->height);
    if (!r->wish->settings->source)
        return SK_OK;
    SK_TRY(sk_source_open(r->wish->settings->source, &r->settings.media, &source, err));
    const sk_source_info info = sk_source_info_of(source);
    h->width = info.width;
    h->height = info.height;
    h->rate = info.rate;
    h->source_frames = info.total;
    h->source_kind = info.kind == SK_SOURCE_PICTURES ? "pictures" : "video";
    const bool live = info.kind == SK_SOURCE_LIVE || info.once;
    sk_source_close(&source);
    return live ? sk_fail(err, SK_ERR_ARG,
                          "%s: detections of a file are drawn on the frames of a video or of pictures, which "
                          "can be "
                          "read from the first one on",
                          r->wish->settings->source)
                : SK_OK;
}

static sk_status read_given(given_run *r, sk_error *err)
{
    SK_TRY(sk_annotations_read(r->wish->path, &r->set, err));
    SK_TRY(sk_given_frames_open(r->wish->path, &r->set, &r->frames, err));
    if (!r->settings.source)
        r->settings.source =
            sk_given_frames_source(r->frames) ? sk_given_frames_source(r->frames) : r->wish->path;
    if (r->settings.overlay && !r->wish->settings->source)
        return sk_fail(err, SK_ERR_ARG,
                       "an overlay needs the video, too: skitter track VIDEO --detections %s --save-overlay",
                       r->wish->path);
    SK_TRY(name_all(r, err));
    SK_TRY(write_identity(r, err));
    r->header = (sk_run_header){.source = r->settings.source,
                                .source_kind = "video",
                                .rate = r->wish->run->wish.track.fps,
                                .source_frames = -1,
                                .task = "detections",
                                .n_classes = (int32_t)r->set.n_classes,
                                .class_names = r->class_names,
                                .n_keypoints = r->set.n_keypoints,
                                .keypoint_names = r->keypoint_names,
                                .has = r->set.has,
                                .no_empty = r->settings.no_empty,
                                .tracked = true,
                                .runtime_requested = "none",
                                .runtime = "none",
                                .device = "none",
                                .precision = "none",
                                .settings = "",
                                .version = sk_version_text()};
    return look_at_video(r, err);
}

/* --- the run --- */

static sk_status list_consumers(given_run *r, sk_predict_watch watch, void *context, sk_error *err)
{
    const bool at_once = !r->settings.out;
    sk_consumers *list = &r->consumers;
    SK_TRY(sk_consumers_add(list, sk_consumer_journal(), err));
    SK_TRY(sk_consumers_add(list, sk_consumer_track(r->wish->run, &r->settings, NULL, at_once), err));
    for (int32_t i = 0; i < r->settings.n_formats && at_once; i++)
        SK_TRY(sk_consumers_add(list, sk_consumer_file(sk_sink_find(r->settings.formats[i])), err));
    return sk_consumers_add(list, sk_consumer_progress(&r->progress, watch, context), err);
}

static sk_status begin(given_run *r, sk_error *err)
{
    const sk_predict_settings *s = &r->settings;
    SK_TRY(sk_run_folder_open(s->out, &r->folder, err));
    r->header.started = sk_run_folder_started(r->folder);
    sk_consumers_settle(&r->consumers, &r->header);
    const char *files[SK_CONSUMER_FILES * SK_CONSUMERS_MOST + 2];
    sk_consumers_files(&r->consumers, files);
    const sk_run_begin how = {.identity = sk_text_get(&r->identity),
                              .source = r->wish->path,
                              .files = files,
                              .restart = s->restart,
                              .overwrite = s->overwrite};
    SK_TRY(sk_run_folder_begin(r->folder, &how, err));
    r->progress.total = sk_given_frames_count(r->frames);
    r->progress.done = r->progress.continued = sk_run_folder_known(r->folder);
    SK_TRY(sk_consumers_begin(&r->consumers, &r->header, r->folder, err));
    const sk_retell known = {.folder = r->folder,
                             .header = &r->header,
                             .consumers = &r->consumers,
                             .source = s->source,
                             .media = &s->media};
    return sk_retell_run(&known, err);
}

static sk_status feed(given_run *r, sk_error *err)
{
    const double fps = r->header.rate > 0 ? r->header.rate : 25;
    const int64_t from = sk_run_folder_last_index(r->folder), count = sk_given_frames_count(r->frames);
    const int64_t begin = sk_clock_ns();
    sk_frame_choice choice = sk_frame_choice_of(&r->settings.media);
    for (int64_t i = 0; i < count && !r->report->stopped; i++) {
        sk_result_frame frame;
        SK_TRY(sk_given_frames_get(r->frames, i, &frame, err));
        if (frame.index <= from || sk_frame_choice_next(&choice, frame.index) != frame.index)
            continue;
        frame.source = r->settings.source;
        frame.time = (double)frame.index / fps;
        frame.width = frame.width ? frame.width : r->header.width;
        frame.height = frame.height ? frame.height : r->header.height;
        sk_passing passing = {.result = &frame};
        SK_TRY(sk_consumers_take(&r->consumers, &passing, begin, err));
        r->report->frames++;
        r->report->seconds = passing.seconds;
        r->report->stopped = passing.stop;
    }
    return SK_OK;
}

static sk_status note(given_run *r, sk_run_state state, sk_error *err)
{
    const sk_run_standing standing = {.state = state,
                                      .nothing_to_do = r->report->nothing_to_do,
                                      .frames = r->progress.done,
                                      .instances = r->progress.instances,
                                      .part_frames = r->report->frames,
                                      .part_seconds = r->report->seconds};
    return sk_run_folder_note(r->folder, &r->header, &standing, err);
}

static sk_status close_all(given_run *r, bool finished, sk_status status, sk_error *err)
{
    sk_predict_report *p = r->report;
    p->total_frames = r->progress.done;
    p->instances = r->progress.instances;
    status = sk_consumers_complete(&r->consumers, status, err);
    if (finished && status == SK_OK)
        status = sk_run_folder_finish(r->folder, err);
    status = sk_consumers_end(&r->consumers, finished && status == SK_OK, status, err);
    sk_predict_report_files(p, &r->consumers, r->folder);
    if (r->folder) {
        const sk_run_state state = status != SK_OK ? SK_RUN_FAILED
                                   : finished      ? SK_RUN_FINISHED
                                   : p->stopped    ? SK_RUN_STOPPED
                                                   : SK_RUN_FAILED;
        const sk_status noted = note(r, state, status == SK_OK ? err : NULL);
        status = status != SK_OK ? status : noted;
    }
    sk_consumers_close(&r->consumers);
    sk_run_folder_close(&r->folder);
    sk_given_frames_close(&r->frames);
    sk_annotations_free(&r->set);
    sk_text_free(&r->identity);
    sk_free((void *)r->class_names);
    sk_free((void *)r->keypoint_names);
    return status;
}

static sk_status follow(given_run *r, bool *finished, sk_error *err)
{
    SK_TRY(read_given(r, err));
    SK_TRY(begin(r, err));
    *finished = r->report->nothing_to_do = sk_run_folder_stage(r->folder) == SK_RUN_COMPLETE;
    if (*finished)
        return SK_OK;
    SK_TRY(note(r, SK_RUN_RUNNING, err));
    SK_TRY(feed(r, err));
    *finished = !r->report->stopped;
    return SK_OK;
}

sk_status sk_track_detections_run(const sk_track_detections *wish, sk_predict_watch watch, void *context,
                                  sk_predict_report *report, sk_error *err)
{
    given_run r = {.wish = wish, .settings = *wish->settings, .report = report};
    bool finished = false;
    wish->run->without_video = !wish->settings->source;
    memset(report, 0, sizeof *report);
    sk_status status = list_consumers(&r, watch, context, err);
    if (status == SK_OK)
        status = follow(&r, &finished, err);
    return close_all(&r, finished, status, err);
}
