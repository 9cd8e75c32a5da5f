/* SPDX-License-Identifier: Apache-2.0 */
#include "media/text_list.h"

#include "base/file.h"
#include "base/text.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Lists of sources: which lines name one, and what each name means. */

static sk_text seen;
static int stop_after; /* so many are taken, then it fails */

static sk_status take(void *context, const char *name, sk_error *err)
{
    (void)context;
    const size_t skip = strncmp(name, test_folder(), strlen(test_folder())) == 0 ? strlen(test_folder()) : 0;
    sk_text_appendf(&seen, "%s%s;", skip ? "HERE" : "", name + skip);
    return --stop_after ? SK_OK : sk_fail(err, SK_ERR_IO, "enough");
}

static const char *list_of(const char *text, size_t bytes)
{
    static char path[4200];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/lists/a.txt", test_folder());
    assert_ok(sk_file_replace(path, text, bytes, &err), &err);
    return path;
}

static int begin(void **state)
{
    char path[4200];
    (void)state;
    snprintf(path, sizeof path, "%s/lists/sub", test_folder());
    if (sk_folder_make(path, NULL) != SK_OK)
        return -1;
    strcat(path, "/there.mp4");
    return sk_file_replace(path, "x", 1, NULL) == SK_OK && chdir(test_folder()) == 0 &&
                   sk_file_replace("near.mp4", "x", 1, NULL) == SK_OK
               ? 0
               : -1;
}

static void lines_name_sources(void **state)
{
    (void)state;
    static const struct {
        const char *text, *seen;
    } cases[] = {{"sub/there.mp4\n", "HERE/lists/sub/there.mp4;"}, /* beside the list */
                 {"near.mp4", "near.mp4;"},                        /* from where the program runs */
                 {"sub/missing.mp4\n", "sub/missing.mp4;"},        /* as it is written: told by that name */
                 {"sub/*.mp4\nsub/t?ere.mp4\nsub/[t]here.mp4\n",
                  "HERE/lists/sub/*.mp4;HERE/lists/sub/t?ere.mp4;HERE/lists/sub/[t]here.mp4;"},
                 {"/nowhere/*.mp4\n", "/nowhere/*.mp4;"},                             /* whole already */
                 {"rtsp://camera/live?channel=1\n", "rtsp://camera/live?channel=1;"}, /* no pattern */
                 {"  near.mp4 \t\r\n\t\n# near.mp4\n \r\n  # too\nsub/there.mp4\r\n",
                  "near.mp4;HERE/lists/sub/there.mp4;"},
                 {"two words.mp4\n", "two words.mp4;"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        stop_after = -1;
        assert_ok(sk_text_list_read(list_of(cases[i].text, strlen(cases[i].text)), take, NULL, &err), &err);
        assert_string_equal(sk_text_get(&seen), cases[i].seen);
        sk_text_free(&seen);
    }
}

static void what_is_no_list_is_told(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_int_equal(sk_text_list_read(list_of("# none\n\n", 8), take, NULL, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "a.txt: names no source; one path a line is read"));
    assert_int_equal(sk_text_list_read(list_of("near.mp4\n\0x", 11), take, NULL, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "is no text"));
    assert_string_equal(sk_text_get(&seen), "");
    stop_after = 2;
    assert_int_equal(sk_text_list_read(list_of("a\nb\nc\n", 6), take, NULL, &err), SK_ERR_IO);
    assert_string_equal(err.message, "enough");
    assert_string_equal(sk_text_get(&seen), "a;b;");
    sk_text_free(&seen);
    assert_true(sk_path_is_text_list(list_of("a", 1)));
    assert_false(sk_path_is_text_list("near.mp4"));
    assert_false(sk_path_is_text_list("none.txt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_name_sources),
        cmocka_unit_test(what_is_no_list_is_told),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
