/* SPDX-License-Identifier: Apache-2.0 */
#include "results/stems.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"

#include <stdio.h>
#include <string.h>

/* Two sets of texts in one table with open addressing: sources, each with its stem, and stems that are taken. */
typedef struct entry {
    char *key;
    char *stem; /* of a source; null for an entry that says a stem is taken */
    int64_t frame;
} entry;

struct sk_stems {
    entry *entries;
    size_t capacity, count;
    bool pictures;
    char *numbered; /* of a frame or page */
};

enum { SOURCE = 1, TAKEN = 2 };

static entry *find(entry *entries, size_t capacity, const char *key, int kind)
{
    size_t at = (size_t)sk_hash_xxh3(key, strlen(key), (uint64_t)kind) & (capacity - 1);
    while (entries[at].key &&
           ((entries[at].stem != NULL) != (kind == SOURCE) || strcmp(entries[at].key, key) != 0))
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static sk_status grow(sk_stems *s, sk_error *err)
{
    if (4 * (s->count + 2) < 3 * s->capacity)
        return SK_OK;
    size_t capacity = s->capacity ? 2 * s->capacity : 64;
    entry *entries = sk_calloc(capacity, sizeof *entries);
    if (!entries)
        return sk_fail_memory(err, capacity * sizeof *entries);
    for (size_t i = 0; i < s->capacity; i++)
        if (s->entries[i].key)
            *find(entries, capacity, s->entries[i].key, s->entries[i].stem ? SOURCE : TAKEN) = s->entries[i];
    sk_free(s->entries);
    s->entries = entries;
    s->capacity = capacity;
    return SK_OK;
}

sk_status sk_stems_open(bool pictures, sk_stems **out, sk_error *err)
{
    *out = NULL;
    sk_stems *s = sk_calloc(1, sizeof *s);
    sk_status status = s ? grow(s, err) : sk_fail_memory(err, sizeof *s);
    if (status != SK_OK) {
        sk_stems_close(&s);
        return status;
    }
    s->pictures = pictures;
    *out = s;
    return SK_OK;
}

void sk_stems_close(sk_stems **stems)
{
    SK_TAKE_OR_RETURN(s, stems);
    for (size_t i = 0; i < s->capacity; i++) {
        sk_free_all(s->entries[i].key, s->entries[i].stem);
    }
    sk_free_all(s->entries, s->numbered, s);
}

/* The first of the names that nobody has: stem, whole name, whole name with a number. */
static char *choose(sk_stems *s, const char *source)
{
    char *stem = sk_path_stem(source);
    const char *name = sk_path_name(source);
    size_t room = strlen(name) + 24;
    for (long long n = 1; stem && find(s->entries, s->capacity, stem, TAKEN)->key; n++) {
        sk_free(stem);
        stem = sk_malloc(room);
        if (stem)
            snprintf(stem, room, n > 1 ? "%s_%lld" : "%s", name, n);
    }
    return stem;
}

static sk_status add(sk_stems *s, const char *source, int64_t frame, entry **out, sk_error *err)
{
    SK_TRY(grow(s, err));
    char *stem = choose(s, source), *taken = stem ? sk_strdup(stem) : NULL, *key = sk_strdup(source);
    if (!stem || !taken || !key) {
        sk_free_all(stem, taken, key);
        return sk_fail_memory(err, strlen(source));
    }
    *find(s->entries, s->capacity, taken, TAKEN) = (entry){.key = taken};
    *out = find(s->entries, s->capacity, source, SOURCE);
    **out = (entry){key, stem, frame};
    s->count += 2;
    return SK_OK;
}

sk_status sk_stems_of(sk_stems *s, const char *source, int64_t frame, const char **stem, sk_error *err)
{
    entry *e = find(s->entries, s->capacity, source, SOURCE);
    if (!e->key)
        SK_TRY(add(s, source, frame, &e, err));
    *stem = e->stem;
    if (s->pictures && e->frame == frame)
        return SK_OK;
    size_t room = strlen(e->stem) + 24;
    sk_free(s->numbered);
    s->numbered = sk_malloc(room);
    if (!s->numbered)
        return sk_fail_memory(err, room);
    snprintf(s->numbered, room, "%s_%lld", e->stem, (long long)frame + 1);
    *stem = s->numbered;
    return SK_OK;
}
