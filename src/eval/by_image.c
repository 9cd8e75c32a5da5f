/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/by_image.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const sk_by_image *x = a, *y = b;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void sk_by_image_sort(sk_by_image *items, size_t count)
{
    qsort(items, count, sizeof *items, compare);
}
