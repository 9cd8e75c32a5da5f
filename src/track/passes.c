/* SPDX-License-Identifier: Apache-2.0 */
#include "track/passes.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "base/pool.h"

typedef struct passing {
    const sk_offline_settings *settings;
    sk_offline_pass pass;
    sk_seen_store *frames; /* a reader of its own */
    int32_t *tracks;
    float *certainty, *uncertainty;
    sk_sighting *sightings; /* told of: with the video's own frames */
    size_t sightings_capacity;
    sk_status status;
    sk_error err;
} passing;

static sk_status note(passing *p, const sk_stored_frame *f, const sk_sighting *sightings, int32_t n,
                      sk_error *err)
{
    for (int32_t i = 0; i < f->n; i++)
        p->tracks[f->first + i] = -1;
    for (int32_t i = 0; i < n; i++) {
        const int32_t d = sightings[i].detection;
        if (d < 0 || d >= f->n)
            continue;
        p->tracks[f->first + d] = sightings[i].track;
        p->certainty[f->first + d] = (float)sightings[i].certainty;
        p->uncertainty[f->first + d] = (float)sightings[i].uncertainty;
    }
    if (!p->settings->told)
        return SK_OK;
    if (p->pass == SK_PASS_BACKWARD) {
        SK_TRY(sk_array_reserve((void **)&p->sightings, &p->sightings_capacity, (size_t)n,
                                sizeof *p->sightings, SK_TRACKLET_LIMIT, err));
        for (int32_t i = 0; i < n; i++) {
            p->sightings[i] = sightings[i];
            p->sightings[i].frame = f->frame;
        }
        sightings = p->sightings;
    }
    return p->settings->told(p->settings->context, p->pass, sightings, n, err);
}

static sk_status run(passing *p, sk_error *err)
{
    const sk_offline_settings *s = p->settings;
    sk_tracker *tracker = NULL;
    sk_status status = SK_OK;
    const int64_t frames = sk_seen_store_frames(p->frames);
    const int sign = p->pass == SK_PASS_FORWARD ? 1 : -1;
    sk_track_settings how = s->track;
    if (!sk_track_method_counts(how.method))
        how.animals = 0; /* which tracks are the N is decided over the whole video, afterwards */
    how.steady = 0;      /* boxes are smoothed once it is known whose they are */
    SK_TRY_GOTO(sk_tracker_open(&how, &tracker, err));
    for (int64_t i = 0; i < frames; i++) {
        sk_stored_frame f;
        const sk_sighting *sightings = NULL;
        int32_t n = 0;
        if (i % 256 == 0 && s->stop && s->stop(s->context)) {
            status = sk_fail(err, SK_ERR_CANCELLED, "tracking was stopped");
            goto done;
        }
        SK_TRY_GOTO(sk_seen_store_read(p->frames, sign > 0 ? i : frames - 1 - i, &f, err));
        SK_TRY_GOTO(
            sk_tracker_step(tracker, sign * f.frame, sign * f.time, f.detections, f.n, &sightings, &n, err));
        SK_TRY_GOTO(note(p, &f, sightings, n, err));
    }
done:
    sk_tracker_close(&tracker);
    return status;
}

static void run_part(void *context, int32_t part, int32_t part_count)
{
    passing *p = (passing *)context + part;
    (void)part_count;
    p->status = run(p, &p->err);
}

static sk_status run_both(passing p[2], int32_t n, sk_error *err)
{
    sk_pool_settings how = sk_pool_defaults();
    sk_pool *pool = NULL;
    how.threads = sk_cpu_usable_cores() < n ? 1 : n;
    how.spin_us = 0;
    SK_TRY(sk_pool_open(&how, &pool, err));
    sk_pool_run(pool, run_part, p, n);
    sk_pool_close(&pool);
    for (int32_t i = 0; i < n; i++)
        if (p[i].status != SK_OK) {
            if (err)
                *err = p[i].err;
            return p[i].status;
        }
    return SK_OK;
}

/* What the forward pass said nothing of, the backward pass did. */
static void fill(const sk_seen_store *store, const passing *backward, const sk_passes *out)
{
    for (int64_t i = 0; i < sk_seen_store_detections(store); i++)
        if (backward->tracks[i] >= 0 && !(out->uncertainty[i] > 0)) {
            out->certainty[i] = backward->certainty[i];
            out->uncertainty[i] = backward->uncertainty[i];
        }
}

sk_status sk_passes_run(sk_seen_store *store, const sk_offline_settings *settings, const sk_passes *out,
                        sk_error *err)
{
    const int32_t n = settings->backward ? 2 : 1;
    passing p[2] = {{.settings = settings,
                     .pass = SK_PASS_FORWARD,
                     .frames = store,
                     .tracks = out->forward,
                     .certainty = out->certainty,
                     .uncertainty = out->uncertainty},
                    {.settings = settings, .pass = SK_PASS_BACKWARD, .tracks = out->backward}};
    sk_status status = SK_OK;
    if (n > 1) {
        SK_TRY(sk_seen_store_reader(store, &p[1].frames, err));
        if (!(p[1].certainty = sk_seen_store_column(store, sizeof *p[1].certainty, err)) ||
            !(p[1].uncertainty = sk_seen_store_column(store, sizeof *p[1].uncertainty, err)))
            status = err ? err->code : SK_ERR_MEMORY;
    }
    if (status == SK_OK)
        status = run_both(p, n, err);
    if (status == SK_OK && n > 1)
        fill(store, &p[1], out);
    sk_seen_store_drop_column(store, p[1].certainty);
    sk_seen_store_drop_column(store, p[1].uncertainty);
    sk_seen_store_close(&p[1].frames);
    for (int i = 0; i < 2; i++)
        sk_free(p[i].sightings);
    return status;
}
