/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5 files put together byte by byte after the specification: what stands before and between the messages of objects, in every
 * version, and what is told where it is damaged. */
#include "hdf5_objects.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* --- the beginning --- */

static void superblocks(void **state)
{
    (void)state;
    for (int version = 0; version <= 4; version++) {
        const size_t end = begin(version);
        const size_t whole = end + 8 + (version < 2 ? 16 : 0) + 8;
        end_header(put_header());
        poke(end, length, 8);
        if (version == 4) {
            told(open_now(length), SK_ERR_FORMAT, "in.h5: an HDF5 file of unknown version, or cut short");
            continue;
        }
        assert_ok(open_now(length), &err);
        assert_true(sk_hdf5_exists(file, "") && !sk_hdf5_exists(file, "x"));
        poke(end, length + 1, 8);
        told(open_now(length), SK_ERR_FORMAT, "cut short: 144 of 145 bytes are there");
        poke(end, 0, 8);
        for (size_t cut = 0; cut < whole; cut++)
            told(open_now(cut), SK_ERR_FORMAT,
                 cut < 8 ? "not an HDF5 file" : "unknown version, or cut short");
        assert_ok(open_now(whole), &err);
        assert_false(sk_hdf5_exists(file, "x")); /* its root is not there */
        for (int k = 0; k < 2; k++) {
            const size_t at = (version < 2 ? 13 : 9) + (size_t)k;
            bytes[at] = 4;
            told(open_now(length), SK_ERR_UNSUPPORTED, "with addresses of");
            bytes[at] = 8;
        }
    }
    static const char pointer[] = "version https://git-lfs";
    memcpy(bytes, pointer, sizeof pointer);
    told(open_now(sizeof pointer), SK_ERR_FORMAT, "but a git-lfs pointer");
    told(open_now(7), SK_ERR_FORMAT, "in.h5: not an HDF5 file");
    assert_null(strstr(err.message, "git-lfs"));
}

/* --- attributes --- */

static const uint8_t real_type[20] = {0x11, 0x20, 63, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3};

/* A double of this value, in a version of the message. */
static size_t attribute(uint8_t *out, int version, const char *name, double value)
{
    const size_t kept = length, name_size = strlen(name) + 1;
    const size_t pad = version == 1 ? 8 : 1;
    length = MOST / 2;
    put((uint64_t)version, 1);
    put(0, 1);
    put(name_size, 2);
    put(20, 2);
    put(version == 1 ? 8 : 4, 2);
    put(0, version == 3 ? 1 : 0);
    put_text(name, (name_size + pad - 1) / pad * pad);
    memcpy(bytes + length, real_type, 20);
    length += version == 1 ? 24 : 20;
    put(version == 1 ? 1 : 2, 1); /* a single number */
    put(0, version == 1 ? 7 : 3);
    memcpy(bytes + length, &value, 8);
    length += 8;
    const size_t count = length - MOST / 2;
    memcpy(out, bytes + MOST / 2, count);
    memset(bytes + MOST / 2, 0, count);
    length = kept;
    return count;
}

static void attributes_of_every_version(void **state)
{
    (void)state;
    for (int version = 0; version <= 4; version++)
        for (size_t letters = 1; letters <= 9; letters++) {
            char name[16] = "";
            uint8_t data[128];
            double value = 0;
            memset(name, 'n', letters);
            size_t count = attribute(data, version, name, 2.5);
            const size_t end = begin(2);
            size_t header = put_header();
            put_message(1, 0x0c, 2, data, count, false); /* one that lies elsewhere is not this one */
            put_message(1, 0x0c, 0, data, count, false);
            end_header(header);
            poke(end, length, 8);
            assert_ok(open_now(length), &err);
            if (version < 1 || version > 3) {
                told(sk_hdf5_attribute_real(file, "/", name, &value, &err), SK_ERR_FORMAT, "damaged");
                continue;
            }
            assert_true(sk_hdf5_has_attribute(file, "", name) && !sk_hdf5_has_attribute(file, "", "m"));
            assert_ok(sk_hdf5_attribute_real(file, "/", name, &value, &err), &err);
            assert_true(value == 2.5);
            name[letters - 1] = '\0';
            assert_false(sk_hdf5_has_attribute(file, "", name));
            told(sk_hdf5_attribute_real(file, "/", name, &value, &err), SK_ERR_NOT_FOUND, "missing");
            strcat(name, "nn");
            assert_false(sk_hdf5_has_attribute(file, "", name));
            name[letters] = '\0';
            for (int shared = 1; shared <= 4; shared *= 2) { /* its type or its shape lies elsewhere */
                bytes[header + 8 + count + 8 + 1] = (uint8_t)shared;
                const sk_status status = sk_hdf5_attribute_real(file, "/", name, &value, &err);
                if (version == 1 || shared == 4)
                    assert_ok(status, &err);
                else
                    told(status, SK_ERR_UNSUPPORTED, "a named or shared type, which is not read");
            }
            for (size_t cut = 8; cut < count; cut++) { /* a message that ends early */
                begin(2);
                header = put_header();
                put_message(1, 0x0c, 0, data, cut, false);
                end_header(header);
                assert_ok(open_now(length), &err);
                assert_int_not_equal(sk_hdf5_attribute_real(file, "/", name, &value, &err), SK_OK);
            }
        }
    /* many of them lie in a heap, which is told; where none do, it is not there */
    for (int heap = 0; heap < 2; heap++)
        for (int order = 0; order < 2; order++) {
            uint8_t info[32] = {0, (uint8_t)order};
            double value;
            memset(info + (order ? 4 : 2), heap ? 0x11 : 0xff, 8);
            begin(2);
            const size_t header = put_header();
            put_message(1, 0x15, 0, info, order ? 20 : 18, false);
            end_header(header);
            assert_ok(open_now(length), &err);
            told(sk_hdf5_attribute_real(file, "", "n", &value, &err),
                 heap ? SK_ERR_UNSUPPORTED : SK_ERR_NOT_FOUND,
                 heap ? "fractal heap" : "attribute \"n\" of /: missing");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(superblocks),
        cmocka_unit_test(attributes_of_every_version),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_hdf5_close(&file);
    return failed;
}
