/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/batch_table.h"

#include "base/clock.h"
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

static void print_counts(FILE *to, const sk_batch_status *s)
{
    sk_cli_print_to(to, "%lld of %lld videos done", (long long)s->videos_done, (long long)s->videos);
    if (s->pieces != s->videos)
        sk_cli_print_to(to, " (%lld of %lld pieces)", (long long)s->done, (long long)s->pieces);
    sk_cli_print_to(to, ", %lld running, %lld waiting", (long long)s->running,
                    (long long)(s->waiting + s->lost));
    if (s->failed)
        sk_cli_print_to(to, ", %s%lld failed%s", sk_cli_style(to, SK_STYLE_RED), (long long)s->failed,
                        sk_cli_style(to, SK_STYLE_END));
    if (s->videos_incomplete)
        sk_cli_print_to(to, ", %lld cut off", (long long)s->videos_incomplete);
    sk_cli_print_to(to, "\n");
}

static void print_more(FILE *to, sk_batch *b, const sk_batch_status *s)
{
    char left[SK_TEXT_UNIT];
    const double elapsed = s->first_ms ? 1e-3 * (double)(sk_clock_wall_ms() - s->first_ms) : 0;
    const int64_t seen = s->frames + s->frames_now;
    sk_cli_print_to(to, "%lld frames, %lld instances, %lld attempts", (long long)seen,
                    (long long)s->instances, (long long)s->attempts);
    if (s->attempts_failed || s->attempts_lost)
        sk_cli_print_to(to, " (%lld failed, %lld lost or stopped)", (long long)s->attempts_failed,
                        (long long)s->attempts_lost);
    if (s->running && s->frames_expected > 0 && seen > 0 && elapsed > 0)
        sk_cli_print_to(to, ", about %s left",
                        sk_text_time_left(elapsed * (double)(s->frames_expected - seen) / (double)seen, left,
                                          sizeof left));
    sk_cli_print_to(to, "%s\n", sk_batch_is_cancelled(b) ? "; cancelled" : "");
}

static void print_row(FILE *to, const sk_batch *b, const sk_batch_row *row)
{
    const sk_batch_piece *p = row->piece;
    const sk_batch_look *l = &row->look;
    sk_batch_done before;
    char name[640], what[640];
    snprintf(name, sizeof name, "%s%s%s", p->name, p->kind == SK_BATCH_VIDEO ? "" : " ",
             p->kind == SK_BATCH_PART    ? p->frames
             : p->kind == SK_BATCH_MERGE ? "merge"
                                         : "");
    if (l->state == SK_PIECE_RUNNING)
        snprintf(what, sizeof what, "%lld%s%.0lld frames on %s%s%s", (long long)l->holder.frames,
                 l->holder.total > 0 ? "/" : "", l->holder.total > 0 ? (long long)l->holder.total : 0,
                 l->holder.host, l->holder.slurm[0] ? ", SLURM " : "", l->holder.slurm);
    else if (l->state == SK_PIECE_DONE && sk_batch_end_read(b, p->number, l->attempts - 1, &before))
        snprintf(what, sizeof what, "before: %s", before.reason);
    else
        snprintf(what, sizeof what, "%s", l->state == SK_PIECE_GONE ? l->why_gone : l->last.reason);
    sk_cli_print_to(to, "  %-28.40s %-8s attempt %-3d %s\n", name, sk_batch_state_name(l->state), l->attempts,
                    what);
}

int sk_cli_batch_table(FILE *to, sk_batch *b, const sk_batch_status *s, size_t most)
{
    int lines = 2;
    print_counts(to, s);
    print_more(to, b, s);
    for (size_t i = 0; i < s->n_rows && i < most; i++, lines++)
        print_row(to, b, &s->rows[i]);
    if (s->n_rows > most) {
        sk_cli_print_to(to, "  … and %zu more: skitter batch status --json\n", s->n_rows - most);
        lines++;
    }
    return lines;
}

void sk_cli_batch_wipe(sk_cli_batch_screen *c)
{
    if (c->lines > 0)
        fprintf(c->to, "\033[%dA\033[J", c->lines);
    c->lines = 0;
}

void sk_cli_batch_draw(sk_cli_batch_screen *c, sk_batch *b, const sk_batch_status *s)
{
    if (sk_cli_verbosity() == 0)
        return;
    if (isatty(fileno(c->to))) {
        sk_cli_batch_wipe(c);
        c->lines = sk_cli_batch_table(c->to, b, s, 16);
        fflush(c->to);
        return;
    }
    if (c->done == s->done && c->failed == s->failed && c->lost == s->attempts_lost + s->attempts_failed &&
        c->running == s->running)
        return;
    c->done = s->done;
    c->failed = s->failed;
    c->lost = s->attempts_lost + s->attempts_failed;
    c->running = s->running;
    print_counts(c->to, s);
}
