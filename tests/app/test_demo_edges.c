/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's state and page at their edges: long paths, little room for what shapes a result, no memory, files that are listed only where they
 * are. */
#include "demo_fixture.h"

#include "base/memory.h"
#include "support/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A path of 511 characters fits, one more does not. */
static void long_folders(void **state)
{
    (void)state;
    char paths[SK_DEMO_PARTS][512], folder[600], file[700];
    const size_t tail = strlen("/demo-pose.pt");
    for (size_t length = 510; length < 513; length++) {
        memset(folder, 'f', sizeof folder);
        for (size_t i = 100; i < length - tail; i += 100)
            folder[i] = '/';
        folder[length - tail] = '\0';
        assert_ok(sk_folder_make(folder, &err), &err);
        snprintf(file, sizeof file, "%s/demo-obb.pt", folder);
        put(file, "one");
        snprintf(file, sizeof file, "%s/demo-pose.pt", folder);
        assert_int_equal(strlen(file), length);
        put(file, "two");
        snprintf(file, sizeof file, "%s/demo-pose.p", folder); /* as the name would be cut off */
        put(file, "three");
        snprintf(file, sizeof file, "%s/demo-pose.pt", folder);
        assert_int_equal(sk_demo_find_models(folder, paths, &err), length < 512 ? SK_OK : SK_ERR_NOT_FOUND);
        if (length < 512)
            assert_string_equal(paths[SK_DEMO_POSES], file);
    }
    /* a folder is no model; an empty name is none */
    assert_ok(sk_folder_make("half/demo-pose.pt", &err), &err);
    put("half/demo-obb.pt", "one");
    assert_int_equal(sk_demo_find_models("half", paths, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(setenv("SKITTER_MODELS", "half", 1), 0);
    assert_int_equal(sk_demo_find_models("nowhere", paths, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "nowhere: the demo's models")); /* who is asked for comes first */
    assert_int_equal(unsetenv("SKITTER_MODELS"), 0);
}

/* Where the program lies, as the system says it. */
static char program[4400];

ssize_t readlink(const char *path, char *to, size_t room)
{
    if (strcmp(path, "/proc/self/exe") != 0 || !program[0])
        return syscall(SYS_readlink, path, to, room);
    const size_t length = strlen(program);
    memcpy(to, program, length < room ? length : room);
    return (ssize_t)(length < room ? length : room);
}

/* Whoever names no models gets those that came with the program: beside it, or where it was installed. */
static void models_of_the_program(void **state)
{
    (void)state;
    static const char *const places[] = {"here/share/skitter/models", "here/share/models"};
    char paths[SK_DEMO_PARTS][512], file[600], *folder = NULL;
    assert_int_equal(unsetenv("SKITTER_MODELS"), 0);
    assert_ok(sk_folder_make("here/bin", &err), &err);
    assert_non_null((folder = realpath("here/bin", NULL)));
    snprintf(program, sizeof program, "%s/skitter", folder);
    free(folder);
    assert_int_equal(sk_demo_find_models(NULL, paths, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "the demo's models, demo-obb.pt and demo-pose.pt, are not on this "
                                     "machine: looked in ../share/models and "
                                     "../share/skitter/models beside the program\nthey come with skitter's "
                                     "repository in share/models; name another "
                                     "folder with --models DIR or SKITTER_MODELS");
    for (int i = 0; i < 2; i++) { /* the first of the two places comes first */
        assert_ok(sk_folder_make(places[i], &err), &err);
        snprintf(file, sizeof file, "%s/demo-obb.pt", places[i]);
        put(file, "one");
        snprintf(file, sizeof file, "%s/demo-pose.pt", places[i]);
        put(file, "two");
        assert_ok(sk_demo_find_models(NULL, paths, &err), &err);
        assert_non_null(strstr(paths[SK_DEMO_BOXES], strchr(places[i], '/')));
        assert_non_null(strstr(paths[SK_DEMO_POSES], strchr(places[i], '/')));
        assert_ok(sk_demo_find_models("", paths, &err), &err); /* an empty name is none */
    }
    const int64_t before = sk_memory_live_bytes();
    assert_ok(sk_demo_find_models(NULL, paths, &err), &err);
    assert_int_equal(sk_memory_live_bytes(), before);
    program[0] = '\0';
}

/* What a folder says of itself is read up to 16 MiB: more than any demo writes. */
static void large_states(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        bool read;
    } rows[] = {{9 << 20, true}, {17 << 20, false}};
    const sk_demo_settings s = settings("large");
    assert_ok(sk_folder_make("large", &err), &err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = sk_malloc(rows[i].bytes);
        sk_demo_stage stage = SK_DEMO_EMPTY;
        static const char told[] = "{\"state\": \"drawn\", \"settings\": \"f\"}";
        memset(text, '\n', rows[i].bytes);
        memcpy(text, told, sizeof told - 1);
        assert_ok(sk_file_replace("large/demo.json", text, rows[i].bytes, &err), &err);
        sk_free(text);
        assert_true((sk_demo_read_state(&s, "f", &stage, &err) == SK_OK) == rows[i].read);
        assert_int_equal(stage, rows[i].read ? SK_DEMO_DRAWN : SK_DEMO_EMPTY);
    }
    assert_int_equal(unlink("large/demo.json"), 0);
}

/* With less room there is less of it, and never more than the room. */
static void little_room(void **state)
{
    (void)state;
    char paths[SK_DEMO_PARTS][512] = {"m1", "m2"}, whole[1024], part[1024];
    const sk_demo_settings s = settings("x");
    put("m1", "one");
    put("m2", "two");
    assert_ok(sk_demo_fingerprint(&s, paths, whole, sizeof whole, &err), &err);
    const size_t length = strlen(whole);
    assert_string_equal(whole + length - 48, "; model 7692c3ad3540bb80; model 3fc4ccfe745870e2");
    for (size_t room = 1; room <= length + 2; room++) {
        memset(part, '?', sizeof part);
        assert_ok(sk_demo_fingerprint(&s, paths, part, room, &err), &err);
        assert_int_equal(strlen(part), room <= length ? room - 1 : length);
        assert_int_equal(strncmp(part, whole, strlen(part)), 0);
        for (size_t k = room; k < sizeof part; k++)
            assert_true(part[k] == '?');
    }
}

/* --- memory --- */

static sk_status read_empty(void *context, sk_error *e)
{
    const sk_demo_settings s = settings(context);
    sk_demo_stage stage = SK_DEMO_FINISHED;
    const sk_status status = sk_demo_read_state(&s, "f", &stage, e);
    return status == SK_OK && stage != SK_DEMO_EMPTY ? SK_ERR_FORMAT : status;
}

static sk_status read_kept(void *context, sk_error *e)
{
    sk_demo_settings s = settings(context);
    sk_demo_stage stage = SK_DEMO_EMPTY;
    SK_TRY(sk_demo_write_state(&s, "f", SK_DEMO_DRAWN, NULL, e));
    SK_TRY(sk_demo_read_state(&s, "f", &stage, e));
    if (stage != SK_DEMO_DRAWN)
        return SK_ERR_FORMAT;
    s.restart = true;
    SK_TRY(sk_demo_read_state(&s, "other", &stage, e));
    return stage == SK_DEMO_BEGUN ? SK_OK : SK_ERR_FORMAT;
}

static void without_memory(void **state)
{
    (void)state;
    char empty[] = "empty", kept[] = "kept";
    assert_ok(sk_folder_make(empty, &err), &err);
    assert_ok(sk_folder_make(kept, &err), &err);
    assert_true(test_every_allocation(read_empty, empty) >= 8);
    assert_true(test_every_allocation(read_kept, kept) >= 6);
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("kept/demo.json", 1 << 20, &text, &length, &err), &err);
    assert_string_equal(text, "{\n  \"state\": \"drawn\",\n  \"settings\": \"f\"\n}\n");
    sk_free(text);
    for (uint64_t n = 1; n < 3; n++) { /* neither path, or one of them */
        const int64_t before = sk_memory_live_bytes();
        sk_memory_fail_nth(n);
        char *scene = sk_demo_scene("empty");
        sk_memory_fail_nth(0);
        sk_free(scene);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    put("kept/demo.json", "{\"settings\": \"f\"}"); /* no state is none */
    const sk_demo_settings s = settings(kept);
    sk_demo_stage stage = SK_DEMO_DRAWN;
    assert_ok(sk_demo_read_state(&s, "f", &stage, &err), &err);
    assert_int_equal(stage, SK_DEMO_EMPTY);
    put("kept/demo.json", "{\"state\": \"drawn\"}"); /* no settings are other ones */
    assert_int_equal(sk_demo_read_state(&s, "f", &stage, &err), SK_ERR_MISMATCH);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_folders),
                                       cmocka_unit_test(models_of_the_program), cmocka_unit_test(little_room),
                                       cmocka_unit_test(large_states), cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
