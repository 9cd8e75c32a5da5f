/* SPDX-License-Identifier: Apache-2.0 */
/* A run's folder between others: one that is made just before by somebody else, files of nobody's run, what makes a folder a run's, and
 * pictures that were mended from the first one on. */
#include "app/run_folder.h"
#include "app/source_identity.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/fault.h"
#include "support/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;
static const sk_instances nothing = {0};
static const char *const files[] = {"results.csv", "labels/", "run.json", NULL};
static const sk_run_begin usual = {.identity = "conf\t0.25\n", .source = "in.mp4", .files = files};

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* --- somebody else, who puts a file into a folder as soon as it is made --- */

static const char *visitor; /* null: nobody */

__attribute__((visibility("default"))) int mkdir(const char *path, mode_t mode)
{
    static int (*real)(const char *, mode_t);
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "mkdir");
        memcpy(&real, &symbol, sizeof real);
    }
    const int made = real(path, mode);
    if (made == 0 && visitor) {
        char file[512];
        snprintf(file, sizeof file, "%s/%s", path, visitor);
        FILE *out = fopen(file, "w");
        if (out)
            fclose(out);
    }
    return made;
}

/* Opened and given up again: what is left of it. */
static bool stays(const char *path)
{
    sk_run_folder *folder = NULL;
    assert_ok(sk_run_folder_open(path, &folder, &err), &err);
    assert_string_equal(sk_run_folder_path(folder), path);
    sk_run_folder_abandon(&folder);
    assert_null(folder);
    return sk_file_exists(path);
}

/* A folder is only taken away by who made it, and where nobody has put anything into it since. */
static void whose_it_is(void **state)
{
    (void)state;
    static const char *const paths[] = {"gone", "gone/", "./gone", "gone/on/and/on"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_false(stays(paths[i]));
        assert_false(sk_file_exists("gone"));
    }
    assert_ok(sk_folder_make("theirs", &err), &err);
    assert_true(stays("theirs"));
    assert_false(stays("theirs/ours"));
    assert_true(sk_file_exists("theirs"));
    static const char *const visitors[] = {"results.csv", "run.json"};
    for (size_t i = 0; i < 2; i++) { /* results of a run that was quicker: they are not removed with ours */
        char file[64];
        visitor = visitors[i];
        snprintf(file, sizeof file, "quick%zu", i);
        assert_true(stays(file));
        snprintf(file, sizeof file, "quick%zu/%s", i, visitors[i]);
        assert_true(sk_file_exists(file));
    }
    visitor = NULL;
}

/* It is a run's from when it has one of the two files, even where that is a link that leads nowhere. */
static void whether_one_began(void **state)
{
    (void)state;
    static const char *const signs[] = {"run.json", "journal.skj"};
    assert_false(sk_run_folder_is_used("nowhere"));
    for (int i = 0; i < 4; i++) {
        char folder[16], file[64];
        snprintf(folder, sizeof folder, "sign%d", i);
        assert_ok(sk_folder_make(folder, &err), &err);
        assert_false(sk_run_folder_is_used(folder));
        snprintf(file, sizeof file, "%s/results.csv", folder);
        put(file, "x");
        assert_false(sk_run_folder_is_used(folder));
        snprintf(file, sizeof file, "%s/%s", folder, signs[i % 2]);
        if (i < 2)
            put(file, "");
        else
            assert_int_equal(symlink("nowhere", file), 0);
        assert_true(sk_run_folder_is_used(folder));
    }
}

/* What no run wrote is not written over, unless that is wanted; what the run would not write is nobody's business. */
static void files_of_nobody(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool folder, refused;
    } rows[] = {{"results.csv", false, true},
                {"labels", true, true},
                {"run.json", false, true},
                {"notes.txt", false, false},
                {"plots", true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char folder[16], file[64], inside[80], wanted[400];
        sk_run_folder *run = NULL;
        sk_run_begin how = usual;
        snprintf(folder, sizeof folder, "of%zu", i);
        snprintf(file, sizeof file, "%s/%s", folder, rows[i].name);
        snprintf(inside, sizeof inside, "%s/theirs.txt", file);
        assert_ok(sk_folder_make(rows[i].folder ? file : folder, &err), &err);
        put(rows[i].folder ? inside : file, "theirs");
        assert_ok(sk_run_folder_open(folder, &run, &err), &err);
        assert_int_equal(sk_run_folder_begin(run, &how, &err), rows[i].refused ? SK_ERR_MISMATCH : SK_OK);
        if (rows[i].refused) {
            snprintf(
                wanted, sizeof wanted,
                "%s%s is there already, and no run of skitter began in this folder. Choose another --out, "
                "move it away, or give --overwrite to replace it",
                file, rows[i].folder ? "/" : "");
            assert_string_equal(err.message, wanted);
            assert_int_equal(sk_run_folder_stage(run), SK_RUN_HELD);
            assert_false(sk_run_folder_is_used(folder) && strcmp(rows[i].name, "run.json") != 0);
            how.overwrite = true;
            assert_ok(sk_run_folder_begin(run, &how, &err), &err);
        }
        sk_run_folder_close(&run);
        assert_true(sk_file_exists(rows[i].folder ? inside : file));
    }
}

static void append(sk_run_folder *run, const char *picture, int64_t index, const char *problem)
{
    const sk_result_frame frame = {.source = picture,
                                   .index = index,
                                   .instances = &nothing,
                                   .problem = problem,
                                   .picture = sk_picture_stamp(picture)};
    assert_ok(sk_run_folder_append(run, &frame, &err), &err);
}

/* The first picture of all that was mended is where a run goes on from, also where that is the very first. */
static void mended_from_the_first(void **state)
{
    (void)state;
    sk_run_begin how = usual;
    how.pictures = true;
    for (int first = 0; first < 3; first++) {
        char folder[16], names[3][16];
        sk_run_folder *run = NULL;
        snprintf(folder, sizeof folder, "mended%d", first);
        assert_ok(sk_run_folder_open(folder, &run, &err), &err);
        assert_ok(sk_run_folder_begin(run, &how, &err), &err);
        for (int i = 0; i < 3; i++) {
            snprintf(names[i], sizeof names[i], "%d-%d.png", first, i);
            put(names[i], "torn");
            append(run, names[i], i, i >= first ? "torn" : NULL);
        }
        sk_run_folder_close(&run);
        assert_ok(sk_run_folder_open(folder, &run, &err), &err);
        assert_ok(sk_run_folder_begin(run, &how, &err), &err);
        assert_int_equal(sk_run_folder_known(run), 3);
        assert_int_equal(sk_run_folder_last_index(run), 2);
        sk_run_folder_close(&run);
        for (int i = first; i < 3; i++)
            put(names[i], "a picture now");
        assert_ok(sk_run_folder_open(folder, &run, &err), &err);
        assert_ok(sk_run_folder_begin(run, &how, &err), &err);
        assert_int_equal(sk_run_folder_known(run), first);
        assert_int_equal(sk_run_folder_last_index(run), first - 1);
        sk_run_folder_close(&run);
    }
}

/* Of pictures that were left out the first one's problem is told, and there may be many. */
static void left_out(void **state)
{
    (void)state;
    sk_run_folder *run = NULL;
    assert_ok(sk_run_folder_open(NULL, &run, &err), &err);
    assert_ok(sk_run_folder_begin(run, &usual, &err), &err);
    for (int i = 0; i < 40; i++) {
        char problem[32];
        snprintf(problem, sizeof problem, "torn %d", i);
        const sk_result_frame picture = {.source = "a.png", .index = 10 + i, .problem = problem};
        assert_ok(sk_run_folder_leave_out(run, &picture, &err), &err);
        assert_int_equal(sk_run_folder_left_out(run), i + 1);
        assert_string_equal(sk_run_folder_first_problem(run), "torn 0");
    }
    sk_run_folder_close(&run);
}

static sk_status hold_it(void *context, sk_error *error)
{
    (void)context;
    sk_lock *lock = NULL;
    sk_lock_holder holder = {0};
    SK_TRY(sk_run_folder_hold("held/by/us", &lock, &holder, error));
    sk_lock_close(&lock);
    return SK_OK;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(hold_it, NULL) >= 2);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_it_is),     cmocka_unit_test(whether_one_began),
        cmocka_unit_test(files_of_nobody), cmocka_unit_test(mended_from_the_first),
        cmocka_unit_test(left_out),        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
