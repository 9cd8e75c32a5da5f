/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_folder_internal.h"
#include "app/run_identity.h"
#include "app/source_identity.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- holding it --- */

sk_status sk_run_folder_hold(const char *path, sk_lock **out, sk_lock_holder *holder, sk_error *err)
{
    SK_TRY(sk_folder_make(path, err));
    char *file = sk_path_join(path, ".skitter.lock");
    if (!file)
        return sk_fail_memory(err, strlen(path));
    sk_status status = sk_lock_open(file, 0, out, holder, err);
    sk_free(file);
    return status;
}

/* Bytes of the path up to the first folder that is not there yet; 0: all are. */
static size_t not_there(const char *path)
{
    char *copy = sk_strdup(path);
    size_t missing = 0;
    for (size_t i = 1, length = copy ? strlen(copy) : 0; i <= length && !missing; i++) {
        const char here = copy[i];
        if (here != '/' && here != '\0')
            continue;
        copy[i] = '\0';
        missing = sk_file_exists(copy) ? 0 : i;
        copy[i] = here;
    }
    sk_free(copy);
    return missing;
}

/* Nothing but the lock: another run may have made the folder just before this one, and left results there. */
static bool holds_nothing(const char *path)
{
    DIR *directory = opendir(path);
    int others = directory ? 0 : 1;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        others += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                  strcmp(entry->d_name, ".skitter.lock") != 0;
    if (directory)
        closedir(directory);
    return others == 0;
}

static sk_status hold(sk_run_folder *folder, sk_error *err)
{
    sk_lock_holder holder = {0};
    const size_t missing = not_there(folder->path);
    sk_status status = sk_run_folder_hold(folder->path, &folder->lock, &holder, err);
    if (status == SK_OK && missing && holds_nothing(folder->path))
        folder->made = missing;
    if (status != SK_ERR_BUSY)
        return status;
    return sk_fail(
        err, SK_ERR_BUSY,
        "%s: another run is writing here: process %lld, '%s'. Wait for it, stop it (kill %lld) or choose "
        "another --out",
        folder->path, (long long)holder.pid, holder.command, (long long)holder.pid);
}

sk_status sk_run_folder_open(const char *path, sk_run_folder **out, sk_error *err)
{
    *out = NULL;
    sk_run_folder *folder = sk_calloc(1, sizeof *folder);
    if (!folder)
        return sk_fail_memory(err, sizeof *folder);
    sk_status status = SK_OK;
    if (path) {
        sk_clock_text(sk_clock_wall_ms(), folder->started, sizeof folder->started);
        folder->path = sk_strdup(path);
        status = folder->path ? hold(folder, err) : sk_fail_memory(err, strlen(path));
    }
    return SK_HAND_OVER(status, folder, out, sk_run_folder_close);
}

void sk_run_folder_close(sk_run_folder **pointer)
{
    SK_TAKE_OR_RETURN(folder, pointer);
    sk_journal_close(&folder->journal);
    sk_lock_close(&folder->lock);
    sk_text_free(&folder->left_out);
    sk_free_all(folder->path, folder);
}

void sk_run_folder_abandon(sk_run_folder **pointer)
{
    sk_run_folder *folder = *pointer;
    if (folder && folder->made && sk_run_folder_known(folder) == 0) {
        char *journal = sk_path_join(folder->path, "journal.skj");
        sk_journal_close(&folder->journal);
        run_remove_results(folder->path);
        if (journal)
            unlink(journal);
        sk_free(journal);
        sk_lock_remove(&folder->lock);
        run_remove_made(folder->path, folder->made);
    }
    sk_run_folder_close(pointer);
}

bool sk_run_folder_is_used(const char *path)
{
    static const char *const signs[] = {"run.json", "journal.skj"};
    bool used = false;
    for (int i = 0; i < 2 && !used; i++) {
        struct stat info;
        char *file = sk_path_join(path, signs[i]);
        used = file && lstat(file, &info) == 0;
        sk_free(file);
    }
    return used;
}

/* --- beginning, or going on --- */

typedef struct picture_check {
    const sk_run_begin *how;
    int64_t entry;
    int64_t mended; /* first entry of a picture that could not be read and may be readable now; -1: none */
} picture_check;

static sk_status check_picture(void *context, const sk_result_frame *frame, sk_error *err)
{
    picture_check *check = context;
    const bool same = !frame->picture || frame->picture == sk_picture_stamp(frame->source);
    const int64_t entry = check->entry++;
    if (frame->problem && (!same || check->how->strict) && check->mended < 0)
        check->mended = entry;
    if (frame->problem || same || check->mended >= 0)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_MISMATCH,
        "%s: was changed after this run had looked at it (frame %lld). Begin anew with --restart, or choose "
        "another --out",
        frame->source, (long long)frame->index);
}

static sk_status check_pictures(sk_run_folder *folder, const sk_run_begin *how, sk_error *err)
{
    picture_check check = {.how = how, .mended = -1};
    SK_TRY(sk_journal_replay(folder->journal, check_picture, &check, err));
    if (check.mended < 0)
        return SK_OK;
    sk_log(SK_LOG_INFO, "%s: a picture that could not be read was changed; the run goes on from there",
           how->source);
    return sk_journal_truncate(folder->journal, check.mended, err);
}

static sk_status refuse_other(const sk_run_folder *folder, const char *other, const char *identity,
                              sk_error *err)
{
    sk_text what = {0};
    sk_run_identity_difference(other, identity, &what);
    sk_status status =
        sk_fail(err, SK_ERR_MISMATCH,
                "%s holds another run, and results would be mixed. Different here: %.600s. Run it with "
                "what it began with to continue, choose another --out, or begin anew here with "
                "--restart",
                folder->path, sk_text_get(&what));
    sk_text_free(&what);
    return status;
}

static sk_status open_journal(sk_run_folder *folder, const sk_run_begin *how, sk_error *err)
{
    char *path = sk_path_join(folder->path, "journal.skj"), *other = NULL;
    if (!path)
        return sk_fail_memory(err, strlen(folder->path));
    sk_status status = SK_OK;
    run_remove_halves(folder->path);
    if (!sk_journal_is_one(path))
        SK_TRY_GOTO(run_check_foreign(folder->path, how, err));
    else if (how->restart)
        run_remove_results(folder->path); /* before the journal goes: until then it can make them again */
    status =
        sk_journal_open(path, how->identity, folder->started, how->restart, &folder->journal, &other, err);
    if (other)
        status = refuse_other(folder, other, how->identity, err);
    if (status == SK_OK) /* a continued run began when its first part did */
        snprintf(folder->started, sizeof folder->started, "%s", sk_journal_stamp(folder->journal));
done:
    sk_free(other);
    sk_free(path);
    return status;
}

/* Can the run that the journal records go on? */
static sk_status check_known(sk_run_folder *folder, const sk_run_begin *how, sk_error *err)
{
    if (how->pictures)
        SK_TRY(check_pictures(folder, how, err));
    if (how->once && sk_journal_count(folder->journal) > 0)
        return sk_fail(
            err, SK_ERR_MISMATCH,
            "%s: holds frames of an earlier run, and a camera, stream or pipe cannot be continued. "
            "Use --restart to "
            "replace them, or choose another --out",
            folder->path);
    return SK_OK;
}

sk_status sk_run_folder_begin(sk_run_folder *folder, const sk_run_begin *how, sk_error *err)
{
    SK_CHECK_ARG(folder->stage == SK_RUN_HELD, err);
    folder->identity = how->identity;
    if (folder->path) {
        SK_TRY(open_journal(folder, how, err));
        sk_status status = check_known(folder, how, err);
        if (status != SK_OK) {
            sk_journal_close(&folder->journal); /* refused: nothing in the folder is touched */
            return status;
        }
        if (sk_journal_count(folder->journal) > 0)
            sk_run_files_read(folder->path, &folder->files);
    }
    folder->stage = sk_journal_finished(folder->journal) ? SK_RUN_COMPLETE : SK_RUN_BEGUN;
    return SK_OK;
}

/* --- what it knows --- */

const char *sk_run_folder_path(const sk_run_folder *folder)
{
    return folder->path;
}

sk_run_stage sk_run_folder_stage(const sk_run_folder *folder)
{
    return folder->stage;
}

const char *sk_run_folder_started(const sk_run_folder *folder)
{
    return folder->started;
}

uint64_t sk_run_folder_id(const sk_run_folder *folder)
{
    return sk_journal_id(folder->journal);
}

int64_t sk_run_folder_known(const sk_run_folder *folder)
{
    return sk_journal_count(folder->journal);
}

int64_t sk_run_folder_last_index(const sk_run_folder *folder)
{
    return sk_journal_last_index(folder->journal);
}

void sk_run_folder_computed_by(sk_run_folder *folder, sk_pipeline *pipeline, sk_run_header *header)
{
    sk_run_files_note(&folder->files, pipeline, header);
}

/* --- frames --- */

sk_status sk_run_folder_append(sk_run_folder *folder, const sk_result_frame *frame, sk_error *err)
{
    return sk_journal_append(folder->journal, frame, err);
}

sk_status sk_run_folder_flush(sk_run_folder *folder, bool durable, sk_error *err)
{
    return sk_journal_flush(folder->journal, durable, err);
}

typedef struct playing {
    const sk_run_folder *folder;
    const sk_run_header *header;
    sk_run_visit visit;
    void *context;
} playing;

static sk_status play(void *context, const sk_result_frame *known, sk_error *err)
{
    const playing *p = context;
    if (!known->problem && !sk_run_header_fits(p->header, known))
        return sk_fail(err, SK_ERR_FORMAT, "%s: its journal does not fit its run; run again with --restart",
                       p->folder->path);
    return p->visit(p->context, known, err);
}

sk_status sk_run_folder_retell(sk_run_folder *folder, const sk_run_header *header, sk_run_visit visit,
                               void *context, sk_error *err)
{
    playing p = {folder, header, visit, context};
    return sk_journal_replay(folder->journal, play, &p, err);
}

sk_status sk_run_folder_finish(sk_run_folder *folder, sk_error *err)
{
    SK_CHECK_ARG(folder->stage != SK_RUN_HELD, err);
    if (folder->journal && folder->stage != SK_RUN_COMPLETE)
        SK_TRY(sk_journal_finish(folder->journal, err));
    folder->stage = SK_RUN_COMPLETE;
    return SK_OK;
}

/* --- pictures that were left out --- */

sk_status sk_run_folder_leave_out(sk_run_folder *folder, const sk_result_frame *picture, sk_error *err)
{
    folder->n_left_out++;
    sk_text_appendf(&folder->left_out, "%lld", (long long)picture->index);
    sk_text_append_bytes(&folder->left_out, "", 1);
    sk_text_append_bytes(&folder->left_out, picture->source, strlen(picture->source) + 1);
    sk_text_append_bytes(&folder->left_out, picture->problem, strlen(picture->problem) + 1);
    return sk_text_status(&folder->left_out, err);
}

int64_t sk_run_folder_left_out(const sk_run_folder *folder)
{
    return folder->n_left_out;
}

const char *sk_run_folder_first_problem(const sk_run_folder *folder)
{
    const char *at = sk_text_get(&folder->left_out);
    for (int field = 0; field < 2 && folder->n_left_out; field++)
        at += strlen(at) + 1;
    return at;
}
