/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/pickle_machine.h"

#include <stdlib.h>
#include <string.h>

/* --- input --- */

sk_status sk_pm_need(pickle_machine *m, size_t count, const uint8_t **out)
{
    if (count > m->length - m->at)
        return sk_fail(m->err, SK_ERR_FORMAT, "it ends in the middle: %zu bytes wanted, %zu left", count,
                       m->length - m->at);
    *out = m->bytes + m->at;
    m->at += count;
    return SK_OK;
}

sk_status sk_pm_number(pickle_machine *m, size_t count, uint64_t *out)
{
    const uint8_t *p = NULL;
    SK_TRY(sk_pm_need(m, count, &p));
    *out = 0;
    for (size_t i = 0; i < count; i++)
        *out |= (uint64_t)p[i] << (8 * i);
    return SK_OK;
}

/* A line without its newline. */
sk_status sk_pm_line(pickle_machine *m, const char **text, size_t *length)
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

sk_status sk_pm_push(pickle_machine *m, pickle_node *node)
{
    SK_TRY(sk_array_reserve((void **)&m->stack, &m->stack_capacity, m->depth + 1, sizeof *m->stack,
                            m->length + 1, m->err));
    m->stack[m->depth++] = node;
    return SK_OK;
}

size_t sk_pm_floor(const pickle_machine *m)
{
    return m->n_marks ? m->marks[m->n_marks - 1] : 0;
}

sk_status sk_pm_pop(pickle_machine *m, pickle_node **out)
{
    if (m->depth <= sk_pm_floor(m))
        return sk_fail(m->err, SK_ERR_FORMAT, "nothing is left on its stack");
    *out = m->stack[--m->depth];
    return SK_OK;
}

sk_status sk_pm_top(pickle_machine *m, pickle_node **out)
{
    SK_TRY(sk_pm_pop(m, out));
    m->depth++;
    return SK_OK;
}

sk_status sk_pm_push_mark(pickle_machine *m)
{
    SK_TRY(sk_array_reserve((void **)&m->marks, &m->marks_capacity, m->n_marks + 1, sizeof *m->marks,
                            m->length, m->err));
    m->marks[m->n_marks++] = m->depth;
    return SK_OK;
}

/* Everything above the last mark; stays valid until the next push. */
sk_status sk_pm_pop_mark(pickle_machine *m, pickle_node ***items, size_t *count)
{
    if (m->n_marks == 0)
        return sk_fail(m->err, SK_ERR_FORMAT, "a mark is missing on its stack");
    size_t from = m->marks[--m->n_marks];
    *items = m->stack + from;
    *count = m->depth - from;
    m->depth = from;
    return SK_OK;
}

static sk_status memo_put(pickle_machine *m, uint64_t index)
{
    pickle_node *node;
    SK_TRY(sk_pm_top(m, &node));
    /* Writers number their memo from 0 upward, a few bytes each: an index beyond the length is a bomb. */
    if (index >= m->length)
        return sk_fail(m->err, SK_ERR_LIMIT, "memo index %llu in a pickle of %zu bytes; refused",
                       (unsigned long long)index, m->length);
    size_t before = m->memo_capacity;
    SK_TRY(sk_array_reserve((void **)&m->memo, &m->memo_capacity, (size_t)index + 1, sizeof *m->memo,
                            m->length, m->err));
    if (m->memo_capacity > before)
        memset(m->memo + before, 0, (m->memo_capacity - before) * sizeof *m->memo);
    m->memo[index] = node;
    if (index >= m->memo_count)
        m->memo_count = (size_t)index + 1;
    return SK_OK;
}

static sk_status memo_get(pickle_machine *m, uint64_t index)
{
    if (index >= m->memo_count || !m->memo[index])
        return sk_fail(m->err, SK_ERR_FORMAT, "memo entry %llu is used before it is made",
                       (unsigned long long)index);
    return sk_pm_push(m, m->memo[index]);
}

sk_status sk_pm_memo(pickle_machine *m, uint8_t op)
{
    uint64_t index = m->memo_count;
    if (op == 'g' || op == 'p') { /* GET, PUT: as text */
        const char *text = NULL;
        size_t length = 0;
        char copy[24], *end;
        SK_TRY(sk_pm_line(m, &text, &length));
        if (length == 0 || length >= sizeof copy)
            return sk_fail(m->err, SK_ERR_FORMAT, "a memo index of %zu digits", length);
        memcpy(copy, text, length);
        copy[length] = '\0';
        index = strtoull(copy, &end, 10);
        if (*end)
            return sk_fail(m->err, SK_ERR_FORMAT, "'%s' is no memo index", copy);
    } else if (op != 0x94) {
        SK_TRY(sk_pm_number(m, op == 'q' || op == 'h' ? 1 : 4, &index));
    }
    return op == 'g' || op == 'h' || op == 'j' ? memo_get(m, index) : memo_put(m, index);
}
