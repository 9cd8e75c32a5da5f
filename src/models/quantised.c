/* SPDX-License-Identifier: Apache-2.0 */
#include "models/quantised.h"

#include "formats/config.h"
#include "formats/skq.h"
#include "models/model.h"
#include "models/onnx_meta.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LAYERS ((size_t)1 << 20)

/* Cut off where it is full. */
static void add(char buffer[SK_QUANTISED_TEXT], size_t *used, const char *format, ...) SK_PRINTF(3, 4);

static void add(char buffer[SK_QUANTISED_TEXT], size_t *used, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(buffer + *used, SK_QUANTISED_TEXT - *used, format, args);
    va_end(args);
    *used = n < 0 ? *used : *used + (size_t)n < SK_QUANTISED_TEXT ? *used + (size_t)n : SK_QUANTISED_TEXT - 1;
}

const char *sk_quantised_text(const sk_quantised *q, char buffer[SK_QUANTISED_TEXT])
{
    const sk_loss *l = &q->loss;
    if (!q->made_by[0]) {
        snprintf(buffer, SK_QUANTISED_TEXT, "%s, loss not known: another program made it", q->precision);
        return buffer;
    }
    if (!q->measured) {
        snprintf(buffer, SK_QUANTISED_TEXT,
                 "%s, loss not known: nothing was found in the frames it was measured on", q->precision);
        return buffer;
    }
    const size_t by = strcspn(q->measured_by, ",");
    size_t used = 0;
    add(buffer, &used, "%s, loss %.2f %% on %.*s", q->precision, l->percent, by ? (int)by : 3,
        by ? q->measured_by : "cpu");
    if (l->frames > 0)
        add(buffer, &used, ", %d frame%s", l->frames, l->frames == 1 ? "" : "s");
    if (q->height > 0 && q->width > 0)
        add(buffer, &used, " at %dx%d", q->width, q->height);
    add(buffer, &used, ": of %lld instances %lld lost, %lld new", (long long)l->instances, (long long)l->lost,
        (long long)l->added);
    if (l->box_px_95 > 0)
        add(buffer, &used, ", boxes %.2f px (95 %%: %.2f)", l->box_px, l->box_px_95);
    if (l->keypoint_px_95 > 0)
        add(buffer, &used, ", keypoints %.2f px (95 %%: %.2f)", l->keypoint_px, l->keypoint_px_95);
    if (l->score_95 >= 0)
        add(buffer, &used, ", scores %.3f (95 %%: %.3f)", l->score, l->score_95);
    return buffer;
}

double sk_quantised_told_loss(const sk_quantised *q)
{
    char text[512]; /* the very digits: rounding by hand may differ in the last one */
    snprintf(text, sizeof text, "%.2f", q->loss.percent);
    return strtod(text, NULL);
}

/* What was not measured is null: 0 would be no loss at all. */
static void write_loss(const sk_quantised *q, sk_json *json)
{
    const sk_loss none = {.percent = NAN,
                          .box_px = NAN,
                          .box_px_95 = NAN,
                          .keypoint_px = NAN,
                          .keypoint_px_95 = NAN,
                          .score = NAN,
                          .score_95 = NAN},
                  *l = &q->loss, *f = q->measured ? l : &none;
    sk_json_key_object(json, "loss");
    sk_json_key_ints(json, {"frames", l->frames}, {"instances", l->instances}, {"lost", l->lost},
                     {"added", l->added});
    sk_json_key_floats(json, {"percent", f->percent}, {"box_px", f->box_px}, {"box_px_95", f->box_px_95},
                       {"keypoint_px", f->keypoint_px}, {"keypoint_px_95", f->keypoint_px_95},
                       {"score", f->score}, {"score_95", f->score_95});
    sk_json_close(json);
}

void sk_quantised_write(const sk_quantised *q, sk_json *json)
{
    sk_json_key_strings(json, {"precision", q->precision}, {"source", q->source},
                        {"source_sha256", q->source_sha256}, {"data", q->data}, {"made_by", q->made_by});
    if (q->finder[0])
        sk_json_key_string(json, "finder", q->finder);
    sk_json_key_ints(json, {"frames", q->frames}, {"layers_in_eight_bits", q->layers},
                     {"layers_in_f32", q->kept});
    sk_json_key_bool(json, "measured", q->measured);
    if (q->measured_by[0])
        sk_json_key_string(json, "measured_by", q->measured_by);
    if (q->height > 0 && q->width > 0)
        sk_json_key_ints(json, {"height", q->height}, {"width", q->width});
    write_loss(q, json);
}

sk_status sk_quantised_to_json(const sk_quantised *q, char **out, sk_error *err)
{
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_quantised_write(q, &json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (status == SK_OK)
        status = sk_text_take(&text, out, err);
    sk_text_free(&text);
    return status;
}

static sk_status read_text(const sk_config_value *root, const char *key, char *out, size_t room,
                           const char *what, sk_error *err)
{
    const char *text = sk_config_text_or(root, key, "");
    if (strlen(text) >= room)
        return sk_fail(err, SK_ERR_FORMAT, "%s: '%s' in its description is too long", what, key);
    snprintf(out, room, "%s", text);
    return SK_OK;
}

/* Of one that was measured the percentage must be there: without it nothing may look like no loss at all. Others that are absent, or
 * null, are not known. */
static sk_status read_loss(const sk_config_value *root, const char *what, bool measured, sk_loss *out,
                           sk_error *err)
{
    const struct {
        const char *path;
        double *to;
    } reals[] = {{"loss.percent", &out->percent},
                 {"loss.box_px", &out->box_px},
                 {"loss.box_px_95", &out->box_px_95},
                 {"loss.keypoint_px", &out->keypoint_px},
                 {"loss.keypoint_px_95", &out->keypoint_px_95},
                 {"loss.score", &out->score},
                 {"loss.score_95", &out->score_95}};
    int64_t counts[4];
    static const char *const paths[4] = {"loss.frames", "loss.instances", "loss.lost", "loss.added"};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        const bool percent = i == 0;
        *reals[i].to = sk_config_real_or(root, reals[i].path, percent && !measured ? 0 : NAN);
        if (isinf(*reals[i].to) || *reals[i].to < 0 || (percent && isnan(*reals[i].to)))
            return sk_fail(err, SK_ERR_FORMAT, "%s: '%s' in its description is no number that can be", what,
                           reals[i].path);
    }
    for (int i = 0; i < 4; i++) {
        counts[i] = sk_config_int_or(root, paths[i], 0);
        if (counts[i] < 0 || counts[i] > INT32_MAX)
            return sk_fail(err, SK_ERR_FORMAT, "%s: '%s' in its description is no count that can be", what,
                           paths[i]);
    }
    out->frames = (int32_t)counts[0];
    out->instances = counts[1];
    out->lost = counts[2];
    out->added = counts[3];
    return SK_OK;
}

/* Names and reaches of the layers; the rest of a row is for people. */
static sk_status read_reach(const sk_config_value *root, const char *what, sk_arena *arena, sk_quantised *out,
                            sk_error *err)
{
    const sk_config_value *list = sk_config_get(root, "layers");
    size_t n = sk_config_is(list, SK_CONFIG_LIST) ? sk_config_count(list) : 0;
    if (n == 0)
        return SK_OK;
    sk_quantise_reach *reach = n < MOST_LAYERS ? sk_arena_alloc(arena, n * sizeof *reach) : NULL;
    if (!reach)
        return sk_fail_memory(err, n * sizeof *reach);
    for (size_t i = 0; i < n; i++) {
        const sk_config_value *row = sk_config_at(list, i);
        double low = sk_config_real_or(row, "low", 0), high = sk_config_real_or(row, "high", 0);
        reach[i].name = sk_arena_strdup(arena, sk_config_text_or(row, "name", ""));
        if (!reach[i].name)
            return sk_fail_memory(err, 64);
        if (!(fabs(low) < 1e30) || !(fabs(high) < 1e30))
            return sk_fail(err, SK_ERR_FORMAT, "%s: layer '%.60s' in its description reaches from %g to %g",
                           what, reach[i].name, low, high);
        reach[i].low = (float)low;
        reach[i].high = (float)high;
    }
    out->reach = reach;
    out->n_reach = (int32_t)n;
    return SK_OK;
}

sk_status sk_quantised_read(const char *json, size_t length, const char *what, sk_arena *arena,
                            sk_quantised *out, sk_error *err)
{
    sk_config *config = NULL;
    sk_status status = SK_OK;
    memset(out, 0, sizeof *out);
    SK_TRY(sk_config_open_json(json, length, what, &config, err));
    const sk_config_value *root = sk_config_root(config);
    const struct {
        const char *key;
        char *to;
        size_t room;
    } texts[] = {{"precision", out->precision, sizeof out->precision},
                 {"source", out->source, sizeof out->source},
                 {"source_sha256", out->source_sha256, sizeof out->source_sha256},
                 {"data", out->data, sizeof out->data},
                 {"finder", out->finder, sizeof out->finder},
                 {"made_by", out->made_by, sizeof out->made_by},
                 {"measured_by", out->measured_by, sizeof out->measured_by}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        SK_TRY_GOTO(read_text(root, texts[i].key, texts[i].to, texts[i].room, what, err));
    const struct {
        const char *key;
        int32_t *to;
    } counts[] = {{"frames", &out->frames},
                  {"layers_in_eight_bits", &out->layers},
                  {"layers_in_f32", &out->kept},
                  {"height", &out->height},
                  {"width", &out->width}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int64_t v = sk_config_int_or(root, counts[i].key, 0);
        if (v < 0 || v > INT32_MAX) {
            status = sk_fail(err, SK_ERR_FORMAT, "%s: '%s' in its description is no count that can be", what,
                             counts[i].key);
            goto done;
        }
        *counts[i].to = (int32_t)v;
    }
    out->measured = sk_config_bool_or(root, "measured", false);
    SK_TRY_GOTO(read_loss(root, what, out->measured, &out->loss, err));
    status = read_reach(root, what, arena, out, err);
done:
    sk_config_close(&config);
    return status;
}

/* Whatever it is called: models are opened by what they hold. */
static bool begins_so(const char *path)
{
    uint8_t bytes[16];
    FILE *file;
    sk_error ignored;
    if (sk_file_open_stream(path, &file, &ignored) != SK_OK)
        return false;
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return sk_skq_is(bytes, n);
}

/* Of an ONNX file: what it carries, or that it computes in eight bits at all. One that cannot be read is for those to complain of who
 * open it. */
static sk_status look_at_onnx(const char *path, sk_quantised *out, bool *is, sk_error *err)
{
    sk_blob *bytes = NULL;
    sk_onnx_model *onnx = NULL;
    sk_error ignored;
    char *folder = sk_path_folder(path);
    sk_status status = folder ? SK_OK : sk_fail_memory(err, strlen(path));
    *is = false;
    if (folder && sk_file_load(path, &bytes, &ignored) == SK_OK &&
        sk_onnx_read(sk_blob_data(bytes), sk_blob_bytes(bytes), path, folder, &onnx, &ignored) == SK_OK) {
        const char *json = sk_onnx_metadata(onnx, SK_QUANTISED_KEY);
        *is = json != NULL;
        for (int32_t i = 0; i < onnx->graph.n_nodes && !*is; i++)
            *is = strcmp(onnx->graph.nodes[i].op, "DequantizeLinear") == 0;
        *out = (sk_quantised){.precision = "8 bits"};
        if (json)
            status = sk_quantised_read(json, strlen(json), path, onnx->arena, out, err);
        out->reach = NULL;
        out->n_reach = 0;
    }
    sk_onnx_close(&onnx);
    sk_blob_unref(&bytes);
    sk_free(folder);
    return status;
}

sk_status sk_quantised_look(const char *path, sk_quantised *out, bool *is, sk_error *err)
{
    sk_blob *bytes = NULL;
    sk_arena *arena = NULL;
    sk_skq parts;
    sk_status status = SK_OK;
    *is = begins_so(path) || (sk_path_has_extension(path, SK_SKQ_EXTENSION) && sk_file_is_regular(path));
    if (!*is)
        return sk_path_has_extension(path, ".onnx") ? look_at_onnx(path, out, is, err) : SK_OK;
    SK_TRY_GOTO(sk_file_load(path, &bytes, err));
    SK_TRY_GOTO(sk_skq_read(sk_blob_data(bytes), sk_blob_bytes(bytes), path, &parts, err));
    SK_TRY_GOTO(sk_arena_open(0, &arena, err));
    status = sk_quantised_read(parts.json, parts.json_length, path, arena, out, err);
    out->reach = NULL;
    out->n_reach = 0;
done:
    sk_arena_close(&arena);
    sk_blob_unref(&bytes);
    return status;
}

/* --- the model --- */

sk_status sk_skq_read_model(const void *bytes, size_t length, const char *path, sk_model *model,
                            sk_error *err)
{
    sk_skq parts;
    sk_sha256 hash;
    char text[SK_QUANTISED_TEXT];
    SK_TRY(sk_skq_read(bytes, length, path, &parts, err));
    sk_quantised *q = sk_arena_alloc(model->arena, sizeof *q);
    if (!q)
        return sk_fail_memory(err, sizeof *q);
    SK_TRY(sk_quantised_read(parts.json, parts.json_length, path, model->arena, q, err));
    SK_TRY(sk_onnx_read_model(parts.network, parts.network_length, path, NULL, model, err));
    sk_hash_sha256(bytes, length, &hash);
    sk_sha256_text(&hash, model->content_hash);
    model->format = SK_FORMAT_SKQ;
    model->quantised = q;
    sk_model_add_fact(model, "eight bits", sk_quantised_text(q, text));
    sk_model_add_fact(model, "made from", q->source);
    return SK_OK;
}

sk_status sk_model_read_skq(const char *path, sk_model *model, sk_error *err)
{
    sk_blob *bytes = NULL;
    SK_TRY(sk_file_load(path, &bytes, err));
    sk_status status = sk_skq_read_model(sk_blob_data(bytes), sk_blob_bytes(bytes), path, model, err);
    sk_blob_unref(&bytes);
    return status;
}
