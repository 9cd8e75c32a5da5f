/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/runtime.h"

#include "app/runtimes.h"
#include "base/error.h"
#include "base/sized.h"

#include <stdio.h>

sk_status sk_runtime_pick_for(const char *const *models, int32_t n_models, const char *wish,
                              bool allow_fallback, sk_runtime_pick *out, sk_error *err)
{
    SK_CHECK_ARG(models && n_models > 0 && out, err);
    const sk_runtimes_wish said = {.runtime = wish, .allow_fallback = allow_fallback};
    sk_runtime_choice choice;
    char engine[32];
    SK_TRY(sk_runtimes_choose(models, n_models, &said, &choice, engine, err));
    sk_runtime_pick whole = {.size = out->size, .fell_back = choice.fell_back};
    snprintf(whole.runtime, sizeof whole.runtime, "%s", engine);
    snprintf(whole.requested, sizeof whole.requested, "%s", choice.requested);
    snprintf(whole.notice, sizeof whole.notice, "%s", choice.notice);
    sk_sized_write(out, &whole, sizeof whole);
    return SK_OK;
}
