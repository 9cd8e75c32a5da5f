/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "formats/config.h"
#include "runtime/artifact_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE ((size_t)16 << 30)

/* --- keys --- */

static bool differ_text(const char *have, const char *want, const char *what, char *why)
{
    if (strcmp(have, want) == 0)
        return false;
    snprintf(why, SK_ARTIFACT_WHY, "it was made for %s %s, %s is needed", what, have[0] ? have : "(any)",
             want[0] ? want : "(any)");
    return true;
}

bool sk_artifact_key_equal(const sk_artifact_key *have, const sk_artifact_key *want,
                           char why[SK_ARTIFACT_WHY])
{
    why[0] = '\0';
    if (strcmp(have->source, want->source) != 0) {
        snprintf(why, SK_ARTIFACT_WHY, "it was made from another model, or the model was changed since");
        return false;
    }
    bool batch_fits =
        have->dynamic_batch ? have->batch == 0 || want->batch <= have->batch : have->batch == want->batch;
    bool size_fits = have->dynamic_size || (have->height == want->height && have->width == want->width);
    if (want->dynamic_batch && !have->dynamic_batch) {
        snprintf(why, SK_ARTIFACT_WHY, "it was made for batches of %d only", have->batch);
        return false;
    }
    if (!batch_fits || !size_fits) {
        snprintf(why, SK_ARTIFACT_WHY,
                 "it was made for %d x %d x %d (batch, height, width), %d x %d x %d is needed", have->batch,
                 have->height, have->width, want->batch, want->height, want->width);
        return false;
    }
    if (have->opset != want->opset) {
        snprintf(why, SK_ARTIFACT_WHY, "it was made with opset %d, %d is needed", have->opset, want->opset);
        return false;
    }
    return !differ_text(have->form, want->form, "form", why) &&
           !differ_text(have->precision, want->precision, "precision", why) &&
           !differ_text(have->heads, want->heads, "heads", why) &&
           !differ_text(have->architecture, want->architecture, "device", why) &&
           !differ_text(have->library, want->library, "library", why) &&
           !differ_text(have->version, want->version, "skitter", why);
}

const char *sk_artifact_state_name(sk_artifact_state state)
{
    static const char *const names[] = {"absent", "fresh", "stale", "foreign", "damaged", "user-made"};
    return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

/* --- the sidecar --- */

static char *sidecar_path(const char *artifact)
{
    size_t capacity = strlen(artifact) + sizeof SK_ARTIFACT_SIDECAR;
    char *path = sk_malloc(capacity);
    if (path)
        snprintf(path, capacity, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
    return path;
}

static void copy(const sk_config_value *root, const char *key, char *out, size_t capacity)
{
    snprintf(out, capacity, "%s", sk_config_text_or(root, key, ""));
}

static int32_t number(const sk_config_value *root, const char *key)
{
    int64_t n = sk_config_int_or(root, key, 0);
    return n < 0 || n > INT32_MAX ? 0 : (int32_t)n;
}

static void take(const sk_config_value *root, sk_artifact_record *r)
{
    sk_artifact_key *k = &r->key;
    copy(root, "source_sha256", k->source, sizeof k->source);
    copy(root, "form", k->form, sizeof k->form);
    k->batch = number(root, "batch");
    k->height = number(root, "height");
    k->width = number(root, "width");
    k->dynamic_batch = sk_config_bool_or(root, "dynamic_batch", false);
    k->dynamic_size = sk_config_bool_or(root, "dynamic_size", false);
    copy(root, "precision", k->precision, sizeof k->precision);
    copy(root, "heads", k->heads, sizeof k->heads);
    k->opset = number(root, "opset");
    copy(root, "architecture", k->architecture, sizeof k->architecture);
    copy(root, "library", k->library, sizeof k->library);
    copy(root, "skitter", k->version, sizeof k->version);
    copy(root, "sha256", r->sha256, sizeof r->sha256);
    copy(root, "head", r->head, sizeof r->head);
    copy(root, "replaces_sha256", r->replaces, sizeof r->replaces);
    copy(root, "source", r->model, sizeof r->model);
    copy(root, "made", r->made, sizeof r->made);
    r->exported = sk_config_bool_or(root, "exported", false);
    r->bytes = sk_config_int_or(root, "bytes", -1);
    const sk_config_value *checks = sk_config_get(root, "checks");
    for (size_t i = 0; i < sk_config_count(checks) && r->n_checks < SK_ARTIFACT_CHECKS; i++) {
        const sk_config_value *c = sk_config_at(checks, i);
        sk_artifact_check *to = &r->checks[r->n_checks++];
        copy(c, "runtime", to->runtime, sizeof to->runtime);
        copy(c, "library", to->library, sizeof to->library);
        to->pcc = sk_config_real_or(c, "pcc", 0);
        to->max_difference = sk_config_real_or(c, "max_difference", 1);
    }
}

sk_status sk_artifact_record_read(const char *artifact, sk_artifact_record *out, sk_error *err)
{
    char *path = sidecar_path(artifact), *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    sk_status status;
    *out = (sk_artifact_record){0};
    if (!path)
        return sk_fail_memory(err, strlen(artifact));
    SK_TRY_GOTO(sk_file_read_own(path, 65536, &text, &bytes, err));
    SK_TRY_GOTO(sk_config_open_json(text, bytes, path, &config, err));
    take(sk_config_root(config), out);
    out->sealed = sk_artifact_is_sealed(text, bytes);
    if (strlen(out->sha256) != 64 || out->bytes < 0)
        status = sk_fail(err, SK_ERR_FORMAT, "%s: does not say which file it is about", path);
done:
    sk_config_close(&config);
    sk_free(text);
    sk_free(path);
    return status;
}

static void put_key(sk_json *json, const sk_artifact_key *k)
{
    sk_json_key_string(json, "form", k->form);
    sk_json_key_ints(json, {"batch", k->batch}, {"height", k->height}, {"width", k->width});
    sk_json_key_bool(json, "dynamic_batch", k->dynamic_batch);
    sk_json_key_bool(json, "dynamic_size", k->dynamic_size);
    sk_json_key_string(json, "precision", k->precision);
    sk_json_key_string(json, "heads", k->heads);
    sk_json_key_int(json, "opset", k->opset);
    sk_json_key_strings(json, {"architecture", k->architecture}, {"library", k->library},
                        {"skitter", k->version});
}

sk_status sk_artifact_record_write(const char *artifact, const sk_artifact_record *r, sk_error *err)
{
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 2);
    sk_json_object(&json);
    sk_json_key_strings(&json, {"about", sk_path_name(artifact)}, {"seal", zeros}, {"sha256", r->sha256},
                        {"head", r->head});
    sk_json_key_int(&json, "bytes", r->bytes);
    sk_json_key_strings(&json, {"replaces_sha256", r->replaces}, {"source", r->model},
                        {"source_sha256", r->key.source});
    put_key(&json, &r->key);
    sk_json_key_string(&json, "made", r->made);
    sk_json_key_bool(&json, "exported", r->exported);
    sk_json_key_array(&json, "checks");
    for (int32_t i = 0; i < r->n_checks; i++) {
        sk_json_object(&json);
        sk_json_key_string(&json, "runtime", r->checks[i].runtime);
        sk_json_key_string(&json, "library", r->checks[i].library);
        sk_json_key_float(&json, "pcc", r->checks[i].pcc);
        sk_json_key_float(&json, "max_difference", r->checks[i].max_difference);
        sk_json_close(&json);
    }
    sk_json_close(&json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (status == SK_OK)
        sk_artifact_seal(text.data, text.length);
    char *path = sidecar_path(artifact);
    if (status == SK_OK)
        status = path ? sk_file_replace(path, text.data, text.length, err) : sk_fail_memory(err, 1);
    sk_free(path);
    sk_text_free(&text);
    return status;
}

void sk_artifact_record_of(const void *bytes, size_t length, sk_artifact_record *out)
{
    static const char digits[] = "0123456789abcdef";
    sk_sha256 hash;
    sk_hash_sha256(bytes, length, &hash);
    sk_sha256_text(&hash, out->sha256);
    size_t n = length < SK_ARTIFACT_HEAD ? length : SK_ARTIFACT_HEAD;
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];
        out->head[2 * i] = digits[byte >> 4];
        out->head[2 * i + 1] = digits[byte & 15];
    }
    out->head[2 * n] = '\0';
    out->bytes = (int64_t)length;
}

sk_status sk_artifact_record_export(const char *artifact, const char *model, const sk_artifact_key *key,
                                    sk_error *err)
{
    sk_artifact_record record = {.key = *key, .exported = true};
    char *data = NULL;
    size_t length = 0;
    SK_TRY(sk_file_read(artifact, LARGEST_FILE, &data, &length, err));
    sk_artifact_record_of(data, length, &record);
    sk_free(data);
    char *full = realpath(model, NULL);
    snprintf(record.model, sizeof record.model, "%s", full ? full : model);
    free(full);
    sk_clock_text(sk_clock_wall_ms(), record.made, sizeof record.made);
    return sk_artifact_record_write(artifact, &record, err);
}

const sk_artifact_check *sk_artifact_record_find(const sk_artifact_record *r, const char *runtime,
                                                 const char *library)
{
    for (int32_t i = 0; i < r->n_checks; i++)
        if (strcmp(r->checks[i].runtime, runtime) == 0 && strcmp(r->checks[i].library, library) == 0)
            return &r->checks[i];
    return NULL;
}

/* --- what lies there --- */

/* A file other than its sidecar says: ours and broken, or put there by somebody since? What is broken keeps its length
 * (bits that flipped) or its beginning (a copy that was cut off); whoever makes a file anew keeps neither. */
static bool is_damage(const sk_artifact_record *said, const sk_artifact_record *found)
{
    return found->bytes == said->bytes ||
           (found->bytes < said->bytes && strncmp(found->head, said->head, strlen(found->head)) == 0);
}

static sk_artifact_state judge(const sk_artifact_record *said, const sk_artifact_record *found,
                               const sk_artifact_key *want, char *why)
{
    if (strcmp(found->sha256, said->sha256) == 0) {
        if (!want || sk_artifact_key_equal(&said->key, want, why))
            return SK_ARTIFACT_FRESH;
        return strcmp(said->key.source, want->source) != 0 ||
                       strcmp(said->key.architecture, want->architecture) != 0
                   ? SK_ARTIFACT_FOREIGN
                   : SK_ARTIFACT_STALE;
    }
    if (said->exported) {
        snprintf(why, SK_ARTIFACT_WHY, "it is not the file that 'skitter export' wrote");
        return SK_ARTIFACT_USER;
    }
    if (said->replaces[0] && strcmp(found->sha256, said->replaces) == 0) {
        snprintf(why, SK_ARTIFACT_WHY, "its replacement was interrupted");
        return SK_ARTIFACT_STALE;
    }
    if (is_damage(said, found)) {
        snprintf(why, SK_ARTIFACT_WHY, "it is damaged: %lld bytes where %lld were written%s",
                 (long long)found->bytes, (long long)said->bytes,
                 found->bytes == said->bytes ? ", and they differ" : "");
        return SK_ARTIFACT_DAMAGED;
    }
    snprintf(why, SK_ARTIFACT_WHY, "it is not the file that skitter made");
    return SK_ARTIFACT_USER;
}

sk_status sk_artifact_inspect(const char *path, const sk_artifact_key *want, sk_artifact_record *record,
                              sk_artifact_state *state, char why[SK_ARTIFACT_WHY], sk_blob **bytes,
                              sk_error *err)
{
    char *data = NULL;
    size_t length = 0;
    sk_artifact_record said, found = {0};
    why[0] = '\0';
    *record = (sk_artifact_record){0};
    *state = SK_ARTIFACT_ABSENT;
    if (bytes)
        *bytes = NULL;
    if (!sk_file_exists(path)) {
        snprintf(why, SK_ARTIFACT_WHY, "there is none yet");
        return SK_OK;
    }
    if (!sk_file_is_regular(path)) {
        *state = SK_ARTIFACT_USER;
        snprintf(why, SK_ARTIFACT_WHY, "it is not a file");
        return SK_OK;
    }
    SK_TRY(sk_file_read(path, LARGEST_FILE, &data, &length, err));
    sk_artifact_record_of(data, length, &found);
    sk_status status = sk_artifact_record_read(path, &said, err);
    if (status == SK_OK) {
        *record = said;
        *state = judge(&said, &found, want, why);
    } else if (status != SK_ERR_MEMORY) { /* none, or one that nobody understands: we do not know the file */
        *state = SK_ARTIFACT_USER;
        snprintf(why, SK_ARTIFACT_WHY,
                 status == SK_ERR_NOT_FOUND ? "it has no record of what it was made from"
                                            : "its record cannot be read");
        status = SK_OK;
    }
    if (status == SK_OK && bytes) {
        status = sk_blob_wrap(data, length, sk_free, data, bytes, err);
        if (status == SK_OK)
            data = NULL;
    }
    sk_free(data);
    return status;
}
