/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tiles (conv_tiles.h), on the GPU of loops: what the planning says of a tile is what its kernel is launched
 * with, so a row that packs, covers or splits wrongly gives wrong numbers here. */
#include "support/test.h"

#include "tile_cases.h"

static int used[512];

static void judge(const char *what, int32_t tile, double d)
{
    if (!(d < TILE_LIMIT))
        fail_msg("%s by %s: %.2e", what, gpu_config_at(tile)->name, d);
    used[tile]++;
}

static void judge_exact(const char *what, int32_t tile, double d)
{
    if (!(d < EXACT_LIMIT))
        fail_msg("%s by %s: %.2e", what, gpu_config_at(tile)->name, d);
    used[tile]++;
}

static void judge_brain(const char *what, int32_t tile, double d)
{
    if (!(d < BRAIN_LIMIT))
        fail_msg("%s by %s: %.2e", what, gpu_config_at(tile)->name, d);
    used[tile]++;
}

/* Every tile computes every layer it says it fits; and there is none that fits nothing. */
static void test_every_tile(void **state)
{
    (void)state;
    assert_true(gpu_config_count() <= (int32_t)(sizeof used / sizeof used[0]));
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        layer l = layers[i];
        l.h = 4 + (int)i % 3;
        l.w = 5;
        check_layer(&l, 1, SK_PRECISION_F16, judge);
        check_layer(&l, 1, SK_PRECISION_BF16, judge_brain);
        check_layer(&l, 1, SK_PRECISION_TF32, judge);
        check_layer(&l, 1, SK_PRECISION_F32, judge_exact);
    }
    for (int32_t i = 0; i < gpu_config_count(); i++)
        if (!used[i] && gpu_config_at(i)->floats != GPU_BYTES &&
            gpu_config_at(i)->floats != GPU_E4M3) /* those: test_cuda_bytes */
            fail_msg("no layer of the list can use %s", gpu_config_at(i)->name);
}

/* What holds for a kernel to be launched at all, and for its name to be remembered (tune.c). */
static void test_rows(void **state)
{
    (void)state;
    assert_true(gpu_config_count() > 80);
    for (int32_t i = 0; i < gpu_config_count(); i++) {
        const gpu_config *c = gpu_config_at(i);
        assert_int_equal(gpu_config_index(c), i);
        assert_true(strlen(c->name) < 48);
        for (int32_t k = 0; k < i; k++)
            assert_string_not_equal(c->name, gpu_config_at(k)->name);
        const int32_t k_bytes = c->bk * gpu_config_size(c), warps = c->threads / 32;
        assert_true(c->threads % 32 == 0 && c->threads <= 1024);
        assert_true(k_bytes == 32 || k_bytes == 64 || k_bytes == 128);
        assert_true(c->bn % (8 * c->group) == 0 && c->split >= 1 && c->bm % c->split == 0);
        assert_true(!c->wgmma ||
                    (warps % 4 == 0 && c->bm * (c->sets ? c->sets : 1) % (warps * 16) == 0 && c->bn >= 16));
        assert_true((c->kind == GPU_CONFIG_HALO || c->kind == GPU_CONFIG_WALK) == (c->shared_bytes == 0));
        assert_true(c->kind != GPU_CONFIG_HALO || c->bm == c->th * c->tw);
        assert_true(c->shared_bytes <= 227 * 1024);
    }
}

/* Names are remembered on users' disks. */
static void test_names(void **state)
{
    (void)state;
    static const char *const some[] = {
        "ig1_16x32x64_w16x32_k4_s6_c1",      "ig3_16x64x64_w16x32_k2_s6_c4",
        "halo_8x16_c16_n32_w32x32_s2",       "wg1_128x64_g2_s3",
        "wghalo_16x20_c64_n64_g5_s1_b1",     "wghalo_16x20_c64_n64_g5_s1_b2",
        "tf32_3_128x128x64_w64x32_k1_s3_c1", "f32_1_128x128x64_w64x32_k1_s3_c1"};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        int32_t found = 0;
        for (int32_t k = 0; k < gpu_config_count(); k++)
            found += strcmp(gpu_config_at(k)->name, some[i]) == 0;
        assert_int_equal(found, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_every_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
