/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_background.h"

#include "app/finder_background.h"
#include "app/predict_internal.h"
#include "app/preview.h"
#include "app/frame_looks.h"
#include "app/source_identity.h"
#include "app/track_given.h"
#include "base/frame.h"
#include "base/memory.h"
#include "media/frame_choice.h"
#include "media/reader.h"
#include "media/source_told.h"
#include "skitter/version.h"

#include <string.h>

typedef struct background_run {
    const sk_predict_settings *settings;
    const sk_track_wish *wish;
    sk_source *source;
    sk_source_info info;
    sk_finder_background finder;
    sk_frame_looks looks;
    sk_consumer *preview; /* the run's; null: none */
    sk_text identity;
} background_run;

static sk_source_settings media_of(const background_run *r)
{
    sk_source_settings m = r->settings->media;
    m.format = SK_PIXEL_RGB;
    m.accepts = NULL;
    m.n_accepts = 0;
    return m;
}

/* The background follows what it sees: earlier frames are shown to it again, and not told again. */
static sk_status next(void *context, int64_t last, sk_result_frame *out, bool *any, sk_error *err)
{
    background_run *r = context;
    const sk_finder_source source = {r->settings->source, &r->settings->media, &r->info, -1};
    if (!r->finder.background)
        SK_TRY(sk_finder_background_prime(&r->finder, &source, err));
    for (*any = false; !*any;) {
        const sk_frame *frame = NULL;
        SK_TRY(sk_source_next(r->source, &frame, err));
        if (!frame)
            return SK_OK;
        const sk_instances *found = NULL;
        sk_status status = r->finder.finder.find(&r->finder, frame, &found, err);
        *out = (sk_result_frame){.index = frame->index,
                                 .time = sk_time_seconds(frame->time_ns),
                                 .width = frame->width,
                                 .height = frame->height,
                                 .instances = found,
                                 .wall_ns = frame->wall_ns,
                                 .picture = r->info.kind == SK_SOURCE_PICTURES ? 1 : 0};
        *any = frame->index > last;
        if (status == SK_OK && *any && r->wish->looks) {
            status = sk_frame_looks_fill(&r->looks, frame, found, err);
            out->looks = r->looks.bytes;
        }
        if (*any)
            sk_preview_look(r->preview, frame);
        sk_source_release(r->source, frame);
        SK_TRY(status);
    }
    return SK_OK;
}

static sk_source_status standing(void *context)
{
    return sk_source_status_of(((background_run *)context)->source);
}

static sk_status write_identity(background_run *r, sk_error *err)
{
    char frames[SK_FRAMES_TEXT];
    sk_text *out = &r->identity;
    sk_text_appendf(out, "skitter\t%s\n", sk_version_text());
    sk_text_appendf(out, "source\t%s\nsource_time\t", r->settings->source);
    sk_source_time(r->settings->source, out);
    sk_text_append(out, "\nsource_size\t");
    sk_source_size(r->settings->source, out);
    sk_text_append(out, "\nsource_sample\t");
    sk_source_sample(r->settings->source, out);
    sk_text_appendf(out, "\nframes\t%s\n", sk_frames_text(&r->settings->media, frames, sizeof frames));
    sk_text_appendf(out, "loop\t%d\n", r->settings->media.loop);
    sk_text_appendf(out, "topic\t%s\n", r->settings->media.topic ? r->settings->media.topic : "");
    sk_finder_background_identity(r->wish, out);
    if (r->wish->looks)
        sk_text_append(out, SK_LOOKS_IDENTITY);
    return sk_text_status(out, err);
}

/* Pictures tell their size one by one: all are to be as the first. */
static sk_status find_size(background_run *r, sk_error *err)
{
    const sk_source_settings m = media_of(r);
    const sk_frame *frame = NULL;
    SK_TRY(sk_source_next(r->source, &frame, err));
    if (!frame)
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: no frame came of it", r->settings->source);
    r->info.width = frame->width;
    r->info.height = frame->height;
    sk_source_release(r->source, frame);
    sk_source_close(&r->source);
    return sk_source_open(r->settings->source, &m, &r->source, err);
}

static sk_status open_source(background_run *r, sk_error *err)
{
    const sk_source_settings m = media_of(r);
    SK_TRY(sk_source_open(r->settings->source, &m, &r->source, err));
    r->info = sk_source_info_of(r->source);
    if (r->info.width <= 0 || r->info.height <= 0)
        SK_TRY(find_size(r, err));
    SK_TRY(predict_check_frames(r->settings, &r->info, err));
    return write_identity(r, err);
}

sk_status sk_track_background_run(const sk_track_background *wish, sk_predict_watch watch, void *context,
                                  sk_predict_report *report, sk_error *err)
{
    static const char *const classes[] = {"animal"};
    background_run r = {.settings = wish->settings, .wish = &wish->run->wish};
    memset(report, 0, sizeof *report);
    sk_status status = sk_finder_background_open(r.wish, &r.finder, err);
    if (status == SK_OK)
        status = open_source(&r, err);
    if (status == SK_OK) {
        const bool pictures = r.info.kind == SK_SOURCE_PICTURES;
        const sk_given given = {
            .settings = wish->settings,
            .run = wish->run,
            .name = wish->settings->source,
            .header = {.source = wish->settings->source,
                       .source_kind = pictures                        ? "pictures"
                                      : r.info.kind == SK_SOURCE_LIVE ? "live"
                                                                      : "video",
                       .width = r.info.width,
                       .height = r.info.height,
                       .rate = r.info.rate,
                       .source_frames = r.info.total,
                       .stamped = r.info.stamped,
                       .task = "background",
                       .n_classes = 1,
                       .class_names = classes,
                       .has = SK_HAS_BOX | SK_HAS_OBB,
                       .no_empty = wish->settings->no_empty,
                       .tracked = true,
                       .runtime_requested = "none",
                       .runtime = "none",
                       .device = "none",
                       .precision = "none",
                       .settings = "detector background",
                       .version = sk_version_text()},
            .identity = sk_text_get(&r.identity),
            .cache_source = r.info.kind == SK_SOURCE_VIDEO && !r.info.once ? wish->settings->source : NULL,
            .frames = r.info.frames,
            .next = next,
            .standing = standing,
            .preview = &r.preview,
            .context = &r};
        status = sk_track_given_run(&given, watch, context, report, err);
    }
    sk_source_close(&r.source);
    sk_finder_background_close(&r.finder);
    sk_frame_looks_free(&r.looks);
    sk_text_free(&r.identity);
    return status;
}
