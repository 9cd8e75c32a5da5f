/* SPDX-License-Identifier: Apache-2.0 */
/* Streams by a clock that the test moves: when they are tried again, for how long, and what is said. */
#ifdef SKITTER_HAVE_FFMPEG
#include "made_live.h"

/* --- patience --- */

/* A server that is not there: after pauses that double up to eight seconds, and for the last time when patience ends. */
static void attempts_come_at_their_times(void **state)
{
    (void)state;
    static const double times[] = {0,     0.25,  0.75,  1.75,  3.75,  7.75, 15.75,
                                   23.75, 31.75, 39.75, 47.75, 55.75, 60};
    sk_error err;
    server.refused = 1000;
    assert_int_equal(open_live("http://127.0.0.1:9/x", &err), SK_ERR_IO);
    assert_null(reader);
    assert_int_equal(attempts, sizeof times / sizeof *times);
    for (int i = 0; i < attempts; i++)
        if (fabs(at[i] - times[i]) > 0.3)
            fail_msg("attempt %d came after %g s, not %g", i, at[i], times[i]);
    assert_string_equal(err.message,
                        "gave up after 60 s and 13 attempts: http://127.0.0.1:9/x: Connection refused");
    assert_int_equal(n_said, 1);
    assert_string_equal(said[0], "http://127.0.0.1:9/x: Connection refused; trying again for 60 s");
    assert_true(whitelisted && !buffered);
}

/* Little patience, and none. */
static void short_patience(void **state)
{
    (void)state;
    static const struct {
        double patience;
        int attempts, said;
        const char *begin;
    } cases[] = {{0, 1, 0, "http://"},
                 {0.1, 2, 0, "gave up after 0 s and 2 attempts: http://"},
                 {0.5, 3, 0, "gave up after "},
                 {0.51, 3, 1, "gave up after 1 s and 3 attempts: http://"},
                 {2, 5, 1, "gave up after 2 s and 5 attempts: http://"}};
    sk_error err;
    server.refused = 1000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        n_said = 0;
        settings.reconnect_seconds = cases[i].patience;
        assert_int_equal(open_live("http://127.0.0.1:9/x", &err), SK_ERR_IO);
        if (attempts != cases[i].attempts || n_said != cases[i].said ||
            strncmp(err.message, cases[i].begin, strlen(cases[i].begin)) != 0)
            fail_msg("patience of %g s: %d attempts, %d said, %s", cases[i].patience, attempts, n_said,
                     err.message);
        assert_true(fabs(seconds_now() - cases[i].patience) < 0.1);
    }
}

/* A server that is there and does not speak is waited for ten seconds at a time, up to the end, and half a second at least. */
static void silent_servers(void **state)
{
    (void)state;
    static const double times[] = {10, 10, 4.1};
    sk_error err;
    server.refused = 1000;
    server.silent = true;
    settings.reconnect_seconds = 25;
    assert_int_equal(open_live("http://127.0.0.1:9/x", &err), SK_ERR_IO);
    assert_int_equal(attempts, 3);
    for (int i = 0; i < 3; i++)
        if (fabs(lasted[i] - times[i]) > 0.2)
            fail_msg("attempt %d lasted %g s, not %g", i, lasted[i], times[i]);
    assert_non_null(
        strstr(err.message, "gave up after 25 s and 3 attempts: http://127.0.0.1:9/x: no answer for 4."));
    settings.reconnect_seconds = 0;
    assert_int_equal(open_live("http://127.0.0.1:9/x", &err), SK_ERR_IO);
    assert_int_equal(attempts, 1);
    assert_true(fabs(lasted[0] - 0.5) < 0.11);
    assert_non_null(strstr(err.message, "http://127.0.0.1:9/x: no answer for 0."));
    assert_ptr_equal(strstr(err.message, "http"), err.message);
    /* RTSP is then tried the other way, each time */
    settings.reconnect_seconds = 25;
    assert_int_equal(open_live("rtsp://127.0.0.1:9/x", &err), SK_ERR_IO);
    assert_string_equal(transports, "tcp udp tcp udp ");
}

/* Who wants it to end: says so, or has the source stopped. */
static bool has_enough(void *context)
{
    return seconds_now() > *(double *)context;
}

static void somebody_has_enough(void **state)
{
    (void)state;
    sk_error err;
    double after = 5;
    server.refused = 1000;
    settings.interrupted = has_enough;
    settings.interrupted_context = &after;
    assert_int_equal(open_live("http://127.0.0.1:9/x", &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "http://127.0.0.1:9/x: interrupted while connecting");
    assert_int_equal(attempts, 5);
    assert_true(seconds_now() > 5 && seconds_now() < 5.1);
    server.silent = true;
    assert_int_equal(open_live("rtsp://127.0.0.1:9/x", &err), SK_ERR_CANCELLED);
    assert_int_equal(attempts, 1);
    assert_true(seconds_now() > 5 && seconds_now() < 5.1);
    settings.interrupted = NULL;
    server.silent = false;
    atomic_store(&stop, true);
    assert_int_equal(open_live("rtsp://127.0.0.1:9/x", &err), SK_ERR_CANCELLED);
    assert_int_equal(attempts, 1);
    assert_int_equal(n_said, 1);
    assert_null(reader);
}

/* Nothing more comes: ten seconds for a frame, then it is tried again until patience, which began with the last one, ends; unless
 * somebody stops it. */
static void a_stream_that_stalls(void **state)
{
    (void)state;
    sk_error err;
    double after = 30;
    for (int stopped = 0; stopped < 2; stopped++) {
        server.refused = server.packets = n_said = 0;
        settings.interrupted = stopped ? has_enough : NULL;
        settings.interrupted_context = &after;
        assert_ok(open_live("http://127.0.0.1:9/x", &err), &err);
        server.packets = 5;
        server.stalls = server.gone = true;
        n_read = 0;
        bool end = false;
        int frames = 0;
        sk_status status = SK_OK;
        for (; status == SK_OK && !end; frames++)
            status = reader->read(reader, &slot, &end, &err);
        assert_true(frames > 3 && frames < 7);
        assert_int_equal(status, stopped ? SK_OK : SK_ERR_IO);
        assert_int_equal(end, stopped);
        assert_true(fabs(lasted[1] - 10) < 0.2);
        assert_string_equal(said[0], "http://127.0.0.1:9/x: no frame came in time; connecting again");
        assert_int_equal(n_said, 1);
        assert_int_equal(reader->reconnects, stopped ? 6 : 11);
        assert_true(reader->outages == 1 && reader->away);
        if (!stopped)
            assert_string_equal(
                err.message, "http://127.0.0.1:9/x: no frame for 60 s and 11 attempts to connect again; last "
                             "problem: http://127.0.0.1:9/x: Connection refused");
        close_live();
    }
}

/* A source that is stopped gives no more frames, and its stream's end is no outage then. */
static void a_source_that_is_stopped(void **state)
{
    (void)state;
    sk_error err;
    bool end = false;
    assert_ok(open_live("http://127.0.0.1:9/x", &err), &err);
    assert_ok(reader->read(reader, &slot, &end, &err), &err);
    assert_false(end);
    const int before = n_read;
    atomic_store(&stop, true);
    assert_ok(reader->read(reader, &slot, &end, &err), &err);
    assert_true(end);
    assert_int_equal(n_read, before);
    assert_int_equal(reader->outages, 0);
    close_live();
}

int main(void)
{
    const struct CMUnitTest tests[] = {MADE_LIVE(attempts_come_at_their_times),
                                       MADE_LIVE(short_patience),
                                       MADE_LIVE(silent_servers),
                                       MADE_LIVE(somebody_has_enough),
                                       MADE_LIVE(a_stream_that_stalls),
                                       MADE_LIVE(a_source_that_is_stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
