/* SPDX-License-Identifier: Apache-2.0 */
/* The plainest way through a network: what its times say, and what it leaves where memory ends. */
#include "runner/runner_fixture.h"
#include "support/fault.h"

#include "app/basic.h"
#include "base/clock.h"
#include "base/memory.h"
#include "runner/network.h"

static sk_error err;
static sk_model *model;
static const sk_engine *engine;

static sk_status open_basic(sk_basic **out, sk_error *why)
{
    const sk_runner_settings s = tiny_settings();
    const sk_model *models[] = {model};
    return sk_basic_open(models, 1, engine, &s.detector, 48, 40, out, why);
}

static void times_are_those_of_the_clock(void **state)
{
    (void)state;
    sk_basic *b = NULL;
    sk_basic_times t;
    int32_t count = -1, first = -1;
    sk_frame frame = make_frame(48, 40, 1);
    assert_ok(open_basic(&b, &err), &err);
    sk_basic_get_times(b, &t);
    assert_true(t.frames == 0 && t.copy == 0 && t.pre == 0 && t.network == 0 && t.post == 0);
    for (int round = 0; round < 2; round++) {
        const int64_t begin = sk_clock_ns();
        for (int i = 1; i <= 3; i++) {
            assert_ok(sk_basic_run(b, &frame, &count, &err), &err);
            first = first < 0 ? count : first;
            assert_int_equal(count, first); /* the same frame, the same found */
            sk_basic_get_times(b, &t);
            assert_int_equal(t.frames, i);
        }
        const double passed = (double)(sk_clock_ns() - begin) * 1e-9;
        assert_true(t.copy > 0 && t.pre > 0 && t.network > 0 && t.post > 0);
        assert_true(t.copy + t.pre + t.network + t.post <= passed);
        sk_basic_reset_times(b);
        sk_basic_get_times(b, &t);
        assert_true(t.frames == 0 && t.copy == 0 && t.pre == 0 && t.network == 0 && t.post == 0);
    }
    sk_basic_close(&b);
    assert_null(b);
    sk_basic_close(&b);
    free(frame.data);
}

static sk_status open_and_close(void *context, sk_error *why)
{
    sk_basic *b = (sk_basic *)context; /* anything but null */
    const sk_status status = open_basic(&b, why);
    if ((status == SK_OK) != (b != NULL))
        return SK_ERR_INTERNAL;
    sk_basic_close(&b);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(open_and_close, &err) >= 4);
}

int main(void)
{
    model = tiny_model();
    if (sk_net_engine("cpu", &engine, &err) != SK_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_the_clock),
        cmocka_unit_test(without_memory),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_model_close(&model);
    return failed;
}
