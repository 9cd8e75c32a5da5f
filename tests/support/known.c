/* SPDX-License-Identifier: Apache-2.0 */
#include "known.h"

#include "base/file.h"
#include "base/hash.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep(const char *name, const void *bytes, size_t count)
{
    char path[4096];
    const char *folder = getenv("SKITTER_TEST_KNOWN");
    if (!folder || !*folder)
        return;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *c = path + strlen(folder) + 1; *c; c++)
        *c = *c == '/' ? '_' : *c;
    sk_error err = {0};
    if (sk_file_put(path, bytes, count, &err) != SK_OK)
        print_error("%s\n", err.message);
}

bool test_known(const char *name, const void *bytes, size_t count, uint64_t hash)
{
    const uint64_t now = sk_hash_xxh3(bytes, count, 0);
    if (now == hash)
        return true;
    keep(name, bytes, count);
    print_error("%s: 0x%016llx, not 0x%016llx as known\n", name, (unsigned long long)now,
                (unsigned long long)hash);
    return false;
}

bool test_known_file(const char *path, const char *name, uint64_t hash)
{
    char *bytes = NULL;
    size_t count = 0;
    sk_error err = {0};
    assert_ok(sk_file_read(path, (size_t)1 << 28, &bytes, &count, &err), &err);
    const bool same = test_known(name, bytes, count, hash);
    sk_free(bytes);
    return same;
}
