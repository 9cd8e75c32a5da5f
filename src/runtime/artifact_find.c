/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/hash.h"
#include "runtime/artifact_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What lies at a place, and whether it may be used. Records of this user's own skitter are believed; every other file has to
 * compute what its model computes. */

void sk_artifact_tell(const sk_artifact_maker *maker, sk_artifact_step step, const char *path,
                      const char *note)
{
    if (maker->tell)
        maker->tell(maker->context, step, path, note);
}

void sk_artifact_notice(sk_artifact_request *r, const char *format, ...)
{
    char *to = r->out->notice, more[sizeof r->out->notice];
    const size_t used = strlen(to);
    va_list args;
    va_start(args, format);
    vsnprintf(more, sizeof more, format, args);
    va_end(args);
    snprintf(to + used, sizeof more - used, "%s%s", used ? "; " : "", more);
}

static void add_check(sk_artifact_record *record, const sk_artifact_check *check)
{
    if (record->n_checks == SK_ARTIFACT_CHECKS) {
        memmove(record->checks, record->checks + 1, (SK_ARTIFACT_CHECKS - 1) * sizeof record->checks[0]);
        record->n_checks--;
    }
    record->checks[record->n_checks++] = *check;
}

/* Puts a check on record, beside those that others put there meanwhile. Where that fails it is made again next time. */
static void record_check(const char *path, const char *container, const sk_artifact_record *about,
                         bool locked, const sk_artifact_check *check)
{
    char lock_path[SK_ARTIFACT_PATH];
    sk_lock *lock = NULL;
    sk_artifact_record now;
    if (!locked && (sk_artifact_lock_place(container, lock_path, NULL) != SK_OK ||
                    sk_lock_open(lock_path, 1000, &lock, NULL, NULL) != SK_OK))
        return;
    if (sk_artifact_record_read(path, &now, NULL) == SK_OK && strcmp(now.sha256, about->sha256) == 0 &&
        strcmp(now.key.source, about->key.source) == 0) {
        if (!now.sealed)
            now.n_checks = 0; /* others' words are not to be sealed */
        add_check(&now, check);
        (void)!sk_artifact_record_write(path, &now, NULL);
    }
    sk_lock_remove(&lock);
}

sk_status sk_artifact_ensure_checked(sk_artifact_request *r, const char *path, const char *container,
                                     const sk_artifact_finding *f, bool locked, sk_error *err)
{
    const sk_artifact_wish *w = r->wish;
    bool recorded = f->state != SK_ARTIFACT_USER; /* the record is about these very bytes */
    bool believed = recorded && f->record.sealed;
    const sk_artifact_check *known =
        believed ? sk_artifact_record_find(&f->record, w->runtime, w->library) : NULL;
    if (known) {
        r->out->check = *known;
        return SK_OK;
    }
    sk_artifact_check check = {0};
    sk_artifact_tell(r->maker, SK_ARTIFACT_CHECKING, path, "");
    SK_TRY(r->maker->check(r->maker->context, path, sk_blob_data(f->bytes), sk_blob_bytes(f->bytes),
                           !believed, &check, err));
    snprintf(check.runtime, sizeof check.runtime, "%s", w->runtime);
    snprintf(check.library, sizeof check.library, "%s", w->library);
    r->out->check = check;
    if (recorded)
        record_check(path, container, &f->record, locked, &check);
    sk_artifact_tell(r->maker, SK_ARTIFACT_DONE, path, "");
    return SK_OK;
}

void sk_artifact_hand_over(sk_artifact_request *r, const char *path, sk_blob **bytes)
{
    sk_sha256 hash;
    sk_hash_sha256(sk_blob_data(*bytes), sk_blob_bytes(*bytes), &hash);
    sk_sha256_text(&hash, r->out->sha256);
    snprintf(r->out->path, sizeof r->out->path, "%s", path);
    r->out->bytes = *bytes;
    *bytes = NULL;
}

/* A person's export of this model as it is now, or why it is none. */
static bool is_export_of(const sk_artifact_request *r, const sk_artifact_finding *f,
                         char why[SK_ARTIFACT_WHY])
{
    const sk_artifact_key *have = &f->record.key, *want = &r->wish->key;
    if (strcmp(have->source, want->source) != 0)
        snprintf(why, SK_ARTIFACT_WHY,
                 "it was exported from another model, or %.200s was changed since; "
                 "'skitter export --overwrite' makes it anew",
                 r->wish->model);
    else if (strcmp(have->precision, want->precision) != 0)
        snprintf(why, SK_ARTIFACT_WHY, "it was exported in %s, %s is needed", have->precision,
                 want->precision);
    else if (strcmp(have->heads, want->heads) != 0)
        snprintf(why, SK_ARTIFACT_WHY, "it was exported with the %s heads, the %s ones are needed",
                 have->heads, want->heads);
    else
        return true;
    return false;
}

/* A file that is not ours to overwrite. It stands in for ours where it fits and computes what the model computes. */
static sk_status consider(sk_artifact_request *r, const char *path, const char *container, bool locked,
                          sk_artifact_verdict *what, sk_artifact_finding *f, sk_error *err)
{
    char why[SK_ARTIFACT_WHY] = "";
    sk_error misfit = {0};
    bool exported = f->state != SK_ARTIFACT_USER && f->record.exported;
    sk_status status = SK_OK;
    *what = SK_ARTIFACT_LEAVE_ALONE;
    if (!f->bytes) {
        snprintf(why, sizeof why, "%s", f->why);
    } else if (!exported || is_export_of(r, f, why)) {
        if (exported || f->state == SK_ARTIFACT_USER)
            status = r->maker->fits(r->maker->context, path, sk_blob_data(f->bytes), sk_blob_bytes(f->bytes),
                                    &misfit);
        if (status == SK_OK)
            status = sk_artifact_ensure_checked(r, path, container, f, locked, &misfit);
        if (status == SK_ERR_MEMORY) {
            if (err)
                *err = misfit;
            return status;
        }
        *what = status == SK_OK ? SK_ARTIFACT_USE : SK_ARTIFACT_LEAVE_ALONE;
        snprintf(why, sizeof why, "%.380s", status == SK_OK ? "" : misfit.message);
    }
    if (*what == SK_ARTIFACT_USE) {
        r->out->users = exported || f->state == SK_ARTIFACT_USER;
        if (f->state == SK_ARTIFACT_USER)
            sk_artifact_notice(
                r,
                "%s is used as it is, although %s: it computes what %s computes (correlation %.7f, largest "
                "difference %.2g)",
                path, f->why, r->wish->model, r->out->check.pcc, r->out->check.max_difference);
        sk_artifact_hand_over(r, path, &f->bytes);
    } else if (!locked) {
        sk_artifact_notice(r, "%s is left alone and not used: %s", path, why);
    }
    return SK_OK;
}

sk_status sk_artifact_look(sk_artifact_request *r, const char *path, const char *container, bool locked,
                           sk_artifact_verdict *what, sk_artifact_finding *f, sk_error *err)
{
    *f = (sk_artifact_finding){0};
    *what = SK_ARTIFACT_MAKE;
    SK_TRY(sk_artifact_inspect(path, &r->wish->key, &f->record, &f->state, f->why, &f->bytes, err));
    if (f->state == SK_ARTIFACT_ABSENT)
        return SK_OK;
    if (f->state == SK_ARTIFACT_USER)
        return consider(r, path, container, locked, what, f, err);
    if (r->wish->anew)
        return SK_OK;
    if (f->record.exported || (f->state == SK_ARTIFACT_FRESH && !f->record.sealed))
        return consider(r, path, container, locked, what, f, err);
    if (f->state == SK_ARTIFACT_FRESH) {
        SK_TRY(sk_artifact_ensure_checked(r, path, container, f, locked, err));
        sk_artifact_hand_over(r, path, &f->bytes);
        *what = SK_ARTIFACT_USE;
    }
    return SK_OK;
}
