/* SPDX-License-Identifier: Apache-2.0 */
#include "results/stem_index.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

size_t sk_stem_length(const char *path)
{
    return strlen(path) - strlen(sk_path_extension(path));
}

static int compare(const void *a, const void *b)
{
    const sk_stem *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, shorter);
    return order ? order : x->length < y->length ? -1 : x->length > y->length;
}

static sk_stem stem_of(const char *path, bool bare, size_t index)
{
    const char *text = bare ? sk_path_name(path) : path;
    return (sk_stem){text, sk_stem_length(text), index};
}

sk_status sk_stem_index_open(char *const *paths, size_t count, size_t skip, bool bare, sk_stem_index *out,
                             sk_error *err)
{
    out->items = sk_calloc(count, sizeof *out->items);
    out->count = count;
    if (!out->items)
        return sk_fail_memory(err, count * sizeof *out->items);
    for (size_t i = 0; i < count; i++)
        out->items[i] = stem_of(paths[i] + skip, bare, i);
    qsort(out->items, count, sizeof *out->items, compare);
    return SK_OK;
}

ptrdiff_t sk_stem_index_find(const sk_stem_index *stems, const char *path, bool bare)
{
    sk_stem key = stem_of(path, bare, 0);
    const sk_stem *found =
        stems->count ? bsearch(&key, stems->items, stems->count, sizeof key, compare) : NULL;
    return found ? (ptrdiff_t)found->index : -1;
}

void sk_stem_index_free(sk_stem_index *stems)
{
    sk_free(stems->items);
    *stems = (sk_stem_index){0};
}
