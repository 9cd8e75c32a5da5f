/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/log.h"

#include <pthread.h>
#include <string.h>

typedef struct sink {
    int count;
    sk_log_level last_level;
    char last[1100];
} sink;

static void keep(void *cookie, sk_log_level level, const char *message)
{
    sink *s = cookie;
    s->count++; /* plain memory: tsan would see calls that overlap */
    s->last_level = level;
    strcpy(s->last, message);
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
    sk_log_set(SK_LOG_WARN, keep, &s);
    sk_log(SK_LOG_INFO, "not this");
    sk_log(SK_LOG_WARN, "this %d", 7);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.last_level, SK_LOG_WARN);
    assert_string_equal(s.last, "this 7");
    assert_true(sk_log_wanted(SK_LOG_ERROR));
    assert_false(sk_log_wanted(SK_LOG_INFO));
    sk_log_set(SK_LOG_DEBUG, NULL, NULL);
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
    sk_log_set(SK_LOG_DEBUG, keep, &s);
    sk_log(SK_LOG_DEBUG, "%s", text);
    sk_log_set(SK_LOG_ERROR, NULL, NULL);
    assert_int_equal(strlen(s.last), 1023);
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
    sk_log_set(SK_LOG_DEBUG, talk_back, &count);
    sk_log(SK_LOG_INFO, "hello");
    sk_log_set(SK_LOG_ERROR, NULL, NULL);
    assert_int_equal(count, 1);
}

static void *talk(void *argument)
{
    for (int i = 0; i < 500; i++)
        sk_log(SK_LOG_INFO, "thread %d says %d", *(int *)argument, i);
    return NULL;
}

static void threads_do_not_overlap(void **state)
{
    (void)state;
    sink s = {0};
    sk_log_set(SK_LOG_INFO, keep, &s);
    pthread_t threads[4];
    int names[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, talk, &names[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    sk_log_set(SK_LOG_ERROR, NULL, NULL);
    assert_int_equal(s.count, 2000);
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
        cmocka_unit_test(silent_by_default),      cmocka_unit_test(filters_by_level),
        cmocka_unit_test(cuts_long_messages),     cmocka_unit_test(a_message_from_the_callback_is_dropped),
        cmocka_unit_test(threads_do_not_overlap), cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
