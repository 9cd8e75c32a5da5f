/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "app/crop_run.h"
#include "base/memory.h"

typedef struct crops {
    sk_consumer base;
    sk_crop_run *run;
} crops;

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    return sk_crop_run_open(sk_run_folder_path(folder), header, &((crops *)base)->run, err);
}

static sk_status retell(sk_consumer *base, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err)
{
    (void)entry;
    bool all = false;
    SK_TRY(sk_crop_run_has(((crops *)base)->run, known, &all, err));
    *lacks = !all;
    return SK_OK;
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    return sk_crop_run_write(((crops *)base)->run, passing->frame, passing->result, err);
}

static void close_crops(sk_consumer *base)
{
    sk_crop_run_close(&((crops *)base)->run);
}

static const sk_consumer_kind kind = {
    .name = "crops", .begin = begin, .retell = retell, .take = take, .close = close_crops};

sk_consumer *sk_consumer_crops(void)
{
    crops *c = sk_calloc(1, sizeof *c);
    if (c)
        c->base =
            (sk_consumer){.kind = &kind, .needs = SK_NEEDS_PIXELS | SK_NEEDS_NAMES, .files = {"crops/"}};
    return c ? &c->base : NULL;
}
