/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_config_run.h"

#include "app/runtimes.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/hydra_config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BYTES_MOST ((size_t)16 << 20)

typedef struct reading {
    const char *path;
    const sk_hydra_config *config;
    sk_track_config_run *out;
} reading;

/* As it is written, else beside the configuration; null: it is in neither place. */
static sk_status find_file(const reading *r, const char *name, char **out, sk_error *err)
{
    *out = NULL;
    const size_t folder = strlen(r->path) - strlen(sk_path_name(r->path));
    sk_text beside = {0};
    sk_text_appendf(&beside, "%.*s%s", name[0] == '/' ? 0 : (int)folder, r->path, name);
    sk_status status = sk_text_status(&beside, err);
    const char *const places[] = {name, sk_text_get(&beside)};
    for (int i = 0; i < 2 && status == SK_OK && !*out; i++)
        if (sk_file_is_regular(places[i]) || sk_file_is_directory(places[i]))
            if (!(*out = sk_strdup(places[i])))
                status = sk_fail_memory(err, strlen(places[i]));
    sk_text_free(&beside);
    return status;
}

static sk_status find_model(const reading *r, const char *name, const char *what, char **out, sk_error *err)
{
    if (!name)
        return SK_OK;
    SK_TRY(find_file(r, name, out, err));
    if (!*out)
        sk_text_appendf(&r->out->notes, "model: its %s %s is neither here nor beside it: give --model\n",
                        what, name);
    return SK_OK;
}

static sk_status read_models(const reading *r, sk_error *err)
{
    const sk_hydra_config *c = r->config;
    const char *mode = sk_hydra_text(c, "yolo_obb_mode"), *kind = sk_hydra_text(c, "pose_model_type");
    const char *boxes = sk_hydra_text(c, "yolo_obb_direct_model_path");
    boxes = boxes ? boxes : sk_hydra_text(c, "yolo_model_path");
    bool posed = false;
    if (mode && strcasecmp(mode, "direct") != 0) {
        sk_text_appendf(&r->out->notes,
                        "model: yolo_obb_mode is %s, and boxes are found in one step here: give --model\n",
                        mode);
        return SK_OK;
    }
    SK_TRY(find_model(r, boxes, "model of boxes", &r->out->models[0], err));
    if (!sk_hydra_truth(c, "enable_pose_extractor", &posed) || !posed || !r->out->models[0])
        return SK_OK;
    const bool sleap = kind && strcasecmp(kind, "sleap") == 0, yolo = !kind || strcasecmp(kind, "yolo") == 0;
    if (!sleap && !yolo) {
        sk_text_appendf(&r->out->notes, "model: poses of %s are not read here: give --model twice\n", kind);
        return SK_OK;
    }
    const char *pose = sk_hydra_text(c, sleap ? "pose_sleap_model_dir" : "pose_yolo_model_dir");
    return find_model(r, pose ? pose : sk_hydra_text(c, "pose_model_dir"), "model of poses",
                      &r->out->models[1], err);
}

/* That of the machine that the file comes from: where it is not here, it is said, and the usual one is taken. */
static sk_status read_runtime(const reading *r, sk_error *err)
{
    sk_runtimes_view view;
    sk_runtime_import in;
    if (!sk_hydra_text(r->config, "compute_runtime") && !sk_hydra_text(r->config, "runtime_tier"))
        return SK_OK;
    sk_runtimes_look(0, false, &view);
    SK_TRY(sk_runtime_import_file(r->path, &view.facts, &in, err));
    const char *why = in.note[0] ? in.note : view.gate.because[in.runtime];
    if (why[0])
        sk_text_appendf(&r->out->notes, "its %s '%s' is not used: %s\n", in.key, in.value, why);
    else
        snprintf(r->out->runtime, sizeof r->out->runtime, "%s", sk_runtime_name(in.runtime));
    return SK_OK;
}

/* end_frame is the last one that counts; none, or -1: to the end. */
static void read_frames(const reading *r)
{
    double first = 0, last = -1;
    const bool said = sk_hydra_number(r->config, "start_frame", &first);
    const bool ends = sk_hydra_number(r->config, "end_frame", &last) && last >= 0;
    if (ends)
        snprintf(r->out->frames, sizeof r->out->frames, "%.0f:%.0f", first, last + 1);
    else if (said && first > 0)
        snprintf(r->out->frames, sizeof r->out->frames, "%.0f:", first);
}

static sk_status read_classes(const reading *r, sk_error *err)
{
    const sk_config_value *list = sk_hydra_list(r->config, "yolo_target_classes");
    size_t used = 0;
    for (size_t i = 0; list && i < sk_config_count(list); i++) {
        int64_t number;
        if (!sk_config_to_int(sk_config_at(list, i), &number) || number < 0)
            return sk_fail(err, SK_ERR_FORMAT, "%s: yolo_target_classes is a list of classes' numbers",
                           r->path);
        const int n = snprintf(r->out->classes + used, sizeof r->out->classes - used, "%s%lld", i ? "," : "",
                               (long long)number);
        used += (size_t)n;
        if (used >= sizeof r->out->classes)
            return sk_fail(err, SK_ERR_LIMIT, "%s: yolo_target_classes names too many classes", r->path);
    }
    return SK_OK;
}

static sk_status read_all(const reading *r, sk_error *err)
{
    const char *method = sk_hydra_text(r->config, "detection_method");
    const char *source = sk_hydra_text(r->config, "file_path");
    bool masked = false;
    if (sk_hydra_truth(r->config, "suppress_foreign_obb_regions", &masked))
        r->out->masked = masked;
    r->out->background = method && strncasecmp(method, "background", 10) == 0;
    if (source && !(r->out->source = sk_strdup(source)))
        return sk_fail_memory(err, strlen(source));
    if (!r->out->background)
        SK_TRY(read_models(r, err));
    SK_TRY(read_runtime(r, err));
    read_frames(r);
    return read_classes(r, err);
}

/* --- our own --- */

#define WORDS_MOST 4096

/* Ends the word, whatever comes of it. */
static sk_status add_word(sk_track_config_run *out, sk_text *word, sk_error *err)
{
    size_t capacity = (size_t)out->n_words; /* grows by one: they are few */
    sk_status status = sk_array_reserve((void **)&out->words, &capacity, (size_t)out->n_words + 1,
                                        sizeof *out->words, WORDS_MOST, err);
    if (status == SK_OK)
        status = sk_text_take(word, &out->words[out->n_words], err);
    if (status == SK_OK)
        out->n_words++;
    sk_text_free(word);
    return status;
}

/* A video, model or other file is where it is said to be, or beside the configuration. */
static sk_status put_text(const reading *r, const char *text, sk_text *word, sk_error *err)
{
    char *found = NULL;
    if (text[0] && text[0] != '/' && !strstr(text, "://"))
        SK_TRY(find_file(r, text, &found, err));
    sk_text_append(word, found ? found : text);
    sk_free(found);
    return SK_OK;
}

static sk_status add_value(const reading *r, const char *name, const sk_config_value *value, sk_error *err)
{
    char number[SK_TEXT_NUMBER];
    bool truth = false;
    double real = 0;
    sk_text word = {0};
    sk_status status = SK_OK;
    if (sk_config_to_bool(value, &truth) && sk_config_is(value, SK_CONFIG_BOOL)) {
        if (!truth)
            return SK_OK;
        sk_text_appendf(&word, "--%s", name);
        return add_word(r->out, &word, err);
    }
    if (strcmp(name, "source") != 0)
        sk_text_appendf(&word, "--%s=", name);
    if (sk_config_text(value))
        status = put_text(r, sk_config_text(value), &word, err);
    else if (sk_config_to_real(value, &real))
        sk_text_append(&word, sk_text_number(real, 9, number, sizeof number));
    else
        status =
            sk_fail(err, SK_ERR_FORMAT, "%s: \"%.60s\" in \"run\" is to be a text, a number, true, or a list",
                    r->path, name);
    if (status == SK_OK)
        status = add_word(r->out, &word, err);
    sk_text_free(&word);
    return status;
}

static sk_status read_values(const reading *r, const char *name, const sk_config_value *value, sk_error *err)
{
    if (!sk_config_is(value, SK_CONFIG_LIST))
        return add_value(r, name, value, err);
    for (size_t i = 0; i < sk_config_count(value); i++)
        SK_TRY(add_value(r, name, sk_config_at(value, i), err));
    return SK_OK;
}

/* Options first, then "--" and the sources, whatever they are called. */
static sk_status read_own(const reading *r, const sk_config_value *run, sk_error *err)
{
    if (!run)
        return SK_OK;
    if (!sk_config_is(run, SK_CONFIG_MAP))
        return sk_fail(err, SK_ERR_FORMAT, "%s: \"run\" is an object of the command's options", r->path);
    for (size_t i = 0; i < run->length; i++) {
        const char *name = run->u.pairs[i].name;
        const sk_config_value *value = run->u.pairs[i].value;
        if (strcmp(name, "source") == 0)
            continue;
        if (strcmp(name, "config") != 0) {
            SK_TRY(read_values(r, name, value, err));
            continue;
        }
        if (!sk_config_text(value))
            return sk_fail(err, SK_ERR_FORMAT, "%s: \"config\" in \"run\" names a file", r->path);
        SK_TRY(find_file(r, sk_config_text(value), &r->out->base, err));
        if (!r->out->base)
            return sk_fail(err, SK_ERR_NOT_FOUND, "%s: the configuration %s that it is put over is not there",
                           r->path, sk_config_text(value));
    }
    sk_text dashes = {0};
    sk_text_append(&dashes, "--");
    SK_TRY(add_word(r->out, &dashes, err));
    const sk_config_value *source = sk_config_get(run, "source");
    return source ? read_values(r, "source", source, err) : SK_OK;
}

sk_status sk_track_config_run_read(const char *path, sk_track_config_run *out, sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    sk_config *tree = NULL;
    sk_hydra_config *config = NULL;
    *out = (sk_track_config_run){.masked = -1};
    SK_TRY(sk_file_read(path, BYTES_MOST, &text, &length, err));
    sk_status status = sk_config_open_json(text, length, path, &tree, err);
    if (status == SK_OK && sk_hydra_config_is(sk_config_root(tree))) {
        status = sk_hydra_config_open(text, length, path, &config, err);
        const reading r = {path, config, out};
        if (status == SK_OK)
            status = read_all(&r, err);
        if (status == SK_OK)
            status = sk_text_status(&out->notes, err);
        sk_hydra_config_close(&config);
    } else if (status == SK_OK) {
        const reading r = {path, NULL, out};
        status = read_own(&r, sk_config_get(sk_config_root(tree), "run"), err);
    }
    sk_config_close(&tree);
    sk_free(text);
    return status;
}

void sk_track_config_run_free(sk_track_config_run *run)
{
    for (int32_t i = 0; i < run->n_words; i++)
        sk_free(run->words[i]);
    sk_free_all(run->source, run->models[0], run->models[1], (void *)run->words, run->base);
    sk_text_free(&run->notes);
    *run = (sk_track_config_run){0};
}
