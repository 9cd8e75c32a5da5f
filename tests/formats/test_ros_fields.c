/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of message types taken apart, word by word; and bytes that are packed, whole and not. */
#include "support/test.h"

#include "base/memory.h"
#include "formats/packing.h"
#include "formats/ros_types.h"

#include <stdio.h>
#include <string.h>

static sk_error err;

static void fields_of_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        sk_msg_field is;
    } cases[] = {
        {"bool", {.kind = SK_MSG_BOOL}},
        {"byte", {.kind = SK_MSG_BYTE}},
        {"char", {.kind = SK_MSG_U8}},
        {"int8", {.kind = SK_MSG_I8}},
        {"uint8", {.kind = SK_MSG_U8}},
        {"int16", {.kind = SK_MSG_I16}},
        {"uint16", {.kind = SK_MSG_U16}},
        {"int32", {.kind = SK_MSG_I32}},
        {"uint32", {.kind = SK_MSG_U32}},
        {"int64", {.kind = SK_MSG_I64}},
        {"uint64", {.kind = SK_MSG_U64}},
        {"float32", {.kind = SK_MSG_F32}},
        {"float64", {.kind = SK_MSG_F64}},
        {"string", {.kind = SK_MSG_STRING}},
        {"string<=256", {.kind = SK_MSG_BOUNDED_STRING, .text_capacity = 256}},
        {"string<=7[]", {.kind = SK_MSG_BOUNDED_STRING, .text_capacity = 7, .form = SK_MSG_SEQUENCE}},
        {"string<=7[<=3]",
         {.kind = SK_MSG_BOUNDED_STRING, .text_capacity = 7, .form = SK_MSG_BOUNDED_SEQUENCE, .capacity = 3}},
        {"string[5]", {.kind = SK_MSG_STRING, .form = SK_MSG_ARRAY, .capacity = 5}},
        {"float64[9]", {.kind = SK_MSG_F64, .form = SK_MSG_ARRAY, .capacity = 9}},
        {"uint8[16]", {.kind = SK_MSG_U8, .form = SK_MSG_ARRAY, .capacity = 16}},
        {"uint8[]", {.kind = SK_MSG_U8, .form = SK_MSG_SEQUENCE}},
        {"uint8[<=128]", {.kind = SK_MSG_U8, .form = SK_MSG_BOUNDED_SEQUENCE, .capacity = 128}},
        {"Gid", {.kind = SK_MSG_NESTED, .nested = "mine/msg/Gid"}},
        {"Gid[<=4]",
         {.kind = SK_MSG_NESTED, .nested = "mine/msg/Gid", .form = SK_MSG_BOUNDED_SEQUENCE, .capacity = 4}},
        {"a/B", {.kind = SK_MSG_NESTED, .nested = "a/msg/B"}},
        {"abc/Def[]", {.kind = SK_MSG_NESTED, .nested = "abc/msg/Def", .form = SK_MSG_SEQUENCE}},
        {"a/srv/B_Request", {.kind = SK_MSG_NESTED, .nested = "a/srv/B_Request"}},
        {"a/srv/B[2]", {.kind = SK_MSG_NESTED, .nested = "a/srv/B", .form = SK_MSG_ARRAY, .capacity = 2}},
        {"boolean",
         {.kind = SK_MSG_NESTED, .nested = "mine/msg/boolean"}}, /* longer, and shorter: no number */
        {"int", {.kind = SK_MSG_NESTED, .nested = "mine/msg/int"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int form = 0; form < 3; form++) {
            char text[300];
            sk_msg_field f[SK_MSG_FIELDS];
            memset(f, 0x5a, sizeof f);
            snprintf(text, sizeof text,
                     form == 0   ? "%s it"
                     : form == 1 ? "uint8 A=1\nstring B = \"x y\"\n%s it\n\nlonely\nint32 last\n"
                                 : "int32 first\n%s   it\n",
                     cases[i].word);
            const sk_msg_type type = {"mine/msg/Type", text};
            const size_t n = sk_msg_type_fields(&type, f), at = form == 2;
            assert_int_equal(n, form ? 2 : 1);
            assert_string_equal(f[at].name, "it");
            if (form)
                assert_string_equal(f[!at].name, at ? "first" : "last");
            assert_int_equal(f[at].kind, cases[i].is.kind);
            assert_int_equal(f[at].form, cases[i].is.form);
            assert_int_equal(f[at].capacity, cases[i].is.capacity);
            assert_int_equal(f[at].text_capacity, cases[i].is.text_capacity);
            assert_string_equal(f[at].nested, cases[i].is.nested);
        }
    static const size_t bytes[] = {
        [SK_MSG_I8] = 1,   [SK_MSG_U8] = 1,   [SK_MSG_I16] = 2,   [SK_MSG_U16] = 2, [SK_MSG_I32] = 4,
        [SK_MSG_U32] = 4,  [SK_MSG_I64] = 8,  [SK_MSG_U64] = 8,   [SK_MSG_F32] = 4, [SK_MSG_F64] = 8,
        [SK_MSG_BOOL] = 1, [SK_MSG_BYTE] = 1, [SK_MSG_STRING] = 0};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        assert_int_equal(sk_msg_kind_bytes((sk_msg_kind)i), bytes[i]);
    assert_int_equal(sk_msg_kind_bytes(SK_MSG_BOUNDED_STRING), 0);
}

static void how_many_fields(void **state)
{
    (void)state;
    for (int n = SK_MSG_FIELDS - 1; n <= SK_MSG_FIELDS + 1; n++) {
        char text[1000] = "";
        sk_msg_field f[SK_MSG_FIELDS];
        for (int i = 0; i < n; i++)
            snprintf(text + strlen(text), 20, "int32 f%d\n", i);
        const sk_msg_type type = {"mine/msg/Type", text};
        const size_t got = sk_msg_type_fields(&type, f);
        assert_int_equal(got, n < SK_MSG_FIELDS ? n : SK_MSG_FIELDS);
        char last[20];
        snprintf(last, sizeof last, "f%zu", got - 1);
        assert_string_equal(f[got - 1].name, last);
    }
    const sk_msg_type empty = {"mine/msg/Type", ""};
    sk_msg_field f[SK_MSG_FIELDS];
    assert_int_equal(sk_msg_type_fields(&empty, f), 0);
}

/* Definitions: each part once, in the order in which they are met; what nobody knows is named. */
static void what_types_are_made_of(void **state)
{
    (void)state;
    const sk_msg_type made = {"mine/msg/Made", "std_msgs/Header h\nstd_msgs/String s\nstd_msgs/String t\n"
                                               "builtin_interfaces/Time u\n"};
    static const char *const met[] = {"MSG: std_msgs/Header\n", "MSG: std_msgs/String\n",
                                      "MSG: builtin_interfaces/Time\n"};
    char line[82];
    sk_text out = {0};
    memset(line, '=', 80);
    strcpy(line + 80, "\n");
    sk_msg_type_definition(&made, &out);
    const char *at = sk_text_get(&out);
    assert_memory_equal(at, made.text, strlen(made.text));
    at += strlen(made.text);
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(at, line, 81);
        at += 81;
        assert_memory_equal(at, met[i], strlen(met[i]));
        assert_null(strstr(at + 1, met[i]));
        at = strstr(at, "====");
        assert_int_equal(at != NULL, i < 2);
    }
    sk_text_free(&out);
    char hash[SK_MSG_HASH] = "";
    assert_ok(sk_msg_type_hash(&made, hash, &err), &err);
    assert_int_equal(strlen(hash), 7 + 64);
    const sk_msg_type wrong = {"mine/msg/Wrong", "int32 a\nother/Thing b\nother/More c\n"};
    assert_int_equal(sk_msg_type_hash(&wrong, hash, &err), SK_ERR_NOT_FOUND);
    assert_non_null(
        strstr(err.message, "mine/msg/Wrong is made of other/msg/Thing, which is not in the list"));
    assert_int_equal(sk_msg_service_hash("mine/srv/None", hash, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "mine/srv/None_Request"));
    assert_null(sk_msg_type_at(sk_msg_type_count));
    assert_ptr_equal(sk_msg_type_at(sk_msg_type_count - 1), &sk_msg_type_list[sk_msg_type_count - 1]);
    char name[SK_MSG_DDS_NAME];
    assert_string_equal(sk_msg_type_dds_name("a/srv/B_Request", name), "a::srv::dds_::B_Request_");
    assert_string_equal(sk_msg_type_dds_name("a/B", name), "a/B");
    assert_string_equal(sk_msg_type_dds_name("a", name), "a");
}

/* Bytes of every number come back; a byte more or less, or another one at the head, does not pass. */
static void packed_bytes(void **state)
{
    (void)state;
    static uint8_t bytes[300000], again[300001];
    static const size_t counts[] = {0, 1, 2, 100, 65536, 300000};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 7);
    for (int p = SK_PACKING_NONE; p <= SK_PACKING_ZSTD; p++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            uint8_t *packed = NULL;
            size_t count = 0;
            const sk_status status = sk_pack((sk_packing)p, bytes, counts[c], &packed, &count, &err);
            if (status == SK_ERR_UNSUPPORTED)
                break; /* no library here */
            assert_ok(status, &err);
            memset(again, 0, sizeof again);
            assert_ok(sk_unpack((sk_packing)p, packed, count, again, counts[c], &err), &err);
            assert_memory_equal(again, bytes, counts[c]);
            assert_int_equal(sk_unpack((sk_packing)p, packed, count, again, counts[c] + 1, &err),
                             SK_ERR_FORMAT);
            assert_non_null(strstr(err.message, "damaged: "));
            if (counts[c])
                assert_int_equal(sk_unpack((sk_packing)p, packed, count, again, counts[c] - 1, &err),
                                 SK_ERR_FORMAT);
            uint8_t *more = sk_calloc(1, count + 1);
            assert_non_null(more);
            memcpy(more, packed, count);
            assert_int_equal(sk_unpack((sk_packing)p, more, count + 1, again, counts[c], &err),
                             SK_ERR_FORMAT);
            for (size_t n = p ? 1 : count; n < count; n += n < 40 ? 1 : count / 9)
                assert_int_equal(sk_unpack((sk_packing)p, packed, n, again, counts[c], &err), SK_ERR_FORMAT);
            if (p) {
                more[0] ^= 0x10;
                assert_int_equal(sk_unpack((sk_packing)p, more, count, again, counts[c], &err),
                                 SK_ERR_FORMAT);
                assert_non_null(strstr(err.message, p == SK_PACKING_LZ4 ? "lz4 says" : "zstd says"));
                assert_ok(sk_unpack((sk_packing)p, packed, 0, again, 0, &err), &err);
                assert_int_equal(sk_unpack((sk_packing)p, packed, 0, again, 1, &err), SK_ERR_FORMAT);
            }
            sk_free(more);
            sk_free(packed);
        }
    sk_packing found;
    assert_int_equal(sk_packing_find("0123456789012345678901234567890123456789", 40, &found, &err),
                     SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "packed by '01234567890123456789012345678901'; lz4 and zstd are read");
    assert_int_equal(sk_packing_find("bz2 and more", 3, &found, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "packed by 'bz2'; lz4 and zstd are read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_every_form),
        cmocka_unit_test(how_many_fields),
        cmocka_unit_test(what_types_are_made_of),
        cmocka_unit_test(packed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
