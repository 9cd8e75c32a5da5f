/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames of the video a report is shown, and how the video is opened for that: by a source and a report of this test's own, which
 * write down what they are asked. */
#include "support/test.h"

#include "app/track_internal.h"
#include "base/memory.h"
#include "media/reader.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static char heard[1024];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const size_t used = strlen(heard);
    vsnprintf(heard + used, sizeof heard - used, format, list);
    va_end(list);
}

/* --- the folder, the report and the video --- */

struct sk_run_folder {
    int unused;
};
struct sk_report {
    int unused;
};
static const sk_suspect *moments;
static int32_t n_moments;

const char *sk_run_folder_path(const sk_run_folder *folder)
{
    (void)folder;
    return "out";
}

const char *sk_run_header_line(const sk_run_header *header, char *line, size_t capacity)
{
    (void)header;
    line[capacity - 1] = '\0';
    return "";
}

sk_status sk_report_open(const sk_report_settings *settings, sk_report **out, sk_error *error)
{
    (void)settings;
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(error, sizeof **out);
}

void sk_report_close(sk_report **report)
{
    sk_free(*report);
    *report = NULL;
}

sk_status sk_report_take(sk_report *report, int64_t frame, double time, const sk_sighting *sightings,
                         int32_t n, sk_error *error)
{
    (void)report, (void)frame, (void)time, (void)sightings, (void)n, (void)error;
    return SK_OK;
}

void sk_report_end_frames(sk_report *report)
{
    (void)report;
}

const sk_suspect *sk_report_suspects(const sk_report *report, int32_t *count)
{
    (void)report;
    *count = n_moments;
    return moments;
}

sk_status sk_report_ground(sk_report *report, const sk_frame *frame, sk_error *error)
{
    (void)report, (void)error;
    say("ground %lld; ", (long long)frame->index);
    return SK_OK;
}

sk_status sk_report_picture(sk_report *report, int32_t i, const sk_frame *frame, sk_error *error)
{
    (void)report, (void)error;
    say("%d: %lld; ", i, (long long)frame->index);
    return SK_OK;
}

sk_status sk_report_write(sk_report *report, const char *folder, const sk_report_time *times, int32_t n_times,
                          const sk_report_pictures *pictures, sk_error *error)
{
    (void)report, (void)folder, (void)times;
    assert_int_equal(n_times, 1);
    say("write; ");
    return pictures->show(pictures->context, error);
}

struct sk_source {
    sk_source_settings how;
    sk_frame frame;
    int32_t next;
};
static int64_t total;
static bool exact, closed_to_us;
static int open_ones;

bool sk_uri_is_once(const char *uri)
{
    (void)uri;
    return false;
}

sk_status sk_source_open(const char *uri, const sk_source_settings *settings, sk_source **out,
                         sk_error *error)
{
    *out = NULL;
    assert_string_equal(uri, "v.mp4");
    if (closed_to_us)
        return sk_fail(error, SK_ERR_IO, "not to be opened");
    sk_source *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(error, sizeof *s);
    s->how = *settings;
    open_ones++;
    *out = s;
    if (!settings->n_ranges) { /* asked how long it is */
        assert_true(settings->loop == 1 && settings->last >= 0);
        return SK_OK;
    }
    assert_true(settings->format == SK_PIXEL_RGB && settings->step == 1 && !settings->accepts &&
                settings->n_accepts == 0 && settings->skip_unreadable);
    say("open %lld to %lld, %d times; ", (long long)settings->first, (long long)settings->last,
        settings->loop);
    return SK_OK;
}

void sk_source_close(sk_source **source)
{
    open_ones -= *source != NULL;
    sk_free(*source);
    *source = NULL;
}

void sk_source_get_info(const sk_source *source, sk_source_info *info)
{
    assert_int_equal(source->how.n_ranges, 0);
    info->total = total;
    info->exact = exact;
}

/* Every frame that is in a range, once. */
sk_status sk_source_next(sk_source *source, const sk_frame **frame, sk_error *error)
{
    const sk_source_settings *s = &source->how;
    (void)error;
    while (source->next && source->next < s->n_ranges &&
           s->ranges[source->next].first == s->ranges[source->next - 1].first)
        source->next++;
    *frame = NULL;
    if (source->next == s->n_ranges)
        return SK_OK;
    const sk_frame_range *r = &s->ranges[source->next++];
    assert_true(r->last == r->first + 1 && r->step == 1);
    source->frame = (sk_frame){.size = sizeof(sk_frame), .index = r->first};
    *frame = &source->frame;
    return SK_OK;
}

void sk_source_release(sk_source *source, const sk_frame *frame)
{
    assert_ptr_equal(frame, &source->frame);
}

/* --- a run --- */

static sk_track_run run;
static sk_predict_settings settings;

static const char *told(int64_t last)
{
    static const sk_run_header header = {.source = "v.mp4", .source_kind = "video"};
    static const sk_instances nobody = {0};
    sk_run_folder folder = {0};
    sk_consumers list = {0};
    heard[0] = '\0';
    assert_ok(sk_consumers_add(&list, sk_consumer_report(&run, &settings, NULL), &err), &err);
    sk_consumer *c = list.items[0];
    assert_ok(c->kind->begin(c, &header, &folder, &err), &err);
    const sk_result_frame frame = {.index = last, .instances = &nobody};
    sk_passing passing = {.result = &frame};
    if (last >= 0)
        assert_ok(c->kind->take(c, &passing, &err), &err);
    assert_ok(c->kind->complete(c, &err), &err);
    sk_consumers_close(&list);
    assert_int_equal(open_ones, 0);
    return heard;
}

/* A moment of a later round is shown as it was in the first, where it is known how long one is. */
static void rounds(void **state)
{
    (void)state;
    static const sk_suspect two[] = {{.frame = 23}, {.frame = 5}};
    static const char *const once = "open 0 to 6, 1 times; ground 0; write; 0: 3; 1: 5; ",
                             *const all = "open 0 to 24, 3 times; ground 0; write; 1: 5; 0: 23; ";
    static const struct {
        int32_t loop;
        int64_t first, last, total;
        bool exact;
        int64_t told;
        const char *wanted;
    } rows[] = {{3, 0, -1, 10, true, 4, once},   {3, 0, -1, 10, false, 29, once},
                {3, 0, -1, 10, false, 28, all},  {3, 0, -1, 10, false, 30, all},
                {3, -1, -1, 10, true, 29, once}, {3, 0, 0, 10, true, 29, once},
                {3, 0, -1, 0, true, 29, all},    {3, 0, -1, -1, true, 29, all},
                {3, 0, -1, -1, false, -4, all},  {3, 0, -1, 0, false, -1, all}};
    settings = (sk_predict_settings){.source = "v.mp4"};
    run.wish.track.method = "skitter";
    moments = two, n_moments = 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        settings.media = (sk_source_settings){.loop = rows[i].loop,
                                              .first = rows[i].first,
                                              .last = rows[i].last,
                                              .step = 5,
                                              .format = SK_PIXEL_GRAY};
        total = rows[i].total, exact = rows[i].exact;
        if (strcmp(told(rows[i].told), rows[i].wanted) != 0)
            fail_msg("row %zu: %s", i, heard);
    }
    /* a part of it, or one round: as they are */
    total = 10, exact = true;
    settings.media.last = 1, settings.media.loop = 3;
    assert_string_equal(told(29), all);
    settings.media.last = -1, settings.media.first = 1;
    assert_string_equal(told(29), "open 1 to 24, 3 times; ground 1; write; 1: 5; 0: 23; ");
    settings.media.first = 0, settings.media.loop = 1;
    assert_string_equal(told(29), "open 0 to 24, 1 times; ground 0; write; 1: 5; 0: 23; ");
    settings.media.loop = 3; /* what cannot be opened is not shown */
    closed_to_us = true;
    assert_string_equal(told(29), "write; ");
    closed_to_us = false;
}

/* Of one frame the ground comes first, then moments in their order; no more than twelve. */
static void in_order(void **state)
{
    (void)state;
    sk_suspect many[14] = {{.frame = 0}, {.frame = 7}, {.frame = 0}, {.frame = 7}};
    settings.media = (sk_source_settings){.loop = 1, .last = -1};
    moments = many, n_moments = 4;
    assert_string_equal(told(29), "open 0 to 8, 1 times; ground 0; 0: 0; 2: 0; write; 1: 7; 3: 7; ");
    for (int i = 0; i < 14; i++)
        many[i].frame = 20;
    for (n_moments = 11; n_moments < 15; n_moments++) {
        int n = 0;
        for (const char *at = told(29); (at = strstr(at, ": 20; ")); at++)
            n++;
        assert_int_equal(n, n_moments < 12 ? n_moments : 12);
    }
    n_moments = 0;
    assert_string_equal(told(29), "open 0 to 1, 1 times; ground 0; write; ");
    assert_string_equal(told(-1), "open 0 to 1, 1 times; ground 0; write; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds), cmocka_unit_test(in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
