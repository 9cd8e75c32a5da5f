/* SPDX-License-Identifier: Apache-2.0 */
/* One table of tolerances: it holds together, and what people read of it is what it says. */
#include "support/test.h"

#include "engines/tolerance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_table(void **state)
{
    (void)state;
    static const sk_precision finer_first[] = {SK_PRECISION_F32, SK_PRECISION_TF32, SK_PRECISION_F16,
                                               SK_PRECISION_BF16, SK_PRECISION_I8};
    for (int i = 0; i < 5; i++) {
        const sk_tolerance *t = sk_tolerance_of(finer_first[i]);
        assert_true(t->pcc > 0.9 && t->pcc < 1 && t->ours >= t->pcc && t->difference > 0);
        assert_true(t->origin_pcc == 0 || t->origin_pcc >= t->pcc);
        if (i) {
            const sk_tolerance *finer = sk_tolerance_of(finer_first[i - 1]);
            assert_true(finer->pcc > t->pcc && finer->difference <= t->difference);
        }
    }
    assert_ptr_equal(sk_tolerance_of(SK_PRECISION_AUTO), sk_tolerance_of(SK_PRECISION_F32));
}

/* Every precision with its correlation, one after another; as much as there is room for. */
static void test_text(void **state)
{
    (void)state;
    static const sk_precision all[] = {SK_PRECISION_F32,  SK_PRECISION_TF32, SK_PRECISION_F16,
                                       SK_PRECISION_BF16, SK_PRECISION_I8,   SK_PRECISION_FP8};
    char text[SK_TOLERANCE_TEXT], want[64], small[12];
    size_t length = 0;
    sk_tolerance_text(text, sizeof text);
    for (int i = 0; i < 6; i++) {
        snprintf(want, sizeof want, "%s %g", sk_precision_name(all[i]), sk_tolerance_of(all[i])->pcc);
        const char *at = strstr(text, want);
        assert_non_null(at);
        assert_true(at == text || (at[-1] == ' ' && at[-2] == ','));
        length += strlen(want) + (i ? 2 : 0);
    }
    assert_int_equal(strlen(text), length);
    assert_int_equal(strlen(sk_tolerance_text(small, sizeof small)), sizeof small - 1);
    assert_memory_equal(small, text, sizeof small - 1);
}

/* White space and line ends are one space. */
static void squeeze(FILE *file, char *out, size_t capacity)
{
    size_t used = 0;
    for (int c; (c = fgetc(file)) != EOF && used + 1 < capacity;)
        if (c != ' ' && c != '\n')
            out[used++] = (char)c;
        else if (used && out[used - 1] != ' ')
            out[used++] = ' ';
    out[used] = '\0';
}

static void test_documents(void **state)
{
    (void)state;
    static char text[1 << 18];
    char path[4096], want[SK_TOLERANCE_TEXT];
    sk_tolerance_text(want, sizeof want);
    snprintf(path, sizeof path, "%s/docs/runner.md", getenv("SKITTER_TEST_SOURCE"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    squeeze(file, text, sizeof text);
    fclose(file);
    if (!strstr(text, want))
        fail_msg("docs/runner.md does not say %s", want);
    snprintf(path, sizeof path, "'%s' run --help", getenv("SKITTER_TEST_BINARY"));
    file = popen(path, "r");
    assert_non_null(file);
    squeeze(file, text, sizeof text);
    pclose(file);
    if (!strstr(text, want))
        fail_msg("skitter run --help does not say %s", want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
