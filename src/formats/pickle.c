/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/pickle_machine.h"

#include "base/object.h"

#include <string.h>

/* The stack machine. Every opcode costs at least one byte of input and makes a bounded number of nodes, the machine
 * itself never recurses, and the arena refuses what goes far beyond the input's size: memory and time are bounded by
 * the length of the pickle. */

#define MEMORY_PER_BYTE 256 /* a node is about 190 bytes and may come from one byte of input */
#define MEMORY_BASE     ((size_t)1 << 20)

/* --- containers and objects --- */

static sk_status make_tuple(pickle_machine *m, pickle_node **items, size_t count, pickle_node **out)
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

static sk_status push_tuple(pickle_machine *m, size_t count)
{
    pickle_node *node;
    if (m->depth - sk_pm_floor(m) < count)
        return sk_fail(m->err, SK_ERR_FORMAT, "nothing is left on its stack");
    m->depth -= count;
    SK_TRY(make_tuple(m, m->stack + m->depth, count, &node));
    return sk_pm_push(m, node);
}

static sk_status append_items(pickle_machine *m, pickle_node *to, pickle_node **items, size_t count)
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

static sk_status set_items(pickle_machine *m, pickle_node *to, pickle_node **items, size_t count)
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

static sk_status build(pickle_machine *m)
{
    pickle_node *state, *object;
    SK_TRY(sk_pm_pop(m, &state));
    SK_TRY(sk_pm_top(m, &object));
    switch (object->value.kind) {
    case SK_PICKLE_OBJECT: object->value.u.object.state = &state->value; return SK_OK;
    case SK_PICKLE_DICT: /* attributes of an OrderedDict: torch's _metadata; nobody needs them */
    case SK_PICKLE_LIST:
    case SK_PICKLE_TENSOR: return SK_OK;
    default: return sk_fail(m->err, SK_ERR_FORMAT, "state is given to something that cannot have any");
    }
}

static sk_status push_global(pickle_machine *m, const char *module, size_t module_length, const char *name,
                             size_t name_length)
{
    pickle_node *node;
    SK_TRY(sk_pickle_new(m->p, SK_PICKLE_GLOBAL, &node, m->err));
    SK_TRY(sk_pm_copy_text(m, module, module_length, &node->value.u.global.module));
    SK_TRY(sk_pm_copy_text(m, name, name_length, &node->value.u.global.name));
    return sk_pm_push(m, node);
}

static sk_status global_lines(pickle_machine *m)
{
    const char *module = NULL, *name = NULL;
    size_t module_length = 0, name_length = 0;
    SK_TRY(sk_pm_line(m, &module, &module_length));
    SK_TRY(sk_pm_line(m, &name, &name_length));
    return push_global(m, module, module_length, name, name_length);
}

static sk_status global_stack(pickle_machine *m)
{
    pickle_node *module, *name;
    SK_TRY(sk_pm_pop(m, &name));
    SK_TRY(sk_pm_pop(m, &module));
    if (name->value.kind != SK_PICKLE_STRING || module->value.kind != SK_PICKLE_STRING)
        return sk_fail(m->err, SK_ERR_FORMAT, "a class is named by something that is no string");
    return push_global(m, module->value.u.text, module->value.length, name->value.u.text, name->value.length);
}

static sk_status call(pickle_machine *m, pickle_node *callable, pickle_node *args)
{
    pickle_node *node;
    SK_TRY(sk_pickle_call(m->p, callable, args, &node, m->err));
    return sk_pm_push(m, node);
}

static sk_status reduce(pickle_machine *m, bool with_keywords)
{
    pickle_node *callable, *args, *keywords;
    if (with_keywords)
        SK_TRY(sk_pm_pop(m, &keywords));
    SK_TRY(sk_pm_pop(m, &args));
    SK_TRY(sk_pm_pop(m, &callable));
    return call(m, callable, args);
}

static sk_status persistent(pickle_machine *m)
{
    pickle_node *id = NULL, *node = NULL;
    SK_TRY(sk_pm_pop(m, &id));
    SK_TRY(sk_pickle_persistent(m->p, id, &node, m->err));
    return sk_pm_push(m, node);
}

/* --- opcodes --- */

/* Opcodes that take everything above the last mark. */
static sk_status step_marked(pickle_machine *m, uint8_t op)
{
    pickle_node **items = NULL, *node = NULL;
    size_t count = 0;
    if (op == 'i')
        SK_TRY(global_lines(m)); /* INST: class after the arguments */
    SK_TRY(sk_pm_pop_mark(m, &items, &count));
    switch (op) {
    case '1': /* POP_MARK */ return SK_OK;
    case 't': /* TUPLE */ SK_TRY(make_tuple(m, items, count, &node)); return sk_pm_push(m, node);
    case 'l':  /* LIST */
    case 0x91: /* FROZENSET */
        SK_TRY(sk_pickle_new(m->p, SK_PICKLE_LIST, &node, m->err));
        node->value.is_set = op == 0x91;
        SK_TRY(append_items(m, node, items, count));
        return sk_pm_push(m, node);
    case 'd': /* DICT */
        SK_TRY(sk_pickle_new(m->p, SK_PICKLE_DICT, &node, m->err));
        SK_TRY(set_items(m, node, items, count));
        return sk_pm_push(m, node);
    case 'e': /* APPENDS */
    case 0x90: /* ADDITEMS */ SK_TRY(sk_pm_top(m, &node)); return append_items(m, node, items, count);
    case 'u': /* SETITEMS */ SK_TRY(sk_pm_top(m, &node)); return set_items(m, node, items, count);
    case 'i':
    case 'o': { /* OBJ: class first */
        if (count == 0)
            return sk_fail(m->err, SK_ERR_FORMAT, "an object without a class");
        pickle_node *class = op == 'o' ? items[0] : items[count - 1], *args;
        SK_TRY(make_tuple(m, items + (op == 'o'), count - 1, &args));
        return call(m, class, args);
    }
    default: return sk_fail(m->err, SK_ERR_INTERNAL, "opcode 0x%02x is not handled", op);
    }
}

static sk_status step_single(pickle_machine *m, uint8_t op)
{
    pickle_node *pair[2], *to;
    SK_TRY(sk_pm_pop(m, &pair[1]));
    if (op == 's')
        SK_TRY(sk_pm_pop(m, &pair[0]));
    SK_TRY(sk_pm_top(m, &to));
    return op == 's' ? set_items(m, to, pair, 2) : append_items(m, to, pair + 1, 1);
}

static sk_status step_control(pickle_machine *m, uint8_t op)
{
    uint64_t number;
    pickle_node *node;
    const char *text = NULL;
    size_t length = 0;
    switch (op) {
    case 0x80: /* PROTO */
        SK_TRY(sk_pm_number(m, 1, &number));
        if (number > 5)
            return sk_fail(m->err, SK_ERR_UNSUPPORTED, "pickle protocol %u is newer than 5",
                           (unsigned)number);
        return SK_OK;
    case 0x95: /* FRAME: only a hint for buffered readers */ return sk_pm_number(m, 8, &number);
    case '.': /* STOP */
        SK_TRY(sk_pm_pop(m, &m->p->root));
        m->stopped = true;
        return SK_OK;
    case '0': /* POP */
        if (m->n_marks && m->depth == sk_pm_floor(m)) {
            m->n_marks--;
            return SK_OK;
        }
        return sk_pm_pop(m, &node);
    case '2': /* DUP */ SK_TRY(sk_pm_top(m, &node)); return sk_pm_push(m, node);
    case 'P': /* PERSID: as text, never torch's */
        SK_TRY(sk_pm_line(m, &text, &length));
        SK_TRY(sk_pm_push_text(m, SK_PICKLE_STRING, text, length));
        return persistent(m);
    case 'Q': /* BINPERSID */ return persistent(m);
    default: return sk_fail(m->err, SK_ERR_UNSUPPORTED, "opcode 0x%02x is none that checkpoints use", op);
    }
}

static sk_status step(pickle_machine *m, uint8_t op)
{
    switch (op) {
    case '(': return sk_pm_push_mark(m);
    case 'N': return sk_pm_push_shared(m, &m->p->none, SK_PICKLE_NONE);
    case 0x88:
    case 0x89: return sk_pm_push_bool(m, op == 0x88);
    case '}': return sk_pm_push_new(m, SK_PICKLE_DICT);
    case ']': return sk_pm_push_new(m, SK_PICKLE_LIST);
    case 0x8f: /* EMPTY_SET */
        SK_TRY(sk_pm_push_new(m, SK_PICKLE_LIST));
        m->stack[m->depth - 1]->value.is_set = true;
        return SK_OK;
    case ')': return push_tuple(m, 0);
    case 0x85:
    case 0x86:
    case 0x87: /* TUPLE1, 2, 3 */ return push_tuple(m, (size_t)(op - 0x84));
    case '1':
    case 't':
    case 'l':
    case 'd':
    case 'e':
    case 'u':
    case 'i':
    case 'o':
    case 0x90:
    case 0x91: return step_marked(m, op);
    case 'q':
    case 'r':
    case 'h':
    case 'j':
    case 'g':
    case 'p':
    case 0x94: return sk_pm_memo(m, op);
    case 'K':
    case 'M':
    case 'J':
    case 'G':
    case 'I':
    case 'L':
    case 'F':
    case 0x8a:
    case 0x8b: return sk_pm_push_numbers(m, op);
    case 'X':
    case 'T':
    case 'U':
    case 'B':
    case 'C':
    case 'S':
    case 'V':
    case 0x8c:
    case 0x8d:
    case 0x8e:
    case 0x96: return sk_pm_push_strings(m, op);
    case 'a': /* APPEND */
    case 's': /* SETITEM */ return step_single(m, op);
    case 'b': return build(m);
    case 'c': return global_lines(m);
    case 0x93: return global_stack(m);
    case 'R': /* REDUCE */
    case 0x81: /* NEWOBJ */ return reduce(m, false);
    case 0x92: /* NEWOBJ_EX */ return reduce(m, true);
    default: return step_control(m, op);
    }
}

static sk_status run(pickle_machine *m)
{
    while (!m->stopped) {
        uint64_t op;
        m->op_at = m->at;
        SK_TRY(sk_pm_number(m, 1, &op));
        SK_TRY(step(m, (uint8_t)op));
    }
    return SK_OK;
}

sk_status sk_pickle_open(const void *bytes, size_t length, const char *what, sk_pickle **out, sk_error *err)
{
    SK_CHECK_ARG(bytes && what && out, err);
    *out = NULL;
    if (length > SK_PICKLE_MAX_BYTES)
        return sk_fail(err, SK_ERR_LIMIT,
                       "%s: a pickle of %zu MiB; checkpoints keep their weights outside, so at most "
                       "%zu MiB are read",
                       what, length >> 20, SK_PICKLE_MAX_BYTES >> 20);
    sk_pickle *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    pickle_machine m = {.p = p, .bytes = bytes, .length = length, .err = err};
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
    sk_free_all(m.stack, m.marks, m.memo);
    return SK_HAND_OVER(status, p, out, sk_pickle_close);
}

void sk_pickle_close(sk_pickle **pickle)
{
    SK_TAKE_OR_RETURN(p, pickle);
    sk_arena_close(&p->arena);
    sk_free(p);
}

const sk_pickle_value *sk_pickle_root(const sk_pickle *pickle)
{
    return &pickle->root->value;
}
