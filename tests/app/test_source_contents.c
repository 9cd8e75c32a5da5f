/* SPDX-License-Identifier: Apache-2.0 */
/* By what large files, pictures and things that are no files are known again. */
#include "support/fault.h"
#include "support/test.h"

#include "app/source_identity.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((int64_t)1 << 20)

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* --- a file that is read in pieces of a MiB, each of which says where it was read --- */

static bool played;
static int64_t ends_at = INT64_MAX, fails_at = INT64_MAX;
typedef ssize_t read_at(int file, void *to, size_t bytes, off_t at);

__attribute__((visibility("default"))) ssize_t pread(int file, void *to, size_t bytes, off_t at)
{
    static read_at *real;
    if (played && bytes == (size_t)MIB) {
        if (at >= fails_at)
            errno = EIO;
        if (at >= fails_at || at >= ends_at)
            return at >= fails_at ? -1 : 0;
        if (at == 0)
            memset(to, 0, bytes);
        memcpy(to, &at, sizeof at);
        return (ssize_t)bytes;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "pread");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(file, to, bytes, at);
}

static void put_hole(const char *name, int64_t bytes)
{
    put(name, "");
    assert_int_equal(truncate(name, (off_t)bytes), 0);
}

/* Of what is larger than 1024 pieces so many are looked at, evenly spread from the first byte to the last. */
static void around_a_gigabyte(void **state)
{
    (void)state;
    const int64_t sizes[] = {1024 * MIB, 1024 * MIB + 3000};
    char *piece = sk_calloc(1, (size_t)MIB);
    assert_non_null(piece);
    for (int s = 0; s < 2; s++) {
        const int64_t apart = s ? (sizes[s] - MIB) / 1023 : MIB;
        uint64_t hash = 0;
        for (int64_t i = 0; i < 1024; i++) {
            const off_t at = (off_t)(i == 1023 ? sizes[s] - MIB : i * apart);
            memcpy(piece, &at, sizeof at);
            hash = sk_hash_xxh3(piece, (size_t)MIB, hash);
        }
        put_hole("large.bin", sizes[s]);
        sk_text text = {0}, wanted = {0};
        sk_text_appendf(&wanted, "%lld bytes, xxh3 %016llx, sha256 of a sample ", (long long)sizes[s],
                        (unsigned long long)hash);
        sk_source_sample("large.bin", &wanted);
        played = true;
        assert_ok(sk_source_content("large.bin", &text, &err), &err);
        played = false;
        assert_string_equal(sk_text_get(&text), sk_text_get(&wanted));
        sk_text_free(&text);
        sk_text_free(&wanted);
    }
    sk_free(piece);
    assert_int_equal(unlink("large.bin"), 0);
}

static void while_it_is_read(void **state)
{
    (void)state;
    sk_text text = {0};
    put_hole("three.bin", 3 * MIB);
    played = true;
    ends_at = 2 * MIB;
    assert_int_equal(sk_source_content("three.bin", &text, &err), SK_ERR_IO);
    assert_string_equal(err.message, "three.bin: cannot be read: it has become shorter");
    ends_at = INT64_MAX;
    fails_at = MIB;
    assert_int_equal(sk_source_content("three.bin", &text, &err), SK_ERR_IO);
    assert_string_equal(err.message, "three.bin: cannot be read: Input/output error");
    fails_at = INT64_MAX;
    played = false;
    assert_string_equal(sk_text_get(&text), "");
    sk_text_free(&text);
}

static void addresses_of_files(void **state)
{
    (void)state;
    char here[4096], uri[4200];
    assert_non_null(getcwd(here, sizeof here));
    put("a.bin", "abc");
    snprintf(uri, sizeof uri, "file://%s/a.bin", here);
    sk_text one = {0}, other = {0};
    for (int i = 0; i < 2; i++) {
        const char *source = i ? uri : "a.bin";
        sk_text *to = i ? &other : &one;
        sk_source_size(source, to);
        sk_source_time(source, to);
        sk_source_sample(source, to);
        assert_ok(sk_source_content(source, to, &err), &err);
    }
    assert_string_equal(sk_text_get(&one), sk_text_get(&other));
    assert_true(sk_text_get(&one)[0] == '3' && strlen(sk_text_get(&one)) > 150);
    sk_text_free(&one);
    sk_text_free(&other);
    assert_int_not_equal(sk_source_content("file:///no/such/file", &one, &err), SK_OK);
    assert_int_not_equal(sk_source_content(".", &one, &err), SK_OK); /* a folder has no bytes */
    assert_string_equal(sk_text_get(&one), "");
    sk_text_free(&one);
}

static void stamps(void **state)
{
    (void)state;
    const struct timespec when[2] = {{.tv_sec = 5, .tv_nsec = 6}, {.tv_sec = 5, .tv_nsec = 6}};
    const struct timespec later[2] = {{.tv_sec = 5, .tv_nsec = 7}, {.tv_sec = 5, .tv_nsec = 7}};
    const struct timespec next[2] = {{.tv_sec = 6, .tv_nsec = 6}, {.tv_sec = 6, .tv_nsec = 6}};
    put("b#c.tif", "abc");
    assert_int_equal(utimensat(AT_FDCWD, "b#c.tif", when, 0), 0);
    const int64_t facts[3] = {3, 5, 6};
    const uint64_t wanted = sk_hash_xxh3(facts, sizeof facts, 0);
    assert_true(sk_picture_stamp("b#c.tif") == wanted);
    assert_true(sk_picture_stamp("b#c.tif#12") == wanted); /* the last one is before the page */
    assert_true(sk_picture_stamp("b#c.tif#1#2") == 0 && sk_picture_stamp("b") == 0 &&
                sk_picture_stamp("b#c") == 0);
    assert_int_equal(utimensat(AT_FDCWD, "b#c.tif", later, 0), 0);
    assert_true(sk_picture_stamp("b#c.tif") != wanted);
    assert_int_equal(utimensat(AT_FDCWD, "b#c.tif", next, 0), 0);
    assert_true(sk_picture_stamp("b#c.tif") != wanted && sk_picture_stamp("b#c.tif") != 0);
}

static sk_status look(void *context, sk_error *why)
{
    sk_text text = {0};
    (void)context;
    sk_source_place("nowhere/%03d.png", &text);
    sk_source_place("a.bin", &text);
    (void)sk_picture_stamp("a.bin#1");
    const sk_status status = sk_source_content("a.bin", &text, why);
    sk_text_free(&text);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    put("a.bin", "abc");
    assert_true(test_every_allocation(look, NULL) >= 4);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_a_gigabyte),  cmocka_unit_test(while_it_is_read),
        cmocka_unit_test(addresses_of_files), cmocka_unit_test(stamps),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
