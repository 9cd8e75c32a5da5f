/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_status.h"

#include "base/clock.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

/* A row a video, as a table for programs and a page for people. */

typedef struct row {
    const sk_batch_piece *piece;
    sk_batch_look look;
    double seconds; /* of its process, or of those of all its parts */
    int32_t attempts, ended_badly;
    char reason[512];
} row;

typedef struct totals {
    int64_t videos, done, incomplete, frames, instances, tracks;
    double seconds;
} totals;

static void add_attempts(const sk_batch *b, int64_t number, int32_t attempts, row *r)
{
    for (int32_t i = 1; i <= attempts; i++) {
        sk_batch_done end;
        if (sk_batch_end_read(b, number, i, &end)) {
            r->ended_badly++;
            snprintf(r->reason, sizeof r->reason, "%s", end.reason);
        }
    }
    r->attempts += attempts;
}

static sk_status fill_row(sk_batch *b, const sk_batch_piece *piece, row *r, sk_error *err)
{
    *r = (row){.piece = piece};
    for (int64_t i = piece->number - (piece->kind == SK_BATCH_MERGE ? piece->parts : 0); i <= piece->number;
         i++) {
        const sk_batch_piece *p = sk_batch_piece_of(b, i, err);
        if (!p)
            return sk_batch_piece_lacking(err);
        sk_batch_look_at(b, p, &r->look);
        r->seconds += r->look.state == SK_PIECE_DONE ? r->look.last.seconds : 0;
        add_attempts(b, i, r->look.attempts, r);
    }
    if (r->look.state == SK_PIECE_DONE && r->look.last.reason[0])
        snprintf(r->reason, sizeof r->reason, "%s", r->look.last.reason);
    return SK_OK;
}

static const char *state_of(const row *r)
{
    return r->look.state == SK_PIECE_DONE ? sk_batch_outcome_name(r->look.last.outcome)
                                          : sk_batch_state_name(r->look.state);
}

/* --- CSV --- */

static void put_field(FILE *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            fputc('"', to);
        fputc(*c, to);
    }
    fputc('"', to);
}

static void put_number(FILE *to, bool known, double value, int digits)
{
    char number[SK_TEXT_NUMBER];
    fprintf(to, ",%s", known ? sk_text_number(value, digits, number, sizeof number) : "");
}

static void put_csv(FILE *to, const row *r)
{
    const bool done = r->look.state == SK_PIECE_DONE;
    const sk_batch_done *d = &r->look.last;
    put_field(to, r->piece->name);
    fputc(',', to);
    put_field(to, r->piece->source);
    fprintf(to, ",%s", state_of(r));
    put_number(to, done, (double)d->frames, 15);
    put_number(to, done, (double)d->instances, 15);
    put_number(to, done && d->tracks >= 0, (double)d->tracks, 15);
    put_number(to, done, r->seconds, 6);
    put_number(to, done && r->seconds > 0, (double)d->frames / (r->seconds > 0 ? r->seconds : 1), 6);
    fprintf(to, ",%lld,%d,%d,", (long long)(r->piece->kind == SK_BATCH_MERGE ? r->piece->parts : 1),
            r->attempts, r->ended_badly);
    put_field(to, done ? d->host : "");
    fputc(',', to);
    put_field(to, r->reason);
    fputc('\n', to);
}

/* --- HTML --- */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>skitter batch</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width\"><style>body{font:15px/1.5 "
    "system-ui,sans-serif;margin:2em auto;"
    "max-width:75em;padding:0 "
    "1em;color:#222;background:#fff}table{border-collapse:collapse;width:100%}td,th{text-align:"
    "left;padding:.25em .8em .25em 0;border-bottom:1px solid "
    "#ddd;vertical-align:top}.n{text-align:right}.bad{color:#a40000}"
    ".some{color:#7a5200}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-"
    "color:#333}a{color:"
    "#8bf}.bad{color:#f88}.some{color:#fc6}}</style></head><body>\n";

static void put_html(sk_text *page, const row *r)
{
    const bool done = r->look.state == SK_PIECE_DONE;
    const sk_batch_done *d = &r->look.last;
    const char *class = r->look.state == SK_PIECE_GIVEN_UP         ? " class=\"bad\""
                        : !done || d->outcome != SK_BATCH_FINISHED ? " class=\"some\""
                                                                   : "";
    sk_text_append(page, "<tr><td>");
    if (done) {
        sk_text_append(page, "<a href=\"");
        for (const char *c = r->piece->name; *c; c++) { /* a path in an address */
            if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                strchr("-_.", *c))
                sk_text_append_bytes(page, c, 1);
            else
                sk_text_appendf(page, "%%%02X", (unsigned char)*c);
        }
        sk_text_append(page, "/\">");
    }
    sk_text_append_markup(page, r->piece->name);
    sk_text_append(page, done ? "</a></td>" : "</td>");
    sk_text_appendf(page, "<td%s>%s</td>", class, state_of(r));
    if (done) {
        sk_text_appendf(page, "<td class=\"n\">%lld</td><td class=\"n\">%lld</td><td class=\"n\">",
                        (long long)d->frames, (long long)d->instances);
        if (d->tracks >= 0)
            sk_text_appendf(page, "%lld", (long long)d->tracks);
        sk_text_appendf(page, "</td><td class=\"n\">%.1f</td><td class=\"n\">%.1f</td>", r->seconds,
                        r->seconds > 0 ? (double)d->frames / r->seconds : 0);
    } else {
        sk_text_append(page, "<td></td><td></td><td></td><td></td><td></td>");
    }
    sk_text_appendf(page, "<td class=\"n\">%d</td><td>", r->attempts);
    sk_text_append_markup(page, r->reason);
    sk_text_append(page, "</td></tr>\n");
}

static void begin_html(const sk_batch *b, sk_text *page)
{
    sk_text_append(page, head);
    sk_text_append(page, "<h1>");
    sk_text_append_markup(page, sk_path_name(b->out));
    sk_text_append(page, "</h1>\n<p>skitter ");
    sk_text_append_markup(page, b->command);
    for (size_t i = 0; b->words[i]; i++) {
        sk_text_append(page, " ");
        sk_text_append_markup(page, b->words[i]);
    }
    sk_text_append(page, "</p>\n");
}

static void add_total(const row *r, totals *t)
{
    t->videos++;
    if (r->look.state != SK_PIECE_DONE)
        return;
    t->done++;
    t->incomplete += r->look.last.outcome == SK_BATCH_INCOMPLETE;
    t->frames += r->look.last.frames;
    t->instances += r->look.last.instances;
    t->tracks += r->look.last.tracks > 0 ? r->look.last.tracks : 0;
    t->seconds += r->seconds;
}

static void end_html(sk_text *page, const sk_text *rows, const totals *t)
{
    char stamp[SK_CLOCK_TEXT];
    sk_text_appendf(
        page,
        "<p><b>%lld of %lld videos done</b>%s: %lld frames, %lld instances, %lld tracks, %.1f s of "
        "computing, "
        "%.1f frames/s a worker. As of %s.</p>\n<table><tr><th>video</th><th>state</th><th class=\"n\">frames"
        "</th><th class=\"n\">instances</th><th class=\"n\">animals</th><th class=\"n\">seconds</th><th "
        "class=\"n\">frames/s</th><th class=\"n\">attempts</th><th>what went wrong</th></tr>\n",
        (long long)t->done, (long long)t->videos, t->incomplete ? ", some of them cut off" : "",
        (long long)t->frames, (long long)t->instances, (long long)t->tracks, t->seconds,
        t->seconds > 0 ? (double)t->frames / t->seconds : 0,
        sk_clock_text(sk_clock_wall_ms(), stamp, sizeof stamp));
    sk_text_append_bytes(page, sk_text_get(rows), rows->length);
    sk_text_append(page, "</table></body></html>\n");
}

static sk_status write_rows(sk_batch *b, FILE *csv, sk_text *rows, totals *t, sk_error *err)
{
    fputs("video,source,state,frames,instances,animals,seconds,frames_per_second,parts,attempts,failures,"
          "host,reason\n",
          csv);
    for (int64_t i = 0; i < b->pieces; i++) {
        const sk_batch_piece *piece = sk_batch_piece_of(b, i, err);
        row r;
        if (!piece)
            return sk_batch_piece_lacking(err);
        if (piece->kind == SK_BATCH_PART)
            continue;
        SK_TRY(fill_row(b, piece, &r, err));
        put_csv(csv, &r);
        put_html(rows, &r);
        add_total(&r, t);
    }
    return sk_text_status(rows, err);
}

sk_status sk_batch_summary(sk_batch *b, sk_error *err)
{
    char path[SK_BATCH_PATH];
    sk_file_writer *csv = NULL;
    sk_text rows = {0}, page = {0};
    totals t = {0};
    snprintf(path, sizeof path, "%.4000s/summary.csv", b->out);
    sk_status status = sk_file_writer_open(path, &csv, err);
    if (status == SK_OK)
        status = write_rows(b, sk_file_writer_stream(csv), &rows, &t, err);
    if (status == SK_OK)
        status = sk_file_writer_commit(&csv, err);
    sk_file_writer_close(&csv);
    if (status == SK_OK) {
        begin_html(b, &page);
        end_html(&page, &rows, &t);
        status = sk_text_status(&page, err);
    }
    snprintf(path, sizeof path, "%.4000s/summary.html", b->out);
    if (status == SK_OK)
        status = sk_file_replace(path, page.data, page.length, err);
    sk_text_free(&rows);
    sk_text_free(&page);
    return status;
}
