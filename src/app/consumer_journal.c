/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "base/clock.h"
#include "base/memory.h"

/* Entries may sit in the journal's buffer this long before the operating system has them. */
#define FLUSH_NS 500000000

typedef struct journal {
    sk_consumer base;
    sk_run_folder *folder;
    int64_t last_flush;
} journal;

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    (void)header, (void)err;
    ((journal *)base)->folder = folder;
    return SK_OK;
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    journal *j = (journal *)base;
    SK_TRY(sk_run_folder_append(j->folder, passing->result, err));
    const int64_t now = sk_clock_ns();
    if (now - j->last_flush <= FLUSH_NS)
        return SK_OK;
    j->last_flush = now;
    return sk_run_folder_flush(j->folder, false, err);
}

static sk_status complete(sk_consumer *base, sk_error *err)
{
    return sk_run_folder_flush(((journal *)base)->folder, true, err);
}

static const sk_consumer_kind kind = {.name = "journal", .begin = begin, .take = take, .complete = complete};

sk_consumer *sk_consumer_journal(void)
{
    journal *j = sk_calloc(1, sizeof *j);
    if (j)
        j->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_NAMES | SK_NEEDS_PROBLEMS};
    return j ? &j->base : NULL;
}
