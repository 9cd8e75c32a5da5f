/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/timeline.h"

#include "base/json_write.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

sk_status sk_timeline_row_open(sk_timeline_row *row, int32_t capacity, const char *name, sk_error *err)
{
    snprintf(row->name, sizeof row->name, "%s", name);
    pthread_mutex_init(&row->lock, NULL);
    if (capacity <= 0)
        return SK_OK;
    size_t bytes = (size_t)capacity * sizeof *row->steps;
    row->steps = sk_malloc(bytes);
    if (!row->steps)
        return sk_fail_memory(err, bytes);
    memset(row->steps, 0, bytes); /* touched now, not while frames are on their way */
    row->capacity = capacity;
    row->kept = true;
    return SK_OK;
}

void sk_timeline_row_close(sk_timeline_row *row)
{
    if (!row->kept)
        return;
    pthread_mutex_lock(&row->lock);
    sk_free(row->steps);
    row->steps = NULL;
    row->capacity = 0;
    pthread_mutex_unlock(&row->lock);
}

void sk_timeline_row_add(sk_timeline_row *row, const char *name, int64_t frame, int32_t count, int64_t begin,
                         int64_t end)
{
    if (!row->kept)
        return;
    pthread_mutex_lock(&row->lock);
    const int64_t at = atomic_load(&row->written);
    if (row->steps) {
        row->steps[at % row->capacity] =
            (sk_step){.name = name, .frame = frame, .count = count, .begin = begin, .end = end};
        atomic_store(&row->written, at + 1);
    }
    pthread_mutex_unlock(&row->lock);
}

/* The steps of a row, the oldest first, in memory of their own. */
typedef struct row_copy {
    sk_step *steps; /* null: none */
    int64_t count;
} row_copy;

static sk_status copy_row(sk_timeline_row *row, row_copy *copy, sk_error *err)
{
    *copy = (row_copy){0};
    if (!row->kept)
        return SK_OK;
    pthread_mutex_lock(&row->lock);
    const int64_t written = atomic_load(&row->written);
    const int64_t count = written < row->capacity ? written : row->capacity;
    const size_t bytes = (size_t)count * sizeof *copy->steps;
    copy->steps = count ? sk_malloc(bytes) : NULL;
    for (int64_t i = 0; copy->steps && i < count; i++)
        copy->steps[i] = row->steps[(written - count + i) % row->capacity];
    pthread_mutex_unlock(&row->lock);
    copy->count = copy->steps ? count : 0;
    return copy->steps || !count ? SK_OK : sk_fail_memory(err, bytes);
}

static void write_thread_name(sk_json *json, int32_t thread, const char *name)
{
    sk_json_object(json);
    sk_json_key_string(json, "name", "thread_name");
    sk_json_key_string(json, "ph", "M");
    sk_json_key_int(json, "pid", 1);
    sk_json_key_int(json, "tid", thread);
    sk_json_key_object(json, "args");
    sk_json_key_string(json, "name", name);
    sk_json_close(json);
    sk_json_close(json);
}

static void write_step(sk_json *json, int32_t thread, const sk_step *step, int64_t origin)
{
    sk_json_object(json);
    sk_json_key_strings(json, {"name", step->name}, {"cat", "runner"}, {"ph", "X"});
    sk_json_key_float(json, "ts", (double)(step->begin - origin) * 1e-3);
    sk_json_key_float(json, "dur", (double)(step->end - step->begin) * 1e-3);
    sk_json_key_int(json, "pid", 1);
    sk_json_key_int(json, "tid", thread);
    sk_json_key_object(json, "args");
    sk_json_key_int(json, "frame", step->frame);
    sk_json_key_int(json, "frames", step->count);
    sk_json_close(json);
    sk_json_close(json);
}

static int64_t first_begin(const row_copy *rows, int32_t n_rows)
{
    int64_t origin = INT64_MAX;
    for (int32_t t = 0; t < n_rows; t++)
        for (int64_t i = 0; i < rows[t].count; i++)
            origin = rows[t].steps[i].begin < origin ? rows[t].steps[i].begin : origin;
    return origin;
}

static sk_status write_rows(sk_timeline_row *const *rows, const row_copy *copies, int32_t n_rows,
                            const char *path, sk_error *err)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return sk_fail(err, SK_ERR_IO, "%s: the timeline could not be written: %s", path, strerror(errno));
    int64_t origin = first_begin(copies, n_rows);
    sk_json json = sk_json_to_file(file, 0);
    sk_json_object(&json);
    sk_json_key_string(&json, "displayTimeUnit", "ms");
    sk_json_key_array(&json, "traceEvents");
    for (int32_t t = 0; t < n_rows; t++) {
        if (copies[t].count)
            write_thread_name(&json, t + 1, rows[t]->name);
        for (int64_t i = 0; i < copies[t].count; i++)
            write_step(&json, t + 1, &copies[t].steps[i], origin);
    }
    sk_json_close(&json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (fclose(file) != 0 && status == SK_OK)
        status = sk_fail(err, SK_ERR_IO, "%s: the timeline could not be written: %s", path, strerror(errno));
    return status;
}

sk_status sk_timeline_write(sk_timeline_row *const *rows, int32_t n_rows, const char *path, sk_error *err)
{
    row_copy *copies = sk_calloc((size_t)n_rows, sizeof *copies);
    if (!copies)
        return sk_fail_memory(err, (size_t)n_rows * sizeof *copies);
    sk_status status = SK_OK;
    for (int32_t t = 0; t < n_rows && status == SK_OK; t++)
        status = copy_row(rows[t], &copies[t], err);
    if (status == SK_OK)
        status = write_rows(rows, copies, n_rows, path, err);
    for (int32_t t = 0; t < n_rows; t++)
        sk_free(copies[t].steps);
    sk_free(copies);
    return status;
}
