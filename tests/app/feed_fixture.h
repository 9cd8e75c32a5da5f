/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_FEED_FIXTURE_H
#define SK_TESTS_APP_FEED_FIXTURE_H

#include "standing_clock.h"
#include "support/test.h"

#include "app/consumers.h"
#include "app/feed.h"
#include "app/preview.h"
#include "app/source_identity.h"
#include "base/instances.h"
#include "base/memory.h"
#include "base/text.h"
#include "media/reader.h"
#include "media/source_told.h"
#include "pipeline/pipeline.h"
#include "skitter/log.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define MOST   16

/* A source, a pipeline and a clock in the places of the real ones, which say what they are asked. For one file of tests: what is defined
 * here takes the names of the real ones. */

static sk_error err;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char heard[4096]; /* under the lock */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    pthread_mutex_lock(&lock);
    const size_t used = strlen(heard);
    vsnprintf(heard + used, sizeof heard - used, format, list);
    pthread_mutex_unlock(&lock);
    va_end(list);
}

/* --- the source: so many frames, some of which fail --- */

struct sk_source {
    sk_slot slots[MOST];
    int64_t count, given, fails_at, waits_ns;
    bool stopped;
    sk_unreadable unreadable[3];
    int n_unreadable, told;
    sk_source_info info;
    const char *ids[MOST]; /* of a bag's images */
};

sk_status sk_source_next(sk_source *s, const sk_frame **frame, sk_error *error)
{
    *frame = NULL;
    shown += s->waits_ns;
    if (s->given == s->fails_at)
        return sk_fail(error, SK_ERR_IO, "the source fails");
    if (s->stopped || s->given >= s->count)
        return SK_OK;
    sk_slot *slot = &s->slots[s->given];
    slot->frame = (sk_frame){.size = sizeof slot->frame, .index = s->given, .time_ns = s->given * 40000000};
    slot->decode_begin = 100 + s->given, slot->decode_end = 200 + s->given;
    s->given++;
    *frame = &slot->frame;
    return SK_OK;
}

void sk_source_release(sk_source *s, const sk_frame *frame)
{
    (void)s;
    say("release %lld; ", (long long)frame->index);
}

void sk_source_stop(sk_source *s)
{
    s->stopped = true;
    say("stop; ");
}

void sk_source_get_info(const sk_source *s, sk_source_info *info)
{
    *info = s->info;
}

const char *sk_source_frame_name(const sk_source *s, const sk_frame *frame)
{
    static char name[32];
    (void)s;
    snprintf(name, sizeof name, "%lld.png", (long long)frame->index);
    return name;
}

bool sk_source_next_unreadable(sk_source *s, int64_t before, sk_unreadable *out)
{
    if (s->told >= s->n_unreadable || s->unreadable[s->told].index >= before)
        return false;
    *out = s->unreadable[s->told++];
    return true;
}

size_t sk_source_frame_id(sk_source *s, int64_t index, char *out, size_t capacity)
{
    return (size_t)snprintf(out, capacity, "%s", s->ids[index]);
}

uint64_t sk_picture_stamp(const char *path)
{
    return (uint64_t)path[0];
}

void sk_preview_look(sk_consumer *preview, const sk_frame *frame)
{
    if (preview)
        say("look at %lld; ", (long long)frame->index);
}

/* --- the pipeline: a queue --- */

struct sk_pipeline {
    sk_result results[MOST];
    int64_t in, out, refuses, fails; /* frames by number; -1: none */
    int32_t flushed;
    bool finished, released, held; /* held: nothing comes out until it is finished */
    uint32_t flags;
    const sk_instances *found;
};

sk_status sk_pipeline_submit_found(sk_pipeline *p, const sk_frame *frame, const sk_instances *found,
                                   void *user, uint32_t flags, sk_error *error)
{
    static const sk_instances two = {.count = 2};
    assert_null(user);
    if (frame->index == p->refuses)
        return sk_fail(error, SK_ERR_ARG, "the pipeline takes no such frame");
    say("submit %lld; ", (long long)frame->index);
    pthread_mutex_lock(&lock);
    p->flags = flags;
    p->found = found;
    p->results[p->in++ % MOST] = (sk_result){.size = sizeof(sk_result),
                                             .status = frame->index == p->fails ? SK_ERR_LIMIT : SK_OK,
                                             .problem = frame->index == p->fails ? "it fails" : "",
                                             .index = frame->index,
                                             .time_ns = frame->time_ns,
                                             .width = 64,
                                             .height = 48,
                                             .frame = frame,
                                             .instances = &two};
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return SK_OK;
}

static sk_check checks[MOST];
static bool checked;

sk_status sk_pipeline_take(sk_pipeline *p, int32_t timeout_ms, const sk_result **out, sk_error *error)
{
    assert_int_equal(timeout_ms, -1);
    *out = NULL;
    pthread_mutex_lock(&lock);
    while (!p->released && !(p->in > p->out && (!p->held || p->finished)) && !p->finished)
        pthread_cond_wait(&changed, &lock);
    const bool any = p->in > p->out && !p->released, ended = p->released;
    sk_result *r = &p->results[p->out % MOST];
    p->out += any;
    pthread_mutex_unlock(&lock);
    if (ended)
        return sk_fail(error, SK_ERR_CANCELLED, "released");
    if (!any)
        return SK_OK;
    r->check = checked ? &checks[r->index] : NULL;
    say("take %lld; ", (long long)r->index);
    *out = r;
    return SK_OK;
}

void sk_pipeline_give_back(sk_pipeline *p, const sk_result *result)
{
    (void)p;
    say("back %lld; ", (long long)result->index);
}

void sk_pipeline_finish(sk_pipeline *p)
{
    pthread_mutex_lock(&lock);
    p->finished = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void sk_pipeline_flush(sk_pipeline *p)
{
    p->flushed++;
    say("flush; ");
}

void sk_pipeline_release(sk_pipeline *p)
{
    pthread_mutex_lock(&lock);
    p->released = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    say("let go; ");
}

int32_t sk_pipeline_in_flight(sk_pipeline *p)
{
    return (int32_t)(p->in - p->out);
}

static char marks[512];

void sk_pipeline_mark(sk_pipeline *p, const char *name, int64_t frame, int64_t begin_ns, int64_t end_ns)
{
    (void)p;
    const size_t used = strlen(marks);
    snprintf(marks + used, sizeof marks - used, "%s %lld %lld-%lld; ", name, (long long)frame,
             (long long)begin_ns, (long long)end_ns);
}

/* --- who takes them --- */

static int64_t stops_at, breaks_at;
static double took;

static bool tapped(void *context, const sk_result_frame *r, const sk_frame *frame)
{
    (void)frame;
    if (r->problem)
        say("%s (%s) %llu; ", r->source, r->problem, (unsigned long long)r->picture);
    else
        say("%s %g %dx%d of %d; ", r->source, r->time, r->width, r->height, r->instances->count);
    if (r->frame_id)
        say("%.5s of %zu; ", r->frame_id, strlen(r->frame_id));
    const bool pictures = ((const sk_source *)context)->info.kind == SK_SOURCE_PICTURES;
    assert_int_equal(r->picture, pictures ? (uint64_t)r->source[0] : 0);
    shown += (int64_t)(took * 1e9);
    return r->index == stops_at;
}

static sk_source source;
static sk_pipeline pipeline;
static sk_feed how;
static sk_feed_report report;
static sk_consumers list;

static void begin(int64_t frames, int32_t in_flight)
{
    static const sk_tap wish = {
        .needs = SK_NEEDS_NAMES | SK_NEEDS_PROBLEMS, .take = tapped, .context = &source};
    source = (sk_source){.count = frames, .fails_at = -1, .info = {.name = "v", .kind = SK_SOURCE_VIDEO}};
    pipeline = (sk_pipeline){.refuses = -1, .fails = -1};
    sk_consumers_close(&list);
    assert_ok(sk_consumers_add(&list, sk_consumer_tap(&wish), &err), &err);
    how = (sk_feed){.source = &source, .pipeline = &pipeline, .consumers = &list, .in_flight = in_flight};
    heard[0] = marks[0] = '\0';
    stops_at = -1, breaks_at = -1, took = 0;
    checked = false;
    shown = 50 * SECOND;
    memset(&report, 0x7F, sizeof report); /* all of it is said anew */
}

static const char *run(sk_status wanted)
{
    const sk_status status = sk_feed_run(&how, &report, &err);
    if (status != wanted)
        fail_msg("%d: %s (%s)", (int)status, err.message, heard);
    return heard;
}

#endif
