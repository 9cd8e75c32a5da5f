/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_record.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "formats/config.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MOST ((size_t)1 << 16)
#define TEXT_MOST  ((size_t)64 << 20)

struct sk_run_record {
    sk_config *config; /* texts are its */
    const sk_config_value *root;
    sk_run_header header;
    const char **class_names, **keypoint_names;
    int32_t (*edges)[2];
};

/* --- folders that are none --- */

/* Runs of several sources lie in folders below: names one. */
static bool holds_runs(const char *folder, char *name, size_t capacity)
{
    DIR *directory = opendir(folder);
    bool found = false;
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        char *inside = entry->d_name[0] != '.' ? sk_path_join(folder, entry->d_name) : NULL;
        char *file = inside ? sk_path_join(inside, "run.json") : NULL;
        found = file && sk_file_is_regular(file);
        if (found)
            snprintf(name, capacity, "%s", inside);
        sk_free_all(inside, file);
    }
    if (directory)
        closedir(directory);
    return found;
}

static sk_status refuse(const char *folder, sk_error *err)
{
    char inside[512];
    if (!sk_file_exists(folder))
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no such folder", folder);
    if (!sk_file_is_directory(folder))
        return sk_fail(err, SK_ERR_NOT_FOUND,
                       "%s: is a file; give the folder of a run, the --out of 'skitter track' or 'skitter "
                       "predict'",
                       folder);
    if (holds_runs(folder, inside, sizeof inside))
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: holds the folders of several runs; give one of them: %s",
                       folder, inside);
    return sk_fail(err, SK_ERR_NOT_FOUND,
                   "%s: is not the folder of a run: there is no run.json in it. Give the --out of 'skitter "
                   "track' or 'skitter predict'",
                   folder);
}

/* --- reading --- */

/* The simplest fraction that is written as this number of nine digits: cameras' rates are fractions, 30000/1001. */
static double rate_of(double written)
{
    double low_n = 0, low_d = 1, high_n = 1, high_d = 0;
    if (!(written > 0 && written < 1e6))
        return 0;
    for (int i = 0; i < 10000; i++) {
        const double n = low_n + high_n, d = low_d + high_d;
        char a[32], b[32];
        snprintf(a, sizeof a, "%.9g", n / d);
        snprintf(b, sizeof b, "%.9g", written);
        if (strcmp(a, b) == 0)
            return n / d;
        if (n / d < written)
            low_n = n, low_d = d;
        else
            high_n = n, high_d = d;
    }
    return written;
}

static sk_status read_names(const sk_config_value *list, const char ***out, int32_t *count, sk_error *err)
{
    const size_t n = sk_config_is(list, SK_CONFIG_LIST) ? sk_config_count(list) : 0;
    if (n > NAMES_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "run.json: %zu names in one list", n);
    *out = sk_calloc(n + 1, sizeof **out);
    if (!*out)
        return sk_fail_memory(err, n * sizeof **out);
    for (size_t i = 0; i < n; i++) {
        const char *name = sk_config_text(sk_config_at(list, i));
        (*out)[i] = name ? name : "";
    }
    *count = (int32_t)n;
    return SK_OK;
}

static sk_status read_edges(sk_run_record *r, const sk_config_value *list, sk_error *err)
{
    const size_t n = sk_config_is(list, SK_CONFIG_LIST) ? sk_config_count(list) : 0;
    if (n > NAMES_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "run.json: %zu edges", n);
    r->edges = sk_calloc(n + 1, sizeof *r->edges);
    if (!r->edges)
        return sk_fail_memory(err, n * sizeof *r->edges);
    for (size_t i = 0; i < n; i++) {
        const sk_config_value *pair = sk_config_at(list, i);
        int64_t a = -1, b = -1;
        if (!sk_config_to_int(sk_config_at(pair, 0), &a) || !sk_config_to_int(sk_config_at(pair, 1), &b) ||
            a < 0 || b < 0 || a >= r->header.n_keypoints || b >= r->header.n_keypoints)
            continue;
        r->edges[r->header.n_edges][0] = (int32_t)a;
        r->edges[r->header.n_edges++][1] = (int32_t)b;
    }
    return SK_OK;
}

static uint32_t has_of(const char *task, int32_t n_keypoints)
{
    static const struct {
        const char *task;
        uint32_t has;
    } known[] = {{"detect", SK_HAS_BOX},
                 {"segment", SK_HAS_BOX},
                 {"pose", SK_HAS_BOX},
                 {"obb", SK_HAS_BOX | SK_HAS_OBB},
                 {"background", SK_HAS_BOX | SK_HAS_OBB}};
    uint32_t has = n_keypoints > 0 ? SK_HAS_KEYPOINTS : 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        has |= strcmp(task, known[i].task) == 0 ? known[i].has : 0;
    return has;
}

static void read_models(sk_run_record *r)
{
    const sk_config_value *models = sk_config_get(r->root, "models");
    sk_run_header *h = &r->header;
    for (size_t i = 0; i < sk_config_count(models) && i < 4; i++) {
        const sk_config_value *model = sk_config_at(models, i), *list = sk_config_get(model, "computed_by");
        h->model_paths[h->n_models] = sk_config_text_or(model, "path", "");
        h->model_hashes[h->n_models++] = sk_config_text_or(model, "sha256", "");
        for (size_t k = 0; k < sk_config_count(list) && h->n_files < SK_RUN_MAX_FILES; k++) {
            const sk_config_value *file = sk_config_at(list, k);
            h->files[h->n_files++] = (sk_run_file){(int32_t)i, sk_config_text_or(file, "path", ""),
                                                   sk_config_text_or(file, "sha256", "")};
        }
    }
}

static int32_t pixels(const sk_config_value *root, const char *key)
{
    const int64_t value = sk_config_int_or(root, key, 0);
    return value > 0 && value <= 65535 ? (int32_t)value : 0;
}

static sk_status understand(sk_run_record *r, sk_error *err)
{
    sk_run_header *h = &r->header;
    const sk_config_value *root = r->root;
    const char *kind = sk_config_text_or(root, "source_kind", "video");
    const char *size = sk_config_text_or(root, "network_input", "");
    *h = (sk_run_header){
        .source = sk_config_text_or(root, "source", ""),
        .source_kind = kind,
        .width = pixels(root, "width"),
        .height = pixels(root, "height"),
        .rate = rate_of(sk_config_real_or(root, "rate", 0)),
        .source_frames = -1,
        .stamped = sk_config_bool_or(root, "stamped", false),
        .task = sk_config_text_or(root, "task", "unknown"),
        .tracked = sk_run_record_identity(r, "tracker"),
        .runtime_requested = sk_config_text_or(root, "runtime_requested", ""),
        .runtime = sk_config_text_or(root, "runtime", ""),
        .device = sk_config_text_or(root, "device", ""),
        .precision = sk_config_text_or(root, "precision", ""),
        .shape = sk_config_text_or(root, "shape", NULL),
        .heads = sk_config_text_or(root, "heads", NULL),
        .settings = sk_config_text_or(root, "settings", ""),
        .version = sk_config_text_or(root, "skitter", ""),
        .started = sk_config_text_or(root, "started", ""),
    };
    sk_text_shorten(sk_config_text_or(root, "frame_id", ""), h->frame_id, sizeof h->frame_id);
    if (sscanf(size, "%dx%d", &h->input_height, &h->input_width) != 2)
        h->input_height = h->input_width = 0;
    h->identities = strncmp(h->task, "multiclass", 10) == 0;
    SK_TRY(read_names(sk_config_get(root, "classes"), &r->class_names, &h->n_classes, err));
    SK_TRY(read_names(sk_config_get(root, "keypoints"), &r->keypoint_names, &h->n_keypoints, err));
    SK_TRY(read_edges(r, sk_config_get(root, "edges"), err));
    h->class_names = r->class_names;
    h->keypoint_names = r->keypoint_names;
    h->edges = (const int32_t(*)[2])r->edges;
    h->has = has_of(h->task, h->n_keypoints);
    read_models(r);
    return SK_OK;
}

sk_status sk_run_record_open(const char *folder, sk_run_record **out, sk_error *err)
{
    *out = NULL;
    char *path = sk_path_join(folder, "run.json"), *text = NULL;
    size_t length = 0;
    sk_run_record *r = path ? sk_calloc(1, sizeof *r) : NULL;
    sk_status status = r ? SK_OK : sk_fail_memory(err, sizeof *r);
    if (status == SK_OK && !sk_file_exists(path))
        status = refuse(folder, err);
    if (status == SK_OK)
        status = sk_file_read_own(path, TEXT_MOST, &text, &length, err);
    if (status == SK_OK)
        status = sk_config_open_json(text, length, path, &r->config, err);
    if (status == SK_OK) {
        r->root = sk_config_root(r->config);
        if (!sk_config_text(sk_config_get(r->root, "skitter")) ||
            !sk_config_text(sk_config_get(r->root, "state")))
            status = sk_fail(err, SK_ERR_FORMAT, "%s: was not written by a run of skitter", path);
    }
    if (status == SK_OK)
        status = understand(r, err);
    sk_free_all(path, text);
    if (!r)
        return status;
    return SK_HAND_OVER(status, r, out, sk_run_record_close);
}

void sk_run_record_close(sk_run_record **pointer)
{
    SK_TAKE_OR_RETURN(r, pointer);
    sk_config_close(&r->config);
    sk_free_all(r->class_names, r->keypoint_names, r->edges, r);
}

const sk_run_header *sk_run_record_header(const sk_run_record *r)
{
    return &r->header;
}

const char *sk_run_record_state(const sk_run_record *r)
{
    return sk_config_text_or(r->root, "state", "");
}

int64_t sk_run_record_frames(const sk_run_record *r)
{
    return sk_config_int_or(r->root, "frames", 0);
}

const char *sk_run_record_identity(const sk_run_record *r, const char *name)
{
    return sk_config_text(sk_config_get(sk_config_get(r->root, "identity"), name));
}

sk_status sk_run_record_identity_text(const sk_run_record *r, bool (*leave)(const char *name), sk_text *out,
                                      sk_error *err)
{
    const sk_config_value *list = sk_config_get(r->root, "identity");
    for (size_t i = 0; sk_config_is(list, SK_CONFIG_MAP) && i < list->length; i++) {
        const char *name = list->u.pairs[i].name, *value = sk_config_text(list->u.pairs[i].value);
        if (!value || strpbrk(name, "\t\n") || strchr(value, '\n') || (leave && leave(name)))
            continue;
        sk_text_appendf(out, "%s\t%s\n", name, value);
    }
    return sk_text_status(out, err);
}
