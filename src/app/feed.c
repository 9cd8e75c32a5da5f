/* SPDX-License-Identifier: Apache-2.0 */
#include "app/feed.h"

#include "app/preview.h"
#include "app/source_identity.h"
#include "base/clock.h"
#include "base/frame.h"
#include "base/log.h"
#include "base/memory.h"
#include "media/reader.h"
#include "media/source_told.h"
#include "pipeline/pipeline.h"
#include "tasks/stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct feeding {
    const sk_feed *how;
    sk_feed_report *report;
    sk_source_info info;
    char *frame_id; /* of the frame that is passed on */
    size_t frame_id_capacity;
    int64_t begin; /* ns */
    /* The reading side's, until its thread is joined: */
    int64_t given;
    double wait_source;
    bool told; /* of a frame with more than a second model looks at */
    sk_status give_status;
    sk_error give_error;
    atomic_bool stop;
} feeding;

static double seconds_since(int64_t ns)
{
    return (double)(sk_clock_ns() - ns) * 1e-9;
}

/* --- frames in --- */

static sk_status next_frame(feeding *f, const sk_frame **frame, sk_error *err)
{
    const sk_feed *how = f->how;
    *frame = NULL;
    if (how->frames && f->given == how->frames)
        return SK_OK;
    if (!how->source)
        return how->next(how->context, frame, err);
    int64_t begin = sk_clock_ns();
    SK_TRY(sk_source_next(how->source, frame, err));
    f->wait_source += seconds_since(begin);
    if (*frame) {
        const sk_slot *slot = (const sk_slot *)(const void *)*frame;
        sk_pipeline_mark(how->pipeline, "decode", (*frame)->index, slot->decode_begin, slot->decode_end);
    }
    return SK_OK;
}

/* Takes the next frame to the pipeline, which blocks while enough are on their way. */
static sk_status give(feeding *f, bool *any, sk_error *err)
{
    const sk_frame *frame = NULL;
    *any = false;
    SK_TRY(next_frame(f, &frame, err));
    if (!frame)
        return SK_OK;
    sk_preview_look(f->how->preview, frame);
    const sk_finder *finder = f->how->finder;
    const sk_instances *found = NULL;
    sk_status status = finder ? finder->find(finder->context, frame, &found, err) : SK_OK;
    if (status == SK_OK && sk_instances_count(found) > SK_MOST_CROPS && !f->told) {
        f->told = true;
        sk_log(SK_LOG_WARN, "frame %lld: %d animals, of which %d are looked at and told",
               (long long)frame->index, sk_instances_count(found), SK_MOST_CROPS);
    }
    if (status == SK_OK)
        status = sk_pipeline_submit_found(f->how->pipeline, frame, found, NULL,
                                          f->how->check ? SK_SUBMIT_CHECK : 0, err);
    if (status != SK_OK && f->how->source)
        sk_source_release(f->how->source, frame);
    f->given++;
    *any = status == SK_OK;
    return status;
}

/* --- results out --- */

static sk_status pass_on(feeding *f, const sk_result_frame *result, const sk_frame *frame, sk_error *err)
{
    sk_passing passing = {.result = result, .frame = frame};
    sk_status status = sk_consumers_take(f->how->consumers, &passing, f->begin, err);
    f->report->stopped |= passing.stop;
    f->report->seconds = result->problem ? f->report->seconds : passing.seconds;
    return status;
}

/* Pictures before this frame that could not be read come before it. */
static sk_status pass_unreadable(feeding *f, int64_t before, sk_error *err)
{
    static const sk_instances nothing = {0};
    sk_unreadable u = SK_UNREADABLE_INIT;
    while (f->how->source && sk_source_next_unreadable(f->how->source, before, &u)) {
        const sk_result_frame entry = {.source = u.name,
                                       .index = u.index,
                                       .instances = &nothing,
                                       .picture = sk_picture_stamp(u.name),
                                       .problem = u.problem[0] ? u.problem : "unreadable"};
        SK_TRY(pass_on(f, &entry, NULL, err));
    }
    return SK_OK;
}

/* Of a bag's image, where it is another than the run's, which is the first one's as far as its header has room. */
static sk_status find_frame_id(feeding *f, int64_t index, const char **out, sk_error *err)
{
    *out = NULL;
    if (!f->info.frame_id)
        return SK_OK;
    SK_TRY(sk_array_reserve((void **)&f->frame_id, &f->frame_id_capacity, 256, 1, SIZE_MAX / 4, err));
    const size_t length = sk_source_frame_id(f->how->source, index, f->frame_id, f->frame_id_capacity);
    if (length >= f->frame_id_capacity) {
        SK_TRY(
            sk_array_reserve((void **)&f->frame_id, &f->frame_id_capacity, length + 1, 1, SIZE_MAX / 4, err));
        (void)sk_source_frame_id(f->how->source, index, f->frame_id, f->frame_id_capacity);
    }
    if (length >= sizeof((sk_run_header *)0)->frame_id || strcmp(f->frame_id, f->info.frame_id) != 0)
        *out = f->frame_id;
    return SK_OK;
}

static sk_status pass_result(feeding *f, const sk_result *got, sk_error *err)
{
    sk_source *source = f->how->source;
    sk_result_frame result = {.source = got->frame && source ? sk_source_frame_name(source, got->frame)
                                                             : f->info.name,
                              .index = got->index,
                              .time = sk_time_seconds(got->time_ns),
                              .width = got->width,
                              .height = got->height,
                              .instances = got->instances,
                              .wall_ns = got->wall_ns};
    if (f->info.kind == SK_SOURCE_PICTURES)
        result.picture = sk_picture_stamp(result.source);
    SK_TRY(find_frame_id(f, got->index, &result.frame_id, err));
    SK_TRY(pass_unreadable(f, got->index, err));
    return pass_on(f, &result, got->frame, err);
}

static void note_check(sk_feed_report *report, const sk_check *check)
{
    if (!check || !check->ran)
        return;
    if (!report->checked || check->pcc < report->check.pcc)
        report->check = *check;
    report->checked = true;
}

/* The next result to the consumers; *any false once all are out. */
static sk_status take(feeding *f, bool *any, sk_error *err)
{
    const sk_result *got = NULL;
    *any = false;
    SK_TRY(sk_pipeline_take(f->how->pipeline, -1, &got, err));
    if (!got)
        return SK_OK;
    sk_status status = got->status;
    note_check(f->report, got->check);
    *any = status == SK_OK;
    if (!*any) {
        (void)sk_fail(err, status, "%s", got->problem);
    } else {
        if (f->how->consumers)
            status = pass_result(f, got, err);
        else
            f->report->seconds = seconds_since(f->begin);
        f->report->frames++;
        f->report->instances += sk_instances_count(got->instances);
    }
    sk_pipeline_give_back(f->how->pipeline, got);
    return status;
}

/* --- the loop, on two threads or on one --- */

static void *read_frames(void *context)
{
    feeding *f = context;
    bool any = true;
    while (any && f->give_status == SK_OK && !atomic_load(&f->stop))
        f->give_status = give(f, &any, &f->give_error);
    sk_pipeline_finish(f->how->pipeline);
    return NULL;
}

/* Ends the reading thread; its failure counts where there was no other. */
static sk_status end_reading(feeding *f, pthread_t reader, sk_status status, sk_error *err)
{
    if (status != SK_OK || f->report->stopped) {
        atomic_store(&f->stop, true);
        if (f->how->source)
            sk_source_stop(f->how->source);
        sk_pipeline_release(f->how->pipeline); /* gives the frames back; a reader in submit comes out */
    }
    pthread_join(reader, NULL);
    if (status != SK_OK || f->report->stopped || f->give_status == SK_OK)
        return status;
    if (err)
        *err = f->give_error;
    return f->give_status;
}

static sk_status with_a_reader(feeding *f, sk_error *err)
{
    pthread_t reader;
    if (pthread_create(&reader, NULL, read_frames, f) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: no thread for reading could be started",
                       f->info.name ? f->info.name : "frames");
    sk_status status = SK_OK;
    bool any = true;
    while (any && status == SK_OK && !f->report->stopped)
        status = take(f, &any, err);
    return end_reading(f, reader, status, err);
}

static sk_status alone(feeding *f, sk_error *err)
{
    sk_pipeline *pipeline = f->how->pipeline;
    bool any = true;
    while (any && !f->report->stopped && !(f->how->frames && f->given == f->how->frames)) {
        while (!f->report->stopped && sk_pipeline_in_flight(pipeline) >= f->how->in_flight)
            SK_TRY(take(f, &any, err));
        if (!f->report->stopped)
            SK_TRY(give(f, &any, err));
    }
    sk_pipeline_flush(pipeline);
    while (!f->report->stopped && sk_pipeline_in_flight(pipeline) > 0)
        SK_TRY(take(f, &any, err));
    if (f->report->stopped)
        sk_pipeline_release(pipeline);
    return SK_OK;
}

sk_status sk_feed_run(const sk_feed *how, sk_feed_report *report, sk_error *err)
{
    feeding f = {.how = how, .report = report, .begin = sk_clock_ns()};
    *report = (sk_feed_report){0};
    if (how->source)
        f.info = sk_source_info_of(how->source);
    sk_status status = how->in_flight ? alone(&f, err) : with_a_reader(&f, err);
    report->wait_source = f.wait_source;
    if (status == SK_OK && !report->stopped && how->consumers && !how->frames)
        status = pass_unreadable(&f, INT64_MAX, err);
    if (status == SK_OK && how->interrupted && how->interrupted(how->interrupted_context))
        report->stopped = true;
    sk_free(f.frame_id);
    return status;
}
