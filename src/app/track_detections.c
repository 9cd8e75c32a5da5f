/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_detections.h"

#include "app/finder_detections.h"
#include "app/given_classes.h"
#include "app/track_given.h"
#include "base/log.h"
#include "base/memory.h"
#include "media/frame_choice.h"
#include "media/source_told.h"
#include "skitter/version.h"

#include <stdio.h>
#include <string.h>

typedef struct file_run {
    const sk_track_detections *wish;
    sk_predict_settings settings; /* the wish's, with a source in any case */
    sk_annotation_set set;
    sk_given_frames *frames;
    sk_text identity;
    sk_given_classes classes;
    const char **keypoint_names; /* the header's */
    sk_run_header header;
    int64_t number; /* the next of the file's frames */
    sk_frame_choice choice;
} file_run;

/* --- what is given --- */

static sk_status write_identity(file_run *r, sk_error *err)
{
    char frames[SK_FRAMES_TEXT];
    sk_text_appendf(&r->identity, "skitter\t%s\n", sk_version_text());
    SK_TRY(sk_finder_detections_identity(r->wish->path, &r->identity, err));
    sk_text_appendf(&r->identity, "found\t%zu in %lld frames\n", r->set.n_items,
                    (long long)sk_given_frames_count(r->frames));
    sk_text_appendf(&r->identity, "frames\t%s\n", sk_frames_text(&r->settings.media, frames, sizeof frames));
    return sk_text_status(&r->identity, err);
}

static sk_status name_all(file_run *r, sk_error *err)
{
    const sk_annotation_set *set = &r->set;
    r->keypoint_names = sk_calloc((size_t)set->n_keypoints + 1, sizeof *r->keypoint_names);
    if (!r->keypoint_names)
        return sk_fail_memory(err, (size_t)set->n_keypoints * sizeof *r->keypoint_names);
    for (int32_t i = 0; i < set->n_keypoints; i++)
        r->keypoint_names[i] =
            set->keypoint_names && set->keypoint_names[i] ? set->keypoint_names[i] : "point";
    return SK_OK;
}

/* Size and rate as the video says, where it is there. */
static sk_status look_at_video(file_run *r, sk_error *err)
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
    h->rate = info.rate > 0 ? info.rate : h->rate;
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

#define EMPTY_MOST  ((int64_t)5000000) /* frames: two days at 30 a second … */
#define EMPTY_SHARE 1000               /* … for each that has detections */

/* A number that was written wrong makes days of frames without animals, which all are written. */
static sk_status check_gap(const file_run *r, sk_error *err)
{
    const int64_t frames = sk_given_frames_count(r->frames);
    int64_t from, to;
    if (frames <= EMPTY_MOST || frames / EMPTY_SHARE <= (int64_t)r->set.n_images ||
        sk_frames_wanted(&r->settings.media, -1) >= 0)
        return SK_OK;
    sk_given_frames_gap(r->frames, &from, &to);
    return sk_fail(
        err, SK_ERR_LIMIT,
        "%s: is about %zu frames, but their numbers reach over %lld: there is nothing between "
        "frames %lld and %lld. If that number is wrong, mend it; for a part of them give --frames, "
        "such as --frames 0:%lld",
        r->wish->path, r->set.n_images, (long long)frames, (long long)from, (long long)to,
        (long long)from + 1);
}

/* What is to be known about them, and cannot be seen from the tracks. */
static void warn(const file_run *r)
{
    const char *path = r->wish->path;
    if (sk_given_frames_count(r->frames) == 0)
        sk_log(SK_LOG_WARN, "%s: there is no detection in it, so there are no tracks", path);
    if (r->classes.changed)
        sk_log(
            SK_LOG_WARN,
            "%s: %d classes have numbers that others have too, or that are out of range; they got free ones",
            path, r->classes.changed);
    if (r->header.rate <= 0 && r->wish->run->wish.track.fps <= 0 && sk_given_frames_count(r->frames) > 0)
        sk_log(
            SK_LOG_WARN,
            "%s: nothing says how many frames a second there are; 25 are taken. What is measured in seconds "
            "depends on it: give the video, too, or --fps",
            path);
}

static sk_status read_given(file_run *r, sk_error *err)
{
    SK_TRY(sk_finder_detections_read(r->wish->path, &r->set, err));
    SK_TRY(sk_annotations_as_detections(r->wish->path, r->wish->run->wish.track.body, &r->set, err));
    SK_TRY(sk_given_classes_of(&r->set, &r->classes, err));
    SK_TRY(sk_given_frames_open(r->wish->path, &r->set, r->classes.number, &r->frames, err));
    SK_TRY(check_gap(r, err));
    if (!r->settings.source)
        r->settings.source =
            sk_given_frames_source(r->frames) ? sk_given_frames_source(r->frames) : r->wish->path;
    if (r->settings.overlay && !r->wish->settings->source)
        return sk_fail(err, SK_ERR_ARG,
                       "an overlay needs the video, too: skitter track VIDEO --detections %s --save-overlay",
                       r->wish->path);
    SK_TRY(name_all(r, err));
    SK_TRY(write_identity(r, err));
    r->header =
        (sk_run_header){.source = r->settings.source,
                        .source_kind = "video",
                        .rate = r->wish->run->wish.track.fps > 0 ? r->wish->run->wish.track.fps : r->set.rate,
                        .source_frames = -1,
                        .task = "detections",
                        .n_classes = r->classes.count,
                        .class_names = r->classes.names,
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

static sk_status next(void *context, int64_t last, sk_result_frame *out, bool *any, sk_error *err)
{
    file_run *r = context;
    const double fps = r->header.rate > 0 ? r->header.rate : 25;
    for (*any = false; !*any && r->number < sk_given_frames_count(r->frames);) {
        SK_TRY(sk_given_frames_get(r->frames, r->number++, out, err));
        const int64_t wanted = sk_frame_choice_next(&r->choice, out->index);
        if (wanted < 0) {
            r->number = sk_given_frames_count(r->frames); /* none behind it */
            return SK_OK;
        }
        *any = out->index > last && wanted == out->index;
        out->time = (double)out->index / fps;
        out->width = out->width ? out->width : r->header.width;
        out->height = out->height ? out->height : r->header.height;
    }
    return SK_OK;
}

sk_status sk_track_detections_run(const sk_track_detections *wish, sk_predict_watch watch, void *context,
                                  sk_predict_report *report, sk_error *err)
{
    file_run r = {.wish = wish, .settings = *wish->settings};
    wish->run->without_video = !wish->settings->source;
    memset(report, 0, sizeof *report);
    sk_status status = read_given(&r, err);
    if (status == SK_OK) {
        warn(&r);
        r.choice = sk_frame_choice_of(&r.settings.media);
        const sk_given given = {.settings = &r.settings,
                                .run = wish->run,
                                .name = wish->path,
                                .header = r.header,
                                .identity = sk_text_get(&r.identity),
                                .frames = sk_given_frames_count(r.frames),
                                .next = next,
                                .context = &r};
        status = sk_track_given_run(&given, watch, context, report, err);
    }
    sk_given_frames_close(&r.frames);
    sk_annotations_free(&r.set);
    sk_text_free(&r.identity);
    sk_given_classes_free(&r.classes);
    sk_free((void *)r.keypoint_names);
    return status;
}
