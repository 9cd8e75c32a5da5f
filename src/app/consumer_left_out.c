/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "base/log.h"
#include "base/memory.h"

/* Told of once each, the first few by name: there may be thousands. */
#define NAMED 10

typedef struct left_out {
    sk_consumer base;
    sk_run_folder *folder;
} left_out;

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    (void)header, (void)err;
    ((left_out *)base)->folder = folder;
    return SK_OK;
}

static sk_status retell(sk_consumer *base, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err)
{
    (void)entry, (void)lacks;
    return known->problem ? sk_run_folder_leave_out(((left_out *)base)->folder, known, err) : SK_OK;
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    sk_run_folder *folder = ((left_out *)base)->folder;
    const sk_result_frame *picture = passing->result;
    if (!picture->problem)
        return SK_OK;
    SK_TRY(sk_run_folder_leave_out(folder, picture, err));
    const int64_t count = sk_run_folder_left_out(folder);
    if (count <= NAMED)
        sk_log(SK_LOG_WARN, "left out: %s%s", picture->problem,
               count == NAMED ? " (more are in run.json only)" : "");
    return SK_OK;
}

static const sk_consumer_kind kind = {.name = "left out", .begin = begin, .retell = retell, .take = take};

sk_consumer *sk_consumer_left_out(void)
{
    left_out *c = sk_calloc(1, sizeof *c);
    if (c)
        c->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_NAMES | SK_NEEDS_PROBLEMS};
    return c ? &c->base : NULL;
}
