/* SPDX-License-Identifier: Apache-2.0 */
#include "server/library_mhd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

sk_mhd_functions sk_mhd;
static char problem[512]; /* why loading failed; "" when it did not */

static void find(void *handle, const char *name, void *function, size_t bytes)
{
    void *symbol = dlsym(handle, name);
    if (!symbol && !problem[0])
        snprintf(problem, sizeof problem, "%s is missing in it", name);
    memcpy(function, &symbol, bytes);
}

static void load(void)
{
    void *handle = dlopen("libmicrohttpd.so.12", RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        snprintf(problem, sizeof problem, "%.500s", dlerror());
        return;
    }
#define FIND(name) find(handle, #name, &sk_mhd.name, sizeof sk_mhd.name);
    SK_MHD_FUNCTIONS(FIND)
#undef FIND
}

sk_status sk_mhd_load(sk_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!problem[0])
        return SK_OK;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "the page needs libmicrohttpd.so.12, which cannot be loaded: %s\n"
                   "Debian: apt-get install libmicrohttpd12",
                   problem);
}
