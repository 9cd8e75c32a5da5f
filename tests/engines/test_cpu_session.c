/* SPDX-License-Identifier: Apache-2.0 */
/* What a session of the CPU engine says of itself, measures, refuses, and does when an operation fails. */
#include "planned_nets.h"

#include "base/cpu.h"
#include "engines/engine.h"

#include <time.h>

static sk_session_settings settings_of(int threads, int slots)
{
    sk_session_settings s = sk_session_defaults();
    s.threads = threads;
    s.slots = slots;
    s.cache_dir = "";
    strcpy(s.options, "mask=none,tune=off");
    return s;
}

/* Two convolutions, one by Winograd, and operations of the reference executor's. */
static net small(void)
{
    net n = net_begin();
    sk_value x = net_in(&n, 1, 3, 12, 10);
    sk_value y = net_conv(&n, x, 3, 20, net_square(3, SK_UNARY_RELU));
    y = net_conv(&n, y, 20, 24, net_square(3, SK_UNARY_SILU));
    net_out(&n, y);
    net_out(&n, sk_b_node(&n.b, SK_OP_CUM_SUM, NULL, (sk_value[]){x, sk_b_i64(&n.b, 2)}, 2, "sums"));
    net_out(&n, sk_b_node(&n.b, SK_OP_CUM_SUM, NULL, (sk_value[]){x, sk_b_i64(&n.b, 3)}, 2, "more"));
    const sk_attrs last = {.arg = {.axis = 1, .keep_dims = 1}};
    net_out(&n, sk_b_node(&n.b, SK_OP_ARG_MAX, &last, &y, 1, "best"));
    return n;
}

static sk_session *open_session(const net *n, const sk_session_settings *s)
{
    sk_error err = {0};
    sk_session *session = NULL;
    assert_ok(n->b.status, &n->b.error);
    assert_ok(sk_session_open(sk_engine_find("cpu"), n->graph, n->shapes, n->inputs, s, &session, &err),
              &err);
    return session;
}

static void it_says_what_it_is(void **state)
{
    (void)state;
    net n = small();
    for (int threads = 1; threads <= 3; threads++)
        for (int slots = 1; slots <= 3; slots++) {
            sk_error err = {0};
            const sk_session_settings s = settings_of(threads, slots);
            sk_session *session = open_session(&n, &s);
            const sk_session_info *info = sk_session_about(session);
            planned p;
            planned_open(&p, n.graph, n.shapes, 1, (plan_how){.threads = threads});
            char detail[100];
            snprintf(detail, sizeof detail, "plain c, %zu steps, %d by winograd", p.plan.n_steps,
                     p.plan.n_winograd);
            assert_int_equal(p.plan.n_winograd, 1);
            assert_string_equal(info->detail, detail);
            assert_string_equal(info->elsewhere, "arg_max x1, cum_sum x2");
            assert_int_equal(info->threads, threads);
            assert_int_equal(info->slots, slots);
            assert_int_equal(info->activation_bytes,
                             p.plan.memory_bytes + (size_t)threads * p.plan.scratch_floats * sizeof(float));
            assert_int_equal(info->weight_bytes, p.plan.weight_bytes);
            assert_int_equal(info->asynchronous, 0);
            planned_close(&p);
            float x[2][3 * 12 * 10];
            for (int i = 0; i < 2 * 360; i++)
                x[i / 360][i % 360] = (float)(i * 7 % 31) / 31.0f;
            sk_tensor out[4], first[4];
            float kept[24 * 12 * 10];
            for (int i = 0; i < 2 * slots; i++) {
                const sk_session_input in = {.data = x[i % 2]};
                assert_ok(sk_session_run(session, &in, 1, out, 4, &err), &err);
                assert_true((out[0].data == info->outputs[0].data) == (i % slots == 0));
                if (i == 0)
                    memcpy(first, out, sizeof first);
                if (i == 0)
                    memcpy(kept, out[0].data, sizeof kept);
                if (i == 1 && slots > 1) /* what was handed out is nobody else's before its slot's turn */
                    assert_memory_equal(first[0].data, kept, sizeof kept);
                if (i == 1)
                    assert_memory_not_equal(out[0].data, kept, sizeof kept);
            }
            sk_session_close(&session);
        }
    net_end(&n);
}

static void it_measures_steps(void **state)
{
    (void)state;
    net n = small();
    sk_error err = {0};
    const sk_session_settings s = settings_of(2, 1);
    sk_session *session = open_session(&n, &s);
    planned p;
    planned_open(&p, n.graph, n.shapes, 1, (plan_how){.threads = 2});
    float x[3 * 12 * 10] = {1, 2, 3};
    const sk_session_input in = {.data = x};
    sk_profile_row rows[32];
    int32_t count = 0;
    assert_int_equal(sk_session_profile(session, rows, 32, &count, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "profiling was not started");
    for (int round = 0; round < 2; round++) {
        assert_ok(sk_session_profile_start(session, &err), &err);
        assert_ok(sk_session_profile(session, rows, 32, &count, &err), &err);
        assert_int_equal(count, p.plan.n_steps);
        for (int i = 0; i < count; i++)
            assert_true(rows[i].min_us == 0 && rows[i].mean_us == 0);
        const int64_t begun = cpu_profile_clock(&p.plan);
        for (int i = 0; i < 3; i++)
            assert_ok(sk_session_run(session, &in, 1, NULL, 0, &err), &err);
        const double all = (double)(cpu_profile_clock(&p.plan) - begun) / 1e3;
        memset(rows, 0, sizeof rows);
        assert_ok(sk_session_profile(session, rows, 2, &count, &err), &err); /* room for two */
        assert_int_equal(count, p.plan.n_steps);
        assert_string_equal(rows[2].kernel, "");
        assert_ok(sk_session_profile(session, rows, 32, &count, &err), &err);
        double sum = 0;
        for (int i = 0; i < count; i++) {
            const cpu_step *step = &p.plan.steps[i];
            assert_string_equal(rows[i].name, step->name);
            assert_string_equal(rows[i].kernel, step->kernel);
            assert_string_equal(rows[i].shape, step->shape);
            assert_true(rows[i].flops == step->flops);
            assert_true(rows[i].min_us >= 0 && rows[i].min_us <= rows[i].mean_us * 1.000001);
            sum += 3 * rows[i].mean_us;
        }
        assert_true(sum > 0 && sum <= all); /* one behind the other, nothing twice */
    }
    planned_close(&p);
    sk_session_close(&session);
    net_end(&n);
}

static void it_refuses(void **state)
{
    (void)state;
    const sk_engine *cpu = sk_engine_find("cpu");
    sk_error err = {0};
    sk_session *session = NULL;
    net n = small();
    sk_session_settings s = settings_of(1, 1);
    s.precision = SK_PRECISION_F16;
    assert_int_equal(sk_session_open(cpu, n.graph, n.shapes, 1, &s, &session, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(
        err.message, "the cpu engine computes in f32, bf16 or i8, not in f16; set precision to one of these");
    s.precision = SK_PRECISION_I8;
    assert_int_equal(sk_session_open(cpu, n.graph, n.shapes, 1, &s, &session, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "this model is not quantised, and precision i8 needs one that is"));
    net_end(&n);
    n = net_begin();
    sk_value x = net_shaped(&n, sk_shape_of(2, 3, 4));
    net_out(&n, sk_b_node(&n.b, SK_OP_NON_ZERO, NULL, &x, 1, "which"));
    s = settings_of(1, 1);
    assert_int_equal(sk_session_open(cpu, n.graph, n.shapes, 1, &s, &session, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(err.message,
               "which: the size of this non_zero's result depends on the data; the cpu engine plans all "
               "sizes ahead. Use the runtime reference or onnx_cpu for this model"));
    assert_null(session);
    net_end(&n);
    sk_engine_probe probe;
    assert_ok(cpu->probe(&probe, &err), &err);
    assert_int_equal(probe.available, 1);
    assert_int_equal(probe.n_devices, 1);
    assert_string_equal(probe.detail, "built in");
    assert_string_equal(probe.version, "1");
    sk_cpu_info about;
    char name[200];
    sk_cpu_describe(&about);
    snprintf(name, sizeof name, "%.60s, %d cores, %s", about.model, sk_cpu_usable_cores(),
             sk_cpu_level_name(sk_cpu_flags()));
    assert_string_equal(probe.devices[0].name, name);
    assert_int_equal(probe.devices[0].precisions, cpu->can.precisions);
}

/* An index that is nowhere: the run fails with the operation's words, the next one is none the worse for it. */
static void it_gets_over_a_failure(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = net_shaped(&n, sk_shape_of(1, 4));
    sk_attrs whole = {0};
    whole.cast.to = SK_DTYPE_I64;
    const sk_attrs first = {.axis = 0};
    sk_value at = sk_b_node(&n.b, SK_OP_CAST, &whole, &x, 1, "at");
    net_out(&n, sk_b_node(&n.b, SK_OP_GATHER, &first, (sk_value[]){net_random(&n, sk_shape_of(1, 5)), at}, 2,
                          "take"));
    net_out(&n, sk_b_add(&n.b, x, x));
    for (int threads = 1; threads < 4; threads++) {
        const sk_session_settings s = settings_of(threads, 1);
        sk_session *session = open_session(&n, &s);
        for (int i = 0; i < 4; i++) {
            sk_error err = {0};
            sk_tensor out[2];
            const float good[] = {0, 4, 2, 1}, bad[] = {0, 5, 2, 1};
            const sk_session_input in = {.data = i % 2 ? bad : good};
            const sk_status status = sk_session_run(session, &in, 1, out, 2, &err);
            if (i % 2) {
                assert_int_not_equal(status, SK_OK);
                assert_non_null(strstr(err.message, "take"));
            } else {
                assert_ok(status, &err);
                assert_true(((const float *)out[1].data)[1] == 8.0f);
            }
        }
        sk_session_close(&session);
    }
    net_end(&n);
}

#if defined(__x86_64__) || defined(__aarch64__)
/* Numbers too small to be normal cost a hundred times a normal one's time on some processors: on every thread they are 0, and the
 * caller's own arithmetic is as it was. */
static void tiny_numbers_are_zero(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = net_in(&n, 1, 16, 40, 40);
    net_out(&n, sk_b_binary(&n.b, SK_BINARY_MUL, x, sk_b_f32(&n.b, 0.25f)));
    static float given[16 * 40 * 40];
    for (int i = 0; i < 16 * 40 * 40; i++)
        given[i] = i % 3 ? 1.5f : 0x1p-126f; /* a quarter of that is no normal number */
    for (int threads = 1; threads <= 3; threads++) {
        sk_error err = {0};
        sk_tensor out = {0};
        sk_session_settings s = settings_of(threads, 1);
        sk_session *session = open_session(&n, &s);
        const sk_session_input in = {.data = given};
        assert_ok(sk_session_run(session, &in, 1, &out, 1, &err), &err);
        const float *y = out.data;
        for (int i = 0; i < 16 * 40 * 40; i++)
            assert_true(y[i] == (i % 3 ? 0.375f : 0.0f));
        volatile float smallest = 0x1p-126f;
        assert_true(smallest * 0.25f == 0x1p-128f);
        sk_session_close(&session);
    }
    net_end(&n);
}
#endif

/* One thread's steps are measured in its own processor's time, which stands still while it sleeps; several threads' by the clock. */
static void clocks_of_profiles(void **state)
{
    (void)state;
    const struct timespec pause = {.tv_nsec = 60000000};
    for (int threads = 1; threads <= 3; threads++) {
        const cpu_plan plan = {.threads = threads};
        const int64_t before = cpu_profile_clock(&plan);
        nanosleep(&pause, NULL);
        const int64_t passed = cpu_profile_clock(&plan) - before;
        assert_true(threads == 1 ? passed >= 0 && passed < 50000000 : passed >= 60000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_it_is),
#if defined(__x86_64__) || defined(__aarch64__)
        cmocka_unit_test(tiny_numbers_are_zero),
#endif

        cmocka_unit_test(it_measures_steps),
        cmocka_unit_test(it_refuses),
        cmocka_unit_test(clocks_of_profiles),
        cmocka_unit_test(it_gets_over_a_failure)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
