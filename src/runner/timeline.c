/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/timeline.h"

#include "base/json_write.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

sk_status sk_timeline_row_open(sk_timeline_row *row, int32_t capacity, const char *name, sk_error *err)
{
    snprintf(row->name, sizeof row->name, "%s", name);
    if (capacity <= 0)
        return SK_OK;
    size_t bytes = (size_t)capacity * sizeof *row->steps;
    row->steps = sk_malloc(bytes);
    if (!row->steps)
        return sk_fail_memory(err, bytes);
    memset(row->steps, 0, bytes); /* touched now, not while frames are on their way */
    row->capacity = capacity;
    return SK_OK;
}

void sk_timeline_row_close(sk_timeline_row *row)
{
    sk_free(row->steps);
    row->steps = NULL;
    row->capacity = 0;
}

void sk_timeline_row_add(sk_timeline_row *row, const char *name, int64_t frame, int32_t count, int64_t begin,
                         int64_t end)
{
    if (!row->steps)
        return;
    int64_t at = atomic_load_explicit(&row->written, memory_order_relaxed);
    row->steps[at % row->capacity] =
        (sk_step){.name = name, .frame = frame, .count = count, .begin = begin, .end = end};
    atomic_store_explicit(&row->written, at + 1, memory_order_release);
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

static int64_t oldest(const sk_timeline_row *row)
{
    int64_t written = atomic_load_explicit(&row->written, memory_order_acquire);
    return written > row->capacity ? written - row->capacity : 0;
}

static int64_t first_begin(const sk_timeline_row *const *rows, int32_t n_rows)
{
    int64_t origin = INT64_MAX;
    for (int32_t t = 0; t < n_rows; t++) {
        int64_t written = atomic_load_explicit(&rows[t]->written, memory_order_acquire);
        for (int64_t i = oldest(rows[t]); rows[t]->steps && i < written; i++) {
            int64_t begin = rows[t]->steps[i % rows[t]->capacity].begin;
            origin = begin < origin ? begin : origin;
        }
    }
    return origin;
}

sk_status sk_timeline_write(const sk_timeline_row *const *rows, int32_t n_rows, const char *path,
                            sk_error *err)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return sk_fail(err, SK_ERR_IO, "%s: the timeline could not be written: %s", path, strerror(errno));
    int64_t origin = first_begin(rows, n_rows);
    sk_json json = sk_json_to_file(file, 0);
    sk_json_object(&json);
    sk_json_key_string(&json, "displayTimeUnit", "ms");
    sk_json_key(&json, "traceEvents");
    sk_json_array(&json);
    for (int32_t t = 0; t < n_rows; t++) {
        int64_t written = atomic_load_explicit(&rows[t]->written, memory_order_acquire);
        if (!rows[t]->steps || written == 0)
            continue;
        write_thread_name(&json, t + 1, rows[t]->name);
        for (int64_t i = oldest(rows[t]); i < written; i++)
            write_step(&json, t + 1, &rows[t]->steps[i % rows[t]->capacity], origin);
    }
    sk_json_close(&json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (fclose(file) != 0 && status == SK_OK)
        status = sk_fail(err, SK_ERR_IO, "%s: the timeline could not be written: %s", path, strerror(errno));
    return status;
}
