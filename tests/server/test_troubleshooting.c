/* SPDX-License-Identifier: Apache-2.0 */
/* The three questions about runtimes: every runtime that a question is about is answered, by what the list of runtimes says. */
#include "server/asking.h"

#include "formats/config.h"
#include "runtime/names.h"

static sk_config *got(const char *target)
{
    char *text = NULL;
    sk_error err = {0};
    sk_config *json = NULL;
    assert_int_equal(get(target, &text), 200);
    assert_ok(sk_config_open_json(text, strlen(text), "answer", &json, &err), &err);
    sk_free(text);
    return json;
}

static const sk_config_value *findings_of(const sk_config *json, size_t i, const char *id)
{
    const sk_config_value *question = sk_config_at(sk_config_get(sk_config_root(json), "questions"), i);
    assert_string_equal(sk_config_text_or(question, "id", ""), id);
    assert_true(sk_config_text_or(question, "question", "")[0] &&
                sk_config_text_or(question, "answer", "")[0]);
    return sk_config_get(question, "findings");
}

/* The finding that begins with this runtime's name; null: none. More than one is a mistake. */
static const sk_config_value *finding_of(const sk_config_value *findings, int runtime, const char *behind)
{
    char begin[100];
    const sk_config_value *found = NULL;
    snprintf(begin, sizeof begin, "%s%s", sk_runtime_label((sk_runtime)runtime), behind);
    for (size_t i = 0; i < sk_config_count(findings); i++)
        if (strncmp(sk_config_text_or(sk_config_at(findings, i), "text", ""), begin, strlen(begin)) == 0) {
            assert_null(found);
            found = sk_config_at(findings, i);
        }
    return found;
}

static bool is_fine(const sk_config_value *finding)
{
    const sk_config_value *ok = sk_config_get(finding, "ok");
    assert_true(sk_config_is(ok, SK_CONFIG_BOOL));
    return ok->u.boolean;
}

static bool is_onnx(int i)
{
    return i == SK_RUNTIME_ONNX_CPU || i == SK_RUNTIME_ONNX_CUDA || i == SK_RUNTIME_ONNX_ROCM;
}

static void every_runtime_is_answered(void **state)
{
    (void)state;
    sk_config *json = got("/api/v1/troubleshooting");
    assert_int_equal(sk_config_count(sk_config_get(sk_config_root(json), "questions")), 3);
    const sk_config_value *vanished = findings_of(json, 0, "vanished"),
                          *onnx = findings_of(json, 1, "onnx_fails"),
                          *sleap = findings_of(json, 2, "sleap_missing");
    assert_int_equal(sk_config_count(vanished), SK_RUNTIME_COUNT + 1); /* and what is saved */
    assert_int_equal(sk_config_count(onnx), 3 + 1);                    /* and how to look */
    assert_int_equal(sk_config_count(sleap), 4 + 1);
    assert_non_null(strstr(sk_config_text_or(sk_config_at(vanished, 0), "text", ""), "what is saved, "));
    assert_true(is_fine(sk_config_at(vanished, 0)));
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        const sk_config_value *one = finding_of(vanished, i, " is ");
        assert_non_null(one);
        const bool offered = finding_of(vanished, i, " is offered: ") != NULL;
        assert_true(offered || finding_of(vanished, i, " is not offered: "));
        assert_int_equal(is_fine(one), offered);
        if (offered) /* nothing to mend */
            assert_null(sk_config_text(sk_config_get(one, "remedy")));
        assert_int_equal(finding_of(onnx, i, ": ") != NULL, is_onnx(i));
        assert_int_equal(finding_of(sleap, i, " is ") != NULL, is_onnx(i) || i == SK_RUNTIME_TENSORRT);
    }
    assert_true(is_fine(finding_of(vanished, SK_RUNTIME_CPU, " is "))); /* it always works */
    for (int which = 0; which < 2; which++) {
        const sk_config_value *last = sk_config_at(which ? sleap : onnx, which ? 4 : 3);
        assert_true(is_fine(last) && strstr(sk_config_text_or(last, "remedy", ""), "skitter export "));
    }
    sk_config_close(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_runtime_is_answered)};
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
