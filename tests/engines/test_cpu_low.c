/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of the CPU engine in fewer bits: which values are kept in them, by which rule, what is converted; numbers up to a step. */
#include "byte_nets.h"

#include "base/cpu.h"

static const plan_how bytes = {.precision = SK_PRECISION_I8, .threads = 2};

static void done(net *n, const char *name, double tolerance)
{
    net_check(n, name, bytes, tolerance);
    net_end(n);
}

typedef struct byte_case {
    const char *name;
    int images, cin, cout, h, w, kernel, stride, groups, act, zero, out_zero;
    bool bare, residual, signed_in;
} byte_case;

/* This processor's instructions give the bits of plain C. */
static void same_bits_here(planned *p, const net *n, const char *name)
{
    planned here;
    sk_tensor in[1];
    planned_inputs(p, 9, in);
    const sk_session_input given = {.data = in[0].data};
    planned_run(p, &given, 1);
    for (int how = 0; how < 5; how++) {
        /* with tiles of the processor's and without, by Winograd and tap by tap; blocks that are not full counted as such */
        const uint32_t flags = sk_cpu_detected_flags() & (how & 1 ? ~(uint32_t)SK_CPU_AMX : ~0u);
        planned_open(&here, n->graph, n->shapes, 1,
                     (plan_how){.flags = how == 4 ? 0 : flags,
                                .precision = SK_PRECISION_I8,
                                .threads = 3,
                                .by_taps = how & 2,
                                .whole = how == 4});
        planned_run(&here, &given, 4);
        const cpu_buffer *a = &p->plan.buffers[p->plan.outputs[0]],
                         *b = &here.plan.buffers[here.plan.outputs[0]];
        assert_int_equal(a->bytes, b->bytes);
        const float *x = (const float *)(const void *)(p->plan.memory + a->offset),
                    *y = (const float *)(const void *)(here.plan.memory + b->offset);
        for (size_t i = 0; i < a->bytes / sizeof(float); i++)
            if (fabsf(x[i] - y[i]) > 1e-5f) /* activations of floats round each in its own way */
                fail_msg("%s: %g here, %g in plain C", name, (double)y[i], (double)x[i]);
        planned_close(&here);
    }
    free(in[0].data);
}

static void layers(void **state)
{
    (void)state;
    static const byte_case all[] = {
        {"one by one", 2, 20, 33, 5, 6, 1, 1, 1, 0, 40, 10, 0, 0, 0},
        {"one by one, wide", 1, 27, 33, 3, 18, 1, 1, 1, 0, 40, 10, 0, 0, 0},
        {"three by three, wide", 2, 21, 20, 4, 37, 3, 1, 1, SK_UNARY_SILU, 30, 9, 0, 0, 0},
        {"stride 2, wide", 1, 40, 24, 5, 35, 3, 2, 1, SK_UNARY_RELU, 200, 128, 0, 0, 0},
        {"three by three", 2, 17, 36, 6, 7, 3, 1, 1, SK_UNARY_SILU, 0, 0, 0, 0, 0},
        {"stride 2", 1, 16, 16, 7, 9, 3, 2, 1, SK_UNARY_RELU, 255, 128, 0, 0, 0},
        {"signed", 1, 7, 5, 6, 6, 3, 1, 1, 0, 128, 60, 0, 0, 1},
        {"depthwise", 2, 35, 35, 5, 6, 3, 1, 35, SK_UNARY_SILU, 12, 30, 0, 0, 0},
        {"depthwise, floats", 2, 18, 18, 5, 6, 5, 2, 18, SK_UNARY_SILU, 12, 30, 1, 0, 0},
        {"in groups", 1, 12, 8, 5, 6, 3, 1, 2, SK_UNARY_RELU6, 12, 30, 0, 0, 0},
        {"floats", 2, 20, 33, 5, 6, 3, 1, 1, 0, 40, 0, 1, 0, 0},
        {"floats, activated", 2, 20, 34, 5, 6, 3, 1, 1, SK_UNARY_SIGMOID, 40, 0, 1, 0, 0},
        {"a residual", 2, 20, 20, 5, 6, 3, 1, 1, SK_UNARY_SILU, 40, 30, 0, 1, 0},
        {"an activation without a table", 1, 8, 8, 5, 6, 3, 1, 1, SK_UNARY_COS, 40, 30, 0, 0, 0},
        {"large, for winograd", 1, 24, 24, 32, 32, 3, 1, 1, SK_UNARY_RELU, 40, 30, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const byte_case *c = &all[i];
        net n = net_begin();
        sk_value x = net_in(&n, c->images, 5, c->h, c->w);
        x = in_bytes(&n, x, step, c->zero, c->signed_in ? SK_DTYPE_I8 : SK_DTYPE_U8);
        x = in_bytes(&n, byte_conv(&n, x, 5, c->cin, 1, 1, 1, 0), step, c->zero, SK_DTYPE_U8);
        sk_value y = byte_conv(&n, x, c->cin, c->cout, c->kernel, c->stride, c->groups, c->act);
        if (c->residual)
            y = sk_b_add(&n.b, y, x);
        net_out(&n, c->bare ? y : in_bytes(&n, y, step, c->out_zero, SK_DTYPE_U8));
        assert_ok(n.b.status, &n.b.error);
        planned p, f;
        planned_open(&p, n.graph, n.shapes, 1, bytes);
        plan_tell(&p, c->name);
        planned_is_reference(&p, c->name, 0.08);
        same_bits_here(&p, &n, c->name);
        /* what was told of f32: the weights are made floats */
        planned_open(&f, n.graph, n.shapes, 1, (plan_how){.precision = SK_PRECISION_F32});
        plan_tell(&f, "in f32");
        planned_close(&f);
        planned_close(&p);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_bytes.txt");
}

/* The bytes themselves: a layer that gets a few of them wrong is not within a step of its neighbours. */
static double exact_away(planned *p)
{
    sk_error err = {0};
    sk_tensor in[1], want[SK_SESSION_MAX_OUTPUTS];
    planned_inputs(p, 3, in);
    const sk_session_input given = {.data = in[0].data};
    assert_ok(sk_reference_run(p->graph, in, 1, want, p->graph->n_outputs, &err), &err);
    planned_run(p, &given, 7);
    const double away = planned_away(p, want);
    for (int32_t i = 0; i < p->graph->n_outputs; i++)
        sk_free(want[i].data);
    free(in[0].data);
    return away;
}

/* Maps in bytes pass through pooling, upsampling, splits and concatenations as they are; elsewhere they are made floats again. */
static void passing(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = in_bytes(&n, net_in(&n, 2, 36, 6, 8), step, 100, SK_DTYPE_U8), half[2];
    const int64_t sizes[] = {16, 20};
    sk_b_split(&n.b, x, 1, sizes, 2, half);
    sk_value pooled = sk_b_max_pool(&n.b, half[0], 3, 1, 1, "pool");
    sk_value small = sk_b_max_pool(&n.b, half[1], 2, 2, 0, "half");
    sk_value up = sk_b_upsample_nearest(&n.b, small, 2.0f);
    sk_value wide =
        net_resize(&n, half[1], SK_RESIZE_NEAREST, SK_COORDS_ASYMMETRIC, SK_ROUND_FLOOR, 1.0f, 1.5f);
    sk_value joined = sk_b_concat(&n.b, (sk_value[]){pooled, up, half[0]}, 3, 1);
    sk_value sliced = sk_b_slice(&n.b, joined, 1, 16, 36);
    net_out(&n, joined);
    net_out(&n, in_bytes(&n, sliced, step, 100, SK_DTYPE_U8));
    net_out(&n, wide);
    net_out(&n, sk_b_add(&n.b, pooled, half[0]));
    net_out(&n, sk_b_unary(&n.b, SK_UNARY_RELU, sliced));
    const int hw[] = {2, 3};
    net_out(&n, sk_b_reduce(&n.b, SK_REDUCE_MAX, half[1], hw, 2, true));
    planned p;
    planned_open(&p, n.graph, n.shapes, 1, bytes);
    plan_tell(&p, "passing");
    const double away = exact_away(&p);
    if (!(away < 1e-6))
        fail_msg("%g away", away);
    planned_close(&p);
    net_end(&n);
    n = net_begin(); /* other rules side by side, a rule of its own behind, a first convolution from bytes */
    sk_value y = in_bytes(&n, net_in(&n, 2, 3, 6, 8), step, 100, SK_DTYPE_U8);
    sk_value a = in_bytes(&n, byte_conv(&n, y, 3, 18, 3, 1, 1, SK_UNARY_RELU), step, 0, SK_DTYPE_U8);
    sk_value b = in_bytes(&n, byte_conv(&n, y, 3, 16, 3, 1, 1, 0), step, 90, SK_DTYPE_U8);
    sk_value both = in_bytes(&n, sk_b_concat(&n.b, (sk_value[]){a, b}, 2, 1), 2 * step, 50, SK_DTYPE_U8);
    net_out(&n, byte_conv(&n, both, 34, 4, 1, 1, 1, 0));
    done(&n, "other rules", 0.03);
    n = net_begin(); /* transposed: every phase in bytes */
    sk_value z = in_bytes(&n, net_in(&n, 1, 18, 4, 5), step, 100, SK_DTYPE_U8);
    sk_attrs t = {0};
    t.conv_transpose.window =
        (sk_window){.kernel = {3, 3}, .stride = {2, 2}, .dilation = {1, 1}, .pad = {1, 1, 0, 0}};
    t.conv_transpose.groups = 1;
    sk_value in[3] = {z, byte_weights(&n, sk_shape_of(4, 18, 20, 3, 3), 1, false),
                      net_random(&n, sk_shape_of(1, 20))};
    net_out(&n, in_bytes(&n, sk_b_node(&n.b, SK_OP_CONV_TRANSPOSE, &t, in, 3, "up"), step, 70, SK_DTYPE_U8));
    done(&n, "transposed", 0.03);
    recorded_check("tests/fixtures/engines/cpu_plan_passing.txt");
}

/* A first convolution in f32 whose result is only read as bytes makes bytes; one that is read otherwise, too, makes floats. */
static void first_floats(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        net n = net_begin();
        sk_value in = net_in(&n, 2, which == 1 ? 1 : 3, 9, 21);
        sk_value y = net_conv(&n, in, which == 1 ? 1 : 3, which == 1 ? 16 : 20,
                              which == 2 ? (win){.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}}
                                         : net_square(3, SK_UNARY_RELU));
        sk_value x = in_bytes(&n, y, step, which == 2 ? 90 : 0, SK_DTYPE_U8);
        net_out(&n, byte_conv(&n, x, which == 1 ? 16 : 20, 18, 3, 1, 1, 0));
        if (which == 3)
            net_out(&n, y);
        net_check(&n, "of tensors", bytes, 0.04);
        planned of_pictures, of_tensors;
        planned_open(&of_pictures, n.graph, n.shapes, 1,
                     (plan_how){.precision = SK_PRECISION_I8, .input = SK_INPUT_U8_HWC});
        planned_open(&of_tensors, n.graph, n.shapes, 1, bytes);
        planned_pictures(&of_pictures, &of_tensors, "first floats", 0.02);
        planned_close(&of_pictures);
        planned_close(&of_tensors);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_first_floats.txt");
}

/* A sum with channels that lie otherwise: five and thirteen side by side are not eighteen in a row. */
static void sums_of_other_fills(void **state)
{
    (void)state;
    for (int depthwise = 0; depthwise < 2; depthwise++) {
        net n = net_begin();
        sk_value x = in_bytes(&n, net_in(&n, 1, 3, 5, 6), step, 100, SK_DTYPE_U8);
        sk_value a = in_bytes(&n, byte_conv(&n, x, 3, 5, 1, 1, 1, 0), step, 90, SK_DTYPE_U8),
                 b = in_bytes(&n, byte_conv(&n, x, 3, 13, 1, 1, 1, 0), step, 90, SK_DTYPE_U8),
                 c = in_bytes(&n, byte_conv(&n, x, 3, 18, 1, 1, 1, 0), step, 90, SK_DTYPE_U8);
        sk_value both = in_bytes(&n, sk_b_concat(&n.b, (sk_value[]){a, b}, 2, 1), step, 90, SK_DTYPE_U8);
        sk_value sum = sk_b_add(&n.b, byte_conv(&n, c, 18, 18, 3, 1, depthwise ? 18 : 1, 0), both);
        sk_value fits = sk_b_add(&n.b, byte_conv(&n, both, 18, 18, 3, 1, 18, 0), both);
        net_out(&n, in_bytes(&n, sum, step, 90, SK_DTYPE_U8));
        net_out(&n, in_bytes(&n, fits, step, 90, SK_DTYPE_U8));
        done(&n, depthwise ? "each channel by itself" : "any window", 0.04);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_other_fills.txt");
}

/* Pictures whose bytes are the quantised ones, by a table, and read by others than a convolution. */
static void pictures(void **state)
{
    (void)state;
    for (int which = 0; which < 5; which++) {
        net n = net_begin();
        sk_value in = net_in(&n, 2, which == 3 ? 1 : 3, 9, 10);
        sk_value x = in_bytes(&n, in, 1.0f / 255, which ? 7 : 0, SK_DTYPE_U8);
        sk_value y = byte_conv(&n, x, which == 3 ? 1 : 3, 20, 3, 2, 1, SK_UNARY_SILU);
        net_out(&n, which == 4 ? y : in_bytes(&n, y, step, 9, SK_DTYPE_U8)); /* floats come out, too */
        if (which == 2)
            net_out(&n, sk_b_max_pool(&n.b, x, 3, 1, 1, "pool"));
        net_check(&n, "of pictures", (plan_how){.precision = SK_PRECISION_I8, .input = SK_INPUT_U8_HWC}, -1);
        net_check(&n, "of tensors", bytes, 0.04);
        for (int as_is = 0; as_is < 2; as_is++) {
            planned of_pictures, of_tensors;
            planned_open(&of_pictures, n.graph, n.shapes, 1,
                         (plan_how){.precision = SK_PRECISION_I8, .input = SK_INPUT_U8_HWC, .as_is = as_is});
            planned_open(&of_tensors, n.graph, n.shapes, 1, bytes);
            planned_pictures(&of_pictures, &of_tensors, "bytes", 0);
            planned_close(&of_pictures);
            planned_close(&of_tensors);
        }
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_byte_pictures.txt");
}

#if defined(__x86_64__)
/* A processor with everything: what it would be given, whether or not this one is it. */
static net body(void)
{
    net n = net_begin();
    sk_value x =
        net_conv(&n, net_in(&n, 1, 3, 40, 72), 3, 32,
                 (win){.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .act = SK_UNARY_SILU});
    sk_value a = net_conv(
                 &n, x, 32, 64,
                 (win){.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .act = SK_UNARY_SILU}),
             half[2];
    const int64_t sizes[] = {32, 32};
    sk_b_split(&n.b, a, 1, sizes, 2, half);
    sk_value b = net_conv(&n, half[1], 32, 32, net_square(3, SK_UNARY_SILU));
    sk_value c = sk_b_add(&n.b, net_conv(&n, b, 32, 32, net_square(3, SK_UNARY_SILU)), half[1]);
    sk_value d = net_conv(&n, sk_b_concat(&n.b, (sk_value[]){half[0], half[1], c}, 3, 1), 96, 80,
                          net_square(1, SK_UNARY_SILU));
    sk_value small = sk_b_max_pool(&n.b, d, 2, 2, 0, "half"),
             pooled = sk_b_max_pool(&n.b, d, 5, 1, 2, "pool");
    sk_value up =
        sk_b_upsample_nearest(&n.b, net_conv(&n, small, 80, 48, net_square(1, SK_UNARY_RELU)), 2.0f);
    sk_value e = net_conv(&n, sk_b_concat(&n.b, (sk_value[]){up, pooled}, 2, 1), 128, 51,
                          net_square(1, SK_UNARY_SILU));
    net_out(&n, net_conv(&n, e, 51, 51, (win){.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 51}));
    net_out(&n, net_conv(&n, e, 51, 20, net_square(3, 0)));
    net_out(&n, net_conv(&n, x, 32, 8, (win){.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}}));
    return n;
}

static void wide(void **state)
{
    (void)state;
    static const uint32_t sse = SK_CPU_SSE42, avx2 = SK_CPU_SSE42 | SK_CPU_AVX2,
                          avx512 = avx2 | SK_CPU_AVX512,
                          bf16 = avx512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16, amx = bf16 | SK_CPU_AMX;
    const struct {
        const char *name;
        uint32_t flags;
        sk_precision precision;
    } all[] = {{"sse4.2", sse, SK_PRECISION_F32},    {"avx2", avx2, SK_PRECISION_F32},
               {"avx512", avx512, SK_PRECISION_F32}, {"bf16, not native", avx512, SK_PRECISION_BF16},
               {"bf16", bf16, SK_PRECISION_BF16},    {"amx", amx, SK_PRECISION_BF16}};
    net n = body();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const bool here = (sk_cpu_detected_flags() & all[i].flags) == all[i].flags;
        net_check(&n, all[i].name,
                  (plan_how){.flags = all[i].flags, .precision = all[i].precision, .threads = 4},
                  !here                                   ? -1
                  : all[i].precision == SK_PRECISION_BF16 ? 0.05
                                                          : 1e-5);
    }
    net_end(&n);
    for (int tall = 0; tall < 2; tall++) { /* bytes by Winograd: blocks that are full, and that are not */
        n = net_begin();
        const int c = tall ? 52 : 32;
        sk_value x = in_bytes(&n, net_in(&n, 1, 3, 32, 34), step, 100, SK_DTYPE_U8);
        x = in_bytes(&n, byte_conv(&n, x, 3, c, 1, 1, 1, 0), step, 90, SK_DTYPE_U8);
        net_out(&n, in_bytes(&n, byte_conv(&n, x, c, c + 20, 3, 1, 1, SK_UNARY_RELU), step, 20, SK_DTYPE_U8));
        const uint32_t flags = avx512 | SK_CPU_AVX512VNNI;
        const bool here = (sk_cpu_detected_flags() & flags) == flags;
        net_check(&n, "bytes", (plan_how){.flags = flags, .precision = SK_PRECISION_I8}, here ? 0.08 : -1);
        net_end(&n);
    }
    n = net_begin(); /* a sum with channels that lie otherwise */
    sk_value in = net_in(&n, 1, 3, 16, 16), c = net_conv(&n, in, 3, 18, net_square(1, 0));
    sk_value both = sk_b_concat(
        &n.b,
        (sk_value[]){net_conv(&n, c, 18, 5, net_square(1, 0)), net_conv(&n, c, 18, 13, net_square(1, 0))}, 2,
        1);
    net_out(&n, net_conv(&n, sk_b_add(&n.b, net_conv(&n, c, 18, 18, net_square(1, 0)), both), 18, 18,
                         net_square(1, 0)));
    const bool here = (sk_cpu_detected_flags() & bf16) == bf16;
    net_check(&n, "bf16", (plan_how){.flags = bf16, .precision = SK_PRECISION_BF16}, here ? 0.03 : -1);
    net_end(&n);
    recorded_check("tests/fixtures/engines/cpu_plan_wide.txt");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers),
        cmocka_unit_test(passing),
        cmocka_unit_test(first_floats),
        cmocka_unit_test(sums_of_other_fills),
        cmocka_unit_test(pictures),
#if defined(__x86_64__)
        cmocka_unit_test(wide),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
