/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/reader.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

/* What the tracks look like: sightings while they pass; at the end a few frames of the video once more, for pictures, and the page. */

#define PICTURES_MOST 12 /* moments with a picture: each is a search in the video */

typedef struct reporting {
    sk_consumer base;
    const sk_track_run *run;
    const sk_predict_settings *settings;
    const sk_predict_report *times;
    sk_run_folder *folder;
    const sk_run_header *header;
    sk_report *report;
} reporting;

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    reporting *c = (reporting *)base;
    char made_by[512], method[64];
    const sk_track_wish *wish = &c->run->wish;
    c->folder = folder;
    c->header = header;
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
                                         .animals = {one_class ? header->class_names[0] : NULL}};
    return sk_report_open(&settings, &c->report, err);
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    reporting *c = (reporting *)base;
    const sk_result_frame *r = passing->result;
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

typedef sk_status (*picture_taker)(sk_report *report, int32_t i, const sk_frame *frame, sk_error *err);

static sk_status take_ground(sk_report *report, int32_t i, const sk_frame *frame, sk_error *err)
{
    (void)i;
    return sk_report_ground(report, frame, err);
}

/* A file that is played over and over has the same pictures each time: without this all of it would be decoded up to them. */
static void fold(const reporting *c, sk_source_settings *media)
{
    sk_source *source = NULL;
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_settings once = *media;
    if (media->loop <= 1 || c->settings->media.first > 0 || c->settings->media.last > 0)
        return;
    once.first = 0;
    once.last = 1;
    once.loop = 1;
    if (sk_source_open(c->settings->source, &once, &source, NULL) != SK_OK)
        return;
    sk_source_get_info(source, &info);
    sk_source_close(&source);
    if (info.total < 1 || !info.exact)
        return;
    media->first %= info.total;
    media->last = media->first + 1;
    media->loop = 1;
}

/* A frame by its number. A video that cannot be read again leaves the page without the picture: the tracks are there. */
static sk_status show(reporting *c, int64_t number, int32_t i, picture_taker taker, sk_error *err)
{
    sk_source_settings media = c->settings->media;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    sk_status status = SK_OK;
    media.first = number;
    media.last = number + 1;
    media.step = 1;
    media.format = SK_PIXEL_RGB;
    media.accepts = NULL;
    media.n_accepts = 0;
    fold(c, &media);
    if (sk_source_open(c->settings->source, &media, &source, NULL) != SK_OK)
        return SK_OK;
    if (sk_source_next(source, &frame, NULL) == SK_OK && frame) {
        status = taker(c->report, i, frame, err);
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
    return status;
}

static sk_status show_all(reporting *c, sk_error *err)
{
    int32_t n = 0;
    const sk_suspect *list = sk_report_suspects(c->report, &n);
    if (c->run->without_video || strcmp(c->header->source_kind, "live") == 0 ||
        sk_uri_is_once(c->settings->source))
        return SK_OK;
    const int64_t first = c->settings->media.first > 0 ? c->settings->media.first : 0;
    SK_TRY(show(c, first, 0, take_ground, err));
    for (int32_t i = 0; i < n && i < PICTURES_MOST; i++)
        SK_TRY(show(c, list[i].frame, i, sk_report_picture, err));
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
    SK_TRY(show_all(c, err));
    return sk_report_write(c->report, folder, times, list_times(c, times), err);
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
