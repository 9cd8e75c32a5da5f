/* SPDX-License-Identifier: Apache-2.0 */
#include "sleap_run.h"

#include "formats/npy.h"
#include "graph/reference.h"
#include "test.h"

#include <math.h>

sleap_run sleap_run_network(const sk_model *model, const float *pixels, int64_t n, int64_t height,
                            int64_t width)
{
    sk_error err = {0};
    sleap_run run = {.n_outputs = model->graph->n_outputs};
    sk_graph *graph = NULL;
    sk_shape shape = sk_shape_of(4, (int)n, model->input.channels, (int)height, (int)width);
    assert_ok(sk_graph_specialise(model->graph, &shape, 1, &graph, &err), &err);
    sk_tensor input = {SK_DTYPE_F32, shape, (void *)(uintptr_t)pixels};
    assert_ok(sk_reference_run(graph, &input, 1, run.outputs, run.n_outputs, &err), &err);
    sk_graph_close(&graph);
    return run;
}

void sleap_run_free(sleap_run *run)
{
    for (int32_t i = 0; i < run->n_outputs; i++)
        sk_free(run->outputs[i].data);
    run->n_outputs = 0;
}

const sk_tensor *sleap_run_output(const sleap_run *run, const sk_model *model, sk_output_kind kind,
                                  float *stride)
{
    for (int32_t i = 0; i < model->n_outputs; i++) {
        if (model->outputs[i].kind == kind) {
            if (stride)
                *stride = model->outputs[i].stride;
            return &run->outputs[i];
        }
    }
    fail_msg("%s has no output of kind %d", model->path, kind);
    return NULL;
}

/* --- peaks --- */

static float at(const float *map, int64_t h, int64_t w, int64_t y, int64_t x, float outside)
{
    return y < 0 || x < 0 || y >= h || x >= w ? outside : map[y * w + x];
}

static sleap_peak refine(const float *map, int64_t h, int64_t w, int64_t y, int64_t x, float stride,
                         int channel)
{
    double sum = 0, sum_x = 0, sum_y = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            double v = (double)at(map, h, w, y + dy, x + dx, 0);
            sum += v;
            sum_x += v * dx;
            sum_y += v * dy;
        }
    return (sleap_peak){(float)((double)x + sum_x / sum) * stride, (float)((double)y + sum_y / sum) * stride,
                        map[y * w + x], channel};
}

void sleap_global_peaks(const float *map, int64_t channels, int64_t h, int64_t w, float stride,
                        float threshold, sleap_peak *out)
{
    for (int64_t c = 0; c < channels; c++, map += h * w) {
        int64_t best = 0;
        for (int64_t i = 1; i < h * w; i++)
            if (map[i] > map[best])
                best = i;
        out[c] = refine(map, h, w, best / w, best % w, stride, (int)c);
        if (map[best] < threshold)
            out[c] = (sleap_peak){NAN, NAN, 0, (int32_t)c};
    }
}

static int is_peak(const float *map, int64_t h, int64_t w, int64_t y, int64_t x, float threshold)
{
    float v = map[y * w + x];
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if ((dy || dx) && !(v > at(map, h, w, y + dy, x + dx, -INFINITY)))
                return 0;
    return v > threshold;
}

int sleap_local_peaks(const float *map, int64_t channels, int64_t h, int64_t w, float stride, float threshold,
                      sleap_peak *out, int limit)
{
    int count = 0;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++)
            for (int64_t c = 0; c < channels; c++)
                if (count < limit && is_peak(map + c * h * w, h, w, y, x, threshold))
                    out[count++] = refine(map + c * h * w, h, w, y, x, stride, (int)c);
    return count;
}

/* --- reference arrays --- */

npy_array npy_read(const char *path)
{
    sk_error err = {0};
    sk_tensor tensor;
    assert_ok(sk_npy_read(path, (size_t)1 << 30, &tensor, &err), &err);
    size_t count = (size_t)sk_shape_count(&tensor.shape);
    npy_array array = {tensor.shape, sk_malloc((count + 1) * sizeof(float))};
    assert_non_null(array.data);
    sk_convert(tensor.dtype, tensor.data, SK_DTYPE_F32, array.data, count);
    sk_free(tensor.data);
    return array;
}
