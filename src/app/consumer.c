/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumer.h"

#include "base/clock.h"
#include "base/memory.h"

#include <string.h>

static void close_one(sk_consumer *consumer)
{
    if (consumer->kind->close)
        consumer->kind->close(consumer);
    sk_free(consumer);
}

sk_status sk_consumers_add(sk_consumers *list, sk_consumer *consumer, sk_error *err)
{
    if (!consumer)
        return sk_fail_memory(err, sizeof *consumer);
    if (list->count == SK_CONSUMERS_MOST) {
        sk_status status = sk_fail(err, SK_ERR_ARG, "a run takes %d consumers; '%s' is one more",
                                   SK_CONSUMERS_MOST, consumer->kind->name);
        close_one(consumer);
        return status;
    }
    list->items[list->count++] = consumer;
    return SK_OK;
}

void sk_consumers_close(sk_consumers *list)
{
    for (int32_t i = 0; i < list->count; i++)
        close_one(list->items[i]);
    *list = (sk_consumers){0};
}

uint32_t sk_consumers_needs(const sk_consumers *list)
{
    uint32_t needs = 0;
    for (int32_t i = 0; i < list->count; i++)
        needs |= list->items[i]->needs;
    return needs;
}

double sk_consumers_seconds(const sk_consumers *list, const char *name)
{
    double seconds = 0;
    for (int32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i]->kind->name, name) == 0)
            seconds += list->items[i]->seconds;
    return seconds;
}

void sk_consumers_files(const sk_consumers *list,
                        const char *files[SK_CONSUMER_FILES * SK_CONSUMERS_MOST + 2])
{
    int32_t n = 0;
    for (int32_t i = 0; i < 2 * list->count; i++) { /* results, then what is cut out and drawn */
        const sk_consumer *c = list->items[i % list->count];
        if ((i >= list->count) != ((c->needs & SK_NEEDS_PIXELS) != 0))
            continue;
        for (int k = 0; c->files[k]; k++)
            files[n++] = c->files[k];
    }
    files[n++] = "run.json";
    files[n] = NULL;
}

void sk_consumers_settle(sk_consumers *list, const sk_run_header *header)
{
    for (int32_t i = 0; i < list->count; i++)
        if (list->items[i]->kind->settle)
            list->items[i]->kind->settle(list->items[i], header);
}

sk_status sk_consumers_begin(sk_consumers *list, const sk_run_header *header, sk_run_folder *folder,
                             sk_error *err)
{
    for (int32_t i = 0; i < list->count; i++) {
        sk_consumer *c = list->items[i];
        if (c->kind->begin)
            SK_TRY(c->kind->begin(c, header, folder, err));
        c->begun = true;
    }
    return SK_OK;
}

sk_status sk_consumers_take(sk_consumers *list, sk_passing *passing, int64_t begin_ns, sk_error *err)
{
    const bool problem = passing->result->problem;
    int64_t now = sk_clock_ns();
    sk_status status = SK_OK;
    for (int32_t i = 0; i < list->count && status == SK_OK; i++) {
        sk_consumer *c = list->items[i];
        if (!c->kind->take || (problem && !(c->needs & SK_NEEDS_PROBLEMS)))
            continue;
        passing->seconds = (double)(now - begin_ns) * 1e-9;
        status = c->kind->take(c, passing, err);
        const int64_t then = sk_clock_ns();
        c->seconds += (double)(then - now) * 1e-9;
        now = then;
    }
    return status;
}

/* What follows a failure goes on, but its own failure is not told. */
static sk_status first_of(sk_status first, sk_status later)
{
    return first != SK_OK ? first : later;
}

sk_status sk_consumers_complete(sk_consumers *list, sk_status status, sk_error *err)
{
    for (int32_t i = 0; i < list->count; i++) {
        sk_consumer *c = list->items[i];
        if (c->begun && c->kind->complete)
            status = first_of(status, c->kind->complete(c, status == SK_OK ? err : NULL));
    }
    return status;
}

sk_status sk_consumers_end(sk_consumers *list, bool finished, sk_status status, sk_error *err)
{
    for (int32_t i = 0; i < list->count; i++) {
        sk_consumer *c = list->items[i];
        if (c->begun && c->kind->end)
            status =
                first_of(status, c->kind->end(c, finished && status == SK_OK, status == SK_OK ? err : NULL));
    }
    return status;
}
