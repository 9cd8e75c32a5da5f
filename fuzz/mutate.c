/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Numbers at which readers break: around zero, powers of two, the ends of types. */
static int64_t odd_number(uint64_t *state, int64_t old)
{
    switch (next(state) % 10) {
    case 0: return (int64_t)((uint64_t)old + 1);
    case 1: return (int64_t)((uint64_t)old - 1);
    case 2: return (int64_t)(0 - (uint64_t)old);
    case 3: return (int64_t)((uint64_t)old * 2);
    case 4: return (int64_t)1 << (next(state) % 63);
    case 5: return ((int64_t)1 << (next(state) % 63)) - 1;
    case 6: return INT64_MAX - next(state) % 3;
    case 7: return INT64_MIN + next(state) % 3;
    case 8: return next(state) % 300;
    default: return (int64_t)(next(state) % 3) - 1;
    }
}

/* Replaces data[at, at + old) by `length` bytes; false when there is no room. */
static bool splice(uint8_t *data, size_t *size, size_t room, size_t at, size_t old, const uint8_t *bytes,
                   size_t length)
{
    if (*size - old + length > room)
        return false;
    memmove(data + at + length, data + at + old, *size - at - old);
    if (length)
        memcpy(data + at, bytes, length);
    *size = *size - old + length;
    return true;
}

/* --- fields --- */

size_t sk_mutate_fields(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint64_t state = seed;
    (void)room;
    for (int n = 1 + (int)(next(&state) % 3); n > 0 && size >= 8; n--) {
        size_t width = (size_t)1 << next(&state) % 4, at = next(&state) % (size - width + 1);
        if (next(&state) % 4)
            at -= at % width;
        int64_t old = 0;
        memcpy(&old, data + at, width);
        int64_t value = next(&state) % 4 ? odd_number(&state, old) : (int64_t)(next(&state) % size);
        if (next(&state) % 6 == 0) /* a field of elsewhere */
            memcpy(&value, data + next(&state) % (size - 7), 8);
        memcpy(data + at, &value, width);
    }
    return size;
}

/* --- text --- */

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '-' || c == '+';
}

size_t sk_mutate_text(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const char *const words[] = {"null", "true", "\"\"", "[]",  "{}", "1e308",
                                        "-0.0", "nan",  "NaN",  "0.5", "inf"};
    uint64_t state = seed;
    for (int n = 1 + (int)(next(&state) % 2); n > 0 && size > 0; n--) {
        size_t at = next(&state) % size, tries = 0;
        bool number = next(&state) % 4 != 0; /* rather a number than a name */
        while (tries++ < size && (!is_word(data[at]) || (number && (data[at] < '0' || data[at] > '9'))))
            at = at + 1 < size ? at + 1 : 0;
        size_t from = at, to = at;
        while (from > 0 && is_word(data[from - 1]))
            from--;
        while (to < size && is_word(data[to]))
            to++;
        char text[64];
        int64_t old =
            strtoll((const char *)memcpy(text, data + from, to - from < 40 ? to - from : 40), NULL, 10);
        if (next(&state) % 4 == 0)
            snprintf(text, sizeof text, "%s", words[next(&state) % (sizeof words / sizeof words[0])]);
        else
            snprintf(text, sizeof text, "%" PRId64, odd_number(&state, old));
        if (next(&state) % 8 == 0 && to > from) { /* twice, or not at all */
            uint8_t copy[64];
            size_t length = to - from < sizeof copy ? to - from : sizeof copy;
            memcpy(copy, data + from, length);
            splice(data, &size, room, from, next(&state) % 2 ? to - from : 0, copy,
                   next(&state) % 2 ? length : 0);
        } else {
            splice(data, &size, room, from, to - from, (const uint8_t *)text, strlen(text));
        }
    }
    return size;
}

/* --- pickle --- */

/* Bytes of the argument behind an opcode; -1: a line of text, -2: unknown. Lengths in front of the contents are counted
 * too. */
static long argument_bytes(const uint8_t *at, size_t left)
{
    uint32_t length = 0;
    switch (at[0]) {
    case 'K':
    case 'h':
    case 'q': return 1;
    case 0x80: return 1;
    case 'M': return 2;
    case 'J':
    case 'j':
    case 'r': return 4;
    case 'G': return 8;
    case 0x8a: return left > 1 ? 1 + at[1] : -2;
    case 'U':
    case 'C':
    case 0x8c: return left > 1 ? 1 + at[1] : -2;
    case 'X':
    case 'T':
    case 'B':
        if (left < 5)
            return -2;
        memcpy(&length, at + 1, 4);
        return length < left ? 4 + (long)length : -2;
    case 0x95: return 8;
    case 'c':
    case 'I':
    case 'F':
    case 'S':
    case 'V':
    case 'L':
    case 'g':
    case 'p':
    case 'i': return -1;
    default: return 0;
    }
}

static size_t opcode_bytes(const uint8_t *at, size_t left)
{
    long n = argument_bytes(at, left);
    if (n >= 0)
        return (size_t)n + 1 <= left ? (size_t)n + 1 : 0;
    if (n == -2)
        return 0;
    size_t lines = at[0] == 'c' || at[0] == 'i' ? 2 : 1, used = 1;
    while (lines > 0) {
        const uint8_t *end = memchr(at + used, '\n', left - used);
        if (!end)
            return 0;
        used = (size_t)(end - at) + 1;
        lines--;
    }
    return used;
}

static size_t change_opcode(uint8_t *data, size_t size, size_t room, size_t at, size_t length,
                            uint64_t *state)
{
    uint8_t made[16] = {0x8a, 8};
    int64_t old = 0, value;
    uint8_t op = data[at];
    if (op == 'K' || op == 'M' || op == 'J' || (op == 0x8a && length == 10)) {
        memcpy(&old, data + at + (op == 0x8a ? 2 : 1), op == 'K' ? 1 : op == 'M' ? 2 : op == 'J' ? 4 : 8);
        value = odd_number(state, old);
        memcpy(made + 2, &value, 8); /* LONG1 of eight bytes holds any of them */
        splice(data, &size, room, at, length, made, 10);
    } else if ((op == 'X' || op == 0x8c || op == 'U') && length > 2) {
        size_t head = op == 'X' ? 5 : 2;
        if (length > head)
            data[at + head + next(state) % (length - head)] ^= (uint8_t)(1 << next(state) % 7);
    } else if (op == 'h' || op == 'q' || op == 'j' || op == 'r') {
        data[at + 1] = (uint8_t)next(state);
    } else if (op == 'G') {
        static const double reals[] = {0, -1, 1e308, 1e-308, 0.5, 3e9};
        double real = reals[next(state) % 6];
        for (int i = 0; i < 8; i++)
            data[at + 8 - (size_t)i] = ((const uint8_t *)&real)[i];
    } else {
        static const uint8_t ops[] = "N\x88\x89})]lt(0\x85\x86\x87R\x81"
                                     "bsuae";
        data[at] = length == 1 ? ops[next(state) % (sizeof ops - 1)] : data[at];
    }
    return size;
}

size_t sk_mutate_pickle(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint64_t state = seed;
    size_t count = 0;
    for (size_t at = 0, n; at < size && (n = opcode_bytes(data + at, size - at)) > 0; at += n)
        count++;
    for (int n = 1 + (int)(next(&state) % 3); n > 0 && count > 0; n--) {
        size_t wanted = next(&state) % count, at = 0, length = 0;
        bool numbers = next(&state) % 3 != 0;
        for (size_t i = 0; at < size; at += length, i++) {
            length = opcode_bytes(data + at, size - at);
            if (length == 0)
                return size;
            if (i >= wanted &&
                (!numbers || data[at] == 'K' || data[at] == 'M' || data[at] == 'J' || data[at] == 'X'))
                break;
        }
        if (at >= size)
            continue;
        uint8_t copy[256];
        switch (next(&state) % 12) {
        case 0: splice(data, &size, room, at, length, NULL, 0); break;
        case 1:
            if (length <= sizeof copy) {
                memcpy(copy, data + at, length);
                splice(data, &size, room, at, 0, copy, length);
            }
            break;
        default: size = change_opcode(data, size, room, at, length, &state); break;
        }
    }
    return size;
}

/* --- protobuf --- */

typedef struct field {
    size_t start, value, end; /* of the key, of what follows it (after a length), of the whole */
    int wire;
} field;

static bool read_varint(const uint8_t *data, size_t end, size_t *at, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = data[(*at)++];
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static size_t write_varint(uint64_t value, uint8_t out[10])
{
    size_t n = 0;
    do {
        out[n++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value);
    return n;
}

static bool read_field(const uint8_t *data, size_t end, size_t at, field *out)
{
    uint64_t key, length;
    out->start = at;
    if (!read_varint(data, end, &at, &key) || key >> 3 == 0)
        return false;
    out->wire = (int)(key & 7);
    out->value = at;
    switch (out->wire) {
    case 0:
        if (!read_varint(data, end, &at, &length))
            return false;
        break;
    case 1: at += 8; break;
    case 5: at += 4; break;
    case 2:
        if (!read_varint(data, end, &at, &length) || length > end - at)
            return false;
        out->value = at;
        at += (size_t)length;
        break;
    default: return false;
    }
    out->end = at;
    return at <= end;
}

static size_t count_fields(const uint8_t *data, size_t from, size_t to)
{
    size_t count = 0;
    field f;
    for (size_t at = from; at < to; at = f.end, count++)
        if (!read_field(data, to, at, &f))
            return 0;
    return count;
}

#define DEEPEST 12

/* Goes down from message to message by chance and changes one field; the lengths on the way up are written anew. */
size_t sk_mutate_protobuf(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint64_t state = seed;
    field path[DEEPEST];
    int depth = 0;
    size_t from = 0, to = size;
    while (depth < DEEPEST) {
        size_t count = count_fields(data, from, to);
        if (count == 0)
            break;
        size_t wanted = next(&state) % count, at = from;
        for (size_t i = 0; i <= wanted; i++) {
            if (!read_field(data, to, at, &path[depth]))
                return size;
            at = path[depth].end;
        }
        const field *f = &path[depth++];
        if (f->wire != 2 || f->end - f->value > (size_t)1 << 16 || next(&state) % 8 == 0)
            break;
        from = f->value;
        to = f->end;
    }
    if (depth == 0)
        return sk_mutate_fields(data, size, room, seed);
    field f = path[depth - 1];
    uint8_t made[600];
    size_t length = 0, before = size;
    uint64_t old = 0;
    uint32_t choice = next(&state) % 12;
    if (choice == 0) {
        splice(data, &size, room, f.start, f.end - f.start, NULL, 0);
    } else if (choice == 1 && f.end - f.start <= sizeof made) {
        memcpy(made, data + f.start, f.end - f.start);
        splice(data, &size, room, f.end, 0, made, f.end - f.start);
    } else if (f.wire == 0) {
        size_t at = f.value;
        if (read_varint(data, size, &at, &old))
            length = write_varint((uint64_t)odd_number(&state, (int64_t)old), made);
        splice(data, &size, room, f.value, f.end - f.value, made, length);
    } else if (f.wire == 2) { /* text, packed numbers or raw data: cut, longer, or other bytes */
        size_t keep = f.end - f.value > 512 ? 512 : f.end - f.value;
        keep = next(&state) % 2 ? keep : next(&state) % (keep + 1);
        memcpy(made + 10, data + f.value, keep);
        if (keep && next(&state) % 2)
            keep = sk_mutate_text(made + 10, keep, 560, (unsigned)next(&state));
        else if (keep >= 8)
            sk_mutate_fields(made + 10, keep, 560, (unsigned)next(&state));
        size_t at = f.start;
        uint64_t key;
        uint8_t head[10];
        (void)read_varint(data, size, &at, &key); /* `at` is where the length begins */
        length = write_varint(keep, head);
        memcpy(made + 10 - length, head, length);
        splice(data, &size, room, at, f.end - at, made + 10 - length, length + keep);
    } else {
        data[f.value + next(&state) % (f.end - f.value)] ^= (uint8_t)(1 << next(&state) % 8);
    }
    /* what grew or shrank, all messages around it do too */
    for (int i = depth - 2; i >= 0; i--) {
        size_t at = path[i].start;
        uint64_t key, inner = path[i].end - path[i].value + size - before;
        uint8_t head[10];
        (void)read_varint(data, size, &at, &key);
        length = write_varint(inner, head);
        if (!splice(data, &size, room, at, path[i].value - at, head, length))
            break;
        /* `before` stays: the outer message also takes the change of this length */
    }
    return size;
}
