/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "base/file.h"
#include "base/memory.h"

#include <string.h>

typedef struct file {
    sk_consumer base;
    const sk_sink_kind *format;
    sk_sink *sink;
} file;

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    file *f = (file *)base;
    const char *out = sk_run_folder_path(folder);
    char *path = out ? sk_path_join(out, f->format->file) : sk_strdup("-");
    if (!path)
        return sk_fail_memory(err, strlen(f->format->file));
    sk_status status = f->format->open(path, header, &f->sink, err);
    sk_free(path);
    return status;
}

/* A file is made anew by every part of a run, of what the journal knows and what comes. */
static sk_status retell(sk_consumer *base, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err)
{
    (void)entry, (void)lacks;
    sk_sink *sink = ((file *)base)->sink;
    return known->problem ? SK_OK : sink->write(sink, known, err);
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    sk_sink *sink = ((file *)base)->sink;
    return sink->write(sink, passing->result, err);
}

static sk_status complete(sk_consumer *base, sk_error *err)
{
    file *f = (file *)base;
    sk_sink *sink = f->sink;
    f->sink = NULL;
    return sink ? sink->close(sink, err) : SK_OK;
}

static void close_file(sk_consumer *base)
{
    (void)!complete(base, NULL);
}

static const sk_consumer_kind kind = {.name = "file",
                                      .begin = begin,
                                      .retell = retell,
                                      .take = take,
                                      .complete = complete,
                                      .close = close_file};

sk_consumer *sk_consumer_file(const sk_sink_kind *format)
{
    file *f = sk_calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_NAMES, .files = {format->file, format->beside}};
    f->format = format;
    return &f->base;
}
