/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/reader.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the tracks look like: sightings while they pass; at the end a few frames of the video once more, for pictures, and the page. */

#define PICTURES_MOST 12 /* moments with a picture: each is a way from a key frame */

typedef struct reporting {
    sk_consumer base;
    const sk_track_run *run;
    const sk_predict_settings *settings;
    const sk_predict_report *times;
    sk_run_folder *folder;
    const sk_run_header *header;
    sk_report *report;
    int64_t last; /* frame that was told */
} reporting;

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    reporting *c = (reporting *)base;
    char made_by[512], method[64];
    const sk_track_wish *wish = &c->run->wish;
    c->folder = folder;
    c->header = header;
    c->last = -1;
    const char *name = strrchr(header->source, '/');
    const bool one_class = header->n_classes == 1 && header->class_names[0][0];
    snprintf(method, sizeof method, "%s, %s", wish->track.method, wish->online ? "online" : "offline");
    const sk_report_settings settings = {.title = name && name[1] ? name + 1 : header->source,
                                         .source = header->source,
                                         .made_by = sk_run_header_line(header, made_by, sizeof made_by),
                                         .method = method,
                                         .width = header->width,
                                         .height = header->height,
                                         .fps = wish->track.fps > 0 ? wish->track.fps : header->rate,
                                         .animal = one_class ? header->class_names[0] : NULL};
    return sk_report_open(&settings, &c->report, err);
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    reporting *c = (reporting *)base;
    const sk_result_frame *r = passing->result;
    c->last = r->index;
    if (r->problem || !r->sightings)
        return SK_OK;
    return sk_report_take(c->report, r->index, r->time, r->sightings, r->instances->count, err);
}

static sk_status retell(sk_consumer *base, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err)
{
    (void)entry, (void)lacks;
    sk_passing passing = {.result = known};
    return take(base, &passing, err);
}

/* --- pictures --- */

typedef struct wanted {
    int64_t frame;
    int32_t moment; /* -1: the ground that paths are drawn on */
} wanted;

static int by_frame(const void *a, const void *b)
{
    const wanted *x = a, *y = b;
    return x->frame != y->frame ? x->frame < y->frame ? -1 : 1 : x->moment - y->moment;
}

/* A file that is played over and over has the same pictures each time: how many it has once; 0 where that does not matter or is
 * not known. Without this all of it would be decoded up to them. A number that the file only estimates holds if so many were read. */
static int64_t frames_once(const reporting *c, const sk_source_settings *media)
{
    sk_source *source = NULL;
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_settings once = *media;
    if (media->loop <= 1 || media->first > 0 || media->last > 0)
        return 0;
    once.last = 1;
    once.loop = 1;
    if (sk_source_open(c->settings->source, &once, &source, NULL) != SK_OK)
        return 0;
    sk_source_get_info(source, &info);
    sk_source_close(&source);
    const bool sure = info.exact || info.total * media->loop == c->last + 1;
    return sure && info.total > 0 ? info.total : 0;
}

static int32_t list_wanted(reporting *c, sk_source_settings *media, wanted list[PICTURES_MOST + 1])
{
    int32_t n_moments = 0, n = 0;
    const sk_suspect *moments = sk_report_suspects(c->report, &n_moments);
    const int64_t once = frames_once(c, media);
    list[n++] = (wanted){media->first > 0 ? media->first : 0, -1};
    for (int32_t i = 0; i < n_moments && i < PICTURES_MOST; i++)
        list[n++] = (wanted){once ? moments[i].frame % once : moments[i].frame, i};
    if (once)
        media->loop = 1;
    qsort(list, (size_t)n, sizeof *list, by_frame);
    return n;
}

static sk_status show_frame(reporting *c, const wanted *list, int32_t n, const sk_frame *frame, sk_error *err)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i].frame == frame->index)
            SK_TRY(list[i].moment < 0 ? sk_report_ground(c->report, frame, err)
                                      : sk_report_picture(c->report, list[i].moment, frame, err));
    return SK_OK;
}

/* All in one way through the video. One that cannot be read again leaves the page without pictures: the tracks are there. */
typedef struct showing {
    reporting *report;
    sk_source *source; /* null: there is nothing to be shown */
    wanted list[PICTURES_MOST + 1];
    sk_frame_range ranges[PICTURES_MOST + 1];
    int32_t n;
} showing;

static sk_status show_next(showing *s, bool *end, sk_error *err)
{
    const sk_frame *frame = NULL;
    *end = !s->source || sk_source_next(s->source, &frame, NULL) != SK_OK || !frame;
    if (*end)
        return SK_OK;
    const sk_status status = show_frame(s->report, s->list, s->n, frame, err);
    sk_source_release(s->source, frame);
    return status;
}

/* The ground, which is the first of them; the others come while the page's drawings are made. */
static sk_status begin_showing(showing *s, sk_error *err)
{
    const reporting *c = s->report;
    sk_source_settings media = c->settings->media;
    bool end;
    if (c->run->without_video || strcmp(c->header->source_kind, "live") == 0 ||
        sk_uri_is_once(c->settings->source))
        return SK_OK;
    s->n = list_wanted(s->report, &media, s->list);
    for (int32_t i = 0; i < s->n; i++) /* a frame that is in two of them comes once */
        s->ranges[i] = (sk_frame_range){s->list[i].frame, s->list[i].frame + 1, 1};
    media.ranges = s->ranges;
    media.n_ranges = s->n;
    media.first = s->list[0].frame;
    media.last = s->list[s->n - 1].frame + 1;
    media.step = 1;
    media.format = SK_PIXEL_RGB;
    media.accepts = NULL;
    media.n_accepts = 0;
    media.skip_unreadable = true;
    if (sk_source_open(c->settings->source, &media, &s->source, NULL) != SK_OK)
        return SK_OK;
    return show_next(s, &end, err);
}

static sk_status show_rest(void *context, sk_error *err)
{
    for (bool end = false; !end;)
        SK_TRY(show_next(context, &end, err));
    return SK_OK;
}

/* --- the page --- */

static int32_t list_times(const reporting *c, sk_report_time times[10])
{
    const sk_predict_report *r = c->times;
    int32_t n = 0;
    times[n++] = (sk_report_time){"tracking", c->run->figures.seconds};
    if (!r || r->frames == 0)
        return n;
    const sk_report_time parts[] = {{"reading the video", r->decode},
                                    {"before the network", r->pre},
                                    {"network", r->network},
                                    {"after the network", r->post},
                                    {"crops", r->crops},
                                    {"record", r->write},
                                    {"all frames, from first to last", r->seconds}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].seconds > 0)
            times[n++] = parts[i];
    return n;
}

static sk_status complete(sk_consumer *base, sk_error *err)
{
    reporting *c = (reporting *)base;
    const char *folder = sk_run_folder_path(c->folder);
    sk_report_time times[10];
    if (!c->report || !folder)
        return SK_OK;
    sk_report_end_frames(c->report);
    showing shown = {.report = c};
    const sk_report_pictures pictures = {show_rest, &shown};
    sk_status status = begin_showing(&shown, err);
    if (status == SK_OK)
        status = sk_report_write(c->report, folder, times, list_times(c, times), &pictures, err);
    sk_source_close(&shown.source);
    return status;
}

static void close_report(sk_consumer *base)
{
    sk_report_close(&((reporting *)base)->report);
}

static const sk_consumer_kind kind = {.name = "report",
                                      .begin = begin,
                                      .retell = retell,
                                      .take = take,
                                      .complete = complete,
                                      .close = close_report};

sk_consumer *sk_consumer_report(const sk_track_run *run, const sk_predict_settings *settings,
                                const sk_predict_report *report)
{
    reporting *c = sk_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->base = (sk_consumer){.kind = &kind, .files = {"report.html", "plots/"}};
    c->run = run;
    c->settings = settings;
    c->times = report;
    return &c->base;
}
