/* SPDX-License-Identifier: Apache-2.0 */
/* Folders as a page lists them: folders first, by names and numbers, what can be read and what can be chosen, from where to where. */
#include "server/asking.h"

#include "formats/config.h"

#include <fcntl.h>
#include <time.h>

static sk_config *list(const char *query)
{
    char target[1200], *text = NULL;
    sk_config *json = NULL;
    sk_error err = {0};
    snprintf(target, sizeof target, "/api/v1/files%s", query);
    const int code = get(target, &text);
    if (code != 200)
        fail_msg("%s: %d %s", query, code, text);
    assert_ok(sk_config_open_json(text, strlen(text), "files", &json, &err), &err);
    sk_free(text);
    return json;
}

static const sk_config_value *entry_of(const sk_config *json, size_t i)
{
    return sk_config_at(sk_config_get(sk_config_root(json), "entries"), i);
}

static void folders_first_by_names_and_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *name, *kind;
        int64_t bytes; /* -1: a folder */
    } wanted[] = {{"a", "folder", -1},    {"b2", "run", -1},         {"b10", "model", -1},
                  {"link", "folder", -1}, {"A.mp4", "video", 3},     {"v1.mp4", "video", 0},
                  {"v2.png", "image", 4}, {"v10.onnx", "model", 10}, {"z.txt", "other", 1}};
    sk_error err = {0};
    mkdir(place("top/l"), 0700);
    mkdir(place("top/l/a"), 0700);
    mkdir(place("top/l/b10"), 0700);
    mkdir(place("top/l/b2"), 0700);
    mkdir(place("top/l/.h"), 0700);
    put("top/l/b2/run.json", "{}");
    put("top/l/b10/best_model.h5", "x");
    put("top/l/v10.onnx", "0123456789");
    put("top/l/v2.png", "1234");
    put("top/l/v1.mp4", "");
    put("top/l/A.mp4", "123");
    put("top/l/z.txt", "x");
    put("top/l/.hidden", "x");
    assert_int_equal(symlink("a", place("top/l/link")), 0);
    assert_int_equal(symlink("none", place("top/l/broken")), 0);
    assert_int_equal(mkfifo(place("top/l/pipe"), 0600), 0);
    const struct timespec then[2] = {{.tv_sec = 1600000000, .tv_nsec = 999999999},
                                     {.tv_sec = 1600000000, .tv_nsec = 999999999}};
    assert_int_equal(utimensat(AT_FDCWD, place("top/l/z.txt"), then, 0), 0);
    sk_config *json = list("?path=l");
    const sk_config_value *root = sk_config_root(json);
    assert_string_equal(sk_config_text_or(root, "path", ""), place("top/l"));
    assert_string_equal(sk_config_text_or(root, "parent", "-"), place("top"));
    assert_false(sk_config_bool_or(root, "cut", true));
    const size_t n = sizeof wanted / sizeof *wanted;
    assert_int_equal(sk_config_count(sk_config_get(root, "entries")), n);
    for (size_t i = 0; i < n; i++) {
        const sk_config_value *e = entry_of(json, i);
        char path[300];
        snprintf(path, sizeof path, "top/l/%s", wanted[i].name);
        assert_string_equal(sk_config_text_or(e, "name", ""), wanted[i].name);
        assert_string_equal(sk_config_text_or(e, "kind", ""), wanted[i].kind);
        assert_string_equal(sk_config_text_or(e, "path", ""), place(path));
        assert_int_equal(sk_config_int_or(e, "bytes", -1), wanted[i].bytes);
        assert_int_equal(sk_config_bool_or(e, "folder", false), wanted[i].bytes < 0);
        assert_true(sk_config_bool_or(e, "readable", false));
    }
    assert_string_equal(sk_config_text_or(entry_of(json, n - 1), "modified", ""), "2020-09-13T12:26:40Z");
    sk_config_close(&json);
    json = list("?path=l&hidden=1");
    assert_int_equal(sk_config_count(sk_config_get(sk_config_root(json), "entries")), n + 2);
    assert_string_equal(sk_config_text_or(entry_of(json, 0), "name", ""), ".h");
    sk_config_close(&json);
    /* at the top the way up leads to the list of folders */
    json = list("?path=.");
    assert_string_equal(sk_config_text_or(sk_config_root(json), "parent", "-"), "");
    sk_config_close(&json);
    assert_ok(sk_roots_add(&asked->roots, place("outside"), false, &err), &err);
    json = list("");
    const size_t roots = sk_config_count(sk_config_get(sk_config_root(json), "entries"));
    assert_int_equal(roots, asked->roots.count);
    assert_true(sk_config_bool_or(entry_of(json, 0), "writable", false));
    assert_string_equal(sk_config_text_or(entry_of(json, 0), "path", ""), place("top"));
    assert_false(sk_config_bool_or(entry_of(json, roots - 1), "writable", true));
    assert_true(sk_config_bool_or(entry_of(json, roots - 1), "folder", false) &&
                sk_config_bool_or(entry_of(json, roots - 1), "readable", false));
    assert_false(sk_config_bool_or(sk_config_root(json), "cut", true));
    sk_config_close(&json);
}

/* The disk's own top has nothing above it. */
static void the_whole_disk(void **state)
{
    (void)state;
    const char *folders[] = {"/"};
    const sk_server_settings s = {.folders = folders, .n_folders = 1, .state = place("disk")};
    sk_server *other = NULL, *before = asked;
    sk_error err = {0};
    assert_ok(sk_server_prepare(&s, &other, &err), &err);
    sk_auth_set_port(&other->auth, 8765);
    asked = other;
    sk_config *json = list("?path=/");
    assert_string_equal(sk_config_text_or(sk_config_root(json), "parent", "-"), "");
    sk_config_close(&json);
    asked = before;
    sk_server_close(&other);
}

/* Five thousand entries are shown, and it is said where there are more. */
static void long_lists_are_cut(void **state)
{
    (void)state;
    mkdir(place("top/many"), 0700);
    put("top/many/0000", "x");
    const int folder = open(place("top/many"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    for (int i = 1; i < 5001; i++) {
        char name[16];
        snprintf(name, sizeof name, "%04d", i);
        if (i == 5000) { /* as many as there is room for */
            sk_config *json = list("?path=many");
            assert_int_equal(sk_config_count(sk_config_get(sk_config_root(json), "entries")), i);
            assert_false(sk_config_bool_or(sk_config_root(json), "cut", true));
            sk_config_close(&json);
        }
        assert_int_equal(linkat(folder, "0000", folder, name, 0), 0);
    }
    close(folder);
    sk_config *json = list("?path=many");
    assert_int_equal(sk_config_count(sk_config_get(sk_config_root(json), "entries")), 5000);
    assert_true(sk_config_bool_or(sk_config_root(json), "cut", false));
    sk_config_close(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folders_first_by_names_and_numbers),
                                       cmocka_unit_test(the_whole_disk),
                                       cmocka_unit_test(long_lists_are_cut)};
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
