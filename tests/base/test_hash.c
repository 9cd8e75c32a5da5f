/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/file.h"
#include "base/hash.h"

#include <string.h>

static const char *text_of(const void *data, size_t bytes)
{
    static char text[SK_SHA256_TEXT];
    sk_sha256 hash;
    sk_hash_sha256(data, bytes, &hash);
    return sk_sha256_text(&hash, text);
}

/* Vectors of FIPS 180-4. */
static void sha256_vectors(void **state)
{
    (void)state;
    assert_string_equal(text_of("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(text_of("abc", 3),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *longer = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_string_equal(text_of(longer, strlen(longer)),
                        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void pieces_and_files_agree(void **state)
{
    (void)state;
    sk_error err = {0};
    size_t bytes = 600001; /* more than one piece of the file reader */
    unsigned char *data = sk_malloc(bytes);
    assert_non_null(data);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * i >> 3);
    sk_sha256 whole, pieces, file;
    sk_hash_sha256(data, bytes, &whole);
    sk_sha256_state running;
    sk_sha256_begin(&running);
    for (size_t at = 0; at < bytes; at += 777)
        sk_sha256_add(&running, data + at, bytes - at < 777 ? bytes - at : 777);
    sk_sha256_add(&running, NULL, 0);
    sk_sha256_end(&running, &pieces);
    assert_memory_equal(&whole, &pieces, sizeof whole);
    char *path = sk_path_join(test_folder(), "data.bin");
    assert_ok(sk_file_replace(path, data, bytes, &err), &err);
    assert_ok(sk_hash_sha256_file(path, &file, &err), &err);
    assert_memory_equal(&whole, &file, sizeof whole);
    sk_free(path);
    sk_free(data);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    sk_sha256 hash;
    sk_error err = {0};
    assert_int_equal(sk_hash_sha256_file(test_missing("model.pt"), &hash, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/missing/model.pt"));
    assert_int_equal(sk_hash_sha256_file(test_folder(), &hash, &err), SK_ERR_IO); /* a folder */
}

static sk_status hash_something(void *context, sk_error *err)
{
    sk_sha256 hash;
    return sk_hash_sha256_file(context, &hash, err);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    char *path = sk_path_join(test_folder(), "small.bin");
    sk_error err = {0};
    assert_ok(sk_file_replace(path, "hello", 5, &err), &err);
    assert_int_equal(test_every_allocation(hash_something, path), 1);
    sk_free(path);
}

static void xxh3(void **state)
{
    (void)state;
    assert_true(sk_hash_xxh3("", 0, 0) == 0x2d06800538d394c2u); /* the published value */
    assert_true(sk_hash_xxh3("abc", 3, 0) != sk_hash_xxh3("abd", 3, 0));
    assert_true(sk_hash_xxh3("abc", 3, 0) != sk_hash_xxh3("abc", 3, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_vectors),
        cmocka_unit_test(pieces_and_files_agree),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(xxh3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
