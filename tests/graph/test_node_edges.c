/* SPDX-License-Identifier: Apache-2.0 */
/* Single nodes at the edges of what they take, by results worked out by hand. */
#include "support/test.h"

#include "base/memory.h"
#include "graph/builder.h"
#include "graph/infer.h"
#include "graph/reference.h"

#include <math.h>
#include <string.h>

static sk_node node_of(sk_op op, int n_in, int n_out, const sk_attrs *a)
{
    static sk_value in[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8] = {8, 9, 10, 11, 12, 13, 14, 15};
    sk_node node = {.op = op, .n_in = n_in, .n_out = n_out, .in = in, .out = out, .name = "n"};
    memset(&node.a, 0, sizeof node.a);
    if (a)
        node.a = *a;
    return node;
}

static sk_tensor floats(sk_shape shape, const float *data)
{
    return (sk_tensor){SK_DTYPE_F32, shape, (void *)(uintptr_t)data};
}

static sk_tensor integers(sk_shape shape, const int64_t *data)
{
    return (sk_tensor){SK_DTYPE_I64, shape, (void *)(uintptr_t)data};
}

/* The only output, which is made; the caller frees its data. */
static sk_tensor run(sk_op op, const sk_attrs *a, const sk_tensor *ins, int n_in)
{
    sk_error err = {0};
    sk_tensor out[1];
    const sk_node node = node_of(op, n_in, 1, a);
    assert_ok(sk_node_infer(&node, ins, out, &err), &err);
    out[0].data = sk_malloc(sk_tensor_bytes(&out[0]) + 1);
    assert_ok(sk_node_execute(&node, ins, out, &err), &err);
    return out[0];
}

static void gives(sk_op op, const sk_attrs *a, const sk_tensor *ins, int n_in, const double *wanted, int n)
{
    sk_tensor out = run(op, a, ins, n_in);
    assert_int_equal(sk_shape_count(&out.shape), n);
    for (int i = 0; i < n; i++) {
        const double got = sk_tensor_at(&out, i);
        if (!(fabs(got - wanted[i]) < 1e-6) && !(isnan(got) && isnan(wanted[i])))
            fail_msg("element %d is %.9g, not %.9g", i, got, wanted[i]);
    }
    sk_free(out.data);
}

static sk_shape shape_of_result(sk_op op, const sk_attrs *a, const sk_tensor *ins, int n_in, int n_out)
{
    sk_error err = {0};
    sk_tensor outs[8];
    const sk_node node = node_of(op, n_in, n_out, a);
    assert_ok(sk_node_infer(&node, ins, outs, &err), &err);
    return outs[0].shape;
}

static void refuses(sk_op op, const sk_attrs *a, const sk_tensor *ins, int n_in, int n_out, const char *says)
{
    sk_error err = {0};
    sk_tensor outs[8];
    const sk_node node = node_of(op, n_in, n_out, a);
    assert_int_not_equal(sk_node_infer(&node, ins, outs, &err), SK_OK);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
}

static void functions_of_whole_numbers(void **state)
{
    (void)state;
    static const int64_t x[] = {-3, -1, 0, 1, 5};
    static const struct {
        sk_unary kind;
        double y[5];
    } cases[] = {{SK_UNARY_SIGN, {-1, -1, 0, 1, 1}},
                 {SK_UNARY_NEG, {3, 1, 0, -1, -5}},
                 {SK_UNARY_ABS, {3, 1, 0, 1, 5}},
                 {SK_UNARY_RELU, {0, 0, 0, 1, 5}}};
    const sk_tensor in = integers(sk_shape_of(1, 5), x);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        gives(SK_OP_UNARY, &(sk_attrs){.unary.kind = cases[i].kind}, &in, 1, cases[i].y, 5);
    static const float real[] = {-2.5f, 0, 1.5f, -0.0f, NAN};
    const sk_tensor floating = floats(sk_shape_of(1, 5), real);
    gives(SK_OP_UNARY, &(sk_attrs){.unary.kind = SK_UNARY_SIGN}, &floating, 1,
          (const double[]){-1, 0, 1, 0, NAN}, 5);
}

static void two_whole_numbers(void **state)
{
    (void)state;
    static const int64_t a[] = {7, -7, 7, -7, 6}, b[] = {3, 3, -3, -3, 3};
    static const struct {
        sk_binary kind;
        double y[5];
    } cases[] = {{SK_BINARY_ADD, {10, -4, 4, -10, 9}},    {SK_BINARY_SUB, {4, -10, 10, -4, 3}},
                 {SK_BINARY_MUL, {21, -21, -21, 21, 18}}, {SK_BINARY_DIV, {2, -2, -2, 2, 2}},
                 {SK_BINARY_MOD, {1, 2, -2, -1, 0}},      {SK_BINARY_FMOD, {1, -1, 1, -1, 0}},
                 {SK_BINARY_MIN, {3, -7, -3, -7, 3}},     {SK_BINARY_MAX, {7, 3, 7, -3, 6}}};
    const sk_tensor in[2] = {integers(sk_shape_of(1, 5), a), integers(sk_shape_of(1, 5), b)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        gives(SK_OP_BINARY, &(sk_attrs){.binary.kind = cases[i].kind}, in, 2, cases[i].y, 5);
}

/* A map of one pixel is its own mean: what is left is the shift. */
static void a_map_of_one_pixel_has_no_spread(void **state)
{
    (void)state;
    static const float x[] = {4, -9}, scale[] = {3, 5}, shift[] = {0.5f, 2};
    const sk_tensor in[3] = {floats(sk_shape_of(4, 1, 2, 1, 1), x), floats(sk_shape_of(1, 2), scale),
                             floats(sk_shape_of(1, 2), shift)};
    const sk_attrs a = {.norm = {.epsilon = 1e-5f}};
    gives(SK_OP_INSTANCE_NORM, &a, in, 3, (const double[]){0.5, 2}, 2);
    static const float two[] = {1, 3, -2, 2}; /* means 2 and 0, deviations 1 and 2 */
    const sk_tensor wide[3] = {floats(sk_shape_of(4, 1, 2, 1, 2), two), in[1], in[2]};
    const sk_attrs exact = {.norm = {.epsilon = 0}};
    gives(SK_OP_INSTANCE_NORM, &exact, wide, 3, (const double[]){-2.5, 3.5, -3, 7}, 4);
    const sk_tensor none[3] = {floats(sk_shape_of(4, 1, 2, 0, 3), x), in[1], in[2]};
    gives(SK_OP_INSTANCE_NORM, &a, none, 3, NULL, 0);
}

/* A plane of 2 by 2 with aligned corners, -1 … 1 from pixel to pixel: what lies outside on one side only. */
static void samples_outside_are_nothing(void **state)
{
    (void)state;
    static const float plane[] = {1, 2, 4, 8};
    static const struct {
        float x, y;
        double nothing, border; /* by the padding */
    } cases[] = {{-1, -1, 1, 1}, {1, -1, 2, 2}, {-1, 1, 4, 4},    {1, 1, 8, 8},
                 {-4, -1, 0, 1}, {4, -1, 0, 2}, {-1, -4, 0, 1},   {-1, 4, 0, 4},
                 {1, 4, 0, 8},   {4, 1, 0, 8},  {-4, -4, 0, 1},   {4, 4, 0, 8},
                 {4, -4, 0, 2},  {-4, 4, 0, 4}, {NAN, 0, 0, NAN}, {0, NAN, 0, NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float grid[2] = {cases[i].x, cases[i].y};
        const sk_tensor in[2] = {floats(sk_shape_of(4, 1, 1, 2, 2), plane),
                                 floats(sk_shape_of(4, 1, 1, 1, 2), grid)};
        for (int mode = 0; mode < 2; mode++)
            for (int padding = 0; padding < 2; padding++) {
                const sk_attrs a = {.grid_sample = {.mode = mode, .padding = padding, .align_corners = 1}};
                const double wanted = padding ? cases[i].border : cases[i].nothing;
                if (isnan(wanted)) /* what is no number is somewhere: it does not crash */
                    sk_free(run(SK_OP_GRID_SAMPLE, &a, in, 2).data);
                else
                    gives(SK_OP_GRID_SAMPLE, &a, in, 2, &wanted, 1);
            }
    }
    /* half way out of each side: half of what lies at the border, by two pixels of it */
    static const float ways[][2] = {{-2, 0}, {2, 0}, {0, -2}, {0, 2}};
    static const double halves[] = {1.25, 2.5, 0.75, 3};
    for (int i = 0; i < 4; i++) {
        const sk_tensor in[2] = {floats(sk_shape_of(4, 1, 1, 2, 2), plane),
                                 floats(sk_shape_of(4, 1, 1, 1, 2), ways[i])};
        gives(SK_OP_GRID_SAMPLE, &(sk_attrs){.grid_sample = {.align_corners = 1}}, in, 2, &halves[i], 1);
    }
}

static void results_have_at_most_so_many_dimensions(void **state)
{
    (void)state;
    static const float x[1] = {3};
    static const int64_t at[1] = {0};
    sk_tensor in[2] = {floats(sk_shape_of(4, 1, 1, 1, 1), x), integers(sk_shape_of(5, 1, 1, 1, 1, 1), at)};
    const sk_attrs first = {.axis = 0};
    assert_int_equal(shape_of_result(SK_OP_GATHER, &first, in, 2, 1).rank, 8);
    in[1].shape = sk_shape_of(6, 1, 1, 1, 1, 1, 1);
    refuses(SK_OP_GATHER, &first, in, 2, 1, "do not fit");
    in[1].shape = sk_shape_of(0);
    assert_int_equal(shape_of_result(SK_OP_GATHER, &first, in, 2, 1).rank, 3);
}

static void pads_reach_to_the_largest_size(void **state)
{
    (void)state;
    static const struct {
        int64_t pads[4];
        int64_t size; /* of the second dimension; -1: refused */
    } cases[] = {{{0, 0, 0, INT32_MAX}, INT32_MAX},
                 {{0, INT32_MAX, 0, 0}, INT32_MAX},
                 {{0, 0, 0, 2147483648}, -1},
                 {{0, 2147483648, 0, 0}, -1},
                 {{0, -1, 0, 1}, -1},
                 {{0, 0, 0, -1}, -1},
                 {{0, 3, 0, 4}, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_tensor in[2] = {floats(sk_shape_of(2, 0, 0), NULL),
                                 integers(sk_shape_of(1, 4), cases[i].pads)};
        if (cases[i].size < 0)
            refuses(SK_OP_PAD, NULL, in, 2, 1, "pads ");
        else
            assert_int_equal(shape_of_result(SK_OP_PAD, NULL, in, 2, 1).dim[1], cases[i].size);
    }
    static const int64_t plain[4] = {0, 1, 0, 1};
    static const float values[2] = {7, 8};
    sk_tensor filled[3] = {floats(sk_shape_of(2, 1, 1), values), integers(sk_shape_of(1, 4), plain),
                           floats(sk_shape_of(1, 1), values + 1)};
    gives(SK_OP_PAD, NULL, filled, 3, (const double[]){8, 7, 8}, 3);
    gives(SK_OP_PAD, NULL, filled, 2, (const double[]){0, 7, 0}, 3);
    filled[2].shape = sk_shape_of(1, 2);
    refuses(SK_OP_PAD, NULL, filled, 3, 1, "the padding value is not a single number");
    static const int64_t cut[][4] = {{0, -2, 0, -1}, {0, -3, 0, 0}, {0, 0, 0, -3}, {0, -2, 0, -2}};
    for (int i = 0; i < 4; i++) {
        const sk_tensor in[2] = {floats(sk_shape_of(2, 1, 3), NULL), integers(sk_shape_of(1, 4), cut[i])};
        if (i == 3)
            refuses(SK_OP_PAD, NULL, in, 2, 1, "pads -2 and -2 on 3 elements");
        else
            assert_int_equal(shape_of_result(SK_OP_PAD, NULL, in, 2, 1).dim[1], 0);
    }
}

/* As many indices as there are dimensions behind the batch, at most. */
static void indices_reach_no_deeper_than_the_data(void **state)
{
    (void)state;
    static const float x[6] = {0};
    static const int64_t at[8] = {0};
    for (int batch = 0; batch < 2; batch++)
        for (int depth = 1; depth < 4; depth++) {
            const sk_tensor in[2] = {floats(sk_shape_of(2, 2, 3), x), integers(sk_shape_of(2, 2, depth), at)};
            const sk_attrs a = {.axis = batch};
            if (depth > 2 - batch)
                refuses(SK_OP_GATHER_ND, &a, in, 2, 1, "do not fit");
            else
                assert_int_equal(shape_of_result(SK_OP_GATHER_ND, &a, in, 2, 1).rank, 3 - batch - depth);
        }
}

static void what_is_joined_is_alike(void **state)
{
    (void)state;
    sk_tensor in[3] = {floats(sk_shape_of(2, 2, 3), NULL), floats(sk_shape_of(2, 2, 4), NULL),
                       floats(sk_shape_of(2, 2, 1), NULL)};
    const sk_attrs a = {.axis = 1};
    assert_int_equal(shape_of_result(SK_OP_CONCAT, &a, in, 3, 1).dim[1], 8);
    for (int i = 0; i < 3; i++) {
        in[i].dtype = SK_DTYPE_I64;
        refuses(SK_OP_CONCAT, &a, in, 3, 1, "i64");
        in[i].dtype = SK_DTYPE_F32;
        const sk_shape before = in[i].shape;
        in[i].shape = sk_shape_of(2, 5, 3);
        refuses(SK_OP_CONCAT, &a, in, 3, 1, "differ beside axis 1");
        in[i].shape = sk_shape_of(3, 2, 3, 1);
        refuses(SK_OP_CONCAT, &a, in, 3, 1, "differ beside axis 1");
        in[i].shape = before;
    }
    for (int d = 0; d < 3; d++) {
        sk_tensor large = floats(sk_shape_of(3, 0, 0, 0), NULL);
        large.shape.dim[d] = (int64_t)INT32_MAX + 1;
        refuses(SK_OP_IDENTITY, NULL, &large, 1, 1, "a dimension of input 0 is 2147483648");
        large.shape.dim[d] = INT32_MAX;
        assert_int_equal(shape_of_result(SK_OP_IDENTITY, NULL, &large, 1, 1).dim[d], INT32_MAX);
    }
}

/* SAME: so many pixels beside the image that each step of the stride has a window; the odd one at the end, or at the beginning. */
static void windows_that_keep_the_size(void **state)
{
    (void)state;
    static const struct {
        int32_t kernel, stride, dilation, same;
        int64_t size;
        int32_t begin, end;
    } cases[] = {{3, 1, 1, 1, 7, 1, 1}, {3, 2, 1, 1, 7, 1, 1},
                 {3, 2, 1, 1, 8, 0, 1}, {3, 2, 1, 2, 8, 1, 0},
                 {4, 1, 1, 1, 8, 1, 2}, {4, 1, 1, 2, 8, 2, 1},
                 {3, 1, 3, 1, 9, 3, 3}, {1, 3, 1, 1, 9, 0, 0}, /* steps over pixels: none is needed */
                 {3, 1, 1, 1, 0, 0, 0}, {1 << 20, 1, 1 << 20, 1, 1, INT32_MAX / 2, INT32_MAX / 2 + 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int axis = 0; axis < 2; axis++) {
            sk_window w = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .same = cases[i].same};
            w.kernel[axis] = cases[i].kernel;
            w.stride[axis] = cases[i].stride;
            w.dilation[axis] = cases[i].dilation;
            const sk_window r = sk_window_resolve(&w, axis ? 5 : cases[i].size, axis ? cases[i].size : 5);
            if (r.pad[axis] != cases[i].begin || r.pad[axis + 2] != cases[i].end)
                fail_msg("case %zu: %d and %d", i, r.pad[axis], r.pad[axis + 2]);
            assert_true(r.pad[!axis] == 0 && r.pad[!axis + 2] == 0);
        }
}

/* Eight gibibytes are the most. */
static void results_have_at_most_so_many_bytes(void **state)
{
    (void)state;
    static const float x[1] = {0};
    static const struct {
        int64_t sizes[2];
        sk_dtype dtype;
        bool fits;
    } cases[] = {{{65536, 32768}, SK_DTYPE_F32, true}, {{65536, 32769}, SK_DTYPE_F32, false},
                 {{65536, 131072}, SK_DTYPE_U8, true}, {{65536, 131073}, SK_DTYPE_U8, false},
                 {{65536, 16384}, SK_DTYPE_F64, true}, {{65536, 16385}, SK_DTYPE_F64, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_tensor in[2] = {floats(sk_shape_of(2, 1, 1), x), integers(sk_shape_of(1, 2), cases[i].sizes)};
        in[0].dtype = cases[i].dtype;
        if (cases[i].fits)
            assert_int_equal(shape_of_result(SK_OP_EXPAND, NULL, in, 2, 1).dim[1], cases[i].sizes[1]);
        else
            refuses(SK_OP_EXPAND, NULL, in, 2, 1, "more than 8192 MiB");
    }
}

/* Of one number every reduction makes that number. */
static void one_number_stays_itself(void **state)
{
    (void)state;
    static const float x[1] = {2.5f};
    static const sk_reduction kinds[] = {SK_REDUCE_SUM,  SK_REDUCE_MEAN, SK_REDUCE_MAX,        SK_REDUCE_MIN,
                                         SK_REDUCE_PROD, SK_REDUCE_L2,   SK_REDUCE_LOG_SUM_EXP};
    const sk_tensor in = floats(sk_shape_of(2, 1, 1), x);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int all = 0; all < 2; all++) {
            const sk_attrs a = {.reduce = {.kind = kinds[i], .n_axes = all ? 0 : 1, .axes = {1}}};
            gives(SK_OP_REDUCE, &a, &in, 1, (const double[]){2.5}, 1);
        }
}

static void anchors_can_be_too_many(void **state)
{
    (void)state;
    const sk_attrs a = {.anchors = {.n_levels = 2, .stride = {8, 16}}};
    sk_tensor in[2] = {floats(sk_shape_of(4, 1, 3, 4, 5), NULL), floats(sk_shape_of(4, 1, 3, 2, 2), NULL)};
    const sk_shape shape = shape_of_result(SK_OP_ANCHORS, &a, in, 2, 2);
    assert_true(shape.rank == 3 && shape.dim[0] == 1 && shape.dim[1] == 2 && shape.dim[2] == 24);
    in[1].shape = sk_shape_of(4, 1, 0, 46341, 46341);
    refuses(SK_OP_ANCHORS, &a, in, 2, 2, "too many anchors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_of_whole_numbers),
                                       cmocka_unit_test(two_whole_numbers),
                                       cmocka_unit_test(a_map_of_one_pixel_has_no_spread),
                                       cmocka_unit_test(samples_outside_are_nothing),
                                       cmocka_unit_test(results_have_at_most_so_many_dimensions),
                                       cmocka_unit_test(pads_reach_to_the_largest_size),
                                       cmocka_unit_test(anchors_can_be_too_many),
                                       cmocka_unit_test(results_have_at_most_so_many_bytes),
                                       cmocka_unit_test(one_number_stays_itself),
                                       cmocka_unit_test(indices_reach_no_deeper_than_the_data),
                                       cmocka_unit_test(what_is_joined_is_alike),
                                       cmocka_unit_test(windows_that_keep_the_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
