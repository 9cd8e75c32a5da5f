/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"
#include "pipeline/internal.h"
#include "runner/offer.h"

#include <stdio.h>
#include <string.h>

/* How it went: the runner's figures, in structs that can grow. */

void sk_pipeline_get_stats(sk_pipeline *p, sk_pipeline_stats *stats)
{
    sk_runner_stats r;
    if (!p || !stats)
        return;
    sk_runner_get_stats(p->runner, &r);
    const sk_pipeline_stats whole = {.size = sizeof whole,
                                     .submitted = r.submitted,
                                     .delivered = r.delivered,
                                     .dropped = r.dropped,
                                     .expired = r.expired,
                                     .refused = r.refused,
                                     .cancelled = r.cancelled,
                                     .failed = r.failed,
                                     .moved = r.moved,
                                     .checks = r.checks,
                                     .checks_failed = r.checks_failed,
                                     .worst_pcc = r.worst_pcc,
                                     .bytes = r.bytes,
                                     .whole = r.whole,
                                     .open_seconds = p->open_seconds,
                                     .n_devices = r.n_devices};
    sk_sized_write(stats, &whole, sizeof whole);
}

bool sk_pipeline_get_stage(sk_pipeline *p, sk_stage stage, sk_stage_stats *stats)
{
    if (!p || !stats || stage < 0 || stage >= SK_STAGE_COUNT)
        return false;
    sk_runner_stats r;
    sk_runner_get_stats(p->runner, &r);
    const sk_runner_stage_stats *s = &r.stages[stage];
    const sk_stage_stats whole = {.size = sizeof whole,
                                  .count = s->count,
                                  .sum = s->sum,
                                  .min = s->min,
                                  .max = s->max,
                                  .p50 = s->p50,
                                  .p90 = s->p90,
                                  .p99 = s->p99};
    sk_sized_write(stats, &whole, sizeof whole);
    return true;
}

bool sk_pipeline_get_device(sk_pipeline *p, int32_t device, sk_device_stats *stats)
{
    sk_runner_stats r;
    if (!p || !stats)
        return false;
    sk_runner_get_stats(p->runner, &r);
    if (device < 0 || device >= r.n_devices)
        return false;
    const sk_runner_device_stats *d = &r.devices[device];
    sk_device_stats whole = {.size = sizeof whole,
                             .threads = d->threads,
                             .failed = d->failed,
                             .frames = d->frames,
                             .captures = d->captures,
                             .warm_up_ms = d->warm_up_ms,
                             .optimised_ms = d->optimised_ms,
                             .capture_ms = d->capture_ms};
    memcpy(whole.name, d->name, sizeof whole.name);
    memcpy(whole.detail, d->detail, sizeof whole.detail);
    memcpy(whole.problem, d->problem, sizeof whole.problem);
    sk_sized_write(stats, &whole, sizeof whole);
    return true;
}

void sk_pipeline_reset_stats(sk_pipeline *p)
{
    if (p)
        sk_runner_reset_stats(p->runner);
}

bool sk_pipeline_get_file(sk_pipeline *p, int32_t index, sk_pipeline_file *file)
{
    sk_runner_file files[SK_RUNNER_MAX_FILES];
    const int32_t count = p && file && p->runner ? sk_runner_files(p->runner, files) : 0;
    if (index < 0 || index >= count)
        return false;
    sk_pipeline_file whole = {.size = sizeof whole, .model = files[index].model};
    memcpy(whole.path, files[index].path, sizeof whole.path);
    memcpy(whole.sha256, files[index].sha256, sizeof whole.sha256);
    sk_sized_write(file, &whole, sizeof whole);
    return true;
}

void sk_pipeline_mark(sk_pipeline *p, const char *name, int64_t frame, int64_t begin_ns, int64_t end_ns)
{
    if (p && name)
        sk_runner_mark(p->runner, name, frame, begin_ns, end_ns);
}

sk_status sk_pipeline_write_timeline(sk_pipeline *p, const char *path, sk_error *err)
{
    SK_CHECK_ARG(p && path, err);
    return sk_runner_write_timeline(p->runner, path, err);
}
