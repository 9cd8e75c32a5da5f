/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels the CPU engine measures, what it remembers of it, and how a plan's work is shared out. Plain C: the same everywhere. */
#include "planned_nets.h"

#include "base/file.h"
#include "base/memory.h"

#include <inttypes.h>
#include <unistd.h>

static char folder[300], path[400];

static void open_tuned(planned *p, net *n, int threads, sk_precision precision)
{
    sk_error err = {0};
    *p = (planned){0};
    sk_session_settings settings = sk_session_defaults();
    settings.precision = precision;
    settings.cache_dir = folder;
    sk_pool_settings pool = sk_pool_defaults();
    pool.threads = threads;
    assert_ok(n->b.status, &n->b.error);
    assert_ok(sk_pool_open(&pool, &p->pool, &err), &err);
    assert_ok(sk_graph_specialise(n->graph, n->shapes, n->inputs, &p->graph, &err), &err);
    sk_kernels_f32_fill(&p->plan.kernels, 0);
    sk_kernels_u8_fill(&p->plan.kernels_u8, 0);
    /* plain C takes any width and tile: it is offered what wide vectors are, to have something to choose from */
    memcpy(p->plan.kernels.conv_tile, (const int8_t[]){0, 14, 12, 8, 6}, 5);
    p->plan.winograd = p->plan.tune = 1;
    assert_ok(cpu_plan_open(p->graph, &settings, p->pool, &p->plan, &err), &err);
}

static const cpu_conv *last_conv(const planned *p)
{
    const cpu_conv *last = NULL;
    for (size_t i = 0; i < p->plan.n_steps; i++)
        if (p->plan.steps[i].run == cpu_conv_run)
            last = p->plan.steps[i].data;
    return last;
}

/* The lines of the file; how many there are. */
static int remembered(char lines[][160], int most)
{
    FILE *f = fopen(path, "rb");
    int count = 0;
    while (f && count < most && fgets(lines[count], 160, f))
        count++;
    if (f)
        fclose(f);
    return count;
}

/* A network of one convolution behind the first, which is not measured. */
static net one_conv(int images, int cin, int cout, int h, int w, win window)
{
    net n = net_begin();
    sk_value x = net_conv(&n, net_in(&n, images, 3, h, w), 3, cin, (win){.kernel = {1, 1}});
    net_out(&n, net_conv(&n, x, cin, cout, window));
    return n;
}

static void forget(void)
{
    remove(path);
}

/* Every choice that could stand in the file: which of them are taken. They are those that would be measured. */
static void choices_that_are_taken(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int cin, cout, h, w, threads;
        win win;
    } all[] = {
        {"one block", 8, 16, 6, 7, 2, {.kernel = {1, 1}}},
        {"three blocks", 8, 48, 6, 7, 1, {.kernel = {1, 1}}},
        {"four blocks, as high as threads share rows", 8, 64, 8, 5, 2, {.kernel = {1, 1}}},
        {"one row less", 8, 64, 7, 5, 2, {.kernel = {1, 1}}},
        {"winograd, twenty-four rows", 16, 32, 24, 5, 2, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}},
        {"winograd, twenty-five rows, many channels",
         160,
         64,
         25,
         4,
         2,
         {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = one_conv(1, all[i].cin, all[i].cout, all[i].h, all[i].w, all[i].win);
        char lines[4][160], shape[100];
        planned p;
        uint64_t key = 0;
        forget();
        open_tuned(&p, &n, all[i].threads, SK_PRECISION_F32);
        const int8_t *tiles = last_conv(&p)->choice.form == CPU_CONV_ROWS ? p.plan.kernels.conv3_tile
                                                                          : p.plan.kernels.conv_tile;
        int8_t tile[5];
        memcpy(tile, tiles, sizeof tile);
        const int form = last_conv(&p)->choice.form;
        planned_close(&p);
        assert_int_equal(remembered(lines, 4), 1);
        assert_int_equal(sscanf(lines[0], "%16" SCNx64 " %*u %*u %*u %*u %*u %*u %99s", &key, shape), 2);
        recorded_say("%s: form %d: %s", all[i].name, form, shape);
        for (int width = 1; width <= 4; width++)
            for (int how = 0; how < 4; how++)
                for (int round = form == CPU_CONV_WINOGRAD ? 1 : 0;
                     round <= (form == CPU_CONV_WINOGRAD ? 4 : 0); round++) {
                    const int own = tile[width], batch = round * own;
                    char line[200];
                    const int length = snprintf(line, sizeof line, "%016" PRIx64 " %d %d %d %d %d %d %s\n",
                                                key, form, width, own, how & 1, how >> 1, batch, shape);
                    sk_error err = {0};
                    assert_ok(sk_file_replace(path, line, (size_t)length, &err), &err);
                    open_tuned(&p, &n, all[i].threads, SK_PRECISION_F32);
                    char after[4][160];
                    assert_int_equal(remembered(after, 4), 1);
                    if (strcmp(after[0], line) ==
                        0) { /* it was believed, so nothing was measured and written */
                        const cpu_conv_choice *c = &last_conv(&p)->choice;
                        assert_true(c->width == width && c->groups_outer == (how & 1) &&
                                    c->split_groups == how >> 1 && c->batch_tiles == batch &&
                                    c->tile == own && c->form == form);
                        recorded_say("  width %d tile %d order %d split %d batch %d", width, own, how & 1,
                                     how >> 1, batch);
                    }
                    planned_close(&p);
                }
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_tuning.txt");
}

/* One line a shape: whatever may make another choice the better one makes another line, and nothing else does. */
static void one_line_a_shape(void **state)
{
    (void)state;
    static const struct {
        int images, cin, cout, h, w, threads;
        win win;
        bool residual;
    } all[] = {
        {1, 16, 16, 9, 8, 2, {.kernel = {3, 3}}, 0},
        {2, 16, 16, 9, 8, 2, {.kernel = {3, 3}}, 0},
        {1, 15, 16, 9, 8, 2, {.kernel = {3, 3}}, 0},
        {1, 16, 15, 9, 8, 2, {.kernel = {3, 3}}, 0},
        {1, 16, 16, 10, 8, 2, {.kernel = {3, 3}}, 0},
        {1, 16, 16, 9, 9, 2, {.kernel = {3, 3}}, 0},
        {1, 16, 16, 9, 8, 1, {.kernel = {3, 3}}, 0},
        {1, 16, 16, 9, 8, 2, {.kernel = {1, 3}, .pad = {0, 0, -2, 0}}, 0},
        {1, 16, 16, 9, 8, 2, {.kernel = {3, 1}, .pad = {0, 0, 0, -2}}, 0},
        {1, 16, 16, 13, 8, 2, {.kernel = {3, 3}, .stride = {2, 1}, .pad = {0, 0, 2, 0}}, 0},
        {1, 16, 16, 9, 11, 2, {.kernel = {3, 3}, .stride = {1, 2}, .pad = {0, 0, 0, 2}}, 0},
        {1, 16, 16, 11, 8, 2, {.kernel = {3, 3}, .dilation = {2, 1}}, 0},
        {1, 16, 16, 9, 10, 2, {.kernel = {3, 3}, .dilation = {1, 2}}, 0},
        {1, 16, 16, 9, 8, 2, {.kernel = {3, 3}, .groups = 2}, 0},
        {1, 16, 16, 9, 8, 2, {.kernel = {3, 3}, .act = SK_UNARY_RELU}, 0},
        {1, 16, 16, 9, 8, 2, {.kernel = {3, 3}, .act = SK_UNARY_SILU}, 0},
        {1, 16, 16, 9, 8, 2, {.kernel = {3, 3}}, 1},
    };
    char lines[40][160];
    forget();
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            win w = all[i].win;
            for (int k = 0; k < 4; k++) /* a window that is smaller by two gives as many rows of two fewer */
                w.pad[k] = w.pad[k] < 0 ? 0 : w.pad[k];
            net n = net_begin();
            const int cut_h = all[i].win.pad[2] < 0 ? 2 : 0, cut_w = all[i].win.pad[3] < 0 ? 2 : 0;
            sk_value x = net_conv(&n, net_in(&n, all[i].images, 3, all[i].h - cut_h, all[i].w - cut_w), 3,
                                  all[i].cin, (win){.kernel = {1, 1}});
            sk_value y = net_conv(&n, x, all[i].cin, all[i].cout, w);
            if (all[i].residual)
                y = sk_b_add(&n.b, y, net_conv(&n, net_in(&n, 1, 3, 7, 6), 3, 16, (win){.kernel = {1, 1}}));
            net_out(&n, y);
            planned p;
            open_tuned(&p, &n, all[i].threads, SK_PRECISION_F32);
            const int count = remembered(lines, 40);
            if (count != (again ? (int)(sizeof all / sizeof all[0]) : (int)i + 1))
                fail_msg("shape %zu, time %d: %d lines", i, again, count);
            for (size_t k = 0; k < p.plan.n_steps; k++)
                if (p.plan.steps[k].run == cpu_conv_run)
                    assert_true(((const cpu_conv *)p.plan.steps[k].data)->tuned ||
                                ((const cpu_conv *)p.plan.steps[k].data)->choice.form == CPU_CONV_FIRST);
            planned_is_reference(&p, "tuned", 4e-6);
            planned_close(&p);
            net_end(&n);
        }
    for (int i = 0; i < 3; i++) {
        static const char *const shapes[] = {" 16->16_3x3_s1_7x6_t2_plain-c\n",
                                             " 16->16_3x3_s1_7x6_t2_plain-c\n",
                                             " 15->16_3x3_s1_7x6_t2_plain-c\n"};
        assert_non_null(strstr(lines[i], shapes[i]));
        assert_int_equal(strcspn(lines[i], " "), 16);
    }
}

/* Two that are the same in one network are measured once; what cannot be kept is measured all the same. */
static void kept_or_not(void **state)
{
    (void)state;
    char lines[8][160];
    net n = net_begin();
    sk_value x = net_conv(&n, net_in(&n, 1, 3, 9, 8), 3, 16, (win){.kernel = {1, 1}});
    for (int i = 0; i < 3; i++)
        x = net_conv(&n, x, 16, 16, net_square(3, 0));
    net_out(&n, net_conv(&n, x, 16, 16, (win){.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 16}));
    planned p;
    forget();
    open_tuned(&p, &n, 1, SK_PRECISION_F32);
    assert_int_equal(remembered(lines, 8), 1);
    assert_null(p.plan.tune_cache); /* while opening only */
    planned_close(&p);
    snprintf(folder, sizeof folder, "%s/no folder/\n", "/proc");
    open_tuned(&p, &n, 1, SK_PRECISION_F32);
    planned_is_reference(&p, "not kept", 2e-5);
    planned_close(&p);
    snprintf(folder, sizeof folder, "%s/tuning", test_folder());
    net_end(&n);
}

/* Long steps are cut into more shares, so that nobody waits long for the last one. */
static void shares(void **state)
{
    (void)state;
    static const struct {
        int side, threads, parts; /* 64 channels to 64: 8192 operations a pixel */
    } all[] = {{24, 1, 1}, {24, 2, 2}, {49, 2, 2},   {50, 2, 4},  {98, 2, 4}, {100, 2, 8},
               {60, 3, 3}, {61, 3, 6}, {122, 3, 12}, {120, 3, 6}, {100, 1, 1}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = one_conv(1, 64, 64, all[i].side, all[i].side, (win){.kernel = {1, 1}});
        net_out(&n, sk_b_node(&n.b, SK_OP_CUM_SUM, NULL, (sk_value[]){n.graph->inputs[0], sk_b_i64(&n.b, 1)},
                              2, "sums"));
        planned p;
        planned_open(&p, n.graph, n.shapes, 1, (plan_how){.threads = all[i].threads});
        int found = 0;
        for (size_t k = 0; k < p.plan.n_steps; k++) {
            const cpu_step *s = &p.plan.steps[k];
            if (strncmp(s->shape, "64->64", 6) == 0) {
                assert_int_equal(s->parts, all[i].parts);
                assert_true(fabs(s->flops - 8192.0 * all[i].side * all[i].side) < 1);
                found++;
            }
            if (strcmp(s->kernel, "cum_sum, reference") == 0) { /* by one thread */
                assert_int_equal(s->parts, 1);
                found++;
            }
        }
        assert_int_equal(found, 2);
        planned_close(&p);
        net_end(&n);
    }
}

int main(void)
{
    if (access("/dev/shm", W_OK) ==
        0) /* hundreds of files, each of which is waited for until it is on the disk */
        setenv("TMPDIR", "/dev/shm", 0);
    snprintf(folder, sizeof folder, "%s/tuning", test_folder());
    snprintf(path, sizeof path, "%s/cpu-kernels-3.txt", folder);
    const struct CMUnitTest tests[] = {cmocka_unit_test(choices_that_are_taken),
                                       cmocka_unit_test(one_line_a_shape), cmocka_unit_test(kept_or_not),
                                       cmocka_unit_test(shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
