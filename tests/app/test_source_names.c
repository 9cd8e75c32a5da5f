/* SPDX-License-Identifier: Apache-2.0 */
/* Sources that a person names: what of a folder, a pattern or a list is read, how each is called, and what is refused; with memory ending
 * at any place. */
#include "support/fault.h"
#include "support/test.h"

#include "app/source_list.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;
static sk_text said;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* "many|one; name: source; …", pictures behind a plus. */
static const char *listed(const char *const *given, size_t count)
{
    sk_source_list list = {0};
    sk_text_clear(&said);
    if (sk_source_list_make(given, count, &list, &err) == SK_OK) {
        sk_text_append(&said, list.many ? "many" : "one");
        for (size_t i = 0; i < list.count; i++)
            sk_text_appendf(&said, "; %s: %s", list.items[i].name,
                            list.items[i].source ? list.items[i].source : "(pictures)");
        for (size_t i = 0; i < list.n_pictures; i++)
            sk_text_appendf(&said, " + %s", list.pictures[i]);
    } else {
        sk_text_appendf(&said, "error: %s", err.message);
    }
    sk_source_list_free(&list);
    assert_true(!list.items && !list.pictures && list.count == 0 && list.n_pictures == 0 && !list.many);
    return sk_text_get(&said);
}

#define LISTED(expected, ...)                                                                                \
    do {                                                                                                     \
        const char *const given_[] = {__VA_ARGS__};                                                          \
        assert_string_equal(listed(given_, sizeof given_ / sizeof *given_), expected);                       \
    } while (0)

static int begin(void **state)
{
    (void)state;
    static const char *const folders[] = {"videos", "videos/inner.mp4", "one", "frames", "a", "b", "c"};
    static const char *const files[] = {"videos/v1.mp4", "videos/v12.mp4", "videos/v3.mp4", "videos/x.csv",
                                        "one/w.mp4",     "frames/1.png",   "frames/2.png",  "a/fly.mp4",
                                        "b/fly.mp4",     "b/fly.avi",      "c/z[1].mp4",    "p.png",
                                        "q.png",         "k.mp4",          "c/[1].png"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_ok(sk_folder_make(folders[i], &err), &err);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(files[i], "x");
    return mkfifo("pipe", 0600);
}

static int end(void **state)
{
    (void)state;
    sk_text_free(&said);
    return 0;
}

static void none_at_all(void **state)
{
    (void)state;
    assert_string_equal(listed(NULL, 0), "one");
}

/* Folders are no videos, whatever they are called; order is a person's, of each folder its own. */
static void folders(void **state)
{
    (void)state;
    LISTED("many; v1: videos/v1.mp4; v3: videos/v3.mp4; v12: videos/v12.mp4", "videos");
    LISTED("many; w: one/w.mp4", "one");
    LISTED("one; frames: frames", "frames");
    LISTED("many; w: one/w.mp4; v1: videos/v1.mp4; v3: videos/v3.mp4; v12: videos/v12.mp4; frames: frames",
           "one", "videos", "frames");
    LISTED("one; frames: frames///", "frames///");
}

static void patterns(void **state)
{
    (void)state;
    LISTED("many; w: one/w.mp4", "one/*.mp4");
    LISTED("many; v1: videos/v1.mp4; v3: videos/v3.mp4", "videos/v?.mp4");
    LISTED("one; _: frames/*.png", "frames/*.png");
    LISTED("one; z_1_: c/z[1].mp4", "c/z[1].mp4"); /* it is there, called so */
    LISTED("one; _1_: c/[1].png + c/[1].png", "c/[1].png");
    LISTED("one; f_02d: frames/f%02d.png", "frames/f%02d.png");
}

static void pictures(void **state)
{
    (void)state;
    LISTED("one; p: p.png + p.png", "p.png");
    LISTED("one; pictures: (pictures) + q.png + p.png", "q.png", "p.png");
    LISTED("many; k: k.mp4; pictures: (pictures) + q.png + p.png", "q.png", "k.mp4", "p.png");
    LISTED("many; k: k.mp4; q: q.png + q.png", "q.png", "k.mp4");
    LISTED("one; pictures: (pictures) + p.png + p.png + p.png", "p.png", "p.png", "p.png");
}

static void lists(void **state)
{
    (void)state;
    put("pictures.txt", "p.png\nq.png\n");
    put("glob.txt", "p.png\nframes/*.png\n");
    put("mixed.txt", "k.mp4\np.png\npictures.txt\n");
    LISTED("one; pictures: pictures.txt", "pictures.txt");
    LISTED("many; _: ./frames/*.png; p: p.png + p.png", "glob.txt");
    LISTED("many; k: k.mp4; pictures: pictures.txt; p: p.png + p.png", "mixed.txt");
    LISTED("one; missing: missing.txt", "missing.txt"); /* whoever opens it says so */
    /* the fifth is too deep, but where it lists pictures alone it is a source */
    put("d5.txt", "k.mp4\n");
    for (int i = 4; i >= 1; i--) {
        char name[16], next[16];
        snprintf(name, sizeof name, "d%d.txt", i);
        snprintf(next, sizeof next, "d%d.txt\n", i + 1);
        put(name, next);
    }
    LISTED("error: d5.txt: lists that name lists, 4 deep", "d1.txt");
    LISTED("many; k: k.mp4", "d2.txt");
    LISTED("many; k.mp4-1: k.mp4; k.mp4-2: k.mp4", "d2.txt", "d3.txt");
    put("d5.txt", "p.png\n");
    LISTED("many; d5: d5.txt", "d1.txt");
}

/* As short as tells them apart. */
static void names(void **state)
{
    (void)state;
    LISTED("many; a_fly.mp4: a/fly.mp4; b_fly.mp4: b/fly.mp4", "a/fly.mp4", "b/fly.mp4");
    LISTED("many; a_fly.mp4: a/fly.mp4; k: k.mp4; b_fly.mp4: b/fly.mp4", "a/fly.mp4", "k.mp4", "b/fly.mp4");
    LISTED("many; b_fly.mp4: b/fly.mp4; w: one/w.mp4; k: k.mp4; a_fly.mp4: a/fly.mp4", "b/fly.mp4",
           "one/w.mp4", "k.mp4", "a/fly.mp4");
    LISTED("many; fly.mp4: a/fly.mp4; fly.avi: b/fly.avi", "a/fly.mp4", "b/fly.avi");
    LISTED("many; a_fly.mp4: a/fly.mp4; b_fly.mp4: b/fly.mp4; fly.avi: b/fly.avi; k: k.mp4", "a/fly.mp4",
           "b/fly.mp4", "b/fly.avi", "k.mp4");
    LISTED("many; k.mp4-1: k.mp4; k.mp4-2: k.mp4; k.mp4-3: k.mp4", "k.mp4", "k.mp4", "k.mp4");
    LISTED("one; _mp4: x/.mp4", "x/.mp4"); /* all of it is an ending */
    LISTED("one; _b.c: .b.c.mp4", ".b.c.mp4");
    LISTED("one; a._-+=@ b_____: a._-+=@ b~#!:\t.mp4", "a._-+=@ b~#!:\t.mp4");
    LISTED("one; ö: ö.mp4", "ö.mp4");
    LISTED("one; a-b: a-b.mp4", "a-b.mp4");
    LISTED("one; http___h_1_v.mp4: http://h:1/v.mp4", "http://h:1/v.mp4"); /* all of an address */
    LISTED("one; 0: 0", "0");
    LISTED("one; stdin: -", "-");
    LISTED("one; r: r.mcap", "r.mcap");
    char name[160], expected[400];
    for (int n = 119; n <= 121; n++) {
        memset(name, 'n', (size_t)n);
        snprintf(name + n, sizeof name - (size_t)n, ".mp4");
        snprintf(expected, sizeof expected, "one; %.*s: %s", n < 120 ? n : 120, name, name);
        LISTED(expected, name);
    }
}

/* What does not wait is read alone. */
static void alone(void **state)
{
    (void)state;
#define ONE_AT_A_TIME ": cameras, streams and pipes are read one at a time, for they do not wait\n"
    LISTED("one; pipe: pipe", "pipe");
    LISTED("error: pipe" ONE_AT_A_TIME "start skitter once for each of them", "k.mp4", "pipe");
    LISTED("error: pipe" ONE_AT_A_TIME "start skitter once for each of them", "pipe", "k.mp4");
    LISTED("error: -" ONE_AT_A_TIME "start skitter once for each of them", "p.png", "-");
    LISTED("error: rtsp://7" ONE_AT_A_TIME "start skitter once for each of them", "rtsp://7", "p.png",
           "q.png");
    LISTED("error: 12" ONE_AT_A_TIME
           "a number is a camera; an option's list is written with commas: --classes 0,2",
           "k.mp4", "12");
    const char *const two[] = {"k.mp4", "12"};
    sk_source_list list = {0};
    assert_int_equal(sk_source_list_make(two, 2, &list, &err), SK_ERR_ARG);
    sk_source_list_free(&list);
}

typedef struct given {
    const char *names[6];
    size_t count;
} given;

static sk_status make(void *context, sk_error *why)
{
    const given *g = context;
    sk_source_list list = {0};
    const sk_status status = sk_source_list_make(g->names, g->count, &list, why);
    sk_source_list_free(&list);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    put("some.txt", "a/fly.mp4\nvideos\n");
    given all[] = {{{"p.png", "q.png"}, 2},
                   {{"p.png"}, 1},
                   {{"-"}, 1},
                   {{"a/fly.mp4", "b/fly.mp4"}, 2},
                   {{"k.mp4", "k.mp4"}, 2},
                   {{"videos/*.mp4", "frames"}, 2},
                   {{"some.txt"}, 1},
                   {{"rtsp://camera/1"}, 1}};
    static const int least[] = {6, 7, 4, 12, 12, 12, 12, 5};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int failed = test_every_allocation(make, &all[i]);
        if (failed < least[i])
            fail_msg("%zu: %d allocations", i, failed);
    }
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_at_all), cmocka_unit_test(folders),        cmocka_unit_test(patterns),
        cmocka_unit_test(pictures),    cmocka_unit_test(lists),          cmocka_unit_test(names),
        cmocka_unit_test(alone),       cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
