/* SPDX-License-Identifier: Apache-2.0 */
#include "server/test_region.h"

#include "app/track_region.h"

#include <string.h>

sk_status sk_test_region_open(const sk_wish *wish, sk_region **out, sk_error *err)
{
    static const char *const names[] = {"--roi=", "--roi-exclude=", "--roi-mask="};
    sk_status status = SK_OK;
    sk_text words = {0};
    *out = NULL;
    for (int kind = 0; kind < 3; kind++) /* what is left out is left out of what is there, as in a run */
        for (int32_t i = 0; i < wish->n_words && status == SK_OK; i++) {
            if (strncmp(wish->words[i], names[kind], strlen(names[kind])) != 0)
                continue;
            const char *text = wish->words[i] + strlen(names[kind]);
            status = kind == 2 ? sk_track_region_mask(text, out, &words, err)
                               : sk_track_region_add(text, kind == 1, out, &words, err);
        }
    sk_text_free(&words);
    if (status != SK_OK)
        sk_region_close(out);
    return status;
}

static bool real_at(const sk_config_value *list, size_t index, double *out)
{
    return index < sk_config_count(list) && sk_config_to_real(sk_config_at(list, index), out);
}

bool sk_test_region_holds(const sk_region *region, const sk_config_value *instance)
{
    const sk_config_value *obb = sk_config_get(instance, "obb"), *box = sk_config_get(instance, "box"),
                          *points = sk_config_get(instance, "keypoints");
    double b[4], x = 0, y = 0;
    int n = 0;
    if (!region)
        return true;
    if (real_at(obb, 0, &x) && real_at(obb, 1, &y))
        return sk_region_holds(region, x, y);
    if (real_at(box, 0, &b[0]) && real_at(box, 1, &b[1]) && real_at(box, 2, &b[2]) && real_at(box, 3, &b[3]))
        return sk_region_holds(region, (b[0] + b[2]) / 2, (b[1] + b[3]) / 2);
    for (size_t i = 0; i < sk_config_count(points); i++)
        if (real_at(sk_config_at(points, i), 0, &b[0]) && real_at(sk_config_at(points, i), 1, &b[1])) {
            x += b[0];
            y += b[1];
            n++;
        }
    return n > 0 && sk_region_holds(region, x / n, y / n);
}
