/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "models/model.h"
#include "mutate.h"
#include "use_model.h"

#include <stdio.h>
#include <string.h>

/* The importer on hostile module trees. The input is data.pkl alone: it is put into an archive without checksums
 * together with storages (all of them the same zeros), so that mutations reach the tree instead of failing at the
 * container. */

#define STORAGES      100
#define STORAGE_BYTES 4096

typedef struct archive {
    uint8_t *bytes;
    size_t length, directory_bytes;
    uint8_t directory[8192];
    int count;
} archive;

static void put(uint8_t **at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *(*at)++ = (uint8_t)(value >> (8 * i));
}

/* Contents with their local header; returns where that lies. */
static size_t add_contents(archive *a, const void *data, size_t size)
{
    uint8_t *p = a->bytes + a->length;
    size_t header = a->length;
    put(&p, 0x04034b50, 4);
    put(&p, 0, 8);
    put(&p, 0, 6);
    put(&p, size, 4);
    put(&p, size, 4);
    put(&p, 0, 4);
    if (size)
        memcpy(p, data, size);
    a->length = (size_t)(p + size - a->bytes);
    return header;
}

static void add_name(archive *a, const char *name, size_t header, size_t size)
{
    uint8_t *d = a->directory + a->directory_bytes;
    put(&d, 0x02014b50, 4);
    put(&d, 0, 8);
    put(&d, 0, 8);
    put(&d, size, 4);
    put(&d, size, 4);
    put(&d, strlen(name), 2);
    put(&d, 0, 8);
    put(&d, 0, 4);
    put(&d, header, 4);
    memcpy(d, name, strlen(name));
    a->directory_bytes = (size_t)(d + strlen(name) - a->directory);
    a->count++;
}

static void finish(archive *a)
{
    uint8_t *p = a->bytes + a->length;
    size_t at = a->length;
    memcpy(p, a->directory, a->directory_bytes);
    p += a->directory_bytes;
    put(&p, 0x06054b50, 4);
    put(&p, 0, 4);
    put(&p, (uint64_t)a->count, 2);
    put(&p, (uint64_t)a->count, 2);
    put(&p, a->directory_bytes, 4);
    put(&p, at, 4);
    put(&p, 0, 2);
    a->length = (size_t)(p - a->bytes);
}

SK_FUZZ_MUTATE(sk_mutate_pickle)

SK_FUZZ(yolo, data, size)
{
    if (size > 1 << 20)
        return;
    static const uint8_t zeros[STORAGE_BYTES];
    static archive a; /* its directory is large for a stack */
    sk_model *model = NULL;
    sk_error err = {0};
    a = (archive){.bytes = sk_malloc(size + STORAGE_BYTES + sizeof a.directory + 4096)};
    if (!a.bytes || sk_model_create(&model, &err) != SK_OK)
        return;
    add_name(&a, "m/data.pkl", add_contents(&a, data, size), size);
    size_t storage = add_contents(&a, zeros, sizeof zeros);
    for (int i = 0; i < STORAGES; i++) {
        char name[32];
        snprintf(name, sizeof name, "m/data/%d", i);
        add_name(&a, name, storage, sizeof zeros);
    }
    finish(&a);
    sk_status status = sk_model_read_ultralytics_memory(a.bytes, a.length, "fuzz.pt", model, &err);
    if (status != SK_OK)
        SK_FUZZ_CHECK(err.code == status && err.message[0]);
    else
        sk_fuzz_use_model(model);
    sk_model_close(&model);
    sk_free(a.bytes);
}
