/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of batches: what each line says as words of a command line, with its place, and every problem with its line and column. */
#include "support/fault.h"
#include "support/test.h"

#include "app/batch_plan.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static sk_error err;

static char kind(void *context, const char *name)
{
    assert_ptr_equal(context, &err);
    return strcmp(name, "quiet") == 0 || strcmp(name, "agnostic") == 0                                ? '-'
           : strcmp(name, "model") == 0 || strcmp(name, "set") == 0                                   ? '*'
           : strcmp(name, "conf") == 0 || strcmp(name, "classes") == 0 || strcmp(name, "device") == 0 ? '1'
                                                                                                      : 0;
}

static const char *near(void *context, const char *name)
{
    assert_ptr_equal(context, &err);
    return strcmp(name, "modle") == 0 ? "model" : NULL;
}

static const sk_batch_plan_keys keys = {kind, near, &err};

static void tell(sk_text *all, const char *text)
{
    sk_batch_plan p = {0};
    sk_problems problems = {0};
    assert_ok(sk_batch_plan_read(text, strlen(text), "p.yaml", &keys, &p, &problems, &err), &err);
    sk_text_appendf(all, "--- %s\n", text);
    for (size_t i = 0; i < p.count; i++)
        sk_text_appendf(all, "%u:%u %s%s%s\n", p.entries[i].line, p.entries[i].column, p.entries[i].name,
                        p.entries[i].text ? " = " : "", p.entries[i].text ? p.entries[i].text : "");
    sk_text_append(all, sk_text_get(&problems.lines));
    sk_batch_plan_free(&p);
    assert_true(!p.entries && p.count == 0);
    sk_problems_free(&problems);
}

static void lines(void **state)
{
    (void)state;
    sk_text all = {.limit = 1 << 20};
    static const char *const plans[] = {"conf: 0.5\nmodel: a.pt\nquiet: true\n",
                                        "model: [a.pt, b.pt]\nclasses: [1, 2, 3]\n",
                                        "set:\n  - gate=3\n  - 5\n  - [1, 2]\n",
                                        "classes: [a, [b]]\n",
                                        "classes: []\nconf: ''\n",
                                        "conf: {a: 1}\n",
                                        "quiet: false\nagnostic: maybe\n",
                                        "device: on\nconf: 7\n",
                                        "modle: a.pt\nnobody: 3\n",
                                        "conf: 1\nconf: 2\n",
                                        "model: 1.25\ndevice: off\n",
                                        "- a\n- b\n",
                                        "",
                                        "just words\n"};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        tell(&all, plans[i]);
    test_text_is("tests/app/told/batch_plan.txt", sk_text_get(&all));
    sk_text_free(&all);
    sk_batch_plan p = {0};
    sk_problems problems = {0};
    assert_ok(sk_batch_plan_read("a: [", 4, "p.yaml", &keys, &p, &problems, &err),
              &err); /* no YAML: one problem, in its library's words */
    assert_true(problems.count == 1 && p.count == 0 &&
                strncmp(sk_text_get(&problems.lines), "p.yaml:", 7) == 0);
    sk_batch_plan_free(&p);
    sk_problems_free(&problems);
    char *large = sk_malloc(SK_BATCH_PLAN_BYTES + 1);
    memset(large, '#', SK_BATCH_PLAN_BYTES + 1);
    for (size_t more = 0; more < 2; more++) {
        p = (sk_batch_plan){0};
        problems = (sk_problems){0};
        assert_ok(sk_batch_plan_read(large, SK_BATCH_PLAN_BYTES + more, "p.yaml", &keys, &p, &problems, &err),
                  &err);
        assert_int_equal(
            strstr(sk_text_get(&problems.lines), "bytes are more than a plan has (4194304)") != NULL, more);
        sk_batch_plan_free(&p);
        sk_problems_free(&problems);
    }
    sk_free(large);
}

static sk_status read_one(void *context, sk_error *e)
{
    static const char text[] = "model: [a.pt, b.pt]\nclasses: [1, 2, 3]\nquiet: true\nmodle: x\n";
    sk_batch_plan p = {0};
    sk_problems problems = {0};
    (void)context;
    const sk_status status = sk_batch_plan_read(text, strlen(text), "p.yaml", &keys, &p, &problems, e);
    sk_batch_plan_free(&p);
    sk_problems_free(&problems);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(read_one, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
