/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of files, folders that may be used, and what was chosen last: each at its edges. */
#include "server/asking.h"

#include "server/kinds.h"
#include "server/roots.h"

#include <fcntl.h>

static void kinds_of_files_and_folders(void **state)
{
    (void)state;
    static const struct {
        const char *name, *kind;
    } files[] = {{"a.MP4", "video"},   {"a.png", "image"},  {"a.txt", "other"},    {"a.pt", "model"},
                 {"a.onnx", "model"},  {"a.skq", "model"},  {"a.engine", "model"}, {"a.zip", "model"},
                 {"a.yaml", "config"}, {"a.yml", "config"}, {"a.json", "config"},  {"a.csv", "other"},
                 {"pt", "other"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_string_equal(sk_kind_of_file(files[i].name), files[i].kind);
    static const struct {
        const char *holds, *kind;
    } folders[] = {{"run.json", "run"},
                   {"training_config.json", "model"},
                   {"training_config.yaml", "model"},
                   {"best_model.h5", "model"},
                   {"best.ckpt", "model"},
                   {"other.txt", "folder"}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char name[64], file[128];
        snprintf(name, sizeof name, "top/kind%zu", i);
        mkdir(place(name), 0700);
        snprintf(file, sizeof file, "%s/%s", name, folders[i].holds);
        put(file, "");
        assert_string_equal(sk_kind_of_folder(AT_FDCWD, place(name)), folders[i].kind);
    }
}

/* What lies in a root, however it is written; what does not is refused before it is looked for. */
static void folders_hold_what_lies_in_them(void **state)
{
    (void)state;
    sk_roots roots = {0};
    sk_error err = {0};
    mkdir(place("top/in"), 0700);
    mkdir(place("topbeside"), 0700);
    put("top/in/a.mp4", "x");
    put("outside/o.mp4", "x");
    put("topbeside/b.mp4", "x");
    assert_int_equal(symlink(place("outside"), place("top/out")), 0);
    assert_int_equal(symlink(place("top/in"), place("top/same")), 0);
    assert_ok(sk_roots_add(&roots, place("top"), true, &err), &err);
    assert_ok(sk_roots_add(&roots, place("top/in"), false, &err), &err);
    assert_int_not_equal(sk_roots_add(&roots, test_missing("x"), true, &err), SK_OK);
    assert_int_equal(sk_roots_add(&roots, place("top/in/a.mp4"), true, &err), SK_ERR_ARG);
    static const struct {
        const char *path, *real; /* below the test's folder; real null: refused, "" : not there */
    } cases[] = {{"top/in/a.mp4", "top/in/a.mp4"},
                 {"top/in/../in/./a.mp4", "top/in/a.mp4"},
                 {"top//in/a.mp4", "top/in/a.mp4"},
                 {"top/same/a.mp4", "top/in/a.mp4"},
                 {"top", "top"},
                 {"top/", "top"},
                 {"top/in/..", "top"},
                 {"top/..", NULL},
                 {"top/../outside/o.mp4", NULL},
                 {"top/out/o.mp4", NULL},
                 {"topbeside/b.mp4", NULL},
                 {"outside/o.mp4", NULL},
                 {"top/in/none.mp4", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *real = NULL;
        err = (sk_error){0};
        const sk_status status = sk_roots_resolve(&roots, place(cases[i].path), &real, &err);
        if (cases[i].real && cases[i].real[0]) {
            assert_ok(status, &err);
            assert_string_equal(real, place(cases[i].real));
        } else {
            assert_int_not_equal(status, SK_OK);
            assert_int_equal(sk_roots_is_outside(&err), cases[i].real == NULL);
            assert_null(real);
        }
        sk_free(real);
    }
    char *real = NULL;
    assert_ok(sk_roots_resolve(&roots, "in/a.mp4", &real, &err), &err); /* from the first root on */
    assert_string_equal(real, place("top/in/a.mp4"));
    assert_int_equal(sk_roots_of(&roots, real), 1); /* the innermost */
    sk_free(real);
    assert_ok(sk_roots_resolve_new(&roots, place("top/new/deep/r.csv"), &real, &err), &err);
    assert_string_equal(real, place("top/new/deep/r.csv"));
    sk_free(real);
    assert_int_equal(sk_roots_resolve_new(&roots, place("top/in/new.csv"), &real, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "only read"));
    assert_int_not_equal(sk_roots_resolve_new(&roots, place("top/out/new.csv"), &real, &err), SK_OK);
    assert_int_not_equal(sk_roots_resolve_new(&roots, place("outside/new.csv"), &real, &err), SK_OK);
    put("top/in/list.txt", "x");
    assert_int_equal(sk_roots_resolve_source(&roots, place("top/in/list.txt"), &real, &err), SK_ERR_ARG);
    assert_int_not_equal(sk_roots_resolve_source(&roots, place("top"), &real, &err),
                         SK_OK); /* its link leads out */
    assert_ok(sk_roots_resolve_source(&roots, place("top/in"), &real, &err), &err);
    sk_free(real);
    int file = -1;
    assert_ok(sk_roots_open(&roots, place("top/in/a.mp4"), false, &file, &err), &err);
    close(file);
    assert_ok(sk_roots_open(&roots, place("top/in"), true, &file, &err), &err);
    close(file);
    assert_int_not_equal(sk_roots_open(&roots, place("top/in"), false, &file, &err), SK_OK);
    assert_int_equal(file, -1);
    sk_roots_free(&roots);
    assert_int_equal(roots.count, 0);
}

/* The whole disk as a folder, one folder given twice, ways that lead above the top, and links that lead nowhere. */
static void folders_at_their_edges(void **state)
{
    (void)state;
    sk_roots all = {0}, twice = {0};
    sk_error err = {0};
    char *real = NULL, from[1200];
    int file = -1;
    mkdir(place("top/i"), 0700);
    put("top/i/a.mp4", "x");
    snprintf(from, sizeof from, "/../..%s", place("top/i/a.mp4"));
    assert_ok(sk_roots_add(&all, "/", false, &err), &err);
    static const struct {
        const char *path, *real; /* null: that file */
    } cases[] = {{"/", "/"}, {"/..", "/"}, {"/../..", "/"}, {"/./", "/"}, {NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_roots_resolve(&all, cases[i].path ? cases[i].path : from, &real, &err), &err);
        assert_string_equal(real, cases[i].real ? cases[i].real : place("top/i/a.mp4"));
        assert_int_equal(sk_roots_of(&all, real), 0);
        sk_free(real);
    }
    assert_ok(sk_roots_open(&all, place("top/i/a.mp4"), false, &file, &err), &err);
    close(file);
    assert_ok(sk_roots_open(&all, "/", true, &file, &err), &err);
    close(file);
    assert_int_equal(sk_roots_resolve_new(&all, place("top/i/new"), &real, &err), SK_ERR_ARG); /* only read */
    sk_roots_free(&all);
    assert_ok(sk_roots_add(&twice, place("top"), true, &err), &err);
    assert_ok(sk_roots_add(&twice, place("top"), false, &err), &err);
    assert_int_equal(sk_roots_of(&twice, place("top/i")), 0); /* as it was said first */
    assert_ok(sk_roots_resolve(&twice, "i/a.mp4", &real, &err), &err);
    sk_free(real);
    assert_ok(sk_roots_resolve(&twice, place("top/../top/i"), &real, &err), &err);
    sk_free(real);
    assert_int_equal(sk_roots_resolve(&twice, from + 3, &real, &err), SK_OK);
    sk_free(real);
    assert_int_equal(symlink("nowhere", place("top/i/b.png")), 0);
    assert_ok(sk_roots_resolve_source(&twice, "i", &real, &err), &err);
    sk_free(real);
    assert_int_equal(symlink("..", place("top/i/up")), 0); /* inside, too */
    assert_ok(sk_roots_resolve_source(&twice, "i", &real, &err), &err);
    sk_free(real);
    /* links that are given are known by both of their names */
    assert_int_equal(symlink("top", place("alias")), 0);
    sk_roots_free(&twice);
    assert_ok(sk_roots_add(&twice, place("alias"), true, &err), &err);
    assert_ok(sk_roots_resolve(&twice, place("alias/i/a.mp4"), &real, &err), &err);
    assert_string_equal(real, place("top/i/a.mp4"));
    sk_free(real);
    assert_ok(sk_roots_resolve_new(&twice, place("alias/n"), &real, &err), &err);
    assert_string_equal(real, place("top/n"));
    sk_free(real);
    for (int i = twice.count; i < SK_ROOTS_MOST; i++)
        assert_ok(sk_roots_add(&twice, place("top"), true, &err), &err);
    assert_int_equal(sk_roots_add(&twice, place("top"), true, &err), SK_ERR_LIMIT);
    sk_roots_free(&twice);
    char *longest = sk_calloc(1, 5000);
    memset(longest, 'a', 4096);
    longest[0] = '/';
    assert_ok(sk_roots_add(&all, place("top"), true, &err), &err);
    assert_int_equal(sk_roots_resolve(&all, longest, &real, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "is no path"));
    sk_free(longest);
    sk_roots_free(&all);
}

/* The newest first, each once, twenty of a kind, and only what is still there. */
static void what_was_chosen_last(void **state)
{
    (void)state;
    char body[2048], *text = NULL;
    for (int i = 0; i < 23; i++) {
        char name[64];
        snprintf(name, sizeof name, "top/v%02d.mp4", i);
        put(name, "x");
        snprintf(body, sizeof body, "{\"path\":\"%s\"}", place(name));
        assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = body}, NULL),
                         200);
    }
    put("top/m.pt", "x");
    snprintf(body, sizeof body, "{\"path\":\"%s\"}", place("top/m.pt"));
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = body}, NULL), 200);
    snprintf(body, sizeof body, "{\"path\":\"%s\"}", place("top/v05.mp4"));
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = body}, &text), 200);
    const char *fifth = strstr(text, "v05.mp4"), *last = strstr(text, "v22.mp4");
    assert_true(fifth && last && fifth < last && !strstr(fifth + 1, "v05.mp4"));
    assert_null(strstr(text, "v02.mp4"));
    assert_non_null(strstr(text, "v04.mp4"));
    assert_non_null(strstr(text, "m.pt"));
    assert_true(strstr(text, "\"videos\"") < strstr(text, "\"models\"") &&
                strstr(text, "\"models\"") < strstr(text, "m.pt"));
    sk_free(text);
    unlink(place("top/v22.mp4"));
    assert_int_equal(get("/api/v1/recent", &text), 200);
    assert_null(strstr(text, "v22.mp4"));
    assert_non_null(strstr(text, "v21.mp4"));
    sk_free(text);
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = "{}"}, NULL), 400);
    put("state/recent.json", "{ broken");
    assert_int_equal(get("/api/v1/recent", &text), 200);
    assert_null(strstr(text, "mp4"));
    sk_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_files_and_folders),
        cmocka_unit_test(folders_hold_what_lies_in_them),
        cmocka_unit_test(folders_at_their_edges),
        cmocka_unit_test(what_was_chosen_last),
    };
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
