/* SPDX-License-Identifier: Apache-2.0 */
/* Where artifacts lie, and when they are made anew and when not. The maker is a stand-in; the files are real. */
#include "artifact_fixture.h"

static void names_and_places(void **state)
{
    (void)state;
    static const sk_engine_form engine = {
        .name = "tensorrt", .extension = ".engine", .folder_extension = ".tensorrt", .file = "model.engine"};
    char sleap[600], given[700], file[SK_ARTIFACT_PATH], container[SK_ARTIFACT_PATH], want[700];
    sk_error err = {0};
    path_in(sleap, sizeof sleap, "sleap.v1");
    assert_int_equal(mkdir(sleap, 0777), 0);
    assert_ok(sk_artifact_place("/path/model.pt", &form, file, container, &err), &err);
    assert_string_equal(file, "/path/model.onnx");
    assert_string_equal(container, file);
    assert_ok(sk_artifact_place("/path/model.pt", &engine, file, container, &err), &err);
    assert_string_equal(file, "/path/model.engine");
    assert_ok(sk_artifact_place("model", &form, file, container, &err), &err);
    assert_string_equal(file, "model.onnx");
    static const char *const tails[] = {"", "/", "//", "/."};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        snprintf(given, sizeof given, "%s%s", sleap, tails[i]);
        assert_ok(sk_artifact_place(given, &form, file, container, &err), &err);
        snprintf(want, sizeof want, "%s.onnx", sleap);
        assert_string_equal(container, want);
        snprintf(want, sizeof want, "%s.onnx/model.onnx", sleap);
        assert_string_equal(file, want);
        assert_ok(sk_artifact_place(given, &engine, file, container, &err), &err);
        snprintf(want, sizeof want, "%s.tensorrt/model.engine", sleap);
        assert_string_equal(file, want);
    }
    sk_artifact_wish w = wish_for(sleap);
    snprintf(want, sizeof want, "%s.onnx/model.onnx", sleap);
    assert_int_equal(obtain(&w, want), 1);
    assert_int_equal(obtain(&w, want), 0);
    assert_tidy();
}

static void made_once_and_found_again(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    sk_artifact_record r;
    sk_error err = {0};
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&w, artifact), 0);
    assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
    char why[SK_ARTIFACT_WHY];
    assert_true(sk_artifact_key_equal(&r.key, &w.key, why));
    assert_int_equal(r.bytes, BYTES);
    assert_string_equal(r.model, model);
    assert_int_equal(r.n_checks, 1);
    assert_string_equal(r.checks[0].runtime, "onnx_cpu");
    assert_tidy();
}

static void touch_changes_nothing(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    struct timespec later[2] = {{4000000000, 0}, {4000000000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, model, later, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, artifact, later, 0), 0);
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 0);
}

static void an_edited_model_is_exported_again(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    put(model, "other weights");
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&w, artifact), 0);
    put(model, "weights"); /* back again: the first was not kept, it may be any age */
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_tidy();
}

static void a_renamed_model_gets_its_own(void **state)
{
    (void)state;
    char renamed[600], its[600], side[700], its_side[700];
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    path_in(renamed, sizeof renamed, "renamed.pt");
    path_in(its, sizeof its, "renamed.onnx");
    assert_int_equal(rename(model, renamed), 0);
    w = wish_for(renamed);
    assert_int_equal(obtain(&w, its), 1);
    /* The artifact of another model, renamed with its sidecar: made anew, not believed. */
    put(model, "somebody new");
    assert_int_equal(rename(its, artifact), 0);
    snprintf(side, sizeof side, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
    snprintf(its_side, sizeof its_side, "%s%s", its, SK_ARTIFACT_SIDECAR);
    assert_int_equal(rename(its_side, side), 0);
    w = wish_for(model);
    sk_artifact_record r;
    sk_artifact_state found;
    char why[SK_ARTIFACT_WHY];
    sk_error err = {0};
    assert_ok(sk_artifact_inspect(artifact, &w.key, &r, &found, why, NULL, &err), &err);
    assert_int_equal(found, SK_ARTIFACT_FOREIGN);
    assert_int_equal(obtain(&w, artifact), 1);
}

static void other_batch_and_size(void **state)
{
    (void)state;
    sk_artifact_wish small = wish_for(model), large = small, many = small;
    large.key.height = 1024;
    many.key.batch = 8;
    assert_int_equal(obtain(&small, artifact), 1);
    assert_int_equal(obtain(&large, artifact), 1); /* takes the name … */
    assert_int_equal(obtain(&small, NULL), 0);     /* … and the first is still to be had */
    assert_int_equal(obtain(&large, artifact), 0);
    assert_int_equal(obtain(&many, artifact), 1);
    assert_int_equal(obtain(&large, NULL), 0);
    assert_int_equal(obtain(&small, NULL), 0);
    /* but not an older model's */
    put(model, "other weights");
    small = wish_for(model);
    assert_int_equal(obtain(&small, artifact), 1);
    assert_tidy();
}

static void the_cache_is_bounded(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    for (int i = 1; i <= 14; i++) {
        w.key.batch = i;
        assert_int_equal(obtain(&w, artifact), 1);
    }
    char cache[600];
    path_in(cache, sizeof cache, "cache/artifacts");
    int files = 0;
    DIR *dir = opendir(cache);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        files += strchr(e->d_name, '-') && !strstr(e->d_name, "json");
    closedir(dir);
    assert_int_equal(files, 8);
}

static void every_part_of_the_key_counts(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    char why[SK_ARTIFACT_WHY];
    static const char *const words[] = {"opset", "precision", "device", "library", "skitter", "form"};
    for (int i = 0; i < 6; i++) {
        sk_artifact_key k = w.key;
        switch (i) {
        case 0: k.opset = 18; break;
        case 1: snprintf(k.precision, sizeof k.precision, "f16"); break;
        case 2: snprintf(k.architecture, sizeof k.architecture, "sm_90"); break;
        case 3: snprintf(k.library, sizeof k.library, "10.3"); break;
        case 4: snprintf(k.version, sizeof k.version, "0.2.0/1"); break;
        default: snprintf(k.form, sizeof k.form, "tensorrt");
        }
        assert_false(sk_artifact_key_equal(&w.key, &k, why));
        assert_non_null(strstr(why, words[i]));
        sk_artifact_wish other = w;
        other.key = k;
        assert_int_equal(obtain(&other, artifact), 1);
        assert_int_equal(obtain(&w, artifact), 1);
    }
}

/* A file that is bound to no library is compared again with another version, once; one that is bound is made anew. */
static void another_library_version(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    assert_int_equal(obtain(&w, artifact), 1);
    w.library = "1.31.0";
    for (int i = 0; i < 2; i++) {
        assert_ok(obtain_with(&w, &s, &a, &err), &err);
        assert_false(a.made);
        sk_artifact_release(&a);
        assert_int_equal(s.checks, 1);
    }
    w.runtime = "openvino";
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    sk_artifact_release(&a);
    assert_int_equal(s.checks, 2);
    /* A version that computes something else is refused, and the file stays for those that do not. */
    w.library = "2027.0";
    s.bad = true;
    assert_int_equal(obtain_with(&w, &s, &a, &err), SK_ERR_MISMATCH);
    assert_null(a.bytes);
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 0);
    /* bound: TensorRT's */
    snprintf(w.key.library, sizeof w.key.library, "10.3");
    assert_int_equal(obtain(&w, artifact), 1);
    snprintf(w.key.library, sizeof w.key.library, "10.4");
    assert_int_equal(obtain(&w, artifact), 1);
    assert_tidy();
}

static void damaged_files_are_made_anew(void **state)
{
    (void)state;
    static const int lengths[] = {0, 1, 100, 300, BYTES / 2, BYTES - 1};
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        assert_int_equal(truncate(artifact, lengths[i]), 0);
        assert_int_equal(obtain(&w, artifact), 1);
    }
    int file = open(artifact, O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "\1\2\3", 3, BYTES / 2), 3); /* a bad sector */
    close(file);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&w, artifact), 0);
    assert_tidy();
}

static void assert_still(const char *path, const char *text)
{
    char *now = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    assert_ok(sk_file_read(path, 1 << 20, &now, &bytes, &err), &err);
    assert_string_equal(now, text);
    sk_free(now);
}

static void users_files_are_used_and_never_overwritten(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    put(artifact, "USER made this");
    assert_ok(obtain_with(&w, &s, &a, &err), &err); /* no sidecar */
    assert_true(a.users);
    assert_false(a.made);
    assert_non_null(strstr(a.notice, "is used as it is"));
    assert_int_equal(sk_blob_bytes(a.bytes), 14);
    sk_artifact_release(&a);
    assert_int_equal(makes(), 0);
    /* ours first, then replaced by somebody: the sidecar is about another file */
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(obtain(&w, artifact), 1);
    put(artifact, "USER made this too");
    put(model, "other weights"); /* stale would be made anew; this is theirs */
    w = wish_for(model);
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.users);
    sk_artifact_release(&a);
    assert_int_equal(makes(), 1);
    assert_still(artifact, "USER made this too");
    /* a sidecar that nobody understands protects the file as well */
    char side[700];
    snprintf(side, sizeof side, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
    put(side, "{nonsense");
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.users);
    sk_artifact_release(&a);
    assert_still(artifact, "USER made this too");
}

static sk_status hash_of(const char *path, char hash[65], sk_error *err)
{
    (void)err;
    sk_artifact_wish w = wish_for(path);
    memcpy(hash, w.key.source, 65);
    return SK_OK;
}

/* A file of unknown origin is run beside the model before it is used; one with other weights is not used. */
static void a_file_with_other_weights_is_not_used(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    put(artifact, "USER made this from the model");
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.users && s.checks == 1 && s.unknown);
    assert_int_equal(strlen(a.sha256), 64);
    assert_non_null(strstr(a.notice, "has no record of what it was made from"));
    sk_artifact_release(&a);
    put(artifact, "USER made this from other weights");
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.made && !a.users);
    assert_non_null(strstr(a.path, "/cache/artifacts/"));
    assert_non_null(strstr(a.notice, "is left alone and not used"));
    assert_non_null(strstr(a.notice, "its answers differ"));
    sk_artifact_release(&a);
    assert_still(artifact, "USER made this from other weights");
    assert_tidy();
}

/* 'skitter export' leaves a record: the file is used while the model is as it was, and never overwritten. */
static void a_persons_export_follows_its_model(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    put(artifact, "USER exported this");
    assert_ok(sk_artifact_record_export(artifact, model, &w.key, &err), &err);
    for (int i = 0; i < 2; i++) {
        assert_ok(obtain_with(&w, &s, &a, &err), &err);
        assert_string_equal(a.path, artifact);
        assert_true(a.users && s.checks == 1 && !s.unknown); /* compared once for this library */
        assert_string_equal(a.notice, "");
        sk_artifact_release(&a);
    }
    sk_artifact_wish half = w;
    snprintf(half.key.precision, sizeof half.key.precision, "f16");
    assert_ok(obtain_with(&half, &s, &a, &err), &err);
    assert_true(a.made && strstr(a.notice, "exported in f32, f16 is needed"));
    sk_artifact_release(&a);
    put(model, "retrained"); /* of the same size and time, for all that counts */
    w = wish_for(model);
    script again = {0};
    assert_ok(obtain_with(&w, &again, &a, &err), &err);
    assert_true(a.made);
    assert_non_null(strstr(a.path, "/cache/artifacts/"));
    assert_non_null(strstr(a.notice, "was changed since"));
    sk_artifact_release(&a);
    assert_still(artifact, "USER exported this");
    sk_artifact_row *rows = NULL;
    int32_t count = 0;
    const char *places[] = {model};
    assert_ok(sk_artifact_list(places, 1, true, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].state, SK_ARTIFACT_STALE);
    sk_free(rows);
    assert_tidy();
}

/* A record that says of another file that it was made from this model and compared: nobody of ours wrote it. */
static void a_record_that_lies_is_not_believed(void **state)
{
    (void)state;
    char side[700], *text = NULL;
    size_t bytes = 0;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_artifact_record r, theirs = {0};
    sk_error err = {0};
    assert_int_equal(obtain(&w, artifact), 1);
    assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
    assert_true(r.sealed);
    assert_ok(sk_file_read(artifact, 1 << 20, &text, &bytes, &err), &err);
    text[7] ^= 1; /* other weights */
    assert_ok(sk_file_replace(artifact, text, bytes, &err), &err);
    sk_artifact_record_of(text, bytes, &theirs);
    sk_free(text);
    /* the old record with the new file's hash in it */
    snprintf(side, sizeof side, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
    assert_ok(sk_file_read(side, 1 << 20, &text, &bytes, &err), &err);
    memcpy(strstr(text, r.sha256), theirs.sha256, 64);
    assert_ok(sk_file_replace(side, text, bytes, &err), &err);
    assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
    assert_false(r.sealed);
    s.bad = true;
    s.remake = true;
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(s.checks >= 1 && a.made);
    assert_non_null(strstr(a.path, "/cache/artifacts/"));
    assert_non_null(strstr(a.notice, "not used"));
    sk_artifact_release(&a);
    /* another user's record of a good file: compared once, then ours */
    s = (script){0};
    for (int i = 0; i < 2; i++) {
        assert_ok(obtain_with(&w, &s, &a, &err), &err);
        assert_string_equal(a.path, artifact);
        assert_int_equal(s.checks, 1);
        sk_artifact_release(&a);
    }
    assert_true(s.unknown);
    sk_free(text);
}

/* Links in the place of a record or an artifact lead nowhere. */
static void links_are_not_followed(void **state)
{
    (void)state;
    char side[700], victim[600];
    sk_artifact_wish w = wish_for(model);
    path_in(victim, sizeof victim, "victim");
    put(victim, "precious");
    snprintf(side, sizeof side, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
    assert_int_equal(symlink(victim, side), 0);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_still(victim, "precious");
    assert_int_equal(obtain(&w, artifact), 0);
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(symlink(victim, artifact), 0);
    assert_int_equal(obtain(&w, NULL), 1);
    assert_still(victim, "precious");
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(mkfifo(artifact, 0666), 0);
    assert_int_equal(obtain(&w, NULL), 0); /* the one in the cache */
}

static void a_misfit_of_the_users_is_left_alone(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    put(artifact, "segmentation model");
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.made);
    assert_non_null(strstr(a.path, "/cache/artifacts/"));
    assert_non_null(strstr(a.notice, "is left alone"));
    assert_non_null(strstr(a.notice, "it is for another task"));
    sk_artifact_release(&a);
    assert_still(artifact, "segmentation model");
    assert_int_equal(obtain(&w, NULL), 0);
    /* a folder of that name */
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(mkdir(artifact, 0777), 0);
    assert_int_equal(obtain(&w, NULL), 0);
    assert_true(sk_file_is_directory(artifact));
    assert_tidy();
}

static void a_bad_artifact_is_refused(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {.bad = true};
    sk_artifact a;
    sk_error err = {0};
    assert_int_equal(obtain_with(&w, &s, &a, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "differ"));
    assert_false(sk_file_exists(artifact));
    assert_tidy();
    assert_int_equal(obtain(&w, artifact), 1);
}

static const sk_artifact_row *row_of(const sk_artifact_row *rows, int32_t count, const char *name)
{
    for (int32_t i = 0; i < count; i++)
        if (strcmp(sk_path_name(rows[i].path), name) == 0)
            return &rows[i];
    fail_msg("%s is not listed", name);
    return NULL;
}

static void listed_verified_and_removed(void **state)
{
    (void)state;
    static const char *const names[] = {"fresh", "edited", "cut", "orphan", "users"};
    char path[5][600], file[5][600];
    sk_error err = {0};
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s.pt", names[i]);
        path_in(path[i], sizeof path[i], name);
        snprintf(name, sizeof name, "%s.onnx", names[i]);
        path_in(file[i], sizeof file[i], name);
        put(path[i], names[i]);
        sk_artifact_wish w = wish_for(path[i]);
        assert_int_equal(obtain(&w, file[i]), 1);
    }
    put(path[1], "edited since");
    assert_int_equal(truncate(file[2], 1000), 0);
    assert_int_equal(unlink(path[3]), 0);
    put(file[4], "USER made this");
    sk_artifact_row *rows = NULL;
    int32_t count = 0;
    const int64_t live = sk_memory_live_bytes();
    /* a look that reads no file knows as much, but for what only the bytes tell */
    assert_ok(sk_artifact_list(NULL, 0, false, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 5);
    assert_int_equal(row_of(rows, count, "fresh.onnx")->state, SK_ARTIFACT_FRESH);
    assert_string_equal(row_of(rows, count, "fresh.onnx")->why, "");
    assert_int_equal(row_of(rows, count, "fresh.onnx")->bytes, BYTES);
    assert_int_equal(row_of(rows, count, "edited.onnx")->state, SK_ARTIFACT_STALE);
    assert_non_null(strstr(row_of(rows, count, "edited.onnx")->why, "changed since"));
    assert_int_equal(row_of(rows, count, "cut.onnx")->state, SK_ARTIFACT_DAMAGED);
    assert_non_null(strstr(row_of(rows, count, "cut.onnx")->why, "1000 bytes where 20000"));
    assert_true(row_of(rows, count, "orphan.onnx")->orphan && !row_of(rows, count, "fresh.onnx")->orphan);
    assert_non_null(strstr(row_of(rows, count, "orphan.onnx")->why, "is gone"));
    sk_free(rows);
    assert_int_equal(sk_memory_live_bytes(), live);
    assert_ok(sk_artifact_list(NULL, 0, true, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 5);
    assert_int_equal(row_of(rows, count, "fresh.onnx")->state, SK_ARTIFACT_FRESH);
    assert_int_equal(row_of(rows, count, "edited.onnx")->state, SK_ARTIFACT_STALE);
    assert_int_equal(row_of(rows, count, "cut.onnx")->state, SK_ARTIFACT_DAMAGED);
    assert_true(row_of(rows, count, "orphan.onnx")->orphan);
    assert_int_equal(row_of(rows, count, "users.onnx")->state, SK_ARTIFACT_USER);
    assert_int_equal(sk_artifact_remove(row_of(rows, count, "users.onnx"), &err), SK_ERR_ARG);
    assert_still(file[4], "USER made this");
    assert_ok(sk_artifact_remove(row_of(rows, count, "cut.onnx"), &err), &err);
    assert_false(sk_file_exists(file[2]));
    char side[700];
    snprintf(side, sizeof side, "%s%s", file[2], SK_ARTIFACT_SIDECAR);
    assert_false(sk_file_exists(side));                                         /* and its record with it */
    assert_ok(sk_artifact_remove(row_of(rows, count, "cut.onnx"), &err), &err); /* gone is gone */
    sk_free(rows);
    assert_ok(sk_artifact_list(NULL, 0, false, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 4);
    sk_free(rows);
    const char *places[] = {path[0], folder};
    assert_ok(sk_artifact_list(places, 1, true, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 1);
    sk_free(rows);
    assert_ok(sk_artifact_list(places + 1, 1, true, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 4);
    sk_free(rows);
    places[0] = "/nowhere";
    assert_int_equal(sk_artifact_list(places, 1, true, hash_of, &rows, &count, &err), SK_ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_and_places, set_up),
        cmocka_unit_test_setup(made_once_and_found_again, set_up),
        cmocka_unit_test_setup(touch_changes_nothing, set_up),
        cmocka_unit_test_setup(an_edited_model_is_exported_again, set_up),
        cmocka_unit_test_setup(a_renamed_model_gets_its_own, set_up),
        cmocka_unit_test_setup(other_batch_and_size, set_up),
        cmocka_unit_test_setup(the_cache_is_bounded, set_up),
        cmocka_unit_test_setup(every_part_of_the_key_counts, set_up),
        cmocka_unit_test_setup(another_library_version, set_up),
        cmocka_unit_test_setup(damaged_files_are_made_anew, set_up),
        cmocka_unit_test_setup(users_files_are_used_and_never_overwritten, set_up),
        cmocka_unit_test_setup(a_file_with_other_weights_is_not_used, set_up),
        cmocka_unit_test_setup(a_persons_export_follows_its_model, set_up),
        cmocka_unit_test_setup(a_record_that_lies_is_not_believed, set_up),
        cmocka_unit_test_setup(links_are_not_followed, set_up),
        cmocka_unit_test_setup(a_misfit_of_the_users_is_left_alone, set_up),
        cmocka_unit_test_setup(a_bad_artifact_is_refused, set_up),
        cmocka_unit_test_setup(listed_verified_and_removed, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
