/* SPDX-License-Identifier: Apache-2.0 */
/* What the page shows of the commands is what the commands take. */
#include "support/test.h"

#include "base/memory.h"
#include "cli/command.h"
#include "cli/serve_door.h"
#include "formats/config.h"

#include <string.h>

static sk_config *options_of(const char *command)
{
    sk_error err = {0};
    sk_text text = {.limit = 1 << 20};
    sk_config *config = NULL;
    sk_json j = sk_json_to_text(&text, 0);
    sk_json_array(&j);
    assert_true(sk_cli_serve_doors.options(command, &j));
    sk_json_close(&j);
    assert_ok(sk_json_end(&j, &err), &err);
    assert_ok(sk_config_open_json(sk_text_get(&text), strlen(sk_text_get(&text)), command, &config, &err),
              &err);
    sk_text_free(&text);
    return config;
}

static const sk_config_value *option(const sk_config *options, const char *name)
{
    const sk_config_value *list = sk_config_root(options);
    for (size_t i = 0; i < sk_config_count(list); i++)
        if (strcmp(sk_config_text(sk_config_get(sk_config_at(list, i), "name")), name) == 0)
            return sk_config_at(list, i);
    return NULL;
}

static void test_every_option_is_told(void **state)
{
    (void)state;
    static const char *const commands[] = {"track", "predict"};
    for (size_t c = 0; c < 2; c++) {
        sk_config *told = options_of(commands[c]);
        for (const sk_option *o = sk_command_find(commands[c])->options; o->name; o++) {
            const sk_config_value *one = option(told, o->name);
            assert_non_null(one);
            assert_string_equal(sk_config_text(sk_config_get(one, "help")), o->help);
            const char *usual = sk_config_text(sk_config_get(one, "default"));
            assert_true(o->fallback ? usual && strcmp(usual, o->fallback) == 0 : !usual);
        }
        sk_config_close(&told);
    }
    static const char *const kinds[] = {
        [SK_OPTION_FLAG] = "flag",    [SK_OPTION_TEXT] = "text",     [SK_OPTION_INT] = "int",
        [SK_OPTION_REAL] = "real",    [SK_OPTION_CHOICE] = "choice", [SK_OPTION_FILE] = "file",
        [SK_OPTION_FOLDER] = "folder"};
    for (const sk_command *const *command = sk_commands; *command; command++) {
        sk_config *told = options_of((*command)->name);
        for (const sk_option *o = (*command)->options; o && o->name; o++) {
            const sk_config_value *one = option(told, o->name);
            double least = 1e300, most = -1e300;
            const bool bounded = o->min != 0 || o->max != 0;
            char choices[512] = "";
            assert_non_null(one);
            assert_string_equal(sk_config_text(sk_config_get(one, "kind")), kinds[o->kind]);
            assert_int_equal(sk_config_to_real(sk_config_get(one, "min"), &least), bounded);
            assert_int_equal(sk_config_to_real(sk_config_get(one, "max"), &most), bounded);
            if (bounded)
                if (least != o->min || most != o->max)
                    fail_msg("%s: %.17g %.17g, not %.17g %.17g", o->name, least, most, o->min, o->max);
            const sk_config_value *list = sk_config_get(one, "choices");
            for (size_t i = 0; i < sk_config_count(list); i++)
                snprintf(choices + strlen(choices), sizeof choices - strlen(choices), "%s%s", i ? "|" : "",
                         sk_config_text(sk_config_at(list, i)));
            assert_string_equal(choices, o->choices ? o->choices : "");
            char kind = sk_cli_serve_doors.kind((*command)->name, o->name);
            assert_int_equal(kind, o->kind == SK_OPTION_FLAG     ? '-'
                                   : o->kind == SK_OPTION_FILE   ? 'f'
                                   : o->kind == SK_OPTION_FOLDER ? 'd'
                                                                 : 'v');
            const char *usual = sk_cli_serve_doors.fallback((*command)->name, o->name);
            assert_true(usual == o->fallback);
            if (o->also)
                assert_int_equal(sk_cli_serve_doors.kind((*command)->name, o->also), 0);
        }
        sk_config_close(&told);
    }
    assert_int_equal(sk_cli_serve_doors.kind("nonsense", "conf"), 0);
    assert_int_equal(sk_cli_serve_doors.kind("track", "nonsense"), 0);
    assert_null(sk_cli_serve_doors.fallback("nonsense", "conf"));
    assert_null(sk_cli_serve_doors.fallback("track", "nonsense"));
    sk_config *track = options_of("track");
    const sk_config_value *conf = option(track, "conf"), *tracker = option(track, "tracker");
    assert_string_equal(sk_config_text(sk_config_get(conf, "kind")), "real");
    assert_string_equal(sk_config_text(sk_config_at(sk_config_get(conf, "needs"), 0)), "yolo");
    assert_int_equal(sk_config_count(sk_config_get(tracker, "choices")), 3);
    assert_string_equal(sk_config_text(sk_config_at(sk_config_get(tracker, "choices"), 1)), "bytetrack");
    sk_config_close(&track);
}

static void test_words_are_checked_as_the_command_line_does(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *const good[] = {"a.mp4", "-m", "b.pt", "--conf", "0.5"};
    const char *const bad[] = {"a.mp4", "--conf", "7"};
    assert_ok(sk_cli_serve_doors.check("track", 5, good, &err), &err);
    assert_int_equal(sk_cli_serve_doors.check("track", 3, bad, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "--conf"));
    assert_int_equal(sk_cli_serve_doors.check("rm", 0, bad, &err), SK_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option_is_told),
        cmocka_unit_test(test_words_are_checked_as_the_command_line_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
