/* SPDX-License-Identifier: Apache-2.0 */
/* How often a run tells where it is, by a clock that the test moves; and lines in pieces, to readers that take some, wait, or are gone. */
#include "standing_clock.h"
#include "support/test.h"

#include "app/run_events.h"
#include "support/fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)

static sk_error err;

/* --- a reader that does what the next steps say --- */

enum { READER = 900 }; /* its descriptor, which is nobody's */

typedef struct step {
    char how;    /* 'r' ready, 'n' not ready, 'i' a signal came, 'f' poll fails, '.' no more is asked */
    char then;   /* 't' takes, 'i' a signal came, 'a' not now, 'e' fails, '0' takes nothing */
    size_t most; /* takes so many bytes */
} step;

static const step *next_step;
static sigset_t blocked; /* while it was written */
static int n_asked, waits[64];
static char taken[40000];
static size_t n_taken, largest;

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    struct pollfd *volatile same = fds; /* its declaration says that it is only written to */
    struct pollfd *asked = same;
    if (n == 1 && asked->fd == READER) {
        assert_int_equal(asked->events, POLLOUT);
        assert_true(n_asked < 64 && next_step->how != '.');
        waits[n_asked++] = timeout;
        if (next_step->how == 'r') {
            asked->revents = POLLOUT;
            return 1;
        }
        errno = next_step->how == 'i' ? EINTR : EBADF;
        return (next_step++)->how == 'n' ? 0 : -1;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "poll");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(fds, n, timeout);
}

__attribute__((visibility("default"))) ssize_t write(int file, const void *bytes, size_t count)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (file == READER) {
        const step *now = next_step++;
        (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
        largest = count > largest ? count : largest;
        errno = now->then == 'i' ? EINTR : now->then == 'a' ? EAGAIN : EIO;
        if (now->then != 't')
            return now->then == '0' ? 0 : -1;
        const size_t some = count < now->most ? count : now->most;
        assert_true(n_taken + some < sizeof taken);
        memcpy(taken + n_taken, bytes, some);
        n_taken += some;
        return (ssize_t)some;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "write");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(file, bytes, count);
}

__attribute__((visibility("default"))) int fcntl(int file, int command, ...)
{
    static int (*real)(int, int, ...);
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (file == READER && command == F_GETFL)
        return O_RDWR;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "fcntl");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(file, command, argument);
}

static sk_run_events *listen(const step *steps)
{
    sk_run_events *e = NULL;
    assert_ok(sk_run_events_open(READER, &e, &err), &err);
    next_step = steps;
    n_asked = 0;
    n_taken = largest = 0;
    return e;
}

/* --- pieces --- */

static char words[10001]; /* of a notice that is two pieces and a half of a pipe */

static const char *line_of(void)
{
    static char line[sizeof words + 40];
    snprintf(line, sizeof line, "{\"event\":\"notice\",\"text\":\"%s\"}\n", words);
    return line;
}

/* A line goes in pieces that a pipe takes at once; a signal is no end, nor is a reader that takes less, or waits amid a line. */
static void in_pieces(void **state)
{
    (void)state;
    static const step all[][12] = {
        {{'r', 't', 10000}, {'r', 't', 10000}, {'r', 't', 10000}, {'.', 0, 0}},
        {{'r', 't', 1}, {'r', 't', 4095}, {'r', 't', 4096}, {'r', 't', 4096}, {'.', 0, 0}},
        {{'i', 0, 0},
         {'i', 0, 0},
         {'r', 'i', 0},
         {'r', 't', 4096},
         {'r', 'a', 0},
         {'i', 0, 0},
         {'r', 'i', 0},
         {'r', 't', 4096},
         {'r', 't', 4096},
         {'.', 0, 0}},
    };
    memset(words, 'x', sizeof words - 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_run_events *e = listen(all[i]);
        sk_run_events_notice(e, words);
        assert_int_equal(n_taken, strlen(line_of()));
        assert_memory_equal(taken, line_of(), n_taken);
        assert_int_equal(largest, PIPE_BUF);
        assert_int_equal(next_step->how, '.');
        assert_int_equal(waits[0], 0);              /* a line that has not begun waits for nobody … */
        assert_int_equal(waits[n_asked - 1], 1000); /* … one that has, a second */
        sk_run_events_close(&e);
    }
}

/* Who is not ready misses a line and hears the next; who stops amid one, fails or takes nothing hears no more. */
static void who_hears_on(void **state)
{
    (void)state;
    static const struct {
        step steps[4];
        size_t taken;
        bool hears_on;
    } rows[] = {
        {{{'n', 0, 0}, {'r', 't', 4096}, {'.', 0, 0}}, 0, true},
        {{{'f', 0, 0}, {'r', 't', 4096}, {'.', 0, 0}}, 0, true},
        {{{'r', 'a', 0}, {'r', 't', 4096}, {'.', 0, 0}}, 0, true},
        {{{'r', 't', 7}, {'n', 0, 0}, {'.', 0, 0}}, 7, false},
        {{{'r', 't', 7}, {'f', 0, 0}, {'.', 0, 0}}, 7, false},
        {{{'r', 't', 1}, {'n', 0, 0}, {'.', 0, 0}}, 1, false},
        {{{'r', 'e', 0}, {'.', 0, 0}}, 0, false},
        {{{'r', '0', 0}, {'.', 0, 0}}, 0, false},
        {{{'r', 't', 7}, {'r', 'e', 0}, {'.', 0, 0}}, 7, false},
        {{{'r', 't', 7}, {'r', '0', 0}, {'.', 0, 0}}, 7, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_run_events *e = listen(rows[i].steps);
        sk_run_events_notice(e, "a line");
        assert_int_equal(n_taken, rows[i].taken);
        sk_run_events_preview(e, 5);
        taken[n_taken] = '\0';
        assert_int_equal(next_step->how, '.');
        assert_string_equal(taken + rows[i].taken,
                            rows[i].hears_on ? "{\"event\":\"preview\",\"frame\":5}\n" : "");
        sk_run_events_close(&e);
    }
}

/* --- signals --- */

static bool waits_for_us(void)
{
    sigset_t set;
    assert_int_equal(sigpending(&set), 0);
    return sigismember(&set, SIGPIPE);
}

/* The signal of a reader that is gone is taken; one that somebody held back before stays his, and what was held back, too. */
static void broken_pipes(void **state)
{
    (void)state;
    sigset_t broken, before, after;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    for (int held = 0; held < 2; held++) {
        int ends[2];
        sk_run_events *e = NULL;
        assert_int_equal(pipe(ends), 0);
        assert_ok(sk_run_events_open(ends[1], &e, &err), &err);
        close(ends[0]);
        if (held)
            assert_int_equal(pthread_sigmask(SIG_BLOCK, &broken, NULL), 0);
        assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
        sk_run_events_notice(e, "nobody");
        assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
        assert_int_equal(sigismember(&after, SIGPIPE), held);
        for (int s = 1; s < 32; s++)
            assert_int_equal(sigismember(&after, s), sigismember(&before, s));
        assert_int_equal(waits_for_us(), held);
        if (held) {
            int which;
            assert_int_equal(sigwait(&broken, &which), 0);
            assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &broken, NULL), 0);
        }
        sk_run_events_notice(e, "again");
        assert_false(waits_for_us());
        sk_run_events_close(&e);
        close(ends[1]);
    }
}

/* What lay on the stack before is no signal. */
static void leave_traces(void)
{
    volatile unsigned char bytes[8192];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0xFF;
}

/* While a line is written this one signal waits, and no other. */
static void only_this_one(void **state)
{
    (void)state;
    static const step once[] = {{'r', 't', 4096}, {'.', 0, 0}};
    sk_run_events *e = listen(once);
    sigset_t before;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
    leave_traces();
    sk_run_events_notice(e, "a line");
    for (int s = 1; s < 32; s++)
        assert_int_equal(sigismember(&blocked, s), s == SIGPIPE || sigismember(&before, s));
    sk_run_events_close(&e);
}

/* --- the clock --- */

static const step always[] = {{'r', 't', 40000}, {'r', 't', 40000}, {'r', 't', 40000}, {'.', 0, 0}};

static double number(const char *key)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *at = strstr(taken, wanted);
    assert_non_null(at);
    at += strlen(wanted);
    return strncmp(at, "null", 4) == 0 ? NAN : strtod(at, NULL);
}

/* Is a line told of this, at this time? */
static bool told(sk_run_events *e, int64_t at_ns, const sk_predict_progress *p)
{
    n_taken = 0;
    n_asked = 0;
    next_step = always;
    shown = at_ns;
    sk_run_events_progress(e, p);
    taken[n_taken] = '\0';
    return n_taken > 0;
}

/* Four times a second in the first minute, once later; the last frame at any time. */
static void how_often(void **state)
{
    (void)state;
    const int64_t t = 7777 * SECOND;
    sk_predict_progress p = {.done = 5, .total = 100};
    stands = true;
    shown = t;
    sk_run_events *e = listen(always);
    assert_true(told(e, t, &p));
    assert_false(told(e, t, &p));
    assert_false(told(e, t + 250 * MS - 1, &p));
    assert_true(told(e, t + 250 * MS, &p));
    assert_false(told(e, t + 500 * MS - 1, &p)); /* since the last that was told */
    assert_true(told(e, t + 600 * MS, &p));
    assert_false(told(e, t + 849 * MS, &p));
    p.done = 99;
    assert_false(told(e, t + 849 * MS, &p));
    p.done = 100;
    assert_true(told(e, t + 849 * MS, &p));
    p.done = 101; /* more than was thought */
    assert_true(told(e, t + 849 * MS, &p));
    p.total = 0; /* nobody knows how many */
    assert_false(told(e, t + 849 * MS, &p));
    p.total = -1;
    assert_false(told(e, t + 849 * MS, &p));
    p.total = 1000;
    assert_true(told(e, t + 59700 * MS, &p));
    assert_true(told(e, t + 60 * SECOND - 1, &p));
    assert_false(told(e, t + 60 * SECOND + 250 * MS, &p));
    assert_false(told(e, t + 61 * SECOND - 2, &p));
    assert_true(told(e, t + 61 * SECOND - 1, &p));
    assert_false(told(e, t + 61 * SECOND + 500 * MS, &p));
    n_taken = 0;
    sk_run_events_begin(e, "next.mp4", NULL, 2, 2, NULL); /* which is told of at once */
    assert_true(told(e, t + 61 * SECOND + 500 * MS, &p));
    sk_run_events_close(&e);
    stands = false;
}

/* Over a second or more; before the first is over, what the run says of itself. */
static void how_fast(void **state)
{
    (void)state;
    const int64_t t = 7777 * SECOND;
    sk_predict_progress p = {.done = 10, .total = 100, .continued = 4, .seconds = 2};
    stands = true;
    shown = t;
    sk_run_events *e = listen(always);
    assert_true(told(e, t, &p));
    assert_true(number("fps") == 3 && number("seconds_left") == 30 && number("continued") == 4);
    p.done = 16;
    assert_true(told(e, t + SECOND - 1, &p));
    assert_true(number("fps") == 6 && number("seconds_left") == 14);
    p.done = 20, p.seconds = 1000;
    assert_true(told(e, t + 2 * SECOND, &p)); /* ten frames in two seconds */
    assert_true(number("fps") == 5 && number("seconds_left") == 16);
    p.done = 29;
    assert_true(told(e, t + 3 * SECOND - 1, &p)); /* stays for a second */
    assert_true(number("fps") == 5 && fabs(number("seconds_left") - 14.2) < 1e-9);
    p.done = 30;
    assert_true(told(e, t + 4 * SECOND, &p)); /* since it was measured */
    assert_true(number("fps") == 5);
    assert_true(told(e, t + 5 * SECOND, &p));        /* it stands still */
    assert_true(fabs(number("fps") - 0.026) < 1e-9); /* (30 - 4) / 1000 */
    p.done = 20;
    assert_true(told(e, t + 6 * SECOND, &p)); /* back: measured anew */
    p.done = 60;
    assert_true(told(e, t + 8 * SECOND, &p));
    assert_true(number("fps") == 20 && number("seconds_left") == 2);
    p = (sk_predict_progress){.done = 60, .total = 0, .seconds = 0};
    sk_run_events_begin(e, "next.mp4", NULL, 2, 2, NULL);
    assert_true(told(e, t + 9 * SECOND, &p));
    assert_true(number("fps") == 0 && isnan(number("seconds_left")));
    p.done = 70;
    assert_true(told(e, t + 10 * SECOND, &p));
    assert_true(number("fps") == 10 && isnan(number("seconds_left")));
    sk_run_events_close(&e);
    stands = false;
}

/* What is in memory, not what was asked for. */
static void how_much_memory(void **state)
{
    (void)state;
    long long pages = 0, resident = 0;
    sk_predict_progress p = {.done = 1, .total = 1};
    sk_run_events *e = listen(always);
    sk_run_events_progress(e, &p);
    taken[n_taken] = '\0';
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lld %lld", &pages, &resident), 2); /* NOLINT(cert-err34-c) */
    fclose(file);
    const double now = (double)resident * (double)sysconf(_SC_PAGESIZE);
    assert_true(number("memory") > 0.8 * now && number("memory") < 1.25 * now);
    assert_true(pages > 2 * resident); /* or nobody could tell them apart */
    sk_run_events_close(&e);
}

static sk_status open_close(void *context, sk_error *error)
{
    (void)context;
    sk_run_events *e = NULL;
    SK_TRY(sk_run_events_open(READER, &e, error));
    next_step = always;
    n_taken = 0;
    sk_run_events_notice(e, "what there is no memory for is not told");
    sk_run_events_close(&e);
    return SK_OK;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(open_close, NULL) >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_pieces),       cmocka_unit_test(who_hears_on),   cmocka_unit_test(broken_pipes),
        cmocka_unit_test(only_this_one),   cmocka_unit_test(how_often),      cmocka_unit_test(how_fast),
        cmocka_unit_test(how_much_memory), cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
