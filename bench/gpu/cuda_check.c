/* SPDX-License-Identifier: Apache-2.0 */
/* The cuda engine's kernels on this machine's GPU against the reference executor: every tile on every layer shape it fits,
 * the other kernels in small networks, then open and close again and again.
 * usage: cuda_check [small | tiles WORD | bytes [small] | fp8 [small] | attention | found [small] | sleap [small] | cycles N |
 *                    model PATH SIDE | memory PATH] */
#include "../settings_for.h"
#include "found_check.h"
#include "sleap_check.h"

#include "engines/attention_cases.h"
#include "engines/byte_cases.h"
#include "model_check.h"

#include <string.h>

static int checked, failed;
static double worst;

static void judge(const char *what, const char *kernel, double d, double limit)
{
    checked++;
    if (!(d < limit)) {
        failed++;
        printf("BAD %s by %s: %.2e\n", what, kernel, d);
    } else if (d > worst) {
        worst = d;
    }
}

static void judge_layer(const char *name, int32_t tile, double d)
{
    judge(name, gpu_config_at(tile)->name, d, TILE_LIMIT);
}

static void judge_brain(const char *name, int32_t tile, double d)
{
    judge(name, gpu_config_at(tile)->name, d, BRAIN_LIMIT);
}

static void judge_exact(const char *name, int32_t tile, double d)
{
    judge(name, gpu_config_at(tile)->name, d, EXACT_LIMIT);
}

static void judge_f8(const char *name, int32_t tile, double d)
{
    judge(name, gpu_config_at(tile)->name, d * TILE_LIMIT / F8_LIMIT, TILE_LIMIT);
}

static void judge_step(const char *name, int32_t tile, double d)
{
    judge(name, gpu_config_at(tile)->name, d * TILE_LIMIT / STEP_LIMIT, TILE_LIMIT);
}

/* Eight bits: every tile, depthwise convolutions and what moves bytes. */
static void check_bytes(bool small, bool f8)
{
    const int before = checked, bad = failed;
    in_f8 = f8;
    static const layer deep[] = {{64, 64, 3, 1, 20, 20, 0, SK_UNARY_SILU, 64, 0},
                                 {64, 64, 3, 1, 80, 80, 1, SK_UNARY_SILU, 64, 0},
                                 {32, 32, 3, 1, 41, 43, 0, 0, 32, 0}};
    int kinds[GPU_KIND_COUNT];
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        layer l = layers[i];
        if (small)
            l.h = l.w = 11;
        check_byte_layer(&l, small ? 1 : 3, judge_step, f8 ? judge_f8 : judge_layer);
    }
    for (size_t i = 0; i < sizeof deep / sizeof deep[0]; i++)
        for (int batch = 1; batch <= (small ? 1 : 17); batch += 16) {
            const sk_shape shape = sk_shape_of(4, batch, deep[i].cin, deep[i].h, deep[i].w);
            const double d = byte_difference(byte_graph(&deep[i], true), shape, byte_step(), kinds);
            judge("depthwise", "bytes", d * TILE_LIMIT / STEP_LIMIT, TILE_LIMIT);
        }
    for (int side = 64; side <= 320; side += 256)
        for (int c = 16; c <= 64; c *= 2)
            judge("first", "to bytes",
                  first_difference(c, side, c == 32 ? SK_UNARY_RELU : SK_UNARY_SILU, byte_step()) *
                      TILE_LIMIT / STEP_LIMIT,
                  TILE_LIMIT);
    judge("1x1 and half the size", "bytes",
          byte_difference(doubled_graph(64), sk_shape_of(4, small ? 1 : 9, 64, 24, 20), 0, kinds) *
              TILE_LIMIT / byte_limit(),
          TILE_LIMIT);
    for (int odd = 0; odd < 2; odd++)
        for (int batch = 1; batch <= 33; batch += 32)
            judge("split, pooled, doubled, joined", odd ? "bytes, odd" : "bytes",
                  byte_difference(moving_graph(64, odd), sk_shape_of(4, small ? 1 : batch, 64, 20, 24), 0,
                                  kinds) *
                      TILE_LIMIT / byte_limit(),
                  TILE_LIMIT);
    printf("%s: %d checks, %d bad\n", f8 ? "fp8" : "bytes", checked - before, failed - bad);
    in_f8 = false;
}

static void check_attention(bool small)
{
    const int before = checked, bad = failed;
    for (size_t i = 0; i < sizeof attention_cases / sizeof attention_cases[0]; i++) {
        attention_case c = attention_cases[i];
        int steps, attending;
        char what[96];
        if (small && c.batch > 3)
            c.batch = 3;
        snprintf(what, sizeof what, "%d heads of %d and %d, %d areas of %dx%d, k %d, batch %d", c.heads, c.kd,
                 c.hd, c.areas, c.h, c.w, c.k, c.batch);
        double d = try_attention(&c, false, SK_PRECISION_F16, &steps, &attending);
        judge(what, attending == 1 ? "attention" : "something else", attending == 1 ? d : INFINITY,
              TILE_LIMIT);
        d = try_attention(&c, false, SK_PRECISION_BF16, &steps, &attending);
        judge(what, attending == 1 ? "attention bf16" : "something else", attending == 1 ? d : INFINITY,
              BRAIN_LIMIT);
    }
    printf("attention: %d shapes, %d bad\n", checked - before, failed - bad);
}

/* Depthwise convolutions of every size there is a kernel for, few and many pixels, odd sizes. */
static void check_depthwise(bool small)
{
    static const layer some[] = {{64, 64, 3, 1, 20, 20, 0, SK_UNARY_SILU, 64, 0},
                                 {64, 64, 3, 1, 83, 82, 1, SK_UNARY_SILU, 64, 0},
                                 {64, 64, 3, 1, 33, 31, 0, 0, 64, 0},
                                 {24, 24, 5, 1, 21, 22, 0, SK_UNARY_SILU, 24, 0},
                                 {128, 128, 5, 1, 41, 80, 1, 0, 128, 0},
                                 {40, 40, 7, 1, 19, 21, 0, SK_UNARY_SILU, 40, 0},
                                 {128, 128, 7, 1, 40, 40, 0, 0, 128, 0},
                                 {128, 128, 3, 1, 80, 80, 1, SK_UNARY_SILU, 128, 0},
                                 {32, 32, 7, 2, 17, 18, 0, SK_UNARY_SILU, 32, 0}};
    const int before = checked, bad = failed;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        char what[64];
        snprintf(what, sizeof what, "%d channels, %dx%d, %dx%d", some[i].cin, some[i].k, some[i].k, some[i].h,
                 some[i].w);
        judge(what, "depthwise", whole_distance(&some[i], small ? 1 : 5, SK_PRECISION_F16), TILE_LIMIT);
        judge(what, "depthwise bf16", whole_distance(&some[i], small ? 1 : 5, SK_PRECISION_BF16),
              BRAIN_LIMIT);
        judge(what, "depthwise, f32", whole_distance(&some[i], 1, SK_PRECISION_F32), EXACT_LIMIT);
    }
    printf("depthwise: %d shapes, %d bad\n", checked - before, failed - bad);
}

static void check_layers(bool small)
{
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        layer l = layers[i];
        l.h = small ? 10 : l.h;
        l.w = small ? 13 : l.w;
        check_layer(&l, small ? 1 : 3, SK_PRECISION_F16, judge_layer);
        check_layer(&l, small ? 1 : 3, SK_PRECISION_BF16, judge_brain);
        check_layer(&l, small ? 1 : 3, SK_PRECISION_TF32, judge_layer);
        check_layer(&l, small ? 1 : 3, SK_PRECISION_F32, judge_exact);
    }
    printf("tiles: %d (layer, tile) pairs, %d bad, worst ||d||/||ref|| %.2e\n", checked, failed, worst);
}

/* A network with everything that has a kernel of its own, in f16 and f32, from tensors and bytes. */
static sk_graph *mixed_graph(void)
{
    sk_graph *g = NULL;
    sk_error err = {0};
    sk_builder b;
    if (sk_graph_open(&g, &err) != SK_OK)
        stop(&err);
    sk_builder_init(&b, g);
    sk_shape any = sk_shape_of(4, -1, 3, -1, -1);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &any);
    x = conv(&b, x, 3, 16, 3, 2, 1, SK_UNARY_SILU, "first");
    x = conv(&b, x, 16, 32, 3, 2, 1, SK_UNARY_SILU, "second");
    sk_value low = conv(&b, x, 32, 64, 3, 2, 1, SK_UNARY_SILU, "third");
    sk_value deep = conv(&b, low, 64, 64, 3, 1, 64, SK_UNARY_SILU, "depthwise");
    sk_value p1 = sk_b_max_pool(&b, deep, 5, 1, 2, "pool1"), p2 = sk_b_max_pool(&b, p1, 5, 1, 2, "pool2"),
             p3 = sk_b_max_pool(&b, p2, 5, 1, 2, "pool3");
    sk_value parts[4] = {deep, p1, p2, p3};
    sk_value joined = conv(&b, sk_b_concat(&b, parts, 4, 1), 256, 64, 1, 1, 1, SK_UNARY_SILU, "join");
    sk_value up[2] = {sk_b_upsample_nearest(&b, joined, 2.0f), x};
    sk_value y = conv(&b, sk_b_concat(&b, up, 2, 1), 96, 40, 1, 1, 1, SK_UNARY_GELU, "neck");
    sk_value split[2];
    sk_b_split(&b, y, 1, NULL, 2, split);
    sk_value z = conv(&b, split[1], 20, 20, 3, 1, 1, SK_UNARY_SILU, "odd");
    sk_value both[2] = {split[0], sk_b_add(&b, z, split[1])};
    sk_b_output(&b, conv(&b, sk_b_concat(&b, both, 2, 1), 40, 7, 1, 1, 1, 0, "head"), "head");
    sk_b_output(&b, sk_b_upsample_linear(&b, joined, 2.0f), "smooth");
    if (b.status != SK_OK)
        stop(&b.error);
    return g;
}

static void check_mixed(sk_precision precision, sk_input_form form, int batch, int side)
{
    sk_graph *g = mixed_graph();
    sk_error err = {0};
    sk_shape shape = sk_shape_of(4, batch, 3, side, side);
    const int64_t n = sk_shape_count(&shape);
    float *x = randoms(n, 1.0f);
    uint8_t *bytes = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(127.0f + 127.0f * x[i]);
    sk_session_settings slow = settings_for(sk_engine_find("reference"), 0, SK_PRECISION_AUTO, NULL),
                        settings =
                            settings_for(&gpu_engine, 0, precision,
                                         side > 64 ? "tune=on" : "tune=off"); /* slow tools: no timing */
    settings.input = slow.input = form;
    settings.cache_dir = "";
    settings.slots = 2;
    sk_session *fast = NULL, *reference = NULL;
    sk_session_input given = {.data = form == SK_INPUT_TENSOR ? (const void *)x : bytes};
    sk_tensor got[2], want[2];
    if (sk_session_open(&gpu_engine, g, &shape, 1, &settings, &fast, &err) != SK_OK ||
        sk_session_capture(fast, &err) != SK_OK ||
        sk_session_open(sk_engine_find("reference"), g, &shape, 1, &slow, &reference, &err) != SK_OK ||
        sk_session_run(reference, &given, 1, want, 2, &err) != SK_OK)
        stop(&err);
    printf("%s\n", sk_session_about(fast)->detail);
    for (int run = 0; run < 4; run++) {
        if (sk_session_run(fast, &given, 1, got, 2, &err) != SK_OK)
            stop(&err);
        for (int i = 0; i < 2; i++)
            judge("network", i ? "smooth" : "head",
                  distance(got[i].data, want[i].data, sk_shape_count(&want[i].shape)),
                  precision == SK_PRECISION_F32    ? 1e-4
                  : precision == SK_PRECISION_BF16 ? 4e-2
                                                   : 4e-3);
    }
    sk_session_close(&fast);
    sk_session_close(&reference);
    free(x);
    free(bytes);
    sk_graph_close(&g);
}

typedef struct memory_use {
    uint64_t device_free;
    int64_t host_kb, own;
} memory_use;

static void memory_now(memory_use *m)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    (void)gpu_memory_free(&m->device_free);
    m->host_kb = pages * 4;
    m->own = sk_memory_live_bytes();
}

static void check_cycles(int cycles)
{
    const layer l = {16, 16, 3, 1, 16, 16, 0, SK_UNARY_SILU, 1, 0};
    sk_graph *g = layer_graph(&l);
    sk_error err = {0};
    sk_shape shape = sk_shape_of(4, 1, l.cin, l.h, l.w);
    float *x = randoms(sk_shape_count(&shape), 1.0f);
    sk_session_settings settings = settings_for(&gpu_engine, 0, SK_PRECISION_AUTO, "tune=off");
    settings.cache_dir = "";
    memory_use before = {0}, after = {0};
    for (int i = 0; i < cycles; i++) {
        sk_session *s = NULL;
        sk_session_input given = {.data = x};
        sk_tensor y;
        if (sk_session_open(&gpu_engine, g, &shape, 1, &settings, &s, &err) != SK_OK ||
            sk_session_capture(s, &err) != SK_OK || sk_session_run(s, &given, 1, &y, 1, &err) != SK_OK)
            stop(&err);
        sk_session_close(&s);
        if (i == cycles / 10)
            memory_now(&before);
    }
    memory_now(&after);
    printf("cycles: %d, device memory %+lld bytes, host (rss) %+lld kB, own allocations %+lld bytes\n",
           cycles, (long long)(before.device_free - after.device_free),
           (long long)(after.host_kb - before.host_kb), (long long)(after.own - before.own));
    free(x);
    sk_graph_close(&g);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "cycles") == 0) {
        check_cycles(argc > 2 ? atoi(argv[2]) : 1000);
        return 0;
    }
    if (strcmp(what, "model") == 0 && argc > 3)
        return check_model(argv[2], atoi(argv[3])) != 0;
    if (strcmp(what, "memory") == 0 && argc > 2)
        return check_memory(argv[2]) != 0;
    if (strcmp(what, "tiles") == 0 &&
        argc > 2) { /* small, for the same tools: those with this in their names */
        tiles_named = argv[2];
        check_layers(true);
        return failed != 0 || checked == 0;
    }
    if (strcmp(what, "bytes") == 0 || strcmp(what, "fp8") == 0) {
        check_bytes(argc > 2, strcmp(what, "fp8") == 0);
        return failed != 0;
    }
    if (strcmp(what, "attention") == 0) { /* and the other kernels that are no tiles */
        check_attention(true);
        check_depthwise(true);
        check_mixed(SK_PRECISION_F16, SK_INPUT_U8_HWC, 1, 64);
        return failed != 0;
    }
    if (strcmp(what, "found") == 0) {
        const bool few = argc > 2 && strcmp(argv[2], "small") == 0;
        check_found(&checked, &failed, few);
        if (!few)
            time_found();
        return failed != 0;
    }
    if (strcmp(what, "sleap") == 0)
        return check_sleap(argc > 2 && strcmp(argv[2], "small") == 0);
    if (strcmp(what, "small") == 0) { /* for tools that make everything a hundred times slower */
        check_layers(true);
        check_bytes(true, false);
        check_bytes(true, true);
        check_attention(true);
        check_depthwise(true);
        check_mixed(SK_PRECISION_F16, SK_INPUT_U8_HWC, 1, 64);
        check_mixed(SK_PRECISION_BF16, SK_INPUT_U8_HWC, 1, 64);
        check_mixed(SK_PRECISION_TF32, SK_INPUT_U8_HWC, 1, 64);
        check_found(&checked, &failed, true);
        failed += check_sleap(true);
        printf("checked %d, bad %d, worst %.2e\n", checked, failed, worst);
        return failed != 0;
    }
    check_layers(false);
    check_bytes(false, false);
    check_bytes(false, true);
    check_attention(false);
    check_depthwise(false);
    check_mixed(SK_PRECISION_F16, SK_INPUT_TENSOR, 2, 128);
    check_mixed(SK_PRECISION_F16, SK_INPUT_U8_HWC, 1, 128);
    check_mixed(SK_PRECISION_F16, SK_INPUT_U8_HWC, 3, 160);
    check_mixed(SK_PRECISION_BF16, SK_INPUT_TENSOR, 2, 128);
    check_mixed(SK_PRECISION_BF16, SK_INPUT_U8_HWC, 3, 160);
    check_mixed(SK_PRECISION_TF32, SK_INPUT_TENSOR, 2, 128);
    check_mixed(SK_PRECISION_TF32, SK_INPUT_U8_HWC, 1, 128);
    check_mixed(SK_PRECISION_F32, SK_INPUT_TENSOR, 1, 64);
    check_found(&checked, &failed, false);
    failed += check_sleap(false);
    printf("checked %d, bad %d, worst %.2e\n", checked, failed, worst);
    return failed != 0;
}
