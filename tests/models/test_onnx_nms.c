/* SPDX-License-Identifier: Apache-2.0 */
/* Suppression of overlaps inside a network: where it begins, how the boxes before it are made, and what is left alone. */
#include "onnx_model_fixture.h"

#include "models/onnx_meta.h"
#include "support/fault.h"

enum { PLACES = 3 * 64 * 96 / 6 };

typedef struct network {
    const char *name;
    enum { CENTRES, CORNERS, BOTH_LOW, SUMS } boxes;
    bool divided;  /* the centre by two and not times a half */
    bool mirrored; /* eight times boxes, and not boxes times eight */
    bool three;    /* boxes of three parts */
    bool unscaled; /* boxes as they are */
    bool unjoined; /* rows are not joined of parts at the end */
    bool by_op;    /* NonMaxSuppression, and not NonZero */
    bool none;     /* neither */
    bool twice;    /* turned over again, with nothing between */
    int perm[3];   /* how rows are turned over */
    sk_task task;
    int64_t values; /* that are asked for */
    int64_t found;  /* places */
    int corners;
} network;

static sk_value make_boxes(sk_builder *b, const network *n, const sk_value part[3])
{
    const sk_value three = sk_b_f32(b, 3), eight = sk_b_f32(b, 8);
    const sk_value low = sk_b_sub(b, three, part[0]), high = sk_b_add(b, three, part[1]);
    const sk_value sum = sk_b_add(b, low, high);
    const sk_value half = sk_b_f32(b, n->divided ? 2 : 0.5f);
    const sk_value centre = n->divided ? sk_b_div(b, sum, half) : sk_b_mul(b, sum, half);
    const sk_value size = sk_b_sub(b, high, low);
    const sk_value made[4][3] = {{centre, size, size}, {low, high, high}, {low, low, low}, {sum, size, size}};
    sk_value boxes = sk_b_concat(b, made[n->boxes], n->three ? 3 : 2, 1);
    if (!n->unscaled)
        boxes = n->mirrored ? sk_b_mul(b, eight, boxes) : sk_b_mul(b, boxes, eight);
    return boxes;
}

static sk_graph *make_network(const network *n)
{
    const sk_shape fixed = {.rank = 4, .dim = {1, 3, 64, 96}};
    const sk_attrs to = {.cast = {SK_DTYPE_F32}};
    sk_error err;
    sk_graph *g = NULL;
    sk_builder b;
    sk_value part[3];
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    const sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, &fixed);
    const sk_value dense = sk_b_reshape(&b, x, (int64_t[]){1, 6, PLACES}, 3);
    sk_b_split(&b, dense, 1, (int64_t[]){2, 2, 2}, 3, part);
    sk_value rows = sk_b_concat(&b, (sk_value[]){make_boxes(&b, n, part), part[2]}, 2, 1);
    if (n->unjoined)
        rows = sk_b_unary(&b, SK_UNARY_NEG, rows);
    sk_value turned = sk_b_transpose(&b, rows, n->perm, 3);
    if (n->twice)
        turned = sk_b_transpose(&b, sk_b_transpose(&b, turned, n->perm, 3), n->perm, 3);
    sk_value found = turned;
    if (n->by_op) {
        const sk_value boxes = sk_b_slice(&b, turned, 2, 0, 4), scores = sk_b_slice(&b, turned, 2, 4, 6);
        const sk_value in[2] = {boxes, sk_b_transpose(&b, scores, n->perm, 3)};
        found = sk_b_node(&b, SK_OP_NON_MAX_SUPPRESSION, NULL, in, 2, "suppress");
    } else if (!n->none) {
        found = sk_b_node(&b, SK_OP_NON_ZERO, NULL, &turned, 1, "found");
    }
    const sk_value real = sk_b_node(&b, SK_OP_CAST, &to, &found, 1, "real"), zero = sk_b_f32(&b, 0);
    const sk_value sum = sk_b_reduce(&b, SK_REDUCE_SUM, real, NULL, 0, false);
    sk_b_output(&b, sk_b_add(&b, turned, sk_b_mul(&b, sum, zero)), "output0");
    assert_ok(b.status, &b.error);
    return g;
}

#define TURN                                                                                                 \
    {                                                                                                        \
        0, 2, 1                                                                                              \
    }

static const network all[] = {
    {.name = "centres", .perm = TURN, .values = 6, .found = PLACES},
    {.name = "centres, divided", .divided = 1, .perm = TURN, .values = 6, .found = PLACES},
    {.name = "centres, mirrored", .mirrored = 1, .perm = TURN, .values = 6, .found = PLACES},
    {.name = "corners", .boxes = CORNERS, .perm = TURN, .values = 6, .found = PLACES, .corners = 1},
    {.name = "corners, mirrored",
     .boxes = CORNERS,
     .mirrored = 1,
     .perm = TURN,
     .values = 6,
     .found = PLACES,
     .corners = 1},
    {.name = "low twice", .boxes = BOTH_LOW, .perm = TURN, .values = 6},
    {.name = "a sum and a size", .boxes = SUMS, .perm = TURN, .values = 6},
    {.name = "three parts", .three = 1, .perm = TURN, .values = 8},
    {.name = "unscaled", .boxes = CORNERS, .unscaled = 1, .perm = TURN, .values = 6},
    {.name = "unjoined", .boxes = CORNERS, .unjoined = 1, .perm = TURN, .values = 6},
    {.name = "unjoined, turned boxes",
     .unjoined = 1,
     .perm = TURN,
     .task = SK_TASK_OBB,
     .values = 6,
     .found = PLACES},
    {.name = "corners of turned boxes",
     .boxes = CORNERS,
     .perm = TURN,
     .task = SK_TASK_OBB,
     .values = 6,
     .found = PLACES},
    {.name = "by its operator", .by_op = 1, .perm = TURN, .values = 6, .found = PLACES},
    {.name = "nothing is suppressed", .none = 1, .perm = TURN, .values = 6},
    {.name = "rows of another length", .perm = TURN, .values = 7},
    {.name = "turned otherwise", .perm = {0, 1, 2}, .values = 6},
    {.name = "turned wholly", .perm = {2, 1, 0}, .values = 6},
    {.name = "turned with the batch", .perm = {1, 0, 2}, .values = 6},
    {.name = "turned three times", .twice = 1, .perm = TURN, .values = 6, .found = PLACES},
};

static int64_t run_network(const network *n, sk_graph *g, int *corners, sk_status *status)
{
    sk_error err = {0};
    sk_model model = {.graph = g, .task = n->task ? n->task : SK_TASK_DETECT};
    model.input = (sk_input_spec){.channels = 3, .height = 64, .width = 96, .fixed_batch = 1};
    sk_onnx_reading r = {.model = &model, .path = "f", .err = &err};
    int64_t anchors = -1;
    *status = sk_onnx_find_nms(&r, n->values, &anchors);
    *corners = model.yolo.dense_corners;
    return anchors;
}

/* The tail: what turns the rows over, and all that needs it; nothing else. */
static void tail_is(const sk_graph *g, const char *name, bool found)
{
    bool *needs = calloc(g->n_nodes, sizeof *needs);
    bool begun = false;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const sk_node *node = &g->nodes[i];
        needs[i] = found && !begun && node->op == SK_OP_TRANSPOSE;
        begun = begun || needs[i];
        for (int k = 0; k < node->n_in; k++) {
            const int32_t maker = node->in[k] < 0 ? -1 : g->values[node->in[k]].producer;
            needs[i] = needs[i] || (maker >= 0 && needs[maker]);
        }
        if (((node->flags & SK_NODE_TAIL) != 0) != needs[i])
            fail_msg("%s: node %zu (%d) %s to the tail", name, i, node->op,
                     needs[i] ? "belongs" : "does not belong");
    }
    free(needs);
}

static void suppression_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_graph *g = make_network(&all[i]);
        int corners = 0;
        sk_status status = SK_OK;
        const int64_t found = run_network(&all[i], g, &corners, &status);
        assert_int_equal(status, SK_OK);
        if (found != all[i].found || (found && corners != all[i].corners))
            fail_msg("%s: %lld places, corners %d", all[i].name, (long long)found, corners);
        tail_is(g, all[i].name, found > 0);
        sk_graph_close(&g);
    }
}

static sk_status find_once(void *context, sk_error *err)
{
    sk_graph *g = context;
    sk_model model = {.graph = g, .task = SK_TASK_DETECT};
    model.input = (sk_input_spec){.channels = 3, .height = 64, .width = 96, .fixed_batch = 1};
    sk_onnx_reading r = {.model = &model, .path = "f", .err = err};
    int64_t anchors = 0;
    return sk_onnx_find_nms(&r, 6, &anchors);
}

static void without_memory(void **state)
{
    (void)state;
    sk_graph *g = make_network(&all[0]);
    assert_true(test_every_allocation(find_once, g) > 2);
    sk_graph_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(suppression_is_found),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
