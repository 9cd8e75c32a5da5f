/* SPDX-License-Identifier: Apache-2.0 */
/* Templates at their edges: braces that do not close, tags and sections at the ends of the text and as long and as deep as they may be,
 * values of every kind; names and defaults that land in what is written. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config_make.h"
#include "ros/context.h"
#include "ros/own_manifest.h"
#include "ros/template.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_config *values;

static int begin(void **state)
{
    (void)state;
    sk_maker m;
    sk_make_begin(&m, "test");
    sk_make_text(&m, "a", "x");
    sk_make_bool(&m, "yes", true);
    sk_make_int(&m, "zero", 0);
    sk_make_int(&m, "two", 2);
    sk_make_real(&m, "nought", 0);
    sk_make_real(&m, "half", 0.5);
    sk_make_real(&m, "endless", INFINITY);
    sk_make_real(&m, "none", NAN);
    sk_make_real(&m, "tenth", 0.1);
    sk_make_real(&m, "large", 1e22);
    sk_make_real(&m, "many", 123456);
    sk_make_list(&m, "lists");
    sk_make_list(&m, NULL);
    sk_make_int(&m, NULL, 1);
    sk_make_close(&m);
    sk_make_close(&m);
    sk_make_map(&m, "empty");
    sk_make_close(&m);
    sk_make_list(&m, "texts");
    sk_make_text(&m, NULL, "p");
    sk_make_text(&m, NULL, "q");
    sk_make_text(&m, NULL, "r");
    sk_make_close(&m);
    sk_make_text(&m, "blanks", "a  b");
    sk_make_text(&m, "dash", "-a");
    sk_make_text(&m, "home", "~a");
    sk_make_text(&m, "two_words", "a b");
    sk_make_text(&m, "controls",
                 "a\tb\rc\x7f"
                 "d\x1f"
                 "e f");
    sk_make_text(&m, "marks", "[a]#b_c?");
    return sk_make_finish(&m, &values, &err) == SK_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    sk_config_close(&values);
    return 0;
}

static void gives(const char *text, const char *expected)
{
    sk_text out = {0};
    assert_ok(sk_template_render(text, strlen(text), "t", sk_config_root(values), &out, &err), &err);
    assert_string_equal(sk_text_get(&out), expected);
    sk_text_free(&out);
}

static void refused(const char *text, const char *why)
{
    sk_text out = {0};
    if (sk_template_render(text, strlen(text), "t", sk_config_root(values), &out, &err) != SK_ERR_FORMAT ||
        strcmp(err.message, why) != 0)
        fail_msg("\"%s\" gave \"%s\" (%s), expected \"%s\"", text, sk_text_get(&out), err.message, why);
    sk_text_free(&out);
}

static void braces(void **state)
{
    (void)state;
    gives("{{! one } is no end }}b", "b");
    gives("{{!}}b", "b");
    gives("{{a}}}", "x}");
    gives("{{{a}}", "{x");
    gives("{{a}}{{a}}", "xx");
    gives("{{", "{{");
    gives("{{}}", "{{}}");
    gives("{", "{");
    gives("", "");
    gives("} }} {a}", "} }} {a}");
    refused("{{a} }}", "t:1: '{{a} }}' is no tag");
    refused("{{a", "t:1: '{{' without '}}'");
    refused("{{a}", "t:1: '{{' without '}}'");
    refused("\n{{a} }", "t:2: '{{' without '}}'");
    refused("{{!", "t:1: '{{' without '}}'");
    refused("{{#}}{{/}}", "t:1: '{{}}' is no tag");
    refused("{{a=x}}", "t:1: '{{a=x}}': filters are for values, '=' for sections");
    refused("{{#a|py}}{{/a}}", "t:1: '{{a|py}}': filters are for values, '=' for sections");
    gives("{{|py}}", "{{|py}}"); /* no tag begins so */
}

static void lengths_and_depths(void **state)
{
    (void)state;
    char text[1024], name[256], words[320];
    memset(name, 'n', sizeof name);
    name[199] = '\0';
    snprintf(text, sizeof text, "{{%s}}", name);
    snprintf(words, sizeof words, "t:1: there is no value '%s'", name);
    refused(text, words); /* which is looked for */
    name[199] = 'n', name[200] = '\0';
    snprintf(text, sizeof text, "{{%s}}", name);
    refused(text, "t:1: the tag is longer than 199 characters");
    snprintf(text, sizeof text, "{{!%s%s}}b", name, name); /* a note may be */
    gives(text, "b");
    for (int deep = 16; deep <= 17; deep++) {
        text[0] = '\0';
        for (int i = 0; i < deep; i++)
            strcat(text, "{{#yes}}");
        strcat(text, "{{a}}");
        for (int i = 0; i < deep; i++)
            strcat(text, "{{/yes}}");
        snprintf(words, sizeof words, "t:1: sections nested deeper than %d", deep - 1);
        if (deep == 16)
            gives(text, "x");
        else
            refused(text, words);
    }
    sk_text out = {0};
    const sk_config_value *root = sk_config_root(values);
    assert_int_equal(sk_template_render(NULL, 0, "t", root, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_template_render("", 0, NULL, root, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_template_render("", 0, "t", NULL, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_template_render("", 0, "t", root, NULL, &err), SK_ERR_ARG);
    assert_ok(sk_template_render("{{a}}{{a}}", 5, "t", root, &out, &err), &err); /* as long as is said */
    assert_string_equal(sk_text_get(&out), "x");
    sk_text_free(&out);
    assert_int_equal(sk_template_render("{{a}}", 4, "t", root, &out, &err), SK_ERR_FORMAT);
    assert_ok(sk_template_render("{{a}}", 2, "t", root, &out, &err), &err);
    assert_string_equal(sk_text_get(&out), "{{");
    sk_text_free(&out);
    assert_ok(sk_template_render("{{\0a}}", 6, "t", root, &out, &err), &err);
    assert_int_equal(out.length, 6);
    sk_text_free(&out);
}

/* A section's tag that stands alone takes its line along, blanks and tabs and all, also where the text begins or ends; no other. */
static void lines(void **state)
{
    (void)state;
    gives(" \t{{#yes}} \t\na\n\t{{/yes}}", "a\n");
    gives("{{#yes}}\n{{/yes}}\n", "");
    gives("{{#yes}} b\n{{/yes}}", " b\n");
    gives("c {{#yes}}\nb{{/yes}}\n", "c \nb\n");
    gives("c\n{{#yes}}\nb\n  {{/yes}}  d\n", "c\nb\n    d\n");
    gives("{{a}}\n  {{a}}  \n", "x\n  x  \n");
    gives("{{! note }}\n{{! note }}d\n", "d\n");
}

static void truths(void **state)
{
    (void)state;
    gives("{{#zero}}a{{/zero}}{{^zero}}b{{/zero}}{{#two}}c{{/two}}{{^two}}d{{/two}}", "bc");
    gives("{{#nought}}a{{/nought}}{{^nought}}b{{/nought}}{{#half}}c{{/half}}{{^half}}d{{/half}}", "bc");
    gives("{{#empty}}a{{/empty}}{{^empty}}b{{/empty}}{{^texts}}c{{/texts}}", "b");
    gives("{{#two=2}}a{{/two}}{{#half=0.5}}b{{/half}}{{^half=1}}c{{/half=1}}{{#yes=true}}d{{/yes}}", "abcd");
    gives("{{#texts}}{{@index}}{{.}}{{#@first}}<{{/@first}}{{#@last}}>{{/@last}}{{/texts}}", "0p<1q2r>");
    gives("{{#texts}}{{#yes}}{{@index}}{{.}}{{/yes}}{{/texts}}", "0p1q2r");
    gives("{{#texts}}{{#.=q}}!{{/.}}{{/texts}}", "!");
    refused("{{#texts=p}}{{/texts}}", "t:1: 'texts' has no text to compare");
    refused("{{#yes}}{{@first}}{{/yes}}", "t:1: '@first' outside of a list");
    refused("{{#texts}}{{@firs}}{{/texts}}", "t:1: '@firs' is unknown; there are @index, @first, @last");
    refused("{{#texts}}{{/texts}}{{.}}", "t:1: there is no value '.'");
    refused("{{#yes}}{{/yes}}{{/yes}}", "t:1: '{{/yes}}' closes what is not open");
    refused("a\n{{#yes}}\n{{/two}}", "t:3: '{{/two}}' closes what is not open; open is yes");
    refused("a\n\n{{^zero}}\n", "t:3: '{{^zero}}' is not closed");
}

static void values_of_every_kind(void **state)
{
    (void)state;
    gives("{{tenth}} {{large}} {{many}} {{half|py}} {{zero|cmake}} {{yes|sh}}",
          "0.1 1e+22 123456.0 0.5 0 true");
    gives("{{texts|cpp}} {{texts|py}} {{texts|yaml}} {{texts|md}} {{texts|code}} {{texts|comment}}",
          "{\"p\", \"q\", \"r\"} ['p', 'q', 'r'] [\"p\", \"q\", \"r\"] [p, q, r] [p, q, r] [p, q, r]");
    gives("{{two_words|sh}} {{dash|sh}} {{home|sh}} {{blanks|sh}} {{a|sh}}", "'a b' '-a' '~a' 'a  b' x");
    gives("{{two_words}} {{dash}} {{home}}", "a b -a ~a");
    gives("{{controls|cpp}}|{{controls|xml}}|{{controls|md}}|{{controls|code}}|{{controls|sh}}|{{controls|"
          "comment}}",
          "\"a\\tb c d e f\"|a b c d e f|a b c d e f|a b c d e f|'a b c d e f'|a b c d e f");
    gives("{{marks|md}} {{marks|cpp}} {{marks|cmake}}", "\\[a\\]\\#b\\_c? \"[a]#b_c\\?\" \"[a]#b_c?\"");
    refused("{{blanks}}", "t:1: 'blanks' has characters that need escaping: choose a filter");
    refused("{{marks}}", "t:1: 'marks' has characters that need escaping: choose a filter");
    refused("{{endless}}", "t:1: 'endless' the number is not finite");
    refused("{{none|py}}", "t:1: 'none' the number is not finite");
    refused("{{lists|py}}", "t:1: 'lists' is a list of lists");
    refused("{{empty|py}}", "t:1: 'empty' is no text, number, truth or list");
    static const char *const without[] = {"", "|cmake", "|xml", "|sh"};
    for (int i = 0; i < 4; i++) {
        char text[32];
        snprintf(text, sizeof text, "{{texts%s}}", without[i]);
        refused(text, "t:1: 'texts' is a list, which this place has no form for");
    }
    refused("{{a|Py}}",
            "t:1: 'a' is asked for by '|Py'; there are cpp, py, yaml, cmake, xml, md, code, sh, comment");
    char bytes[] = "a\0b";
    const sk_config_value hidden = {.kind = SK_CONFIG_STRING, .u.text = bytes, .length = 3};
    sk_text out = {0};
    assert_int_equal(sk_template_value(&hidden, "py", &out, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "holds a zero byte");
    assert_int_equal(sk_template_value(&hidden, "", &out, &err), SK_ERR_FORMAT);
    sk_text_free(&out);
}

/* --- what is written of a model of one's own --- */

static void names_of_own_models(void **state)
{
    (void)state;
    static const struct {
        const char *file, *name;
    } rows[] = {{"---.pt", "model"},
                {"My  Flies!.pt", "my_flies_"},
                {"_a__b.pt", "a_b"},
                {"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij.pt",
                 "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"},
                {"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijk.pt",
                 "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"}};
    const yolo_fixture f = {.head = "Detect", .f32 = true, .imgsz = 64};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[4200], *name = NULL;
        sk_text text = {0};
        snprintf(path, sizeof path, "%s", yolo_save(&f, rows[i].file));
        const sk_own_manifest what = {.models = {path}};
        assert_ok(sk_own_manifest_write(&what, &text, &name, &err), &err);
        assert_string_equal(name, rows[i].name);
        sk_free(name);
        sk_text_clear(&text);
        const sk_own_manifest hostile = {.models = {path}, .name = "a/b"};
        assert_int_equal(sk_own_manifest_write(&hostile, &text, &name, &err), SK_ERR_FORMAT);
        assert_null(name);
        assert_string_equal(err.message, "the manifest:8:7: model.variants: 'a/b' has other characters than "
                                         "letters, digits, '_', '-' and '.'"); /* the first of them */
        sk_text_free(&text);
    }
}

/* A default that a manifest gives, of every kind: as a value and as text. */
static void defaults_of_every_kind(void **state)
{
    (void)state;
    static const struct {
        const char *name, *rule, *text;
        bool empty;
    } rows[] = {{"publish_annotated", "type: bool, default: true", "true", false},
                {"publish_annotated", "type: bool, default: false", "false", false},
                {"max_detections", "type: int, default: 7", "7", false},
                {"confidence_threshold", "type: float, default: 1", "1", false},
                {"confidence_threshold", "type: double, default: 0.125", "0.125", false},
                {"classes", "type: list, default: [3]", "[3]", false},
                {"classes", "type: list, default: [3, 0, 1]", "[3, 0, 1]", false},
                {"classes", "type: list, default: []", "[]", true},
                {"qos_reliability", "type: string, default: reliable", "reliable", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char folder[4200], path[4400];
        sk_text text = {0};
        sk_catalogue *catalogue = NULL;
        snprintf(folder, sizeof folder, "%s/models%zu", test_folder(), i);
        snprintf(path, sizeof path, "%s/manifest.yaml", folder);
        sk_text_appendf(
            &text,
            "model: {name: mine, family: ultralytics, variants: [x], default_variant: x, "
            "backends: [cpu]}\nsource: {type: a, repo: b}\ninput: {}\noutput: {type: detections}\n"
            "ros:\n  publishers: [{topic: d, msg_type: DetectionArray}]\n  parameters: [{name: "
            "%s, %s, description: 'told %zu'}]\n",
            rows[i].name, rows[i].rule, i);
        assert_ok(sk_folder_make(folder, &err), &err);
        assert_ok(sk_file_put(path, sk_text_get(&text), text.length, &err), &err);
        assert_ok(sk_catalogue_open(folder, &catalogue, &err), &err);
        const sk_ros_request request = {.model = "mine", .backend = "cpu", .package_name = "fly_watch"};
        sk_ros_choice choice;
        sk_problems problems = {0};
        bool usage;
        sk_config *context = NULL;
        sk_ros_request_check(catalogue, &request, &choice, &usage, &problems);
        if (problems.count)
            fail_msg("%s: %s", rows[i].rule, sk_text_get(&problems.lines));
        assert_ok(sk_ros_context(&choice, &context, &err), &err);
        sk_text_clear(&text);
        static const char list[] = "{{#parameters}}{{.name}} {{.default_text|sh}} {{.is_empty_list}} "
                                   "{{.description|sh}} {{.default|py}};{{/parameters}}";
        assert_ok(sk_template_render(list, sizeof list - 1, "t", sk_config_root(context), &text, &err), &err);
        char wanted[128];
        snprintf(wanted, sizeof wanted, "%s '%s' %s 'told %zu' ", rows[i].name, rows[i].text,
                 rows[i].empty ? "true" : "false", i);
        char bare[128];
        snprintf(bare, sizeof bare, "%s %s %s 'told %zu' ", rows[i].name, rows[i].text,
                 rows[i].empty ? "true" : "false", i);
        if (!strstr(sk_text_get(&text), wanted) && !strstr(sk_text_get(&text), bare))
            fail_msg("%s: %s", wanted, sk_text_get(&text));
        sk_config_close(&context);
        sk_catalogue_close(&catalogue);
        sk_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(braces),
                                       cmocka_unit_test(lengths_and_depths),
                                       cmocka_unit_test(lines),
                                       cmocka_unit_test(truths),
                                       cmocka_unit_test(values_of_every_kind),
                                       cmocka_unit_test(names_of_own_models),
                                       cmocka_unit_test(defaults_of_every_kind)};
    return cmocka_run_group_tests(tests, begin, end);
}
