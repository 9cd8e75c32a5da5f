/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a piece's process, and what the words stood for when the batch was begun. */
#include "support/test.h"

#include "app/batch_internal.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/fault.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[2048];
static sk_error err;

static void put(const char *path, const char *text)
{
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

/* --- words --- */

static char no_text[] = "", out_name[] = "out", program_name[] = "skitter", command_name[] = "track";

/* A batch that is on no disk. */
static sk_batch make(char **words)
{
    return (sk_batch){.out = out_name, .program = program_name, .command = command_name, .words = words};
}

static const char *line_of(sk_batch *b, const sk_batch_piece *piece, int32_t slot)
{
    static char line[2048];
    char **words = NULL;
    sk_text text = {0};
    assert_ok(sk_batch_words(b, piece, 3, slot, &words, &err), &err);
    sk_batch_line(words, &text);
    snprintf(line, sizeof line, "%s", sk_text_get(&text));
    sk_text_free(&text);
    sk_batch_words_free(words);
    return line;
}

static void threads_of_workers(void **state)
{
    (void)state;
    static char exact[] = "--threads", with[] = "--threads=2", longer[] = "--threadsafe=1",
                shorter[] = "--thread";
    static char behind[] = "x--threads=2", source[] = "v.mp4", frames[] = "--frames=1:2",
                near[] = "--framesx";
    const int32_t cores = sk_cpu_usable_cores();
    const sk_batch_piece piece = {.number = 4, .source = source, .name = source, .frames = no_text};
    char *words[] = {longer, shorter, behind, NULL};
    char share[32], wanted[256];
    sk_batch b = make(words);
    const char *const plain = "skitter track --threadsafe=1 --thread x--threads=2 ";
    const char *const rest = "--out=out/.batch/work/0000004.3 --events=3 --json --quiet -- v.mp4";
    for (int32_t workers = 0; workers < 4; workers++) {
        b.how.workers = workers;
        const int32_t each = workers > 1 ? cores / workers : 0;
        snprintf(share, sizeof share, "--threads=%d ", each < 1 ? 1 : each);
        snprintf(wanted, sizeof wanted, "%s%s%s", plain, workers > 1 ? share : "", rest);
        assert_string_equal(line_of(&b, &piece, 0), wanted);
    }
    b.how.workers = 2 * cores; /* less than one for each */
    snprintf(wanted, sizeof wanted, "%s--threads=1 %s", plain, rest);
    assert_string_equal(line_of(&b, &piece, 0), wanted);
    b.how.slurm = true; /* which says how many there are */
    snprintf(wanted, sizeof wanted, "%s%s", plain, rest);
    assert_string_equal(line_of(&b, &piece, 0), wanted);
    b.how.slurm = false;
    for (int i = 0; i < 2; i++) {
        words[1] = i ? with : exact;
        assert_null(strstr(line_of(&b, &piece, 0), i ? "--threads=2 --threads" : "--threads --threads"));
        assert_null(strstr(line_of(&b, &piece, 0), "--threads=1 "));
    }
    b.how.workers = 1;
    words[0] = frames; /* of a whole video they are the words' own; of a part its own */
    words[1] = near;
    assert_non_null(strstr(line_of(&b, &piece, 0), " --frames=1:2 --framesx x--threads=2 --out="));
    sk_batch_piece part = piece;
    part.kind = SK_BATCH_PART;
    part.parts = 1;
    part.frames = source;
    assert_string_equal(line_of(&b, &part, 0),
                        "skitter track x--threads=2 --frames=v.mp4 --find-only "
                        "--out=out/.batch/work/0000004.3 --events=3 --json --quiet -- v.mp4");
    assert_string_equal(line_of(&b, &part, -1), "skitter track x--threads=2 --frames=v.mp4 --find-only "
                                                "--out=out/.batch/work/0000004.3 -- v.mp4");
}

static void devices_of_slots(void **state)
{
    (void)state;
    static char source[] = "v.mp4", name[64];
    static const struct {
        const char *devices;
        int32_t slot;
        const char *begin;
    } rows[] = {
        {"", 0, "skitter track "},
        {"cuda:3", 0, "env CUDA_VISIBLE_DEVICES=3 skitter "},
        {"cuda:3", 5, "env CUDA_VISIBLE_DEVICES=3 skitter "},
        {"cuda:3,rocm:4", -1, "env CUDA_VISIBLE_DEVICES=3 skitter "},
        {"cuda:3,rocm:4", 1, "env HIP_VISIBLE_DEVICES=4 skitter "},
        {"cuda:3,rocm:4", 2, "env CUDA_VISIBLE_DEVICES=3 skitter "},
        {"rocm,12,cuda:13", 0, "env HIP_VISIBLE_DEVICES=rocm skitter "}, /* no number: as it is called */
        {"rocm,12,cuda:13", 1, "env CUDA_VISIBLE_DEVICES=12 skitter "},
        {"rocm,12,cuda:13", 2, "env CUDA_VISIBLE_DEVICES=13 skitter "},
        {"rocm,12,cuda:13", 4, "env CUDA_VISIBLE_DEVICES=12 skitter "}};
    const sk_batch_piece piece = {.source = source, .name = source, .frames = no_text};
    char *words[] = {NULL};
    sk_batch b = make(words);
    assert_int_equal(strncmp(line_of(&b, &piece, 0), "skitter track --out=", 20), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "%s", rows[i].devices);
        b.how.devices = name;
        if (strncmp(line_of(&b, &piece, rows[i].slot), rows[i].begin, strlen(rows[i].begin)) != 0)
            fail_msg("%zu: %s", i, line_of(&b, &piece, rows[i].slot));
    }
}

static sk_status some_words(void *context, sk_error *e)
{
    static char source[] = "a b.mp4", with[] = "--conf=0.5", devices[] = "cuda:1";
    const sk_batch_piece piece = {.source = source, .name = source, .frames = no_text};
    char *words[] = {with, no_text, NULL}, **made = NULL;
    sk_batch b = make(words);
    sk_text text = {0};
    (void)context;
    b.how.devices = devices;
    b.how.workers = 2;
    sk_status status = sk_batch_words(&b, &piece, 1, 0, &made, e);
    if (status == SK_OK) {
        assert_string_equal(made[0], "env");
        sk_batch_line(made, &text);
        status = sk_text_status(&text, e);
    } else {
        assert_null(made);
    }
    if (status == SK_OK)
        assert_non_null(strstr(sk_text_get(&text), " --conf=0.5 '' --threads="));
    if (status == SK_OK)
        assert_non_null(strstr(sk_text_get(&text), " -- 'a b.mp4'"));
    sk_text_free(&text);
    sk_batch_words_free(made);
    return status;
}

static void words_without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(some_words, NULL) > 10);
}

/* --- what words stand for --- */

static char *stamps_of(char *a, char *b, sk_status wanted)
{
    static char shown[256];
    char *words[] = {a, b, NULL}, **stamps = NULL;
    const sk_status status = batch_stamp_words(words, &stamps, &err);
    assert_int_equal(status, wanted);
    shown[0] = '\0';
    if (status == SK_OK) {
        assert_true(stamps[0] && stamps[1] && !stamps[2]);
        snprintf(shown, sizeof shown, "%.8s/%.8s", stamps[0], stamps[1]);
        assert_true(strlen(stamps[0]) % 64 == 0 && strlen(stamps[1]) % 64 == 0);
    } else {
        assert_null(stamps);
    }
    sk_batch_words_free(stamps);
    return shown;
}

static void stamps(void **state)
{
    (void)state;
    char config[] = "--config=abc", mask[] = "--roi-mask=abc", other[] = "--configure=abc",
         short_one[] = "--config";
    char absent[] = "--config=absent", conf[] = "--conf=abc", no_model[] = "--model=absent.pt";
    put("abc", "abc"); /* whose SHA-256 everybody knows */
    assert_string_equal(stamps_of(config, mask, SK_OK), "ba7816bf/ba7816bf");
    assert_string_equal(stamps_of(other, mask, SK_OK), "/ba7816bf");
    assert_string_equal(stamps_of(config, short_one, SK_OK), "ba7816bf/");
    assert_string_equal(stamps_of(conf, other, SK_OK), "/");
    (void)stamps_of(config, absent, SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "absent"));
    (void)stamps_of(no_model, config, SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "absent.pt"));
    char one[] = "1", two[] = "2";
    char *words[] = {config, conf, NULL}, *then[] = {one, two, NULL}, *now[] = {one, two, NULL};
    sk_batch b = make(words);
    assert_ok(batch_stamp_check(&b, now, &err), &err); /* an older skitter began it */
    b.stamps = then;
    assert_ok(batch_stamp_check(&b, now, &err), &err);
    now[1] = one;
    assert_int_equal(batch_stamp_check(&b, now, &err), SK_ERR_MISMATCH);
    assert_int_equal(strncmp(err.message, "abc: is not the file that this batch was begun with: ", 53), 0);
    char bare[] = "bare";
    words[1] = bare;
    assert_int_equal(batch_stamp_check(&b, now, &err), SK_ERR_MISMATCH);
    assert_int_equal(strncmp(err.message, "bare: is not", 12), 0);
    words[1] = NULL; /* no word, no stamp */
    assert_ok(batch_stamp_check(&b, now, &err), &err);
    words[1] = bare, now[1] = NULL;
    assert_ok(batch_stamp_check(&b, now, &err), &err);
    now[1] = one, then[1] = NULL;
    assert_ok(batch_stamp_check(&b, now, &err), &err);
}

static void folders(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *source;
        sk_status wanted;
    } rows[] = {
        {".", "a.mp4", SK_OK},          {"below", "a.mp4", SK_ERR_MISMATCH},  {"below", "/x/a.mp4", SK_OK},
        {"below", "rtsp://h/a", SK_OK}, {"absent", "a.mp4", SK_ERR_MISMATCH}, {"absent", "/a.mp4", SK_OK}};
    char *words[] = {NULL};
    sk_batch b = make(words);
    assert_ok(sk_folder_make("below", &err), &err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char place[16], source[32], first[] = "/first.mp4";
        snprintf(place, sizeof place, "%s", rows[i].folder);
        snprintf(source, sizeof source, "%s", rows[i].source);
        sk_source_item items[] = {{.source = first}, {.source = source}};
        const sk_source_list list = {.items = items, .count = 2};
        b.folder = place;
        assert_int_equal(batch_stamp_folder(&b, &list, &err), rows[i].wanted);
        if (rows[i].wanted != SK_OK) {
            char text[256];
            snprintf(text, sizeof text,
                     "out: this batch was begun in the folder %s, from which 'a.mp4' is another file\n"
                     "Start it there, name videos by their whole paths, or choose another --out",
                     place);
            assert_string_equal(err.message, text);
        }
    }
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_workers), cmocka_unit_test(devices_of_slots),
        cmocka_unit_test(words_without_memory), cmocka_unit_test(stamps), cmocka_unit_test(folders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
