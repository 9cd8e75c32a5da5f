/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "formats/cdr.h"
#include "ros/dds_api.h"
#include "ros/dds_type.h"

#include <string.h>

/* A message's bytes, walked along its type's instructions: once to see how much memory its sequences take, once to fill it.
 * Texts and sequences of bytes are not copied: the sample points to where they lie. */

typedef struct walker {
    sk_cdr_reader in;
    uint8_t *memory; /* null: only measured */
    size_t used;
} walker;

static const uint32_t *walk(walker *w, const uint32_t *op, uint8_t *base);

static size_t bytes_of(uint32_t value)
{
    switch (value) {
    case SK_DDS_1BY:
    case SK_DDS_BLN: return 1;
    case SK_DDS_2BY: return 2;
    case SK_DDS_4BY: return 4;
    case SK_DDS_8BY: return 8;
    default: return 0;
    }
}

static uint8_t *room(walker *w, size_t bytes)
{
    uint8_t *at = w->memory ? w->memory + w->used : NULL;
    w->used += (bytes + 7) & ~(size_t)7;
    return at;
}

static void get_numbers(walker *w, uint8_t *to, size_t size, size_t count)
{
    uint64_t skipped;
    if (to)
        (void)sk_cdr_get_numbers(&w->in, to, size, count);
    else
        for (size_t i = 0; i < count && w->in.failed == SK_OK; i++)
            (void)sk_cdr_get_numbers(&w->in, &skipped, size, 1);
}

static void get_text(walker *w, uint8_t *to)
{
    size_t length;
    const char *text = sk_cdr_get_text(&w->in, &length);
    if (to)
        memcpy(to, &text, sizeof text);
}

static void get_bounded_text(walker *w, uint8_t *to, uint32_t capacity)
{
    size_t length;
    const char *text = sk_cdr_get_text(&w->in, &length);
    if (length >= capacity) {
        w->in.failed = SK_ERR_FORMAT;
        w->in.problem = "a text is longer than its type allows";
    } else if (to) {
        memcpy(to, text, length);
        to[length] = '\0';
    }
}

/* `count` elements of a kind, one behind the other; `element`: the instructions of messages. */
static void get_elements(walker *w, uint8_t *to, uint32_t value, size_t count, const uint32_t *element,
                         size_t size)
{
    for (size_t i = 0; i < count && w->in.failed == SK_OK; i++) {
        uint8_t *at = to ? to + i * size : NULL;
        if (value == SK_DDS_STR)
            get_text(w, at);
        else
            (void)walk(w, element, at);
    }
}

static const uint32_t *get_sequence(walker *w, const uint32_t *op, uint8_t *to, bool bounded)
{
    const uint32_t value = op[0] >> 8 & 0xff;
    const uint32_t *more = op + (bounded ? 3 : 2);
    const bool nested = value == SK_DDS_STU;
    const size_t number = bytes_of(value);
    const size_t size = nested ? more[0] : number ? number : sizeof(char *);
    const uint32_t count = sk_cdr_get_count(&w->in, nested ? 1 : number ? number : 4);
    sk_dds_sequence sequence = {.maximum = count, .length = count};
    if (number == 1) {
        const uint8_t *view = sk_cdr_get_bytes(&w->in, count);
        memcpy(&sequence.buffer, &view, sizeof view); /* only ever read */
    } else {
        sequence.buffer = room(w, count * size);
        if (number)
            get_numbers(w, sequence.buffer, number, count);
        else
            get_elements(w, sequence.buffer, value, count, op + (nested ? more[1] & 0xffff : 0), size);
    }
    if (to)
        memcpy(to, &sequence, sizeof sequence);
    return nested ? op + (more[1] >> 16) : more;
}

static const uint32_t *walk(walker *w, const uint32_t *op, uint8_t *base)
{
    while (*op != SK_DDS_OP_RTS && w->in.failed == SK_OK) {
        const uint32_t value = op[0] >> 16 & 0x7f;
        uint8_t *to = base ? base + op[1] : NULL;
        if (bytes_of(value)) {
            get_numbers(w, to, bytes_of(value), 1);
            op += 2;
        } else if (value == SK_DDS_STR) {
            get_text(w, to);
            op += 2;
        } else if (value == SK_DDS_BST) {
            get_bounded_text(w, to, op[2]);
            op += 3;
        } else if (value == SK_DDS_ARR) {
            get_numbers(w, to, bytes_of(op[0] >> 8 & 0xff), op[2]);
            op += 3;
        } else {
            op = get_sequence(w, op, to, value == SK_DDS_BSQ);
        }
    }
    return op;
}

sk_status sk_dds_sample_make(sk_dds_sample *sample, const sk_dds_type *type, const void *cdr, size_t bytes,
                             sk_error *err)
{
    walker w = {0};
    for (int fill = 0; fill < 2; fill++) {
        SK_TRY(sk_cdr_reader_begin(&w.in, cdr, bytes, err));
        w.used = 0;
        w.memory = fill ? sample->data : NULL;
        uint8_t *base = room(&w, type->size);
        (void)walk(&w, type->ops, base);
        SK_TRY(sk_cdr_reader_status(&w.in, err));
        if (!fill)
            SK_TRY(sk_array_reserve(&sample->data, &sample->capacity, w.used, 1, (size_t)1 << 32, err));
        if (!fill)
            memset(sample->data, 0, type->size);
    }
    return SK_OK;
}

void sk_dds_sample_free(sk_dds_sample *sample)
{
    sk_free(sample->data);
    *sample = (sk_dds_sample){0};
}
