/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/memory.h"

#include <malloc.h>

#define FAULT_LIMIT 100000

int test_every_allocation(test_fault_fn fn, void *context)
{
    sk_error err = {0};
    sk_status status = fn(context, &err); /* also fills what is made once for a process */
    if (status != SK_OK)
        fail_msg("undisturbed: %s: %s", sk_status_text(status), err.message);
    int64_t before = sk_memory_live_bytes();
    for (int n = 1; n <= FAULT_LIMIT; n++) {
        err = (sk_error){0};
        sk_memory_fail_nth((uint64_t)n);
        status = fn(context, &err);
        int reached = sk_memory_fail_left() == 0;
        sk_memory_fail_nth(0);
        int64_t leaked = sk_memory_live_bytes() - before;
        if (leaked != 0)
            fail_msg("allocation %d failing: %lld bytes leaked (status: %s)", n, (long long)leaked,
                     sk_status_text(status));
        if (!reached) {
            if (status != SK_OK)
                fail_msg("run %d, undisturbed: %s: %s", n, sk_status_text(status), err.message);
            return n - 1;
        }
        if (status != SK_OK && status != SK_ERR_MEMORY)
            fail_msg("allocation %d failing: answered %s (%s)", n, sk_status_text(status), err.message);
        if (status == SK_ERR_MEMORY && (err.code != SK_ERR_MEMORY || !err.message[0]))
            fail_msg("allocation %d failing: SK_ERR_MEMORY without a text", n);
    }
    fail_msg("still allocating after %d runs", FAULT_LIMIT);
    return 0;
}

static size_t bytes_in_use(void)
{
#if __GLIBC_PREREQ(2, 33)
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

void test_leaves_nothing(test_fault_fn fn, void *context)
{
    enum { WARM = 8, RUNS = 32 };
    size_t before = 0;
    for (int i = 0; i < WARM + RUNS; i++) {
        sk_error err = {0};
        if (i == WARM)
            before = bytes_in_use();
        assert_ok(fn(context, &err), &err);
    }
    const size_t after = bytes_in_use();
    if (after >= before + 16 * RUNS) /* the smallest block, each time */
        fail_msg("%zu bytes more after %d runs", after - before, RUNS);
}
