/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include <string.h>

uint32_t gpu_switched_off(const char *words)
{
    static const char *const names[] = {"tensor",   "halo",     "wgmma",  "split", "attention",
                                        "graph",    "branches", "pdl",    "sites", "crops",
                                        "upsample", "pairs",    "limits", "pull"};
    uint32_t off = 0;
    for (uint32_t i = 0; words && i < sizeof names / sizeof *names; i++)
        for (const char *w = words; *w; w += strcspn(w, ","), w += *w == ',')
            if (strncmp(w, names[i], strlen(names[i])) == 0 && strcspn(w, ",") == strlen(names[i]))
                off |= 1u << i;
    return off;
}
