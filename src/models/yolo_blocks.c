/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

/* The composed blocks: each function is the block's forward pass. Names of parts are those in the checkpoint. */

/* out[0..n) = the values of a chain over the list `m`, each from the one before, beginning with x. */
static int chain(yolo_reader *y, yolo_module *module, const char *list, sk_value x, sk_value *out, int room)
{
    int n = sk_yolo_list_count(sk_yolo_find(module, list));
    if (n > room) {
        sk_yolo_fail(y, SK_ERR_LIMIT, "%d parts in '%s'", n, list);
        return 0;
    }
    for (int i = 0; i < n; i++)
        out[i] = x = sk_yolo_list_item(y, module, list, i, x);
    return n;
}

static sk_value add_if(yolo_reader *y, bool add, sk_value a, sk_value b)
{
    return add ? sk_b_add(&y->b, a, b) : b;
}

static sk_value bottleneck(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value out = sk_yolo_child(y, m, "cv2", sk_yolo_child(y, m, "cv1", x));
    return add_if(y, sk_yolo_flag(m, "add", false), x, out);
}

static sk_value c1(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value a = sk_yolo_child(y, m, "cv1", x);
    return sk_b_add(&y->b, sk_yolo_child(y, m, "m", a), a);
}

static sk_value c2(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value half[2];
    sk_b_split(&y->b, sk_yolo_child(y, m, "cv1", x), 1, NULL, 2, half);
    half[0] = sk_yolo_child(y, m, "m", half[0]);
    return sk_yolo_child(y, m, "cv2", sk_b_concat(&y->b, half, 2, 1));
}

/* C2f, C3k2, C2fCIB, C2fPSA: halves of cv1, then a chain on the second; everything goes into cv2. */
static sk_value c2f(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[YOLO_MAX_PARTS];
    sk_b_split(&y->b, sk_yolo_child(y, m, "cv1", x), 1, NULL, 2, parts);
    int n = chain(y, m, "m", parts[1], parts + 2, YOLO_MAX_PARTS - 2);
    return sk_yolo_child(y, m, "cv2", sk_b_concat(&y->b, parts, n + 2, 1));
}

/* C3, C3k, C3x, C3Ghost, RepCSP */
static sk_value c3(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[2];
    parts[0] = sk_yolo_child(y, m, "m", sk_yolo_child(y, m, "cv1", x));
    parts[1] = sk_yolo_child(y, m, "cv2", x);
    return sk_yolo_child(y, m, "cv3", sk_b_concat(&y->b, parts, 2, 1));
}

static sk_value c3f(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[YOLO_MAX_PARTS];
    parts[0] = sk_yolo_child(y, m, "cv2", x);
    parts[1] = sk_yolo_child(y, m, "cv1", x);
    int n = chain(y, m, "m", parts[1], parts + 2, YOLO_MAX_PARTS - 2);
    return sk_yolo_child(y, m, "cv3", sk_b_concat(&y->b, parts, n + 2, 1));
}

static sk_value rep_c3(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value a = sk_yolo_child(y, m, "m", sk_yolo_child(y, m, "cv1", x));
    return sk_yolo_child(y, m, "cv3", sk_b_add(&y->b, a, sk_yolo_child(y, m, "cv2", x)));
}

static sk_value bottleneck_csp(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[2];
    parts[0] = sk_yolo_child(y, m, "cv3", sk_yolo_child(y, m, "m", sk_yolo_child(y, m, "cv1", x)));
    parts[1] = sk_yolo_child(y, m, "cv2", x);
    sk_value both = sk_yolo_child(y, m, "bn", sk_b_concat(&y->b, parts, 2, 1));
    return sk_yolo_child(y, m, "cv4", sk_yolo_activation(y, sk_yolo_find(m, "act"), both));
}

static sk_value ghost_conv(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[2];
    parts[0] = sk_yolo_child(y, m, "cv1", x);
    parts[1] = sk_yolo_child(y, m, "cv2", parts[0]);
    return sk_b_concat(&y->b, parts, 2, 1);
}

static sk_value ghost_bottleneck(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value a = sk_yolo_child(y, m, "conv", x);
    return sk_b_add(&y->b, a, sk_yolo_child(y, m, "shortcut", x));
}

static sk_value light_conv(yolo_reader *y, yolo_module *m, sk_value x)
{
    return sk_yolo_child(y, m, "conv2", sk_yolo_child(y, m, "conv1", x));
}

/* --- pyramids --- */

static sk_value spp(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[YOLO_MAX_PARTS];
    parts[0] = sk_yolo_child(y, m, "cv1", x);
    int n = sk_yolo_list_count(sk_yolo_find(m, "m"));
    if (n > YOLO_MAX_PARTS - 1)
        return sk_yolo_fail(y, SK_ERR_LIMIT, "%d pools", n);
    for (int i = 0; i < n; i++)
        parts[i + 1] = sk_yolo_list_item(y, m, "m", i, parts[0]);
    return sk_yolo_child(y, m, "cv2", sk_b_concat(&y->b, parts, n + 1, 1));
}

static sk_value sppf(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[YOLO_MAX_PARTS];
    int64_t n = sk_yolo_int(m, "n", 3); /* files from before it was configurable have none */
    if (n < 0 || n > YOLO_MAX_PARTS - 1)
        return sk_yolo_fail(y, SK_ERR_LIMIT, "%lld pools", (long long)n);
    parts[0] = sk_yolo_child(y, m, "cv1", x);
    for (int64_t i = 0; i < n; i++)
        parts[i + 1] = sk_yolo_child(y, m, "m", parts[i]);
    sk_value out = sk_yolo_child(y, m, "cv2", sk_b_concat(&y->b, parts, (int)n + 1, 1));
    return sk_yolo_flag(m, "add", false) ? sk_b_add(&y->b, out, x) : out;
}

static sk_value sppelan(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[4];
    static const char *const pools[3] = {"cv2", "cv3", "cv4"};
    parts[0] = sk_yolo_child(y, m, "cv1", x);
    for (int i = 0; i < 3; i++)
        parts[i + 1] = sk_yolo_child(y, m, pools[i], parts[i]);
    return sk_yolo_child(y, m, "cv5", sk_b_concat(&y->b, parts, 4, 1));
}

/* RepNCSPELAN4, ELAN1 */
static sk_value elan(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[4];
    sk_b_split(&y->b, sk_yolo_child(y, m, "cv1", x), 1, NULL, 2, parts);
    parts[2] = sk_yolo_child(y, m, "cv2", parts[1]);
    parts[3] = sk_yolo_child(y, m, "cv3", parts[2]);
    return sk_yolo_child(y, m, "cv4", sk_b_concat(&y->b, parts, 4, 1));
}

/* --- downsampling --- */

static sk_value pool2x2(yolo_reader *y, sk_value x)
{
    sk_attrs attrs = {
        .pool = {.window = {.kernel = {2, 2}, .stride = {1, 1}, .dilation = {1, 1}}, .count_include_pad = 1}};
    return sk_b_node(&y->b, SK_OP_AVG_POOL, &attrs, &x, 1, "avg_pool");
}

static sk_value aconv(yolo_reader *y, yolo_module *m, sk_value x)
{
    return sk_yolo_child(y, m, "cv1", pool2x2(y, x));
}

static sk_value adown(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value half[2];
    sk_b_split(&y->b, pool2x2(y, x), 1, NULL, 2, half);
    half[0] = sk_yolo_child(y, m, "cv1", half[0]);
    half[1] = sk_yolo_child(y, m, "cv2", sk_b_max_pool(&y->b, half[1], 3, 2, 1, "max_pool"));
    return sk_b_concat(&y->b, half, 2, 1);
}

static sk_value scdown(yolo_reader *y, yolo_module *m, sk_value x)
{
    return sk_yolo_child(y, m, "cv2", sk_yolo_child(y, m, "cv1", x));
}

static sk_value cib(yolo_reader *y, yolo_module *m, sk_value x)
{
    return add_if(y, sk_yolo_flag(m, "add", false), x, sk_yolo_child(y, m, "cv1", x));
}

/* Every second pixel, four ways: x[::2, ::2], x[1::2, ::2], x[::2, 1::2], x[1::2, 1::2]. */
static sk_value focus(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[4];
    for (int i = 0; i < 4; i++) {
        const int64_t starts[2] = {i & 1, i >> 1}, ends[2] = {INT64_MAX, INT64_MAX}, axes[2] = {2, 3};
        const int64_t steps[2] = {2, 2};
        const sk_value in[5] = {x, sk_b_i64s(&y->b, starts, 2), sk_b_i64s(&y->b, ends, 2),
                                sk_b_i64s(&y->b, axes, 2), sk_b_i64s(&y->b, steps, 2)};
        parts[i] = sk_b_node(&y->b, SK_OP_SLICE, NULL, in, 5, NULL);
    }
    return sk_yolo_child(y, m, "conv", sk_b_concat(&y->b, parts, 4, 1));
}

/* --- HGNet and ResNet backbones --- */

static sk_value hg_stem(yolo_reader *y, yolo_module *m, sk_value x)
{
    const int64_t pads[8] = {0, 0, 0, 0, 0, 0, 1, 1};
    sk_value parts[2], in[2] = {sk_yolo_child(y, m, "stem1", x), sk_b_i64s(&y->b, pads, 8)};
    sk_value padded = sk_b_node(&y->b, SK_OP_PAD, NULL, in, 2, "pad1");
    in[0] = sk_yolo_child(y, m, "stem2a", padded);
    parts[1] = sk_yolo_child(y, m, "stem2b", sk_b_node(&y->b, SK_OP_PAD, NULL, in, 2, "pad2"));
    parts[0] = sk_yolo_child(y, m, "pool", padded);
    return sk_yolo_child(y, m, "stem4", sk_yolo_child(y, m, "stem3", sk_b_concat(&y->b, parts, 2, 1)));
}

static sk_value hg_block(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value parts[YOLO_MAX_PARTS] = {x};
    int n = chain(y, m, "m", x, parts + 1, YOLO_MAX_PARTS - 1);
    sk_value out = sk_yolo_child(y, m, "ec", sk_yolo_child(y, m, "sc", sk_b_concat(&y->b, parts, n + 1, 1)));
    return sk_yolo_flag(m, "add", false) ? sk_b_add(&y->b, out, x) : out;
}

static sk_value resnet_block(yolo_reader *y, yolo_module *m, sk_value x)
{
    sk_value out = sk_yolo_child(y, m, "cv3", sk_yolo_child(y, m, "cv2", sk_yolo_child(y, m, "cv1", x)));
    out = sk_b_add(&y->b, out, sk_yolo_child(y, m, "shortcut", x));
    return sk_b_unary(&y->b, SK_UNARY_RELU, out);
}

static sk_value resnet_layer(yolo_reader *y, yolo_module *m, sk_value x)
{
    return sk_yolo_child(y, m, "layer", x);
}

/* --- segmentation prototypes --- */

static sk_value proto(yolo_reader *y, yolo_module *m, sk_value x)
{
    x = sk_yolo_child(y, m, "upsample", sk_yolo_child(y, m, "cv1", x));
    return sk_yolo_child(y, m, "cv3", sk_yolo_child(y, m, "cv2", x));
}

static const yolo_named_block blocks[] = {
    {"Bottleneck", bottleneck},
    {"RepBottleneck", bottleneck},
    {"C1", c1},
    {"C2", c2},
    {"C2f", c2f},
    {"C3k2", c2f},
    {"C2fCIB", c2f},
    {"C2fPSA", c2f},
    {"C3", c3},
    {"C3k", c3},
    {"C3x", c3},
    {"C3Ghost", c3},
    {"RepCSP", c3},
    {"C3f", c3f},
    {"RepC3", rep_c3},
    {"BottleneckCSP", bottleneck_csp},
    {"GhostConv", ghost_conv},
    {"GhostBottleneck", ghost_bottleneck},
    {"LightConv", light_conv},
    {"SPP", spp},
    {"SPPF", sppf},
    {"SPPELAN", sppelan},
    {"RepNCSPELAN4", elan},
    {"ELAN1", elan},
    {"AConv", aconv},
    {"ADown", adown},
    {"SCDown", scdown},
    {"CIB", cib},
    {"Focus", focus},
    {"HGStem", hg_stem},
    {"HGBlock", hg_block},
    {"ResNetBlock", resnet_block},
    {"ResNetLayer", resnet_layer},
    {"Proto", proto},
};

yolo_block sk_yolo_block_for(const char *class_name)
{
    return YOLO_BLOCK_NAMED(blocks, class_name);
}
