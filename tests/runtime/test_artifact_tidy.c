/* SPDX-License-Identifier: Apache-2.0 */
/* What artifacts leave behind in the process: no memory, also of the C library's own, no open files, and after a failed allocation
 * neither; and the longest that is said of them. */
#include "support/fault.h"

#include "artifact_fixture.h"
#include "runtime/artifact_internal.h"

/* No power fails here, and waiting for disks is most of what takes time. */
int fsync(int file)
{
    (void)file;
    return 0;
}

static int open_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* --- whole ways through, each of which leaves everything as it was --- */

static sk_status make_anew(void *context, sk_error *err)
{
    script s = {0};
    sk_artifact a = {0};
    sk_artifact_wish w = wish_for(context);
    w.anew = true;
    const sk_status status = obtain_with(&w, &s, &a, err);
    sk_artifact_release(&a);
    return status;
}

static sk_status find_again(void *context, sk_error *err)
{
    script s = {0};
    sk_artifact a = {0};
    const sk_artifact_wish w = wish_for(context);
    const sk_status status = obtain_with(&w, &s, &a, err);
    sk_artifact_release(&a);
    return status;
}

/* Another size takes its place, and the one that lay there goes to the cache; then back. */
static sk_status back_and_forth(void *context, sk_error *err)
{
    sk_artifact_wish w = wish_for(context);
    sk_status status = SK_OK;
    for (int i = 0; i < 2 && status == SK_OK; i++) {
        script s = {0};
        sk_artifact a = {0};
        w.key.height = i ? 640 : 320;
        status = obtain_with(&w, &s, &a, err);
        sk_artifact_release(&a);
    }
    return status;
}

static sk_status keep_in_cache(void *context, sk_error *err)
{
    script s = {0};
    sk_artifact a = {0};
    sk_artifact_wish w = wish_for(context);
    w.keep = SK_ARTIFACT_CACHE;
    w.anew = true;
    const sk_status status = obtain_with(&w, &s, &a, err);
    sk_artifact_release(&a);
    return status;
}

static sk_status use_a_persons(void *context, sk_error *err)
{
    script s = {0};
    sk_artifact a = {0};
    const sk_artifact_wish w = wish_for(context);
    SK_TRY(sk_file_replace(artifact, "USER made", 9, err));
    const sk_status status = obtain_with(&w, &s, &a, err);
    sk_artifact_release(&a);
    return status;
}

static sk_status export_it(void *context, sk_error *err)
{
    const sk_artifact_wish w = wish_for(context);
    SK_TRY(sk_file_replace(artifact, "USER made", 9, err));
    return sk_artifact_record_export(artifact, context, &w.key, err);
}

static sk_status list_all(void *context, sk_error *err)
{
    sk_artifact_row *rows = NULL;
    int32_t count = 0;
    const char *const places[] = {context, folder};
    sk_status status = SK_OK;
    for (int n = 0; n < 3 && status == SK_OK; n++) {
        status = sk_artifact_list(places, n, n == 1, NULL, &rows, &count, err);
        sk_free(rows);
    }
    return status;
}

static sk_status look_around(void *context, sk_error *err)
{
    char file[SK_ARTIFACT_PATH], container[SK_ARTIFACT_PATH], dot[600], lock[SK_ARTIFACT_PATH];
    path_in(dot, sizeof dot, "cache/.");
    SK_TRY(sk_artifact_place(dot, &form, file, container, err)); /* by its real name */
    SK_TRY(sk_artifact_place(context, &form, file, container, err));
    SK_TRY(sk_artifact_lock_place(container, lock, err));
    SK_TRY(sk_file_replace(lock, "", 0, err));
    sk_artifact_remember(file);
    sk_artifact_sweep(file);
    sk_artifact_limit_variants(file);
    return SK_OK;
}

static void nothing_stays(void **state)
{
    (void)state;
    static const test_fault_fn ways[] = {make_anew, export_it,
                                         look_around}; /* which ask the C library for paths */
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        set_up(NULL);
        sk_error err = {0};
        assert_ok(find_again(model, &err), &err);
        const int before = open_files();
        test_leaves_nothing(ways[i], model);
        assert_int_equal(open_files(), before);
        assert_tidy();
    }
}

static void nothing_stays_without_memory(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        test_fault_fn run;
    } ways[] = {{"make anew", make_anew},  {"find again", find_again}, {"back and forth", back_and_forth},
                {"list all", list_all},    {"export it", export_it},   {"keep in cache", keep_in_cache},
                {"use one", use_a_persons}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        set_up(NULL);
        sk_error err = {0};
        assert_ok(find_again(model, &err), &err);
        const int before = open_files();
        const int failed = test_every_allocation(ways[i].run, model);
        assert_true(failed > 3);
        if (open_files() != before)
            fail_msg("%s: %d files more are open", ways[i].name, open_files() - before);
        assert_tidy();
    }
}

/* --- what is said --- */

/* Notices stand one behind the other; what there is no room for is cut off. */
static void notices_are_cut_at_their_end(void **state)
{
    (void)state;
    static sk_artifact out;
    enum { MOST = sizeof out.notice - 1 };
    static char whole[2 * MOST];
    sk_artifact_request r = {.out = &out};
    for (int first = MOST - 6; first <= MOST + 2; first++) {
        char *text = whole;
        memset(text, 'a', (size_t)first);
        text[first] = '\0';
        out.notice[0] = '\0';
        sk_artifact_notice(&r, "%s", text);
        assert_int_equal(strlen(out.notice), first < MOST ? first : MOST);
        sk_artifact_notice(&r, "%s and %d", "more", 7);
        memcpy(text + first, "; more and 7", sizeof "; more and 7");
        text[MOST] = '\0';
        assert_string_equal(out.notice, text);
    }
    out.notice[0] = '\0';
    sk_artifact_notice(&r, "one %d", 1);
    sk_artifact_notice(&r, "two");
    sk_artifact_notice(&r, "three");
    assert_string_equal(out.notice, "one 1; two; three");
}

/* What was said before does not stay where nothing is the matter. */
static void reasons_are_said_anew(void **state)
{
    (void)state;
    sk_artifact_record record;
    sk_artifact_state found;
    sk_error err = {0};
    assert_ok(find_again(model, &err), &err);
    const sk_artifact_wish w = wish_for(model);
    for (int wanted = 0; wanted < 2; wanted++) {
        char why[SK_ARTIFACT_WHY] = "before";
        assert_ok(sk_artifact_inspect(artifact, wanted ? &w.key : NULL, &record, &found, why, NULL, &err),
                  &err);
        assert_int_equal(found, SK_ARTIFACT_FRESH);
        assert_string_equal(why, "");
        assert_ok(sk_artifact_inspect(test_missing("no.onnx"), &w.key, &record, &found, why, NULL, &err),
                  &err);
        assert_int_equal(found, SK_ARTIFACT_ABSENT);
        assert_string_equal(why, "there is none yet");
        assert_ok(sk_artifact_inspect(folder, &w.key, &record, &found, why, NULL, &err), &err);
        assert_int_equal(found, SK_ARTIFACT_USER);
        assert_string_equal(why, "it is not a file");
    }
}

/* Nobody needs to listen. */
static void without_a_listener(void **state)
{
    (void)state;
    script s = {.seed = "seed"};
    const sk_artifact_maker maker = {&s, fake_make, fake_fits, fake_check, NULL};
    const sk_artifact_wish w = wish_for(model);
    sk_artifact a = {0};
    sk_error err = {0};
    assert_ok(sk_artifact_obtain(&w, &maker, &a, &err), &err);
    assert_true(a.made);
    sk_artifact_release(&a);
    assert_null(a.bytes);
}

/* Paths as long as a path may be, and one byte longer. */
static void the_longest_places(void **state)
{
    (void)state;
    static char path[SK_ARTIFACT_PATH + 9];
    static const sk_engine_form other = {
        .name = "plan", .extension = ".engine", .folder_extension = ".tensorrt", .file = "model.engine"};
    for (size_t n = SK_ARTIFACT_PATH - 30; n < SK_ARTIFACT_PATH + 8; n++) {
        char file[SK_ARTIFACT_PATH], container[SK_ARTIFACT_PATH];
        sk_error err = {0};
        memset(path, 'a', n);
        path[0] = '/';
        path[n] = '\0';
        sk_status status = sk_artifact_place(path, &other, file, container, &err);
        assert_int_equal(status, n + strlen(".engine") < SK_ARTIFACT_PATH ? SK_OK : SK_ERR_LIMIT);
        if (status == SK_OK)
            assert_int_equal(strlen(file), n + strlen(".engine"));
        else
            assert_non_null(strstr(err.message, "aaa"));
        if (n >= SK_ARTIFACT_PATH)
            continue;
        char *at = strchr(path + 1, 'a') + 1; /* "/a/aaa" gives "/a/.aaa.skitter.lock" */
        *at = '/';
        status = sk_artifact_lock_place(path, file, &err);
        const bool fits = n + strlen("..skitter.lock") < SK_ARTIFACT_PATH;
        assert_int_equal(status, fits ? SK_OK : SK_ERR_LIMIT);
        if (fits)
            assert_int_equal(strlen(file), n + strlen("..skitter.lock"));
    }
}

int main(void)
{
    (void)obtain; /* the fixture's, for others */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_stays, set_up),
        cmocka_unit_test_setup(nothing_stays_without_memory, set_up),
        cmocka_unit_test_setup(notices_are_cut_at_their_end, set_up),
        cmocka_unit_test_setup(reasons_are_said_anew, set_up),
        cmocka_unit_test_setup(without_a_listener, set_up),
        cmocka_unit_test_setup(the_longest_places, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
