/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include <stdio.h>
#include <string.h>

sk_status gpu_switched_off(const char *words, uint32_t *off, sk_error *err)
{
    static const char *const names[] = {"tensor",   "halo",     "wgmma",  "split", "attention",
                                        "graph",    "branches", "pdl",    "sites", "crops",
                                        "upsample", "pairs",    "limits", "pull"};
    const size_t count = sizeof names / sizeof *names;
    *off = 0;
    for (const char *w = words ? words : ""; *w; w += *w == ',') {
        const size_t length = strcspn(w, ",");
        size_t i = 0;
        while (i < count && (strlen(names[i]) != length || strncmp(w, names[i], length) != 0))
            i++;
        if (i == count && length > 0) {
            char known[256] = "";
            for (size_t k = 0, used = 0; k < count && used < sizeof known; k++)
                used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", names[k]);
            return sk_fail(err, SK_ERR_ARG, "SKITTER_CUDA_WITHOUT: '%.*s' is none of %s",
                           (int)(length < 64 ? length : 64), w, known);
        }
        *off |= length > 0 ? 1u << i : 0;
        w += length;
    }
    return SK_OK;
}
