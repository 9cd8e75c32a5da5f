/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/log.h"
#include "base/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct sink {
    int count;
    sk_log_level last_level;
    char last[1100];
} sink;

static void keep(void *cookie, sk_log_level level, const char *message)
{
    sink *s = cookie;
    s->count++;
    s->last_level = level;
    strcpy(s->last, message);
}

static sk_log_listener *listen(sk_log_level level, sk_log_fn fn, void *cookie)
{
    sk_log_listener *listener = NULL;
    sk_error err = {0};
    assert_ok(sk_log_listen(level, fn, cookie, &listener, &err), &err);
    return listener;
}

static void silent_by_default(void **state)
{
    (void)state;
    assert_false(sk_log_wanted(SK_LOG_ERROR));
    sk_log(SK_LOG_ERROR, "nobody hears this");
}

static void filters_by_level(void **state)
{
    (void)state;
    sink s = {0};
    sk_log_listener *listener = listen(SK_LOG_WARN, keep, &s);
    sk_log(SK_LOG_INFO, "not this");
    sk_log(SK_LOG_WARN, "this %d", 7);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.last_level, SK_LOG_WARN);
    assert_string_equal(s.last, "this 7");
    assert_true(sk_log_wanted(SK_LOG_ERROR));
    assert_false(sk_log_wanted(SK_LOG_INFO));
    sk_log_unlisten(&listener);
    sk_log(SK_LOG_ERROR, "gone");
    assert_int_equal(s.count, 1);
}

static void cuts_long_messages(void **state)
{
    (void)state;
    sink s = {0};
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sk_log_listener *listener = listen(SK_LOG_DEBUG, keep, &s);
    sk_log(SK_LOG_DEBUG, "%s", text);
    sk_log_unlisten(&listener);
    assert_int_equal(strlen(s.last), 1023);
    assert_string_equal(s.last + 1020, "…");
}

/* Wherever the cut falls, and whatever bytes a file's name has. */
static void messages_are_utf8(void **state)
{
    (void)state;
    sink s = {0};
    sk_log_listener *listener = listen(SK_LOG_DEBUG, keep, &s);
    for (int before = 0; before < 4; before++) {
        char text[3000] = "xxxx";
        for (size_t at = (size_t)before; at + 5 < sizeof text; at += 4)
            memcpy(text + at, "🪰", 5);
        sk_log(SK_LOG_DEBUG, "%s", text);
        const size_t length = strlen(s.last);
        assert_in_range(length, 1020, 1023);
        for (size_t at = 0, step; at < length; at += step) {
            step = sk_text_utf8(s.last + at, length - at);
            assert_true(step > 0);
        }
    }
    sk_log(SK_LOG_DEBUG, "%s", "fl\xFCgel\xC3.mp4");
    assert_string_equal(s.last, "fl?gel?.mp4");
    sk_log(SK_LOG_DEBUG, "%s",
           "\xFF"
           "end\xE2");
    assert_string_equal(s.last, "?end?");
    sk_log_unlisten(&listener);
}

static void a_listener_without_a_function_is_none(void **state)
{
    (void)state;
    sk_error err = {0};
    sink s = {0};
    sk_log_listener *listener = (sk_log_listener *)&s;
    assert_int_equal(sk_log_listen(SK_LOG_INFO, NULL, &s, &listener, &err), SK_ERR_ARG);
    assert_null(listener);
    assert_int_equal(sk_log_listen(SK_LOG_INFO, keep, &s, NULL, &err), SK_ERR_ARG);
    assert_false(sk_log_wanted(SK_LOG_ERROR));
}

static void talk_back(void *cookie, sk_log_level level, const char *message)
{
    (void)message;
    ++*(int *)cookie;
    sk_log(level, "an echo");
}

static void a_message_from_the_callback_is_dropped(void **state)
{
    (void)state;
    int count = 0;
    sk_log_listener *listener = listen(SK_LOG_DEBUG, talk_back, &count);
    sk_log(SK_LOG_INFO, "hello");
    sk_log_unlisten(&listener);
    assert_int_equal(count, 1);
}

static void *talk(void *argument)
{
    for (int i = 0; i < 500; i++)
        sk_log(SK_LOG_INFO, "thread %d says %d", *(int *)argument, i);
    return NULL;
}

static void count(void *cookie, sk_log_level level, const char *message)
{
    (void)level;
    (void)message;
    atomic_fetch_add((atomic_int *)cookie, 1);
}

static void threads_talk_at_once(void **state)
{
    (void)state;
    atomic_int heard = 0;
    sk_log_listener *listener = listen(SK_LOG_INFO, count, &heard);
    pthread_t threads[4];
    int names[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, talk, &names[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    sk_log_unlisten(&listener);
    assert_int_equal(heard, 2000);
}

static void two_listeners_hear_their_own_levels(void **state)
{
    (void)state;
    sink loud = {0}, calm = {0};
    sk_log_listener *first = listen(SK_LOG_DEBUG, keep, &loud), *second = listen(SK_LOG_WARN, keep, &calm);
    sk_log(SK_LOG_INFO, "for one");
    sk_log(SK_LOG_ERROR, "for both");
    assert_int_equal(loud.count, 2);
    assert_int_equal(calm.count, 1);
    sk_log_unlisten(&first);
    assert_false(sk_log_wanted(SK_LOG_INFO));
    sk_log(SK_LOG_WARN, "for the other");
    sk_log_unlisten(&second);
    assert_int_equal(loud.count, 2);
    assert_int_equal(calm.count, 2);
}

/* A listener that waits for a thread which wants to listen, too: under a lock of ours this would never end. */
static void *listen_and_leave(void *argument)
{
    (void)argument;
    sink s = {0};
    sk_log_listener *listener = listen(SK_LOG_ERROR, keep, &s);
    sk_log_unlisten(&listener);
    return NULL;
}

static void wait_for_thread(void *cookie, sk_log_level level, const char *message)
{
    (void)level;
    (void)message;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, listen_and_leave, NULL), 0);
    pthread_join(thread, NULL);
    ++*(int *)cookie;
}

static void listeners_run_under_no_lock(void **state)
{
    (void)state;
    int heard = 0;
    sk_log_listener *listener = listen(SK_LOG_INFO, wait_for_thread, &heard);
    sk_log(SK_LOG_INFO, "hello");
    sk_log_unlisten(&listener);
    assert_int_equal(heard, 1);
}

typedef struct leaver {
    sk_log_listener *listener;
    int heard;
} leaver;

static void leave(void *cookie, sk_log_level level, const char *message)
{
    (void)level;
    (void)message;
    leaver *l = cookie;
    l->heard++;
    sk_log_unlisten(&l->listener);
}

static void a_listener_may_leave_from_inside(void **state)
{
    (void)state;
    leaver l = {0};
    l.listener = listen(SK_LOG_INFO, leave, &l);
    sk_log(SK_LOG_INFO, "once");
    sk_log(SK_LOG_INFO, "twice");
    assert_int_equal(l.heard, 1);
    assert_null(l.listener);
    assert_false(sk_log_wanted(SK_LOG_ERROR));
}

/* Once unlisten has returned the cookie is gone: tsan and asan would see a late call. */
static void *talk_on(void *argument)
{
    atomic_bool *stop = argument;
    while (!atomic_load(stop))
        sk_log(SK_LOG_INFO, "on and on");
    return NULL;
}

static void nobody_is_called_after_unlisten(void **state)
{
    (void)state;
    atomic_bool stop = false;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, talk_on, &stop), 0);
    for (int i = 0; i < 300; i++) {
        sink *s = calloc(1, sizeof *s);
        sk_log_listener *listener = listen(SK_LOG_INFO, keep, s);
        sk_log_unlisten(&listener);
        free(s);
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

static void levels_have_names(void **state)
{
    (void)state;
    assert_string_equal(sk_log_level_name(SK_LOG_ERROR), "error");
    assert_string_equal(sk_log_level_name(SK_LOG_WARN), "warning");
    assert_string_equal(sk_log_level_name(SK_LOG_INFO), "info");
    assert_string_equal(sk_log_level_name(SK_LOG_DEBUG), "debug");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_by_default),
        cmocka_unit_test(filters_by_level),
        cmocka_unit_test(cuts_long_messages),
        cmocka_unit_test(messages_are_utf8),
        cmocka_unit_test(a_listener_without_a_function_is_none),
        cmocka_unit_test(a_message_from_the_callback_is_dropped),
        cmocka_unit_test(threads_talk_at_once),
        cmocka_unit_test(two_listeners_hear_their_own_levels),
        cmocka_unit_test(listeners_run_under_no_lock),
        cmocka_unit_test(a_listener_may_leave_from_inside),
        cmocka_unit_test(nobody_is_called_after_unlisten),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
