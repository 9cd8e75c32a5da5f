/* SPDX-License-Identifier: Apache-2.0 */
/* The loop that takes frames through a pipeline to the consumers, by a source and a pipeline of this test's own: what is asked in which
 * order, what is given back, whose failure is told, and what is counted. */
#include "feed_fixture.h"

/* --- on one thread --- */

static void on_one_thread(void **state)
{
    (void)state;
    begin(3, 1);
    assert_string_equal(
        run(SK_OK), "submit 0; take 0; 0.png 0 64x48 of 2; back 0; submit 1; take 1; 1.png 0.04 64x48 of 2; "
                    "back 1; submit 2; take 2; 2.png 0.08 64x48 of 2; back 2; flush; ");
    assert_true(report.frames == 3 && report.instances == 6 && !report.stopped && !report.checked);
    assert_string_equal(marks, "decode 0 100-200; decode 1 101-201; decode 2 102-202; ");
    assert_true(pipeline.flags == 0 && !pipeline.found && !pipeline.released);
    begin(4, 2); /* two on their way; what is left comes once it was flushed */
    how.check = true;
    assert_string_equal(
        run(SK_OK), "submit 0; submit 1; take 0; 0.png 0 64x48 of 2; back 0; submit 2; take 1; "
                    "1.png 0.04 64x48 of 2; back 1; submit 3; take 2; 2.png 0.08 64x48 of 2; back 2; flush; "
                    "take 3; 3.png 0.12 64x48 of 2; back 3; ");
    assert_int_equal(pipeline.flags, SK_SUBMIT_CHECK);
    begin(9, 3); /* so many, and the source stands at the next */
    how.frames = 2;
    how.consumers = NULL;
    assert_string_equal(run(SK_OK), "submit 0; submit 1; flush; take 0; back 0; take 1; back 1; ");
    assert_true(source.given == 2 && report.frames == 2 && report.instances == 4);
    begin(0, 1);
    assert_string_equal(run(SK_OK), "flush; ");
    assert_true(report.frames == 0 && report.seconds == 0);
    begin(9, 2); /* stopped: those on their way are let go */
    stops_at = 1;
    (void)run(SK_OK);
    assert_true(report.stopped && report.frames == 2 && pipeline.released);
    assert_string_equal(strstr(heard, "back 1; "), "back 1; flush; let go; ");
}

static void whose_failure(void **state)
{
    (void)state;
    for (int32_t in_flight = 0; in_flight < 2; in_flight++) {
        begin(5, in_flight);
        source.fails_at = 2;
        (void)run(SK_ERR_IO);
        assert_string_equal(err.message, "the source fails");
        assert_int_equal(source.given, 2);
        begin(5, in_flight); /* a frame that nobody takes goes back */
        pipeline.refuses = 1;
        (void)run(SK_ERR_ARG);
        assert_string_equal(err.message, "the pipeline takes no such frame");
        assert_non_null(strstr(heard, "release 1; "));
        assert_null(strstr(heard, "release 0; "));
        begin(5, in_flight); /* a frame that fails */
        pipeline.fails = 1;
        (void)run(SK_ERR_LIMIT);
        assert_string_equal(err.message, "it fails");
        assert_true(report.frames == 1 && report.instances == 2);
        assert_non_null(strstr(heard, "take 1; back 1; ")); /* and is given back, too */
        if (!in_flight) {
            assert_true(pipeline.released && source.stopped);
            assert_null(strstr(heard, "take 2; "));
        }
    }
    begin(5, 0); /* the taker's failure is told where both fail */
    pipeline.fails = 0;
    source.fails_at = 3;
    pipeline.held = true;
    (void)run(SK_ERR_LIMIT);
    assert_string_equal(err.message, "it fails");
    begin(5, 0); /* a reader that fails does not matter where somebody stops before that */
    source.fails_at = 3;
    pipeline.held = true;
    stops_at = 1;
    (void)run(SK_OK);
    assert_true(report.stopped && report.frames == 2);
    begin(5, 0); /* a reader that fails: all that it gave comes out before that is told */
    source.fails_at = 3;
    (void)run(SK_ERR_IO);
    assert_int_equal(report.frames, 3);
    assert_false(pipeline.released || source.stopped);
}

static bool wanted_so(void *context)
{
    return context == &list;
}

static void who_ends_it(void **state)
{
    (void)state;
    begin(9, 0);
    stops_at = 2;
    (void)run(SK_OK);
    assert_true(report.stopped && report.frames == 3 && source.stopped && pipeline.released);
    for (int as = 0; as < 2; as++) {
        begin(2, as);
        how.interrupted = wanted_so;
        how.interrupted_context = as ? (void *)&list : NULL;
        (void)run(SK_OK);
        assert_int_equal(report.stopped, as);
    }
    begin(5, 1);
    how.interrupted = wanted_so;
    how.interrupted_context = &list;
    source.fails_at = 2;
    (void)run(SK_ERR_IO);
    assert_false(report.stopped); /* it failed: nobody stopped it */
}

/* --- pictures --- */

/* Those that could not be read come in their place, and the last at the end, unless only so many frames were wanted. */
static void pictures(void **state)
{
    (void)state;
    for (int limit = 0; limit < 2; limit++) {
        begin(3, 1);
        source.info.kind = SK_SOURCE_PICTURES;
        source.n_unreadable = 3;
        for (int i = 0; i < 3; i++)
            source.unreadable[i] = (sk_unreadable){
                .size = sizeof(sk_unreadable), .name = {(char)('a' + i)}, .index = i == 2 ? 7 : 1};
        snprintf(source.unreadable[1].problem, sizeof source.unreadable[1].problem, "t");
        how.frames = limit ? 3 : 0;
        (void)run(SK_OK);
        const char *first = strstr(heard, "a (unreadable) 97; b (t) 98; 2.png 0.08");
        assert_true(first && strstr(heard, "1.png 0.04 ") < first);
        assert_int_equal(strstr(heard, "c (unreadable) 99; ") != NULL, !limit);
        assert_int_equal(report.frames, 3);
    }
    begin(3, 1); /* of a run that was stopped, too, the rest is not told */
    source.info.kind = SK_SOURCE_PICTURES;
    source.n_unreadable = 1;
    source.unreadable[0] = (sk_unreadable){.size = sizeof(sk_unreadable), .name = {'c'}, .index = 7};
    stops_at = 1;
    (void)run(SK_OK);
    assert_null(strstr(heard, "c ("));
}

/* Of a bag's images: told where it is another than the run's, or longer than a header has room for. */
static void ids_of_images(void **state)
{
    (void)state;
    static char long_id[4][600];
    static const size_t lengths[] = {254, 255, 256, 257};
    for (int i = 0; i < 4; i++)
        memset(long_id[i], 'l', lengths[i]);
    begin(3, 1);
    source.info.frame_id = "eye";
    source.ids[0] = "eye", source.ids[1] = "ear", source.ids[2] = "eye";
    (void)run(SK_OK);
    assert_non_null(strstr(heard, "take 0; 0.png 0 64x48 of 2; back 0; "));
    assert_non_null(strstr(heard, "take 1; 1.png 0.04 64x48 of 2; ear of 3; back 1; "));
    assert_non_null(strstr(heard, "take 2; 2.png 0.08 64x48 of 2; back 2; "));
    for (int i = 0; i < 4; i++) { /* as long as there is room at first, and longer */
        char wanted[64];
        begin(2, 1);
        source.info.frame_id = "eye";
        source.ids[0] = long_id[i], source.ids[1] = "eye";
        (void)run(SK_OK);
        snprintf(wanted, sizeof wanted, "64x48 of 2; lllll of %zu; back 0; ", lengths[i]);
        assert_non_null(strstr(heard, wanted));
        assert_non_null(strstr(heard, "take 1; 1.png 0.04 64x48 of 2; back 1; "));
        begin(1, 1); /* the same as the run's: told only where the header has not all of it */
        source.info.frame_id = source.ids[0] = long_id[i];
        (void)run(SK_OK);
        const bool whole = lengths[i] < sizeof((sk_run_header *)0)->frame_id;
        assert_int_equal(strstr(heard, "0.png 0 64x48 of 2; back 0; ") != NULL, whole);
    }
    begin(1, 1); /* nobody has one */
    source.ids[0] = "eye";
    (void)run(SK_OK);
    assert_non_null(strstr(heard, "0.png 0 64x48 of 2; back 0; "));
}

/* --- who finds --- */

static sk_instances animals;
static int64_t find_fails = -1;

static sk_status find(void *context, const sk_frame *frame, const sk_instances **found, sk_error *error)
{
    assert_ptr_equal(context, &animals);
    if (frame->index == find_fails)
        return sk_fail(error, SK_ERR_FORMAT, "nothing is found");
    *found = &animals;
    return SK_OK;
}

static int warnings;

static void hear(void *context, sk_log_level level, const char *message)
{
    (void)context, (void)level;
    warnings++;
    assert_string_equal(message, "frame 0: 1025 animals, of which 1024 are looked at and told");
}

static void finders(void **state)
{
    (void)state;
    const sk_finder finder = {.find = find, .context = &animals};
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    for (int more = 0; more < 2; more++) { /* so many as are looked at; one more, which is said once */
        begin(3, 1);
        animals.count = 1024 + more;
        warnings = 0;
        how.finder = &finder;
        how.preview = list.items[0];
        (void)run(SK_OK);
        assert_ptr_equal(pipeline.found, &animals);
        assert_int_equal(warnings, more);
        assert_int_equal(strncmp(heard, "look at 0; submit 0; ", 21), 0);
        assert_non_null(strstr(heard, "look at 2; submit 2; "));
    }
    sk_log_unlisten(&listener);
    begin(3, 1);
    how.finder = &finder;
    find_fails = 1;
    (void)run(SK_ERR_FORMAT);
    assert_string_equal(err.message, "nothing is found");
    assert_non_null(strstr(heard, "release 1; "));
    assert_null(strstr(heard, "submit 1; "));
}

/* --- numbers --- */

/* The worst of those that were compared. */
static void comparisons(void **state)
{
    (void)state;
    static const double values[5] = {0.5, 0.999, 0.25, 0.75, 0.1};
    for (int32_t in_flight = 0; in_flight < 2; in_flight++) {
        begin(5, in_flight);
        checked = true;
        for (int i = 0; i < 5; i++)
            checks[i] = (sk_check){.ran = i != 4, .pcc = values[i]};
        (void)run(SK_OK);
        assert_true(report.checked && report.check.ran && report.check.pcc == 0.25);
        begin(5, in_flight);
        checked = true;
        checks[0].ran = checks[1].ran = checks[2].ran = checks[3].ran = false;
        (void)run(SK_OK);
        assert_false(report.checked);
    }
}

/* How long the source kept it waiting, and when the last frame came out. */
static void seconds(void **state)
{
    (void)state;
    stands = true;
    begin(4, 1);
    source.waits_ns = SECOND / 4; /* four frames and the end */
    took = 0.5;
    (void)run(SK_OK);
    assert_true(fabs(report.wait_source - 1.25) < 1e-9);
    assert_true(fabs(report.seconds - 2.5) < 1e-9); /* when the last was taken: four waits, three frames */
    begin(4, 1);
    source.waits_ns = SECOND / 4;
    how.consumers = NULL; /* nobody takes them */
    (void)run(SK_OK);
    assert_true(fabs(report.seconds - 1) < 1e-9);
    begin(1, 1); /* what could not be read is no frame */
    source.info.kind = SK_SOURCE_PICTURES;
    source.n_unreadable = 1;
    source.unreadable[0] = (sk_unreadable){.size = sizeof(sk_unreadable), .name = {'c'}, .index = 7};
    source.waits_ns = SECOND / 4;
    (void)run(SK_OK);
    assert_true(fabs(report.seconds - 0.25) < 1e-9);
    stands = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_one_thread), cmocka_unit_test(whose_failure),
                                       cmocka_unit_test(who_ends_it),   cmocka_unit_test(pictures),
                                       cmocka_unit_test(ids_of_images), cmocka_unit_test(finders),
                                       cmocka_unit_test(comparisons),   cmocka_unit_test(seconds)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_consumers_close(&list);
    return failed;
}
