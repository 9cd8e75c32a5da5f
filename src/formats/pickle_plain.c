/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/pickle_machine.h"

#include <stdlib.h>
#include <string.h>

/* --- plain values --- */

sk_status sk_pm_push_new(pickle_machine *m, sk_pickle_kind kind)
{
    pickle_node *node;
    SK_TRY(sk_pickle_new(m->p, kind, &node, m->err));
    return sk_pm_push(m, node);
}

sk_status sk_pm_push_shared(pickle_machine *m, pickle_node **slot, sk_pickle_kind kind)
{
    if (!*slot)
        SK_TRY(sk_pickle_new(m->p, kind, slot, m->err));
    return sk_pm_push(m, *slot);
}

sk_status sk_pm_push_bool(pickle_machine *m, bool value)
{
    pickle_node **slot = value ? &m->p->yes : &m->p->no;
    SK_TRY(sk_pm_push_shared(m, slot, SK_PICKLE_BOOL));
    (*slot)->value.u.boolean = value;
    return SK_OK;
}

static sk_status push_int(pickle_machine *m, int64_t value)
{
    pickle_node *node = NULL;
    bool small = value >= 0 && value < 256;
    if (small)
        node = m->p->small[value];
    if (!node) {
        SK_TRY(sk_pickle_new(m->p, SK_PICKLE_INT, &node, m->err));
        node->value.u.integer = value;
        if (small)
            m->p->small[value] = node;
    }
    return sk_pm_push(m, node);
}

static sk_status push_real(pickle_machine *m, double value)
{
    pickle_node *node;
    SK_TRY(sk_pickle_new(m->p, SK_PICKLE_FLOAT, &node, m->err));
    node->value.u.real = value;
    return sk_pm_push(m, node);
}

sk_status sk_pm_copy_text(pickle_machine *m, const void *bytes, size_t length, const char **out)
{
    char *copy;
    SK_TRY(sk_pickle_alloc(m->p, length + 1, &copy, m->err));
    if (length)
        memcpy(copy, bytes, length);
    *out = copy;
    return SK_OK;
}

sk_status sk_pm_push_text(pickle_machine *m, sk_pickle_kind kind, const void *bytes, size_t length)
{
    pickle_node *node;
    SK_TRY(sk_pickle_new(m->p, kind, &node, m->err));
    SK_TRY(sk_pm_copy_text(m, bytes, length, &node->value.u.text));
    node->value.length = length;
    return sk_pm_push(m, node);
}

static sk_status push_counted(pickle_machine *m, sk_pickle_kind kind, size_t count_bytes)
{
    uint64_t length = 0;
    const uint8_t *bytes = NULL;
    SK_TRY(sk_pm_number(m, count_bytes, &length));
    if (length > m->length - m->at)
        return sk_fail(m->err, SK_ERR_FORMAT, "a string of %llu bytes begins where %zu bytes are left",
                       (unsigned long long)length, m->length - m->at);
    SK_TRY(sk_pm_need(m, (size_t)length, &bytes));
    return sk_pm_push_text(m, kind, bytes, (size_t)length);
}

/* Little-endian two's complement of any length; saturates beyond 64 bits. */
static sk_status push_long(pickle_machine *m, size_t count_bytes)
{
    uint64_t length = 0, value = 0;
    const uint8_t *p = NULL;
    SK_TRY(sk_pm_number(m, count_bytes, &length));
    if (length > m->length - m->at)
        return sk_fail(m->err, SK_ERR_FORMAT, "an integer of %llu bytes", (unsigned long long)length);
    SK_TRY(sk_pm_need(m, (size_t)length, &p));
    if (length == 0)
        return push_int(m, 0);
    bool negative = p[length - 1] & 0x80, wide = false;
    if (negative)
        value = UINT64_MAX;
    for (size_t i = 0; i < length; i++) {
        if (i < 8)
            value = (value & ~((uint64_t)0xff << (8 * i))) | (uint64_t)p[i] << (8 * i);
        else if (p[i] != (negative ? 0xff : 0))
            wide = true;
    }
    if ((value >> 63 != 0) != negative)
        wide = true;
    return push_int(m, wide ? (negative ? INT64_MIN : INT64_MAX) : (int64_t)value);
}

static sk_status push_big_endian_real(pickle_machine *m)
{
    const uint8_t *p = NULL;
    uint64_t bits = 0;
    double value;
    SK_TRY(sk_pm_need(m, 8, &p));
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | p[i];
    memcpy(&value, &bits, sizeof value);
    return push_real(m, value);
}

/* Protocol 0: numbers and strings as lines of text. */
static sk_status push_line_number(pickle_machine *m, uint8_t op)
{
    const char *text = NULL;
    size_t length = 0;
    char copy[64], *end;
    SK_TRY(sk_pm_line(m, &text, &length));
    if (op == 'I' && length == 2 && (memcmp(text, "00", 2) == 0 || memcmp(text, "01", 2) == 0))
        return sk_pm_push_bool(m, text[1] == '1');
    if (length == 0 || length >= sizeof copy)
        return sk_fail(m->err, SK_ERR_FORMAT, "a number of %zu digits", length);
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (op == 'F') {
        double value = strtod(copy, &end);
        if (end == copy || *end)
            return sk_fail(m->err, SK_ERR_FORMAT, "'%s' is no number", copy);
        return push_real(m, value);
    }
    long long value = strtoll(copy, &end, 10); /* saturates */
    if (end == copy || (*end && strcmp(end, "L") != 0))
        return sk_fail(m->err, SK_ERR_FORMAT, "'%s' is no integer", copy);
    return push_int(m, value);
}

static sk_status push_line_text(pickle_machine *m, uint8_t op)
{
    const char *text = NULL;
    size_t length = 0;
    SK_TRY(sk_pm_line(m, &text, &length));
    if (op == 'S') { /* quoted; escapes are kept as written */
        if (length < 2 || text[0] != text[length - 1] || (text[0] != '\'' && text[0] != '"'))
            return sk_fail(m->err, SK_ERR_FORMAT, "a string without quotes");
        text++;
        length -= 2;
    }
    return sk_pm_push_text(m, SK_PICKLE_STRING, text, length);
}

sk_status sk_pm_push_numbers(pickle_machine *m, uint8_t op)
{
    uint64_t value;
    switch (op) {
    case 'K': /* BININT1 */ SK_TRY(sk_pm_number(m, 1, &value)); return push_int(m, (int64_t)value);
    case 'M': /* BININT2 */ SK_TRY(sk_pm_number(m, 2, &value)); return push_int(m, (int64_t)value);
    case 'J': /* BININT */ SK_TRY(sk_pm_number(m, 4, &value)); return push_int(m, (int32_t)(uint32_t)value);
    case 'G': /* BINFLOAT */ return push_big_endian_real(m);
    case 0x8a: /* LONG1 */ return push_long(m, 1);
    case 0x8b: /* LONG4 */ return push_long(m, 4);
    default: /* I, L, F */ return push_line_number(m, op);
    }
}

sk_status sk_pm_push_strings(pickle_machine *m, uint8_t op)
{
    switch (op) {
    case 'X': /* BINUNICODE */ return push_counted(m, SK_PICKLE_STRING, 4);
    case 0x8c: /* SHORT_BINUNICODE */ return push_counted(m, SK_PICKLE_STRING, 1);
    case 0x8d: /* BINUNICODE8 */ return push_counted(m, SK_PICKLE_STRING, 8);
    case 'T': /* BINSTRING */ return push_counted(m, SK_PICKLE_STRING, 4);
    case 'U': /* SHORT_BINSTRING */ return push_counted(m, SK_PICKLE_STRING, 1);
    case 'B': /* BINBYTES */ return push_counted(m, SK_PICKLE_BYTES, 4);
    case 'C': /* SHORT_BINBYTES */ return push_counted(m, SK_PICKLE_BYTES, 1);
    case 0x8e: /* BINBYTES8 */
    case 0x96: /* BYTEARRAY8 */ return push_counted(m, SK_PICKLE_BYTES, 8);
    default: /* S, V */ return push_line_text(m, op);
    }
}

/* One key or item onto the container below it. */
