/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/whole_choice.h"

#include <math.h>

/* The whole matrix' best pairs against all ways to pair. */

enum { MOST = 6 };
#define BONUS 0.09

static uint64_t bits = 3;

static double unit(void)
{
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    return (double)(bits >> 11) / 9007199254740992.0;
}

typedef struct matrix {
    int32_t rows, columns;
    double bonus[MOST][MOST];
    sk_box row[MOST], column[MOST];
} matrix;

static double worth(const void *context, int32_t row, int32_t column, double overlap)
{
    const matrix *m = context;
    return overlap + m->bonus[row][column];
}

/* The most that rows from `row` on can be worth with the columns that are not taken, as many as can be being paired. */
static double best_of(const matrix *m, int32_t row, unsigned taken, int32_t paired)
{
    if (row == m->rows)
        return paired == (m->rows < m->columns ? m->rows : m->columns) ? 0 : -INFINITY;
    double best = best_of(m, row + 1, taken, paired);
    for (int32_t j = 0; j < m->columns; j++)
        if (!(taken >> j & 1))
            best = fmax(best, worth(m, row, j, sk_box_overlap(&m->row[row], &m->column[j])) +
                                  best_of(m, row + 1, taken | 1u << j, paired + 1));
    return best;
}

static void is_the_best_of_all(void **state)
{
    (void)state;
    sk_box_pairs pairs = {0};
    sk_whole_choice choice = {0};
    sk_error err = {0};
    int plain = 0;
    assert_ok(sk_box_pairs_open(&pairs, &err), &err);
    for (int k = 0; k < 3000; k++) {
        const double bonus = k % 3 ? BONUS : 0; /* without one, only overlaps choose */
        matrix m = {.rows = 1 + (int32_t)(unit() * MOST), .columns = 1 + (int32_t)(unit() * MOST)};
        const double wide = 20 + 200 * unit();
        for (int i = 0; i < MOST; i++) {
            m.row[i] = sk_box_make(wide * unit(), wide * unit(), 30, 20, 0, false);
            m.column[i] =
                unit() < 0.6 ? sk_box_make(m.row[i].x + 6 * unit(), m.row[i].y + 6 * unit(), 30, 20, 0, false)
                             : sk_box_make(wide * unit(), wide * unit(), 30, 20, 0, false);
            for (int j = 0; j < MOST; j++)
                m.bonus[i][j] = bonus * (2 * unit() - 1);
        }
        int partners[2][MOST] = {{0}}, most = 0;
        for (int32_t i = 0; i < m.rows; i++)
            for (int32_t j = 0; j < m.columns; j++)
                if (sk_box_overlap(&m.row[i], &m.column[j]) > 0.2) {
                    most = ++partners[0][i] > most ? partners[0][i] : most;
                    most = ++partners[1][j] > most ? partners[1][j] : most;
                }
        assert_ok(sk_box_pairs_find(&pairs, m.row, m.rows, m.column, m.columns, &err), &err);
        assert_ok(sk_whole_choice_make(&choice, &pairs, m.row, m.rows, m.column, m.columns, 0.2, bonus, worth,
                                       &m, &err),
                  &err);
        double sum = 0;
        for (int32_t i = 0; i < m.rows; i++) {
            const int32_t j = pairs.match[i];
            const double overlap = j < 0 ? 0 : sk_box_overlap(&m.row[i], &m.column[j]);
            sum += j < 0 ? 0 : worth(&m, i, j, overlap);
            if (most == 1) /* nothing to choose: exactly those that overlap enough */
                assert_true(j < 0 ? partners[0][i] == 0 : overlap > 0.2);
        }
        plain += most == 1;
        if (most != 1)
            assert_true(fabs(sum - best_of(&m, 0, 0, 0)) < 1e-9);
    }
    assert_true(plain > 300 && plain < 2700); /* both ways were tried */
    sk_whole_choice_free(&choice);
    sk_box_pairs_close(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_best_of_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
