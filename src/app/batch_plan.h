/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_PLAN_H
#define SK_APP_BATCH_PLAN_H

#include "base/problems.h"
#include "formats/config.h"

/* PLAN.yaml: what the command line would say, by its own names.
 *
 *     command: track
 *     videos: data/day1
 *     model: yolo11n-obb.pt
 *     animals: 4
 *     out: results
 */

#define SK_BATCH_PLAN_BYTES ((size_t)4 << 20)

typedef struct sk_batch_entry {
    const char *name, *text; /* text null: a flag that is given */
    uint32_t line, column;
} sk_batch_entry;

typedef struct sk_batch_plan {
    const char *path; /* borrowed */
    sk_config *config;
    sk_batch_entry *entries;
    size_t count, capacity;
    sk_text texts; /* what was not written as a text; entries point into it once all are read */
} sk_batch_plan;

/* What the reader is told of a name: 0 there is none of this name, '-' a flag, '*' may be there several times, '1' once. */
typedef char (*sk_batch_plan_kind)(void *context, const char *name);
/* The name that was probably meant; null: none is near. */
typedef const char *(*sk_batch_plan_near)(void *context, const char *name);

typedef struct sk_batch_plan_keys {
    sk_batch_plan_kind kind;
    sk_batch_plan_near near;
    void *context;
} sk_batch_plan_keys;

/* Every problem with its line and column: "plan.yaml:3:8: …". SK_OK also where there are some; *plan then has what could be read.
 * `plan` starts as {0} and is ended by sk_batch_plan_free, also after a failure. */
sk_status sk_batch_plan_read(const char *text, size_t length, const char *path,
                             const sk_batch_plan_keys *keys, sk_batch_plan *plan, sk_problems *problems,
                             sk_error *err) SK_MUST_CHECK;
void sk_batch_plan_free(sk_batch_plan *plan);
void sk_batch_plan_wrong(const sk_batch_plan *plan, const sk_batch_entry *at, sk_problems *problems,
                         const char *format, ...) SK_PRINTF(4, 5);

#endif
