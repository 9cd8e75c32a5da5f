/* SPDX-License-Identifier: Apache-2.0 */
/* Archives put together by hand: every form of entry, sizes of 32 and 64 bits, directories that are missing, and damage. */
#include "support/fault.h"
#include "support/test.h"

#include "base/text.h"
#include "formats/zip.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

static sk_text made;
static sk_zip *zip;
static sk_error err;

static void put(uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        sk_text_append_bytes(&made, &(char){(char)(value & 0xff)}, 1);
}

/* How an entry lies in the archive. */
typedef struct form {
    const char *name, *data;
    bool deflated, no_sum;
    int descriptor; /* bytes of its sizes: 4, 8; 0: none */
    int wide;       /* sizes, compressed sizes and places of 64 bits: 1, 2, 4 */
    bool more;      /* a field of somebody else before ZIP64's */
    const char *comment;
    uint16_t flags, method; /* besides what the others say */
} form;

typedef struct placed {
    uint64_t header, packed, length;
    uint32_t sum;
    char bytes[256];
} placed;

static void pack(const form *f, placed *p)
{
    p->length = strlen(f->data);
    p->sum = f->no_sum ? 0 : (uint32_t)crc32(0, (const Bytef *)f->data, (uInt)p->length);
    memcpy(p->bytes, f->data, p->length);
    p->packed = p->length;
    if (!f->deflated)
        return;
    z_stream z = {.next_in = (Bytef *)(uintptr_t)f->data,
                  .avail_in = (uInt)p->length,
                  .next_out = (Bytef *)p->bytes,
                  .avail_out = sizeof p->bytes};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    p->packed = z.total_out;
    deflateEnd(&z);
}

static int extra_bytes(const form *f, bool local)
{
    const int values = (f->wide & 1) + (f->wide >> 1 & 1) + (!local && f->wide & 4);
    return (f->more ? 6 : 0) + (values ? 4 + 8 * values : 0);
}

static void put_extra(const form *f, const placed *p, bool local)
{
    if (f->more) {
        put(0x5858, 2);
        put(2, 2);
        put(0, 2);
    }
    const int bytes = extra_bytes(f, local) - (f->more ? 6 : 0);
    if (!bytes)
        return;
    put(1, 2);
    put((uint64_t)bytes - 4, 2);
    if (f->wide & 1)
        put(p->length, 8);
    if (f->wide & 2)
        put(p->packed, 8);
    if (!local && f->wide & 4)
        put(p->header, 8);
}

static void put_common(const form *f, const placed *p, bool local)
{
    const bool later = local && f->descriptor;
    put(20, 2);
    put(f->flags | (f->descriptor ? 8u : 0), 2);
    put(f->method ? f->method : f->deflated ? 8 : 0, 2);
    put(0, 4);
    put(later ? 0 : p->sum, 4);
    put(later ? 0 : f->wide & 2 ? 0xffffffff : p->packed, 4);
    put(later ? 0 : f->wide & 1 ? 0xffffffff : p->length, 4);
    put(strlen(f->name), 2);
    put((uint64_t)extra_bytes(f, local), 2);
}

static void put_local(const form *f, placed *p)
{
    pack(f, p);
    p->header = made.length;
    put(0x04034b50, 4);
    put_common(f, p, true);
    sk_text_append(&made, f->name);
    put_extra(f, p, true);
    sk_text_append_bytes(&made, p->bytes, p->packed);
    if (!f->descriptor)
        return;
    put(0x08074b50, 4);
    put(p->sum, 4);
    put(p->packed, f->descriptor);
    put(p->length, f->descriptor);
}

static void put_central(const form *f, const placed *p)
{
    put(0x02014b50, 4);
    put(20, 2);
    put_common(f, p, false);
    put(strlen(f->comment ? f->comment : ""), 2);
    put(0, 2 + 2 + 4);
    put(f->wide & 4 ? 0xffffffff : p->header, 4);
    sk_text_append(&made, f->name);
    put_extra(f, p, false);
    sk_text_append(&made, f->comment ? f->comment : "");
}

/* The end; `wide`: with ZIP64's record and its place before it. */
static void put_end(size_t count, size_t begin, bool wide, const char *comment)
{
    const size_t end = made.length;
    if (wide) {
        put(0x06064b50, 4);
        put(44, 8);
        put(45, 2 + 2 + 4 + 4);
        put(count, 8);
        put(count, 8);
        put(end - begin, 8);
        put(begin, 8);
        put(0x07064b50, 4);
        put(0, 4);
        put(end, 8);
        put(1, 4);
    }
    put(0x06054b50, 4);
    put(0, 4);
    put(wide ? 0xffff : count, 2);
    put(wide ? 0xffff : count, 2);
    put(wide ? 0xffffffff : end - begin, 4);
    put(wide ? 0xffffffff : begin, 4);
    put(strlen(comment), 2);
    sk_text_append(&made, comment);
}

static size_t make(const form *forms, size_t n, bool wide, const char *comment, placed *places)
{
    sk_text_free(&made);
    made = (sk_text){0};
    for (size_t i = 0; i < n; i++)
        put_local(&forms[i], &places[i]);
    const size_t directory = made.length;
    for (size_t i = 0; i < n; i++)
        put_central(&forms[i], &places[i]);
    put_end(n, directory, wide, comment);
    return directory;
}

static sk_status open_part(size_t length)
{
    return sk_zip_open_memory(sk_text_get(&made), length, "in.zip", &zip, &err);
}

static const form forms[] = {
    {.name = "b/stored", .data = "some text"},
    {.name = "deflated",
     .data = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     .deflated = true},
    {.name = "narrow", .data = "P with a descriptor PK", .descriptor = 4},
    {.name = "wide descriptor", .data = "PPPK\x07\x08 not yet", .descriptor = 8},
    {.name = "nothing", .data = ""},
    {.name = "sizes", .data = "of 64 bits", .wide = 3, .more = true},
    {.name = "a place", .data = "of 64 bits, too", .wide = 7, .comment = "a comment"},
    {.name = "unsummed", .data = "nobody knows", .no_sum = true},
    {.name = "unsummed later", .data = "PK and nobody knows", .no_sum = true, .descriptor = 4},
    {.name = "only the size", .data = "is wide", .wide = 1},
    {.name = "only the packed size", .data = "is wide as well", .wide = 2},
};
enum { FORMS = sizeof forms / sizeof *forms };

static void check_entry(const sk_zip_entry *e, const form *f, const placed *p)
{
    const uint8_t *bytes = NULL;
    sk_blob *hold = NULL;
    assert_string_equal(e->name, f->name);
    assert_true(e->header == p->header && e->compressed == p->packed && e->size == p->length &&
                e->crc == p->sum);
    assert_int_equal(e->method, f->deflated ? 8 : 0);
    assert_int_equal(e->flags, f->descriptor ? 8 : 0);
    assert_ptr_equal(sk_zip_find(zip, f->name), e);
    for (int again = 0; again < 2; again++) { /* a stored one is looked through once */
        assert_int_equal(sk_zip_work(zip, e),
                         f->deflated || (!again && p->sum && !f->no_sum) ? p->length : 0);
        assert_ok(sk_zip_read(zip, e, &bytes, &hold, &err), &err);
        assert_memory_equal(bytes, f->data, p->length);
        assert_int_equal(hold != NULL, f->deflated);
        if (!f->deflated)
            assert_ptr_equal(bytes, sk_text_get(&made) + p->header + 30 + strlen(f->name) +
                                        (size_t)extra_bytes(f, true)); /* where it lies */
        sk_blob_unref(&hold);
    }
}

static void every_form_is_read(void **state)
{
    (void)state;
    placed places[FORMS];
    for (int wide = 0; wide < 2; wide++)
        for (int comment = 0; comment < 2; comment++) {
            make(forms, FORMS, wide, comment ? "PK\x05\x06 a remark" : "", places);
            assert_ok(open_part(made.length), &err);
            assert_int_equal(sk_zip_count(zip), FORMS);
            assert_int_equal(sk_zip_length(zip), made.length);
            assert_false(sk_zip_truncated(zip));
            uint64_t total = 0;
            for (size_t i = 0; i < FORMS; i++) {
                check_entry(sk_zip_at(zip, i), &forms[i], &places[i]);
                total += places[i].length;
            }
            assert_int_equal(sk_zip_total_size(zip), total);
            assert_null(sk_zip_at(zip, FORMS));
            static const char *const absent[] = {"", "a", "stored", "unsummedx", "zzz", "b/storee"};
            for (int i = 0; i < 6; i++)
                assert_null(sk_zip_find(zip, absent[i]));
            sk_zip_close(&zip);
        }
    assert_true(sk_zip_looks_like("PK\x03\x04", 4) && sk_zip_looks_like("PK\x05\x06", 4));
    assert_false(sk_zip_looks_like("PK\x03\x04", 3) || sk_zip_looks_like("PK\x01\x02", 4) ||
                 sk_zip_looks_like("", 0));
}

/* Of two entries with one name the first is found. */
static void names_that_stand_twice(void **state)
{
    (void)state;
    const form twice[] = {{.name = "a", .data = "1"}, {.name = "b", .data = "2"}, {.name = "a", .data = "3"}};
    placed places[3];
    make(twice, 3, false, "", places);
    assert_ok(open_part(made.length), &err);
    assert_ptr_equal(sk_zip_find(zip, "a"), sk_zip_at(zip, 0));
    assert_ptr_equal(sk_zip_find(zip, "b"), sk_zip_at(zip, 1));
    sk_zip_close(&zip);
}

/* Cut off anywhere: the entries before are there; but a deflated one of unknown size ends what can be told. */
static void archives_without_a_directory(void **state)
{
    (void)state;
    placed places[FORMS];
    const size_t directory = make(forms, FORMS, false, "", places);
    for (size_t length = 4; length < made.length; length++) {
        size_t whole = 0;
        while (whole < FORMS && length >= (whole + 1 < FORMS ? places[whole + 1].header : directory))
            whole++;
        const sk_status status = open_part(length);
        if (!whole) {
            assert_int_equal(status, SK_ERR_FORMAT);
            char why[100];
            snprintf(why, sizeof why, "in.zip: zip directory missing; file truncated at %zu bytes", length);
            assert_non_null(strstr(err.message, why));
            continue;
        }
        assert_ok(status, &err);
        assert_true(sk_zip_truncated(zip));
        assert_int_equal(sk_zip_count(zip), whole);
        if (length % 16 == 0 || length == directory)
            for (size_t i = 0; i < whole; i++)
                check_entry(sk_zip_at(zip, i), &forms[i], &places[i]);
        sk_zip_close(&zip);
    }
    const form unknown[] = {{.name = "a", .data = "1"},
                            {.name = "b", .data = "22222222222222", .deflated = true, .descriptor = 4},
                            {.name = "c", .data = "3"}};
    make(unknown, 3, false, "", places);
    assert_ok(open_part(made.length - 1), &err);
    assert_int_equal(sk_zip_count(zip), 1);
    sk_zip_close(&zip);
    /* a descriptor of the right length and a wrong sum is none */
    const form wrong[] = {{.name = "a", .data = "1"}, {.name = "b", .data = "1234567890", .descriptor = 4}};
    make(wrong, 2, false, "", places);
    made.data[places[1].header + 31 + 10 + 4] ^= 1;
    assert_ok(open_part(made.length - 1), &err);
    assert_int_equal(sk_zip_count(zip), 1);
    sk_zip_close(&zip);
}

/* What a directory says that cannot be so: then the entries themselves are asked. */
static void directories_that_are_damaged(void **state)
{
    (void)state;
    placed places[FORMS];
    const form few[] = {{.name = "one", .data = "111"}, {.name = "two", .data = "2222", .wide = 3}};
    for (int i = 0; i < 15; i++) {
        const bool wide = i >= 8 && i < 12;
        const size_t directory = make(few, 2, wide, "", places), end = made.length - 22;
        char *d = made.data + directory, *e = made.data + end;
        switch (i) {
        case 0: d[0] = 'Q'; break;                  /* no entry */
        case 1: d[28] = 100, d[29] = 1; break;      /* a name longer than the rest */
        case 2: d[30] = 100, d[31] = 1; break;      /* more fields than there is room for */
        case 3: d[32] = 100, d[33] = 1; break;      /* a comment likewise */
        case 4: e[10] = 3; break;                   /* more entries than fit */
        case 5: e[12] = (char)(e[12] + 1); break;   /* a directory that goes beyond the end */
        case 6: e[16] = (char)(e[16] + 1); break;   /* … or begins later */
        case 7: d[46 + 3 + 46 + 3 + 2] = 90; break; /* a field of 64 bits that is longer than all */
        case 8: e[-12] = 0, e[-11] = 0; break;      /* ZIP64's record is not there */
        case 9: e[-5] = 1; break;                   /* … lies far beyond */
        case 10: e[-20 - 56 + 32] = 7; break;       /* … says that there are seven */
        case 11: e[-20 - 56 + 48] = 1; break;       /* … that they begin elsewhere */
        case 12: d[46 + 3 + 28]++; break;           /* of the last entry: a byte too many in its name */
        case 13: d[46 + 3 + 30]++; break;           /* … in its fields */
        default: d[46 + 3 + 32]++; break;           /* … in its comment */
        }
        assert_ok(open_part(made.length), &err);
        assert_true(sk_zip_truncated(zip));
        assert_int_equal(sk_zip_count(zip), 2);
        for (size_t k = 0; k < 2; k++)
            check_entry(sk_zip_at(zip, k), &few[k], &places[k]);
        sk_zip_close(&zip);
    }
    make(few, 2, false, "", places);
    made.data[made.length - 22 + 10] = 1; /* one of two: the other is not in the archive */
    assert_ok(open_part(made.length), &err);
    assert_true(!sk_zip_truncated(zip) && sk_zip_count(zip) == 1);
    sk_zip_close(&zip);
}

static void refused(const char *name, sk_status wanted, const char *why)
{
    const uint8_t *bytes = NULL;
    sk_blob *hold = NULL;
    assert_ok(open_part(made.length), &err);
    const sk_status status = sk_zip_read(zip, sk_zip_find(zip, name), &bytes, &hold, &err);
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%s: %s, not '%s'", name, status == SK_OK ? "read" : err.message, why);
    assert_true(!bytes && !hold);
    sk_zip_close(&zip);
}

static void entries_that_cannot_be_read(void **state)
{
    (void)state;
    placed p[2];
    const form good = {.name = "good", .data = "fine"};
    const form encrypted[] = {good, {.name = "x", .data = "secret", .flags = 1}};
    make(encrypted, 2, false, "", p);
    refused("x", SK_ERR_UNSUPPORTED, "in.zip: entry 'x' is encrypted");
    const form other[] = {good, {.name = "x", .data = "packed", .method = 12}};
    make(other, 2, false, "", p);
    refused("x", SK_ERR_UNSUPPORTED, "uses zip compression method 12");
    const form plain[] = {good, {.name = "x", .data = "data of it"}};
    size_t directory = make(plain, 2, false, "", p);
    made.data[p[1].header] = 'Q';
    refused("x", SK_ERR_FORMAT, "entry 'x' has no header at byte");
    directory = make(plain, 2, false, "", p);
    made.data[directory + 46 + 4 + 42 + 3] = 1; /* 16 MiB further on */
    refused("x", SK_ERR_FORMAT, "has no header at byte 16777");
    directory = make(plain, 2, false, "", p);
    made.data[directory + 46 + 4 + 20 + 3] = made.data[directory + 46 + 4 + 24 + 3] = 1;
    refused("x", SK_ERR_FORMAT, "entry 'x' of 16777226 bytes goes beyond the end of the file");
    directory = make(plain, 2, false, "", p);
    made.data[directory + 46 + 4 + 24]++;
    refused("x", SK_ERR_FORMAT, "stored entry 'x' has two sizes, 10 and 11");
    make(plain, 2, false, "", p);
    made.data[p[1].header + 31]++;
    refused("x", SK_ERR_FORMAT, "entry 'x' does not match its checksum");
    const form packed[] = {good, {.name = "x", .data = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", .deflated = true}};
    make(packed, 2, false, "", p);
    made.data[p[1].header + 31] ^= 0x55;
    refused("x", SK_ERR_FORMAT, "entry 'x' does not inflate to its 32 bytes");
    for (int more = 0; more < 2; more++) { /* no byte becomes more than 1032 */
        directory = make(packed, 2, false, "", p);
        const uint32_t most = (uint32_t)p[1].packed * 1032 + 1031 + (uint32_t)more;
        memcpy(made.data + directory + 46 + 4 + 24, &most, 4);
        if (more)
            refused("x", SK_ERR_LIMIT, "claims to inflate from");
        else
            refused("x", SK_ERR_FORMAT, "does not inflate to its");
    }
    make(packed, 2, false, "", p);
    made.data[p[1].header + 14]++; /* the sum in the directory counts */
    assert_ok(open_part(made.length), &err);
    const uint8_t *bytes;
    sk_blob *hold;
    assert_ok(sk_zip_read(zip, sk_zip_find(zip, "x"), &bytes, &hold, &err), &err);
    sk_blob_unref(&hold);
    sk_zip_close(&zip);
    assert_int_equal(sk_zip_open_memory("PK\x01\x02", 4, "in.zip", &zip, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "in.zip: not a zip archive"));
    assert_int_equal(sk_zip_open_memory(NULL, 4, "in.zip", &zip, &err), SK_ERR_ARG);
    assert_int_equal(sk_zip_open_memory("PK\x05\x06", 4, NULL, &zip, &err), SK_ERR_ARG);
    assert_int_equal(sk_zip_open_memory("PK\x05\x06", 4, "in.zip", NULL, &err), SK_ERR_ARG);
}

/* Comments may be as long as their length can say; the end before one is found. */
static void long_comments(void **state)
{
    (void)state;
    placed places[1];
    static char comment[65536];
    memset(comment, 'c', 65535);
    make(forms, 1, false, comment, places);
    assert_ok(open_part(made.length), &err);
    assert_false(sk_zip_truncated(zip));
    sk_zip_close(&zip);
    sk_text_append(&made, "x"); /* a byte behind it: then that end is none */
    assert_ok(open_part(made.length), &err);
    assert_true(sk_zip_truncated(zip));
    sk_zip_close(&zip);
    /* nothing in it */
    sk_text_free(&made);
    made = (sk_text){0};
    put_end(0, 0, false, "");
    assert_ok(open_part(made.length), &err);
    assert_true(sk_zip_count(zip) == 0 && !sk_zip_truncated(zip) && !sk_zip_find(zip, "a"));
    sk_zip_close(&zip);
}

static sk_status read_all(void *context, sk_error *error)
{
    (void)context;
    sk_zip *own = NULL;
    SK_TRY(sk_zip_open_memory(sk_text_get(&made), made.length, "in.zip", &own, error));
    sk_status status = SK_OK;
    for (size_t i = 0; i < sk_zip_count(own) && status == SK_OK; i++) {
        const uint8_t *bytes;
        sk_blob *hold;
        status = sk_zip_read(own, sk_zip_at(own, i), &bytes, &hold, error);
        sk_blob_unref(&hold);
    }
    sk_zip_close(&own);
    return status;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    placed places[FORMS];
    make(forms, FORMS, false, "", places);
    sk_text kept = made;
    assert_true(test_every_allocation(read_all, NULL) > 5);
    test_leaves_nothing(read_all, NULL);
    made = kept;
    sk_text_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),           cmocka_unit_test(names_that_stand_twice),
        cmocka_unit_test(archives_without_a_directory), cmocka_unit_test(directories_that_are_damaged),
        cmocka_unit_test(entries_that_cannot_be_read),  cmocka_unit_test(long_comments),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
