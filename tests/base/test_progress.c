/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/memory.h"
#include "base/progress.h"
#include "support/recorded.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t fake_now;
static int64_t fake_clock(void)
{
    return fake_now;
}

/* What a job of `total` frames at 200 a second writes. The text must be freed. */
static char *run_job(sk_progress_mode mode, int64_t total, int64_t said_total, int32_t width)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    sk_progress_settings settings = sk_progress_defaults();
    settings.stream = stream;
    settings.mode = mode;
    settings.label = "predict";
    settings.unit = "frames";
    settings.total = said_total;
    settings.width = width;
    settings.now = fake_clock;
    sk_progress *progress = NULL;
    sk_error err = {0};
    fake_now = 1000;
    assert_ok(sk_progress_open(&settings, &progress, &err), &err);
    for (int64_t i = 1; i <= total; i++) {
        fake_now += 5000000;
        sk_progress_update(progress, i, "3 animals");
    }
    sk_progress_close(&progress);
    assert_null(progress);
    fclose(stream);
    return text;
}

static int count(const char *text, const char *what)
{
    int found = 0;
    for (const char *p = strstr(text, what); p; p = strstr(p + 1, what))
        found++;
    return found;
}

static void bar(void **state)
{
    (void)state;
    char *text = run_job(SK_PROGRESS_BAR, 400, 400, 100); /* two seconds */
    int drawn = count(text, "\r\033[K");
    assert_in_range(drawn, 15, 22); /* ten a second, and the removal */
    assert_non_null(strstr(text, "predict  50% ["));
    assert_non_null(strstr(text, "200/s"));
    assert_non_null(strstr(text, "left, 3 animals"));
    assert_string_equal(text + strlen(text) - 4, "\r\033[K"); /* cleaned up */
    assert_null(strchr(text, '\n'));
    free(text);
    text = run_job(SK_PROGRESS_BAR, 1, 1, 100); /* one is a number, too */
    assert_non_null(strstr(text, "predict 100% [########"));
    free(text);
    text = run_job(SK_PROGRESS_JSON, 1, 1, 100);
    assert_non_null(strstr(text, "\"total\":1"));
    free(text);
    text = run_job(SK_PROGRESS_JSON, 1, 0, 100);
    assert_non_null(strstr(text, "\"total\":null"));
    free(text);
    text = run_job(SK_PROGRESS_BAR, 3, 0, 100); /* nobody knows how many */
    assert_null(strchr(text, '%'));
    free(text);
}

static void bar_fits_any_width(void **state)
{
    (void)state;
    for (int32_t width = 1; width < 130; width++) {
        char *text = run_job(SK_PROGRESS_BAR, 100, 100, width);
        for (char *line = strtok(text, "\r"); line; line = strtok(NULL, "\r")) {
            assert_memory_equal(line, "\033[K", 3);
            assert_true(strlen(line) - 3 <= (size_t)width);
        }
        free(text);
    }
}

static void lines(void **state)
{
    (void)state;
    char *text =
        run_job(SK_PROGRESS_LINES, 2400, 2400, 0); /* twelve seconds: lines at 5 and 10, and the last */
    assert_int_equal(count(text, "\n"), 3);
    assert_non_null(strstr(text, "predict: 1000/2400 frames, 200/s, 0:07 left, 3 animals\n"));
    assert_non_null(strstr(text, "predict: 2400 frames in 12 s, 200.0/s\n"));
    free(text);
    text = run_job(SK_PROGRESS_LINES, 1200, 0, 0);
    assert_non_null(strstr(text, "predict: 1000 frames, 200/s, 3 animals\n"));
    free(text);
}

/* A job with a clock of its own: the last word tells that one's time. */
static void tells_the_jobs_own_time(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    sk_progress_settings settings = sk_progress_defaults();
    settings.stream = stream;
    settings.mode = SK_PROGRESS_LINES;
    settings.unit = "frames";
    settings.now = fake_clock;
    sk_progress *progress = NULL;
    sk_error err = {0};
    fake_now = 1000;
    assert_ok(sk_progress_open(&settings, &progress, &err), &err);
    fake_now += 1000000000;
    sk_progress_update(progress, 90, NULL);
    sk_progress_set_seconds(progress, 3.0);
    fake_now += 1000000000; /* closing files */
    sk_progress_close(&progress);
    fclose(stream);
    assert_string_equal(text, "90 frames in 3.0 s, 30.0/s\n");
    free(text);
}

static void json_lines(void **state)
{
    (void)state;
    char *text = run_job(SK_PROGRESS_JSON, 2400, 2400, 0);
    int found = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), found++) {
        json_t *root = json_loads(line, 0, NULL);
        assert_non_null(root);
        assert_string_equal(json_string_value(json_object_get(root, "label")), "predict");
        assert_string_equal(json_string_value(json_object_get(root, "event")),
                            found < 2 ? "progress" : "done");
        assert_int_equal(json_integer_value(json_object_get(root, "total")), 2400);
        assert_true(json_number_value(json_object_get(root, "rate")) > 190);
        json_decref(root);
    }
    assert_int_equal(found, 3);
    free(text);
}

static void none_is_silent_and_auto_is_lines_off_a_terminal(void **state)
{
    (void)state;
    char *text = run_job(SK_PROGRESS_NONE, 2400, 2400, 0);
    assert_string_equal(text, "");
    free(text);
    text = run_job(SK_PROGRESS_AUTO, 1200, 1200, 0);
    assert_int_equal(count(text, "\n"), 2);
    assert_null(strchr(text, '\033'));
    free(text);
}

static void nothing_done_tells_nothing(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    sk_progress_settings settings = sk_progress_defaults();
    settings.stream = open_memstream(&text, &bytes);
    settings.mode = SK_PROGRESS_LINES;
    sk_progress *progress = NULL;
    sk_error err = {0};
    assert_ok(sk_progress_open(&settings, &progress, &err), &err);
    sk_progress_update(progress, 0, NULL);
    sk_progress_close(&progress);
    fclose(settings.stream);
    assert_int_equal(bytes, 0);
    free(text);
}

static void hide_and_grow(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    sk_progress_settings settings = sk_progress_defaults();
    settings.stream = open_memstream(&text, &bytes);
    settings.mode = SK_PROGRESS_BAR;
    settings.width = 80;
    settings.now = fake_clock;
    sk_progress *progress = NULL;
    sk_error err = {0};
    assert_ok(sk_progress_open(&settings, &progress, &err), &err);
    sk_progress_hide(progress); /* nothing there yet */
    fflush(settings.stream);
    assert_int_equal(bytes, 0);
    sk_progress_update(progress, 1, NULL);
    sk_progress_hide(progress);
    sk_progress_set_total(progress, 10);
    sk_progress_update(progress, 5, NULL); /* at once, though no time has passed */
    sk_progress_close(&progress);
    fclose(settings.stream);
    assert_non_null(strstr(text, "5/10 items"));
    free(text);
    settings.stream = NULL;
    assert_int_equal(sk_progress_open(&settings, &progress, &err), SK_ERR_ARG);
}

static sk_status open_and_close(void *context, sk_error *err)
{
    sk_progress_settings settings = sk_progress_defaults();
    settings.stream = context;
    settings.mode = SK_PROGRESS_LINES;
    sk_progress *progress = NULL;
    SK_TRY(sk_progress_open(&settings, &progress, err));
    sk_progress_close(&progress);
    return SK_OK;
}

/* What a job writes, letter by letter: `each` frames every `ms` milliseconds, `times` times. */
static void tell_job(const char *name, sk_progress_settings settings, int64_t each, int ms, int times,
                     double told, const char *note)
{
    char *text = NULL;
    size_t bytes = 0;
    sk_progress *progress = NULL;
    sk_error err = {0};
    settings.stream = open_memstream(&text, &bytes);
    settings.now = fake_clock;
    fake_now = 123456789;
    assert_ok(sk_progress_open(&settings, &progress, &err), &err);
    for (int i = 1; i <= times; i++) {
        fake_now += ms * INT64_C(1000000);
        sk_progress_update(progress, i * each, i % 2 ? note : NULL);
        if (i == 3)
            sk_progress_hide(progress);
        if (i == 5 && settings.total)
            sk_progress_set_total(progress, settings.total + 100);
    }
    if (told > 0)
        sk_progress_set_seconds(progress, told);
    fake_now += 70000000;
    sk_progress_close(&progress);
    fclose(settings.stream);
    recorded_say("%s", name);
    for (char *c = text; *c; c++)
        *c = *c == '\033' ? '^' : *c;
    for (char *at = text; *at;) { /* a line for each time something was written */
        size_t n = strcspn(at + 1, "\r\n") + 1;
        recorded_say("  %s%.*s", *at == '\r' ? "again " : "", (int)(n - (*at == '\r' || *at == '\n')),
                     at + (*at == '\r' || *at == '\n'));
        at += n;
    }
    free(text);
}

static void words_and_bars(void **state)
{
    (void)state;
    sk_progress_settings s = sk_progress_defaults();
    s.label = "predict";
    s.unit = "frames";
    s.total = 1000;
    for (int mode = SK_PROGRESS_BAR; mode <= SK_PROGRESS_NONE; mode++) {
        s.mode = (sk_progress_mode)mode;
        s.width = 0; /* no terminal says how wide it is: 80 */
        s.line_seconds = 2;
        tell_job("fast", s, 50, 700, 12, 0, "3 animals");
        tell_job("slow, of its own time", s, 1, 1900, 12, 25.5, "warten wir’s ab");
        s.total = 0;
        tell_job("nobody knows how many", s, 40, 260, 9, 0, NULL);
        s.total = 100; /* and more come than were said */
        s.label = "";
        tell_job("without a label", s, 30, 500, 8, 0, "");
        s.label = "predict";
        s.total = 1000;
        tell_job("nothing", s, 0, 500, 6, 0, "waiting");
    }
    s.mode = SK_PROGRESS_BAR;
    static const int widths[] = {1, 2, 8, 9, 20, 45, 46, 47, 48, 52, 58, 100, 200};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char name[40];
        s.width = widths[i];
        snprintf(name, sizeof name, "%d columns", widths[i]);
        tell_job(name, s, 70, 110, 4, 0, "Tür");
    }
    recorded_check("tests/fixtures/base/progress.txt");
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    assert_int_equal(test_every_allocation(open_and_close, nowhere), 3);
    fclose(nowhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar),
        cmocka_unit_test(bar_fits_any_width),
        cmocka_unit_test(lines),
        cmocka_unit_test(tells_the_jobs_own_time),
        cmocka_unit_test(json_lines),
        cmocka_unit_test(none_is_silent_and_auto_is_lines_off_a_terminal),
        cmocka_unit_test(nothing_done_tells_nothing),
        cmocka_unit_test(hide_and_grow),
        cmocka_unit_test(words_and_bars),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
