/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of found animals at its bounds: sixteen GiB to the byte, what counts as used, and memory that ends at any place. */
#include "app/inference_cache.h"
#include "base/file.h"
#include "skitter/log.h"
#include "support/fault.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;

static sk_inference_cache *open_it(const char *folder, const char *identity)
{
    sk_inference_cache *cache = NULL;
    char why[512];
    const sk_inference_wish wish = {folder, "a.mp4", identity};
    assert_ok(sk_inference_cache_open(&wish, &cache, why, &err), &err);
    assert_non_null(cache);
    assert_string_equal(why, "");
    return cache;
}

/* The path of one that was opened, and let go complete. Static text, one of four. */
static const char *made(const char *folder, const char *identity)
{
    static char paths[4][512];
    static int which;
    char *path = paths[which++ % 4];
    sk_inference_cache *c = open_it(folder, identity);
    snprintf(path, sizeof paths[0], "%s", sk_inference_cache_path(c));
    sk_inference_cache_finish(c);
    sk_inference_cache_close(&c);
    sk_inference_cache_close(&c);
    return path;
}

static void to_the_byte(void **state)
{
    (void)state;
    const char *large = made("bytes", "large\t1\n"), *small = made("bytes", "small\t1\n");
    const off_t rest = (off_t)(SK_INFERENCE_CACHE_BYTES - sk_file_size(small));
    for (int over = 0; over < 2; over++) {
        if (truncate(large, rest + over) != 0) {
            print_message("skipped: a file system without holes, or without room\n");
            skip();
        }
        (void)made("bytes", "small\t1\n");
        assert_int_equal(sk_file_exists(large), !over);
        assert_true(sk_file_exists(small));
    }
    sk_folder_empty_own("bytes", NULL);
}

/* Looking is using: what was opened stays longer than what was not, complete or not. */
static void what_is_used(void **state)
{
    (void)state;
    static const struct timespec then[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    const char *path = made("used", "conf\t1\n");
    struct stat info;
    for (int whole = 0; whole < 2; whole++) {
        assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
        sk_inference_cache *c = open_it("used", "conf\t1\n");
        assert_true(sk_inference_cache_complete(c));
        sk_inference_cache_close(&c);
        assert_int_equal(stat(path, &info), 0);
        assert_true(info.st_mtim.tv_sec > 1000);
    }
    sk_inference_row *rows = NULL;
    size_t count = 0;
    const char *other = made("used", "conf\t2\n");
    assert_int_equal(utimensat(AT_FDCWD, other, then, 0), 0);
    assert_ok(sk_inference_cache_list("used", &rows, &count, &err), &err);
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].path, other); /* unused for longest first */
    assert_true(rows[0].used == 1000 && rows[1].used > 1000);
    assert_string_equal(rows[1].path, path);
    sk_inference_cache_list_free(rows, count);
    /* of the same second by their paths */
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
    assert_ok(sk_inference_cache_list("used", &rows, &count, &err), &err);
    assert_true(strcmp(rows[0].path, rows[1].path) < 0);
    sk_inference_cache_list_free(rows, count);
}

static int warnings;

static void hear(void *context, sk_log_level level, const char *message)
{
    (void)context;
    warnings += level == SK_LOG_WARN && strstr(message, "what is found is not kept for another tracking: ");
}

/* Memory that is missing is said; who goes without hears why. */
static sk_status open_close(void *context, sk_error *error)
{
    sk_inference_cache *cache = NULL;
    char why[512];
    const sk_inference_wish wish = {"scarce", "a.mp4", context};
    const sk_status status = sk_inference_cache_open(&wish, &cache, why, error);
    if (status == SK_OK && !cache && !warnings)
        return sk_fail(error, SK_ERR_FORMAT, "it goes without");
    warnings = 0;
    assert_true(status == SK_OK || !cache);
    sk_inference_cache_close(&cache);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    static char identity[] = "conf\t1\nsource\ta.mp4\n";
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    assert_true(test_every_allocation(open_close, identity) > 8);
    sk_log_unlisten(&listener);
}

static sk_status list_all(void *context, sk_error *error)
{
    sk_inference_row *rows = NULL;
    size_t count = 0;
    const sk_status status = sk_inference_cache_list(context, &rows, &count, error);
    if (status == SK_OK && count != 2)
        return sk_fail(error, SK_ERR_FORMAT, "%zu are listed", count);
    sk_inference_cache_list_free(rows, count);
    return status;
}

static void listed_without_memory(void **state)
{
    (void)state;
    static char folder[] = "listed";
    (void)made(folder, "conf\t1\n");
    (void)made(folder, "conf\t2\n");
    assert_true(test_every_allocation(list_all, folder) > 6);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    assert_ok(sk_file_replace("a.mp4", "frames", 6, &err), &err);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_the_byte),
        cmocka_unit_test(what_is_used),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(listed_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
