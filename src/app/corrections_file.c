/* SPDX-License-Identifier: Apache-2.0 */
#include "app/correct.h"
#include "app/run_folder.h"
#include "app/run_view_internal.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/transfer.h"
#include "formats/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file: a line that says of which run it is, {"corrections":1,"run":"2026-…","frames":90000}, then one line a step. A last line
 * without its end was being written when somebody died: it was never promised, and the next writer cuts it off. */

#define FILE_MOST ((size_t)64 << 20)

static sk_status check_head(const sk_run_view *view, const char *line, size_t length, const char *path,
                            sk_error *err)
{
    sk_config *config = NULL;
    SK_TRY(sk_config_open_json(line, length, path, &config, err));
    const sk_config_value *root = sk_config_root(config);
    sk_status status = SK_OK;
    if (sk_config_int_or(root, "corrections", 0) != 1)
        status = sk_fail(err, SK_ERR_FORMAT, "%s: is not a file of skitter's corrections", path);
    else if (strcmp(sk_config_text_or(root, "run", ""), view->header.started) != 0 ||
             sk_config_int_or(root, "frames", -1) != sk_run_record_frames(view->record))
        status = sk_fail(err, SK_ERR_MISMATCH,
                         "%s: these corrections are of another state of this run: it was begun anew, or went "
                         "on since, and "
                         "its tracks were made anew. Remove the file, or move it away, to correct them",
                         path);
    sk_config_close(&config);
    return status;
}

/* Every whole line; *whole is how many bytes they are. */
static sk_status read_lines(const sk_run_view *view, const char *text, size_t length, const char *path,
                            sk_corrections *list, size_t *whole, sk_error *err)
{
    const char *at = text, *end = text + length, *stop;
    char what[512];
    for (int64_t line = 1; (stop = memchr(at, '\n', (size_t)(end - at))); line++) {
        snprintf(what, sizeof what, "%.450s: line %lld", path, (long long)line);
        SK_TRY(line == 1 ? check_head(view, at, (size_t)(stop - at), path, err)
                         : sk_corrections_read(list, at, (size_t)(stop - at), what, err));
        at = stop + 1;
    }
    *whole = (size_t)(at - text);
    return SK_OK;
}

static sk_status load(const sk_run_view *view, const char *path, sk_corrections *out, size_t *whole,
                      sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    *whole = 0;
    struct stat info;
    if (lstat(path, &info) != 0 && errno == ENOENT)
        return SK_OK;
    SK_TRY(sk_file_read_own(path, FILE_MOST, &text, &length, err));
    sk_corrections list = {0};
    sk_status status = read_lines(view, text, length, path, &list, whole, err);
    sk_free(text);
    if (status == SK_OK)
        *out = list;
    else
        sk_corrections_free(&list);
    return status;
}

sk_status sk_corrections_load(const sk_run_view *view, sk_corrections *out, sk_error *err)
{
    size_t whole;
    char *path = sk_path_join(view->folder, SK_CORRECTIONS_FILE);
    *out = (sk_corrections){0};
    if (!path)
        return sk_fail_memory(err, strlen(view->folder));
    sk_status status = load(view, path, out, &whole, err);
    sk_free(path);
    return status;
}

/* --- may it be? --- */

static sk_status no_track(sk_run_view *view, int32_t track, const sk_correction *c, sk_error *err)
{
    const sk_movement *movement;
    const sk_suspects *suspects;
    char list[160] = "", when[80] = "";
    SK_TRY(sk_run_view_movement(view, &movement, &suspects, err));
    for (size_t i = 0; i < movement->n_tracks && i < 13; i++) {
        const size_t used = strlen(list);
        if (i == 12)
            snprintf(list + used, sizeof list - used, " …");
        else
            snprintf(list + used, sizeof list - used, "%s%d", used ? ", " : "", movement->tracks[i].track);
    }
    if (c->to >= 0)
        snprintf(when, sizeof when, " in frames %lld to %lld", (long long)c->from, (long long)c->to);
    else if (c->from > 0)
        snprintf(when, sizeof when, " from frame %lld on", (long long)c->from);
    return sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no track %d%s; there are %s", view->folder, track,
                   when, list[0] ? list : "none");
}

static sk_status must_be(sk_run_view *view, int32_t track, const sk_correction *c, sk_error *err)
{
    bool there = false;
    SK_TRY(sk_run_view_has(view, track, c->from, c->to, &there, err));
    return there ? SK_OK : no_track(view, track, c, err);
}

static sk_status check_merge(sk_run_view *view, const sk_correction *c, sk_error *err)
{
    int64_t both = 0;
    char words[200];
    if (c->prefer >= 0)
        return SK_OK;
    SK_TRY(sk_run_view_both(view, c->a, c->b, &both, words, sizeof words, err));
    if (!both)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_MISMATCH,
        "%s: tracks %d and %d are both in %lld frame%s (%s), so they are two animals there. If one "
        "of them is wrong, say which one counts where both are: --prefer %d or --prefer %d",
        view->folder, c->a, c->b, (long long)both, both == 1 ? "" : "s", words, c->a, c->b);
}

static sk_status check_step(sk_run_view *view, const sk_correction *c, sk_error *err)
{
    sk_correction anywhere = *c;
    anywhere.from = 0;
    anywhere.to = -1;
    switch (c->kind) {
    case SK_CORRECTION_SWAP: {
        bool a = false, b = false;
        SK_TRY(must_be(view, c->a, &anywhere, err));
        SK_TRY(must_be(view, c->b, &anywhere, err));
        SK_TRY(sk_run_view_has(view, c->a, c->from, c->to, &a, err));
        SK_TRY(sk_run_view_has(view, c->b, c->from, c->to, &b, err));
        return a || b ? SK_OK : no_track(view, c->a, c, err);
    }
    case SK_CORRECTION_DELETE: return must_be(view, c->a, c, err);
    case SK_CORRECTION_RENAME: return must_be(view, c->a, &anywhere, err);
    case SK_CORRECTION_MERGE:
        if (c->a == c->b)
            return SK_OK; /* refused in better words by the list */
        SK_TRY(must_be(view, c->a, &anywhere, err));
        SK_TRY(must_be(view, c->b, &anywhere, err));
        return check_merge(view, c, err);
    }
    return SK_OK;
}

/* --- keeping it --- */

static sk_status write_step(const sk_run_view *view, sk_correction_step step, const sk_correction *c,
                            bool first, sk_text *out, sk_error *err)
{
    char now[SK_CLOCK_TEXT];
    sk_json json = sk_json_to_text(out, 0);
    if (first) {
        sk_json_object(&json);
        sk_json_key_int(&json, "corrections", 1);
        sk_json_key_string(&json, "run", view->header.started);
        sk_json_key_int(&json, "frames", sk_run_record_frames(view->record));
        sk_json_close(&json);
        SK_TRY(sk_json_end(&json, err));
    }
    sk_correction_write(step, c, sk_clock_text(sk_clock_wall_ms(), now, sizeof now), &json);
    SK_TRY(sk_json_end(&json, err));
    return sk_text_status(out, err);
}

static sk_status failed(const char *path, const char *what, sk_error *err)
{
    const int code = errno;
    return sk_fail(err, SK_ERR_IO, "%s: %s failed: %s%s", path, what, strerror(code), sk_file_remedy(code));
}

/* The file's name is on the disk, too. */
static void settle_folder(const char *folder)
{
    const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        (void)!fsync(directory);
        close(directory);
    }
}

/* Behind the whole lines. What could not be written whole is taken back. */
static sk_status append(const sk_run_view *view, const char *path, size_t whole, const sk_text *text,
                        sk_error *err)
{
    int file;
    SK_TRY(sk_file_open_own(path, O_RDWR | O_CREAT, &file, err));
    sk_status status = SK_OK;
    if (ftruncate(file, (off_t)whole) != 0)
        status = failed(path, "cutting off a line that was not finished", err);
    else if (sk_write_all_at(file, text->data, text->length, (int64_t)whole) != text->length)
        status = failed(path, "writing", err);
    else if (fsync(file) != 0 && errno != EINVAL)
        status = failed(path, "syncing", err);
    if (status != SK_OK)
        (void)!ftruncate(file, (off_t)whole);
    if (close(file) != 0 && status == SK_OK)
        status = failed(path, "closing", err);
    if (status == SK_OK && whole == 0)
        settle_folder(view->folder);
    return status;
}

static sk_status take_step(sk_run_view *view, const char *path, sk_correction_step step,
                           const sk_correction *c, sk_error *err)
{
    sk_corrections now = {0};
    sk_text text = {0};
    size_t whole = 0;
    sk_status status = load(view, path, &now, &whole, err); /* somebody else may have added to it */
    if (status != SK_OK)
        return status;
    sk_corrections_free(&view->corrections);
    view->corrections = now;
    view_forget_sums(view);
    if (step == SK_STEP_ADD)
        SK_TRY_GOTO(check_step(view, c, err));
    SK_TRY_GOTO(write_step(view, step, c, whole == 0, &text, err));
    /* Taken first: one that makes no sense is refused before it is written, and what was written can then not fail. */
    SK_TRY_GOTO(step == SK_STEP_ADD    ? sk_corrections_add(&view->corrections, c, err)
                : step == SK_STEP_UNDO ? sk_corrections_undo(&view->corrections, err)
                                       : sk_corrections_redo(&view->corrections, err));
    status = append(view, path, whole, &text, err);
    if (status != SK_OK && load(view, path, &now, &whole, NULL) == SK_OK) {
        sk_corrections_free(&view->corrections);
        view->corrections = now;
    }
    view_forget_sums(view);
done:
    sk_text_free(&text);
    return status;
}

static sk_status must_be_tracked(const sk_run_view *view, sk_error *err)
{
    if (!view->header.tracked)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: is a run of 'skitter predict', which follows nobody: there are no tracks to "
                       "correct. 'skitter track' makes some",
                       view->folder);
    if (!view->tracked)
        return sk_fail(
            err, SK_ERR_ARG,
            "%s: its tracks are not there: the run is at work, was broken off, or wrote no "
            "results.jsonl. Run the same command (with --format jsonl among its formats) to its end",
            view->folder);
    return SK_OK;
}

sk_status sk_correct_step(sk_run_view *view, sk_correction_step step, const sk_correction *correction,
                          sk_error *err)
{
    SK_CHECK_ARG((step == SK_STEP_ADD) == (correction != NULL), err);
    sk_lock *lock = NULL;
    sk_lock_holder holder = {0};
    SK_TRY(must_be_tracked(view, err));
    sk_status status = sk_run_folder_hold(view->folder, &lock, &holder, err);
    if (status == SK_ERR_BUSY)
        return sk_fail(err, SK_ERR_BUSY, "%s: process %lld, '%s', is at work here; wait for it, or stop it",
                       view->folder, (long long)holder.pid, holder.command);
    SK_TRY(status);
    char *path = sk_path_join(view->folder, SK_CORRECTIONS_FILE);
    status = path ? sk_run_view_refresh(view, err) : sk_fail_memory(err, strlen(view->folder));
    if (status == SK_OK)
        status = must_be_tracked(view, err);
    if (status == SK_OK)
        status = take_step(view, path, step, correction, err);
    sk_free(path);
    sk_lock_close(&lock);
    return status;
}
