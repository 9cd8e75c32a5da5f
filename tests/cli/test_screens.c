/* SPDX-License-Identifier: Apache-2.0 */
/* A batch's table on a terminal: drawn over what was drawn before. */
#include "terminal.h"

#include "base/clock.h"
#include "cli/batch_table.h"

static void drawn_over(void **state)
{
    (void)state;
    static terminal screen;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", test_folder());
    sk_batch b = {.out = folder};
    char name[] = "film";
    const sk_batch_piece piece = {.number = 0, .kind = SK_BATCH_VIDEO, .name = name};
    static sk_batch_row rows[20];
    for (int i = 0; i < 20; i++)
        rows[i] = (sk_batch_row){.piece = &piece, .look = {.state = SK_PIECE_RUNNING, .attempts = 1}};
    sk_batch_status status = {.pieces = 20, .videos = 20, .running = 20, .rows = rows, .n_rows = 2};
    sk_cli_batch_screen c = {.to = stdout, .done = -1};
    terminal_begin(&screen, 1);
    sk_cli_batch_draw(&c, &b, &status);
    const int first = c.lines;
    sk_cli_batch_draw(&c, &b, &status); /* also where nothing has changed: times have */
    status.n_rows = 20;                 /* more than are shown: 16, and a line that says so */
    sk_cli_batch_draw(&c, &b, &status);
    const int most = c.lines;
    sk_cli_batch_wipe(&c);
    sk_cli_batch_wipe(&c); /* nothing is left to wipe */
    terminal_end(&screen);
    assert_int_equal(first, 4);
    assert_int_equal(most, 19);
    assert_int_equal(c.lines, 0);
    int wiped[3] = {0};
    for (const char *at = screen.text; (at = strstr(at, "\033[")); at++) {
        wiped[0] += strncmp(at, "\033[4A\033[J", 7) == 0;
        wiped[1] += strncmp(at, "\033[19A\033[J", 8) == 0;
    }
    assert_int_equal(wiped[0], 2);
    assert_int_equal(wiped[1], 1);
    said_has(screen.text, "0 of 20 videos done, 20 running");
    said_has(screen.text, "  … and 4 more: skitter batch status --json\n");
    sk_cli_set_verbosity(0);
    terminal_begin(&screen, 1);
    sk_cli_batch_draw(&c, &b, &status);
    terminal_end(&screen);
    sk_cli_set_verbosity(1);
    assert_string_equal(screen.text, "");
}

/* How long it will take, by what was seen so far. The clock runs on while the test does: the numbers leave room for it. */
static void time_left(void **state)
{
    (void)state;
    char folder[4096], text[1024];
    snprintf(folder, sizeof folder, "%s", test_folder());
    sk_batch b = {.out = folder};
    static const struct {
        int64_t frames, now, expected, ago_s, running;
        const char *words;
    } cases[] = {
        /* a quarter in 50 hours: three times as long again */
        {90, 10, 400, 50 * 3600, 1, ", about 6 d 6 h left"},
        {1, 0, 4, 50 * 3600, 1, ", about 6 d 6 h left"}, /* one frame is enough */
        {0, 1, 4, 50 * 3600, 1, ", about 6 d 6 h left"},
        {0, 0, 4, 50 * 3600, 1, NULL},
        {1, 0, 4, 50 * 3600, 0, NULL},
        {1, 0, -1, 50 * 3600, 1, NULL},
        {1, 0, 0, 50 * 3600, 1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_batch_status status = {.pieces = 2,
                                        .videos = 2,
                                        .running = cases[i].running,
                                        .frames = cases[i].frames,
                                        .frames_now = cases[i].now,
                                        .frames_expected = cases[i].expected,
                                        .first_ms = sk_clock_wall_ms() - 1000 * cases[i].ago_s};
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_int_equal(sk_cli_batch_table(file, &b, &status, 0), 2);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        if (cases[i].words)
            said_has(text, cases[i].words);
        else
            said_lacks(text, "about");
    }
}

int main(void)
{
    setenv("TERM", "xterm", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_over), cmocka_unit_test(time_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
