/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CPU_TUNE_CACHE_H
#define SK_ENGINES_CPU_TUNE_CACHE_H

#include "engines/cpu/conv.h"

/* Choices measured earlier, in a text file of the user's cache folder: one line a shape, so that a damaged file loses
 * only the damaged lines. A folder that cannot be read or written costs speed at the next opening, nothing else. */
typedef struct cpu_tune_cache cpu_tune_cache;

sk_status cpu_tune_cache_open(const cpu_plan *plan, cpu_tune_cache **out, sk_error *err) SK_MUST_CHECK;
void cpu_tune_cache_close(cpu_tune_cache **cache);
bool cpu_tune_cache_find(const cpu_tune_cache *cache, const cpu_plan *plan, const cpu_conv *conv,
                         cpu_conv_choice *choice);
void cpu_tune_cache_add(cpu_tune_cache *cache, const cpu_plan *plan, const cpu_conv *conv,
                        const cpu_conv_choice *choice);
void cpu_tune_cache_save(const cpu_tune_cache *cache);

#endif
