/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel a convolution's shape alone decides on, for what instruction sets may offer: told where it changes. */
#include "engines/cpu/conv_u8.h"
#include "planned.h"

static void no_conv(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    (void)p, (void)g0, (void)g1, (void)y0, (void)y1;
}

static void no_words(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1, void *scratch)
{
    (void)p, (void)g0, (void)g1, (void)t0, (void)t1, (void)scratch;
}

typedef struct offered {
    const char *name;
    int winograd2_from, rows_stride2, bf16_native, bf16_tiles;
    bool rows, bf16, bytes;
    bool parts; /* the input is a concatenation whose first part fills half a block */
} offered;

/* The choices of a row of shapes, each told once where it begins. */
static void tell_choices(const offered *o, const char *what, cpu_conv c, size_t field, int from, int to)
{
    uint8_t fill[16];
    memset(fill, SK_BLOCK, sizeof fill);
    fill[0] = o->parts ? SK_BLOCK / 2 : SK_BLOCK;
    cpu_value x[2] = {{.map = 0, .fill = fill},
                      {.map = -1}}; /* and its form in fewer bits, which there is not */
    cpu_plan plan = {.winograd = 1, .threads = 2, .values = x, .n_values = 1, .bf16 = o->bf16};
    plan.kernels = (sk_kernels_f32){.conv_tile = {0, 14, 12, 8, 6},
                                    .conv3_tile = {0, 10, 8, 0, 0},
                                    .winograd2_from = (int16_t)o->winograd2_from,
                                    .rows_stride2 = (int8_t)o->rows_stride2,
                                    .bf16_native = (int8_t)o->bf16_native,
                                    .bf16_tiles = (int8_t)o->bf16_tiles,
                                    .conv3 = o->rows ? no_conv : NULL};
    plan.kernels_u8 = (sk_kernels_u8){.conv_tile = {0, 9, 7, 5, 3}, .winograd = no_words};
    cpu_conv_u8 bytes = {.words = 1};
    c.u8 = o->bytes ? &bytes : NULL;
    cpu_conv_choice before = {.form = 99};
    for (int32_t at = from; at <= to; at++) {
        cpu_conv one = c;
        memcpy((char *)&one + field, &at, sizeof at);
        x[0].blocks = cpu_blocks(one.weights.cin) + o->parts;
        const cpu_conv_choice k = cpu_conv_default(&plan, &one);
        if (memcmp(&k, &before, sizeof k) != 0)
            recorded_say("%s, %s from %d: form %d width %d tile %d order %d split %d batch %d", o->name, what,
                         at, k.form, k.width, k.tile, k.groups_outer, k.split_groups, k.batch_tiles);
        before = k;
    }
}

static void forms(void **state)
{
    (void)state;
    static const offered all[] = {{"nothing", 999, 0, 0, 0, false, false, false, false},
                                  {"rows", 64, 0, 0, 0, true, false, false, false},
                                  {"rows, stride 2", 64, 1, 0, 0, true, false, false, false},
                                  {"winograd 2 from 32", 32, 1, 0, 0, true, false, false, false},
                                  {"bf16 asked", 64, 0, 0, 0, true, true, false, false},
                                  {"bf16", 64, 0, 1, 0, true, true, false, false},
                                  {"bf16 tiles", 64, 0, 1, 1, true, true, false, false},
                                  {"bf16 tiles, parts", 64, 0, 1, 1, true, true, false, true},
                                  {"bf16 not asked", 64, 0, 1, 1, true, false, false, false},
                                  {"bytes", 64, 0, 0, 0, true, false, true, false}};
    const cpu_conv three = {.weights = {.cin = 64, .cout = 64, .groups = 1},
                            .kernel_h = 3,
                            .kernel_w = 3,
                            .stride_h = 1,
                            .stride_w = 1,
                            .dilation_h = 1,
                            .dilation_w = 1,
                            .out_h = 40,
                            .out_w = 40,
                            .step_y = 1,
                            .step_x = 1};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int stride = 1; stride <= 2; stride++) {
            cpu_conv c = three;
            c.stride_h = c.stride_w = stride;
            recorded_say("stride %d", stride);
            tell_choices(&all[i], "inputs", c, offsetof(cpu_conv, weights.cin), 1, 200);
            tell_choices(&all[i], "outputs", c, offsetof(cpu_conv, weights.cout), 1, 100);
            tell_choices(&all[i], "rows", c, offsetof(cpu_conv, out_h), 1, 60);
            tell_choices(&all[i], "columns", c, offsetof(cpu_conv, out_w), 1, 60);
            tell_choices(&all[i], "window rows", c, offsetof(cpu_conv, kernel_h), 1, 4);
            tell_choices(&all[i], "window columns", c, offsetof(cpu_conv, kernel_w), 1, 4);
            tell_choices(&all[i], "strides", c, offsetof(cpu_conv, stride_h), 1, 3);
            tell_choices(&all[i], "strides along", c, offsetof(cpu_conv, stride_w), 1, 3);
            tell_choices(&all[i], "dilated", c, offsetof(cpu_conv, dilation_h), 1, 2);
            tell_choices(&all[i], "dilated along", c, offsetof(cpu_conv, dilation_w), 1, 2);
            tell_choices(&all[i], "groups", c, offsetof(cpu_conv, weights.groups), 1, 2);
            tell_choices(&all[i], "steps", c, offsetof(cpu_conv, step_y), 1, 2);
            tell_choices(&all[i], "steps along", c, offsetof(cpu_conv, step_x), 1, 2);
            c.out_h = 10;
            tell_choices(&all[i], "columns of few rows", c, offsetof(cpu_conv, out_w), 1, 110);
            c.weights.cout = 20; /* the last block holds four */
            c.out_w = 12;
            tell_choices(&all[i], "inputs, few outputs", c, offsetof(cpu_conv, weights.cin), 1, 100);
            c.weights.cin = 20;
            tell_choices(&all[i], "outputs, few inputs", c, offsetof(cpu_conv, weights.cout), 1, 70);
            c.kernel_h = c.kernel_w = 1;
            tell_choices(&all[i], "one by one", c, offsetof(cpu_conv, weights.cout), 1, 70);
        }
    recorded_check("tests/fixtures/engines/cpu_choices.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
