/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "cli/foreign.h"
#include "cli/unknown.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* People come with the words of the programs they know. Every row of the table is tried as they would type it. */

static const char *refusal(const char *command, int argc, const char *const *argv)
{
    static sk_error err;
    sk_args *args = NULL;
    err = (sk_error){0};
    assert_int_equal(sk_args_parse(sk_command_find(command), argc, argv, &args, &err), SK_ERR_ARG);
    assert_null(args);
    return err.message;
}

static void expect(const char *part, const char *whole)
{
    if (!strstr(whole, part))
        fail_msg("'%s' is not in: %s", part, whole);
}

/* Every option that a row tells people to write must be one of predict's or of track's. */
static void check_written(const sk_foreign *row)
{
    const sk_command *predict = sk_command_find("predict"), *track = sk_command_find("track");
    for (const char *at = row->write; (at = strstr(at, "--")); at += 2)
        if (!sk_command_option(predict, at + 2, strcspn(at + 2, " ")) &&
            !sk_command_option(track, at + 2, strcspn(at + 2, " ")))
            fail_msg("%s: '%s' is no option of predict or track", row->word, at);
}

static void every_option_gets_its_word(void **state)
{
    (void)state;
    const sk_command *predict = sk_command_find("predict");
    for (const sk_foreign *row = sk_foreign_options; row->word; row++) {
        if (!row->write && !row->say)
            fail_msg("%s: the row says nothing", row->word);
        if (row->write)
            check_written(row);
        size_t length = strlen(row->word);
        if (length == 1)
            continue;
        if (sk_command_option(predict, row->word, length)) { /* ours as well, with the same meaning */
            char capital[80], meant[96];
            snprintf(capital, sizeof capital, "--%c%s", toupper((unsigned char)row->word[0]), row->word + 1);
            snprintf(meant, sizeof meant, "did you mean '--%s'?", row->word);
            const char *argv[] = {"a.mp4", capital};
            expect(meant, refusal("predict", 2, argv));
            continue;
        }
        char dashed[80], scored[80];
        snprintf(dashed, sizeof dashed, "--%s=7", row->word);
        snprintf(scored, sizeof scored, "--%s", row->word);
        for (char *c = scored + 2; *c; c++)
            *c = *c == '-' ? '_' : *c;
        const char *spellings[] = {dashed, scored};
        for (int i = 0; i < 2; i++) {
            const char *argv[] = {"a.mp4", spellings[i]};
            const char *text = refusal("predict", 2, argv);
            if (row->say)
                expect(row->say, text);
            if (row->write && row->write[0] == '-') {
                char option[64];
                snprintf(option, sizeof option, "write '%.*s", (int)strcspn(row->write, " "), row->write);
                expect(option, text);
            }
        }
    }
}

static void every_row_is_there_once(void **state)
{
    (void)state;
    const sk_foreign *tables[] = {sk_foreign_options, sk_foreign_commands};
    for (int t = 0; t < 2; t++)
        for (const sk_foreign *row = tables[t]; row->word; row++) {
            assert_ptr_equal(sk_foreign_find(tables[t], row->word, strlen(row->word)), row);
            for (const char *c = row->word; *c; c++)
                assert_true(!isupper((unsigned char)*c) && *c != '_');
        }
}

static void every_command_gets_its_word(void **state)
{
    (void)state;
    for (const sk_foreign *row = sk_foreign_commands; row->word; row++) {
        sk_error err = {0};
        assert_null(sk_command_find(row->word));
        const char *argv[] = {row->word};
        assert_int_equal(sk_cli_unknown_command(row->word, 1, argv, &err), SK_ERR_ARG);
        if (row->write) {
            assert_non_null(sk_command_find(row->write));
            expect(row->write, err.message);
        }
        if (row->say)
            expect(row->say, err.message);
    }
}

typedef struct line {
    const char *argv[8];
    const char *expected;
} line;

static void what_people_type(void **state)
{
    (void)state;
    static const line lines[] = {
        {{"a.mp4", "--device", "0"}, "write '--runtime cuda --devices cuda:0'"},
        {{"a.mp4", "--device", "0,1"}, "write '--runtime cuda --devices cuda:0,cuda:1'"},
        {{"a.mp4", "--device=cpu"}, "write '--runtime cpu'"},
        {{"a.mp4", "--half"}, "write '--precision f16'"},
        {{"a.mp4", "--save-txt"}, "write '--format labels'"},
        {{"a.mp4", "--vid-stride", "5"}, "write '--frames ::5'"},
        {{"a.mp4", "--vid_stride"}, "write '--frames ::N'"},
        {{"a.mp4", "--vid_stride", "-5"}, "write '--frames ::N'"},
        {{"a.mp4", "--vid_stride=5"}, "write '--frames ::5'"},
        {{"--data_path", "a-b.mp4"}, "write 'a-b.mp4'"},
        {{"--data_path", "it's.mp4"}, "write ''it'\\''s.mp4''"},
        {{"a.mp4", "--device", "cuda:1"}, "write '--runtime cuda --devices cuda:1'"},
        {{"a.mp4", "--device", "cuda"}, "write '--runtime cuda'"},
        {{"a.mp4", "--device", "mps"}, "write '--runtime mps'"},
        {{"a.mp4", "--device", "[0, 12]"}, "write '--runtime cuda --devices cuda:0,cuda:12'"},
        {{"a.mp4", "--device"}, "write '--runtime …'"},
        {{"a.mp4", "--PEAK-threshold", "0.3"}, "did you mean '--peak-threshold'"},
        {{"a.mp4", "model=y.pt", "agnostic=True", "save_crops=False"},
         "skitter predict a.mp4 --model y.pt --agnostic"},
        {{"a.mp4", "model=y.pt", "classes=None", "show=True"}, "skitter predict a.mp4 --model y.pt"},
        {{"a.mp4", "--SAVE_OVERLAY"}, "did you mean '--save-overlay'?"},
        {{"a.mp4", "--CONF", "0.3"}, "did you mean '--conf'?"},
        {{"a.mp4", "--show"}, "--save-overlay"},
        {{"a.mp4", "--peak_threshold", "0.3"}, "did you mean '--peak-threshold'"},
        {{"--data_path", "a.mp4"}, "write 'a.mp4'"},
        {{"a.mp4", "--batch_size", "8"}, "write '--batch 8'"},
        {{"a.mp4", "--tracking"}, "'skitter track'"},
        {{"a.mp4", "--cpu"}, "write '--runtime cpu'"},
        {{"a.mp4", "-n", "2"}, "write '--max-instances 2'"},
        {{"a.mp4", "--thresold"}, "--help"},
        {{"a.mp4", "--formt", "csv"}, "did you mean '--format'"},
        {{"source=my flies.mp4", "model=y.pt", "conf=0.25", "half=True", "show=False", "device=0"},
         "skitter predict 'my flies.mp4' --model y.pt --conf 0.25 --precision f16 --runtime cuda --devices "
         "cuda:0"},
        {{"a.mp4", "--save_crop"}, "write '--save-crops'"},
        {{"a.mp4", "--no_empty_frames"}, "write '--no-empty'"},
        {{"a.mp4", "model=y.pt", "rect=True", "nms=False", "save_crop=True"},
         "skitter predict a.mp4 --model y.pt --rect on --nms off --save-crops"},
        {{"model=y.pt", "source=a.mp4", "vid_stride=2", "tracker=bytetrack.yaml"},
         "skitter predict --model y.pt a.mp4 --frames ::2\n'skitter track --tracker bytetrack'"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int argc = 0;
        while (argc < 8 && lines[i].argv[argc])
            argc++;
        expect(lines[i].expected, refusal("predict", argc, lines[i].argv));
    }
}

static void other_commands_ask_the_same_table(void **state)
{
    (void)state;
    const char *argv[] = {"m.pt", "--device", "cpu"}, *formats[] = {"m.pt", "--save_txt"};
    expect("write '--runtime cpu'", refusal("bench", 3, argv));
    expect("(an option of 'skitter predict')", refusal("info", 2, formats));
}

static void ultralytics_command_lines(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *argv[] = {"detect", "predict", "model=y.pt", "source=a.mp4"};
    assert_int_equal(sk_cli_unknown_command("detect", 4, argv, &err), SK_ERR_ARG);
    expect("write: skitter predict --model y.pt a.mp4", err.message);
    const char *bare[] = {"source=a.mp4", "model=y.pt"};
    assert_int_equal(sk_cli_unknown_command("source=a.mp4", 2, bare, &err), SK_ERR_ARG);
    expect("write: skitter predict a.mp4 --model y.pt", err.message);
    const char *track[] = {"model=y.pt", "source=a.mp4"};
    expect("write: skitter track --model y.pt a.mp4", refusal("track", 2, track));
    const char *sleap[] = {"sleap-track", "a.mp4"};
    assert_int_equal(sk_cli_unknown_command("sleap-track", 2, sleap, &err), SK_ERR_ARG);
    expect("skitter track", err.message);
    /* theirs measures a model, ours the results of one: the truth is what both name */
    const char *val[] = {"detect", "val", "model=y.pt", "data=d.yaml", "imgsz=640", "conf=0.1"};
    assert_int_equal(sk_cli_unknown_command("detect", 6, val, &err), SK_ERR_ARG);
    expect("write: skitter eval RUN d.yaml --conf 0.1\n", err.message);
    assert_int_equal(sk_cli_unknown_command("val", 5, val + 1, &err), SK_ERR_ARG);
    expect("write: skitter eval RUN d.yaml --conf 0.1\n", err.message);
    const char *half[] = {"run1", "data=d.yaml"};
    expect("write: skitter eval run1 d.yaml", refusal("eval", 2, half));
    const char *train[] = {"pose", "train", "model=y.pt"};
    assert_int_equal(sk_cli_unknown_command("pose", 3, train, &err), SK_ERR_ARG);
    expect("trains nothing", err.message);
}

static void a_name_with_an_equals_sign_is_a_name(void **state)
{
    (void)state;
    const char *argv[] = {"temp=37,dose=2.mp4", "-m", "m.pt"}; /* nobody's key */
    sk_args *args = NULL;
    sk_error err = {0};
    assert_ok(sk_args_parse(sk_command_find("predict"), 3, argv, &args, &err), &err);
    sk_args_close(&args);
    assert_int_equal(chdir(test_folder()), 0);
    static const char *const pairs[] = {"conf=0.5", "source=x"}, *const none[] = {"=x", "co-nf=0.5", "conf",
                                                                                  "a b=1"};
    for (int i = 0; i < 2; i++)
        assert_true(sk_foreign_is_pair(sk_command_find("predict"), pairs[i]));
    for (int i = 0; i < 4; i++)
        assert_false(sk_foreign_is_pair(sk_command_find("predict"), none[i]));
    FILE *file = fopen("conf=0.5", "w"); /* a file that is called so */
    assert_non_null(file);
    fclose(file);
    assert_false(sk_foreign_is_pair(sk_command_find("predict"), "conf=0.5"));
}

static void words_that_are_no_commands(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *near[] = {"predit"}, *far[] = {"zzzzzzzzzz"}, *file[] = {"film.of.flies"};
    assert_int_equal(sk_cli_unknown_command("predit", 1, near, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "there is no command 'predit'\ndid you mean 'skitter predict'?");
    assert_int_equal(sk_cli_unknown_command("zzzzzzzzzz", 1, far, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "there is no command 'zzzzzzzzzz'\n'skitter help' lists them");
    FILE *made = fopen(file[0], "w");
    assert_non_null(made);
    fclose(made);
    assert_int_equal(sk_cli_unknown_command(file[0], 1, file, &err), SK_ERR_ARG);
    assert_string_equal(
        err.message,
        "'film.of.flies' is a file, not a command\n'skitter info film.of.flies' says what it holds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_gets_its_word),           cmocka_unit_test(every_row_is_there_once),
        cmocka_unit_test(every_command_gets_its_word),          cmocka_unit_test(what_people_type),
        cmocka_unit_test(other_commands_ask_the_same_table),    cmocka_unit_test(ultralytics_command_lines),
        cmocka_unit_test(a_name_with_an_equals_sign_is_a_name), cmocka_unit_test(words_that_are_no_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
