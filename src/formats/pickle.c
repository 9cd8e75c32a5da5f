/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/pickle_node.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The stack machine. Every opcode costs at least one byte of input and makes a bounded number of nodes, the machine
 * itself never recurses, and the arena refuses what goes far beyond the input's size: memory and time are bounded by
 * the length of the pickle. */

#define MAX_PICKLE_BYTES ((size_t)64 << 20)
#define MEMORY_PER_BYTE 256 /* a node is about 190 bytes and may come from one byte of input */
#define MEMORY_BASE ((size_t)1 << 20)

typedef struct machine {
    sk_pickle *p;
    const uint8_t *bytes;
    size_t length, at, op_at;
    pickle_node **stack;
    size_t depth, stack_capacity;
    size_t *marks; /* stack depths */
    size_t n_marks, marks_capacity;
    pickle_node **memo;
    size_t memo_count, memo_capacity; /* memo_count: 1 + highest index used, also the next for MEMOIZE */
    bool stopped;
    sk_error *err;
} machine;

/* --- input --- */

static sk_status need(machine *m, size_t count, const uint8_t **out)
{
    if (count > m->length - m->at)
        return sk_fail(m->err, SK_ERR_FORMAT, "it ends in the middle: %zu bytes wanted, %zu left", count,
                       m->length - m->at);
    *out = m->bytes + m->at;
    m->at += count;
    return SK_OK;
}

static sk_status need_number(machine *m, size_t count, uint64_t *out)
{
    const uint8_t *p = NULL;
    SK_TRY(need(m, count, &p));
    *out = 0;
    for (size_t i = 0; i < count; i++)
        *out |= (uint64_t)p[i] << (8 * i);
    return SK_OK;
}

/* A line without its newline. */
static sk_status need_line(machine *m, const char **text, size_t *length)
{
    const uint8_t *start = m->bytes + m->at, *end = memchr(start, '\n', m->length - m->at);
    if (!end)
        return sk_fail(m->err, SK_ERR_FORMAT, "it ends in the middle of a line");
    *text = (const char *)start;
    *length = (size_t)(end - start);
    m->at += *length + 1;
    return SK_OK;
}

/* --- stack, marks, memo --- */

static sk_status push(machine *m, pickle_node *node)
{
    SK_TRY(sk_array_reserve((void **)&m->stack, &m->stack_capacity, m->depth + 1, sizeof *m->stack, m->length + 1,
                            m->err));
    m->stack[m->depth++] = node;
    return SK_OK;
}

static size_t floor_of(const machine *m)
{
    return m->n_marks ? m->marks[m->n_marks - 1] : 0;
}

static sk_status pop(machine *m, pickle_node **out)
{
    if (m->depth <= floor_of(m))
        return sk_fail(m->err, SK_ERR_FORMAT, "nothing is left on its stack");
    *out = m->stack[--m->depth];
    return SK_OK;
}

static sk_status top(machine *m, pickle_node **out)
{
    SK_TRY(pop(m, out));
    m->depth++;
    return SK_OK;
}

static sk_status push_mark(machine *m)
{
    SK_TRY(sk_array_reserve((void **)&m->marks, &m->marks_capacity, m->n_marks + 1, sizeof *m->marks, m->length,
                            m->err));
    m->marks[m->n_marks++] = m->depth;
    return SK_OK;
}

/* Everything above the last mark; stays valid until the next push. */
static sk_status pop_mark(machine *m, pickle_node ***items, size_t *count)
{
    if (m->n_marks == 0)
        return sk_fail(m->err, SK_ERR_FORMAT, "a mark is missing on its stack");
    size_t from = m->marks[--m->n_marks];
    *items = m->stack + from;
    *count = m->depth - from;
    m->depth = from;
    return SK_OK;
}

static sk_status memo_put(machine *m, uint64_t index)
{
    pickle_node *node;
    SK_TRY(top(m, &node));
    /* Writers number their memo from 0 upward, a few bytes each: an index beyond the length is a bomb. */
    if (index >= m->length)
        return sk_fail(m->err, SK_ERR_LIMIT, "memo index %llu in a pickle of %zu bytes; refused",
                       (unsigned long long)index, m->length);
    size_t before = m->memo_capacity;
    SK_TRY(sk_array_reserve((void **)&m->memo, &m->memo_capacity, (size_t)index + 1, sizeof *m->memo, m->length,
                            m->err));
    if (m->memo_capacity > before)
        memset(m->memo + before, 0, (m->memo_capacity - before) * sizeof *m->memo);
    m->memo[index] = node;
    if (index >= m->memo_count)
        m->memo_count = (size_t)index + 1;
    return SK_OK;
}

static sk_status memo_get(machine *m, uint64_t index)
{
    if (index >= m->memo_count || !m->memo[index])
        return sk_fail(m->err, SK_ERR_FORMAT, "memo entry %llu is used before it is made", (unsigned long long)index);
    return push(m, m->memo[index]);
}

/* --- plain values --- */

static sk_status push_new(machine *m, sk_pickle_kind kind)
{
    pickle_node *node;
    SK_TRY(sk_pickle_new(m->p, kind, &node, m->err));
    return push(m, node);
}

static sk_status push_shared(machine *m, pickle_node **slot, sk_pickle_kind kind)
{
    if (!*slot)
        SK_TRY(sk_pickle_new(m->p, kind, slot, m->err));
    return push(m, *slot);
}

static sk_status push_bool(machine *m, bool value)
{
    pickle_node **slot = value ? &m->p->yes : &m->p->no;
    SK_TRY(push_shared(m, slot, SK_PICKLE_BOOL));
    (*slot)->value.u.boolean = value;
    return SK_OK;
}

static sk_status push_int(machine *m, int64_t value)
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
    return push(m, node);
}

static sk_status push_real(machine *m, double value)
{
    pickle_node *node;
    SK_TRY(sk_pickle_new(m->p, SK_PICKLE_FLOAT, &node, m->err));
    node->value.u.real = value;
    return push(m, node);
}

static sk_status copy_text(machine *m, const void *bytes, size_t length, const char **out)
{
    char *copy;
    SK_TRY(sk_pickle_alloc(m->p, length + 1, &copy, m->err));
    if (length)
        memcpy(copy, bytes, length);
    *out = copy;
    return SK_OK;
}

static sk_status push_text(machine *m, sk_pickle_kind kind, const void *bytes, size_t length)
{
    pickle_node *node;
    SK_TRY(sk_pickle_new(m->p, kind, &node, m->err));
    SK_TRY(copy_text(m, bytes, length, &node->value.u.text));
    node->value.length = length;
    return push(m, node);
}

static sk_status push_counted(machine *m, sk_pickle_kind kind, size_t count_bytes)
{
    uint64_t length = 0;
    const uint8_t *bytes = NULL;
    SK_TRY(need_number(m, count_bytes, &length));
    if (length > m->length - m->at)
        return sk_fail(m->err, SK_ERR_FORMAT, "a string of %llu bytes begins where %zu bytes are left",
                       (unsigned long long)length, m->length - m->at);
    SK_TRY(need(m, (size_t)length, &bytes));
    return push_text(m, kind, bytes, (size_t)length);
}

/* Little-endian two's complement of any length; saturates beyond 64 bits. */
static sk_status push_long(machine *m, size_t count_bytes)
{
    uint64_t length = 0, value = 0;
    const uint8_t *p = NULL;
    SK_TRY(need_number(m, count_bytes, &length));
    if (length > m->length - m->at)
        return sk_fail(m->err, SK_ERR_FORMAT, "an integer of %llu bytes", (unsigned long long)length);
    SK_TRY(need(m, (size_t)length, &p));
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
    if (length > 8 && (value >> 63 != 0) != negative)
        wide = true;
    return push_int(m, wide ? (negative ? INT64_MIN : INT64_MAX) : (int64_t)value);
}

static sk_status push_big_endian_real(machine *m)
{
    const uint8_t *p = NULL;
    uint64_t bits = 0;
    double value;
    SK_TRY(need(m, 8, &p));
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | p[i];
    memcpy(&value, &bits, sizeof value);
    return push_real(m, value);
}

/* Protocol 0: numbers and strings as lines of text. */
static sk_status push_line_number(machine *m, uint8_t op)
{
    const char *text = NULL;
    size_t length = 0;
    char copy[64], *end;
    SK_TRY(need_line(m, &text, &length));
    if (op == 'I' && length == 2 && (memcmp(text, "00", 2) == 0 || memcmp(text, "01", 2) == 0))
        return push_bool(m, text[1] == '1');
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

static sk_status push_line_text(machine *m, uint8_t op)
{
    const char *text = NULL;
    size_t length = 0;
    SK_TRY(need_line(m, &text, &length));
    if (op == 'S') { /* quoted; escapes are kept as written */
        if (length < 2 || text[0] != text[length - 1] || (text[0] != '\'' && text[0] != '"'))
            return sk_fail(m->err, SK_ERR_FORMAT, "a string without quotes");
        text++;
        length -= 2;
    }
    return push_text(m, SK_PICKLE_STRING, text, length);
}

/* --- containers and objects --- */

static sk_status make_tuple(machine *m, pickle_node **items, size_t count, pickle_node **out)
{
    if (count == 0) {
        if (!m->p->empty_tuple)
            SK_TRY(sk_pickle_new(m->p, SK_PICKLE_TUPLE, &m->p->empty_tuple, m->err));
        *out = m->p->empty_tuple;
        return SK_OK;
    }
    SK_TRY(sk_pickle_new(m->p, SK_PICKLE_TUPLE, out, m->err));
    sk_pickle_value *v = &(*out)->value;
    SK_TRY(sk_pickle_alloc(m->p, count * sizeof *v->u.items, &v->u.items, m->err));
    for (size_t i = 0; i < count; i++)
        v->u.items[i] = &items[i]->value;
    v->length = count;
    return SK_OK;
}

static sk_status push_tuple(machine *m, size_t count)
{
    pickle_node *node;
    if (m->depth - floor_of(m) < count)
        return sk_fail(m->err, SK_ERR_FORMAT, "nothing is left on its stack");
    m->depth -= count;
    SK_TRY(make_tuple(m, m->stack + m->depth, count, &node));
    return push(m, node);
}

static sk_status append_items(machine *m, pickle_node *to, pickle_node **items, size_t count)
{
    if (to->value.kind == SK_PICKLE_OBJECT) { /* a subclass of list: its items hang below it */
        pickle_node *list;
        if (!to->value.u.object.items) {
            SK_TRY(sk_pickle_new(m->p, SK_PICKLE_LIST, &list, m->err));
            to->value.u.object.items = &list->value;
        }
        to = pickle_node_of(to->value.u.object.items);
    }
    if (to->value.kind != SK_PICKLE_LIST)
        return sk_fail(m->err, SK_ERR_FORMAT, "items are appended to something that is no list");
    for (size_t i = 0; i < count; i++)
        SK_TRY(sk_pickle_append(m->p, to, items[i], m->err));
    return SK_OK;
}

static sk_status set_items(machine *m, pickle_node *to, pickle_node **items, size_t count)
{
    if (to->value.kind == SK_PICKLE_OBJECT) {
        pickle_node *dict;
        if (!to->value.u.object.items) {
            SK_TRY(sk_pickle_new(m->p, SK_PICKLE_DICT, &dict, m->err));
            to->value.u.object.items = &dict->value;
        }
        to = pickle_node_of(to->value.u.object.items);
    }
    if (to->value.kind != SK_PICKLE_DICT || count % 2)
        return sk_fail(m->err, SK_ERR_FORMAT, "keys are set on something that is no dictionary");
    for (size_t i = 0; i < count; i += 2)
        SK_TRY(sk_pickle_put(m->p, to, items[i], items[i + 1], m->err));
    return SK_OK;
}

static sk_status build(machine *m)
{
    pickle_node *state, *object;
    SK_TRY(pop(m, &state));
    SK_TRY(top(m, &object));
    switch (object->value.kind) {
    case SK_PICKLE_OBJECT:
        object->value.u.object.state = &state->value;
        return SK_OK;
    case SK_PICKLE_DICT: /* attributes of an OrderedDict: torch's _metadata; nobody needs them */
    case SK_PICKLE_LIST:
    case SK_PICKLE_TENSOR:
        return SK_OK;
    default:
        return sk_fail(m->err, SK_ERR_FORMAT, "state is given to something that cannot have any");
    }
}

static sk_status push_global(machine *m, const char *module, size_t module_length, const char *name,
                             size_t name_length)
{
    pickle_node *node;
    SK_TRY(sk_pickle_new(m->p, SK_PICKLE_GLOBAL, &node, m->err));
    SK_TRY(copy_text(m, module, module_length, &node->value.u.global.module));
    SK_TRY(copy_text(m, name, name_length, &node->value.u.global.name));
    return push(m, node);
}

static sk_status global_lines(machine *m)
{
    const char *module = NULL, *name = NULL;
    size_t module_length = 0, name_length = 0;
    SK_TRY(need_line(m, &module, &module_length));
    SK_TRY(need_line(m, &name, &name_length));
    return push_global(m, module, module_length, name, name_length);
}

static sk_status global_stack(machine *m)
{
    pickle_node *module, *name;
    SK_TRY(pop(m, &name));
    SK_TRY(pop(m, &module));
    if (name->value.kind != SK_PICKLE_STRING || module->value.kind != SK_PICKLE_STRING)
        return sk_fail(m->err, SK_ERR_FORMAT, "a class is named by something that is no string");
    return push_global(m, module->value.u.text, module->value.length, name->value.u.text, name->value.length);
}

static sk_status call(machine *m, pickle_node *callable, pickle_node *args)
{
    pickle_node *node;
    SK_TRY(sk_pickle_call(m->p, callable, args, &node, m->err));
    return push(m, node);
}

static sk_status reduce(machine *m, bool with_keywords)
{
    pickle_node *callable, *args, *keywords;
    if (with_keywords)
        SK_TRY(pop(m, &keywords));
    SK_TRY(pop(m, &args));
    SK_TRY(pop(m, &callable));
    return call(m, callable, args);
}

static sk_status persistent(machine *m)
{
    pickle_node *id = NULL, *node = NULL;
    SK_TRY(pop(m, &id));
    SK_TRY(sk_pickle_persistent(m->p, id, &node, m->err));
    return push(m, node);
}

/* --- opcodes --- */

/* Opcodes that take everything above the last mark. */
static sk_status step_marked(machine *m, uint8_t op)
{
    pickle_node **items = NULL, *node = NULL;
    size_t count = 0;
    if (op == 'i')
        SK_TRY(global_lines(m)); /* INST: class after the arguments */
    SK_TRY(pop_mark(m, &items, &count));
    switch (op) {
    case '1': /* POP_MARK */
        return SK_OK;
    case 't': /* TUPLE */
        SK_TRY(make_tuple(m, items, count, &node));
        return push(m, node);
    case 'l': /* LIST */
    case 0x91: /* FROZENSET */
        SK_TRY(sk_pickle_new(m->p, SK_PICKLE_LIST, &node, m->err));
        node->value.is_set = op == 0x91;
        SK_TRY(append_items(m, node, items, count));
        return push(m, node);
    case 'd': /* DICT */
        SK_TRY(sk_pickle_new(m->p, SK_PICKLE_DICT, &node, m->err));
        SK_TRY(set_items(m, node, items, count));
        return push(m, node);
    case 'e': /* APPENDS */
    case 0x90: /* ADDITEMS */
        SK_TRY(top(m, &node));
        return append_items(m, node, items, count);
    case 'u': /* SETITEMS */
        SK_TRY(top(m, &node));
        return set_items(m, node, items, count);
    case 'i':
    case 'o': { /* OBJ: class first */
        if (count == 0)
            return sk_fail(m->err, SK_ERR_FORMAT, "an object without a class");
        pickle_node *class = op == 'o' ? items[0] : items[count - 1], *args;
        SK_TRY(make_tuple(m, items + (op == 'o'), count - 1, &args));
        return call(m, class, args);
    }
    default:
        return sk_fail(m->err, SK_ERR_INTERNAL, "opcode 0x%02x is not handled", op);
    }
}

static sk_status step_memo(machine *m, uint8_t op)
{
    uint64_t index = m->memo_count;
    if (op == 'g' || op == 'p') { /* GET, PUT: as text */
        const char *text = NULL;
        size_t length = 0;
        char copy[24], *end;
        SK_TRY(need_line(m, &text, &length));
        if (length == 0 || length >= sizeof copy)
            return sk_fail(m->err, SK_ERR_FORMAT, "a memo index of %zu digits", length);
        memcpy(copy, text, length);
        copy[length] = '\0';
        index = strtoull(copy, &end, 10);
        if (*end)
            return sk_fail(m->err, SK_ERR_FORMAT, "'%s' is no memo index", copy);
    } else if (op != 0x94) {
        SK_TRY(need_number(m, op == 'q' || op == 'h' ? 1 : 4, &index));
    }
    return op == 'g' || op == 'h' || op == 'j' ? memo_get(m, index) : memo_put(m, index);
}

static sk_status step_number(machine *m, uint8_t op)
{
    uint64_t value;
    switch (op) {
    case 'K': /* BININT1 */
        SK_TRY(need_number(m, 1, &value));
        return push_int(m, (int64_t)value);
    case 'M': /* BININT2 */
        SK_TRY(need_number(m, 2, &value));
        return push_int(m, (int64_t)value);
    case 'J': /* BININT */
        SK_TRY(need_number(m, 4, &value));
        return push_int(m, (int32_t)(uint32_t)value);
    case 'G': /* BINFLOAT */
        return push_big_endian_real(m);
    case 0x8a: /* LONG1 */
        return push_long(m, 1);
    case 0x8b: /* LONG4 */
        return push_long(m, 4);
    default: /* I, L, F */
        return push_line_number(m, op);
    }
}

static sk_status step_text(machine *m, uint8_t op)
{
    switch (op) {
    case 'X': /* BINUNICODE */
        return push_counted(m, SK_PICKLE_STRING, 4);
    case 0x8c: /* SHORT_BINUNICODE */
        return push_counted(m, SK_PICKLE_STRING, 1);
    case 0x8d: /* BINUNICODE8 */
        return push_counted(m, SK_PICKLE_STRING, 8);
    case 'T': /* BINSTRING */
        return push_counted(m, SK_PICKLE_STRING, 4);
    case 'U': /* SHORT_BINSTRING */
        return push_counted(m, SK_PICKLE_STRING, 1);
    case 'B': /* BINBYTES */
        return push_counted(m, SK_PICKLE_BYTES, 4);
    case 'C': /* SHORT_BINBYTES */
        return push_counted(m, SK_PICKLE_BYTES, 1);
    case 0x8e: /* BINBYTES8 */
    case 0x96: /* BYTEARRAY8 */
        return push_counted(m, SK_PICKLE_BYTES, 8);
    default: /* S, V */
        return push_line_text(m, op);
    }
}

/* One key or item onto the container below it. */
static sk_status step_single(machine *m, uint8_t op)
{
    pickle_node *pair[2], *to;
    SK_TRY(pop(m, &pair[1]));
    if (op == 's')
        SK_TRY(pop(m, &pair[0]));
    SK_TRY(top(m, &to));
    return op == 's' ? set_items(m, to, pair, 2) : append_items(m, to, pair + 1, 1);
}

static sk_status step_control(machine *m, uint8_t op)
{
    uint64_t number;
    pickle_node *node;
    const char *text = NULL;
    size_t length = 0;
    switch (op) {
    case 0x80: /* PROTO */
        SK_TRY(need_number(m, 1, &number));
        if (number > 5)
            return sk_fail(m->err, SK_ERR_UNSUPPORTED, "pickle protocol %u is newer than 5", (unsigned)number);
        return SK_OK;
    case 0x95: /* FRAME: only a hint for buffered readers */
        return need_number(m, 8, &number);
    case '.': /* STOP */
        SK_TRY(pop(m, &m->p->root));
        m->stopped = true;
        return SK_OK;
    case '0': /* POP */
        if (m->n_marks && m->depth == floor_of(m)) {
            m->n_marks--;
            return SK_OK;
        }
        return pop(m, &node);
    case '2': /* DUP */
        SK_TRY(top(m, &node));
        return push(m, node);
    case 'P': /* PERSID: as text, never torch's */
        SK_TRY(need_line(m, &text, &length));
        SK_TRY(push_text(m, SK_PICKLE_STRING, text, length));
        return persistent(m);
    case 'Q': /* BINPERSID */
        return persistent(m);
    default:
        return sk_fail(m->err, SK_ERR_UNSUPPORTED, "opcode 0x%02x is none that checkpoints use", op);
    }
}

static sk_status step(machine *m, uint8_t op)
{
    switch (op) {
    case '(':
        return push_mark(m);
    case 'N':
        return push_shared(m, &m->p->none, SK_PICKLE_NONE);
    case 0x88:
    case 0x89:
        return push_bool(m, op == 0x88);
    case '}':
        return push_new(m, SK_PICKLE_DICT);
    case ']':
        return push_new(m, SK_PICKLE_LIST);
    case 0x8f: /* EMPTY_SET */
        SK_TRY(push_new(m, SK_PICKLE_LIST));
        m->stack[m->depth - 1]->value.is_set = true;
        return SK_OK;
    case ')':
        return push_tuple(m, 0);
    case 0x85:
    case 0x86:
    case 0x87: /* TUPLE1, 2, 3 */
        return push_tuple(m, (size_t)(op - 0x84));
    case '1': case 't': case 'l': case 'd': case 'e': case 'u': case 'i': case 'o': case 0x90: case 0x91:
        return step_marked(m, op);
    case 'q': case 'r': case 'h': case 'j': case 'g': case 'p': case 0x94:
        return step_memo(m, op);
    case 'K': case 'M': case 'J': case 'G': case 'I': case 'L': case 'F': case 0x8a: case 0x8b:
        return step_number(m, op);
    case 'X': case 'T': case 'U': case 'B': case 'C': case 'S': case 'V': case 0x8c: case 0x8d: case 0x8e: case 0x96:
        return step_text(m, op);
    case 'a': /* APPEND */
    case 's': /* SETITEM */
        return step_single(m, op);
    case 'b':
        return build(m);
    case 'c':
        return global_lines(m);
    case 0x93:
        return global_stack(m);
    case 'R': /* REDUCE */
    case 0x81: /* NEWOBJ */
        return reduce(m, false);
    case 0x92: /* NEWOBJ_EX */
        return reduce(m, true);
    default:
        return step_control(m, op);
    }
}

static sk_status run(machine *m)
{
    while (!m->stopped) {
        uint64_t op;
        m->op_at = m->at;
        SK_TRY(need_number(m, 1, &op));
        SK_TRY(step(m, (uint8_t)op));
    }
    return SK_OK;
}

sk_status sk_pickle_open(const void *bytes, size_t length, const char *what, sk_pickle **out, sk_error *err)
{
    SK_CHECK_ARG(bytes && what && out, err);
    *out = NULL;
    if (length > MAX_PICKLE_BYTES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: a pickle of %zu MiB; checkpoints keep their weights outside, so at most "
                       "%zu MiB are read", what, length >> 20, MAX_PICKLE_BYTES >> 20);
    sk_pickle *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    machine m = {.p = p, .bytes = bytes, .length = length, .err = err};
    sk_status status;
    SK_TRY_GOTO(sk_arena_open(length < 65536 ? 16384 : 262144, &p->arena, err));
    /* from the start, so that even an empty stack has an address to count from */
    SK_TRY_GOTO(sk_array_reserve((void **)&m.stack, &m.stack_capacity, 1, sizeof *m.stack, length + 1, err));
    p->limit = MEMORY_BASE + length * MEMORY_PER_BYTE;
    sk_arena_limit(p->arena, p->limit);
    p->what = sk_arena_strdup(p->arena, what);
    if (!p->what) {
        status = sk_fail_memory(err, strlen(what));
        goto done;
    }
    status = run(&m);
    if (status != SK_OK)
        sk_error_prefix(err, "%s: pickle, byte %zu of %zu", what, m.op_at, length);
done:
    sk_free(m.stack);
    sk_free(m.marks);
    sk_free(m.memo);
    if (status != SK_OK)
        sk_pickle_close(&p);
    *out = p;
    return status;
}

void sk_pickle_close(sk_pickle **pickle)
{
    if (!pickle || !*pickle)
        return;
    sk_arena_close(&(*pickle)->arena);
    sk_free(*pickle);
    *pickle = NULL;
}

const sk_pickle_value *sk_pickle_root(const sk_pickle *pickle)
{
    return &pickle->root->value;
}
