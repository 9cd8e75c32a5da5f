/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_events.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/object.h"
#include "media/source_told.h"
#include "pipeline/pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Progress comes four times a second at first, later once: a run may last for days. */
#define SOON_NS     ((int64_t)250000000)
#define LATER_NS    ((int64_t)1000000000)
#define SOON_FOR_NS ((int64_t)60 * 1000000000)
#define RATE_NS     ((int64_t)1000000000) /* the rate is measured over at least so long */

struct sk_run_events {
    int file;
    pthread_mutex_t lock; /* one line at a time */
    int64_t opened_ns, told_ns;
    /* What the rate is measured by: */
    int64_t rate_ns, rate_frames;
    double rate;
    bool gone; /* nobody reads any more, or a line was cut off: nothing more is told */
};

#define CUT_OFF_MS 1000 /* a reader that stops amid a line gets so long */

sk_status sk_run_events_open(int file, sk_run_events **out, sk_error *err)
{
    *out = NULL;
    const int flags = fcntl(file, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return sk_fail(err, SK_ERR_ARG, "--events %d: this descriptor is not open for writing", file);
    sk_run_events *e = sk_calloc(1, sizeof *e);
    if (!e || pthread_mutex_init(&e->lock, NULL) != 0) {
        sk_free(e);
        return sk_fail_memory(err, sizeof *e);
    }
    e->file = file;
    e->opened_ns = sk_clock_ns();
    *out = e;
    return SK_OK;
}

void sk_run_events_close(sk_run_events **events)
{
    SK_TAKE_OR_RETURN(e, events);
    pthread_mutex_destroy(&e->lock);
    sk_free(e);
}

/* --- lines --- */

typedef struct line {
    sk_text text;
    sk_json json;
} line;

static void begin(line *l, const char *event)
{
    *l = (line){0};
    l->json = sk_json_to_text(&l->text, 0);
    sk_json_object(&l->json);
    sk_json_key_string(&l->json, "event", event);
}

/* Whole or not at all. Pieces of PIPE_BUF after poll: so much is taken at once, however the descriptor was opened. */
static void write_line(sk_run_events *e, const char *data, size_t length)
{
    for (size_t at = 0; at < length && !e->gone;) {
        struct pollfd ready = {.fd = e->file, .events = POLLOUT};
        const int n_ready = poll(&ready, 1, at ? CUT_OFF_MS : 0);
        if (n_ready < 0 && errno == EINTR)
            continue;
        if (n_ready <= 0) {
            e->gone = at > 0;
            return;
        }
        const ssize_t n = write(e->file, data + at, length - at < PIPE_BUF ? length - at : PIPE_BUF);
        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
            e->gone = true;
        else if (errno == EAGAIN && at == 0)
            return;
    }
}

/* A reader that is gone does not end the run: SIGPIPE is this thread's, and is taken here. */
static void end(sk_run_events *e, line *l)
{
    sk_json_close(&l->json);
    if (sk_json_end(&l->json, NULL) == SK_OK) {
        sigset_t broken, before, waiting;
        sigemptyset(&broken);
        sigaddset(&broken, SIGPIPE);
        pthread_mutex_lock(&e->lock);
        pthread_sigmask(SIG_BLOCK, &broken, &before);
        write_line(e, l->text.data, l->text.length);
        if (e->gone && !sigismember(&before, SIGPIPE) && sigpending(&waiting) == 0 &&
            sigismember(&waiting, SIGPIPE)) {
            int ignored;
            sigwait(&broken, &ignored);
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_mutex_unlock(&e->lock);
    }
    sk_text_free(&l->text);
}

void sk_run_events_begin(sk_run_events *e, const char *source, const char *out, size_t number, size_t count,
                         const char *requested)
{
    line l;
    if (!e)
        return;
    begin(&l, "begin");
    sk_json_key_strings(&l.json, {"source", source}, {"out", out}, {"runtime_requested", requested});
    sk_json_key_ints(&l.json, {"number", (int64_t)number}, {"count", (int64_t)count});
    end(e, &l);
    pthread_mutex_lock(&e->lock);
    e->told_ns = e->rate_ns = 0;
    e->rate = 0;
    pthread_mutex_unlock(&e->lock);
}

void sk_run_events_export(sk_run_events *e, sk_artifact_step step, const char *path, const char *note,
                          double part)
{
    static const char *const steps[] = {[SK_ARTIFACT_WAITING] = "waiting",
                                        [SK_ARTIFACT_MAKING] = "making",
                                        [SK_ARTIFACT_CHECKING] = "checking",
                                        [SK_ARTIFACT_WRITING] = "writing",
                                        [SK_ARTIFACT_DONE] = "done"};
    line l;
    if (!e)
        return;
    begin(&l, "export");
    sk_json_key_strings(&l.json, {"step", steps[step]}, {"path", path},
                        {"note", note && note[0] ? note : NULL});
    sk_json_key(&l.json, "part");
    part >= 0 ? sk_json_float(&l.json, part) : sk_json_null(&l.json);
    end(e, &l);
}

void sk_run_events_notice(sk_run_events *e, const char *text)
{
    line l;
    if (!e)
        return;
    begin(&l, "notice");
    sk_json_key_string(&l.json, "text", text);
    end(e, &l);
}

void sk_run_events_preview(sk_run_events *e, int64_t frame)
{
    line l;
    if (!e)
        return;
    begin(&l, "preview");
    sk_json_key_int(&l.json, "frame", frame);
    end(e, &l);
}

/* --- progress --- */

static int64_t resident_bytes(void)
{
    long long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    const bool read = fscanf(file, "%lld %lld", &pages, &resident) == 2; /* NOLINT(cert-err34-c) */
    fclose(file);
    return read ? (int64_t)resident * sysconf(_SC_PAGESIZE) : 0;
}

/* `rate` is what passes through all stages: one that has several frames in hand at once does at least that. */
static void put_stage(sk_json *j, const char *name, double ms, double rate)
{
    if (!(ms > 0))
        return;
    sk_json_object(j);
    sk_json_key_string(j, "name", name);
    sk_json_key_floats(j, {"ms", ms}, {"fps", 1000 / ms > rate ? 1000 / ms : rate});
    sk_json_close(j);
}

/* Every stage's own speed: what it would do if it were alone. */
static void put_stages(sk_json *j, const sk_predict_progress *p, double rate)
{
    static const sk_stage shown[] = {SK_STAGE_PRE,   SK_STAGE_NETWORK, SK_STAGE_POST,
                                     SK_STAGE_CROPS, SK_STAGE_SECOND,  SK_STAGE_SECOND_POST};
    sk_json_key_array(j, "stages");
    if (p->source) {
        const sk_source_status source = sk_source_status_of(p->source);
        put_stage(j, "decode", source.decoded ? 1e3 * source.decode_seconds / (double)source.decoded : 0,
                  rate);
    }
    for (size_t i = 0; p->pipeline && i < sizeof shown / sizeof *shown; i++) {
        sk_stage_stats stats = SK_STAGE_STATS_INIT;
        if (sk_pipeline_get_stage(p->pipeline, shown[i], &stats) && stats.count > 0)
            put_stage(j, sk_stage_name(shown[i]), stats.sum / (double)stats.count, rate);
    }
    sk_json_close(j);
    sk_json_key_array(j, "queues");
    if (p->pipeline) {
        sk_json_object(j);
        sk_json_key_string(j, "name", "frames on their way");
        sk_json_key_ints(j, {"fill", sk_pipeline_in_flight(p->pipeline)},
                         {"capacity", sk_pipeline_about(p->pipeline)->depth});
        sk_json_close(j);
    }
    sk_json_close(j);
}

/* Is it time? Also keeps the rate. */
static bool is_due(sk_run_events *e, const sk_predict_progress *p, double *rate)
{
    const int64_t now = sk_clock_ns();
    const int64_t every = now - e->opened_ns < SOON_FOR_NS ? SOON_NS : LATER_NS;
    pthread_mutex_lock(&e->lock);
    if (e->rate_ns == 0 || p->done < e->rate_frames) {
        e->rate_ns = now;
        e->rate_frames = p->done;
    } else if (now - e->rate_ns >= RATE_NS) {
        e->rate = (double)(p->done - e->rate_frames) * 1e9 / (double)(now - e->rate_ns);
        e->rate_ns = now;
        e->rate_frames = p->done;
    }
    const bool last = p->total > 0 && p->done >= p->total;
    const bool due = last || now - e->told_ns >= every;
    if (due)
        e->told_ns = now;
    *rate = e->rate;
    pthread_mutex_unlock(&e->lock);
    const int64_t fresh = p->done - p->continued;
    if (!(*rate > 0) && p->seconds > 0)
        *rate = (double)fresh / p->seconds;
    return due;
}

void sk_run_events_progress(sk_run_events *e, const sk_predict_progress *p)
{
    line l;
    double rate = 0;
    if (!e || !is_due(e, p, &rate))
        return;
    begin(&l, "progress");
    sk_json_key_ints(&l.json, {"frame", p->done}, {"total", p->total}, {"continued", p->continued},
                     {"instances", p->instances}, {"memory", resident_bytes()});
    sk_json_key_floats(
        &l.json, {"seconds", p->seconds}, {"fps", rate},
        {"seconds_left", p->total > 0 && rate > 0 ? (double)(p->total - p->done) / rate : NAN});
    if (p->pipeline) {
        const sk_pipeline_info *about = sk_pipeline_about(p->pipeline);
        sk_json_key_strings(&l.json, {"runtime", about->runtime}, {"device", about->device});
    }
    put_stages(&l.json, p, rate);
    end(e, &l);
}

/* --- the end --- */

void sk_run_events_result(sk_run_events *e, const char *state, const char *out, const sk_predict_report *r)
{
    line l;
    if (!e)
        return;
    begin(&l, "result");
    sk_json_key_strings(&l.json, {"state", state}, {"out", out}, {"runtime", r->runtime},
                        {"device", r->device}, {"precision", r->precision});
    sk_json_key_ints(&l.json, {"frames", r->total_frames}, {"instances", r->instances});
    sk_json_key_float(&l.json, "seconds", r->seconds);
    sk_json_key_array(&l.json, "files");
    for (int32_t i = 0; i < r->n_files; i++)
        sk_json_string(&l.json, r->files[i]);
    sk_json_close(&l.json);
    end(e, &l);
}

void sk_run_events_end(sk_run_events *e, sk_status status, const sk_error *error)
{
    line l;
    if (!e)
        return;
    begin(&l, "end");
    sk_json_key_int(&l.json, "status", status);
    sk_json_key_string(&l.json, "message", status != SK_OK && error ? error->message : NULL);
    end(e, &l);
}
