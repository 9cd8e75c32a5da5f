/* SPDX-License-Identifier: Apache-2.0 */
#include "app/network.h"

#include <stdio.h>
#include <string.h>

/* An array as a person has it, brought into the order of a picture batch. */
typedef struct array_view {
    int64_t batch, height, width, channels;
    bool pictures; /* uint8 NHWC, else float NCHW */
} array_view;

static sk_status view_array(const sk_model *model, const sk_tensor *array, array_view *view, sk_error *err)
{
    const int64_t *d = array->shape.dim;
    int rank = array->shape.rank;
    char text[SK_SHAPE_TEXT];
    view->pictures = array->dtype == SK_DTYPE_U8;
    if (view->pictures && rank == 2)
        *view = (array_view){1, d[0], d[1], 1, true};
    else if (view->pictures && rank == 3)
        *view = (array_view){1, d[0], d[1], d[2], true};
    else if (view->pictures && rank == 4)
        *view = (array_view){d[0], d[1], d[2], d[3], true};
    else if (sk_dtype_is_float(array->dtype) && rank == 3)
        *view = (array_view){1, d[1], d[2], d[0], false};
    else if (sk_dtype_is_float(array->dtype) && rank == 4)
        *view = (array_view){d[0], d[2], d[3], d[1], false};
    else
        return sk_fail(err, SK_ERR_MISMATCH,
                       "an input of type %s and shape %s: give uint8 pictures as height x width x channels, "
                       "or floats as "
                       "batch x channels x height x width",
                       sk_dtype_name(array->dtype), sk_shape_text(&array->shape, text, sizeof text));
    if (view->channels != model->input.channels)
        return sk_fail(err, SK_ERR_MISMATCH, "%s: wants %d channel%s, the input of shape %s has %lld%s",
                       model->path, model->input.channels, model->input.channels == 1 ? "" : "s",
                       sk_shape_text(&array->shape, text, sizeof text), (long long)view->channels,
                       view->pictures ? " (uint8 arrays are height x width x channels)"
                                      : " (float arrays are batch x channels x height x width)");
    return SK_OK;
}

/* Bytes in the layout and type the graph's input wants: NCHW, f32 or u8 or f16. */
static sk_status convert_input(const sk_model *model, const sk_tensor *array, const array_view *view,
                               void **out, sk_error *err)
{
    int64_t count = view->batch * view->channels * view->height * view->width;
    sk_dtype to = model->input.dtype ? model->input.dtype : SK_DTYPE_F32;
    size_t bytes;
    if (!sk_mul_size((size_t)count, sk_dtype_bytes(to), &bytes))
        return sk_fail_memory(err, SIZE_MAX);
    void *data = sk_malloc(bytes);
    if (!data)
        return sk_fail_memory(err, bytes);
    if (!view->pictures) {
        sk_convert(array->dtype, array->data, to, data, (size_t)count);
    } else if (to == SK_DTYPE_U8) {
        const uint8_t *from = array->data;
        uint8_t *at = data;
        for (int64_t n = 0; n < view->batch; n++)
            for (int64_t c = 0; c < view->channels; c++)
                for (int64_t i = 0; i < view->height * view->width; i++)
                    *at++ = from[(n * view->height * view->width + i) * view->channels + c];
    } else {
        sk_session_settings s = sk_session_defaults();
        sk_net_pixel_values(model, &s);
        sk_shape shape = sk_shape_of(4, view->batch, view->channels, view->height, view->width);
        sk_session_input input = {.data = array->data};
        float *nchw = to == SK_DTYPE_F32 ? data : sk_malloc((size_t)count * sizeof *nchw);
        if (!nchw) {
            sk_free(data);
            return sk_fail_memory(err, (size_t)count * sizeof *nchw);
        }
        sk_input_unpack_u8(&input, &s, &shape, nchw);
        if (nchw != data) {
            sk_convert(SK_DTYPE_F32, nchw, to, data, (size_t)count);
            sk_free(nchw);
        }
    }
    *out = data;
    return SK_OK;
}

/* A copy the caller owns, channels last where the original has them last. */
static sk_status copy_output(const sk_tensor *from, bool nhwc, sk_tensor *to, sk_error *err)
{
    size_t bytes = sk_tensor_bytes(from), element = sk_dtype_bytes(from->dtype);
    char *data = sk_malloc(bytes);
    if (!data)
        return sk_fail_memory(err, bytes);
    *to = *from;
    to->data = data;
    const char *source = from->data;
    const int64_t *d = from->shape.dim;
    if (!nhwc || from->shape.rank != 4) {
        memcpy(data, source, bytes);
        return SK_OK;
    }
    int64_t channels = d[1], plane = d[2] * d[3];
    to->shape = sk_shape_of(4, d[0], d[2], d[3], d[1]);
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t i = 0; i < plane; i++)
                memcpy(data + ((n * plane + i) * channels + c) * (int64_t)element,
                       source + ((n * channels + c) * plane + i) * (int64_t)element, element);
    return SK_OK;
}

sk_status sk_net_run_array(const sk_model *model, const sk_engine *engine, const sk_tensor *array,
                           const sk_session_settings *settings, sk_tensor *outputs, int32_t *n_outputs,
                           sk_error *err)
{
    sk_session *session = NULL;
    void *input = NULL;
    array_view view = {0};
    sk_tensor results[SK_SESSION_MAX_OUTPUTS] = {0};
    sk_status status = SK_OK;
    *n_outputs = 0;
    memset(outputs, 0, SK_SESSION_MAX_OUTPUTS * sizeof *outputs);
    SK_TRY_GOTO(view_array(model, array, &view, err));
    SK_TRY_GOTO(sk_net_open(model, engine, view.batch, view.height, view.width, settings, &session, err));
    SK_TRY_GOTO(convert_input(model, array, &view, &input, err));
    sk_session_input given = {.data = input};
    int32_t count = sk_session_about(session)->n_outputs;
    SK_TRY_GOTO(sk_session_run(session, &given, 1, results, count, err));
    for (int32_t i = 0; i < count; i++) {
        SK_TRY_GOTO(copy_output(&results[i], model->outputs_nhwc, &outputs[i], err));
        *n_outputs = i + 1;
    }
done:
    if (status != SK_OK) {
        for (int32_t i = 0; i < *n_outputs; i++)
            sk_free(outputs[i].data);
        *n_outputs = 0;
    }
    sk_free(input);
    sk_session_close(&session);
    return status;
}
