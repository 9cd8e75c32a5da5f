/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_internal.h"
#include "app/run_folder_internal.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "media/frame_choice.h"

#include <stdlib.h>
#include <string.h>

/* A video's frames may be found in parts, by runs over ranges of them that keep a journal and nothing else; their entries, one
 * part after the other, are the journal of the run over all frames, which then has nothing left to compute. */

struct predict_part {
    const char *folder;
    char *identity; /* its journal's */
    sk_journal *journal;
    int64_t first, end; /* frames that it was to look at; end < 0: to the last */
};
typedef struct predict_part part;

typedef struct taking {
    predict_run *run;
    sk_frame_choice choice;
    int64_t covered; /* frames below are known, or not there */
} taking;

#define FRAMES_LINE "frames\t"

/* The line that says which frames were looked at; *length with its end. */
static const char *frames_line(const char *identity, size_t *length)
{
    const size_t name = strlen(FRAMES_LINE);
    for (const char *at = identity, *end; (end = strchr(at, '\n')); at = end + 1)
        if (strncmp(at, FRAMES_LINE, name) == 0) {
            *length = (size_t)(end + 1 - at);
            return at;
        }
    *length = 0;
    return identity;
}

static bool same_but_frames(const char *a, const char *b)
{
    size_t in_a, in_b;
    const char *at_a = frames_line(a, &in_a), *at_b = frames_line(b, &in_b);
    return at_a - a == at_b - b && memcmp(a, b, (size_t)(at_a - a)) == 0 &&
           strcmp(at_a + in_a, at_b + in_b) == 0;
}

static sk_status read_range(part *p, sk_error *err)
{
    char text[SK_FRAMES_TEXT] = "";
    size_t length;
    sk_source_settings media = {.size = sizeof media};
    sk_frame_range *ranges = NULL;
    const char *line = frames_line(p->identity, &length);
    const size_t name = strlen(FRAMES_LINE);
    sk_source_defaults(&media);
    if (length > name + 1 && length - name <= sizeof text)
        memcpy(text, line + name, length - name - 1);
    sk_status status =
        *text && strcmp(text, "all") != 0 ? sk_frames_parse(text, &media, &ranges, err) : SK_OK;
    if (status == SK_OK && ranges)
        status = sk_fail(err, SK_ERR_ARG, "%s: found frames %s; --found takes one range a folder", p->folder,
                         text);
    sk_free(ranges);
    p->first = media.first;
    p->end = media.last;
    return status;
}

static sk_status open_part(const predict_run *r, part *p, sk_error *err)
{
    sk_journal *none = NULL;
    char *path = sk_path_join(p->folder, "journal.skj"), *other = NULL;
    if (!path)
        return sk_fail_memory(err, strlen(p->folder));
    sk_status status = SK_OK;
    if (!sk_journal_is_one(path))
        status =
            sk_fail(err, SK_ERR_NOT_FOUND,
                    "%s: --found needs the folder of a run with --find-only, and no run was here", p->folder);
    if (status == SK_OK && sk_journal_open(path, "", "", false, &none, &p->identity, err) != SK_ERR_MISMATCH)
        status = sk_fail(err, SK_ERR_FORMAT, "%s: its journal cannot be read", p->folder);
    sk_journal_close(&none);
    if (status == SK_OK && !same_but_frames(p->identity, r->finding)) {
        sk_text what = {0};
        sk_run_identity_difference(p->identity, r->finding, &what);
        status = sk_fail(err, SK_ERR_MISMATCH,
                         "%s: was found with other settings than these: %.600s. Find it anew with --restart",
                         p->folder, sk_text_get(&what));
        sk_text_free(&what);
    }
    if (status == SK_OK)
        status = read_range(p, err);
    if (status == SK_OK)
        status = sk_journal_open(path, p->identity, "", false, &p->journal, &other, err);
    sk_free(other);
    sk_free(path);
    return status;
}

static sk_status take(void *context, const sk_result_frame *known, sk_error *err)
{
    taking *t = context;
    predict_run *r = t->run;
    if (known->index <= sk_run_folder_last_index(r->folder))
        return SK_OK;
    sk_frame_choice choice = sk_frame_choice_of(&r->settings->media);
    if (sk_frame_choice_next(&choice, known->index) != known->index)
        return SK_OK;
    if (!known->problem && !sk_run_header_fits(&r->header, known))
        return sk_fail(err, SK_ERR_FORMAT, "a frame of --found does not fit the model; find it anew");
    return sk_run_folder_append(r->folder, known, err);
}

/* A part that was not finished gives what it has, and ends the taking. */
static sk_status take_part(taking *t, const part *p, bool *whole, sk_error *err)
{
    const int64_t wanted = sk_frame_choice_next(&t->choice, t->covered);
    if (wanted >= 0 && p->first > wanted) {
        sk_log(SK_LOG_WARN,
               "%s: begins at frame %lld, and frame %lld is in no --found; it and what follows is "
               "computed here",
               p->folder, (long long)p->first, (long long)wanted);
        *whole = false;
        return SK_OK;
    }
    SK_TRY(sk_journal_replay(p->journal, take, t, err));
    *whole = sk_journal_finished(p->journal);
    if (!*whole)
        sk_log(SK_LOG_WARN, "%s: is not finished; what it lacks, and what follows, is computed here",
               p->folder);
    t->covered = p->end < 0 ? SK_FRAME_NUMBER_MOST : p->end > t->covered ? p->end : t->covered;
    return SK_OK;
}

static int by_first(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->end > y->end) - (x->end < y->end);
}

sk_status predict_open_found(predict_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    if (s->n_found == 0)
        return SK_OK;
    if (!s->out)
        return sk_fail(err, SK_ERR_ARG, "--found needs a folder: name one with --out");
    r->parts = sk_calloc((size_t)s->n_found, sizeof *r->parts);
    if (!r->parts)
        return sk_fail_memory(err, sizeof *r->parts);
    for (int32_t i = 0; i < s->n_found; i++) {
        r->parts[i].folder = s->found[i];
        SK_TRY(open_part(r, &r->parts[i], err));
    }
    qsort(r->parts, (size_t)s->n_found, sizeof *r->parts, by_first);
    return SK_OK;
}

sk_status predict_take_found(predict_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    taking t = {.run = r, .choice = sk_frame_choice_of(&s->media)};
    bool whole = sk_run_folder_stage(r->folder) != SK_RUN_COMPLETE;
    for (int32_t i = 0; i < s->n_found && whole; i++) {
        SK_TRY(take_part(&t, &r->parts[i], &whole, err));
        sk_run_files_read(r->parts[i].folder, &r->folder->files);
    }
    return s->n_found ? sk_run_folder_flush(r->folder, true, err) : SK_OK;
}

void predict_close_found(predict_run *r)
{
    for (int32_t i = 0; i < r->settings->n_found && r->parts; i++) {
        sk_journal_close(&r->parts[i].journal);
        sk_free(r->parts[i].identity);
    }
    sk_free(r->parts);
    r->parts = NULL;
}
