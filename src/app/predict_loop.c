/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_internal.h"
#include "app/source_identity.h"
#include "base/clock.h"
#include "base/frame.h"
#include "base/log.h"

/* Entries may sit in the journal's buffer this long before the operating system has them. */
#define FLUSH_NS 500000000

static double seconds_since(int64_t ns)
{
    return (double)(sk_clock_ns() - ns) * 1e-9;
}

/* Told of once each, the first few by name: there may be thousands. */
#define NAMED 10

/* Pictures before this frame that were left out come before it in the journal, too. */
static sk_status note_unreadable(predict_run *r, int64_t before, sk_error *err)
{
    static const sk_instances nothing = {0};
    sk_unreadable u;
    while (sk_source_next_unreadable(r->source, before, &u)) {
        sk_result_frame entry = {.source = u.name,
                                 .index = u.index,
                                 .instances = &nothing,
                                 .picture = sk_picture_stamp(u.name),
                                 .problem = u.problem[0] ? u.problem : "unreadable"};
        SK_TRY(sk_journal_append(r->folder.journal, &entry, err));
        SK_TRY(sk_run_folder_unreadable(&r->folder, u.index, u.name, u.problem, err));
        if (r->folder.n_unreadable <= NAMED)
            sk_log(SK_LOG_WARN, "left out: %s%s", u.problem,
                   r->folder.n_unreadable == NAMED ? " (more are in run.json only)" : "");
        r->progress.done++;
    }
    return SK_OK;
}

sk_status predict_write_overlay(predict_run *r, const sk_frame *frame, const char *name,
                                const sk_instances *instances, sk_error *err)
{
    SK_TRY(sk_overlay_run_write(r->overlay, frame, name, instances, err));
    if (!sk_overlay_run_part_is_full(r->overlay))
        return SK_OK;
    /* A part whose frames the journal has not got could never be continued. */
    SK_TRY(sk_journal_flush(r->folder.journal, true, err));
    return sk_overlay_run_end_part(r->overlay, err);
}

static sk_status write_result(predict_run *r, const sk_runner_result *got, sk_error *err)
{
    int64_t begin = sk_clock_ns();
    const sk_instances *found = got->instances;
    const char *name = got->frame ? sk_source_frame_name(r->source, got->frame) : r->info.name;
    sk_result_frame result = {.source = name,
                              .index = got->index,
                              .time = sk_time_seconds(got->time_ns),
                              .width = got->width,
                              .height = got->height,
                              .instances = found,
                              .wall_ns = got->wall_ns};
    if (r->info.kind == SK_SOURCE_PICTURES)
        result.picture = sk_picture_stamp(name);
    SK_TRY(note_unreadable(r, got->index, err));
    if (r->crops) { /* before the journal knows the frame: what it knows has its crops */
        SK_TRY(sk_crop_run_write(r->crops, got->frame, &result, err));
        r->report->crops += seconds_since(begin);
        begin = sk_clock_ns();
    }
    SK_TRY(sk_journal_append(r->folder.journal, &result, err));
    for (int32_t i = 0; i < r->n_sinks; i++)
        SK_TRY(r->sinks[i]->write(r->sinks[i], &result, err));
    int64_t now = sk_clock_ns();
    if (now - r->last_flush > FLUSH_NS) {
        SK_TRY(sk_journal_flush(r->folder.journal, false, err));
        r->last_flush = now;
    }
    r->report->write += seconds_since(begin);
    if (r->overlay) {
        begin = sk_clock_ns();
        SK_TRY(predict_write_overlay(r, got->frame, result.source, found, err));
        r->report->overlay += seconds_since(begin);
    }
    r->progress.done++;
    r->progress.instances += found->count;
    return SK_OK;
}

static void fill_times(predict_run *r)
{
    sk_detector_times times;
    sk_detector_get_times(r->detector, &times);
    r->report->pre = times.pre;
    r->report->network = times.network;
    r->report->post = times.post;
}

/* Takes frames from the source to the runner, which blocks while enough are on their way. */
static void *feed(void *context)
{
    predict_run *r = context;
    sk_status status = SK_OK;
    while (status == SK_OK && !atomic_load(&r->stop)) {
        const sk_frame *frame = NULL;
        int64_t begin = sk_clock_ns();
        status = sk_source_next(r->source, &frame, &r->feeder_error);
        r->wait_source += seconds_since(begin);
        if (status != SK_OK || !frame)
            break;
        status = sk_runner_submit(r->runner, frame, NULL, NULL, &r->feeder_error);
        if (status != SK_OK)
            sk_source_release(r->source, frame);
    }
    r->feeder_status = status;
    sk_runner_finish(r->runner);
    return NULL;
}

static sk_status start_feeder(predict_run *r, sk_error *err)
{
    if (pthread_create(&r->feeder, NULL, feed, r) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: no thread for reading could be started", r->settings->source);
    r->feeding = true;
    return SK_OK;
}

/* Ends the feeder; its failure counts where there was no other. */
static sk_status stop_feeder(predict_run *r, sk_status status, sk_error *err)
{
    if (!r->feeding)
        return status;
    if (status != SK_OK || r->report->stopped) {
        atomic_store(&r->stop, true);
        sk_source_stop(r->source);
        sk_runner_release(r->runner); /* gives the frames back; a feeder in submit comes out */
    }
    pthread_join(r->feeder, NULL);
    r->feeding = false;
    r->report->wait_source = r->wait_source;
    if (status != SK_OK || r->report->stopped || r->feeder_status == SK_OK)
        return status;
    if (err)
        *err = r->feeder_error;
    return r->feeder_status;
}

sk_status predict_frames(predict_run *r, sk_predict_watch watch, void *context, sk_error *err)
{
    int64_t begin = sk_clock_ns();
    sk_status status = start_feeder(r, err);
    while (status == SK_OK && !r->report->stopped) {
        sk_runner_result result;
        status = sk_runner_next(r->runner, &result, err);
        if (status != SK_OK || result.ticket < 0)
            break;
        status = write_result(r, &result, err);
        r->report->frames++;
        r->progress.seconds = seconds_since(begin);
        if (status == SK_OK && watch && watch(context, &r->progress))
            r->report->stopped = true;
    }
    fill_times(r);
    status = stop_feeder(r, status, err);
    if (status == SK_OK && !r->report->stopped)
        status = note_unreadable(r, INT64_MAX, err);
    r->report->seconds = r->progress.seconds; /* one clock for progress, summary and run.json */
    return status;
}
