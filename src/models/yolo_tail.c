/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

#include <math.h>
#include <string.h>

/* The decode tail: from raw maps to Ultralytics' output0, as graph nodes marked SK_NODE_TAIL. Sizes come from the
 * maps (SK_OP_ANCHORS), so any image size works.
 *
 * The tail's first nodes read the raw maps level by level, in the order box, class, extra, and the prototypes last:
 * that is the order in which sk_graph_cut_tail leaves them and in which yolo.heads lists them. */

typedef struct flat {
    sk_value box, score, extra; /* [B][channels][A] over all levels */
    sk_value centre, stride;    /* [1][2][A], [1][1][A] */
} flat;

static void flatten_maps(yolo_reader *y, const yolo_maps *maps, flat *f)
{
    sk_builder *b = &y->b;
    const sk_yolo_spec *spec = &y->model->yolo;
    sk_value box[SK_MAX_LEVELS], score[SK_MAX_LEVELS], extra[SK_MAX_LEVELS], points[2];
    sk_attrs attrs = {.anchors = {.n_levels = maps->n_levels}};
    for (int i = 0; i < maps->n_levels; i++) {
        box[i] = sk_b_reshape(b, maps->box[i], (const int64_t[]){0, 4 * spec->reg_max, -1}, 3);
        score[i] = sk_b_reshape(b, maps->score[i], (const int64_t[]){0, spec->n_classes, -1}, 3);
        if (maps->extra_channels)
            extra[i] = sk_b_reshape(b, maps->extra[i], (const int64_t[]){0, maps->extra_channels, -1}, 3);
        attrs.anchors.stride[i] = spec->stride[i];
    }
    f->box = sk_b_concat(b, box, maps->n_levels, 2);
    f->score = sk_b_concat(b, score, maps->n_levels, 2);
    f->extra = maps->extra_channels ? sk_b_concat(b, extra, maps->n_levels, 2) : SK_VALUE_NONE;
    sk_b_node_n(b, SK_OP_ANCHORS, &attrs, maps->box, maps->n_levels, "anchors", points, 2);
    f->centre = points[0];
    f->stride = points[1];
}

/* Distances as the mean of a distribution over bins: softmax, then the dot product with 0, 1, 2 … */
static sk_value expected_distance(yolo_reader *y, const yolo_maps *maps, sk_value box)
{
    int reg_max = y->model->yolo.reg_max;
    if (reg_max == 1)
        return box;
    sk_shape shape;
    size_t mark = sk_yolo_enter(y, "dfl.conv");
    yolo_module *conv = sk_yolo_find(maps->dfl, "conv");
    sk_blob *bins = sk_yolo_weights(y, conv, "weight", &shape);
    sk_value out = SK_VALUE_NONE;
    if (bins) {
        const float *values = sk_blob_data(bins);
        bool counting = sk_shape_count(&shape) == reg_max;
        for (int i = 0; counting && i < reg_max; i++)
            counting = values[i] == (float)i;
        if (!counting)
            sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "the distance bins are not 0, 1, 2 … %d", reg_max - 1);
        shape = (sk_shape){.rank = 4, .dim = {1, reg_max, 1, 1}};
        sk_value w = sk_b_constant_blob(&y->b, "dfl.conv.weight", SK_DTYPE_F32, &shape, bins, 0);
        sk_value p = sk_b_reshape(&y->b, box, (const int64_t[]){0, 4, reg_max, -1}, 4);
        p = sk_b_softmax(&y->b, sk_b_transpose(&y->b, p, (const int[]){0, 2, 1, 3}, 4), 1);
        const sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
        out = sk_b_conv(&y->b, p, w, SK_VALUE_NONE, &window, 1, NULL);
        out = sk_b_reshape(&y->b, out, (const int64_t[]){0, 4, -1}, 3);
        sk_blob_unref(&bins);
    }
    sk_yolo_leave(y, mark);
    return out;
}

/* ltrb distances around the centres into boxes, in pixels: corners for end-to-end models, else centre and size. */
static sk_value decode_boxes(yolo_reader *y, const flat *f, sk_value distance)
{
    sk_builder *b = &y->b;
    sk_value side[2], parts[2];
    sk_b_split(b, distance, 1, (const int64_t[]){2, 2}, 2, side);
    sk_value low = sk_b_sub(b, f->centre, side[0]), high = sk_b_add(b, f->centre, side[1]);
    if (y->model->yolo.end2end) {
        parts[0] = low;
        parts[1] = high;
    } else {
        const sk_value two = sk_b_f32(b, 2); /* by itself: which argument is made first, compilers choose */
        parts[0] = sk_b_div(b, sk_b_add(b, low, high), two);
        parts[1] = sk_b_sub(b, high, low);
    }
    return sk_b_mul(b, sk_b_concat(b, parts, 2, 1), f->stride);
}

static sk_value decode_angle(yolo_reader *y, sk_value raw)
{
    sk_builder *b = &y->b;
    if (y->model->yolo.angle_raw)
        return raw;
    const sk_value quarter = sk_b_f32(b, 0.25f);
    sk_value s = sk_b_sub(b, sk_b_unary(b, SK_UNARY_SIGMOID, raw), quarter);
    return sk_b_mul(b, s, sk_b_f32(b, (float)M_PI));
}

/* The box turns around the anchor: half the difference of the distances, rotated, leads to its centre. */
static sk_value decode_rotated(yolo_reader *y, const flat *f, sk_value distance, sk_value angle)
{
    sk_builder *b = &y->b;
    sk_value side[2], offset[2], turned[2], parts[2];
    sk_value cosine = sk_b_unary(b, SK_UNARY_COS, angle), sine = sk_b_unary(b, SK_UNARY_SIN, angle);
    sk_b_split(b, distance, 1, (const int64_t[]){2, 2}, 2, side);
    const sk_value two = sk_b_f32(b, 2);
    sk_b_split(b, sk_b_div(b, sk_b_sub(b, side[1], side[0]), two), 1, NULL, 2, offset);
    const sk_value y_sine = sk_b_mul(b, offset[1], sine), x_cosine = sk_b_mul(b, offset[0], cosine);
    turned[0] = sk_b_sub(b, x_cosine, y_sine);
    const sk_value y_cosine = sk_b_mul(b, offset[1], cosine), x_sine = sk_b_mul(b, offset[0], sine);
    turned[1] = sk_b_add(b, x_sine, y_cosine);
    parts[0] = sk_b_add(b, sk_b_concat(b, turned, 2, 1), f->centre);
    parts[1] = sk_b_add(b, side[0], side[1]);
    return sk_b_mul(b, sk_b_concat(b, parts, 2, 1), f->stride);
}

static sk_value decode_keypoints(yolo_reader *y, const flat *f)
{
    sk_builder *b = &y->b;
    const sk_yolo_spec *spec = &y->model->yolo;
    const int64_t points[4] = {0, spec->n_keypoints, spec->keypoint_dims, -1};
    sk_value xy = sk_b_reshape(b, f->extra, points, 4), parts[2] = {xy, SK_VALUE_NONE};
    if (spec->keypoint_dims == 3)
        sk_b_split(b, xy, 2, (const int64_t[]){2, 1}, 2, parts);
    /* [B][K][2][A] with the centres [1][2][A] */
    if (spec->keypoints_26) {
        xy = sk_b_add(b, parts[0], f->centre);
    } else {
        const sk_value corner = sk_b_sub(b, f->centre, sk_b_f32(b, 0.5f));
        xy = sk_b_add(b, sk_b_mul(b, parts[0], sk_b_f32(b, 2)), corner);
    }
    parts[0] = sk_b_mul(b, xy, f->stride);
    if (spec->keypoint_dims == 3) {
        parts[1] = sk_b_unary(b, SK_UNARY_SIGMOID, parts[1]);
        parts[0] = sk_b_concat(b, parts, 2, 2);
    }
    return sk_b_reshape(b, parts[0], (const int64_t[]){0, spec->n_keypoints * spec->keypoint_dims, -1}, 3);
}

/* --- end-to-end: the best rows, no suppression --- */

static sk_value top_k(yolo_reader *y, sk_value x, sk_value k, sk_value *index)
{
    sk_value outs[2];
    const sk_value in[2] = {x, k};
    sk_attrs attrs = {.top_k = {.axis = 1, .largest = 1, .sorted = 1}};
    sk_b_node_n(&y->b, SK_OP_TOP_K, &attrs, in, 2, "top_k", outs, 2);
    *index = outs[1];
    return outs[0];
}

static sk_value unsqueeze_last(yolo_reader *y, sk_value x)
{
    const sk_value in[2] = {x, sk_b_i64s(&y->b, (const int64_t[]){2}, 1)};
    return sk_b_node(&y->b, SK_OP_UNSQUEEZE, NULL, in, 2, NULL);
}

/* rows [B][A][width] at index [B][k]: [B][k][width] */
static sk_value gather_rows(yolo_reader *y, sk_value rows, sk_value index, int64_t width)
{
    const sk_value wide[2] = {unsqueeze_last(y, index), sk_b_i64s(&y->b, (const int64_t[]){1, 1, width}, 3)};
    const sk_value in[2] = {rows, sk_b_node(&y->b, SK_OP_EXPAND, NULL, wide, 2, NULL)};
    return sk_b_node(&y->b, SK_OP_GATHER_ELEMENTS, &(sk_attrs){.axis = 1}, in, 2, NULL);
}

/* The 300 anchors with the best score of any class, then the 300 best (anchor, class) pairs among those. */
static sk_value best_rows(yolo_reader *y, sk_value all, int64_t extra)
{
    sk_builder *b = &y->b;
    const sk_yolo_spec *spec = &y->model->yolo;
    int64_t nc = spec->n_classes;
    sk_value part[3], anchor, pair, rows = sk_b_transpose(b, all, (const int[]){0, 2, 1}, 3);
    sk_b_split(b, rows, 2, (const int64_t[]){4, nc, extra}, extra ? 3 : 2, part);
    sk_value shape = sk_b_node(b, SK_OP_SHAPE, NULL, &rows, 1, NULL);
    const sk_value most = sk_b_i64s(b, (const int64_t[]){spec->max_det}, 1);
    sk_value k = sk_b_binary(b, SK_BINARY_MIN, sk_b_slice(b, shape, 0, 1, 2), most);
    top_k(y, sk_b_reduce(b, SK_REDUCE_MAX, part[1], (const int[]){2}, 1, false), k, &anchor);
    sk_value scores = gather_rows(y, part[1], anchor, nc);
    scores = top_k(y, sk_b_reshape(b, scores, (const int64_t[]){0, -1}, 2), k, &pair);
    sk_value class_of = sk_b_binary(b, SK_BINARY_MOD, pair, sk_b_i64(b, nc));
    const sk_value in[2] = {anchor, sk_b_binary(b, SK_BINARY_DIV, pair, sk_b_i64(b, nc))};
    sk_value row = sk_b_node(b, SK_OP_GATHER_ELEMENTS, &(sk_attrs){.axis = 1}, in, 2, NULL);
    sk_value columns[4] = {gather_rows(y, part[0], row, 4), unsqueeze_last(y, scores)};
    sk_value label = unsqueeze_last(y, class_of);
    columns[2] = sk_b_node(b, SK_OP_CAST, &(sk_attrs){.cast = {.to = SK_DTYPE_F32}}, &label, 1, NULL);
    if (extra)
        columns[3] = gather_rows(y, part[2], row, extra);
    return sk_b_concat(b, columns, extra ? 4 : 3, 2);
}

static void describe(yolo_reader *y, const yolo_maps *maps)
{
    sk_yolo_spec *spec = &y->model->yolo;
    sk_head_kind extra = y->model->task == SK_TASK_POSE  ? SK_HEAD_KEYPOINTS
                         : y->model->task == SK_TASK_OBB ? SK_HEAD_ANGLE
                                                         : SK_HEAD_MASK;
    spec->n_heads = 0;
    for (int i = 0; i < maps->n_levels; i++) {
        spec->heads[spec->n_heads++] = (sk_head_spec){SK_HEAD_BOX, i};
        spec->heads[spec->n_heads++] = (sk_head_spec){SK_HEAD_CLASS, i};
        if (maps->extra_channels)
            spec->heads[spec->n_heads++] = (sk_head_spec){extra, i};
    }
    y->model->n_outputs = 1;
    y->model->outputs[0] =
        (sk_output_spec){.kind = spec->end2end ? SK_OUTPUT_YOLO_END2END : SK_OUTPUT_YOLO, .name = "output0"};
    if (maps->proto != SK_VALUE_NONE) {
        spec->heads[spec->n_heads++] = (sk_head_spec){SK_HEAD_PROTO, 0};
        y->model->outputs[y->model->n_outputs++] =
            (sk_output_spec){.kind = SK_OUTPUT_YOLO_PROTO, .name = "output1"};
    }
}

void sk_yolo_tail(yolo_reader *y, const yolo_maps *maps)
{
    flat f;
    sk_value columns[3];
    if (!sk_yolo_ok(y))
        return;
    y->b.node_flags = SK_NODE_TAIL;
    flatten_maps(y, maps, &f);
    sk_value distance = expected_distance(y, maps, f.box);
    sk_value angle = y->model->task == SK_TASK_OBB ? decode_angle(y, f.extra) : SK_VALUE_NONE;
    columns[0] = y->model->task == SK_TASK_OBB ? decode_rotated(y, &f, distance, angle)
                                               : decode_boxes(y, &f, distance);
    columns[1] = sk_b_unary(&y->b, SK_UNARY_SIGMOID, f.score);
    columns[2] = y->model->task == SK_TASK_POSE ? decode_keypoints(y, &f) : angle;
    if (y->model->task == SK_TASK_SEGMENT)
        columns[2] = f.extra;
    sk_value out = sk_b_concat(&y->b, columns, maps->extra_channels ? 3 : 2, 1);
    if (y->model->yolo.end2end)
        out = best_rows(y, out, maps->extra_channels);
    sk_b_output(&y->b, out, "output0");
    if (maps->proto != SK_VALUE_NONE)
        sk_b_output(&y->b, sk_b_node(&y->b, SK_OP_IDENTITY, NULL, &maps->proto, 1, "proto"), "output1");
    y->b.node_flags = 0;
    describe(y, maps);
}
