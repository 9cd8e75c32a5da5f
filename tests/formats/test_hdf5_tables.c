/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of tables: where they are found in a type's bytes, in every version, and what is told of types that are damaged. */
#include "hdf5_bytes.h"

#include "formats/hdf5_format.h"

#include <stdio.h>
#include <string.h>

static char what[] = "in.h5";
static sk_hdf5_file file = {.what = what};

static void put_name(int version, const char *name)
{
    const size_t count = strlen(name) + 1;
    memcpy(bytes + length, name, count);
    length += count;
    for (size_t i = count; version < 3 && i % 8; i++)
        put(0, 1);
}

static void put_integer(int version, uint32_t size)
{
    put_head(0, version, 8, size);
    put(0, 2);
    put(8 * size, 2);
}

static void put_real(int version)
{
    put_head(1, version, 0x20, 4);
    put(0, 2);
    put(32, 2);
    put(23, 1);
    put(8, 1);
    put(0, 1);
    put(23, 1);
    put(127, 4);
}

static void put_member(int version, uint32_t size, const char *name, uint32_t offset)
{
    put_name(version, name);
    put(offset, version < 3 || size > 0xffffff ? 4 : size > 0xffff ? 3 : size > 0xff ? 2 : 1);
    for (int i = 0; version == 1 && i < 28; i++)
        put(i, 1);
}

/* Enumerations of `names` values, one over the other, over a whole number of two bytes. */
static void put_enumeration(int version, int deep, int names)
{
    for (int i = 0; i < deep; i++)
        put_head(8, version, (uint32_t)names, 2);
    put_integer(version, 2);
    for (int i = 0; i < deep; i++) {
        for (int k = 0; k < names; k++)
            put_name(version, k % 2 ? "a name" : "another, longer name");
        for (int k = 0; k < names; k++)
            put((uint64_t)k, 2);
    }
}

static sk_status find(size_t cut, const char *name, sk_hdf5_type *type, uint32_t *offset)
{
    const sk_hdf5_item item = {.file = &file, .label = "it", .type_bytes = {bytes, bytes + cut, false}};
    return sk_hdf5_find_member(&item, name, type, offset, &err);
}

static void columns_of_every_version(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {60, 0xff, 0x100, 0xffff, 0x10000, 0xffffff, 0x1000000};
    for (int version = 1; version <= 3; version++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const uint32_t size = sizes[s], last = size - 4;
            sk_hdf5_type type;
            uint32_t offset = 0;
            length = 0;
            put_head(6, version, 0xa50005, size); /* the third byte of the bits says nothing */
            put_member(version, size, "text", 0);
            put_head(3, version, 0, 8);
            put_member(version, size, "an enumeration", 8);
            put_enumeration(version, 1, 3);
            put_member(version, size, "small", 10);
            put_integer(version, 2);
            put_member(version, size, "real", 12);
            put_real(version);
            put_member(version, size, "seven..", last);
            put_integer(version, 4);
            assert_ok(find(length, "small", &type, &offset), &err);
            assert_true(offset == 10 && type.dtype == SK_DTYPE_I16 && type.size == 2);
            assert_ok(find(length, "real", &type, &offset), &err);
            assert_true(offset == 12 && type.dtype == SK_DTYPE_F32 && type.size == 4);
            assert_ok(find(length, "seven..", &type, &offset), &err);
            assert_true(offset == last && type.dtype == SK_DTYPE_I32);
            told(find(length, "text", &type, &offset), SK_ERR_FORMAT,
                 "in.h5: it: column 'text' holds no numbers");
            told(find(length, "an enumeration", &type, &offset), SK_ERR_FORMAT, "holds no numbers");
            told(find(length, "seven", &type, &offset), SK_ERR_NOT_FOUND,
                 "in.h5: it: there is no column 'seven'");
            for (size_t cut = 0; cut < length; cut++) /* the column that is looked for is the last */
                told(find(cut, "none", &type, &offset), SK_ERR_FORMAT,
                     cut < 8 ? "a table was expected here" : "a damaged or unknown table");
        }
}

/* A column lies in the element: up to its last byte, none behind it. */
static void columns_lie_inside(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < 40; at++) {
        sk_hdf5_type type;
        uint32_t offset;
        length = 0;
        put_head(6, 3, 1, 20);
        put_member(3, 20, "x", at);
        put_integer(3, 4);
        if (at <= 16)
            assert_ok(find(length, "x", &type, &offset), &err);
        else
            told(find(length, "x", &type, &offset), SK_ERR_FORMAT, "column 'x' holds no numbers");
    }
}

static void types_that_are_no_table(void **state)
{
    (void)state;
    sk_hdf5_type type;
    uint32_t offset;
    for (int kind = 0; kind < 16; kind++) {
        length = 0;
        put_head(kind, 3, 1, 20);
        put_member(3, 20, "x", 0);
        put_integer(3, 4);
        const sk_status status = find(length, "x", &type, &offset);
        if (kind == 6)
            assert_ok(status, &err);
        else
            told(status, SK_ERR_FORMAT, "in.h5: it: a table was expected here");
    }
    for (int kind = 0; kind < 16;
         kind++) { /* a column of a kind that is not known: what follows is not found */
        length = 0;
        put_head(6, 3, 2, 20);
        put_member(3, 20, "first", 0);
        if (kind == 1)
            put_real(3);
        else if (kind == 8)
            put_enumeration(3, 1, 2);
        else if (kind)
            put_head(kind, 3, 0, 4);
        else
            put_integer(3, 4);
        put_member(3, 20, "x", 8);
        put_integer(3, 4);
        const sk_status status = find(length, "x", &type, &offset);
        if (kind == 0 || kind == 1 || kind == 3 || kind == 8)
            assert_ok(status, &err);
        else
            told(status, SK_ERR_FORMAT, "in.h5: it: a damaged or unknown table");
    }
}

/* As many columns and names as are read, and one more. */
static void how_many_there_may_be(void **state)
{
    (void)state;
    sk_hdf5_type type;
    uint32_t offset;
    for (uint32_t count = 255; count <= 257; count++) {
        char name[16] = "";
        length = 0;
        put_head(6, 3, count, 2000);
        for (uint32_t i = 0; i < count; i++) {
            snprintf(name, sizeof name, "c%u", (unsigned)i);
            put_member(3, 2000, name, 4 * i);
            put_integer(3, 4);
        }
        const sk_status status = find(length, name, &type, &offset);
        if (count <= 256)
            assert_ok(status, &err);
        else
            told(status, SK_ERR_FORMAT, "a table was expected here");
        assert_true(count > 256 || offset == 4 * (count - 1));
    }
    for (int names = 0; names <= 257; names += names == 3 ? 252 : 1)
        for (int deep = 1; deep <= 7; deep++) {
            if (names > 3 && deep > 1)
                continue;
            length = 0;
            put_head(6, 3, 2, 20);
            put_member(3, 20, "first", 0);
            put_enumeration(3, deep, names);
            put_member(3, 20, "x", 8);
            put_integer(3, 4);
            const sk_status status = find(length, "x", &type, &offset);
            if (names <= 256 && deep <= 5)
                assert_ok(status, &err);
            else
                told(status, SK_ERR_FORMAT, "a damaged or unknown table");
            assert_true(status != SK_OK || offset == 8);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_every_version),
        cmocka_unit_test(columns_lie_inside),
        cmocka_unit_test(types_that_are_no_table),
        cmocka_unit_test(how_many_there_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
