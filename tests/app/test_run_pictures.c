/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures that were given one by one, as the list that a run is known by: whose list may be replaced, what its lines are, and lists of
 * nobody's folder. */
#include "support/fault.h"
#include "support/test.h"

#include "app/run_pictures.h"
#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;
static char a[] = "a.png", b[] = "b.png", long_one[] = "another.png";
static char *const one[] = {a}, *const other[] = {b}, *const longer[] = {long_one}, *const both[] = {a, b};

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* What lies at the path; static text. */
static const char *text_at(const char *path)
{
    static char out[512];
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, sizeof out - 1, &text, &length, &err), &err);
    snprintf(out, sizeof out, "%s", text);
    assert_int_equal(strlen(out), length);
    sk_free(text);
    return out;
}

static sk_status write_list(size_t count, char *const *paths, const char *folder, bool restart,
                            bool overwrite)
{
    const sk_run_pictures how = {count, paths, folder, restart, overwrite};
    char *path = NULL, wanted[64];
    const sk_status status = sk_run_pictures_write(&how, &path, &err);
    snprintf(wanted, sizeof wanted, "%s/pictures.txt", folder);
    assert_string_equal(path, wanted);
    sk_free(path);
    return status;
}

/* A list that says the same stays as it is; another's only goes with --restart where a run is known by it, with --overwrite where
 * none is. */
static void whose_list(void **state)
{
    (void)state;
    static const struct {
        char *const *paths;
        size_t count;
    } others[] = {{other, 1}, {longer, 1}, {both, 2}, {NULL, 0}};
    for (int used = 0; used < 2; used++)
        for (int how = 0; how < 4; how++)
            for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
                const bool restart = how & 1, overwrite = how & 2;
                char folder[32], list[64], wanted[400];
                snprintf(folder, sizeof folder, "f%d%d%zu", used, how, i);
                snprintf(list, sizeof list, "%s/pictures.txt", folder);
                assert_ok(write_list(1, one, folder, false, false), &err);
                assert_string_equal(text_at(list), "a.png\n");
                if (used) {
                    char file[64];
                    snprintf(file, sizeof file, "%s/run.json", folder);
                    put(file, "{}");
                }
                assert_ok(write_list(1, one, folder, restart, overwrite), &err);
                const sk_status status =
                    write_list(others[i].count, others[i].paths, folder, restart, overwrite);
                if (used ? restart : overwrite) {
                    assert_ok(status, &err);
                    assert_string_not_equal(text_at(list), "a.png\n");
                    continue;
                }
                assert_int_equal(status, SK_ERR_MISMATCH);
                assert_string_equal(text_at(list), "a.png\n");
                snprintf(
                    wanted, sizeof wanted,
                    used ? "%s holds a run over other pictures: %s/pictures.txt lists them. Run it with "
                           "these to continue, choose another --out, or begin anew here with --restart"
                         : "%s/pictures.txt is there already, and no run of skitter began in this folder. "
                           "Choose another --out, move it away, or give --overwrite to replace it",
                    folder, folder);
                assert_string_equal(err.message, wanted);
            }
}

/* The same list is not written again: the run is known by its time, too. */
static void it_stays_as_old(void **state)
{
    (void)state;
    static const struct timespec then[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct stat info;
    for (size_t n = 0; n < 3; n++) {
        char folder[16], list[64];
        snprintf(folder, sizeof folder, "old%zu", n);
        snprintf(list, sizeof list, "%s/pictures.txt", folder);
        assert_ok(write_list(n, both, folder, false, false), &err);
        assert_int_equal(utimensat(AT_FDCWD, list, then, 0), 0);
        assert_ok(write_list(n, both, folder, true, true), &err);
        assert_int_equal(stat(list, &info), 0);
        assert_int_equal(info.st_mtim.tv_sec, 1000);
        assert_string_equal(text_at(list), n == 0 ? "" : n == 1 ? "a.png\n" : "a.png\nb.png\n");
    }
}

/* What a list would take for a remark, or for a blank, is a name; a line is one name. */
static void names(void **state)
{
    (void)state;
    static char remark[] = "#1.png", blank[] = " x.png", tab[] = "\tx.png", plain[] = "x #2.png",
                path[] = "/a/#.png";
    static char *const all[] = {remark, blank, tab, plain, path};
    assert_ok(write_list(5, all, "names", false, false), &err);
    assert_string_equal(text_at("names/pictures.txt"), "./#1.png\n./ x.png\n./\tx.png\nx #2.png\n/a/#.png\n");
    static char broken[] = "x\ny.png", returned[] = "x.png\r";
    static char *const breaks[] = {broken, returned};
    for (int i = 0; i < 2; i++) {
        char *const two[] = {a, breaks[i], b}, *made = NULL, wanted[120];
        const sk_run_pictures how = {3, two, "breaks", false, false};
        assert_int_equal(sk_run_pictures_write(&how, &made, &err), SK_ERR_ARG);
        snprintf(wanted, sizeof wanted, "%s: a name with a line break cannot be one of many", breaks[i]);
        assert_string_equal(err.message, wanted);
        assert_null(made);
        assert_false(sk_file_exists("breaks"));
    }
}

/* Of a run without a folder: a file of its own each time. */
static void nobodys_folder(void **state)
{
    (void)state;
    char *paths[2];
    const sk_run_pictures how = {2, both, NULL, false, false};
    for (int i = 0; i < 2; i++) {
        assert_ok(sk_run_pictures_write(&how, &paths[i], &err), &err);
        const size_t n = strlen(paths[i]);
        assert_true(strncmp(paths[i], "/tmp/skitter-pictures-", 22) == 0 && n == 32);
        assert_string_equal(paths[i] + n - 4, ".txt"); /* or it would be read as a picture */
        assert_string_equal(text_at(paths[i]), "a.png\nb.png\n");
    }
    assert_string_not_equal(paths[0], paths[1]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(unlink(paths[i]), 0);
        sk_free(paths[i]);
    }
}

static sk_status write_both(void *context, sk_error *error)
{
    const sk_run_pictures how = {2, both, context, true, true};
    char *path = NULL;
    const sk_status status = sk_run_pictures_write(&how, &path, error);
    if (!context && path)
        (void)unlink(path);
    sk_free(path);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    static char folder[] = "scarce";
    assert_true(test_every_allocation(write_both, folder) >= 3);
    assert_string_equal(text_at("scarce/pictures.txt"), "a.png\nb.png\n");
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(whose_list), cmocka_unit_test(it_stays_as_old),
                                       cmocka_unit_test(names), cmocka_unit_test(nobodys_folder),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
