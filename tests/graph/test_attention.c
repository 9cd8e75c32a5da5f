/* SPDX-License-Identifier: Apache-2.0 */
/* The attention of YOLO10 and later is found in a graph, with its figures, and what only looks like it is not. */
#include "support/test.h"

#include "graph/attention.h"
#include "graph/builder.h"
#include "graph/edit.h"
#include "graph/reference.h"

#include <stdio.h>
#include <string.h>

enum { IMAGES = 2, HEADS = 2, KD = 3, HD = 4, MOST = 16 * 24 };

static int64_t rows = 4,
               columns = 6; /* of the map: few enough for all its elements to be looked at, or more */
#define PIXELS (rows * columns)

/* What is different from a plain one. */
typedef enum {
    PLAIN,
    SCALED_AFTER, /* still one: the factor behind the product … */
    UNSCALED,     /* … or none */
    LAST_AXES,    /* still one: axes that count from the end */
    SOFTMAX_OF_COLUMNS,
    SHIFTED,        /* a sum in place of the factor */
    SHIFTED_AFTER,  /* … behind the product */
    SCALED_BY_MANY, /* a factor for each of q's numbers */
    SCALED_BY_MANY_AFTER,
    SCALED_TWICE,
    Q_IS_READ, /* by somebody else, too */
    K_IS_READ,
    SCALED_Q_IS_READ,
    TURNED_Q_IS_READ,
    PRODUCT_IS_READ,
    SCORES_ARE_READ,
    SOFTMAX_IS_READ,
    TURNED_SOFTMAX_IS_READ,
    V_IS_READ,
    SWAPPED_Q_AND_K,
    SOFTMAX_NOT_TURNED,
    FLAT_MAP,         /* of three dimensions */
    AREAS_BY_RESHAPE, /* pixels of several channels as if they were an area */
    RESULT_BY_RESHAPE,
    VALUES_BY_RESHAPE,
    MANY_MOVES, /* more than are followed */
    MANY_MOVES_AFTER
} difference;

static sk_value read_too(sk_builder *b, sk_value v)
{
    static int count;
    char name[16];
    snprintf(name, sizeof name, "more%d", count++);
    sk_b_output(b, sk_b_unary(b, SK_UNARY_NEG, v), name);
    return v;
}

/* [image][channels][row][column] to [image * area][head][channels / head][pixel], and back. */
static sk_value into_areas(sk_builder *b, sk_value x, int64_t areas, int64_t channels, bool by_reshape)
{
    if (areas > 1 && !by_reshape) {
        x = sk_b_reshape(b, x, (int64_t[]){IMAGES, channels, areas, PIXELS / areas}, 4);
        x = sk_b_transpose(b, x, (const int[]){0, 2, 1, 3}, 4);
    }
    return sk_b_reshape(b, x, (int64_t[]){IMAGES * areas, HEADS, channels / HEADS, PIXELS / areas}, 4);
}

static sk_value from_areas(sk_builder *b, sk_value x, int64_t areas, bool by_reshape)
{
    if (areas > 1 && !by_reshape) {
        x = sk_b_reshape(b, x, (int64_t[]){IMAGES, areas, HEADS * HD, PIXELS / areas}, 4);
        x = sk_b_transpose(b, x, (const int[]){0, 2, 1, 3}, 4);
    }
    return sk_b_reshape(b, x, (int64_t[]){IMAGES, HEADS * HD, rows, columns}, 4);
}

static sk_value many_moves(sk_builder *b, sk_value x, const int64_t *dims)
{
    for (int i = 0; i < SK_MAX_MOVES; i++)
        x = sk_b_reshape(b, x, i % 2 ? dims : (int64_t[]){-1}, i % 2 ? 4 : 1);
    return x;
}

static void build(sk_builder *b, difference d, int64_t areas, bool values)
{
    static const float many[MOST] = {1, 2, 3};
    const int64_t channels = HEADS * (2 * KD + HD), pixels = PIXELS / areas;
    const int swap[4] = {0, 1, 3, 2};
    const sk_shape map = {.rank = 4, .dim = {IMAGES, channels, rows, columns}};
    const sk_shape row = {.rank = 4, .dim = {1, 1, 1, pixels}};
    const sk_shape flat = {.rank = 3, .dim = {IMAGES, channels, PIXELS}};
    sk_value x = sk_b_input(b, "x", SK_DTYPE_F32, d == FLAT_MAP ? &flat : &map), part[3],
             factor = sk_b_f32(b, 0.25f);
    sk_value each = sk_b_constant(b, "many", SK_DTYPE_F32, &row, many);
    if (d != UNSCALED) /* there the map is what goes in */
        x = sk_b_unary(b, SK_UNARY_RELU, x);
    if (d == MANY_MOVES)
        x = many_moves(b, x, map.dim);
    x = into_areas(b, x, areas, channels, d == AREAS_BY_RESHAPE);
    sk_b_split(b, x, d == LAST_AXES ? -2 : 2, (int64_t[]){KD, KD, HD}, 3, part);
    sk_value q = part[d == SWAPPED_Q_AND_K], k = part[d != SWAPPED_Q_AND_K], v = part[2];
    const bool after =
        d == SCALED_AFTER || d == SHIFTED_AFTER || d == SCALED_BY_MANY_AFTER || d == SCALED_TWICE;
    if (d == Q_IS_READ)
        read_too(b, q);
    if (d == K_IS_READ)
        read_too(b, k);
    if (d == V_IS_READ)
        read_too(b, v);
    if (d == SHIFTED)
        q = sk_b_add(b, q, factor);
    else if (d == SCALED_BY_MANY)
        q = sk_b_mul(b, q, each);
    else if (d != UNSCALED && (!after || d == SCALED_TWICE))
        q = sk_b_mul(b, q, factor);
    if (d == SCALED_Q_IS_READ)
        read_too(b, q);
    q = sk_b_transpose(b, q, swap, 4);
    if (d == TURNED_Q_IS_READ)
        read_too(b, q);
    sk_value s = sk_b_matmul(b, q, k);
    if (d == PRODUCT_IS_READ)
        read_too(b, s);
    if (after)
        s = d == SHIFTED_AFTER          ? sk_b_add(b, s, factor)
            : d == SCALED_BY_MANY_AFTER ? sk_b_mul(b, s, each)
                                        : sk_b_mul(b, s, factor);
    if (d == SCORES_ARE_READ)
        read_too(b, s);
    s = sk_b_softmax(b, s, d == SOFTMAX_OF_COLUMNS ? 2 : d == LAST_AXES ? -1 : 3);
    if (d == SOFTMAX_IS_READ)
        read_too(b, s);
    s = sk_b_transpose(b, s, d == SOFTMAX_NOT_TURNED ? (const int[]){0, 1, 2, 3} : swap, 4);
    if (d == TURNED_SOFTMAX_IS_READ)
        read_too(b, s);
    sk_value out = from_areas(b, sk_b_matmul(b, v, s), areas, d == RESULT_BY_RESHAPE);
    if (d == MANY_MOVES_AFTER)
        out = many_moves(b, out, (int64_t[]){IMAGES, HEADS * HD, rows, columns});
    if (values)
        out = sk_b_add(b, out, from_areas(b, v, areas, d == VALUES_BY_RESHAPE));
    sk_b_output(b, sk_b_unary(b, SK_UNARY_RELU, out), "y");
    assert_ok(b->status, &b->error);
}

static sk_graph *made(difference d, int64_t areas, bool values)
{
    sk_error err = {0};
    sk_graph *general = NULL, *fixed = NULL;
    sk_builder b;
    assert_ok(sk_graph_open(&general, &err), &err);
    sk_builder_init(&b, general);
    build(&b, d, areas, values);
    const sk_shape shape = general->values[general->inputs[0]].shape;
    assert_ok(sk_graph_specialise(general, &shape, 1, &fixed, &err), &err);
    sk_graph_close(&general);
    return fixed;
}

static size_t softmax_of(const sk_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == SK_OP_SOFTMAX)
            return i;
    fail();
    return 0;
}

static int count_of(const sk_graph *g, sk_op op)
{
    int n = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        n += g->nodes[i].op == op;
    return n;
}

static void is_found(difference d, int64_t areas, bool values)
{
    sk_attention a;
    sk_graph *g = made(d, areas, values);
    int32_t *uses = sk_graph_count_uses(g);
    if (!sk_attention_match(g, uses, softmax_of(g), &a))
        fail_msg("difference %d, %d areas: not found", (int)d, (int)areas);
    assert_true(a.heads == HEADS && a.kd == KD && a.hd == HD && a.areas == areas);
    assert_true(a.factor == (d == UNSCALED ? 1 : 0.25f));
    assert_int_equal(a.scale >= 0, d != UNSCALED);
    assert_int_equal(g->nodes[a.split].op, SK_OP_SPLIT);
    assert_int_equal(g->nodes[a.scores].op, SK_OP_MATMUL);
    assert_int_equal(g->nodes[a.product].op, SK_OP_MATMUL);
    assert_int_not_equal(a.scores, a.product);
    assert_int_equal(g->values[a.in.from].producer, d == UNSCALED ? -1 : 0); /* what makes the map */
    assert_int_equal(a.in.n, areas > 1 ? 3 : 1);
    assert_int_equal(a.out.n, areas > 1 ? 3 : 1);
    assert_int_equal(a.values.n, !values ? 0 : areas > 1 ? 3 : 1);
    assert_true(a.in.to == g->nodes[a.split].in[0] && a.out.from == g->nodes[a.product].out[0]);
    const sk_shape result = {.rank = 4, .dim = {IMAGES, HEADS * HD, rows, columns}};
    assert_true(sk_shape_equal(&g->values[a.out.to].shape, &result));
    if (values)
        assert_true(sk_shape_equal(&g->values[a.values.to].shape, &result) &&
                    a.values.from == g->nodes[a.split].out[2]);
    for (size_t i = 0; i < g->n_nodes; i++) { /* nothing else is the middle of one */
        sk_attention other;
        if (g->nodes[i].op != SK_OP_SOFTMAX)
            assert_false(sk_attention_match(g, uses, i, &other));
    }
    sk_attention_remove(g, &a);
    assert_true(count_of(g, SK_OP_SPLIT) == 1 && count_of(g, SK_OP_SOFTMAX) == 1);
    assert_true(count_of(g, SK_OP_MATMUL) == 0 && count_of(g, SK_OP_TRANSPOSE) == 0 &&
                count_of(g, SK_OP_RESHAPE) == 0);
    assert_int_equal(count_of(g, SK_OP_BINARY), values); /* the sum of both */
    sk_free(uses);
    sk_graph_close(&g);
}

static void attention_is_found(void **state)
{
    (void)state;
    for (difference d = PLAIN; d <= LAST_AXES; d++)
        for (int64_t areas = 1; areas <= 4; areas++)
            for (int values = 0; values < 2; values++)
                if (areas != 3 || d == PLAIN)
                    is_found(d, areas, values);
    rows = 16, columns = 24;
    is_found(PLAIN, 1, true);
    is_found(PLAIN, 4, true);
    rows = 4, columns = 6;
}

static void lookalikes_are_not(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * (MANY_MOVES_AFTER + 1 - SOFTMAX_OF_COLUMNS); i++) {
        const difference d = (difference)(SOFTMAX_OF_COLUMNS + i / 2);
        sk_attention a;
        rows = i % 2 ? 16 : 4, columns = i % 2 ? 24 : 6;
        const bool areas = d == AREAS_BY_RESHAPE || d == RESULT_BY_RESHAPE || d == VALUES_BY_RESHAPE;
        for (int values = d == VALUES_BY_RESHAPE; values < 2; values++) {
            sk_graph *g = made(d, areas ? 2 : 1, values);
            int32_t *uses = sk_graph_count_uses(g);
            if (sk_attention_match(g, uses, softmax_of(g), &a))
                fail_msg("difference %d was taken for attention", (int)d);
            sk_free(uses);
            sk_graph_close(&g);
        }
    }
    rows = 4, columns = 6;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(attention_is_found),
                                       cmocka_unit_test(lookalikes_are_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
