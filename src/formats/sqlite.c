/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sqlite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

sk_sqlite_functions sk_sqlite;
static char problem[256]; /* why loading failed; "" when it did not */

static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    if (!symbol && !problem[0])
        snprintf(problem, sizeof problem, "%s is missing in it", name);
    memcpy(function, &symbol, sizeof symbol);
}

static void load(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        snprintf(problem, sizeof problem, "%.250s", dlerror());
        return;
    }
#define FIND(result, name, arguments) find(library, "sqlite3_" #name, &sk_sqlite.name);
    SK_SQLITE_FUNCTIONS(FIND)
#undef FIND
}

sk_status sk_sqlite_load(sk_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!problem[0])
        return SK_OK;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "bags of the kind .db3 need libsqlite3.so.0, which cannot be loaded: %s\n"
                   "Debian: apt-get install libsqlite3-0",
                   problem);
}
