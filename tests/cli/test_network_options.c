/* SPDX-License-Identifier: Apache-2.0 */
/* Options that several commands share, against what they mean: a row a value, at every command that has the option. */
#include "support/test.h"

#include "base/file.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "formats/skq.h"
#include "models/quantised.h"

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

/* A file of nothing but what it says of itself. */
static void put_skq(const char *path, double percent, bool measured, const char *made_by)
{
    sk_error err = {0};
    sk_quantised q = {
        .precision = "i8", .source = "net.pt", .measured = measured, .loss = {.percent = percent}};
    char *json = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    snprintf(q.made_by, sizeof q.made_by, "%s", made_by);
    assert_ok(sk_quantised_to_json(&q, &json, &err), &err);
    const sk_skq parts = {json, strlen(json), "none", 4};
    assert_ok(sk_skq_write(&parts, &bytes, &length, &err), &err);
    assert_ok(sk_file_replace(path, bytes, length, &err), &err);
    sk_free_all(json, bytes);
}

/* null: it is taken. */
static void judged(const char *most, const char *words)
{
    const sk_command *net = sk_command_find("net");
    const sk_command alone = {.name = "net", .options = net->options};
    const char *path = "judged.skq", *argv[] = {most};
    sk_args *args = NULL;
    sk_error err = {0};
    sk_status status = sk_args_parse(&alone, 1, argv, &args, &err);
    if (status == SK_OK)
        status = sk_cli_judge_loss(args, &path, 1, &err);
    if ((status == SK_OK) != !words || (words && !strstr(err.message, words)))
        fail_msg("%s: %s", most, err.message);
    if (words && strstr(words, "not known"))
        assert_null(strstr(err.message, "mixed")); /* which would tell no more */
    sk_args_close(&args);
}

/* What is told can be typed. */
static void losses_are_judged_as_told(void **state)
{
    (void)state;
    sk_cli_set_verbosity(0);
    put_skq("judged.skq", 0.9732, true, "1");
    judged("--max-loss=0.97", NULL);
    judged("--max-loss=0.973", NULL);
    judged("--max-loss=0.969", "refused by --max-loss 0.969: i8, loss 0.97 %");
    judged("--max-loss=0.96", "--precision mixed");
    judged("--max-loss=3%", "--max-loss: '3%' is not a number\nin percent, without the sign: --max-loss 3");
    put_skq("judged.skq", 0.9783, true, "1");
    judged("--max-loss=0.98", NULL);
    judged("--max-loss=0.97", "loss 0.98 %");
    put_skq("judged.skq", 0, true, "1");
    judged("--max-loss=0", NULL);
    put_skq("judged.skq", 0, false, "1");
    judged("--max-loss=100", "loss not known: nothing was found");
    judged("--max-loss=100", "'skitter quantize' of net.pt with frames in which there is something to find");
    put_skq("judged.skq", 0, true, "");
    judged("--max-loss=100", "loss not known: another program made it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_mean_what_they_say),
        cmocka_unit_test(losses_are_judged_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
