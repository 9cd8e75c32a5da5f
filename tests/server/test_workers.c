/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that answer: in the order of asking, as many at once as there are, and no more waiting than was agreed; and what the probes
 * saw is looked at again only when somebody asks for it. */
#include "support/test.h"

#include "base/clock.h"
#include "server/probes.h"
#include "server/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int inside, open_door, order[64], n_order;

static void reset(void)
{
    inside = open_door = n_order = 0;
}

/* Waits inside until the door is opened. */
static void wait_inside(void *context)
{
    pthread_mutex_lock(&lock);
    inside++;
    pthread_cond_broadcast(&changed);
    while (!open_door)
        pthread_cond_wait(&changed, &lock);
    order[n_order++] = *(int *)context;
    pthread_mutex_unlock(&lock);
}

static void until_inside(int n)
{
    pthread_mutex_lock(&lock);
    while (inside < n)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void let_out(void)
{
    pthread_mutex_lock(&lock);
    open_door = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void one_after_another(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_workers *w = NULL;
    int numbers[12];
    reset();
    assert_ok(sk_workers_open(1, 5, &w, &err), &err);
    for (int i = 0; i < 12; i++)
        numbers[i] = i;
    assert_true(sk_workers_give(w, wait_inside, &numbers[0]));
    until_inside(1);
    for (int i = 1; i <= 5; i++) /* these wait */
        assert_true(sk_workers_give(w, wait_inside, &numbers[i]));
    assert_false(sk_workers_give(w, wait_inside, &numbers[6]));
    let_out();
    until_inside(6);
    for (int i = 6; i < 12; i++) { /* round the ring */
        while (!sk_workers_give(w, wait_inside, &numbers[i]))
            sk_clock_sleep_ns(1000000);
    }
    sk_workers_close(&w); /* what was taken is done */
    assert_null(w);
    assert_int_equal(n_order, 12);
    for (int i = 0; i < 12; i++)
        assert_int_equal(order[i], i);
}

static void several_at_once(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_workers *w = NULL;
    int number = 3;
    reset();
    assert_ok(sk_workers_open(3, 4, &w, &err), &err);
    for (int i = 0; i < 3; i++)
        assert_true(sk_workers_give(w, wait_inside, &number));
    until_inside(3);
    for (int i = 0; i < 4; i++)
        assert_true(sk_workers_give(w, wait_inside, &number));
    assert_false(sk_workers_give(w, wait_inside, &number));
    pthread_mutex_lock(&lock);
    assert_int_equal(inside, 3);
    pthread_mutex_unlock(&lock);
    let_out();
    sk_workers_close(&w);
    assert_int_equal(n_order, 7);
    assert_int_equal(sk_workers_open(0, 4, &w, &err), SK_ERR_RUNTIME);
    assert_null(w);
}

static void probes_are_kept(void **state)
{
    (void)state;
    sk_probes probes;
    static sk_runtimes_view first, second;
    int64_t at = 0, again = 0;
    assert_true(sk_probes_open(&probes));
    const int64_t before = sk_clock_ns(), before_ms = sk_clock_wall_ms();
    sk_probes_look(&probes, 1u << SK_WORK_YOLO_POSE, false, &first, &at);
    const int64_t probed = probes.at_ns;
    assert_true(probes.known && probed >= before && at >= before_ms && at == probes.at_wall_ms);
    assert_int_equal(first.pipelines, 1u << SK_WORK_YOLO_POSE);
    assert_true(first.rows[SK_RUNTIME_CPU].available && first.gate.is_allowed[SK_RUNTIME_CPU]);
    probes.at_wall_ms = 77;
    strcpy(probes.rows[SK_RUNTIME_CPU].reason, "as it was");
    sk_probes_look(&probes, 0, false, &second, &again); /* as it was seen then */
    assert_true(probes.at_ns == probed && again == 77 && second.pipelines == 0);
    assert_string_equal(second.rows[SK_RUNTIME_CPU].reason, "as it was");
    sk_probes_look(&probes, 0, true, &second, &again);
    assert_true(probes.at_ns > probed && again >= before_ms);
    assert_string_equal(second.rows[SK_RUNTIME_CPU].reason, first.rows[SK_RUNTIME_CPU].reason);
    probes.at_ns = sk_clock_ns() + (int64_t)3600 * 1000000000; /* somebody else's, since this was asked for */
    strcpy(probes.rows[SK_RUNTIME_CPU].reason, "just now");
    sk_probes_look(&probes, 0, true, &second, NULL);
    assert_string_equal(second.rows[SK_RUNTIME_CPU].reason, "just now");
    sk_probes_close(&probes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_after_another), cmocka_unit_test(several_at_once),
                                       cmocka_unit_test(probes_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
