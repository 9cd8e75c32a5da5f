/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/timeline.h"

#include "base/json_write.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

sk_status sk_track_open(sk_track *track, int32_t capacity, const char *name, sk_error *err)
{
    snprintf(track->name, sizeof track->name, "%s", name);
    if (capacity <= 0)
        return SK_OK;
    size_t bytes = (size_t)capacity * sizeof *track->steps;
    track->steps = sk_malloc(bytes);
    if (!track->steps)
        return sk_fail_memory(err, bytes);
    memset(track->steps, 0, bytes); /* touched now, not while frames are on their way */
    track->capacity = capacity;
    return SK_OK;
}

void sk_track_close(sk_track *track)
{
    sk_free(track->steps);
    track->steps = NULL;
    track->capacity = 0;
}

void sk_track_add(sk_track *track, const char *name, int64_t frame, int32_t count, int64_t begin, int64_t end)
{
    if (!track->steps)
        return;
    int64_t at = atomic_load_explicit(&track->written, memory_order_relaxed);
    track->steps[at % track->capacity] =
        (sk_step){.name = name, .frame = frame, .count = count, .begin = begin, .end = end};
    atomic_store_explicit(&track->written, at + 1, memory_order_release);
}

static void write_thread_name(sk_json *json, int32_t thread, const char *name)
{
    sk_json_object(json);
    sk_json_key_string(json, "name", "thread_name");
    sk_json_key_string(json, "ph", "M");
    sk_json_key_int(json, "pid", 1);
    sk_json_key_int(json, "tid", thread);
    sk_json_key(json, "args");
    sk_json_object(json);
    sk_json_key_string(json, "name", name);
    sk_json_close(json);
    sk_json_close(json);
}

static void write_step(sk_json *json, int32_t thread, const sk_step *step, int64_t origin)
{
    sk_json_object(json);
    sk_json_key_string(json, "name", step->name);
    sk_json_key_string(json, "cat", "runner");
    sk_json_key_string(json, "ph", "X");
    sk_json_key_float(json, "ts", (double)(step->begin - origin) * 1e-3);
    sk_json_key_float(json, "dur", (double)(step->end - step->begin) * 1e-3);
    sk_json_key_int(json, "pid", 1);
    sk_json_key_int(json, "tid", thread);
    sk_json_key(json, "args");
    sk_json_object(json);
    sk_json_key_int(json, "frame", step->frame);
    sk_json_key_int(json, "frames", step->count);
    sk_json_close(json);
    sk_json_close(json);
}

static int64_t oldest(const sk_track *track)
{
    int64_t written = atomic_load_explicit(&track->written, memory_order_acquire);
    return written > track->capacity ? written - track->capacity : 0;
}

static int64_t first_begin(const sk_track *const *tracks, int32_t n_tracks)
{
    int64_t origin = INT64_MAX;
    for (int32_t t = 0; t < n_tracks; t++) {
        int64_t written = atomic_load_explicit(&tracks[t]->written, memory_order_acquire);
        for (int64_t i = oldest(tracks[t]); tracks[t]->steps && i < written; i++) {
            int64_t begin = tracks[t]->steps[i % tracks[t]->capacity].begin;
            origin = begin < origin ? begin : origin;
        }
    }
    return origin;
}

sk_status sk_tracks_write(const sk_track *const *tracks, int32_t n_tracks, const char *path, sk_error *err)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return sk_fail(err, SK_ERR_IO, "%s: the timeline could not be written: %s", path, strerror(errno));
    int64_t origin = first_begin(tracks, n_tracks);
    sk_json json = sk_json_to_file(file, 0);
    sk_json_object(&json);
    sk_json_key_string(&json, "displayTimeUnit", "ms");
    sk_json_key(&json, "traceEvents");
    sk_json_array(&json);
    for (int32_t t = 0; t < n_tracks; t++) {
        int64_t written = atomic_load_explicit(&tracks[t]->written, memory_order_acquire);
        if (!tracks[t]->steps || written == 0)
            continue;
        write_thread_name(&json, t + 1, tracks[t]->name);
        for (int64_t i = oldest(tracks[t]); i < written; i++)
            write_step(&json, t + 1, &tracks[t]->steps[i % tracks[t]->capacity], origin);
    }
    sk_json_close(&json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (fclose(file) != 0 && status == SK_OK)
        status = sk_fail(err, SK_ERR_IO, "%s: the timeline could not be written: %s", path, strerror(errno));
    return status;
}
