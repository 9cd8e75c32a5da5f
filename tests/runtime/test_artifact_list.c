/* SPDX-License-Identifier: Apache-2.0 */
/* Which artifacts are listed, what is said of each, and what goes with one that is removed. */
#include "artifact_fixture.h"

static sk_artifact_row *rows;
static int32_t count;

static sk_status hash_of(const char *path, char hash[65], sk_error *err)
{
    (void)err;
    sk_artifact_wish w = wish_for(path);
    memcpy(hash, w.key.source, 65);
    return SK_OK;
}

static sk_status hash_nothing(const char *path, char hash[65], sk_error *err)
{
    (void)hash;
    return sk_fail(err, SK_ERR_FORMAT, "%s is torn", sk_path_name(path));
}

static void list(const char *place, const char *other, bool deep, sk_artifact_hash hash)
{
    const char *const places[] = {place, other};
    sk_error err = {0};
    sk_free(rows);
    assert_ok(sk_artifact_list(places, (place != NULL) + (other != NULL), deep, hash, &rows, &count, &err),
              &err);
}

static int clear(void **state)
{
    (void)state;
    sk_free(rows);
    rows = NULL;
    return 0;
}

static void put_pair(const char *name)
{
    char path[700], side[720];
    path_in(path, sizeof path, name);
    put(path, "bytes");
    snprintf(side, sizeof side, "%s%s", path, SK_ARTIFACT_SIDECAR);
    put(side, "no record");
}

/* In a folder, an artifact is what has a sidecar: not hidden files, not files that are called alike, not a sidecar alone. */
static void a_sidecar_makes_an_artifact(void **state)
{
    (void)state;
    char path[700], place[700];
    path_in(place, sizeof place, "some");
    assert_int_equal(mkdir(place, 0777), 0);
    put_pair("some/b.onnx");
    put_pair("some/a.onnx");
    put_pair("some/.hidden.onnx");
    path_in(path, sizeof path, "some/c.onnx");
    put(path, "alone");
    path_in(path, sizeof path, "some/c.onnx.copy_of_2025"); /* as long as if it were the sidecar */
    put(path, "another file");
    path_in(path, sizeof path, "some/gone.onnx" SK_ARTIFACT_SIDECAR);
    put(path, "of nothing");
    path_in(path, sizeof path, "some/" SK_ARTIFACT_SIDECAR);
    put(path, "of a file without a name");
    for (int deep = 0; deep < 2; deep++) {
        list(place, place, deep, hash_of); /* said twice, listed once */
        assert_int_equal(count, 2);
        assert_string_equal(sk_path_name(rows[0].path), "a.onnx");
        assert_string_equal(sk_path_name(rows[1].path), "b.onnx");
        for (int i = 0; i < 2; i++) {
            assert_int_equal(rows[i].state, SK_ARTIFACT_USER);
            assert_int_equal(rows[i].bytes, 5);
            assert_string_equal(rows[i].beside, "");
            assert_false(rows[i].in_cache || rows[i].orphan || rows[i].unread);
            assert_string_equal(rows[i].why, deep ? "its record cannot be read"
                                                  : "it has no record of what it was made from");
        }
    }
}

/* By its model, by its own path, by its folder and among all: the same row, which says where it lies. */
static void one_artifact_from_everywhere(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    const char *const from[] = {model, artifact, folder, NULL};
    for (int i = 0; i < 4; i++) {
        list(from[i], NULL, true, hash_of);
        assert_int_equal(count, 1);
        assert_string_equal(rows[0].path, artifact);
        assert_int_equal(rows[0].state, SK_ARTIFACT_FRESH);
        assert_string_equal(rows[0].beside, i == 0 ? model : "");
        assert_string_equal(rows[0].record.model, model);
        assert_false(rows[0].in_cache);
    }
    w.keep = SK_ARTIFACT_CACHE;
    w.key.batch = 4;
    assert_int_equal(obtain(&w, NULL), 1);
    list(NULL, NULL, false, hash_of);
    assert_int_equal(count, 2);
    assert_true(rows[0].in_cache && strstr(rows[0].path, "/cache/artifacts/"));
    assert_true(!rows[1].in_cache);
    assert_string_equal(rows[1].path, artifact);
    assert_tidy();
}

/* A model that is an ONNX file itself is no artifact of its own; files beside a model are, also without a record. */
static void a_model_is_not_its_own_artifact(void **state)
{
    (void)state;
    char own[700];
    path_in(own, sizeof own, "own.onnx");
    put(own, "weights");
    list(own, NULL, true, hash_of);
    assert_int_equal(count, 0);
    path_in(own, sizeof own, "own.pt");
    put(own, "weights");
    list(own, NULL, true, hash_of);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].state, SK_ARTIFACT_USER);
    assert_string_equal(rows[0].beside, own);
    assert_string_equal(sk_path_name(rows[0].path), "own.onnx");
}

/* A model that cannot be read leaves open whether the file is its own; without a reader of models nobody asks. */
static void what_models_say(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    list(NULL, NULL, false, hash_nothing);
    assert_int_equal(rows[0].state, SK_ARTIFACT_FRESH);
    assert_true(rows[0].unread && !rows[0].orphan);
    assert_string_equal(rows[0].why, "its model cannot be read: model.pt is torn");
    put(model, "other weights");
    list(NULL, NULL, false, NULL);
    assert_int_equal(rows[0].state, SK_ARTIFACT_FRESH);
    assert_false(rows[0].unread || rows[0].orphan);
    assert_string_equal(rows[0].why, "");
    list(NULL, NULL, false, hash_of);
    assert_int_equal(rows[0].state, SK_ARTIFACT_STALE);
    /* of a damaged one it is not asked */
    assert_int_equal(truncate(artifact, 10), 0);
    list(NULL, NULL, false, hash_nothing);
    assert_int_equal(rows[0].state, SK_ARTIFACT_DAMAGED);
    assert_false(rows[0].unread);
    assert_int_equal(unlink(model), 0);
    list(NULL, NULL, false, hash_of);
    assert_false(rows[0].orphan);
}

static int known(void)
{
    char place[700];
    int n = 0;
    path_in(place, sizeof place, "cache/artifacts/known");
    DIR *dir = opendir(place);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* Artifacts beside models are remembered once each, and forgotten when they are looked for and gone. */
static void remembered_until_they_are_gone(void **state)
{
    (void)state;
    char second[700], its[700];
    path_in(second, sizeof second, "second.pt");
    path_in(its, sizeof its, "second.onnx");
    put(second, "second");
    sk_artifact_wish w = wish_for(model), v = wish_for(second);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&v, its), 1);
    sk_artifact_remember(its);
    sk_artifact_remember(test_missing("nothing.onnx"));
    assert_int_equal(known(), 2);
    assert_int_equal(unlink(its), 0);
    assert_int_equal(known(), 2);
    list(model, NULL, false, hash_of); /* of one place: nobody looks at the others */
    assert_int_equal(known(), 2);
    list(NULL, NULL, false, hash_of);
    assert_int_equal(count, 1);
    assert_int_equal(known(), 1);
}

/* With its last artifact a model's folder of artifacts goes, where it is one and nothing else lies in it. */
static void folders_go_when_empty(void **state)
{
    (void)state;
    static const struct {
        const char *folder;
        bool more, goes;
    } cases[] = {{"m.onnx", false, true},
                 {"m.tensorrt", false, true},
                 {"n.onnx", true, false},
                 {"m.models", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char place[600], file[700], side[720];
        sk_error err = {0};
        path_in(place, sizeof place, cases[i].folder);
        snprintf(file, sizeof file, "%s/model.bin", place);
        snprintf(side, sizeof side, "%s%s", file, SK_ARTIFACT_SIDECAR);
        assert_int_equal(mkdir(place, 0777), 0);
        put(file, "bytes");
        put(side, "{}");
        if (cases[i].more) {
            char more[700];
            snprintf(more, sizeof more, "%s/notes.txt", place);
            put(more, "mine");
        }
        sk_artifact_row row = {.state = SK_ARTIFACT_FRESH};
        snprintf(row.path, sizeof row.path, "%s", file);
        assert_ok(sk_artifact_remove(&row, &err), &err);
        assert_false(sk_file_exists(file) || sk_file_exists(side));
        if (sk_file_exists(place) == cases[i].goes)
            fail_msg("%s", cases[i].folder);
    }
}

static void what_cannot_be_removed_is_told(void **state)
{
    (void)state;
    char place[600];
    sk_error err = {0};
    path_in(place, sizeof place, "busy.onnx");
    assert_int_equal(mkdir(place, 0777), 0); /* unlink takes no folder away */
    sk_artifact_row row = {.state = SK_ARTIFACT_STALE};
    snprintf(row.path, sizeof row.path, "%s", place);
    assert_int_equal(sk_artifact_remove(&row, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "could not be removed"));
    row.state = SK_ARTIFACT_USER;
    assert_int_equal(sk_artifact_remove(&row, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "was not made by skitter"));
}

/* Without a folder for the cache, what lies at a place can still be listed; all that there is cannot. */
static void without_a_cache(void **state)
{
    (void)state;
    char cache[600];
    sk_error err = {0};
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    path_in(cache, sizeof cache, "model.pt"); /* a file: nothing can lie in it */
    assert_int_equal(setenv("SKITTER_CACHE_DIR", cache, 1), 0);
    list(artifact, NULL, false, hash_of);
    assert_int_equal(count, 1);
    assert_false(rows[0].in_cache);
    clear(NULL);
    assert_int_not_equal(sk_artifact_list(NULL, 0, false, hash_of, &rows, &count, &err), SK_OK);
    assert_int_equal(count, 0);
    assert_null(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sidecar_makes_an_artifact, set_up, clear),
        cmocka_unit_test_setup_teardown(one_artifact_from_everywhere, set_up, clear),
        cmocka_unit_test_setup_teardown(a_model_is_not_its_own_artifact, set_up, clear),
        cmocka_unit_test_setup_teardown(what_models_say, set_up, clear),
        cmocka_unit_test_setup_teardown(remembered_until_they_are_gone, set_up, clear),
        cmocka_unit_test_setup_teardown(folders_go_when_empty, set_up, clear),
        cmocka_unit_test_setup_teardown(what_cannot_be_removed_is_told, set_up, clear),
        cmocka_unit_test_setup_teardown(without_a_cache, set_up, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
