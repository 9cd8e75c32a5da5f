/* SPDX-License-Identifier: Apache-2.0 */
/* Python's literals: what each text is, as Python itself says it, and what is none. */
#include "support/fault.h"
#include "support/test.h"

#include "base/text.h"
#include "formats/config.h"
#include "formats/python_literal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;

/* A value in words: kinds are told apart, texts stand between marks with bytes beyond ASCII in hex. */
static void say(const sk_config_value *v, sk_text *out)
{
    switch (v->kind) {
    case SK_CONFIG_NULL: sk_text_append(out, "null"); return;
    case SK_CONFIG_BOOL: sk_text_append(out, v->u.boolean ? "yes" : "no"); return;
    case SK_CONFIG_INT: sk_text_appendf(out, "%" PRId64, v->u.integer); return;
    case SK_CONFIG_REAL: sk_text_appendf(out, "real %g", v->u.real); return;
    case SK_CONFIG_STRING:
        sk_text_append(out, "<");
        for (size_t i = 0; i < v->length; i++) {
            const unsigned char c = (unsigned char)v->u.text[i];
            sk_text_appendf(out, c >= ' ' && c < 0x7f ? "%c" : "{%02x}", c);
        }
        sk_text_append(out, ">");
        return;
    case SK_CONFIG_LIST:
        sk_text_append(out, "[");
        for (size_t i = 0; i < v->length; i++) {
            sk_text_append(out, i ? ", " : "");
            say(v->u.items[i], out);
        }
        sk_text_append(out, "]");
        return;
    case SK_CONFIG_MAP:
        sk_text_append(out, "map(");
        for (size_t i = 0; i < v->length; i++) {
            sk_text_append(out, i ? ", " : "");
            say(v->u.pairs[i].key, out);
            sk_text_append(out, ": ");
            say(v->u.pairs[i].value, out);
        }
        sk_text_append(out, ")");
        return;
    }
}

static void is_of(const char *text, size_t length, const char *wanted)
{
    sk_config *config = NULL;
    sk_text said = {0};
    if (sk_python_literal_open(text, length, "in", &config, &err) != SK_OK)
        fail_msg("%s: %s", text, err.message);
    say(sk_config_root(config), &said);
    if (strcmp(sk_text_get(&said), wanted) != 0)
        fail_msg("%s is '%s', not '%s'", text, sk_text_get(&said), wanted);
    sk_text_free(&said);
    sk_config_close(&config);
}

static void is(const char *text, const char *wanted)
{
    is_of(text, strlen(text), wanted);
}

static void none(const char *text, size_t at, const char *why)
{
    sk_config *config = NULL;
    char whole[200];
    snprintf(whole, sizeof whole, "in: not a Python literal (at byte %zu): %s", at, why);
    if (sk_python_literal_open(text, strlen(text), "in", &config, &err) != SK_ERR_FORMAT ||
        strcmp(err.message, whole) != 0)
        fail_msg("%s: %s, not '%s'", text, config ? "read" : err.message, whole);
    assert_null(config);
}

static void numbers_and_names(void **state)
{
    (void)state;
    is("None", "null");
    is("True", "yes");
    is("False", "no");
    is(" \t\r\n7 \t\r\n", "7");
    is("-12", "-12");
    is("+3", "3");
    is("1.5", "real 1.5");
    is("-1.5e-3", "real -0.0015");
    is(".5", "real 0.5");
    is("1_000_000", "1000000");
    is("nan", "real nan");
    is("inf", "real inf");
    is("-inf", "real -inf");
    is("0x1F", "31");
    is("0Xff", "255");
    is("0xaAfF09", "11206409");
    is("0xfffffffffffffff", "1152921504606846975"); /* fifteen digits */
    is("9223372036854775807", "9223372036854775807");
    none("0x", 0, "a name or an over-long number, not a value");
    none("0x1g", 0, "a name or an over-long number, not a value");
    none("0x1/", 3, "text after the value");
    none("0x1000000000000000", 0, "a name or an over-long number, not a value");
    none("1x10", 0, "a name or an over-long number, not a value");
    none("true", 0, "a name or an over-long number, not a value");
    none("Non", 0, "a name or an over-long number, not a value");
    none("Nones", 0, "a name or an over-long number, not a value");
    none("  name", 2, "a name or an over-long number, not a value");
    none("", 0, "a value is missing");
    none("   ", 3, "a value is missing");
    none("/", 0, "a value is missing");
    none(":", 0, "a value is missing");
    none("@", 0, "a value is missing");
    none("1 2", 2, "text after the value");
    char digits[100];
    for (int n = 62; n <= 65; n++) { /* up to 63 without the marks between them */
        memset(digits, '0', sizeof digits);
        digits[n - 1] = '7';
        digits[n] = '\0';
        if (n <= 63)
            is(digits, "7");
        else
            none(digits, 0, "a name or an over-long number, not a value");
    }
    memset(digits, '0', sizeof digits);
    digits[10] = digits[20] = '_';
    digits[64] = '7';
    digits[65] = '\0';
    is(digits, "7");
}

static void strings(void **state)
{
    (void)state;
    is("'a'", "<a>");
    is("\"it's\"", "<it's>");
    is("''", "<>");
    is("'' ''", "<>");
    is("'a' \"b\"\t'c'", "<abc>");
    is("'a'\n'b'", "<ab>");
    is("'''a'b''c'''", "<a'b''c>");
    is("\"\"\"a\nb\"\"\"", "<a{0a}b>");
    is("''''''", "<>");
    is("u'a' b'b' r'c' Rb'd' bR'e' U'f' B'g'", "<abcdefg>");
    is("'\\\\ \\' \\\" \\a\\b\\f\\n\\r\\t\\v'", "<\\ ' \" {07}{08}{0c}{0a}{0d}{09}{0b}>");
    is("'\\q\\z'", "<\\q\\z>");
    is("'a\\\nb'", "<ab>");
    is("r'a\\nb\\'c'", "<a\\nb\\'c>");
    is("'\\0\\1\\12\\123\\1234\\778'", "<{00}{01}{0a}SS4?8>");
    is("'\\8'", "<\\8>");
    is("'\\x41\\x7f\\x80\\xff'", "<A{7f}{c2}{80}{c3}{bf}>");
    is("'\\u07ff\\u0800\\uFFFF'", "<{df}{bf}{e0}{a0}{80}{ef}{bf}{bf}>");
    is("'\\ud7ff\\ud800\\udfff\\ue000'", "<{ed}{9f}{bf}{ef}{bf}{bd}{ef}{bf}{bd}{ee}{80}{80}>");
    is("'\\U00010000\\U0010ffff\\U00110000'", "<{f0}{90}{80}{80}{f4}{8f}{bf}{bf}{ef}{bf}{bd}>");
    is("'\\u12aB'", "<{e1}{8a}{ab}>");
    is("'\xc3\xa9'", "<{c3}{a9}>");
    is_of("'a\0b'", 5, "<a{00}b>");
    is_of("'a\\\0b'", 6, "<a\\{00}b>");
    none("'a", 2, "a string without end");
    none("'a\n'", 2, "a string without end");
    none("'''a''", 6, "a string without end");
    none("'a\\", 3, "a string without end");
    none("r'a\\", 4, "a string without end");
    none("'\\x4'", 4, "a broken escape");
    none("'\\u12g4'", 5, "a broken escape");
    none("'\\xG0'", 3, "a broken escape");
    none("'\\x/0'", 3, "a broken escape");
    none("'\\x:0'", 3, "a broken escape");
    none("'\\x`0'", 3, "a broken escape");
    none("rbu'a'", 0, "a name or an over-long number, not a value");
    none("x'a'", 0, "a name or an over-long number, not a value");
}

static void containers(void **state)
{
    (void)state;
    is("[]", "[]");
    is("()", "[]");
    is("{}", "map()");
    is("[1]", "[1]");
    is("[1,]", "[1]");
    is("( 1 )", "1");
    is("(1,)", "[1]");
    is("(1, 2)", "[1, 2]");
    is("((1))", "1");
    is("([1])", "[1]");
    is("{1, 2}", "[1, 2]");
    is("{'a': 1, 'b': [2, (3, 4)],}", "map(<a>: 1, <b>: [2, [3, 4]])");
    is("{0: 'x', 1.5: None, (1): True}", "map(0: <x>, real 1.5: null, 1: yes)");
    is("{'a' : {'b' : {}}}", "map(<a>: map(<b>: map()))");
    is("[\n1 ,\t2\n]", "[1, 2]");
    none("[1 2]", 3, "a comma is missing");
    none("{1 2}", 3, "a comma is missing");
    none("{1: 2 3: 4}", 6, "a comma is missing");
    none("{1: 2, 3}", 8, "a dict and a set mixed");
    none("{1, 2: 3}", 6, "a dict and a set mixed");
    none("[1, 2", 6 - 1, "a comma is missing");
    none("[", 1, "a value is missing");
    none("[,]", 1, "a value is missing");
    none("[1,,2]", 3, "a value is missing");
    none("(]", 1, "a value is missing");
    none("{'a':}", 5, "a value is missing");
    none("[1]]", 3, "text after the value");
    char deep[400];
    sk_config *config = NULL;
    for (int n = SK_CONFIG_MAX_DEPTH + 1; n <= SK_CONFIG_MAX_DEPTH + 2;
         n++) { /* the outermost lies at depth 0 */
        memset(deep, '[', (size_t)n);
        memset(deep + n, ']', (size_t)n);
        const sk_status status = sk_python_literal_open(deep, 2 * (size_t)n, "in", &config, &err);
        assert_int_equal(status, n == SK_CONFIG_MAX_DEPTH + 1 ? SK_OK : SK_ERR_LIMIT);
        sk_config_close(&config);
    }
    assert_string_equal(err.message, "in: nested deeper than 64 levels");
    assert_int_equal(sk_python_literal_open(NULL, 0, "in", &config, &err), SK_ERR_ARG);
    assert_int_equal(sk_python_literal_open("1", 1, NULL, &config, &err), SK_ERR_ARG);
    assert_int_equal(sk_python_literal_open("1", 1, "in", NULL, &err), SK_ERR_ARG);
}

static sk_status read_one(void *context, sk_error *error)
{
    sk_config *config = NULL;
    SK_TRY(sk_python_literal_open(context, strlen(context), "in", &config, error));
    sk_config_close(&config);
    return SK_OK;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    static char text[] = "{'a': [1, 2.5, None, (True, 'text')], 'b': {1, 2, 3}, 'c': '\\u1234'}";
    assert_true(test_every_allocation(read_one, text) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_names),
        cmocka_unit_test(strings),
        cmocka_unit_test(containers),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
