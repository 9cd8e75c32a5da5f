/* SPDX-License-Identifier: Apache-2.0 */
/* By what a source is known again: its place, size and time, a sample of its bytes, all of them, and pictures by what lies there. */
#include "support/test.h"

#include "app/source_identity.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)

static sk_error err;
static uint8_t *noise; /* two MiB and a little */

static void put(const char *path, size_t bytes)
{
    assert_ok(sk_file_replace(path, (const char *)noise, bytes, &err), &err);
}

static void says(void (*ask)(const char *, sk_text *), const char *source, const char *wanted)
{
    sk_text text = {0};
    ask(source, &text);
    assert_string_equal(sk_text_get(&text), wanted);
    sk_text_free(&text);
}

static void places(void **state)
{
    (void)state;
    char here[4096], file[4200];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(file, sizeof file, "%s/a.bin", here);
    put("a.bin", 10);
    says(sk_source_place, "a.bin", file);
    says(sk_source_place, "./a.bin", file);
    char uri[4300];
    snprintf(uri, sizeof uri, "file://%s", file);
    says(sk_source_place, uri, file);
    snprintf(uri, sizeof uri, "%s/%%03d.png", here);
    says(sk_source_place, uri, here); /* a pattern: where it looks */
    says(sk_source_place, "rtsp://camera/1", "");
    says(sk_source_place, "no/such/folder/x.mp4", "");
    says(sk_source_size, "a.bin", "10");
    says(sk_source_size, ".", ""); /* of a folder its pictures count */
    says(sk_source_size, "nothing", "");
    const struct timespec when[2] = {{.tv_sec = 1234, .tv_nsec = 56}, {.tv_sec = 1234, .tv_nsec = 56}};
    assert_int_equal(utimensat(AT_FDCWD, "a.bin", when, 0), 0);
    says(sk_source_time, "a.bin", "1234.000000056");
    says(sk_source_time, ".", "");
    says(sk_source_time, "nothing", "");
}

/* Sixteen pieces of 64 KiB, evenly spread, the first and the last bytes among them; of a shorter file all of it, once. */
static void samples(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 3 * 64 * KIB, 2 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t piece = 64 * KIB, bytes = sizes[i];
        char hex[SK_SHA256_TEXT];
        sk_sha256_state state_of;
        sk_sha256 hash;
        sk_sha256_begin(&state_of);
        if (bytes <= piece)
            sk_sha256_add(&state_of, noise, bytes);
        for (size_t k = 0; bytes > piece && k < 16; k++)
            sk_sha256_add(&state_of, noise + (k == 15 ? bytes - piece : (bytes - piece) / 15 * k), piece);
        sk_sha256_end(&state_of, &hash);
        put("s.bin", bytes);
        says(sk_source_sample, "s.bin", sk_sha256_text(&hash, hex));
    }
    says(sk_source_sample, ".", "");
    says(sk_source_sample, "nothing", "");
}

/* Piece after piece, each of a MiB but the last. */
static void contents(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, MIB - 1, MIB, MIB + 1, 2 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t hash = 0;
        for (size_t at = 0; at < sizes[i]; at += MIB)
            hash = sk_hash_xxh3(noise + at, sizes[i] - at < MIB ? sizes[i] - at : MIB, hash);
        put("c.bin", sizes[i]);
        sk_text text = {0}, wanted = {0};
        sk_text_appendf(&wanted, "%zu bytes, xxh3 %016llx, sha256 of a sample ", sizes[i],
                        (unsigned long long)hash);
        sk_source_sample("c.bin", &wanted);
        assert_ok(sk_source_content("c.bin", &text, &err), &err);
        assert_string_equal(sk_text_get(&text), sk_text_get(&wanted));
        sk_text_free(&text);
        sk_text_free(&wanted);
    }
    sk_text text = {0};
    assert_int_equal(sk_source_content("nothing", &text, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(sk_text_get(&text), "");
}

/* A picture that was written anew has another stamp; pages of a file have the file's. */
static void stamps(void **state)
{
    (void)state;
    const struct timespec when[2] = {{.tv_sec = 77}, {.tv_sec = 77}};
    put("stack.tif", 100);
    put("x#1", 100);
    assert_int_equal(utimensat(AT_FDCWD, "stack.tif", when, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, "x#1", when, 0), 0);
    const uint64_t first = sk_picture_stamp("stack.tif");
    assert_true(first != 0 && sk_picture_stamp("stack.tif#3") == first && sk_picture_stamp("x#1") == first);
    assert_true(sk_picture_stamp("stack.ti#3") == 0 && sk_picture_stamp("nothing") == 0);
    put("stack.tif", 101);
    assert_int_equal(utimensat(AT_FDCWD, "stack.tif", when, 0), 0);
    assert_true(sk_picture_stamp("stack.tif") != first);
    put("stack.tif", 100);
    assert_true(sk_picture_stamp("stack.tif") != first);
}

int main(void)
{
    if (chdir(test_folder()) != 0 || !(noise = sk_malloc(2 * MIB + 16)))
        return 1;
    uint32_t number = 5;
    for (size_t i = 0; i < 2 * MIB + 16; i++) {
        number = number * 1664525u + 1013904223u;
        noise[i] = (uint8_t)(number >> 24);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(samples),
                                       cmocka_unit_test(contents), cmocka_unit_test(stamps)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_free(noise);
    return failed;
}
