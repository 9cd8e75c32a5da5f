/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that commands print, of figures made up so that every one can be told from the others. */
#include "said.h"

#include "base/memory.h"
#include "cli/batch_table.h"
#include "cli/eval_table.h"
#include "cli/help.h"
#include "cli/predict_print.h"

static said s;

/* --- eval --- */

static sk_eval_score score(int k)
{
    return (sk_eval_score){.wanted = 10 + k,
                           .found = 20 + k,
                           .precision = k % 3 == 2 ? -1 : 0.01 * k,
                           .recall = 0.02 * k,
                           .ap50 = 0.03 * k,
                           .ap75 = 0.04 * k,
                           .ap = 0.005 * k};
}

static sk_eval_errors errors(int k)
{
    return (sk_eval_errors){.wanted = 30 + k,
                            .measured = 40 + k,
                            .median = 1.25 * k,
                            .mean = 1.5 * k,
                            .p90 = k % 2 ? -1 : 2.5 * k,
                            .median_percent = 0.5 * k,
                            .p90_percent = 0.75 * k,
                            .pck = {0.1 * k, 0.05 * k, -1}};
}

static sk_track_score track(int k)
{
    return (sk_track_score){.truth_tracks = k,
                            .found_tracks = k + 1,
                            .truth = k == 9 ? 0 : k,
                            .mean = {.hota = 0.1, .det_a = 0.2, .ass_a = 0.3, .loc_a = 0.01 * k},
                            .mota = -0.4,
                            .motp = 0.5,
                            .idf1 = 0.6,
                            .idp = 0.7,
                            .idr = 0.8,
                            .switches = 11,
                            .fragments = 12,
                            .mostly_tracked = 13,
                            .mostly_lost = 14};
}

static sk_eval_row row(const char *name, int k)
{
    sk_eval_row r = {.box = score(k), .obb = score(k + 1), .pose = score(k + 2), .points = errors(k)};
    snprintf(r.name, sizeof r.name, "%s", name);
    return r;
}

static void evaluations(void **state)
{
    (void)state;
    sk_eval_row classes[3] = {row("mouse", 4), row("a fly with a very long name", 5), row("nobody", 6)};
    classes[2].box.wanted = classes[2].box.found = 0; /* neither there nor found: no line */
    classes[1].obb.wanted = 0;                        /* one of the two is enough for a line */
    classes[0].obb.found = 0;
    sk_eval_row keypoints[2] = {row("nose", 7), row("tail", 8)};
    sk_yolo_row yolo[3] = {{5, 6, 0.11, 0.12, 0.13, 0.14}, {7, 8, 0.15, 0.16, 0.17, 0.18}, {0}};
    int64_t counts[16];
    for (int i = 0; i < 16; i++)
        counts[i] = 100 + i;
    sk_track_score tracked[3] = {track(3), track(4), track(9)};
    tracked[1].truth = 0, tracked[1].found = 2; /* of the third there is neither */
    const sk_eval_tracks none = {0};
    sk_eval_report r = {.frames = 12,
                        .covered = 11,
                        .compared = SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS,
                        .all = row("all", 3),
                        .n_classes = 3,
                        .classes = classes,
                        .n_keypoints = 2,
                        .keypoints = keypoints,
                        .n_pck = 3,
                        .pck = {0.05, 0.1, 0.2},
                        .yolo_box = {.measured = true,
                                     .all = {9, 10, 0.21, 0.22, 0.23, 0.24},
                                     .classes = yolo,
                                     .n_classes = 3},
                        .yolo_obb = {.measured = true,
                                     .all = {9, 10, 0.25, 0.26, 0.27, 0.28},
                                     .classes = yolo,
                                     .n_classes = 1},
                        .confusion = {3, counts},
                        .tracks = {{true, track(1), tracked}, none, {true, track(2), tracked}, none},
                        .track_distance = 12.5,
                        .length = "the truth's length",
                        .matched = "OKS"};
    sk_text_append(&r.notes, "first\nsecond");
    said_begin(&s);
    sk_cli_print_eval(&r);
    said_end(&s);
    said_is("eval_all", s.out);
    assert_string_equal(s.err, "note: first\nnote: second\n");
    r.covered = 12;
    r.n_classes = r.confusion.n_classes = 1;
    r.compared = SK_HAS_OBB;
    r.tracks[SK_TRACKS_BOX] = r.tracks[SK_TRACKS_POINT] = none;
    said_begin(&s);
    sk_cli_print_eval(&r);
    said_end(&s);
    said_is("eval_one_class", s.out);
    r.compared = 0;
    r.confusion.n_classes = 2;
    said_begin(&s);
    sk_cli_print_eval(&r); /* nothing in common: no tables */
    said_end(&s);
    assert_string_equal(s.out, "12 frames\n");
    r.classified = 77;
    r.top1 = 0.25;
    r.top5 = 0.75;
    r.n_classes = 2;
    said_begin(&s);
    sk_cli_print_eval(&r);
    said_end(&s);
    said_is("eval_classified", s.out);
    static int64_t many[100];
    sk_eval_row nine[9];
    for (int i = 0; i < 9; i++)
        nine[i] = row("class", i);
    r.classes = nine;
    r.confusion = (sk_confusion){8, many};
    said_begin(&s);
    sk_cli_print_eval(&r);
    said_end(&s);
    said_has(s.out, "not found");
    r.confusion.n_classes = 9; /* wider than a terminal */
    said_begin(&s);
    sk_cli_print_eval(&r);
    said_end(&s);
    said_lacks(s.out, "not found");
    sk_text_free(&r.notes);
}

/* --- predict --- */

static sk_predict_report *made_report(void)
{
    static sk_predict_report r;
    r = (sk_predict_report){.frames = 50,
                            .total_frames = 50,
                            .instances = 123,
                            .seconds = 2,
                            .wait_source = 0.1,
                            .pre = 0.2,
                            .network = 0.3,
                            .post = 0.4,
                            .write = 0.5,
                            .decode = 0.6,
                            .runtime = "cpu",
                            .device = "a processor",
                            .precision = "f32",
                            .n_files = 2,
                            .files = {"out/results.csv", "out/run.json"}};
    return &r;
}

static void summary(sk_text *all, const char *title, const sk_predict_report *r, const char *requested)
{
    FILE *file = tmpfile();
    char text[8192];
    assert_non_null(file);
    sk_cli_predict_summary(file, r, requested);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    sk_text_appendf(all, "--- %s\n%s", title, text);
}

static void summaries(void **state)
{
    (void)state;
    sk_text all = {0};
    sk_predict_report *r = made_report();
    summary(&all, "plain", r, "cpu");
    r->overlay = 0.7;
    r->crops = 0.8;
    summary(&all, "overlay and crops", r, "cuda");
    r->stopped = true;
    r->total_frames = 80;
    r->unreadable = 1;
    summary(&all, "stopped, continued, one unreadable", r, "cpu");
    r = made_report();
    r->cached = 20;
    r->unreadable = 2;
    snprintf(r->hwaccel, sizeof r->hwaccel, "vaapi");
    summary(&all, "some known, two unreadable, decoded elsewhere", r, "cpu");
    r->stayed = true;
    r->cached = 50;
    summary(&all, "all known", r, "cpu");
    r = made_report();
    snprintf(r->hwaccel_refused, sizeof r->hwaccel_refused, "no such device");
    r->source = (sk_source_status){.damaged = 1, .dropped = 2, .outages = 3, .reconnects = 4};
    r->seconds = 0;
    r->n_files = 0;
    summary(&all, "refused decoder, damage", r, "cpu");
    snprintf(r->source.last_problem, sizeof r->source.last_problem, "gone");
    r->source.damaged = r->source.dropped = 0;
    summary(&all, "outages", r, "cpu");
    r->source.outages = 0;
    r->source.dropped = 1;
    summary(&all, "dropped", r, "cpu");
    r->source.dropped = 0; /* attempts alone are no news */
    summary(&all, "attempts", r, "cpu");
    r = made_report();
    r->nothing_to_do = true;
    summary(&all, "nothing to do", r, "cpu");
    said_is("predict_summaries", sk_text_get(&all));
    sk_text_free(&all);
}

static void summaries_for_programs(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_text text = {.limit = 1 << 20};
    sk_predict_report *r = made_report();
    r->overlay = 0.7;
    r->crops = 0.8;
    for (int round = 0; round < 3; round++) {
        sk_json j = sk_json_to_text(&text, 2);
        sk_json_object(&j);
        sk_cli_predict_json(&j, r, "cuda");
        sk_json_close(&j);
        assert_ok(sk_json_end(&j, &err), &err);
        sk_text_append(&text, "\n");
        r->cached = 5;
        r->unreadable = 6;
        r->missing = 7;
        r->stopped = true;
        snprintf(r->hwaccel, sizeof r->hwaccel, "vaapi");
        if (round == 1) { /* no frame: nothing is divided by it */
            r->frames = 0;
            r->seconds = 0;
            snprintf(r->hwaccel_refused, sizeof r->hwaccel_refused, "no such device");
        }
    }
    said_is("predict_json", sk_text_get(&text));
    sk_text_free(&text);
}

/* --- batch --- */

static void put_table(sk_text *all, const char *title, sk_batch *b, const sk_batch_status *status,
                      size_t most, int lines)
{
    FILE *file = tmpfile();
    char text[8192];
    assert_non_null(file);
    assert_int_equal(sk_cli_batch_table(file, b, status, most), lines);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    int ends = 0;
    for (const char *c = text; *c; c++)
        ends += *c == '\n';
    assert_int_equal(ends, lines);
    sk_text_appendf(all, "--- %s\n%s", title, text);
}

static void batches(void **state)
{
    (void)state;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", test_folder());
    sk_batch b = {.out = folder};
    char names[3][8] = {"whole", "long", "gone"}, frames[] = "0:100";
    const sk_batch_piece pieces[] = {
        {.number = 0, .kind = SK_BATCH_VIDEO, .name = names[0]},
        {.number = 1, .kind = SK_BATCH_PART, .name = names[1], .frames = frames},
        {.number = 2, .kind = SK_BATCH_MERGE, .name = names[1]},
        {.number = 3, .kind = SK_BATCH_VIDEO, .name = names[2]},
    };
    sk_batch_row rows[4] = {{.piece = &pieces[0], .look = {.state = SK_PIECE_RUNNING, .attempts = 1}},
                            {.piece = &pieces[1], .look = {.state = SK_PIECE_RUNNING, .attempts = 2}},
                            {.piece = &pieces[2], .look = {.state = SK_PIECE_GIVEN_UP, .attempts = 3}},
                            {.piece = &pieces[3], .look = {.state = SK_PIECE_GONE, .attempts = 4}}};
    rows[0].look.holder = (sk_claim_holder){.host = "here", .frames = 7};
    rows[1].look.holder = (sk_claim_holder){.host = "there", .frames = 8, .total = 90, .slurm = "12_3"};
    snprintf(rows[2].look.last.reason, sizeof rows[2].look.last.reason, "it broke");
    snprintf(rows[3].look.last.reason, sizeof rows[3].look.last.reason, "not this");
    snprintf(rows[3].look.why_gone, sizeof rows[3].look.why_gone, "its process is gone");
    sk_batch_status st = {.pieces = 9,
                          .done = 4,
                          .running = 2,
                          .waiting = 3,
                          .lost = 1,
                          .videos = 9,
                          .videos_done = 5,
                          .attempts = 11,
                          .frames = 1000,
                          .frames_now = 24,
                          .frames_expected = -1,
                          .instances = 77,
                          .rows = rows,
                          .n_rows = 4};
    sk_text all = {0};
    put_table(&all, "as many pieces as videos", &b, &st, 4, 6);
    put_table(&all, "too many rows", &b, &st, 3, 6);
    st.pieces = 12;
    st.failed = 1;
    st.videos_incomplete = 2;
    st.attempts_failed = 3;
    put_table(&all, "parts, failures", &b, &st, 1, 4);
    st.attempts_failed = 0;
    st.attempts_lost = 4;
    put_table(&all, "losses", &b, &st, 0, 3);
    said_is("batch_tables", sk_text_get(&all));
    sk_text_free(&all);
    /* a rate is only told where there is one */
    st.n_rows = 0;
    st.frames_expected = 4096;
    st.first_ms = 1;
    sk_text left = {0};
    put_table(&left, "", &b, &st, 0, 2);
    said_has(sk_text_get(&left), ", about ");
    sk_text_clear(&left);
    st.running = 0;
    put_table(&left, "", &b, &st, 0, 2);
    said_lacks(sk_text_get(&left), "about");
    st.running = 1;
    st.frames = st.frames_now = 0;
    put_table(&left, "", &b, &st, 0, 2);
    said_lacks(sk_text_get(&left), "about");
    sk_text_free(&left);
}

static const char *drawn(sk_cli_batch_screen *screen, sk_batch *b, const sk_batch_status *status)
{
    said_begin(&s);
    sk_cli_batch_draw(screen, b, status);
    sk_cli_batch_wipe(screen); /* nothing was drawn over */
    said_end(&s);
    return s.out;
}

/* Where there is no terminal, a line is told when something has changed. */
static void batches_line_by_line(void **state)
{
    (void)state;
    sk_batch b = {.out = (char *)(uintptr_t)test_folder()};
    sk_batch_status st = {.pieces = 3, .videos = 3, .waiting = 3};
    sk_cli_batch_screen screen = {.to = stdout, .done = -1};
    assert_string_equal(drawn(&screen, &b, &st), "0 of 3 videos done, 0 running, 3 waiting\n");
    assert_string_equal(drawn(&screen, &b, &st), "");
    int64_t *const counts[] = {&st.done, &st.failed, &st.attempts_lost, &st.attempts_failed, &st.running};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *counts[i] += 1;
        said_has(drawn(&screen, &b, &st), "of 3 videos done");
        assert_string_equal(drawn(&screen, &b, &st), "");
    }
    st.waiting = 1; /* alone it is no news */
    assert_string_equal(drawn(&screen, &b, &st), "");
    sk_cli_set_verbosity(0);
    st.done++;
    assert_string_equal(drawn(&screen, &b, &st), "");
    sk_cli_set_verbosity(1);
    screen.lines = 3;
    said_begin(&s);
    sk_cli_batch_wipe(&screen);
    said_end(&s);
    assert_string_equal(s.out, "\033[3A\033[J");
    assert_int_equal(screen.lines, 0);
}

/* --- help --- */

static void pages_of_help(void **state)
{
    (void)state;
    static const sk_operand operands[] = {
        {.name = "model",
         .kind = SK_OPTION_FILE,
         .help = "a model whose text is so long that it has to go on in a second line"},
        {.name = "action",
         .kind = SK_OPTION_CHOICE,
         .choices = "list|clean",
         .optional = 1,
         .help = "what to do"},
        {.name = "video",
         .kind = SK_OPTION_FILE,
         .optional = 1,
         .repeat = 1,
         .help = "first\nsecond\n\nthird"},
        {0}};
    static const sk_option options[] = {
        {SK_REAL("conf", "X", 0, 1), .letter = 'c', .fallback = "0.25", .help = "smallest confidence"},
        {SK_INT("count", "N", 1, 1000000000), .help = "or more"},
        {SK_INT("below", "N", 1, 999999999), .help = "to a limit"},
        {SK_INT("offset", "N", -5, 0), .help = "below zero"},
        {SK_INT("any", "N", 0, 0), .help = "without bounds"},
        {SK_CHOICE("seventeen-letters", "WHAT", "a|b"), .help = "just as wide as the column"},
        {SK_CHOICE("eighteen-letters-x", "WHAT", "a|b"), .help = "wider than the column"},
        {SK_TEXT("é", NULL), .repeat = 1,
         .help = "letters of two bytes are one column: ééééééééé ééééééééé ééééééééé é"},
        {0}};
    static const sk_example examples[] = {
        {"skitter try model.pt", "what it does"}, {"skitter try", NULL}, {0}};
    const sk_command whole = {.name = "try",
                              .summary = "a command for tests",
                              .description =
                                  "One paragraph of words, which goes on until it is wider than the eighty "
                                  "columns of a terminal.\n\nAnother one.",
                              .operands = operands,
                              .options = options,
                              .examples = examples};
    const sk_command bare = {.name = "bare", .summary = "nothing", .examples = examples + 1};
    said_begin(&s);
    sk_help_command(stdout, &whole);
    puts("---");
    sk_help_command(stdout, &bare);
    said_end(&s);
    said_is("help", s.out);
    said_lacks(s.out, "Pages called docs/");
    char text[512], small[16];
    sk_help_usage(&whole, text, sizeof text);
    assert_string_equal(text, "MODEL [ACTION] [VIDEO...] [options]");
    sk_help_usage(&bare, text, sizeof text);
    assert_string_equal(text, "[options]");
    sk_help_usage(&whole, small, 14); /* what fits, and an end */
    assert_int_equal(strlen(small), 13);
    assert_string_equal(small, "MODEL [ACTION");
}

static void overview(void **state)
{
    (void)state;
    said_begin(&s);
    sk_help_overview(stdout);
    said_end(&s);
    const char *at = s.out;
    for (const sk_command *const *command = sk_commands; *command; command++) {
        char line[128];
        if (sk_command_heading(*command)) {
            snprintf(line, sizeof line, "\n%s:\n", sk_command_heading(*command));
            at = strstr(at, line);
            assert_non_null(at);
        }
        snprintf(line, sizeof line, "\n  %-12.10s", (*command)->name);
        if (!(at = strstr(at, line)))
            fail_msg("no line for %s", (*command)->name);
    }
    said_has(s.out, "\n'skitter COMMAND --help' explains a command, with examples.\n");
}

/* --- errors and remarks --- */

static const char *shown_error(sk_status code, const char *text)
{
    sk_error err = {.code = code};
    snprintf(err.message, sizeof err.message, "%s", text);
    said_begin(&s);
    sk_cli_print_error(&err);
    said_end(&s);
    assert_string_equal(s.out, "");
    return s.err;
}

static char heard[256];
static void hear(const char *text)
{
    snprintf(heard, sizeof heard, "%s", text);
}

static void errors_and_remarks(void **state)
{
    (void)state;
    assert_string_equal(shown_error(SK_ERR_ARG, "wrong"), "skitter: error: wrong\n");
    assert_string_equal(shown_error(SK_ERR_ARG, "wrong\ndo this\n\nor that\n"),
                        "skitter: error: wrong\n  hint: do this\n  hint: or that\n");
    assert_string_equal(shown_error(SK_ERR_ARG, "needs max_pixels\nor"),
                        "skitter: error: needs max_pixels\n  hint: --max-pixels N sets it\n  hint: or\n");
    assert_string_equal(
        shown_error(SK_ERR_ARG, "a smaller image size or batch"),
        "skitter: error: a smaller image size or batch\n  hint: --imgsz and --batch set them\n");
    assert_string_equal(shown_error(SK_ERR_ARG, "x is a model and no source"),
                        "skitter: error: x is a model and no source\n  hint: --model takes it\n");
    char code[256];
    snprintf(code, sizeof code, "skitter: error: %s\n", sk_status_text(SK_ERR_MEMORY));
    assert_string_equal(shown_error(SK_ERR_MEMORY, ""), code);
    said_begin(&s);
    sk_cli_on_warning(hear);
    sk_cli_warn("%d of %s", 1, "them");
    sk_cli_set_verbosity(0);
    sk_cli_warn("quiet %d", 2);
    sk_cli_say("quiet");
    sk_cli_on_warning(NULL);
    sk_cli_set_verbosity(1);
    sk_cli_say("said %s", "so");
    sk_cli_warn("last");
    said_end(&s);
    assert_string_equal(s.err, "skitter: warning: 1 of them\nsaid so\nskitter: warning: last\n");
    assert_string_equal(heard, "quiet 2");
    static const struct {
        sk_status status;
        int code;
    } codes[] = {{SK_OK, 0},
                 {SK_ERR_ARG, 2},
                 {SK_ERR_UNSUPPORTED, 3},
                 {SK_ERR_INCOMPLETE, 4},
                 {SK_ERR_CANCELLED, 130},
                 {SK_ERR_IO, 1},
                 {SK_ERR_MEMORY, 1},
                 {SK_ERR_FORMAT, 1}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_int_equal(sk_cli_exit_code(codes[i].status), codes[i].code);
    sk_cli_set_program("build/skitter");
    assert_string_equal(sk_cli_program(), "build/skitter");
    sk_cli_set_program("s");
    assert_string_equal(sk_cli_program(), "s");
    sk_cli_set_program("");
    assert_string_equal(sk_cli_program(), "skitter");
    sk_cli_set_program(NULL);
    assert_string_equal(sk_cli_program(), "skitter");
    FILE *file = tmpfile();
    assert_int_equal(sk_cli_width(file), 80);
    assert_string_equal(sk_cli_style(file, SK_STYLE_RED), "");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluations),
        cmocka_unit_test(summaries),
        cmocka_unit_test(summaries_for_programs),
        cmocka_unit_test(batches),
        cmocka_unit_test(batches_line_by_line),
        cmocka_unit_test(pages_of_help),
        cmocka_unit_test(overview),
        cmocka_unit_test(errors_and_remarks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
