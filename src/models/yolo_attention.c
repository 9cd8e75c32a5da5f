/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

#include <math.h>

/* Attention over the pixels of a map. Shapes: B batch, C channels, h heads, d their width, N pixels (of an area). */

#define MAX_HEADS 4096

static sk_value shape_of(yolo_reader *y, sk_value x)
{
    return sk_b_node(&y->b, SK_OP_SHAPE, NULL, &x, 1, NULL);
}

static sk_value reshape_like(yolo_reader *y, sk_value x, sk_value dims)
{
    const sk_value in[2] = {x, dims};
    return sk_b_node(&y->b, SK_OP_RESHAPE, NULL, in, 2, NULL);
}

/* v * softmax(scale * q^T k)^T with q, k [B][h][d][N] and v [B][h][e][N]; gives [B][h][e][N]. */
static sk_value attend(yolo_reader *y, sk_value q, sk_value k, sk_value v, float scale)
{
    const int swap[4] = {0, 1, 3, 2};
    sk_value scaled = sk_b_transpose(&y->b, sk_b_mul(&y->b, q, sk_b_f32(&y->b, scale)), swap, 4);
    sk_value weights = sk_b_softmax(&y->b, sk_b_matmul(&y->b, scaled, k), 3);
    return sk_b_matmul(&y->b, v, sk_b_transpose(&y->b, weights, swap, 4));
}

static sk_value attention(yolo_reader *y, yolo_module *m, sk_value x)
{
    int64_t heads = sk_yolo_int(m, "num_heads", 0), key = sk_yolo_int(m, "key_dim", 0);
    int64_t value = sk_yolo_int(m, "head_dim", 0);
    if (heads < 1 || heads > MAX_HEADS || key < 1 || key > MAX_HEADS || value < 1 || value > MAX_HEADS)
        return sk_yolo_fail(y, SK_ERR_FORMAT, "attention without sensible num_heads, key_dim and head_dim");
    double scale = pow((double)key, -0.5);
    sk_pickle_to_real(sk_pickle_get(m, "scale"), &scale);
    const int64_t split[4] = {0, heads, 2 * key + value, -1}, sizes[3] = {key, key, value};
    sk_value qkv[3], dims = shape_of(y, x);
    sk_b_split(&y->b, sk_b_reshape(&y->b, sk_yolo_child(y, m, "qkv", x), split, 4), 2, sizes, 3, qkv);
    sk_value out = reshape_like(y, attend(y, qkv[0], qkv[1], qkv[2], (float)scale), dims);
    sk_value position = sk_yolo_child(y, m, "pe", reshape_like(y, qkv[2], dims));
    return sk_yolo_child(y, m, "proj", sk_b_add(&y->b, out, position));
}

/* [B][C][H][W] into areas of rows, each a batch entry: [B*area][h][C/h][N/area]. */
static sk_value into_areas(yolo_reader *y, sk_value x, int64_t area, int64_t heads, int64_t channels)
{
    const int64_t cut[4] = {0, channels, area, -1}, joined[4] = {-1, heads, channels / heads, 0};
    x = sk_b_reshape(&y->b, x, cut, 4);
    x = sk_b_transpose(&y->b, x, (const int[]){0, 2, 1, 3}, 4);
    return sk_b_reshape(&y->b, x, joined, 4);
}

/* … and back to the shape `dims`. */
static sk_value from_areas(yolo_reader *y, sk_value x, int64_t area, int64_t channels, sk_value dims)
{
    const int64_t cut[4] = {-1, area, channels, 0};
    x = sk_b_reshape(&y->b, x, cut, 4);
    x = sk_b_transpose(&y->b, x, (const int[]){0, 2, 1, 3}, 4);
    return reshape_like(y, x, dims);
}

/* Area attention of YOLO12. Two layouts exist: one convolution 'qkv' whose channels are (q, k, v) within each head,
 * and a pair 'qk' (all of q, then all of k) and 'v'. */
static sk_value area_attention(yolo_reader *y, yolo_module *m, sk_value x)
{
    int64_t heads = sk_yolo_int(m, "num_heads", 0), width = sk_yolo_int(m, "head_dim", 0);
    int64_t area = sk_yolo_int(m, "area", 1), channels = heads * width;
    if (heads < 1 || heads > MAX_HEADS || width < 1 || width > MAX_HEADS || area < 1 || area > 1024)
        return sk_yolo_fail(y, SK_ERR_FORMAT, "area attention without sensible num_heads, head_dim and area");
    const int64_t sizes[3] = {width, width, width};
    sk_value qkv[3], map, dims;
    if (sk_yolo_find(m, "qkv")) {
        sk_value all = into_areas(y, sk_yolo_child(y, m, "qkv", x), area, heads, 3 * channels);
        sk_b_split(&y->b, all, 2, sizes, 3, qkv);
        dims = shape_of(y, x);
        map = from_areas(y, qkv[2], area, channels, dims);
    } else {
        sk_value qk[2];
        map = sk_yolo_child(y, m, "v", x);
        dims = shape_of(y, map);
        sk_b_split(&y->b, sk_yolo_child(y, m, "qk", x), 1, NULL, 2, qk);
        qkv[0] = into_areas(y, qk[0], area, heads, channels);
        qkv[1] = into_areas(y, qk[1], area, heads, channels);
        qkv[2] = into_areas(y, map, area, heads, channels);
    }
    sk_value out = attend(y, qkv[0], qkv[1], qkv[2], (float)pow((double)width, -0.5));
    out = from_areas(y, out, area, channels, dims);
    return sk_yolo_child(y, m, "proj", sk_b_add(&y->b, out, sk_yolo_child(y, m, "pe", map)));
}

static sk_value residual(yolo_reader *y, yolo_module *m, const char *part, sk_value x)
{
    return sk_b_add(&y->b, x, sk_yolo_child(y, m, part, x));
}

static sk_value psa_block(yolo_reader *y, yolo_module *m, sk_value x)
{
    if (!sk_yolo_flag(m, "add", true))
        return sk_yolo_child(y, m, "ffn", sk_yolo_child(y, m, "attn", x));
    return residual(y, m, "ffn", residual(y, m, "attn", x));
}

static sk_value ablock(yolo_reader *y, yolo_module *m, sk_value x)
{
    return residual(y, m, "mlp", residual(y, m, "attn", x));
}

static sk_value psa(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value half[2];
    sk_b_split(&y->b, sk_yolo_child(y, m, "cv1", x), 1, NULL, 2, half);
    half[1] = residual(y, m, "ffn", residual(y, m, "attn", half[1]));
    return sk_yolo_child(y, m, "cv2", sk_b_concat(&y->b, half, 2, 1));
}

static sk_value c2psa(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value half[2];
    sk_b_split(&y->b, sk_yolo_child(y, m, "cv1", x), 1, NULL, 2, half);
    half[1] = sk_yolo_child(y, m, "m", half[1]);
    return sk_yolo_child(y, m, "cv2", sk_b_concat(&y->b, half, 2, 1));
}

static sk_value a2c2f(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[YOLO_MAX_PARTS];
    int n = sk_yolo_list_count(sk_yolo_find(m, "m"));
    if (n > YOLO_MAX_PARTS - 1)
        return sk_yolo_fail(y, SK_ERR_LIMIT, "%d parts", n);
    parts[0] = sk_yolo_child(y, m, "cv1", x);
    for (int i = 0; i < n; i++)
        parts[i + 1] = sk_yolo_list_item(y, m, "m", i, parts[i]);
    sk_value out = sk_yolo_child(y, m, "cv2", sk_b_concat(&y->b, parts, n + 1, 1));
    if (!sk_pickle_parameter(m, "gamma") || !sk_yolo_ok(y))
        return out;
    sk_shape shape;
    sk_blob *gamma = sk_yolo_weights(y, m, "gamma", &shape);
    if (!gamma)
        return SK_VALUE_NONE;
    shape = (sk_shape){.rank = 4, .dim = {1, (int64_t)(sk_blob_bytes(gamma) / sizeof(float)), 1, 1}};
    sk_value factor = sk_b_constant_blob(&y->b, "gamma", SK_DTYPE_F32, &shape, gamma, 0);
    sk_blob_unref(&gamma);
    return sk_b_add(&y->b, x, sk_b_mul(&y->b, factor, out));
}

yolo_block sk_yolo_attention_for(const char *class_name)
{
    static const yolo_named_block blocks[] = {
        {"Attention", attention}, {"AAttn", area_attention}, {"PSABlock", psa_block}, {"PSA", psa},
        {"C2PSA", c2psa},         {"ABlock", ablock},        {"A2C2f", a2c2f},
    };
    return YOLO_BLOCK_NAMED(blocks, class_name);
}
