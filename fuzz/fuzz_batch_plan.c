/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "app/batch_plan.h"
#include "mutate.h"

#include <string.h>

/* A plan: whatever bytes, it is read or its problems are told with line and column. */

SK_FUZZ_MUTATE(sk_mutate_text)

static char kind(void *context, const char *name)
{
    (void)context;
    return (char)(name[0] == 'f' ? '-' : name[0] == 'l' ? '*' : name[0] == 'x' ? 0 : '1');
}

static const char *near(void *context, const char *name)
{
    (void)context;
    return name[0] ? "videos" : NULL;
}

SK_FUZZ(batch_plan, data, size)
{
    static const sk_batch_plan_keys keys = {kind, near, NULL};
    sk_batch_plan plan = {0};
    sk_problems problems = {0};
    sk_error err = {0};
    size_t length = 0;
    if (sk_batch_plan_read((const char *)data, size, "plan.yaml", &keys, &plan, &problems, &err) == SK_OK)
        for (size_t i = 0; i < plan.count; i++) {
            length += strlen(plan.entries[i].name);
            length += plan.entries[i].text ? strlen(plan.entries[i].text) : 0;
        }
    sk_batch_plan_free(&plan);
    sk_problems_free(&problems);
    (void)length;
}
