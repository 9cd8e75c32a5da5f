/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_PICKLE_MACHINE_H
#define SK_FORMATS_PICKLE_MACHINE_H

#include "formats/pickle_node.h"

/* The unpickler's stack machine, shared by pickle.c (opcodes), pickle_machine.c (input, stack, memo) and
 * pickle_plain.c (numbers and strings). Errors do not name the place; sk_pickle_open puts it before them. */

typedef struct pickle_machine {
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
} pickle_machine;

/* --- input --- */
sk_status sk_pm_need(pickle_machine *m, size_t count, const uint8_t **out);
sk_status sk_pm_number(pickle_machine *m, size_t count, uint64_t *out); /* little-endian, up to 8 bytes */
/* A line without its newline. */
sk_status sk_pm_line(pickle_machine *m, const char **text, size_t *length);

/* --- stack --- */
sk_status sk_pm_push(pickle_machine *m, pickle_node *node);
size_t sk_pm_floor(const pickle_machine *m); /* depth of the last mark */
sk_status sk_pm_pop(pickle_machine *m, pickle_node **out);
sk_status sk_pm_top(pickle_machine *m, pickle_node **out);
sk_status sk_pm_push_mark(pickle_machine *m);
/* Everything above the last mark; stays valid until the next push. */
sk_status sk_pm_pop_mark(pickle_machine *m, pickle_node ***items, size_t *count);
/* The opcodes GET, PUT and their kin. */
sk_status sk_pm_memo(pickle_machine *m, uint8_t op);

/* --- plain values --- */
sk_status sk_pm_push_new(pickle_machine *m, sk_pickle_kind kind);
sk_status sk_pm_push_shared(pickle_machine *m, pickle_node **slot, sk_pickle_kind kind); /* made once */
sk_status sk_pm_push_bool(pickle_machine *m, bool value);
sk_status sk_pm_copy_text(pickle_machine *m, const void *bytes, size_t length, const char **out);
sk_status sk_pm_push_text(pickle_machine *m, sk_pickle_kind kind, const void *bytes, size_t length);
/* The opcodes for numbers and for strings. */
sk_status sk_pm_push_numbers(pickle_machine *m, uint8_t op);
sk_status sk_pm_push_strings(pickle_machine *m, uint8_t op);

#endif
