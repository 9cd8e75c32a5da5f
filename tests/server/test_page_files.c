/* SPDX-License-Identifier: Apache-2.0 */
/* The page's own files: each is served under its name, the first one under none, and nothing else is. */
#include "server/asking.h"

#include "server/page_files.h"

static void files_are_served_by_name(void **state)
{
    (void)state;
    int n = 0;
    for (const sk_page_file *file = sk_page_files; file->name; file++, n++) {
        char target[200];
        char *text = NULL;
        snprintf(target, sizeof target, "/%s", file->name);
        assert_int_equal(get(target, &text), 200);
        assert_memory_equal(text, file->bytes, strnlen((const char *)file->bytes, file->n_bytes));
        sk_free(text);
        const asking again = {.method = "GET", .target = target, .headers = {.known_tag = file->tag}};
        assert_int_equal(ask(again, NULL), 304);
        assert_int_equal(ask((asking){.method = "DELETE", .target = target}, NULL), 405);
    }
    assert_true(n > 1);
    char *text = NULL, *index = NULL;
    assert_int_equal(get("/", &text), 200);
    assert_int_equal(get("/index.html", &index), 200);
    assert_string_equal(text, index);
    sk_free_all(text, index);
    assert_int_equal(get("/none.html", NULL), 404);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_served_by_name)};
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
