/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <time.h>

/* Who waits for results, and how: timeouts, the descriptor, callbacks, several threads. */

static void take_waits_as_long_as_it_is_told(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    sk_pipeline *p = open_tiny(&s);
    const sk_result *result = NULL;
    assert_int_equal(sk_pipeline_take(p, 0, &result, &err), SK_ERR_TIMEOUT);
    assert_int_equal(sk_pipeline_take(p, 10, &result, &err), SK_ERR_TIMEOUT);
    lent *l = make_lent(0, 48, 40);
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, 0, &err), &err);
    assert_int_equal(sk_pipeline_take(p, 10, &result, &err), SK_ERR_TIMEOUT);
    assert_null(result);
    assert_ok(sk_pipeline_drain(p, &err), &err);
    assert_int_equal(sk_pipeline_in_flight(p), 1);
    assert_ok(sk_pipeline_take(p, 0, &result, &err), &err);
    assert_non_null(result);
    sk_pipeline_close(&p);
    free_lent(l);
    s.timeout_ms = 20; /* the pipeline's own: it names the stage */
    p = open_tiny(&s);
    l = make_lent(0, 48, 40);
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, 0, &err), &err);
    assert_int_equal(sk_pipeline_take(p, -1, &result, &err), SK_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "queue"));
    sk_pipeline_close(&p);
    free_lent(l);
}

static bool readable(int fd)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    return poll(&watched, 1, 0) == 1;
}

static void descriptor_says_what_is(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    sk_pipeline *p = open_tiny(&s);
    const int fd = sk_pipeline_fd(p);
    assert_true(fd >= 0 && sk_pipeline_fd(p) == fd);
    lent *l[MANY];
    make_many(l);
    const sk_result *result = NULL;
    assert_false(readable(fd));
    for (int i = 0; i < 3; i++)
        assert_ok(sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err), &err);
    assert_false(readable(fd));
    sk_pipeline_flush(p);
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&watched, 1, 20000), 1);
    assert_ok(sk_pipeline_drain(p, &err), &err);
    for (int i = 0; i < 3; i++) {
        assert_true(readable(fd));
        assert_ok(sk_pipeline_take(p, 0, &result, &err), &err);
        sk_pipeline_give_back(p, result);
    }
    assert_false(readable(fd));
    sk_pipeline_finish(p); /* the end can be taken */
    assert_true(readable(fd));
    assert_ok(sk_pipeline_submit(p, &l[3]->frame, NULL, 0, &err), &err);
    assert_false(readable(fd));
    sk_pipeline_cancel(p);
    assert_false(readable(fd));
    sk_pipeline_release(p);
    assert_true(readable(fd));
    sk_pipeline_close(&p);
    all_back_once(l, 4);
    assert_int_equal(sk_pipeline_fd(NULL), -1);
    assert_int_equal(sk_pipeline_in_flight(NULL), 0);
    sk_pipeline_cancel(NULL);
    sk_pipeline_finish(NULL);
    sk_pipeline_flush(NULL);
}

static void count_ready(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

/* A result that was there and that nobody may take any more. */
static void descriptor_forgets_what_was_cancelled(void **state)
{
    (void)state;
    sk_error err = {0};
    atomic_int told = 0;
    sk_pipeline_settings s = tiny_settings();
    s.ready = count_ready;
    s.ready_context = &told;
    sk_pipeline *p = open_tiny(&s);
    const int fd = sk_pipeline_fd(p), before = atomic_load(&told);
    lent *l = make_lent(0, 48, 40);
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, SK_SUBMIT_FLUSH, &err), &err);
    for (int i = 0; i < 20000 && atomic_load(&told) == before; i++) /* the lane has told, and tells no more */
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_true(readable(fd));
    sk_pipeline_cancel(p);
    assert_false(readable(fd));
    assert_int_equal(sk_pipeline_in_flight(p), 0);
    sk_pipeline_close(&p);
    free_lent(l);
}

/* --- calling back --- */

typedef struct calling {
    sk_pipeline *pipeline;
    lent *frames[MANY];
    atomic_int next, back, ready, taken;
} calling;

static void release_and_submit(void *context, const sk_frame *frame)
{
    calling *c = context;
    sk_error err;
    (void)frame;
    atomic_fetch_add(&c->back, 1);
    (void)sk_pipeline_in_flight(c->pipeline);
    const int next = atomic_fetch_add(&c->next, 1);
    if (next < MANY && sk_pipeline_submit(c->pipeline, &c->frames[next]->frame, NULL, SK_SUBMIT_FLUSH, &err))
        abort();
}

static void take_when_ready(void *context)
{
    calling *c = context;
    sk_error err;
    const sk_result *result = NULL;
    atomic_fetch_add(&c->ready, 1);
    while (c->pipeline && sk_pipeline_take(c->pipeline, 0, &result, &err) == SK_OK && result) {
        sk_pipeline_give_back(c->pipeline, result);
        atomic_fetch_add(&c->taken, 1);
    }
}

/* The frame's release hands the next one in, `ready` takes results: all from inside the pipeline's own calls. */
static void callbacks_may_call_back(void **state)
{
    (void)state;
    sk_error err = {0};
    calling c = {.pipeline = NULL};
    sk_pipeline_settings s = tiny_settings();
    s.depth = MANY + 1;
    s.ready = take_when_ready;
    s.ready_context = &c;
    c.pipeline = open_tiny(&s);
    for (int i = 0; i < MANY; i++) {
        c.frames[i] = make_lent(i, 48, 40);
        c.frames[i]->frame.release = release_and_submit;
        c.frames[i]->frame.release_context = &c;
    }
    atomic_store(&c.next, 1);
    assert_ok(sk_pipeline_submit(c.pipeline, &c.frames[0]->frame, NULL, SK_SUBMIT_FLUSH, &err), &err);
    for (int i = 0; i < 20000 && atomic_load(&c.taken) < MANY; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(atomic_load(&c.taken), MANY);
    assert_int_equal(atomic_load(&c.back), MANY);
    assert_true(atomic_load(&c.ready) > 0);
    sk_pipeline *p = c.pipeline; /* a late call may still look at the other pointer */
    sk_pipeline_close(&p);
    for (int i = 0; i < MANY; i++)
        free_lent(c.frames[i]);
}

#define EACH 40

typedef struct submitting {
    sk_pipeline *pipeline;
    int first;
    bool good;
} submitting;

static void *submit_some(void *context)
{
    submitting *s = context;
    sk_error err;
    s->good = true;
    for (int i = 0; i < EACH; i++) {
        lent *l = make_lent(s->first + i, 48, 40);
        sk_frame copied = l->frame;
        copied.release = NULL;
        s->good = s->good && sk_pipeline_submit(s->pipeline, &copied, s, 0, &err) == SK_OK;
        free_lent(l);
    }
    return NULL;
}

static void two_submit_and_one_takes(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.devices = "cpu*2";
    sk_pipeline *p = open_tiny(&s);
    submitting who[2] = {{.pipeline = p, .first = 0}, {.pipeline = p, .first = 1000}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_some, &who[i]), 0);
    int64_t next[2] = {0, 1000};
    for (int64_t ticket = 0; ticket < 2 * EACH; ticket++) {
        const sk_result *result = NULL;
        assert_ok(sk_pipeline_take(p, 60000, &result, &err), &err);
        assert_int_equal(result->ticket, ticket);
        const int whose = result->user == &who[1];
        assert_int_equal(result->index, next[whose]++); /* each thread's in its own order */
        sk_pipeline_give_back(p, result);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_true(who[i].good);
    }
    sk_pipeline_close(&p);
}

static void *wait_in_take(void *context)
{
    sk_error err = {0};
    const sk_result *result = NULL;
    static sk_status status;
    status = sk_pipeline_take(context, -1, &result, &err);
    return &status;
}

static void whoever_waits_is_told(void **state)
{
    (void)state;
    for (int release = 0; release < 2; release++) {
        sk_pipeline_settings s = waiting_settings();
        sk_pipeline *p = open_tiny(&s);
        pthread_t thread;
        sk_status *status = NULL;
        assert_int_equal(pthread_create(&thread, NULL, wait_in_take, p), 0);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        if (release)
            sk_pipeline_release(p);
        else
            sk_pipeline_cancel(p);
        pthread_join(thread, (void **)&status);
        assert_int_equal(*status, SK_ERR_CANCELLED);
        sk_pipeline_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(take_waits_as_long_as_it_is_told),
                                       cmocka_unit_test(descriptor_says_what_is),
                                       cmocka_unit_test(descriptor_forgets_what_was_cancelled),
                                       cmocka_unit_test(callbacks_may_call_back),
                                       cmocka_unit_test(two_submit_and_one_takes),
                                       cmocka_unit_test(whoever_waits_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
