/* SPDX-License-Identifier: Apache-2.0 */
/* Where the files of a SLEAP model are found: in a folder, its zip, or beside a file that is named; what each is called in errors; which
 * kind of model it is by its configuration; and what is too large, empty or not there. */
#include "support/test.h"
#include "support/torch_writer.h"

#include "base/file.h"
#include "models/sleap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static sk_error err;

static const char *in_folder(const char *name)
{
    static char path[4][4300];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_folder(), name);
    return path[turn];
}

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(in_folder(name), text, strlen(text), &err), &err);
}

static void make(const char *name)
{
    assert_int_equal(mkdir(in_folder(name), 0700), 0);
}

static sk_sleap_source *opened(const char *path)
{
    sk_sleap_source *s = NULL;
    assert_ok(sk_sleap_source_open(path, &s, &err), &err);
    return s;
}

static void reads(sk_sleap_source *s, const char *name, const char *wanted)
{
    const char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_sleap_source_read(s, name, &bytes, &length, &err), &err);
    assert_int_equal(length, strlen(wanted));
    assert_memory_equal(bytes, wanted, length);
}

/* SHA-256 of "one" and of "onetwo" */
#define HASH_ONE     "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
#define HASH_ONE_TWO "25b6746d5172ed6352966a013d93ac846e1110d5a25e8f183b5931f4688842a1"
#define HASH_NONE    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void holds_one_and_two(sk_sleap_source *s, const char *path_of_one)
{
    char hash[65];
    sk_sleap_source_hash(s, hash);
    assert_string_equal(hash, HASH_NONE);
    assert_true(sk_sleap_source_has(s, "one") && sk_sleap_source_has(s, "two"));
    assert_false(sk_sleap_source_has(s, "three") || sk_sleap_source_has(s, "sub"));
    assert_string_equal(sk_sleap_source_path(s, "one"), path_of_one);
    reads(s, "one", "one");
    sk_sleap_source_hash(s, hash);
    assert_string_equal(hash, HASH_ONE);
    sk_sleap_source_hash(s, hash); /* to ask changes nothing */
    assert_string_equal(hash, HASH_ONE);
    reads(s, "two", "two");
    sk_sleap_source_hash(s, hash);
    assert_string_equal(hash, HASH_ONE_TWO);
}

static void folders_and_files_in_them(void **state)
{
    (void)state;
    static const struct {
        const char *path, *weights; /* null: the usual ones */
    } cases[] = {{"m", NULL},
                 {"m/last.ckpt", "last.ckpt"},
                 {"m/w.h5", "w.h5"},
                 {"m/training_config.json", NULL},
                 {"m/one", NULL}};
    char one[4300];
    make("m");
    make("m/sub");
    put("m/one", "one");
    put("m/two", "two");
    put("m/last.ckpt", "x");
    put("m/w.h5", "x");
    put("m/training_config.json", "{}");
    snprintf(one, sizeof one, "%s", in_folder("m/one"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_sleap_source *s = opened(in_folder(cases[i].path));
        assert_string_equal(sk_sleap_source_weights(s, "usual.h5"),
                            cases[i].weights ? cases[i].weights : "usual.h5");
        holds_one_and_two(s, one);
        sk_sleap_source_close(&s);
        assert_null(s);
    }
    sk_sleap_source_close(&(sk_sleap_source *){NULL});
}

static void a_folder_may_be_called_like_a_file(void **state)
{
    (void)state;
    static const char *const names[] = {"a.zip", "b.h5", "c.ckpt"};
    for (int i = 0; i < 3; i++) {
        char path[100], one[4400];
        make(names[i]);
        snprintf(path, sizeof path, "%s/one", names[i]);
        put(path, "one");
        snprintf(path, sizeof path, "%s/two", names[i]);
        put(path, "two");
        snprintf(one, sizeof one, "%s/one", in_folder(names[i]));
        sk_sleap_source *s = opened(in_folder(names[i]));
        assert_string_equal(sk_sleap_source_weights(s, "usual"), "usual");
        holds_one_and_two(s, one);
        sk_sleap_source_close(&s);
    }
}

/* The zip of a folder `inside`: its files, and a configuration called so. */
static const char *zip_of(const char *inside, const char *config, bool deflate)
{
    static const char *const files[] = {"one", "two", "empty"};
    tw_zip zip = {.deflate = deflate};
    char name[100];
    if (config) {
        snprintf(name, sizeof name, "%s%s", inside, config);
        tw_zip_add(&zip, name, "{}", 2);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", inside, files[i]);
        tw_zip_add(&zip, name, files[i], i < 2 ? strlen(files[i]) : 0);
    }
    tw_zip_finish(&zip);
    const char *path = tw_save(&zip, "source.zip");
    tw_zip_free(&zip);
    return path;
}

static void zips(void **state)
{
    (void)state;
    static const char *const configs[] = {"training_config.yaml", "training_config.yml",
                                          "training_config.json"};
    for (int i = 0; i < 6; i++) {
        const char *inside = i % 2 ? "deep/er/" : "";
        const char *path = zip_of(inside, configs[i / 2], i % 2 == 1);
        char one[4400];
        const char *bytes;
        size_t length;
        snprintf(one, sizeof one, "%s:%sone", path, inside);
        sk_sleap_source *s = opened(path);
        assert_true(sk_sleap_source_has(s, configs[i / 2]));
        assert_string_equal(sk_sleap_source_weights(s, "usual"), "usual");
        holds_one_and_two(s, one);
        assert_int_equal(sk_sleap_source_read(s, "three", &bytes, &length, &err), SK_ERR_NOT_FOUND);
        assert_non_null(strstr(err.message, "three: not in the zip"));
        assert_int_equal(sk_sleap_source_read(s, "empty", &bytes, &length, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "empty: the file is empty"));
        sk_sleap_source_close(&s);
    }
    sk_sleap_source *s = (sk_sleap_source *)&err;
    assert_int_equal(sk_sleap_source_open(zip_of("", NULL, false), &s, &err), SK_ERR_FORMAT);
    assert_null(s);
    assert_non_null(strstr(err.message,
                           "source.zip: no training_config.json or training_config.yaml in this zip: "
                           "not a SLEAP model"));
    put("no.zip", "PK");
    assert_int_equal(sk_sleap_source_open(in_folder("no.zip"), &s, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_sleap_source_open(test_missing("m.zip"), &s, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "m.zip: no such model folder or file"));
}

/* Eight files are read of one source, a ninth is not; each counts, also where it was read before. */
static void as_many_files_as_there_is_room_for(void **state)
{
    (void)state;
    put("training_config.json", "{}");
    put("f", "f");
    for (int zip = 0; zip < 2; zip++) {
        const char *bytes;
        size_t length;
        sk_sleap_source *s = opened(zip ? zip_of("", "training_config.json", true) : in_folder("f"));
        for (int i = 0; i < 8; i++)
            reads(s, zip ? "one" : "f", zip ? "one" : "f");
        assert_int_equal(sk_sleap_source_read(s, zip ? "one" : "f", &bytes, &length, &err), SK_ERR_INTERNAL);
        assert_non_null(strstr(err.message, ": more than 8 files read"));
        sk_sleap_source_close(&s);
    }
    put("hollow", "");
    sk_sleap_source *s = opened(in_folder("f"));
    const char *bytes;
    size_t length;
    assert_int_equal(sk_sleap_source_read(s, "hollow", &bytes, &length, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "/hollow: the file is empty"));
    assert_int_equal(sk_sleap_source_read(s, "nowhere", &bytes, &length, &err), SK_ERR_NOT_FOUND);
    sk_sleap_source_close(&s);
}

/* A zip that says of a file of some bytes that it is one of 300 MiB: it is not believed far enough to find out. */
static void what_inflates_too_far(void **state)
{
    (void)state;
    const uint32_t claimed = (uint32_t)300 << 20;
    char bytes_of[9000], wanted[200];
    for (size_t i = 0; i < sizeof bytes_of; i++)
        bytes_of[i] = (char)(i * i * 2654435761u >> 13);
    tw_zip zip = {.deflate = true};
    tw_zip_add(&zip, "training_config.json", "{}", 2);
    tw_zip_add(&zip, "best_model.h5", bytes_of, sizeof bytes_of);
    tw_zip_finish(&zip);
    uint8_t *entry = NULL; /* the last one of the directory */
    for (size_t i = 0; i + 46 < zip.out.length; i++)
        if (memcmp(zip.out.bytes + i, "PK\1\2", 4) == 0)
            entry = zip.out.bytes + i;
    assert_non_null(entry);
    for (int i = 0; i < 4; i++)
        entry[24 + i] = (uint8_t)(claimed >> 8 * i);
    unsetenv("SKITTER_MEMORY_LIMIT");
    sk_sleap_source *s = opened(tw_save(&zip, "bomb.zip"));
    assert_true(zip.out.length > 4096);
    const char *bytes;
    size_t n;
    assert_int_equal(sk_sleap_source_read(s, "best_model.h5", &bytes, &n, &err), SK_ERR_LIMIT);
    snprintf(wanted, sizeof wanted, "bomb.zip:best_model.h5: inflates to 300 MiB from a zip of %zu KiB",
             zip.out.length >> 10);
    if (!strstr(err.message, wanted))
        fail_msg("%s, not %s", err.message, wanted);
    sk_sleap_source_close(&s);
    tw_zip_free(&zip);
}

static void kind_is(const char *path, int wanted)
{
    int format = -1;
    assert_ok(sk_sleap_format_of(path, &format, &err), &err);
    if (format != wanted)
        fail_msg("%s: %d, not %d", path, format, wanted);
}

static void kinds_by_configuration(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *config;
        int format;
    } cases[] = {{"k1", "training_config.yaml", SK_FORMAT_SLEAP_NN},
                 {"k2", "training_config.yml", SK_FORMAT_SLEAP_NN},
                 {"k3", "training_config.json", SK_FORMAT_SLEAP_KERAS},
                 {"k4", "training_config.toml", 0},
                 {"k5", "initial_config.json", 0}};
    static const char *const beside[][2] = {
        {"best.ckpt", "1"}, {"best_model.h5", "1"}, {"README", "0"}, {"model.onnx", "0"}, {"x.pt", "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[200];
        make(cases[i].folder);
        kind_is(in_folder(cases[i].folder), 0);
        snprintf(path, sizeof path, "%s/%s", cases[i].folder, cases[i].config);
        put(path, "{}");
        kind_is(in_folder(cases[i].folder), cases[i].format);
        kind_is(in_folder(path), cases[i].format);
        for (int k = 0; k < 5; k++) {
            snprintf(path, sizeof path, "%s/%s", cases[i].folder, beside[k][0]);
            put(path, "x");
            kind_is(in_folder(path), beside[k][1][0] == '1' ? cases[i].format : 0);
        }
        kind_is(zip_of("a/", cases[i].config, false), cases[i].format);
    }
    put("k1/training_config.json", "{}"); /* sleap-nn keeps SLEAP's beside its own */
    kind_is(in_folder("k1"), SK_FORMAT_SLEAP_NN);
    make("k6");
    make("k6/training_config.yaml"); /* a folder is no configuration */
    kind_is(in_folder("k6"), 0);
    kind_is(test_missing("best.ckpt"), 0);
    kind_is(test_missing("nowhere"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_and_files_in_them),
        cmocka_unit_test(a_folder_may_be_called_like_a_file),
        cmocka_unit_test(zips),
        cmocka_unit_test(as_many_files_as_there_is_room_for),
        cmocka_unit_test(what_inflates_too_far),
        cmocka_unit_test(kinds_by_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
