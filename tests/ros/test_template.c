/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "formats/config_make.h"
#include "ros/template.h"

#include <string.h>

static sk_config *values;

static sk_status make_values(sk_config **out, sk_error *err)
{
    sk_maker m;
    sk_make_begin(&m, "test");
    sk_make_text(&m, "name", "fly_watch");
    sk_make_text(&m, "hostile", "a\"b'\\c\n</x>--*/`$|&");
    sk_make_text(&m, "tricks",
                 "a*\\ b \\* c\xe2\x80\xa8"
                 "d\xe2\x80\xa9"
                 "e\xc2\x85"
                 "f---\"\"\"");
    sk_make_text(&m, "empty", "");
    sk_make_bool(&m, "yes", true);
    sk_make_bool(&m, "no", false);
    sk_make_real(&m, "quarter", 0.25);
    sk_make_real(&m, "one", 1);
    sk_make_real(&m, "third", 1.0 / 3);
    sk_make_int(&m, "count", -3);
    sk_make_list(&m, "none");
    sk_make_close(&m);
    sk_make_list(&m, "numbers");
    sk_make_int(&m, NULL, 0);
    sk_make_int(&m, NULL, 2);
    sk_make_close(&m);
    sk_make_map(&m, "model");
    sk_make_text(&m, "name", "yolo");
    sk_make_close(&m);
    sk_make_list(&m, "parameters");
    for (int i = 0; i < 2; i++) {
        sk_make_map(&m, NULL);
        sk_make_text(&m, "name", i ? "conf" : "topic");
        sk_make_list(&m, "choices");
        sk_make_text(&m, NULL, "raw");
        sk_make_text(&m, NULL, "compressed");
        sk_make_close(&m);
        sk_make_close(&m);
    }
    sk_make_close(&m);
    return sk_make_finish(&m, out, err);
}

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    return make_values(&values, &err) == SK_OK ? 0 : -1;
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
    sk_error err = {0};
    assert_ok(sk_template_render(text, strlen(text), "t", sk_config_root(values), &out, &err), &err);
    assert_string_equal(sk_text_get(&out), expected);
    sk_text_free(&out);
}

static void refused(const char *text, const char *why)
{
    sk_text out = {0};
    sk_error err = {0};
    if (sk_template_render(text, strlen(text), "file.cpp", sk_config_root(values), &out, &err) !=
            SK_ERR_FORMAT ||
        !strstr(err.message, why))
        fail_msg("\"%s\" gave \"%s\" (%s), expected \"%s\"", text, sk_text_get(&out), err.message, why);
    sk_text_free(&out);
}

static void values_are_written_for_where_they_land(void **state)
{
    (void)state;
    gives("a {{name}}b", "a fly_watchb");
    gives("{{model.name}} {{count}} {{quarter}} {{one}} {{third}} {{yes}}",
          "yolo -3 0.25 1.0 0.3333333333333333 true");
    gives("{{hostile|cpp}}", "\"a\\\"b'\\\\c\\n</x>--*/`$|&\"");
    gives("{{hostile|py}}", "'a\"b\\'\\\\c\\n</x>--*/`$|&'");
    gives("{{hostile|yaml}}", "\"a\\\"b'\\\\c\\n</x>--*/`$|&\"");
    gives("{{hostile|cmake}}", "\"a\\\"b'\\\\c\\n</x>--*/\\`\\$|&\"");
    gives("{{hostile|xml}}", "a&quot;b&apos;\\c &lt;/x&gt;--*/`$|&amp;");
    gives("{{hostile|md}}", "a\"b'\\\\c &lt;/x>--\\*/\\`$\\|&");
    gives("{{hostile|code}}", "a\"b'\\c </x>--*/'$|&");
    gives("{{hostile|sh}} {{name|sh}} {{empty|sh}}", "'a\"b'\\''\\c </x>--*/`$|&' fly_watch ''");
    gives("{{hostile|comment}}", "a\"b'/c </x>- -* /`$|&");
    gives("{{tricks|comment}}", "a* / b / * c d e f- - -\" \" \"");
    gives("{{yes|py}} {{no|py}} {{yes|cpp}} {{one|yaml}} {{numbers|cpp}} {{numbers|py}} {{none|yaml}}",
          "True False true 1.0 {0, 2} [0, 2] []");
    gives("std::vector<int>{{1, 2}}; {{ x }} {{\"q\"}}", "std::vector<int>{{1, 2}}; {{ x }} {{\"q\"}}");
}

static void sections_repeat_or_are_left_out(void **state)
{
    (void)state;
    gives("{{#numbers}}{{.}}{{^@last}}, {{/@last}}{{/numbers}}", "0, 2");
    gives("{{#parameters}}{{@index}}:{{.name}}{{#.choices}} {{.}}/{{.name}}{{/.choices}};{{/parameters}}",
          "0:topic raw/topic compressed/topic;1:conf raw/conf compressed/conf;");
    gives("{{#yes}}a{{/yes}}{{#no}}b{{/no}}{{^no}}c{{/no}}{{#empty}}d{{/empty}}{{^none}}e{{/none}}", "ace");
    gives("{{#model}}{{.name}}{{/model}}", "yolo");
    gives("{{#name=fly_watch}}a{{/name}}{{#name=x}}b{{/name}}{{^name=x}}c{{/name=x}}{{#count=-3}}d{{/count}}",
          "acd");
    gives("{{#no}}{{unknown}}{{/no}}{{#parameters}}{{#@first}}{{.name}}{{/@first}}{{/parameters}}", "topic");
    gives("a\n  {{#yes}}\n  b\n  {{/yes}}\n{{! a note\nof two lines }}\nc {{#yes}}d{{/yes}}\n",
          "a\n  b\nc d\n");
}

static void mistakes_are_told_with_file_and_line(void **state)
{
    (void)state;
    refused("a\nb {{unknown}}", "file.cpp:2: there is no value 'unknown'");
    refused("{{#parameters}}{{.unknown}}{{/parameters}}", "'.unknown'");
    refused("\n\n{{#yes}}", "file.cpp:3: '{{#yes}}' is not closed");
    refused("{{#no}}{{#yes}}{{/no}}{{/yes}}", "'{{/no}}' closes what is not open; open is yes");
    refused("{{/yes}}", "closes what is not open");
    refused("{{name", "without '}}'");
    refused("{{a b}}", "is no tag");
    refused("{{name|shell}}", "'|shell'");
    refused("{{#name|cpp}}{{/name}}", "filters are for values");
    refused("{{hostile}}", "'hostile' has characters that need escaping");
    refused("{{numbers}}", "is a list");
    refused("{{parameters|cpp}}", "is no text");
    refused("{{model}}", "is no text");
    refused("{{@index}}", "outside of a list");
    refused("{{#numbers}}{{@middle}}{{/numbers}}", "@index, @first, @last");
    char deep[17 * 8 + 1] = "";
    for (int i = 0; i < 17; i++)
        strcat(deep, "{{#yes}}");
    refused(deep, "nested deeper");
}

static sk_status render_all(void *context, sk_error *err)
{
    (void)context;
    sk_config *made = NULL;
    sk_text out = {0};
    static const char text[] = "{{#parameters}}{{.name|cpp}}{{#.choices}}{{.|py}}{{/.choices}}{{/parameters}}"
                               "{{#name=x}}{{/name}}{{hostile|xml}}";
    sk_status status = make_values(&made, err);
    if (status == SK_OK)
        status = sk_template_render(text, strlen(text), "t", sk_config_root(made), &out, err);
    sk_text_free(&out);
    sk_config_close(&made);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    assert_true(test_every_allocation(render_all, NULL) > 3);
}

static void a_maker_tells_misuse(void **state)
{
    (void)state;
    sk_config *made = NULL;
    sk_error err = {0};
    sk_maker m;
    sk_make_begin(&m, "test");
    sk_make_text(&m, NULL, "no key");
    sk_make_int(&m, "later", 1);
    assert_int_equal(sk_make_finish(&m, &made, &err), SK_ERR_ARG);
    assert_null(made);
    sk_make_begin(&m, "test");
    sk_make_list(&m, "open");
    assert_int_equal(sk_make_finish(&m, &made, &err), SK_ERR_ARG);
    sk_make_begin(&m, "test");
    sk_make_close(&m);
    assert_int_equal(sk_make_finish(&m, &made, &err), SK_ERR_ARG);
    sk_make_begin(&m, "test");
    for (int i = 0; i < SK_MAKE_DEPTH; i++)
        sk_make_map(&m, "deeper");
    assert_int_equal(sk_make_finish(&m, &made, &err), SK_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_written_for_where_they_land),
                                       cmocka_unit_test(sections_repeat_or_are_left_out),
                                       cmocka_unit_test(mistakes_are_told_with_file_and_line),
                                       cmocka_unit_test(a_maker_tells_misuse),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests_name("ros/template", tests, begin, end);
}
