/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/draw.h"

#include "base/memory.h"
#include "media/overlay.h"

#include <string.h>

/* The same list with the tracks that somebody gives the instances; points stay where they are. */
static sk_status with_tracks(const sk_instances *list, const int32_t *ids, sk_instances *out, sk_error *err)
{
    const size_t bytes = (size_t)list->count * sizeof *list->items;
    *out = *list;
    out->items = sk_malloc(bytes + 1);
    if (!out->items)
        return sk_fail_memory(err, bytes);
    if (list->count > 0)
        memcpy(out->items, list->items, bytes);
    for (int32_t i = 0; i < list->count; i++)
        out->items[i].track_id = ids[i];
    return SK_OK;
}

sk_status sk_draw_instances(const sk_pipeline_info *about, const sk_instances *list, const int32_t *ids,
                            const sk_frame *canvas, sk_error *err)
{
    SK_CHECK_ARG(about && canvas && canvas->data, err);
    if ((canvas->format != SK_PIXEL_RGB && canvas->format != SK_PIXEL_BGR) ||
        canvas->place != SK_PLACE_HOST || canvas->width < 1 || canvas->height < 1 ||
        canvas->stride < (ptrdiff_t)3 * canvas->width)
        return sk_fail(err, SK_ERR_ARG, "drawing needs a picture of RGB or BGR in ordinary memory");
    if (!list)
        return SK_OK;
    sk_overlay_settings how;
    sk_overlay *overlay = NULL;
    sk_instances named = {0};
    sk_frame into = *canvas;
    sk_overlay_defaults(&how);
    how.n_classes = about->n_classes;
    how.class_names = about->class_names;
    how.n_edges = about->n_edges;
    how.edges = about->edges;
    sk_status status = ids ? with_tracks(list, ids, &named, err) : SK_OK;
    if (status == SK_OK)
        status = sk_overlay_open(&how, &overlay, err);
    if (status == SK_OK)
        sk_overlay_draw(overlay, &into, ids ? &named : list);
    sk_overlay_close(&overlay);
    sk_free(named.items);
    return status;
}
