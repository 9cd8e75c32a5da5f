/* SPDX-License-Identifier: Apache-2.0 */
/* Options that several commands share, against what they mean: a row a value, at every command that has the option. */
#include "support/test.h"

#include "cli/command.h"
#include "cli/network_options.h"

#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *option, *value; /* null value: not given */
    int want;
} row;

static int heads(const sk_args *args)
{
    return (int)sk_cli_heads(args);
}

static int rect(const sk_args *args)
{
    return (int)sk_cli_rect(args);
}

static int throughput(const sk_args *args)
{
    return sk_cli_openvino_throughput(args);
}

static void at_every_command(const row *rows, size_t n, int (*read)(const sk_args *args))
{
    int commands = 0;
    for (size_t c = 0; sk_commands[c]; c++) {
        const char *name = rows[0].option;
        if (!sk_command_option(sk_commands[c], name, strlen(name)))
            continue;
        const sk_command alone = {.name = sk_commands[c]->name, .options = sk_commands[c]->options};
        commands++;
        for (size_t i = 0; i < n; i++) {
            char argument[64];
            snprintf(argument, sizeof argument, "--%s=%s", name, rows[i].value ? rows[i].value : "");
            const char *argv[] = {argument};
            sk_args *args = NULL;
            sk_error err = {0};
            assert_ok(sk_args_parse(&alone, rows[i].value ? 1 : 0, argv, &args, &err), &err);
            if (read(args) != rows[i].want)
                fail_msg("%s %s gives %d", alone.name, rows[i].value ? argument : "without it", read(args));
            sk_args_close(&args);
        }
    }
    assert_true(commands > 1);
}

static void values_mean_what_they_say(void **state)
{
    (void)state;
    const row nms[] = {{"nms", NULL, SK_HEADS_AUTO},
                       {"nms", "auto", SK_HEADS_AUTO},
                       {"nms", "on", SK_HEADS_ONE_TO_MANY},
                       {"nms", "off", SK_HEADS_ONE_TO_ONE}};
    const row rects[] = {{"rect", NULL, SK_RECT_AUTO},
                         {"rect", "auto", SK_RECT_AUTO},
                         {"rect", "on", SK_RECT_ON},
                         {"rect", "off", SK_RECT_OFF}};
    const row hints[] = {
        {"openvino-hint", NULL, 0}, {"openvino-hint", "latency", 0}, {"openvino-hint", "throughput", 1}};
    at_every_command(nms, 4, heads);
    at_every_command(rects, 4, rect);
    at_every_command(hints, 3, throughput);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_mean_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
