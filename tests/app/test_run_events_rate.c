/* SPDX-License-Identifier: Apache-2.0 */
/* How quick a run is, as it is told while it goes; and a reader that stops amid a line. Both take a second, side by side. */
#include "support/test.h"

#include "app/run_events.h"
#include "base/clock.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

typedef struct ends {
    int read, write;
    sk_run_events *e;
} ends;

static ends open_ends(void)
{
    int both[2];
    ends out = {0};
    assert_int_equal(pipe(both), 0);
    assert_int_equal(fcntl(both[0], F_SETFL, O_NONBLOCK), 0);
    out.read = both[0], out.write = both[1];
    assert_ok(sk_run_events_open(out.write, &out.e, &err), &err);
    return out;
}

static void close_ends(ends *p)
{
    sk_run_events_close(&p->e);
    assert_null(p->e);
    close(p->read);
    close(p->write);
}

static char *next_line(int file, char *line, size_t capacity)
{
    size_t n = 0;
    while (n + 1 < capacity && read(file, line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = '\0';
    return line;
}

static double number(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

/* More than a pipe holds, and nobody takes it: after a second nothing more is told. */
static void *say_much(void *context)
{
    const ends *p = context;
    char *text = malloc(400001);
    memset(text, 'x', 400000);
    text[400000] = '\0';
    sk_run_events_notice(p->e, text);
    free(text);
    return NULL;
}

static void rates(void **state)
{
    (void)state;
    char line[4096];
    pthread_t talker;
    ends deaf = open_ends(), p = open_ends();
    assert_int_equal(pthread_create(&talker, NULL, say_much, &deaf), 0);
    sk_predict_progress at = {.done = 10, .total = 1000, .continued = 10, .seconds = 1};
    const int64_t before = sk_clock_ns();
    sk_run_events_progress(p.e, &at);
    const int64_t after = sk_clock_ns();
    next_line(p.read, line, sizeof line);
    assert_true(number(line, "\"frame\":") == 10 && number(line, "\"fps\":") == 0);
    assert_non_null(strstr(line, "\"seconds_left\":null"));
    sk_clock_sleep_ns(1020000000);
    at.done = 110, at.seconds = 50;
    const int64_t begun = sk_clock_ns();
    sk_run_events_progress(p.e, &at);
    const int64_t ended = sk_clock_ns();
    next_line(p.read, line, sizeof line);
    const double fps = number(line, "\"fps\":");
    assert_true(fps >= 0.999 * 100e9 / (double)(ended - before) &&
                fps <= 1.001 * 100e9 / (double)(begun - after));
    assert_true(fabs(number(line, "\"seconds_left\":") - 890 / fps) < 0.001 * 890 / fps);
    assert_true(number(line, "\"seconds\":") == 50 && number(line, "\"continued\":") == 10);
    /* what was measured stays until the next second; the last frame is told at once */
    at.done = at.total = 120;
    sk_run_events_progress(p.e, &at);
    next_line(p.read, line, sizeof line);
    assert_true(number(line, "\"frame\":") == 120 && number(line, "\"seconds_left\":") == 0);
    if (sk_clock_ns() - begun < 1000000000)
        assert_true(fabs(number(line, "\"fps\":") - fps) < 1e-6 * fps);
    sk_run_events_begin(p.e, "w.mp4", "out", 2, 2, "cpu"); /* the next source: nothing is known of it */
    next_line(p.read, line, sizeof line);
    at = (sk_predict_progress){.done = 4, .total = 8, .seconds = 2};
    sk_run_events_progress(p.e, &at);
    next_line(p.read, line, sizeof line);
    assert_true(number(line, "\"fps\":") == 2 && number(line, "\"seconds_left\":") == 2);
    close_ends(&p);
    /* the deaf one */
    assert_int_equal(pthread_join(talker, NULL), 0);
    size_t length = 0;
    for (ssize_t n; (n = read(deaf.read, line, sizeof line)) > 0;)
        length += (size_t)n;
    assert_true(length > 4096 && length < 400000);
    sk_run_events_notice(deaf.e, "again"); /* half a line has been told: nobody would understand */
    assert_int_equal(read(deaf.read, line, sizeof line), -1);
    close_ends(&deaf);
}

/* A long line comes whole where there is room for it, and others behind it. */
static void a_long_line(void **state)
{
    (void)state;
    ends p = open_ends();
    char bytes[4096];
    size_t length = 0;
    if (fcntl(p.write, F_SETPIPE_SZ, 1 << 20) < 1 << 19) {
        print_message("skipped: pipes are small here\n");
        close_ends(&p);
        skip();
    }
    (void)say_much(&p);
    for (ssize_t n; (n = read(p.read, bytes, sizeof bytes)) > 0;)
        length += (size_t)n;
    assert_int_equal(length, 400000 + strlen("{\"event\":\"notice\",\"text\":\"\"}\n"));
    sk_run_events_preview(p.e, 3);
    assert_string_equal(next_line(p.read, bytes, sizeof bytes), "{\"event\":\"preview\",\"frame\":3}");
    close_ends(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rates), cmocka_unit_test(a_long_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
