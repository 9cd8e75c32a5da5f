/* SPDX-License-Identifier: Apache-2.0 */
#include "results/hydra_csv.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/number_text.h"
#include "results/text_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows that wait for their table: where the next ones of their track lie, then their text. */
typedef struct waiting {
    int64_t next;
    int64_t bytes;
} waiting;

typedef struct chain {
    int64_t first, last; /* places of blocks in the file; -1: none */
    sk_text rows;        /* the newest, not yet there */
} chain;

#define BLOCK_BYTES 4096              /* of a track's rows go to the file at once … */
#define MOST_BYTES  ((size_t)8 << 20) /* … and all tracks' when so much waits */

struct sk_hydra_csv {
    sk_hydra_table table;
    sk_hydra_csv_header header;
    sk_file_writer *writer;
    char *path;
    sk_text line;
    int64_t *rows_of_place; /* raw: Index */
    size_t places;
    int file; /* of waiting rows; -1: none */
    int64_t end;
    chain *chains;
    size_t n_chains;
    size_t in_memory; /* bytes of all chains' rows */
};

int64_t sk_hydra_detection_id(int64_t frame, int32_t index)
{
    if (index < 10000)
        return frame * 10000 + index;
    return ((int64_t)1 << 52) + frame * 65536 + index;
}

/* --- cells --- */

/* As Python's repr: the fewest digits that are read back as the same number, and a point in any case. */
static void number(sk_text *line, double value, const char *none)
{
    if (!isfinite(value)) {
        sk_text_append(line, isnan(value) ? none : value > 0 ? "inf" : "-inf");
        return;
    }
    char text[SK_NUMBER_ROOM + 1];
    for (int digits = 15; digits <= 17; digits++) {
        *sk_number_g(text, value, digits) = 0;
        if (digits == 17 || strtod(text, NULL) == value)
            break;
    }
    sk_text_append(line, text);
    if (!strpbrk(text, ".en"))
        sk_text_append(line, ".0");
}

static void comma_number(sk_text *line, double value, const char *none)
{
    sk_text_append(line, ",");
    number(line, value, none);
}

static void whole(sk_text *line, double value)
{
    if (!isnan(value)) /* by the even one of two, as upstream; of any size */
        sk_text_appendf(line, "%.0f", nearbyint(value) + 0.0);
}

static const char *state_name(sk_track_state state)
{
    return state == SK_TRACK_ACTIVE ? "active" : state == SK_TRACK_COVERED ? "occluded" : "lost";
}

static void name_cell(sk_text *line, const char *before, const char *name, const char *after)
{
    sk_text whole_name = {0};
    sk_text_append(&whole_name, before);
    sk_text_append(&whole_name, name);
    sk_text_append(&whole_name, after);
    char *escaped = sk_escape_csv(sk_text_get(&whole_name));
    sk_text_append(line, ",");
    if (escaped)
        sk_text_append(line, escaped);
    else
        line->failed = SK_ERR_MEMORY;
    sk_free(escaped);
    sk_text_free(&whole_name);
}

static void heading_line(sk_hydra_csv *c)
{
    static const char *const starts[] = {
        [SK_HYDRA_RAW] = "TrackID,TrajectoryID,Index,X,Y,Theta,FrameID,State,DetectionConfidence,"
                         "AssignmentConfidence,PositionUncertainty,DetectionID",
        [SK_HYDRA_FINAL] = "TrajectoryID,X,Y,Theta,FrameID,State,DetectionConfidence,AssignmentConfidence,"
                           "PositionUncertainty,DetectionID",
        [SK_HYDRA_USER] = "id,frame,time_s,x,y,heading_deg,state,detection_confidence"};
    sk_text *line = &c->line;
    sk_text_append(line, starts[c->table]);
    if (c->table != SK_HYDRA_USER)
        sk_text_append(line, ",IdentityRealtimeID,IdentityRealtimeLabel,IdentityRealtimeConfidence,"
                             "IdentityRealtimeMargin,IdentityRealtimeEntropy,IdentityRealtimeCommitted,"
                             "IdentityEvidenceSources,IdentityEvidenceConflictFlag,IdentityRealtimeSlotLock");
    else if (c->header.identities)
        sk_text_append(line, ",identity,identity_id,identity_confidence,identity_source");
    for (int32_t i = 0; c->table != SK_HYDRA_RAW && i < c->header.n_keypoints; i++) {
        const bool user = c->table == SK_HYDRA_USER;
        const char *name = c->header.keypoint_names[i];
        name_cell(line, user ? "" : "PoseKpt_", name, user ? "_x" : "_X");
        name_cell(line, user ? "" : "PoseKpt_", name, user ? "_y" : "_Y");
        name_cell(line, user ? "" : "PoseKpt_", name, user ? "_conf" : "_Conf");
    }
    sk_text_append(line, "\n");
}

/* Nine columns; a model that tells individuals apart speaks for itself, in every frame. */
static void identity_cells(sk_hydra_csv *c, const sk_hydra_more *more, const char *none)
{
    sk_text *line = &c->line;
    const bool known = more && more->identity >= 0;
    sk_text_append(line, ",");
    number(line, known ? more->identity + 1 : NAN, none); /* 0 is upstream's "unknown" */
    name_cell(line, "", known && more->label ? more->label : "", "");
    comma_number(line, known ? more->identity_score : NAN, none);
    comma_number(line, NAN, none);
    comma_number(line, NAN, none);
    sk_text_append(line, known ? ",1,model,0," : ",0,,0,");
}

static void point_cells(sk_hydra_csv *c, const sk_hydra_more *more)
{
    for (int32_t i = 0; i < c->header.n_keypoints; i++) {
        const sk_keypoint *p = more && more->points ? &more->points[i] : NULL;
        const bool found = p && !isnan(p->x) && !isnan(p->y);
        comma_number(&c->line, found ? (double)p->x : NAN, "");
        comma_number(&c->line, found ? (double)p->y : NAN, "");
        comma_number(&c->line, p ? (double)p->score : NAN, "");
    }
}

static void raw_row(sk_hydra_csv *c, const sk_sighting *s, const sk_hydra_more *more)
{
    sk_text *line = &c->line;
    const bool seen = s->detection >= 0;
    sk_text_appendf(line, "%d,%d,%lld", s->place, s->track, (long long)c->rows_of_place[s->place]++);
    comma_number(line, seen ? s->x : NAN, "nan");
    comma_number(line, seen ? s->y : NAN, "nan");
    comma_number(line, seen ? s->heading : NAN, "nan");
    sk_text_appendf(line, ",%lld,%s", (long long)s->frame, state_name(s->state));
    comma_number(line, seen ? s->score : 0, "nan");
    comma_number(line, seen ? s->certainty : 0, "nan");
    comma_number(line, s->uncertainty, "nan");
    if (seen)
        sk_text_appendf(line, ",%lld", (long long)sk_hydra_detection_id(s->frame, s->detection));
    else
        sk_text_append(line, ",nan");
    identity_cells(c, more, "nan");
    sk_text_append(line, "\n");
}

static void final_row(sk_hydra_csv *c, const sk_sighting *s, const sk_hydra_more *more)
{
    sk_text *line = &c->line;
    const bool seen = s->detection >= 0;
    sk_text_appendf(line, "%d,", s->track);
    whole(line, s->x);
    sk_text_append(line, ",");
    whole(line, s->y);
    comma_number(line, s->heading, "");
    sk_text_appendf(line, ",%lld,%s", (long long)s->frame, state_name(s->state));
    comma_number(line, seen ? s->score : NAN, "");
    comma_number(line, seen ? s->certainty : NAN, "");
    comma_number(line, seen ? s->uncertainty : NAN, "");
    if (seen)
        sk_text_appendf(line, ",%lld", (long long)sk_hydra_detection_id(s->frame, s->detection));
    else
        sk_text_append(line, ",");
    identity_cells(c, more, "");
    point_cells(c, more);
    sk_text_append(line, "\n");
}

static void user_row(sk_hydra_csv *c, const sk_sighting *s, const sk_hydra_more *more)
{
    sk_text *line = &c->line;
    sk_text_appendf(line, "%d,%lld", s->track, (long long)s->frame);
    comma_number(line, c->header.fps > 0 ? (double)s->frame / c->header.fps : NAN, "");
    sk_text_append(line, ",");
    whole(line, s->x);
    sk_text_append(line, ",");
    whole(line, s->y);
    double degrees = fmod(s->heading * (180 / M_PI), 360);
    degrees += degrees < 0 ? 360 : 0;
    comma_number(line, degrees, "");
    sk_text_appendf(line, ",%s", state_name(s->state));
    comma_number(line, s->detection >= 0 ? s->score : NAN, "");
    if (c->header.identities) {
        const bool known = more && more->identity >= 0;
        name_cell(line, "", known && more->label ? more->label : "unknown", "");
        sk_text_appendf(line, ",%d", known ? more->identity + 1 : 0);
        comma_number(line, known ? more->identity_score : NAN, "");
        sk_text_append(line, known ? ",realtime" : ",");
    }
    point_cells(c, more);
    sk_text_append(line, "\n");
}

/* --- rows on their way --- */

static sk_status transfer(const sk_hydra_csv *c, bool out, int64_t at, void *data, size_t bytes,
                          sk_error *err)
{
    for (size_t done = 0; done < bytes;) {
        char *from = (char *)data + done;
        const off_t place = (off_t)at + (off_t)done;
        const ssize_t n =
            out ? pwrite(c->file, from, bytes - done, place) : pread(c->file, from, bytes - done, place);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return sk_fail(err, SK_ERR_IO, "%s: rows that wait for it could not be %s: %s%s", c->path,
                           out ? "written" : "read again", n ? strerror(errno) : "the file is cut off",
                           sk_file_remedy(errno));
        done += (size_t)n;
    }
    return SK_OK;
}

/* Hangs a track's newest rows onto its others in the file. */
static sk_status hang(sk_hydra_csv *c, chain *of, sk_error *err)
{
    waiting head = {-1, (int64_t)of->rows.length};
    if (!of->rows.length)
        return SK_OK;
    SK_TRY(transfer(c, true, c->end, &head, sizeof head, err));
    SK_TRY(transfer(c, true, c->end + (int64_t)sizeof head, of->rows.data, of->rows.length, err));
    if (of->last >= 0)
        SK_TRY(transfer(c, true, of->last, &c->end, sizeof c->end, err));
    else
        of->first = c->end;
    of->last = c->end;
    c->end += (int64_t)(sizeof head + of->rows.length);
    c->in_memory -= of->rows.length;
    sk_text_clear(&of->rows);
    return SK_OK;
}

static sk_status hang_all(sk_hydra_csv *c, sk_error *err)
{
    for (size_t i = 0; i < c->n_chains; i++) {
        SK_TRY(hang(c, &c->chains[i], err));
        sk_text_free(&c->chains[i].rows);
    }
    return SK_OK;
}

static sk_status keep(sk_hydra_csv *c, int32_t track, sk_error *err)
{
    const size_t before = c->n_chains;
    SK_TRY(sk_array_reserve((void **)&c->chains, &c->n_chains, (size_t)track + 1, sizeof *c->chains,
                            (size_t)1 << 31, err));
    for (size_t i = before; i < c->n_chains; i++)
        c->chains[i] = (chain){-1, -1, {0}};
    chain *of = &c->chains[track];
    sk_text_append_bytes(&of->rows, c->line.data, c->line.length);
    SK_TRY(sk_text_status(&of->rows, err));
    c->in_memory += c->line.length;
    if (of->rows.length >= BLOCK_BYTES)
        SK_TRY(hang(c, of, err));
    return c->in_memory >= MOST_BYTES ? hang_all(c, err) : SK_OK;
}

static sk_status push(sk_hydra_csv *c, const sk_text *rows, sk_error *err)
{
    FILE *stream = sk_file_writer_stream(c->writer);
    if (rows->length && fwrite(rows->data, 1, rows->length, stream) != rows->length)
        return sk_fail(err, SK_ERR_IO, "%s: %s%s", c->path, strerror(errno), sk_file_remedy(errno));
    return SK_OK;
}

sk_status sk_hydra_csv_add(sk_hydra_csv *c, const sk_sighting *sightings, const sk_hydra_more *more,
                           int32_t n, sk_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        const sk_sighting *s = &sightings[i];
        SK_CHECK_ARG(s->track >= 0 && s->place >= 0, err);
        sk_text_clear(&c->line);
        if (c->table == SK_HYDRA_RAW) {
            const size_t before = c->places;
            SK_TRY(sk_array_reserve((void **)&c->rows_of_place, &c->places, (size_t)s->place + 1,
                                    sizeof *c->rows_of_place, (size_t)1 << 31, err));
            for (size_t k = before; k < c->places; k++)
                c->rows_of_place[k] = 0;
            raw_row(c, s, more ? &more[i] : NULL);
        } else if (c->table == SK_HYDRA_FINAL) {
            final_row(c, s, more ? &more[i] : NULL);
        } else {
            user_row(c, s, more ? &more[i] : NULL);
        }
        SK_TRY(sk_text_status(&c->line, err));
        SK_TRY(c->table == SK_HYDRA_RAW ? push(c, &c->line, err) : keep(c, s->track, err));
    }
    return SK_OK;
}

static sk_status open_waiting(sk_hydra_csv *c, sk_error *err)
{
    char *path = sk_path_with_extension(c->path, ".rows");
    if (!path)
        return sk_fail_memory(err, strlen(c->path));
    unlink(path); /* what a killed process left */
    sk_status status = sk_file_open_own(path, O_RDWR | O_CREAT | O_EXCL, &c->file, err);
    if (status == SK_OK)
        unlink(path);
    sk_free(path);
    return status;
}

static sk_status prepare(sk_hydra_csv *c, const char *path, sk_error *err)
{
    c->path = sk_strdup(path);
    if (!c->path)
        return sk_fail_memory(err, strlen(path));
    SK_TRY(sk_file_writer_open(path, &c->writer, err));
    heading_line(c);
    SK_TRY(sk_text_status(&c->line, err));
    SK_TRY(push(c, &c->line, err));
    return c->table == SK_HYDRA_RAW ? SK_OK : open_waiting(c, err);
}

sk_status sk_hydra_csv_open(const char *path, sk_hydra_table table, const sk_hydra_csv_header *header,
                            sk_hydra_csv **out, sk_error *err)
{
    *out = NULL;
    sk_hydra_csv *c = sk_calloc(1, sizeof *c);
    if (!c)
        return sk_fail_memory(err, sizeof *c);
    c->table = table;
    c->header = *header;
    c->file = -1;
    sk_status status = prepare(c, path, err);
    if (status != SK_OK)
        sk_hydra_csv_close(&c);
    *out = c;
    return status;
}

static sk_status write_chain(sk_hydra_csv *c, const chain *of, sk_error *err)
{
    for (int64_t at = of->first; at >= 0;) {
        waiting head;
        SK_TRY(transfer(c, false, at, &head, sizeof head, err));
        SK_TRY(sk_array_reserve((void **)&c->line.data, &c->line.capacity, (size_t)head.bytes, 1,
                                (size_t)1 << 31, err));
        SK_TRY(transfer(c, false, at + (int64_t)sizeof head, c->line.data, (size_t)head.bytes, err));
        c->line.length = (size_t)head.bytes;
        SK_TRY(push(c, &c->line, err));
        at = head.next;
    }
    return push(c, &of->rows, err);
}

static sk_status write_chains(sk_hydra_csv *c, sk_error *err)
{
    for (size_t i = 0; i < c->n_chains; i++)
        SK_TRY(write_chain(c, &c->chains[i], err));
    return SK_OK;
}

sk_status sk_hydra_csv_finish(sk_hydra_csv **csv, sk_error *err)
{
    sk_hydra_csv *c = *csv;
    sk_status status = write_chains(c, err);
    if (status == SK_OK)
        status = sk_file_writer_commit(&c->writer, err);
    sk_hydra_csv_close(csv);
    return status;
}

void sk_hydra_csv_close(sk_hydra_csv **csv)
{
    sk_hydra_csv *c = *csv;
    *csv = NULL;
    if (!c)
        return;
    sk_file_writer_close(&c->writer);
    if (c->file >= 0)
        close(c->file);
    for (size_t i = 0; i < c->n_chains; i++)
        sk_text_free(&c->chains[i].rows);
    sk_text_free(&c->line);
    sk_free(c->rows_of_place);
    sk_free(c->chains);
    sk_free(c->path);
    sk_free(c);
}
