/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/conv.h"

#include "graph/infer.h"

#include <stdio.h>
#include <string.h>

/* Convolutions: which of the kernels runs one. */

/* The activations kernels apply themselves; -1 = needs a step of its own. */
static int32_t fused_act(int32_t kind)
{
    switch (kind) {
    case 0: return GPU_ACT_NONE;
    case SK_UNARY_SILU: return GPU_ACT_SILU;
    case SK_UNARY_RELU: return GPU_ACT_RELU;
    case SK_UNARY_LEAKY: return GPU_ACT_LEAKY;
    case SK_UNARY_SIGMOID: return GPU_ACT_SIGMOID;
    default: return -1;
    }
}

void gpu_conv_read(const gpu_plan *plan, const sk_node *node, gpu_conv_shape *s)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]),
                   *w = gpu_shape(plan, node->in[1]);
    *s = (gpu_conv_shape){.n = (int32_t)x->dim[0],
                          .cin = (int32_t)x->dim[1],
                          .h = (int32_t)x->dim[2],
                          .w = (int32_t)x->dim[3],
                          .cout = (int32_t)y->dim[1],
                          .oh = (int32_t)y->dim[2],
                          .ow = (int32_t)y->dim[3],
                          .kh = (int32_t)w->dim[2],
                          .kw = (int32_t)w->dim[3],
                          .groups = node->a.conv.groups,
                          .act = fused_act(node->a.conv.act.kind),
                          .alpha = node->a.conv.act.alpha,
                          .x = node->in[0],
                          .weights = node->in[1],
                          .bias = node->n_in > 2 ? node->in[2] : SK_VALUE_NONE,
                          .residual = node->n_in > 3 ? node->in[3] : SK_VALUE_NONE,
                          .y = node->out[0]};
    s->window = node->a.conv.window;
    s->window.kernel[0] = s->kh;
    s->window.kernel[1] = s->kw;
    s->window = sk_window_resolve(&s->window, s->h, s->w);
}

bool gpu_conv_is_pointwise(const gpu_plan *plan, const sk_node *node)
{
    gpu_conv_shape s;
    gpu_conv_read(plan, node, &s);
    return s.kh == 1 && s.kw == 1 && s.groups == 1 && s.window.stride[0] == 1 && s.window.stride[1] == 1 &&
           s.h == s.oh && s.w == s.ow;
}

void gpu_conv_describe(gpu_step *step, const gpu_conv_shape *s, const char *kernel)
{
    snprintf(step->kernel, sizeof step->kernel, "%s", kernel);
    snprintf(step->shape, sizeof step->shape, "%d->%d %dx%d s%d%s %dx%d", s->cin, s->cout, s->kh, s->kw,
             s->window.stride[0], s->groups > 1 ? " g" : "", s->oh, s->ow);
    step->flops = 2.0 * s->n * s->oh * s->ow * s->cout * (s->cin / s->groups) * s->kh * s->kw;
}

static const float *constant_floats(const gpu_plan *plan, sk_value v)
{
    return v == SK_VALUE_NONE ? NULL : sk_value_tensor(plan->graph, v).data;
}

/* Zero beyond the channels, long enough for the widest tile. */
sk_status gpu_add_bias(gpu_plan *plan, sk_value v, int64_t channels, gpu_ref *ref, sk_error *err)
{
    const float *bias = constant_floats(plan, v);
    void *data;
    SK_TRY(gpu_add_weights(plan, ((size_t)channels + 256) * sizeof(float), &data, ref, err));
    if (bias)
        memcpy(data, bias, (size_t)channels * sizeof(float));
    return SK_OK;
}

static sk_status add_bias(gpu_plan *plan, const gpu_conv_shape *s, gpu_ref *ref, sk_error *err)
{
    return gpu_add_bias(plan, s->bias, s->cout, ref, err);
}

static gpu_ref ref_of(const gpu_plan *plan, sk_value v, bool kept)
{
    return kept ? gpu_kept_ref(plan, v) : gpu_map_ref(plan, v);
}

static int32_t pitch_of(const gpu_plan *plan, sk_value v, bool kept)
{
    return v == SK_VALUE_NONE ? 0 : kept ? gpu_kept_pitch(plan, v) : gpu_map_pitch(plan, v);
}

void gpu_conv_set_maps(const gpu_plan *plan, gpu_step *step, const gpu_conv_shape *s, bool kept)
{
    step->refs[0] = ref_of(plan, s->y, kept);
    step->refs[1] = ref_of(plan, s->x, kept);
    step->n_refs = 4;
    if (s->residual != SK_VALUE_NONE) {
        step->refs[4] = ref_of(plan, s->residual, kept);
        step->n_refs = 5;
    }
}

gpu_conv_args gpu_conv_args_of(const gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s, bool kept)
{
    return (gpu_conv_args){.n = s->n,
                           .h = s->h,
                           .w = s->w,
                           .oh = s->oh,
                           .ow = s->ow,
                           .m = s->n * s->oh * s->ow,
                           .stride = s->window.stride[0],
                           .pad_y = s->window.pad[0],
                           .pad_x = s->window.pad[1],
                           .c8 = (kept ? gpu_round16(s->cin) : gpu_round8(s->cin)) / 8,
                           .ldi = pitch_of(plan, s->x, kept),
                           .ldo = pitch_of(plan, s->y, kept),
                           .ldr = pitch_of(plan, s->residual, kept),
                           .cin8 = gpu_round8(s->cin),
                           .cout8 = gpu_round8(s->cout),
                           .act = s->act,
                           .residual_before = node->a.conv.residual_before_act,
                           .residual_half = gpu_conv_has_half(plan, s),
                           .alpha = s->alpha};
}

gpu_depthwise_args gpu_depthwise_args_of(const gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s,
                                         bool kept)
{
    return (gpu_depthwise_args){.n = s->n,
                                .h = s->h,
                                .w = s->w,
                                .oh = s->oh,
                                .ow = s->ow,
                                .k = s->kh,
                                .stride = s->window.stride[0],
                                .pad_y = s->window.pad[0],
                                .pad_x = s->window.pad[1],
                                .c8 = s->cin / 8,
                                .ldi = pitch_of(plan, s->x, kept),
                                .ldo = pitch_of(plan, s->y, kept),
                                .ldr = pitch_of(plan, s->residual, kept),
                                .act = s->act,
                                .residual_before = node->a.conv.residual_before_act,
                                .type = plan->type,
                                .alpha = s->alpha};
}

/* --- the first convolution, from pictures --- */

/* Weights as the fragments of mma.m16n8k16: [row 3][n tile][half 2][thread 32][2]. k = 4 pixels x 4 channels of a kernel row;
 * column g of tile j is channel 4 (g / 2) + 2 (j % 2) + (g % 2) of the 16 it belongs to. */
static void pack_first(const gpu_conv_shape *s, const float *w, float factor, uint16_t *out)
{
    const int tiles = s->cout / 8;
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < tiles; j++)
            for (int half = 0; half < 2; half++)
                for (int thread = 0; thread < 32; thread++)
                    for (int e = 0; e < 2; e++) {
                        const int pixel = thread & 3, g = thread >> 2, channel = half * 2 + e;
                        const int co = j / 2 * 16 + 4 * (g / 2) + 2 * (j % 2) + (g & 1);
                        float v = 0;
                        if (pixel < 3 && channel < s->cin)
                            v = w[((co * s->cin + channel) * 3 + r) * 3 + pixel] * factor;
                        out[((((size_t)r * (size_t)tiles + (size_t)j) * 2 + (size_t)half) * 32 +
                             (size_t)thread) *
                                2 +
                            (size_t)e] = sk_f32_to_f16(v);
                    }
}

/* Half of it where sums are halved, less what `more` of every pixel gives. */
static void adapt_bias(const gpu_conv_shape *s, const float *w, float factor, float half, float more,
                       float *bias)
{
    for (int32_t c = 0; c < s->cout; c++) {
        double sum = 0;
        for (int32_t k = 0; k < s->cin * 9; k++)
            sum += (double)sk_f16_to_f32(sk_f32_to_f16(w[c * s->cin * 9 + k] * factor));
        bias[c] = (float)((double)(bias[c] * half) - (double)more * sum);
    }
}

static sk_status build_first(gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s, sk_error *err)
{
    const gpu_value *x = &plan->values[s->x];
    const bool bytes = x->picture_bytes < 8;
    const gpu_bytes ends = gpu_bytes_to(plan, s->y, SK_VALUE_NONE, s->act, false);
    gpu_step *step;
    gpu_ref weights, bias;
    void *data;
    SK_TRY(gpu_make_kept(plan, s->y, err));
    SK_TRY(gpu_add_weights(plan, (size_t)3 * (size_t)(s->cout / 8) * 2 * 64 * sizeof(uint16_t), &data,
                           &weights, err));
    /* bytes are brought to byte / 256 exactly, or, to bytes, to 1024 + byte; the rest of the normalisation goes into the weights */
    const bool beside = bytes && ends.out;
    const float half = ends.half ? 0.5f : 1.0f;
    const float factor =
        half * (bytes ? plan->settings.scale / plan->settings.std[0] * (beside ? 1.0f : 256.0f) : 1.0f);
    pack_first(s, constant_floats(plan, s->weights), factor, data);
    SK_TRY(add_bias(plan, s, &bias, err));
    adapt_bias(s, constant_floats(plan, s->weights), factor, half, beside ? 1024.0f : 0.0f,
               (float *)(void *)(plan->weights + bias.offset));
    SK_TRY(gpu_add_step(plan, GPU_FIRST, node, &step, err));
    step->args.first = (gpu_first_args){.n = s->n,
                                        .h = s->h,
                                        .w = s->w,
                                        .oh = s->oh,
                                        .ow = s->ow,
                                        .pad_y = s->window.pad[0],
                                        .pad_x = s->window.pad[1],
                                        .ldo = gpu_kept_pitch(plan, s->y),
                                        .pixel_bytes = x->picture_bytes,
                                        .act = s->act,
                                        .type = plan->type,
                                        .alpha = s->alpha,
                                        .gain = beside  ? 1.0f
                                                : bytes ? 1.0f / 256.0f
                                                        : 0.0f,
                                        .more = beside ? 1024.0f : 0.0f,
                                        .bytes = ends};
    step->refs[0] = gpu_kept_ref(plan, s->y);
    step->refs[1] = (gpu_ref){.buffer = x->picture};
    step->refs[2] = weights;
    step->refs[3] = bias;
    step->n_refs = 4;
    step->variant = s->cout;
    gpu_conv_describe(step, s, bytes ? "first u8" : "first f16");
    return SK_OK;
}

/* --- depthwise --- */

bool gpu_conv_is_depthwise(const gpu_plan *plan, const gpu_conv_shape *s)
{
    (void)plan;
    return s->groups == s->cin && s->cin == s->cout && s->kh == s->kw && s->kh <= 7 && s->cin % 8 == 0 &&
           s->window.stride[0] == s->window.stride[1] && s->window.dilation[0] == 1 &&
           s->window.dilation[1] == 1;
}

sk_status gpu_add_depthwise_weights(gpu_plan *plan, sk_value v, gpu_ref *ref, sk_error *err)
{
    const float *w = constant_floats(plan, v);
    const sk_shape *shape = gpu_shape(plan, v);
    const int64_t channels = shape->dim[0], taps = shape->dim[2] * shape->dim[3];
    void *data;
    SK_TRY(gpu_add_weights(plan, (size_t)(taps * channels) * gpu_type_bytes(plan), &data, ref, err));
    for (int64_t k = 0; k < taps; k++)
        for (int64_t c = 0; c < channels; c++) {
            if (plan->type == GPU_F16)
                ((uint16_t *)data)[k * channels + c] = sk_f32_to_f16(w[c * taps + k]);
            else if (plan->type == GPU_BF16)
                ((uint16_t *)data)[k * channels + c] = sk_f32_to_bf16(w[c * taps + k]);
            else
                ((float *)data)[k * channels + c] = w[c * taps + k];
        }
    return SK_OK;
}

static sk_status build_depthwise(gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s, sk_error *err)
{
    gpu_step *step;
    gpu_ref weights, bias;
    SK_TRY(gpu_add_depthwise_weights(plan, s->weights, &weights, err));
    SK_TRY(add_bias(plan, s, &bias, err));
    SK_TRY(gpu_add_step(plan, GPU_DEPTHWISE, node, &step, err));
    gpu_conv_set_maps(plan, step, s, false);
    step->args.depthwise = gpu_depthwise_args_of(plan, node, s, false);
    step->refs[2] = weights;
    step->refs[3] = bias;
    gpu_conv_describe(step, s, "depthwise");
    return SK_OK;
}

/* Is its residual one of half the size (upsample.c)? */
bool gpu_conv_has_half(const gpu_plan *plan, const gpu_conv_shape *s)
{
    return s->residual != SK_VALUE_NONE && gpu_shape(plan, s->residual)->dim[2] != s->oh;
}

/* --- tiles --- */

static bool is_small(const gpu_plan *plan, const gpu_conv_shape *s)
{
    const int64_t limit = INT32_MAX;
    return (int64_t)s->n * s->h * s->w * gpu_map_pitch(plan, s->x) < limit &&
           (int64_t)s->n * s->oh * s->ow * gpu_map_pitch(plan, s->y) < limit;
}

bool gpu_conv_by_tiles(const gpu_plan *plan, const gpu_conv_shape *s)
{
    const sk_window *w = &s->window;
    const bool point = s->kh == 1 && s->kw == 1 && w->stride[0] == 1 && w->stride[1] == 1 && s->h == s->oh &&
                       s->w == s->ow && w->pad[0] == 0 && w->pad[1] == 0;
    const bool three = s->kh == 3 && s->kw == 3 && w->dilation[0] == 1 && w->dilation[1] == 1 &&
                       w->stride[0] == w->stride[1] && (w->stride[0] == 1 || w->stride[0] == 2) &&
                       w->pad[0] <= 1 && w->pad[1] <= 1 && w->pad[0] >= 0 && w->pad[1] >= 0;
    return gpu_by_tiles(plan) && s->groups == 1 && (point || three) && is_small(plan, s);
}

void gpu_conv_set_then(const gpu_plan *plan, gpu_step *step, const sk_node *then)
{
    gpu_conv_args *a = &step->args.conv;
    gpu_conv_shape t;
    gpu_conv_read(plan, then, &t);
    step->then = then;
    a->then8 = gpu_round8(t.cout);
    a->then_act = t.act;
    a->then_alpha = t.alpha;
    if (gpu_is_map(plan, t.y)) {
        a->ldo = gpu_map_pitch(plan, t.y);
        step->refs[0] = gpu_map_ref(plan, t.y);
    } else {
        a->plane = t.oh * t.ow;
        a->cout = t.cout;
        step->refs[0] = (gpu_ref){.buffer = plan->values[t.y].dense};
    }
    const size_t used = strlen(step->shape);
    snprintf(step->shape + used, sizeof step->shape - used, " ->%d", t.cout);
    step->flops += 2.0 * t.n * t.oh * t.ow * t.cout * t.cin;
}

/* `then`: a 1x1 convolution behind this one; null: none. */
static sk_status build_tile(gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s, const sk_node *then,
                            bool *done, sk_error *err)
{
    gpu_step *step;
    gpu_ref bias;
    SK_TRY(add_bias(plan, s, &bias, err));
    SK_TRY(gpu_add_step(plan, GPU_CONV, node, &step, err));
    gpu_conv_set_maps(plan, step, s, false);
    step->refs[3] = bias;
    step->args.conv = gpu_conv_args_of(plan, node, s, false);
    gpu_conv_describe(step, s, "conv");
    if (then)
        gpu_conv_set_then(plan, step, then);
    *done = gpu_config_guess(plan, step) >= 0;
    if (!*done)
        plan->n_steps--; /* no tile fits: the slow kernel takes it */
    return SK_OK;
}

sk_status gpu_build_planes(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    gpu_conv_shape s;
    bool done;
    gpu_conv_read(plan, node, &s);
    SK_TRY(gpu_need_map(plan, s.x, err));
    if (!gpu_conv_by_tiles(plan, &s)) { /* too large: a map, made dense where it is brought down */
        plan->values[s.y].map = true;
        return gpu_build_conv(plan, node, &done, err);
    }
    SK_TRY(gpu_make_dense(plan, s.y, err));
    SK_TRY(build_tile(plan, node, &s, NULL, &done, err));
    if (!done)
        return sk_fail(err, SK_ERR_INTERNAL, "%s: no tile for a pointwise convolution", plan->node_name);
    gpu_step *step = &plan->steps[plan->n_steps - 1];
    step->refs[0] = (gpu_ref){.buffer = plan->values[s.y].dense};
    step->args.conv.plane = s.oh * s.ow;
    step->args.conv.cout = s.cout;
    return SK_OK;
}

enum { MOST_BETWEEN = 128 }; /* channels of a pixel that one group of warps holds */

static bool is_fixed(const gpu_plan *plan, sk_value v)
{
    return sk_value_is_constant(plan->graph, v) && plan->graph->values[v].dtype == SK_DTYPE_F32;
}

/* Weights known, nothing added, an activation that kernels apply. */
static bool adds_nothing(const gpu_plan *plan, const gpu_conv_shape *s)
{
    return s->groups == 1 && s->act >= 0 && s->residual == SK_VALUE_NONE && is_fixed(plan, s->weights) &&
           (s->bias == SK_VALUE_NONE || is_fixed(plan, s->bias));
}

bool gpu_conv_is_tiled(const gpu_plan *plan, const sk_node *node)
{
    gpu_conv_shape s;
    gpu_conv_read(plan, node, &s);
    if (plan->values[s.x].input >= 0 && s.cin <= 3) /* from pictures (plan.c) */
        return false;
    return gpu_is_map(plan, s.x) && adds_nothing(plan, &s) && gpu_conv_by_tiles(plan, &s) &&
           s.cout <= MOST_BETWEEN;
}

bool gpu_conv_goes_behind(const gpu_plan *plan, const sk_node *node)
{
    gpu_conv_shape s;
    if (gpu_is_fine_head(plan, node) || !(gpu_is_map(plan, node->out[0]) || gpu_is_plane_head(plan, node)))
        return false;
    gpu_conv_read(plan, node, &s);
    return adds_nothing(plan, &s) && gpu_conv_is_pointwise(plan, node) && gpu_conv_by_tiles(plan, &s);
}

sk_status gpu_build_conv_then(gpu_plan *plan, const sk_node *node, const sk_node *then, bool *done,
                              sk_error *err)
{
    gpu_conv_shape s;
    gpu_conv_read(plan, node, &s);
    if (gpu_is_map(plan, then->out[0]))
        SK_TRY(gpu_make_map(plan, then->out[0], err));
    else
        SK_TRY(gpu_make_dense(plan, then->out[0], err));
    if (gpu_conv_reads_bytes(plan, node))
        return gpu_build_bytes_then(plan, node, then, done, err);
    SK_TRY(gpu_need_map(plan, s.x, err));
    return build_tile(plan, node, &s, then, done, err);
}

/* --- anything --- */

static sk_status build_any(gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s, sk_error *err)
{
    const float *w = constant_floats(plan, s->weights);
    const int32_t per = s->cin / s->groups, taps = s->kh * s->kw;
    gpu_step *step;
    gpu_ref weights, bias;
    void *data;
    SK_TRY(gpu_add_weights(plan, (size_t)s->cout * (size_t)taps * (size_t)per * sizeof(float), &data,
                           &weights, err));
    for (int32_t o = 0; o < s->cout; o++)
        for (int32_t t = 0; t < taps; t++)
            for (int32_t c = 0; c < per; c++)
                ((float *)data)[((size_t)o * (size_t)taps + (size_t)t) * (size_t)per + (size_t)c] =
                    w[((size_t)o * (size_t)per + (size_t)c) * (size_t)taps + (size_t)t];
    SK_TRY(add_bias(plan, s, &bias, err));
    SK_TRY(gpu_add_step(plan, GPU_CONV_ANY, node, &step, err));
    gpu_conv_set_maps(plan, step, s, false);
    step->args.conv_any =
        (gpu_conv_any_args){.n = s->n,
                            .h = s->h,
                            .w = s->w,
                            .oh = s->oh,
                            .ow = s->ow,
                            .cin = s->cin,
                            .cout = s->cout,
                            .groups = s->groups,
                            .kh = s->kh,
                            .kw = s->kw,
                            .stride_y = s->window.stride[0],
                            .stride_x = s->window.stride[1],
                            .dilation_y = s->window.dilation[0],
                            .dilation_x = s->window.dilation[1],
                            .pad_y = s->window.pad[0],
                            .pad_x = s->window.pad[1],
                            .ldi = gpu_map_pitch(plan, s->x),
                            .ldo = gpu_map_pitch(plan, s->y),
                            .ldr = s->residual != SK_VALUE_NONE ? gpu_map_pitch(plan, s->residual) : 0,
                            .type = plan->type,
                            .act = s->act,
                            .residual_before = node->a.conv.residual_before_act,
                            .residual_half = gpu_conv_has_half(plan, s),
                            .alpha = s->alpha};
    step->refs[2] = weights;
    step->refs[3] = bias;
    gpu_conv_describe(step, s, "conv, simple");
    return SK_OK;
}

/* y = act(y) or, with `other`, y = y + other, in place: for what no convolution does itself. */
static sk_status add_after(gpu_plan *plan, sk_value y, const sk_fused_act *act, sk_value other, sk_error *err)
{
    const sk_shape *s = gpu_shape(plan, y);
    const bool add = other != SK_VALUE_NONE;
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, GPU_MAP, NULL, &step, err));
    step->args.map = (gpu_map_args){.pixels = s->dim[0] * s->dim[2] * s->dim[3],
                                    .c8 = gpu_round8(s->dim[1]) / 8,
                                    .ldo = gpu_map_pitch(plan, y),
                                    .lda = gpu_map_pitch(plan, y),
                                    .ldb = add ? gpu_map_pitch(plan, other) : 0,
                                    .type = plan->type,
                                    .unary = add ? 0 : act->kind,
                                    .binary = add ? SK_BINARY_ADD : 0,
                                    .alpha = act->alpha,
                                    .beta = act->beta};
    step->refs[0] = step->refs[1] = gpu_map_ref(plan, y);
    step->n_refs = 2;
    if (add)
        step->refs[step->n_refs++] = gpu_map_ref(plan, other);
    snprintf(step->kernel, sizeof step->kernel, "%s", add ? "add" : sk_unary_name((sk_unary)act->kind));
    return SK_OK;
}

sk_status gpu_build_conv(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    gpu_conv_shape s;
    *done = gpu_is_map(plan, node->out[0]);
    if (!*done)
        return SK_OK;
    gpu_conv_read(plan, node, &s);
    const bool apart = s.act < 0; /* an activation that is a step of its own, and what must come after it */
    const sk_value after = apart && !node->a.conv.residual_before_act ? s.residual : SK_VALUE_NONE;
    if (apart)
        s.act = GPU_ACT_NONE;
    if (after != SK_VALUE_NONE)
        s.residual = SK_VALUE_NONE;
    if (plan->values[s.x].picture >= 0)
        return build_first(plan, node, &s, err);
    SK_TRY(gpu_need_map(plan, s.x, err));
    if (s.residual != SK_VALUE_NONE)
        SK_TRY(gpu_need_map(plan, s.residual, err));
    SK_TRY(gpu_make_map(plan, s.y, err));
    bool built = false;
    if (gpu_conv_is_depthwise(plan, &s)) {
        SK_TRY(build_depthwise(plan, node, &s, err));
        built = true;
    } else if (gpu_conv_by_tiles(plan, &s)) {
        SK_TRY(build_tile(plan, node, &s, NULL, &built, err));
    }
    if (!built)
        SK_TRY(build_any(plan, node, &s, err));
    if (apart)
        SK_TRY(add_after(plan, s.y, &node->a.conv.act, SK_VALUE_NONE, err));
    if (after == SK_VALUE_NONE)
        return SK_OK;
    SK_TRY(gpu_need_map(plan, after, err));
    return add_after(plan, s.y, &node->a.conv.act, after, err);
}

sk_status gpu_build_deconv(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]),
                   *w = gpu_shape(plan, node->in[1]);
    sk_attrs attrs = node->a;
    const int32_t act = fused_act(node->a.conv_transpose.act.kind);
    *done = gpu_is_map(plan, node->out[0]);
    if (!*done)
        return SK_OK;
    sk_conv_transpose_resolve(&attrs, w->dim[2], w->dim[3]);
    const sk_window *win = &attrs.conv_transpose.window;
    const int32_t cin = (int32_t)x->dim[1], cout = (int32_t)y->dim[1],
                  taps = (int32_t)(w->dim[2] * w->dim[3]);
    const int32_t cout8 = gpu_round8(cout);
    const float *weights = constant_floats(plan, node->in[1]);
    gpu_conv_shape s = {.cout = cout, .bias = node->n_in > 2 ? node->in[2] : SK_VALUE_NONE};
    gpu_step *step;
    gpu_ref packed, bias;
    void *data;
    SK_TRY(gpu_need_map(plan, node->in[0], err));
    SK_TRY(gpu_make_map(plan, node->out[0], err));
    SK_TRY(gpu_add_weights(plan, (size_t)taps * (size_t)cin * (size_t)cout8 * sizeof(float), &data, &packed,
                           err));
    for (int32_t t = 0; t < taps; t++)
        for (int32_t c = 0; c < cin; c++)
            for (int32_t o = 0; o < cout; o++)
                ((float *)data)[((size_t)t * (size_t)cin + (size_t)c) * (size_t)cout8 + (size_t)o] =
                    weights[((size_t)c * (size_t)cout + (size_t)o) * (size_t)taps + (size_t)t];
    SK_TRY(add_bias(plan, &s, &bias, err));
    SK_TRY(gpu_add_step(plan, GPU_DECONV, node, &step, err));
    step->args.deconv = (gpu_deconv_args){.n = (int32_t)x->dim[0],
                                          .h = (int32_t)x->dim[2],
                                          .w = (int32_t)x->dim[3],
                                          .oh = (int32_t)y->dim[2],
                                          .ow = (int32_t)y->dim[3],
                                          .cin = cin,
                                          .cout = cout,
                                          .kh = (int32_t)w->dim[2],
                                          .kw = (int32_t)w->dim[3],
                                          .stride_y = win->stride[0],
                                          .stride_x = win->stride[1],
                                          .pad_y = win->pad[0],
                                          .pad_x = win->pad[1],
                                          .ldi = gpu_map_pitch(plan, node->in[0]),
                                          .ldo = gpu_map_pitch(plan, node->out[0]),
                                          .type = plan->type,
                                          .act = act < 0 ? GPU_ACT_NONE : act,
                                          .alpha = node->a.conv_transpose.act.alpha};
    step->refs[0] = gpu_map_ref(plan, node->out[0]);
    step->refs[1] = gpu_map_ref(plan, node->in[0]);
    step->refs[2] = packed;
    step->refs[3] = bias;
    step->n_refs = 4;
    step->flops = sk_node_flops(plan->graph, node);
    snprintf(step->kernel, sizeof step->kernel, "transposed conv");
    snprintf(step->shape, sizeof step->shape, "%d->%d %dx%d s%d %dx%d", cin, cout, (int)w->dim[2],
             (int)w->dim[3], win->stride[0], (int)y->dim[2], (int)y->dim[3]);
    return act < 0 ? add_after(plan, node->out[0], &node->a.conv_transpose.act, SK_VALUE_NONE, err) : SK_OK;
}
