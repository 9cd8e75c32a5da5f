/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"

#include <stdio.h>
#include <string.h>

/* Lists of a TIFF's pages, written by hand in all four forms, whole and cut anywhere. */

typedef struct file {
    unsigned char at[4096];
    size_t count;
    bool big, wide;
} file;

static void put(file *f, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        f->at[f->count++] = (unsigned char)(value >> 8 * (f->big ? bytes - 1 - i : i));
}

static void poke(file *f, size_t where, uint64_t value, int bytes)
{
    const size_t kept = f->count;
    f->count = where;
    put(f, value, bytes);
    f->count = kept;
}

enum { NORMAL = 0, REDUCED = 1, PAGE = 2, MASK = 4, NO_TAG = 99 };

/* Pages one behind the other; where each table begins is written to `at`. */
static file make(bool big, bool wide, const int *kinds, int n, size_t *at)
{
    file f = {.big = big, .wide = wide};
    const int offset = wide ? 8 : 4;
    memcpy(f.at, big ? "MM" : "II", 2);
    f.count = 2;
    put(&f, wide ? '+' : '*', 2);
    if (wide)
        put(&f, 8, 2), put(&f, 0, 2);
    size_t link = f.count;
    put(&f, 0, offset);
    for (int i = 0; i < n; i++) {
        put(&f, 0xEEEE, 2); /* something between */
        at[i] = f.count;
        poke(&f, link, f.count, offset);
        const bool tagged = kinds[i] != NO_TAG;
        put(&f, tagged ? 3 : 2, wide ? 8 : 2);
        static const int tags[] = {100, 254, 256};
        for (int k = 0; k < 3; k++) {
            if (k == 1 && !tagged)
                continue;
            put(&f, (uint64_t)tags[k], 2);
            put(&f, 4, 2);
            put(&f, 1, wide ? 8 : 4);
            put(&f, k == 1 ? (uint64_t)kinds[i] : 5, 4);
            if (wide)
                put(&f, 0, 4);
        }
        link = f.count;
        put(&f, 0, offset);
    }
    return f;
}

static sk_status list(const file *f, size_t length, bool from_disk, sk_tiff_pages *pages, sk_error *err)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/pages.tif", test_folder());
    if (!from_disk) {
        unsigned char *copy = sk_malloc(length + 1);
        memcpy(copy, f->at, length);
        const sk_status status = sk_tiff_list(path, copy, length, pages, err);
        sk_free(copy);
        return status;
    }
    assert_ok(sk_file_put(path, f->at, length, err), err);
    return sk_tiff_list(path, NULL, 0, pages, err);
}

static void pages_are_listed(void **state)
{
    (void)state;
    static const int kinds[] = {NORMAL, REDUCED, NO_TAG, MASK, PAGE, REDUCED | MASK, NORMAL};
    for (int form = 0; form < 8; form++) {
        size_t at[7];
        const file f = make(form & 1, form & 2, kinds, 7, at);
        sk_tiff_pages pages;
        sk_error err = {0};
        assert_true(sk_picture_is_tiff(f.at, f.count));
        assert_ok(list(&f, f.count, form & 4, &pages, &err), &err);
        assert_int_equal(pages.count, 4);
        static const int own[] = {0, 2, 4, 6};
        for (int i = 0; i < 4; i++)
            assert_int_equal(pages.offsets[i], at[own[i]]);
        sk_tiff_pages_free(&pages);
        assert_int_equal(pages.count, 0);
        for (size_t cut = 0; cut < f.count;
             cut += form & 4 ? 29 : 1) { /* no end is taken for the last page */
            assert_int_equal(list(&f, cut, form & 4, &pages, &err), SK_ERR_FORMAT);
            assert_null(pages.offsets);
        }
    }
}

static void lists_that_lie(void **state)
{
    (void)state;
    size_t at[3];
    const int kinds[] = {NORMAL, NORMAL, NORMAL}, copies[] = {REDUCED, MASK};
    sk_tiff_pages pages;
    sk_error err = {0};
    for (int form = 0; form < 4; form++) {
        const int offset = form & 2 ? 8 : 4;
        for (int back = 0; back < 3; back++) { /* the last page leads back to any */
            file f = make(form & 1, form & 2, kinds, 3, at);
            poke(&f, f.count - (size_t)offset, at[back], offset);
            assert_int_equal(list(&f, f.count, false, &pages, &err), SK_ERR_FORMAT);
            assert_non_null(strstr(err.message, "goes in a circle"));
        }
        file f = make(form & 1, form & 2, copies, 2, at);
        assert_int_equal(list(&f, f.count, false, &pages, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "holds no page"));
        static const struct {
            int entries;
            const char *why;
        } wrong[] = {
            {0, "no plausible length"}, {4097, "no plausible length"}, {4096, "ends in a page's table"}};
        for (int i = 0; i < 3; i++) {
            f = make(form & 1, form & 2, kinds, 1, at);
            poke(&f, at[0], (uint64_t)wrong[i].entries, form & 2 ? 8 : 2);
            poke(&f, at[0] + (form & 2 ? 8 + 20 : 2 + 12), 100, 2); /* only low tags */
            poke(&f, at[0] + (form & 2 ? 8 + 40 : 2 + 24), 100, 2);
            assert_int_equal(list(&f, f.count, false, &pages, &err), SK_ERR_FORMAT);
            assert_non_null(strstr(err.message, wrong[i].why));
        }
    }
    assert_false(sk_picture_is_tiff((const unsigned char *)"II*\0aaaa", 7));
    assert_false(sk_picture_is_tiff((const unsigned char *)"IM*\0aaaa", 8));
    assert_false(sk_picture_is_tiff((const unsigned char *)"II\0*aaaa", 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_listed),
        cmocka_unit_test(lists_that_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
