/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_STANDING_CLOCK_H
#define SK_TESTS_APP_STANDING_CLOCK_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* The program's clock: where a test says that it stands, it shows what the test says, in nanoseconds; else the system's. */

static bool stands;
static int64_t shown;

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (stands && which == CLOCK_MONOTONIC) {
        *out = (struct timespec){shown / 1000000000, shown % 1000000000};
        return 0;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(which, out);
}

#endif
