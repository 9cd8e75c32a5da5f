/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/map.h"

sk_status sk_map_of_tensor(const sk_tensor *tensor, int32_t image, bool end_to_end, sk_map *out,
                           sk_error *err)
{
    SK_CHECK_ARG(tensor && tensor->data && out, err);
    char text[SK_SHAPE_TEXT];
    const sk_shape *s = &tensor->shape;
    if (tensor->dtype != SK_DTYPE_F32 || s->rank < 2 || s->rank > 4)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "an output of type %s and shape %s cannot be read as maps; f32 of rank 2 to 4 "
                       "is needed",
                       sk_dtype_name(tensor->dtype), sk_shape_text(s, text, sizeof text));
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] < 1 || s->dim[d] > (1 << 24))
            return sk_fail(err, SK_ERR_MISMATCH, "an output of shape %s cannot be read as maps",
                           sk_shape_text(s, text, sizeof text));
    if (image < 0 || image >= s->dim[0])
        return sk_fail(err, SK_ERR_ARG, "image %d of an output of shape %s", (int)image,
                       sk_shape_text(s, text, sizeof text));
    int32_t channels = (int32_t)s->dim[1];
    int32_t height = s->rank == 4 ? (int32_t)s->dim[2] : 1;
    int32_t width = s->rank == 2 ? 1 : (int32_t)s->dim[s->rank - 1];
    const float *data = (const float *)tensor->data + (ptrdiff_t)image * channels * height * width;
    if (end_to_end && s->rank == 3)
        *out = sk_map_interleaved(data, width, 1, channels);
    else
        *out = sk_map_planar(data, channels, height, width);
    return SK_OK;
}
