/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_ALLOWANCE_H
#define SK_BASE_ALLOWANCE_H

#include "base/error.h"

#include <stdint.h>

/* How much memory a file may make skitter take. A few kilobytes can claim gigabytes that were never written, or that
 * inflate from nothing: what a file asks for is compared with these before any of it is allocated. Whoever has such a file
 * and means it sets SKITTER_MEMORY_LIMIT ("8G", "500M", a number of bytes); the errors say so. */

#define SK_ALLOWANCE_VARIABLE "SKITTER_MEMORY_LIMIT"

/* For everything that is kept of one file of `file_bytes`: 64 times its length and 256 MiB, or the variable where that
 * is more. */
uint64_t sk_allowance_of_file(uint64_t file_bytes);

/* For what a network computes with: `one` is for one image, `all` for the whole batch. 4 GiB and half of the machine's
 * memory (at least 4 GiB), or the variable, which then holds for both. */
typedef struct sk_allowance {
    uint64_t one, all;
} sk_allowance;
sk_allowance sk_allowance_of_network(void);

/* SK_ERR_LIMIT with "…; if it is right, SKITTER_MEMORY_LIMIT=9G allows it" behind the text, where a machine could have
 * that much; `bytes` is what is asked for. */
sk_status sk_allowance_fail(sk_error *err, uint64_t bytes, const char *format, ...) SK_PRINTF(3, 4);

#endif
