/* SPDX-License-Identifier: Apache-2.0 */
#include "results/text_sink.h"

#include "base/file.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

char *sk_escape_csv(const char *text)
{
    char *valid =
        sk_text_utf8_copy(text); /* readers of tables refuse a file with a single byte that is not */
    if (!valid || !strpbrk(valid, ",\"\r\n#"))
        return valid;
    char *out = sk_malloc(2 * strlen(valid) + 3), *at = out;
    if (out) {
        *at++ = '"';
        for (const char *c = valid; *c; c++) {
            if (*c == '"')
                *at++ = '"';
            *at++ = *c;
        }
        *at++ = '"';
        *at = '\0';
    }
    sk_free(valid);
    return out;
}

char *sk_escape_json(const char *text)
{
    sk_text out = {0};
    sk_json json = sk_json_to_text(&out, 0);
    sk_json_string(&json, text);
    char *escaped = NULL;
    if (sk_json_end(&json, NULL) != SK_OK || sk_text_take(&out, &escaped, NULL) != SK_OK)
        sk_text_free(&out);
    if (escaped)
        escaped[strcspn(escaped, "\n")] = '\0'; /* the line end after a whole value */
    return escaped;
}

/* Who reads it sees a frame's lines when they are there. */
static sk_status open_standard_output(FILE **file, sk_error *err)
{
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!*file)
        return sk_fail(err, SK_ERR_IO, "standard output cannot be written: %s", strerror(errno));
    setvbuf(*file, NULL, _IOLBF, BUFSIZ);
    return SK_OK;
}

sk_status sk_text_sink_open(const char *path, const sk_run_header *header, const sk_sink_kind *kind,
                            sk_text_escape escape, sk_text_sink **out, sk_error *err)
{
    sk_text_sink *sink = sk_calloc(1, sizeof *sink);
    if (!sink)
        return sk_fail_memory(err, sizeof *sink);
    sink->base.kind = kind;
    sink->base.flush = sk_text_sink_flush;
    sink->base.close = sk_text_sink_close;
    sink->n_keypoints = header->n_keypoints;
    sink->no_empty = header->no_empty;
    sink->live = header->stamped || (header->source_kind && strcmp(header->source_kind, "live") == 0);
    sink->path = sk_strdup(path);
    sink->classes = sk_calloc((size_t)header->n_classes, sizeof *sink->classes);
    bool whole = sink->path && sink->classes;
    for (int32_t i = 0; whole && i < header->n_classes; i++, sink->n_classes++)
        whole = (sink->classes[i] = escape(header->class_names[i])) != NULL;
    if (!whole) {
        (void)!sk_text_sink_close(&sink->base, NULL);
        return sk_fail_memory(err, strlen(path));
    }
    sk_status status = strcmp(path, "-") == 0 ? open_standard_output(&sink->out.file, err)
                                              : sk_file_create_stream(path, &sink->out.file, err);
    if (status != SK_OK) {
        (void)!sk_text_sink_close(&sink->base, NULL);
        return status;
    }
    *out = sink;
    return SK_OK;
}

const char *sk_text_sink_text(sk_text_sink *sink, const char *text)
{
    sink->scarce = sink->scarce || !text;
    return text ? text : "";
}

const char *sk_text_sink_source(sk_text_sink *sink, const char *source, sk_text_escape escape)
{
    if (sink->source && sink->source_raw && strcmp(sink->source_raw, source) == 0)
        return sink->source;
    sk_free(sink->source);
    sk_free(sink->source_raw);
    sink->source_raw = sk_strdup(source);
    sink->source = escape(source);
    return sk_text_sink_text(sink, sink->source);
}

sk_status sk_text_sink_check(sk_text_sink *sink, sk_error *err)
{
    sk_out_push(&sink->out);
    if (sink->scarce)
        return sk_fail_memory(err, strlen(sink->path));
    if (!ferror(sink->out.file))
        return SK_OK;
    if (strcmp(sink->path, "-") == 0)
        return sk_fail(err, SK_ERR_IO, "standard output: writing failed: %s", strerror(errno));
    return sk_fail(
        err, SK_ERR_IO,
        "%s: writing failed: %s. Make room and run the same command again: it continues where it stopped",
        sink->path, strerror(errno));
}

sk_status sk_text_sink_flush(sk_sink *base, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    sk_out_push(&sink->out);
    fflush(sink->out.file);
    return sk_text_sink_check(sink, err);
}

sk_status sk_text_sink_close(sk_sink *base, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    sk_status status = sink->scarce ? sk_fail_memory(err, strlen(sink->path)) : SK_OK;
    if (sink->out.file) {
        sk_out_push(&sink->out);
        bool failed = ferror(sink->out.file) != 0;
        if (fclose(sink->out.file) != 0 || failed)
            status = sk_fail(err, SK_ERR_IO, "%s: writing failed: %s%s", sink->path, strerror(errno),
                             strcmp(sink->path, "-") == 0 ? "" : sk_file_remedy(errno));
    }
    for (int32_t i = 0; sink->classes && i < sink->n_classes; i++)
        sk_free(sink->classes[i]);
    sk_free_all(sink->classes, sink->source, sink->source_raw, sink->path, sink->extra, sink);
    return status;
}
