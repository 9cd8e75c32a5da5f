/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "runtime/artifact_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Making and keeping artifacts. The order in which things reach the disk: the sidecar, then the file, each
 * written beside and renamed. */

#define WAIT_MS 3600000 /* for another process that is making the same one: TensorRT takes minutes */

static sk_status take_lock(const char *container, const sk_artifact_maker *maker, sk_lock **out,
                           sk_error *err)
{
    char path[SK_ARTIFACT_PATH], who[128];
    sk_lock_holder holder = {0};
    SK_TRY(sk_artifact_lock_place(container, path, err));
    sk_status status = sk_lock_open(path, 0, out, &holder, err);
    if (status != SK_ERR_BUSY)
        return status;
    snprintf(who, sizeof who, "process %lld", (long long)holder.pid);
    sk_artifact_tell(maker, SK_ARTIFACT_WAITING, container, who);
    return sk_lock_open(path, WAIT_MS, out, &holder, err);
}

/* --- keeping --- */

static sk_status write_pair(const char *path, const sk_artifact_record *record, const void *bytes,
                            size_t length, sk_error *err)
{
    SK_TRY(sk_artifact_record_write(path, record, err));
    sk_status status = sk_file_replace(path, bytes, length, err);
    if (status != SK_OK && !sk_file_exists(path))
        sk_artifact_unlink(path); /* a sidecar about nothing */
    return status;
}

/* One of ours that is whole but for another size is moved to the cache before its place is taken: whoever goes back and
 * forth between two sizes makes each once. Failing is no matter. */
static void keep_variant(const sk_artifact_record *record, const sk_artifact_wish *wish, const sk_blob *bytes)
{
    char path[SK_ARTIFACT_PATH], why[SK_ARTIFACT_WHY];
    sk_artifact_key as_wanted = record->key;
    as_wanted.batch = wish->key.batch;
    as_wanted.height = wish->key.height;
    as_wanted.width = wish->key.width;
    if (!sk_artifact_key_equal(&as_wanted, &wish->key, why) ||
        sk_artifact_cache_place(&record->key, wish->form, path, NULL) != SK_OK)
        return;
    if (write_pair(path, record, sk_blob_data(bytes), sk_blob_bytes(bytes), NULL) == SK_OK)
        sk_artifact_limit_variants(path);
}

/* --- making --- */

static sk_status make(sk_artifact_request *r, const char *path, sk_error *err)
{
    if (r->made)
        return SK_OK; /* for a place that could not be written to */
    sk_artifact_tell(r->maker, SK_ARTIFACT_MAKING, path, "");
    SK_TRY(r->maker->make(r->maker->context, &r->made, &r->length, err));
    sk_artifact_tell(r->maker, SK_ARTIFACT_CHECKING, path, "");
    sk_status status = r->maker->check(r->maker->context, path, r->made, r->length, false, &r->check, err);
    if (status != SK_OK) {
        sk_free(r->made);
        r->made = NULL;
        return status;
    }
    snprintf(r->check.runtime, sizeof r->check.runtime, "%s", r->wish->runtime);
    snprintf(r->check.library, sizeof r->check.library, "%s", r->wish->library);
    return SK_OK;
}

static sk_status hand_over_made(sk_artifact_request *r, const char *path, sk_error *err)
{
    sk_blob *bytes = NULL;
    SK_TRY(sk_blob_wrap(r->made, r->length, sk_free, r->made, &bytes, err));
    r->made = NULL;
    r->out->made = true;
    r->out->check = r->check;
    sk_artifact_hand_over(r, path, &bytes);
    return SK_OK;
}

/* `before`: our file that lies there, or null. */
static sk_status write_made(sk_artifact_request *r, const char *path, const char *container,
                            const sk_blob *before, sk_error *err)
{
    sk_artifact_record record = {.key = r->wish->key, .n_checks = 1, .checks = {r->check}};
    bool fresh_folder = strcmp(path, container) != 0 && !sk_file_exists(container);
    sk_artifact_record_of(r->made, r->length, &record);
    if (before) {
        sk_artifact_record there = {0};
        sk_artifact_record_of(sk_blob_data(before), sk_blob_bytes(before), &there);
        snprintf(record.replaces, sizeof record.replaces, "%s", there.sha256);
    }
    char *full = realpath(r->wish->model, NULL);
    snprintf(record.model, sizeof record.model, "%s", full ? full : r->wish->model);
    free(full);
    sk_clock_text(sk_clock_wall_ms(), record.made, sizeof record.made);
    sk_artifact_tell(r->maker, SK_ARTIFACT_WRITING, path, "");
    if (fresh_folder)
        SK_TRY(sk_folder_make(container, err));
    sk_status status = write_pair(path, &record, r->made, r->length, err);
    if (status != SK_OK && fresh_folder)
        rmdir(container);
    return status;
}

/* Makes it at this place, or takes what another process made there meanwhile. SK_ERR_IO and SK_ERR_NOT_FOUND mean that
 * the place cannot be written to. */
static sk_status make_at(sk_artifact_request *r, const char *path, const char *container, bool *left_alone,
                         sk_error *err)
{
    sk_lock *lock = NULL;
    sk_artifact_finding f = {0};
    sk_artifact_verdict what;
    SK_TRY(take_lock(container, r->maker, &lock, err));
    sk_status status;
    SK_TRY_GOTO(sk_artifact_look(r, path, container, true, &what, &f, err));
    *left_alone = what == SK_ARTIFACT_LEAVE_ALONE;
    if (what == SK_ARTIFACT_MAKE) {
        sk_artifact_sweep_locked(path);
        SK_TRY_GOTO(make(r, path, err));
        if (f.state == SK_ARTIFACT_STALE)
            keep_variant(&f.record, r->wish, f.bytes);
        SK_TRY_GOTO(write_made(r, path, container, f.bytes, err));
        SK_TRY_GOTO(hand_over_made(r, path, err));
        sk_artifact_remember(path);
        sk_artifact_tell(r->maker, SK_ARTIFACT_DONE, path, "");
    }
done:
    sk_blob_unref(&f.bytes);
    sk_lock_remove(&lock);
    return status;
}

static bool no_place(sk_status status)
{
    return status == SK_ERR_IO || status == SK_ERR_NOT_FOUND;
}

static sk_status in_cache(sk_artifact_request *r, sk_error *err)
{
    char path[SK_ARTIFACT_PATH];
    bool left_alone = false;
    sk_artifact_verdict what;
    sk_artifact_finding f = {0};
    SK_TRY(sk_artifact_cache_place(&r->wish->key, r->wish->form, path, err));
    sk_status status = sk_artifact_look(r, path, path, false, &what, &f, err);
    sk_blob_unref(&f.bytes);
    SK_TRY(status);
    if (what == SK_ARTIFACT_MAKE)
        SK_TRY(make_at(r, path, path, &left_alone, err));
    if (what == SK_ARTIFACT_LEAVE_ALONE || left_alone)
        return sk_fail(err, SK_ERR_IO, "%s: lies where skitter keeps its own files; move it away", path);
    sk_artifact_limit_variants(path);
    return SK_OK;
}

/* Is there a fresh one in the cache? It was moved there when another size took its place. */
static sk_status find_variant(sk_artifact_request *r, bool *found, sk_error *err)
{
    char path[SK_ARTIFACT_PATH];
    sk_artifact_finding f = {0};
    *found = false;
    if (r->wish->anew || sk_artifact_cache_place(&r->wish->key, r->wish->form, path, NULL) != SK_OK)
        return SK_OK;
    SK_TRY(sk_artifact_inspect(path, &r->wish->key, &f.record, &f.state, f.why, &f.bytes, err));
    sk_status status = SK_OK;
    if (f.state == SK_ARTIFACT_FRESH) {
        status = sk_artifact_ensure_checked(r, path, path, &f, false, err);
        *found = status == SK_OK;
        if (*found)
            sk_artifact_hand_over(r, path, &f.bytes);
        if (status == SK_ERR_MISMATCH && !f.record.sealed)
            status = SK_OK; /* not what its record says: ours is made where it belongs */
    }
    sk_blob_unref(&f.bytes);
    return status;
}

static sk_status beside(sk_artifact_request *r, bool *settled, sk_error *err)
{
    char path[SK_ARTIFACT_PATH], container[SK_ARTIFACT_PATH];
    sk_artifact_finding f = {0};
    sk_artifact_verdict what;
    bool left_alone = false;
    *settled = false;
    SK_TRY(sk_artifact_place(r->wish->model, r->wish->form, path, container, err));
    sk_status status = sk_artifact_look(r, path, container, false, &what, &f, err);
    sk_blob_unref(&f.bytes);
    SK_TRY(status);
    *settled = what == SK_ARTIFACT_USE;
    if (what != SK_ARTIFACT_MAKE)
        return SK_OK;
    SK_TRY(find_variant(r, settled, err));
    if (*settled)
        return SK_OK;
    sk_error problem = {0};
    status = make_at(r, path, container, &left_alone, &problem);
    if (no_place(status)) {
        sk_artifact_notice(r, "%s could not be kept beside the model: %s", path, problem.message);
        return SK_OK;
    }
    if (status != SK_OK && err)
        *err = problem;
    *settled = status == SK_OK && !left_alone;
    return status;
}

sk_status sk_artifact_obtain(const sk_artifact_wish *wish, const sk_artifact_maker *maker, sk_artifact *out,
                             sk_error *err)
{
    sk_artifact_request r = {.wish = wish, .maker = maker, .out = out};
    bool settled = false;
    sk_status status = SK_OK;
    *out = (sk_artifact){0};
    if (wish->keep == SK_ARTIFACT_BESIDE)
        SK_TRY_GOTO(beside(&r, &settled, err));
    if (!settled) {
        sk_error problem = {0};
        status = in_cache(&r, &problem);
        if (status == SK_OK && wish->keep == SK_ARTIFACT_BESIDE) {
            sk_artifact_notice(&r, "%s is used instead", out->path);
        } else if (no_place(status) && !wish->must_keep) {
            sk_artifact_notice(&r, "it is made in memory, each time anew: %s", problem.message);
            SK_TRY_GOTO(make(&r, "", err));
            status = hand_over_made(&r, "", err);
        } else if (status != SK_OK && err) {
            *err = problem;
        }
    }
done:
    sk_free(r.made);
    if (status != SK_OK)
        sk_artifact_release(out);
    return status;
}

void sk_artifact_release(sk_artifact *artifact)
{
    sk_blob_unref(&artifact->bytes);
}
