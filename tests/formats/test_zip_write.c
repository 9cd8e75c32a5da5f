/* SPDX-License-Identifier: Apache-2.0 */
/* Archives that are written are what readers of archives read. */
#include "support/test.h"

#include "base/file.h"
#include "formats/zip.h"
#include "formats/zip_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path(void)
{
    static char text[1024];
    snprintf(text, sizeof text, "%s/made.zip", test_folder());
    return text;
}

static sk_zip_writer *begin(FILE **to)
{
    sk_error err = {0};
    sk_zip_writer *writer = NULL;
    *to = fopen(path(), "wb");
    assert_non_null(*to);
    assert_ok(sk_zip_writer_open(*to, "made.zip", &writer, &err), &err);
    return writer;
}

static sk_zip *finish(sk_zip_writer *writer, FILE *to, char **data)
{
    sk_error err = {0};
    sk_zip *zip = NULL;
    size_t bytes = 0;
    assert_ok(sk_zip_writer_end(writer, &err), &err);
    sk_zip_writer_close(&writer);
    assert_int_equal(fclose(to), 0);
    assert_ok(sk_file_read(path(), 1 << 28, data, &bytes, &err), &err);
    assert_ok(sk_zip_open_memory(*data, bytes, "made.zip", &zip, &err), &err);
    assert_false(sk_zip_truncated(zip));
    return zip;
}

static void check(const sk_zip *zip, size_t at, const char *name, const void *bytes, size_t length)
{
    sk_error err = {0};
    const uint8_t *read = NULL;
    sk_blob *hold = NULL;
    const sk_zip_entry *entry = sk_zip_at(zip, at);
    assert_string_equal(entry->name, name);
    assert_int_equal(entry->size, length);
    assert_ok(sk_zip_read(zip, entry, &read, &hold, &err), &err);
    if (length)
        assert_memory_equal(read, bytes, length);
    sk_blob_unref(&hold);
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    sk_error err = {0};
    FILE *to = NULL;
    char *data = NULL, same[5000], noise[5000];
    memset(same, 'a', sizeof same);
    uint32_t any = 7; /* bytes that do not get shorter */
    for (size_t i = 0; i < sizeof noise; i++) {
        any = any * 1664525 + 1013904223;
        noise[i] = (char)(any >> 24);
    }
    sk_zip_writer *writer = begin(&to);
    assert_ok(sk_zip_writer_add(writer, "labels/same.txt", same, sizeof same, &err), &err);
    assert_ok(sk_zip_writer_add(writer, "labels/noise", noise, sizeof noise, &err), &err);
    assert_ok(sk_zip_writer_add(writer, "labels/Käfer.txt", "0 1 2", 5, &err), &err);
    assert_ok(sk_zip_writer_add(writer, "empty", "", 0, &err), &err);
    sk_zip *zip = finish(writer, to, &data);
    assert_int_equal(sk_zip_count(zip), 4);
    assert_true(sk_zip_at(zip, 0)->compressed < 100);
    check(zip, 0, "labels/same.txt", same, sizeof same);
    check(zip, 1, "labels/noise", noise, sizeof noise);
    check(zip, 2, "labels/Käfer.txt", "0 1 2", 5);
    check(zip, 3, "empty", "", 0);
    sk_zip_close(&zip);
    sk_free(data);
}

/* An hour of video has more frames than an old directory can count. */
static void test_more_entries_than_65535(void **state)
{
    (void)state;
    sk_error err = {0};
    FILE *to = NULL;
    char *data = NULL, name[32];
    sk_zip_writer *writer = begin(&to);
    for (int i = 0; i < 70000; i++) {
        snprintf(name, sizeof name, "l/%d", i);
        assert_ok(sk_zip_writer_add(writer, name, name, 3, &err), &err);
    }
    sk_zip *zip = finish(writer, to, &data);
    assert_int_equal(sk_zip_count(zip), 70000);
    check(zip, 69999, "l/69999", "l/6", 3);
    sk_zip_close(&zip);
    sk_free(data);
}

static void test_an_archive_of_nothing(void **state)
{
    (void)state;
    sk_error err = {0};
    FILE *to = NULL;
    sk_zip_writer *writer = begin(&to);
    assert_ok(sk_zip_writer_end(writer, &err), &err);
    sk_zip_writer_close(&writer);
    assert_int_equal(ftell(to), 22);
    fclose(to);
}

/* Every byte of a small archive, as the format's description has it. */
static void test_every_byte(void **state)
{
    (void)state;
    static const char wanted[] =
        "PK\3\4\x14\0\0\x8\0\0\0\0!\0\xc2\x41\x24\x35\3\0\0\0\3\0\0\0\1\0\0\0aabc"
        "PK\3\4\x14\0\0\x8\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0xy"
        "PK\1\2\x14\0\x14\0\0\x8\0\0\0\0!\0\xc2\x41\x24\x35\3\0\0\0\3\0\0\0\1\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0\0\0\0\0a"
        "PK\1\2\x14\0\x14\0\0\x8\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0\x22\0\0\0xy"
        "PK\5\6\0\0\0\0\2\0\2\0\x5f\0\0\0\x42\0\0\0\0\0";
    sk_error err = {0};
    FILE *to = NULL;
    char *data = NULL;
    size_t length = 0;
    sk_zip_writer *writer = begin(&to);
    assert_ok(sk_zip_writer_add(writer, "a", "abc", 3, &err), &err);
    assert_ok(sk_zip_writer_add(writer, "xy", "", 0, &err), &err);
    assert_ok(sk_zip_writer_end(writer, &err), &err);
    sk_zip_writer_close(&writer);
    assert_int_equal(fclose(to), 0);
    assert_ok(sk_file_read(path(), 1 << 20, &data, &length, &err), &err);
    assert_int_equal(length, sizeof wanted - 1);
    assert_memory_equal(data, wanted, length);
    sk_free(data);
}

/* From 32 bytes on what gets shorter is deflated, and says so in both places. */
static void test_what_gets_shorter(void **state)
{
    (void)state;
    for (size_t n = 30; n < 36; n++)
        for (int same = 0; same < 2; same++) {
            sk_error err = {0};
            FILE *to = NULL;
            char *data = NULL, bytes[40];
            for (size_t i = 0; i < n; i++)
                bytes[i] = same ? 'a' : (char)(i * 37 + 11);
            sk_zip_writer *writer = begin(&to);
            assert_ok(sk_zip_writer_add(writer, "a", bytes, n, &err), &err);
            sk_zip *zip = finish(writer, to, &data);
            const bool packed = same && n >= 32;
            assert_int_equal(sk_zip_at(zip, 0)->method, packed ? 8 : 0);
            assert_int_equal(data[8], packed ? 8 : 0);
            assert_int_equal(sk_zip_at(zip, 0)->compressed < n, packed);
            assert_int_equal(sk_zip_at(zip, 0)->flags, 0x0800);
            check(zip, 0, "a", bytes, n);
            sk_zip_close(&zip);
            sk_free(data);
        }
}

/* As many as an old directory can count, and one more. */
static void test_about_65535_entries(void **state)
{
    (void)state;
    for (int count = 65534; count <= 65536; count++) {
        sk_error err = {0};
        FILE *to = NULL;
        char *data = NULL;
        sk_zip_writer *writer = begin(&to);
        for (int i = 0; i < count; i++)
            assert_ok(sk_zip_writer_add(writer, "n", "", 0, &err), &err);
        sk_zip *zip = finish(writer, to, &data);
        const size_t length = sk_zip_length(zip), plain = (size_t)count * (31 + 47) + 22;
        assert_int_equal(sk_zip_count(zip), count);
        assert_int_equal(length, plain + (count >= 65535 ? 56 + 20 : 0));
        sk_zip_close(&zip);
        sk_free(data);
    }
}

static void test_names_and_full_disks(void **state)
{
    (void)state;
    sk_error err = {0};
    FILE *to = NULL;
    static char name[65537];
    memset(name, 'n', 65536);
    sk_zip_writer *writer = begin(&to);
    assert_int_equal(sk_zip_writer_add(writer, name, "", 0, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "made.zip: more than 4 GB do not go into one archive"));
    name[65535] = '\0';
    assert_ok(sk_zip_writer_add(writer, name, "", 0, &err), &err);
    sk_zip_writer_close(&writer);
    fclose(to);
    to = fopen("/dev/full", "wb");
    assert_non_null(to);
    assert_ok(sk_zip_writer_open(to, "made.zip", &writer, &err), &err);
    assert_ok(sk_zip_writer_add(writer, "a", "", 0, &err), &err);
    assert_int_equal(sk_zip_writer_end(writer, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "made.zip: writing failed: No space left on device"));
    sk_zip_writer_close(&writer);
    fclose(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read), cmocka_unit_test(test_more_entries_than_65535),
        cmocka_unit_test(test_an_archive_of_nothing),   cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_what_gets_shorter),       cmocka_unit_test(test_about_65535_entries),
        cmocka_unit_test(test_names_and_full_disks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
