/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_FRAME_FIXTURE_H
#define SK_TESTS_APP_FRAME_FIXTURE_H

#include "standing_clock.h"
#include "support/test.h"

#include "app/frame_reader.h"
#include "app/overlay_run.h"
#include "base/cpu.h"
#include "base/instances.h"
#include "base/memory.h"
#include "media/overlay.h"
#include "media/reader.h"
#include "media/shrink.h"
#include "media/video_sink.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)

/* A file of a hundred frames, a clock and those who draw and pack, in the places of the real ones; they say what they are asked. For one
 * file of tests: what is defined here takes the names of the real ones. */

static sk_error err;
static char heard[4096];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const size_t used = strlen(heard);
    vsnprintf(heard + used, sizeof heard - used, format, list);
    va_end(list);
}

static const char *told(void)
{
    static char text[sizeof heard];
    memcpy(text, heard, sizeof text);
    heard[0] = '\0';
    return text;
}

/* --- the file: a hundred frames, each of which costs so much --- */

static int32_t cores = 4, frame_width = 64, frame_height = 48;
static int64_t reading_costs, gives = -1; /* the frame it has come to when it is late */
static bool nothing_yet;
static sk_source_settings opened_with;

typedef struct file {
    sk_reader base;
    int64_t next;
} file;

static sk_status file_read(sk_reader *base, sk_slot *slot, bool *end, sk_error *error)
{
    static uint8_t pixel[3];
    file *f = (file *)base;
    (void)error;
    shown += reading_costs;
    const bool late = base->give_by_ns && shown >= base->give_by_ns;
    const int64_t n = late && gives >= 0 ? gives : f->next;
    *end = n >= 100 || (late && nothing_yet);
    slot->frame = (sk_frame){.index = n, .width = frame_width, .height = frame_height, .data = pixel};
    say("%lld%s ", (long long)n, *end ? "!" : "");
    return SK_OK;
}

static sk_status file_seek(sk_reader *base, int64_t frame, sk_error *error)
{
    (void)error;
    ((file *)base)->next = frame;
    return SK_OK;
}

static void file_close(sk_reader *base)
{
    say("closed ");
    sk_free(base);
}

sk_status sk_reader_open_file(const char *uri, const sk_source_settings *settings, sk_reader **out,
                              sk_error *error)
{
    file *f = sk_calloc(1, sizeof *f);
    if (!f)
        return sk_fail_memory(error, sizeof *f);
    f->base.read = file_read, f->base.seek = file_seek, f->base.close = file_close;
    f->next = settings->first;
    opened_with = *settings;
    say("open %s ", uri);
    *out = &f->base;
    return SK_OK;
}

sk_status sk_reader_open_pictures(const char *uri, const sk_source_settings *settings, sk_reader **out,
                                  sk_error *error)
{
    return sk_reader_open_file(uri, settings, out, error);
}

bool sk_uri_is_live(const char *uri)
{
    return strcmp(uri, "camera") == 0;
}

bool sk_uri_is_once(const char *uri)
{
    return strcmp(uri, "pipe") == 0;
}

bool sk_uri_is_pictures(const char *uri)
{
    return strcmp(uri, "pictures") == 0;
}

const char *sk_uri_path(const char *uri)
{
    return strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri;
}

void sk_slot_free(sk_slot *slot)
{
    (void)slot;
}

void sk_source_defaults(sk_source_settings *settings)
{
    *settings = (sk_source_settings){.size = sizeof *settings, .first = 3, .last = 4, .step = 1, .loop = 1};
}

int32_t sk_cpu_usable_cores(void)
{
    return cores;
}

/* --- who draws and packs --- */

sk_status sk_frame_shrink(const sk_frame *frame, const int part[4], int width, int height, sk_frame *out,
                          sk_error *error)
{
    assert_true(part[0] == 0 && part[1] == 0 && part[2] == frame->width && part[3] == frame->height);
    say("shrink to %dx%d ", width, height);
    *out = *frame;
    out->width = width, out->height = height;
    out->data = sk_malloc(1);
    return out->data ? SK_OK : sk_fail_memory(error, 1);
}

sk_status sk_picture_jpeg(const sk_frame *frame, int quality, uint8_t **bytes, size_t *length,
                          sk_error *error)
{
    assert_int_equal(quality, 85);
    *bytes = sk_malloc(1);
    if (!*bytes)
        return sk_fail_memory(error, 1);
    **bytes = (uint8_t)frame->index;
    *length = 1;
    say("pack %lld ", (long long)frame->index);
    return SK_OK;
}

static sk_overlay_settings how_drawn;

void sk_overlay_defaults(sk_overlay_settings *settings)
{
    *settings = (sk_overlay_settings){.trail = 30};
}

sk_status sk_overlay_open(const sk_overlay_settings *settings, sk_overlay **out, sk_error *error)
{
    how_drawn = *settings;
    *out = sk_calloc(1, 1);
    return *out ? SK_OK : sk_fail_memory(error, 1);
}

void sk_overlay_close(sk_overlay **overlay)
{
    sk_free(*overlay);
    *overlay = NULL;
}

void sk_overlay_draw_tracks(sk_overlay *overlay, sk_frame *frame, const sk_instances *instances,
                            const sk_overlay_track *tracks)
{
    (void)overlay;
    say("%s%d", frame->width == 1 && frame->height == 1 && frame->stride == 3 ? "trail " : "draw ",
        instances->count);
    for (int32_t i = 0; tracks && i < instances->count; i++)
        say("/%d", tracks[i].track);
    say(" ");
}

sk_overlay_track sk_overlay_track_of(const sk_sighting *sighting)
{
    return (sk_overlay_track){.track = sighting->track};
}

/* A run that has every second frame; frames that four divides were not followed. */
static const char *const classes[] = {"fly", "bee"};
static const int32_t edges[][2] = {{0, 1}};
static const sk_run_header header = {.n_classes = 2, .class_names = classes, .n_edges = 1, .edges = edges};

void sk_run_view_get_info(const sk_run_view *view, sk_run_view_info *info)
{
    (void)view;
    *info = (sk_run_view_info){.header = &header};
}

int64_t sk_run_view_place(const sk_run_view *view, int64_t frame)
{
    (void)view;
    return (frame + 1) / 2;
}

int64_t sk_run_view_number(const sk_run_view *view, int64_t place)
{
    (void)view;
    return place < 50 ? 2 * place : -1;
}

sk_status sk_run_view_frame(sk_run_view *view, int64_t frame, sk_result_frame *out, sk_error *error)
{
    static sk_instances some;
    static sk_sighting seen[100];
    (void)view, (void)error;
    some.count = frame % 4 ? 2 : 1;
    seen[0].track = (int32_t)frame, seen[1].track = 7;
    *out = (sk_result_frame){.index = frame, .instances = &some, .sightings = frame % 4 ? seen : NULL};
    return SK_OK;
}

#endif
