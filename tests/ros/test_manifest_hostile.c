/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/told.h"

#include <stdio.h>

static void tell(const char *text, const char *expected)
{
    told(text, strlen(text), (const char *const[]){expected, NULL});
}

static void hostile_texts_are_refused(void **state)
{
    (void)state;
    tell("", "m.yaml:1:1: not a manifest");
    tell("[]", "m.yaml:1:1: not a manifest");
    tell("model: {name: [", "m.yaml: not valid YAML (line 2, column 1)");
    tell("a: &a [*a]", "(line 1, column 8) points into itself");
    tell("a: *b", "(line 1, column 4) has no anchor");
    tell("a: \"\\x00\"\n\xff\xfe", "m.yaml: not valid YAML");
    told("a\0b", 3, (const char *const[]){"m.yaml: not valid YAML", NULL});
    /* nine levels of ten aliases each: a billion */
    char bomb[1024] = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 10; i++) {
        char line[128];
        snprintf(line, sizeof line, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
        strcat(bomb, line);
    }
    tell(bomb, "expand to more than 4194304 values (line 7, column ");
    *strstr(bomb, "a6: ") = '\0'; /* a million, within the reader's own bound */
    tell(bomb, "more than 100000 values");
    const size_t long_text = SK_MANIFEST_MAX_BYTES + 1;
    char *huge = sk_malloc(long_text);
    memset(huge, ' ', long_text);
    told(huge, long_text, (const char *const[]){"are more than a manifest has", NULL});
    sk_free(huge);
    char deep[300] = "";
    memset(deep, '[', 200);
    tell(deep, "nested deeper than 64 levels (line 1, column 65)");
    tell(HEAD "ros: {}\n---\nmodel: {}\n", "a second YAML document begins (line 6, column 1)");
    tell(HEAD "ros: {}\n...\n}\n", "not valid YAML (line 7, column 1)");
    tell(HEAD "ros: {<<: {parameters: []}}\n", "m.yaml:5:7: '<<' would bring in keys");
    tell(HEAD "ros: {publishers: [{topic: '', msg_type: a}]}\n",
         "m.yaml:5:28: ros.publishers[0].topic is empty");
    tell(HEAD "ros: {parameters: 7}\n", "m.yaml:5:19: ros.parameters must be a list");
    tell(
        "model: {name: \"a\\0b\", family: f, variants: [x], default_variant: x}\nsource: {type: a, repo: b}\n"
        "input: {}\noutput: {type: detections}\nros: {}\n",
        "model.name holds a zero byte");
}

static void many_problems_are_counted(void **state)
{
    (void)state;
    sk_text text = {0};
    sk_text_append(&text, HEAD "ros:\n  parameters:\n");
    for (int i = 0; i < 100; i++)
        sk_text_append(&text, "  - {name: a, type: int, default: 1}\n");
    sk_error err = {0};
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    assert_ok(sk_manifest_open(sk_text_get(&text), text.length, "m.yaml", &m, &problems, &err), &err);
    assert_null(m);
    assert_int_equal(problems.count, 99);
    size_t lines = 0;
    for (const char *c = sk_text_get(&problems.lines); *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, SK_PROBLEMS_KEPT);
    sk_problems_free(&problems);
    sk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hostile_texts_are_refused),
                                       cmocka_unit_test(many_problems_are_counted)};
    return cmocka_run_group_tests_name("ros/manifest_hostile", tests, NULL, NULL);
}
