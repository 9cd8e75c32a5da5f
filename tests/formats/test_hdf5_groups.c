/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of HDF5 files put together byte by byte: links in headers of every version, and trees of symbols. */
#include "hdf5_objects.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* --- headers and links --- */

/* A link in every form: where its name and the object are. */
static size_t link_to(uint8_t *out, int flags, int kind, const char *name, size_t name_length,
                      uint64_t object)
{
    const size_t kept = length;
    length = MOST / 2;
    put(1, 1);
    put((uint64_t)flags, 1);
    put((uint64_t)kind, flags & 8 ? 1 : 0);
    put(77, flags & 4 ? 8 : 0);
    put(1, flags & 0x10 ? 1 : 0);
    put(name_length, 1 << (flags & 3));
    memcpy(bytes + length, name, name_length);
    length += name_length;
    put(object, 8);
    const size_t count = length - MOST / 2;
    memcpy(out, bytes + MOST / 2, count);
    memset(bytes + MOST / 2, 0, count);
    length = kept;
    return count;
}

static void links_in_headers(void **state)
{
    (void)state;
    for (int form = 0; form < 64;
         form++) /* of the header: times, phases, order, widths; of none: version 1 */
        for (int flags = 0; flags < 32; flags++) {
            const int version = form ? 2 : 1;
            const bool ordered = form & 4;
            uint8_t data[64];
            size_t header;
            if (form & 8)
                continue;
            begin(2);
            if (version == 1) {
                header = put_header();
            } else {
                put_text("OHDR", 4);
                put(2, 1);
                put((uint64_t)form, 1);
                put(0, form & 0x20 ? 8 : 0);
                put(0, form & 0x20 ? 8 : 0);
                put(0, form & 0x10 ? 4 : 0);
                put(0, 1 << (form & 3));
                header = length;
            }
            size_t count = link_to(data, flags | 8, 1, "soft", 4, ROOT);
            put_message(version, 6, 0, data, count, ordered);
            count = link_to(data, flags, 0, "he\0re", 5, ROOT);
            put_message(version, 6, 0, data, count, ordered);
            count = link_to(data, flags, 0, "here", 4, ROOT);
            put_message(version, 6, 0, data, count, ordered);
            const size_t cut = length - header;
            put(0, 4); /* a checksum, and what does not belong to it */
            if (version == 1)
                poke(header - 8, cut, 4);
            else
                poke(header - (size_t)(1 << (form & 3)), cut, 1 << (form & 3));
            assert_ok(open_now(length), &err);
            sk_hdf5_texts names;
            assert_ok(sk_hdf5_members(file, "/", &names, &err), &err);
            assert_int_equal(names.count, 1);
            assert_string_equal(sk_hdf5_text_at(&names, 0), "here");
            sk_free(names.bytes);
            assert_true(sk_hdf5_exists(file, "here/here") && sk_hdf5_exists(file, "//here//here/") &&
                        !sk_hdf5_exists(file, "her") && !sk_hdf5_exists(file, "soft") &&
                        !sk_hdf5_exists(file, "herex"));
            if (version == 1) /* a message longer than the header */
                poke(header - 8, cut - 1, 4);
            else
                poke(header - (size_t)(1 << (form & 3)), cut - 1, 1 << (form & 3));
            told(sk_hdf5_members(file, "/", &names, &err), SK_ERR_FORMAT, "message is cut short");
        }
}

/* A header of version 2 that goes on elsewhere, behind a signature. */
static void headers_that_go_on(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 6; wrong++) {
        uint8_t data[64], next[16] = {0};
        sk_hdf5_texts names;
        const size_t count = link_to(data, 0, 0, "far", 3, ROOT), block = 4 + 4 + count + 4;
        begin(2);
        next[0] = (uint8_t)(ROOT + 64);
        next[8] = (uint8_t)(wrong == 1 ? 7 : wrong == 2 ? 255 : block);
        put_text("OHDR", 4);
        put(wrong == 3 ? 3 : 2, 1);
        put(0, 1);
        put(4 + 16, 1);
        put_message(2, 0x10, 0, next, wrong == 4 ? 15 : 16, false);
        length = ROOT + 64;
        put_text(wrong == 5 ? "OCHX" : "OCHK", 4);
        put_message(2, 6, 0, data, count, false);
        put(0, 4);
        assert_ok(open_now(length), &err);
        const sk_status status = sk_hdf5_members(file, "", &names, &err);
        static const char *const why[] = {"",
                                          "an object header's continuation",
                                          "a part of an object header lies outside",
                                          "an object header of unknown version",
                                          "continues without end",
                                          "an object header's continuation"};
        if (wrong)
            told(status, SK_ERR_FORMAT, why[wrong]);
        else
            assert_ok(status, &err);
        if (!wrong)
            assert_true(names.count == 1 && strcmp(names.bytes, "far") == 0);
        sk_free(names.bytes);
    }
}

/* Groups as they were first: a tree of leaves of symbols, whose names lie in a heap. */
static void groups_of_symbols(void **state)
{
    (void)state;
    enum { NODE = ROOT + 64, LEAF = NODE + 64, NAMES = LEAF + 200, TEXTS = NAMES + 32 };
    static const struct {
        size_t at;
        uint8_t value;
        const char *why; /* none: "a" and "bb" are found */
    } cases[] = {
        {ROOT, 1, NULL},
        {NODE, 'X', "a group's tree"},
        {NODE + 4, 1, "a group's tree"},
        {LEAF, 'X', "a group's leaf"},
        {NAMES, 'X', "a group's names"},
        {NAMES + 8, 255, "a group's names"}, /* longer than the file */
        {LEAF + 8, 16, "a group's entry"},   /* behind the names */
        {LEAF + 8, 15, NULL},                /* the last byte of them: an empty name, which is one, too */
        {NODE + 5, 1, "a group's tree"},     /* a leaf where another node should be */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t message[16] = {0};
        begin(2);
        message[0] = NODE & 255, message[1] = NODE >> 8, message[8] = NAMES & 255, message[9] = NAMES >> 8;
        const size_t header = put_header();
        put_message(1, 0x11, 0, message, 16, false);
        end_header(header);
        length = NODE;
        put_text("TREE", 4);
        put(0, 2);
        put(1, 2);
        put(UINT64_MAX, 8);
        put(UINT64_MAX, 8);
        put(0, 8);
        put(LEAF, 8);
        length = LEAF;
        put_text("SNOD", 4);
        put(1, 2);
        put(4, 2);
        static const struct {
            uint64_t name, object, kind;
        } entries[4] = {{1, ROOT, 1},
                        {3, ROOT, 2},
                        {8, UINT64_MAX, 0},
                        {10, ROOT, 0}}; /* the middle ones lead elsewhere */
        for (int k = 0; k < 4; k++) {
            put(entries[k].name, 8);
            put(entries[k].object, 8);
            put(entries[k].kind, 4);
            put(0, 8);
            put(0, 8);
            put(0, 4);
        }
        length = NAMES;
        put_text("HEAP", 4);
        put(0, 4);
        put(16, 8);
        put(0, 8);
        put(TEXTS, 8);
        memcpy(bytes + TEXTS, "\0a\0soft\0n\0bb\0\0\0\0", 17);
        length = TEXTS + 16;
        bytes[cases[i].at] = cases[i].value;
        assert_ok(open_now(length), &err);
        sk_hdf5_texts names = {0};
        const sk_status status = sk_hdf5_members(file, "", &names, &err);
        if (cases[i].why) {
            told(status, SK_ERR_FORMAT, cases[i].why);
            continue;
        }
        assert_ok(status, &err);
        assert_int_equal(names.count, 2);
        assert_string_equal(sk_hdf5_text_at(&names, 0), i ? "" : "a");
        assert_string_equal(sk_hdf5_text_at(&names, 1), "bb");
        sk_free(names.bytes);
        assert_true(sk_hdf5_exists(file, "bb") && sk_hdf5_exists(file, "bb/bb") &&
                    !sk_hdf5_exists(file, "b"));
        assert_false(sk_hdf5_exists(file, "soft") || sk_hdf5_exists(file, "n"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_in_headers),
        cmocka_unit_test(headers_that_go_on),
        cmocka_unit_test(groups_of_symbols),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_hdf5_close(&file);
    return failed;
}
