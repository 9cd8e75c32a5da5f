/* SPDX-License-Identifier: Apache-2.0 */
/* What an object's header says of a dataset, byte by byte after the specification: forms that today's libhdf5 no longer writes, too,
 * and each cut off at every byte. */
#include "hdf5_bytes.h"

#include "formats/hdf5_format.h"

#include <string.h>

static char what[] = "in.h5";
static sk_hdf5_file file = {.what = what};

static sk_hdf5_cursor part(size_t count)
{
    return (sk_hdf5_cursor){bytes, bytes + count, false};
}

static sk_hdf5_item item_of(uint32_t size)
{
    return (sk_hdf5_item){.file = &file, .label = "it", .type.size = size};
}

#define TOLD(call, status, why)                                                                              \
    do {                                                                                                     \
        assert_int_equal(call, status);                                                                      \
        if (!strstr(err.message, why))                                                                       \
            fail_msg("'%s' is not in: %s", why, err.message);                                                \
    } while (0)

/* --- types --- */

static void put_float(uint32_t bits, uint32_t size, int exponent_at, int exponent, int mantissa_at,
                      int mantissa)
{
    put_head(1, 1, bits, size);
    put(0, 2);
    put(8 * size, 2);
    put((uint64_t)exponent_at, 1);
    put((uint64_t)exponent, 1);
    put((uint64_t)mantissa_at, 1);
    put((uint64_t)mantissa, 1);
    put(127, 4);
}

static sk_dtype type_now(sk_hdf5_type *type)
{
    assert_ok(sk_hdf5_parse_type(part(length), type, "it", &err), &err);
    length = 0;
    return type->dtype;
}

static void types(void **state)
{
    (void)state;
    static const sk_dtype whole[2][9] = {
        {[1] = SK_DTYPE_U8, [2] = SK_DTYPE_U16, [4] = SK_DTYPE_U32, [8] = SK_DTYPE_U64},
        {[1] = SK_DTYPE_I8, [2] = SK_DTYPE_I16, [4] = SK_DTYPE_I32, [8] = SK_DTYPE_I64}};
    static const struct {
        uint32_t size;
        int exponent, mantissa;
        sk_dtype dtype;
    } reals[] = {{2, 5, 10, SK_DTYPE_F16}, {4, 8, 23, SK_DTYPE_F32}, {8, 11, 52, SK_DTYPE_F64}};
    sk_hdf5_type t;
    for (uint32_t size = 1; size <= 8; size++)
        for (uint32_t bits = 0; bits < 16; bits++) {
            put_head(0, 1, bits, size);
            assert_int_equal(type_now(&t), whole[bits >> 3][size]);
            assert_true(t.size == size && t.big_endian == (bits & 1) && !t.text && !t.variable);
        }
    for (int i = 0; i < 3; i++) {
        const uint32_t size = reals[i].size;
        const int e = reals[i].exponent, m = reals[i].mantissa;
        for (uint32_t big = 0; big < 2; big++) {
            put_float(0x20 | big, size, m, e, 0, m);
            assert_int_equal(type_now(&t), reals[i].dtype);
            assert_int_equal(t.big_endian, big);
        }
        put_float(0x61, size, m, e, 0, m); /* VAX */
        assert_int_equal(type_now(&t), SK_DTYPE_NONE);
        const int others[][4] = {
            {m + 1, e, 0, m}, {m, e + 1, 0, m}, {m, e - 1, 0, m}, {m, e, 1, m}, {m - 1, e, 0, m - 1}};
        for (int k = 0; k < 5; k++) {
            put_float(0x20, size, others[k][0], others[k][1], others[k][2], others[k][3]);
            assert_int_equal(type_now(&t), SK_DTYPE_NONE);
        }
        put_float(0x20, size == 2 ? 3 : size - 1, m, e, 0, m);
        assert_int_equal(type_now(&t), SK_DTYPE_NONE);
        put_float(0x20, size, m, e, 0, m);
        length = 15; /* where the mantissa's length would be */
        assert_int_equal(type_now(&t), SK_DTYPE_NONE);
    }
    put_head(3, 1, 1, 40);
    assert_true(type_now(&t) == SK_DTYPE_NONE && t.text && !t.variable && !t.big_endian && t.size == 40);
    for (uint32_t size = 1; size <= 2; size++) {
        put_head(8, 1, 3, size);
        assert_int_equal(type_now(&t), size == 1 ? SK_DTYPE_BOOL : SK_DTYPE_NONE);
        assert_false(t.text || t.big_endian);
    }
    for (uint32_t bits = 0; bits < 32; bits++) { /* of any length: texts alone */
        put_head(9, 1, bits, 16);
        assert_int_equal(type_now(&t), SK_DTYPE_NONE);
        assert_true(t.text == ((bits & 15) == 1) && t.variable == t.text);
    }
    put_head(6, 1, 1, 16);
    assert_true(type_now(&t) == SK_DTYPE_NONE && !t.text && !t.big_endian);
    put_head(0, 1, 0, 0);
    TOLD(sk_hdf5_parse_type(part(8), &t, "it", &err), SK_ERR_FORMAT, "it: a damaged type");
    bytes[4] = 4;
    for (size_t cut = 0; cut <= 8; cut++)
        assert_int_equal(sk_hdf5_parse_type(part(cut), &t, "it", &err), cut < 8 ? SK_ERR_FORMAT : SK_OK);
    length = 0;
}

/* --- shapes --- */

static void put_space(int version, int rank, int kind)
{
    length = 0;
    put((uint64_t)version, 1);
    put((uint64_t)rank, 1);
    put(1, 1); /* the largest sizes follow */
    put((uint64_t)kind, 1);
    if (version == 1)
        put(0, 4);
}

static void shapes(void **state)
{
    (void)state;
    for (int version = 0; version <= 3; version++)
        for (int rank = 0; rank <= 33; rank++)
            for (int kind = 0; kind <= 2; kind++) {
                sk_hdf5_item item = item_of(4);
                uint64_t count = version == 2 && kind == 2 ? 0 : 1;
                put_space(version, rank, kind);
                for (int i = 0; i < rank; i++) {
                    put((uint64_t)(i % 2 + 1), 8);
                    count *= (uint64_t)(i % 2 + 1);
                }
                const sk_status status = sk_hdf5_parse_space(part(length), &item, &err);
                if (version < 1 || version > 2 || rank > 32) {
                    assert_int_equal(status, SK_ERR_FORMAT);
                    assert_string_equal(err.message, "in.h5: it: a damaged shape");
                    continue;
                }
                assert_ok(status, &err);
                assert_int_equal(item.shape.rank, rank <= SK_MAX_RANK ? rank : -1);
                assert_true(item.count == count);
                for (int i = 0; i < rank && i < SK_MAX_RANK; i++)
                    assert_int_equal(item.shape.dim[i], i % 2 + 1);
                for (size_t cut = version == 1 ? 3 : 2; cut < length; cut++)
                    assert_int_equal(sk_hdf5_parse_space(part(cut), &item, &err), SK_ERR_FORMAT);
            }
    for (int more = 0; more < 2; more++) {
        sk_hdf5_item item = item_of(1);
        put_space(2, 1, 1);
        put(((uint64_t)1 << 48) + (uint64_t)more, 8);
        const sk_status status = sk_hdf5_parse_space(part(length), &item, &err);
        assert_int_equal(status, more ? SK_ERR_FORMAT : SK_OK);
        put_space(2, 2, 1);
        put((uint64_t)1 << 32, 8);
        put(((uint64_t)1 << 32) - (uint64_t)!more, 8); /* the product: as much as 64 bits hold, or more */
        assert_int_equal(sk_hdf5_parse_space(part(length), &item, &err), more ? SK_ERR_FORMAT : SK_OK);
        if (more)
            assert_string_equal(err.message, "in.h5: it: an impossible shape");
    }
    length = 0;
}

/* --- where the elements are --- */

static void layouts(void **state)
{
    (void)state;
    sk_hdf5_item item = item_of(4);
    for (int version = 2; version <= 5; version++) {
        const bool known = version == 3 || version == 4;
        length = 0;
        put((uint64_t)version, 1);
        put(SK_HDF5_COMPACT, 1);
        put(5, 2);
        put(0x1122334455, 5);
        for (size_t cut = 2; cut <= length; cut++) {
            item = item_of(4);
            const sk_status status = sk_hdf5_parse_layout(part(cut), &item, &err);
            assert_int_equal(status, !known ? SK_ERR_UNSUPPORTED : cut < length ? SK_ERR_FORMAT : SK_OK);
        }
        if (known)
            assert_true(item.layout == SK_HDF5_COMPACT && item.inside.at == bytes + 4 &&
                        item.inside.end == bytes + 9 && !item.inside.bad && !item.outside);
        length = 1;
        put(SK_HDF5_CONTIGUOUS, 1);
        put(0x1234, 8);
        put(77, 8);
        for (size_t cut = 2; cut <= length; cut++) {
            item = item_of(4);
            const sk_status status = sk_hdf5_parse_layout(part(cut), &item, &err);
            assert_int_equal(status, !known ? SK_ERR_UNSUPPORTED : cut < length ? SK_ERR_FORMAT : SK_OK);
        }
        if (known)
            assert_true(item.layout == SK_HDF5_CONTIGUOUS && item.address == 0x1234 && item.size == 77);
        length = 1;
        put(3, 1); /* put together from other files */
        item = item_of(4);
        assert_int_equal(sk_hdf5_parse_layout(part(length), &item, &err), known ? SK_OK : SK_ERR_UNSUPPORTED);
        assert_int_equal(item.outside, known);
        length = 1;
        put(SK_HDF5_CHUNKED, 1);
        put(3, 1); /* two, and the element's bytes */
        put(0x4321, 8);
        put(6, 4);
        put(7, 4);
        put(4, 4);
        for (size_t cut = 2; cut <= length; cut++) {
            item = item_of(4);
            item.shape.rank = 2;
            const sk_status status = sk_hdf5_parse_layout(part(cut), &item, &err);
            assert_int_equal(status, version != 3   ? SK_ERR_UNSUPPORTED
                                     : cut < length ? SK_ERR_FORMAT
                                                    : SK_OK);
        }
        if (version == 3)
            assert_true(item.layout == SK_HDF5_CHUNKED && item.address == 0x4321 && item.chunk[0] == 6 &&
                        item.chunk[1] == 7);
        else
            assert_non_null(strstr(err.message, "h5repack --high=0"));
    }
    /* chunks of another rank, of no elements, of elements of another size */
    bytes[0] = 3;
    for (int wrong = 0; wrong < 6; wrong++) {
        uint8_t kept[64];
        memcpy(kept, bytes, sizeof kept);
        item = item_of(4);
        item.shape.rank = wrong == 0 ? 1 : wrong == 1 ? 3 : 2;
        bytes[11] = wrong == 2 ? 0 : 6;
        bytes[15] = wrong == 3 ? 0 : 7;
        bytes[19] = wrong == 4 ? 5 : 4;
        const sk_status status = sk_hdf5_parse_layout(part(length), &item, &err);
        assert_int_equal(status, wrong < 5 ? SK_ERR_FORMAT : SK_OK);
        if (wrong < 5)
            assert_string_equal(err.message, "in.h5: it: damaged chunks");
        memcpy(bytes, kept, sizeof kept);
    }
    item = item_of(4); /* of a single number: none */
    bytes[2] = 1;
    assert_int_equal(sk_hdf5_parse_layout(part(length), &item, &err), SK_ERR_FORMAT);
    length = 0;
}

static void put_filter(int version, int id, uint64_t name, uint64_t values)
{
    put((uint64_t)id, 2);
    if (version == 1 || id >= 256)
        put(name, 2);
    put(0, 2);
    put(values, 2);
    if (version == 1 || id >= 256)
        for (uint64_t i = 0; i < (version == 1 ? (name + 7) / 8 * 8 : name); i++)
            put('n', 1);
    for (uint64_t i = 0; i < values + (version == 1 ? values % 2 : 0); i++)
        put(9, 4);
}

static void put_filters(int version, int count)
{
    length = 0;
    put((uint64_t)version, 1);
    put((uint64_t)count, 1);
    if (version == 1)
        put(0, 6);
}

static void filters(void **state)
{
    (void)state;
    for (int version = 1; version <= 2; version++)
        for (uint64_t name = 0; name <= 17; name++)
            for (uint64_t values = 0; values <= 3; values++) {
                sk_hdf5_item item;
                put_filters(version, 3);
                put_filter(version, 2, name, values);
                put_filter(version, 1, name, values);
                put_filter(version, 3, name, values);
                for (size_t cut = 0; cut <= length; cut++) {
                    item = item_of(4);
                    assert_int_equal(sk_hdf5_parse_filters(part(cut), &item, &err),
                                     cut < length ? SK_ERR_FORMAT : SK_OK);
                }
                assert_true(item.n_filters == 3 && item.filters[0].id == 2 && item.filters[1].id == 1 &&
                            item.filters[2].id == 3);
            }
    static const int ids[] = {0, 4, 255, 256, 32001};
    for (int version = 1; version <= 2; version++)
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
            put_filters(version, 1);
            put_filter(version, ids[i], 5, 1);
            for (size_t cut = 2; cut <= length; cut++) {
                sk_hdf5_item item = item_of(4);
                assert_int_equal(sk_hdf5_parse_filters(part(cut), &item, &err),
                                 cut < length ? SK_ERR_FORMAT : SK_ERR_UNSUPPORTED);
                assert_non_null(strstr(err.message, cut < length ? "damaged filters" : "other than gzip"));
            }
        }
    for (int count = 0; count <= SK_HDF5_MAX_FILTERS + 1; count++)
        for (int version = 0; version <= 3; version++) {
            sk_hdf5_item item = item_of(4);
            put_filters(version, count);
            for (int i = 0; i < count; i++)
                put_filter(version, 2, 0, 0);
            const bool fine = version >= 1 && version <= 2 && count <= SK_HDF5_MAX_FILTERS;
            assert_int_equal(sk_hdf5_parse_filters(part(length), &item, &err), fine ? SK_OK : SK_ERR_FORMAT);
            assert_int_equal(item.n_filters, fine ? count : 0);
        }
    length = 0;
}

/* --- what was never written --- */

static void fills(void **state)
{
    (void)state;
    enum { NOTHING, VALUE, DAMAGED };
    static const struct {
        int version; /* -1: the old form */
        int flags;   /* of versions 1 and 2: whether it is defined */
        uint32_t size;
        int wanted;
    } cases[] = {
        {-1, 0, 4, VALUE},
        {-1, 0, 0, NOTHING},
        {-1, 0, 3, DAMAGED},
        {1, 1, 4, VALUE},
        {1, 2, 4, VALUE},
        {1, 0, 4, NOTHING},
        {2, 1, 4, VALUE},
        {2, 0, 4, NOTHING},
        {2, 1, 5, DAMAGED},
        {2, 1, 0xffffffff, NOTHING},
        {2, 1, 0x80000000, NOTHING},
        {2, 1, 0x7fffffff, DAMAGED},
        {3, 0x2a, 4, VALUE},
        {3, 0x1f, 4, NOTHING},
        {3, 0x20, 0, NOTHING},
        {0, 1, 4, DAMAGED},
        {4, 1, 4, DAMAGED},
        {5, 0x20, 4, DAMAGED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        length = 0;
        if (cases[i].version >= 0)
            put((uint64_t)cases[i].version, 1);
        if (cases[i].version >= 0 && cases[i].version != 3)
            put(0x0201, 2);
        if (cases[i].version >= 0)
            put((uint64_t)cases[i].flags, 1);
        put(cases[i].size, 4);
        const size_t at = length;
        put(0x01020304, 4);
        for (size_t cut = cases[i].wanted == NOTHING ? at : 0; cut <= length; cut++) {
            sk_hdf5_item item = item_of(4);
            sk_hdf5_parse_fill(part(cut), cases[i].version < 0, &item);
            const int wanted = cut < length && cases[i].wanted == VALUE ? DAMAGED : cases[i].wanted;
            if (item.fill_damaged != (wanted == DAMAGED) ||
                item.fill != (wanted == VALUE ? bytes + at : NULL))
                fail_msg("case %zu, %zu bytes of it", i, cut);
        }
    }
    length = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),   cmocka_unit_test(shapes), cmocka_unit_test(layouts),
        cmocka_unit_test(filters), cmocka_unit_test(fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
