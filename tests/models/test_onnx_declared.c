/* SPDX-License-Identifier: Apache-2.0 */
/* Where data decide how much a network gives, an output has the sizes that the file declares, numbers or the names of an input's; elsewhere
 * what is declared does not matter. */
#include "onnx_forms.h"

static void sizes_that_are_declared(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        sk_shape declared;
        const char *names[3], *given;
    } cases[] = {
        {"?y = NonZero(x)",
         {2, {4, 12}},
         {"", "", ""},
         "    %0 = non_zero 0 (x)\n"
         "    %1 = concat 0 (i64[1: 4], i64[1: 12])\n"
         "    %2 = reshape 0 (%0.0, %1.0)\n"
         "    gives %2.0\n"},
        {"?y = NonMaxSuppression(x, x)",
         {1, {5}},
         {"", "", ""},
         "    %0 = non_max_suppression 0 (x, x)\n"
         "    %1 = concat 0 (i64[1: 5])\n"
         "    %2 = reshape 0 (%0.0, %1.0)\n"
         "    gives %2.0\n"},
        {"?z = Neg(x) ; y = NonZero(z)",
         {2, {-1, -1}},
         {"wide", "batch", ""},
         "    %0 = unary neg 0 0 (x)\n"
         "    %1 = non_zero 0 (%0.0)\n"
         "    %2 = shape 0 (x)\n"
         "    %3 = slice 0 (%2.0, i64[1: 3], i64[1: 4], i64[1: 0])\n"
         "    %4 = shape 0 (x)\n"
         "    %5 = slice 0 (%4.0, i64[1: 0], i64[1: 1], i64[1: 0])\n"
         "    %6 = concat 0 (%3.0, %5.0)\n"
         "    %7 = reshape 0 (%1.0, %6.0)\n"
         "    gives %7.0\n"},
        {"?y = NonZero(x)", {2, {4, -1}}, {"", "somebody", ""}, "    %0 = non_zero 0 (x)\n    gives %0.0\n"},
        {"?y = NonZero(x)", {2, {-1, 4}}, {"", "", ""}, "    %0 = non_zero 0 (x)\n    gives %0.0\n"},
        {"?y = NonZero(x)", {2, {0, 4}}, {"", "", ""}, "    %0 = non_zero 0 (x)\n    gives %0.0\n"},
        {"?y = NonZero(x)",
         {1, {1}},
         {"", "", ""},
         "    %0 = non_zero 0 (x)\n"
         "    %1 = concat 0 (i64[1: 1])\n"
         "    %2 = reshape 0 (%0.0, %1.0)\n"
         "    gives %2.0\n"},
        {"?y = NonZero(x)", {0, {0}}, {"", "", ""}, "    %0 = non_zero 0 (x)\n    gives %0.0\n"},
        {"?y = NonZero(x)", {-1, {0}}, {"", "", ""}, "    %0 = non_zero 0 (x)\n    gives %0.0\n"},
        {"?y = Neg(x)", {1, {12}}, {"", "", ""}, "    %0 = unary neg 0 0 (x)\n    gives %0.0\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static form f;
        sk_error err = {0};
        sk_graph *graph = NULL;
        sk_text text = {0};
        form_open(&f, cases[i].line, 17);
        f.t.output.shape = cases[i].declared;
        for (int d = 0; d < SK_MAX_RANK; d++) {
            f.t.output.param[d] = d < 3 ? cases[i].names[d] : "";
            f.t.input.param[d] = d == 0 ? "batch" : d == 3 ? "wide" : "";
        }
        assert_ok(sk_onnx_import(f.t.model, "f", &graph, &err), &err);
        tell_graph(graph, &text);
        assert_string_equal(sk_text_get(&text), cases[i].given);
        sk_text_free(&text);
        sk_graph_close(&graph);
        sk_onnx_close(&f.t.model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_that_are_declared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
