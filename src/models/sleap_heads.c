/* SPDX-License-Identifier: Apache-2.0 */
#include "models/sleap.h"

#include "base/named.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_NAMES 4096

/* --- which task --- */

static const struct {
    const char *type;
    sk_task task;
    const char *classes; /* key of the class head */
    bool pafs;
} types[] = {
    {"single_instance", SK_TASK_SINGLE_INSTANCE, NULL, false},
    {"centroid", SK_TASK_CENTROID, NULL, false},
    {"centered_instance", SK_TASK_CENTERED_INSTANCE, NULL, false},
    {"multi_instance", SK_TASK_BOTTOMUP, NULL, true}, /* SLEAP <= 1.4's name of … */
    {"bottomup", SK_TASK_BOTTOMUP, NULL, true},       /* … sleap-nn's */
    {"multi_class_bottomup", SK_TASK_MULTICLASS_BOTTOMUP, "class_maps", false},
    {"multi_class_topdown", SK_TASK_MULTICLASS_TOPDOWN, "class_vectors", false},
};

static sk_status fill_heads(const sk_config_pair *pair, const char *what, sk_sleap_heads *out, sk_error *err)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(pair->name, types[i].type) != 0)
            continue;
        out->task = types[i].task;
        out->type = types[i].type;
        /* Single heads stand alone in SLEAP <= 1.4 and under "confmaps" in sleap-nn. */
        out->confmaps = sk_config_get(pair->value, "confmaps");
        if (!out->confmaps)
            out->confmaps = pair->value;
        out->pafs = types[i].pafs ? sk_config_get(pair->value, "pafs") : NULL;
        out->classes = types[i].classes ? sk_config_get(pair->value, types[i].classes) : NULL;
        if (!sk_config_is(out->confmaps, SK_CONFIG_MAP) || (types[i].pafs && sk_config_is_null(out->pafs)) ||
            (types[i].classes && sk_config_is_null(out->classes)))
            return sk_fail(err, SK_ERR_FORMAT, "%s: the head \"%s\" is incomplete", what, out->type);
        return SK_OK;
    }
    return sk_fail(
        err, SK_ERR_UNSUPPORTED,
        "%s: a \"%.60s\" model; supported are single_instance, centroid, centered_instance, bottomup, "
        "multi_class_bottomup and multi_class_topdown",
        what, pair->name);
}

sk_status sk_sleap_heads_find(const sk_config_value *heads, const char *what, sk_sleap_heads *out,
                              sk_error *err)
{
    const sk_config_pair *found = NULL;
    *out = (sk_sleap_heads){0};
    for (size_t i = 0; sk_config_is(heads, SK_CONFIG_MAP) && i < heads->length; i++) {
        const sk_config_pair *pair = &heads->u.pairs[i];
        if (sk_config_is_null(pair->value))
            continue;
        if (found)
            return sk_fail(err, SK_ERR_FORMAT,
                           "%s: names two heads, \"%.60s\" and \"%.60s\", where one is allowed", what,
                           found->name, pair->name);
        found = pair;
    }
    if (!found)
        return sk_fail(err, SK_ERR_FORMAT, "%s: names no head, so what the network finds is not known", what);
    return fill_heads(found, what, out, err);
}

/* --- names --- */

/* A list of texts into the arena. Numbers are allowed: YAML reads a part called 1 as a number. */
static sk_status copy_names(sk_model *model, const sk_config_value *list, const char *what, const char *which,
                            const char *const **out, int32_t *count, sk_error *err)
{
    size_t n = sk_config_count(list);
    if (n > MAX_NAMES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %zu %s; at most %d are read", what, n, which, MAX_NAMES);
    const char **names = sk_arena_alloc(model->arena, (n + 1) * sizeof *names);
    if (!names)
        return sk_fail_memory(err, n * sizeof *names);
    for (size_t i = 0; i < n; i++) {
        char number[32];
        int64_t integer;
        const char *text = sk_config_text(sk_config_at(list, i));
        if (!text && sk_config_to_int(sk_config_at(list, i), &integer)) {
            snprintf(number, sizeof number, "%" PRId64, integer);
            text = number;
        }
        if (!text)
            return sk_fail(err, SK_ERR_FORMAT, "%s: %s: entry %zu is no name", what, which, i);
        names[i] = sk_arena_strdup(model->arena, text);
        if (!names[i])
            return sk_fail_memory(err, strlen(text));
    }
    *out = names;
    *count = (int32_t)n;
    return SK_OK;
}

static int32_t index_of(const sk_model *model, const char *name)
{
    for (int32_t i = 0; name && i < model->n_keypoints; i++)
        if (strcmp(model->keypoint_names[i], name) == 0)
            return i;
    return -1;
}

static sk_status fill_keypoints(sk_model *model, const sk_sleap_heads *heads, const sk_skeleton *skeleton,
                                bool by_skeleton, const char *what, sk_error *err)
{
    const sk_config_value *parts = sk_config_get(heads->confmaps, "part_names");
    const char *anchor = sk_config_text(sk_config_get(heads->confmaps, "anchor_part"));
    if (anchor) {
        model->sleap.anchor_part = sk_arena_strdup(model->arena, anchor);
        if (!model->sleap.anchor_part)
            return sk_fail_memory(err, strlen(anchor));
    }
    if (heads->task == SK_TASK_CENTROID) {
        const char **names = sk_arena_alloc(model->arena, sizeof *names);
        if (!names)
            return sk_fail_memory(err, sizeof *names);
        names[0] = model->sleap.anchor_part ? model->sleap.anchor_part : "centroid";
        model->keypoint_names = names;
        model->n_keypoints = 1;
        return SK_OK;
    }
    const size_t n_parts = sk_config_count(parts);
    if (n_parts > 0 && !(by_skeleton && n_parts == (size_t)skeleton->n_nodes))
        return copy_names(model, parts, what, "part_names", &model->keypoint_names, &model->n_keypoints, err);
    if (skeleton->n_nodes == 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: neither the head nor a skeleton names the keypoints", what);
    model->keypoint_names = skeleton->node_names; /* already in the model's arena */
    model->n_keypoints = skeleton->n_nodes;
    return SK_OK;
}

/* The skeleton numbers its own nodes; the maps' channels may be in another order. */
static sk_status fill_skeleton_edges(sk_model *model, const sk_skeleton *skeleton, sk_error *err)
{
    int32_t(*edges)[2] = sk_arena_alloc(model->arena, ((size_t)skeleton->n_edges + 1) * sizeof *edges);
    if (!edges)
        return sk_fail_memory(err, (size_t)skeleton->n_edges * sizeof *edges);
    int32_t count = 0;
    for (int32_t i = 0; i < skeleton->n_edges; i++) {
        int32_t source = index_of(model, skeleton->node_names[skeleton->edges[i][0]]);
        int32_t target = index_of(model, skeleton->node_names[skeleton->edges[i][1]]);
        if (source < 0 || target < 0)
            continue; /* a part the network was not trained on */
        edges[count][0] = source;
        edges[count++][1] = target;
    }
    model->n_edges = count;
    model->edges = (const int32_t(*)[2])edges;
    return SK_OK;
}

/* The channel of a part, by what the head calls it. */
static int32_t part_index(const sk_model *model, const sk_sleap_heads *heads, const char *name)
{
    const sk_config_value *parts = sk_config_get(heads->confmaps, "part_names");
    const size_t n = sk_config_count(parts);
    for (size_t i = 0; name && n == (size_t)model->n_keypoints && i < n; i++) {
        const char *part = sk_config_text(sk_config_at(parts, i));
        if (part && strcmp(part, name) == 0)
            return (int32_t)i;
    }
    return index_of(model, name);
}

static sk_status fill_paf_edges(sk_model *model, const sk_sleap_heads *heads, const char *what, sk_error *err)
{
    const sk_config_value *list = sk_config_get(heads->pafs, "edges");
    if (!heads->pafs)
        return SK_OK;
    if (sk_config_is_null(list)) { /* left to the skeleton, in its order of insertion */
        model->sleap.n_edges = model->n_edges;
        model->sleap.edges = model->edges;
    } else {
        size_t count = sk_config_count(list);
        if (count > SK_SKELETON_MAX_EDGES)
            return sk_fail(err, SK_ERR_LIMIT, "%s: %zu edges", what, count);
        int32_t(*edges)[2] = sk_arena_alloc(model->arena, (count + 1) * sizeof *edges);
        if (!edges)
            return sk_fail_memory(err, count * sizeof *edges);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < 2; j++) {
                const char *name = sk_config_text(sk_config_at(sk_config_at(list, i), j));
                edges[i][j] = part_index(model, heads, name);
                if (edges[i][j] < 0)
                    return sk_fail(err, SK_ERR_FORMAT,
                                   "%s: edge %zu joins \"%.60s\", which is not one of part_names", what, i,
                                   name ? name : "?");
            }
        model->sleap.n_edges = (int32_t)count;
        model->sleap.edges = (const int32_t(*)[2])edges;
    }
    if (model->sleap.n_edges == 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: a bottom-up model without edges", what);
    if (model->n_edges == 0) {
        model->n_edges = model->sleap.n_edges;
        model->edges = model->sleap.edges;
    }
    return SK_OK;
}

sk_status sk_sleap_fill_names(sk_model *model, const sk_sleap_heads *heads, const sk_skeleton *skeleton,
                              bool by_skeleton, const char *what, sk_error *err)
{
    sk_model_set_task(model, heads->task);
    SK_TRY(fill_keypoints(model, heads, skeleton, by_skeleton, what, err));
    SK_TRY(fill_skeleton_edges(model, skeleton, err));
    SK_TRY(fill_paf_edges(model, heads, what, err));
    if (heads->classes) {
        SK_TRY(copy_names(model, sk_config_get(heads->classes, "classes"), what, "classes",
                          &model->class_names, &model->n_classes, err));
        model->sleap.class_names = model->class_names;
        if (model->n_classes == 0)
            return sk_fail(err, SK_ERR_FORMAT, "%s: a multi-class model without class names", what);
    }
    return SK_OK;
}

/* --- outputs --- */

sk_output_kind sk_sleap_output_kind(const char *head_name)
{
    static const sk_named heads[] = {
        {"SingleInstanceConfmapsHead", SK_OUTPUT_CONFMAPS},
        {"CentroidConfmapsHead", SK_OUTPUT_CONFMAPS},
        {"CenteredInstanceConfmapsHead", SK_OUTPUT_CONFMAPS},
        {"MultiInstanceConfmapsHead", SK_OUTPUT_CONFMAPS},
        {"PartAffinityFieldsHead", SK_OUTPUT_PAFS},
        {"OffsetRefinementHead", SK_OUTPUT_OFFSETS},
        {"ClassMapsHead", SK_OUTPUT_CLASS_MAPS},
        {"ClassVectorsHead", SK_OUTPUT_CLASS_VECTORS},
    };
    size_t length = strlen(head_name); /* without the "_0" that numbers stacks */
    while (length > 0 && head_name[length - 1] >= '0' && head_name[length - 1] <= '9')
        length--;
    if (length == strlen(head_name) || length == 0 || head_name[length - 1] != '_')
        length = strlen(head_name) + 1;
    length--;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strlen(heads[i].name) == length && strncmp(heads[i].name, head_name, length) == 0)
            return (sk_output_kind)heads[i].value;
    return SK_OUTPUT_OTHER;
}

static int64_t expected_channels(const sk_model *model, sk_output_kind kind)
{
    switch (kind) {
    case SK_OUTPUT_CONFMAPS: return model->n_keypoints;
    case SK_OUTPUT_PAFS: return 2 * (int64_t)model->sleap.n_edges;
    case SK_OUTPUT_OFFSETS: return 2 * (int64_t)model->n_keypoints;
    case SK_OUTPUT_CLASS_MAPS:
    case SK_OUTPUT_CLASS_VECTORS: return model->n_classes;
    default: return -1;
    }
}

static double configured_stride(const sk_sleap_heads *heads, sk_output_kind kind)
{
    switch (kind) {
    case SK_OUTPUT_CONFMAPS:
    case SK_OUTPUT_OFFSETS: return sk_config_real_or(heads->confmaps, "output_stride", -1);
    case SK_OUTPUT_PAFS: return sk_config_real_or(heads->pafs, "output_stride", -1);
    case SK_OUTPUT_CLASS_MAPS: return sk_config_real_or(heads->classes, "output_stride", -1);
    default: return -1;
    }
}

sk_status sk_sleap_add_output(sk_model *model, const sk_sleap_heads *heads, const char *name,
                              int64_t channels, double stride, const char *what, sk_error *err)
{
    int32_t limit = (int32_t)(sizeof model->outputs / sizeof *model->outputs);
    if (model->n_outputs >= limit)
        return sk_fail(err, SK_ERR_LIMIT, "%s: more than %d outputs", what, limit);
    sk_output_kind kind = sk_sleap_output_kind(name);
    int64_t expected = expected_channels(model, kind);
    if (expected >= 0 && channels >= 0 && channels != expected)
        return sk_fail(
            err, SK_ERR_MISMATCH,
            "%s: output \"%.80s\" has %lld channels where the training configuration names %lld; the folder "
            "mixes files of two models",
            what, name, (long long)channels, (long long)expected);
    double wanted = configured_stride(heads, kind);
    if (wanted > 0 && fabs(wanted - stride) > 1e-6)
        return sk_fail(
            err, SK_ERR_MISMATCH,
            "%s: output \"%.80s\" is at stride %g where the training configuration says %g; the folder mixes "
            "files of two models",
            what, name, stride, wanted);
    const char *kept = sk_arena_strdup(model->arena, name);
    if (!kept)
        return sk_fail_memory(err, strlen(name));
    model->outputs[model->n_outputs++] = (sk_output_spec){kind, kept, (float)stride};
    return SK_OK;
}

static bool has_output(const sk_model *model, sk_output_kind kind)
{
    for (int32_t i = 0; i < model->n_outputs; i++)
        if (model->outputs[i].kind == kind)
            return true;
    return false;
}

sk_status sk_sleap_check_outputs(const sk_model *model, const char *what, sk_error *err)
{
    const char *missing = NULL;
    if (!has_output(model, SK_OUTPUT_CONFMAPS))
        missing = "confidence maps";
    else if (model->task == SK_TASK_BOTTOMUP && !has_output(model, SK_OUTPUT_PAFS))
        missing = "part affinity fields";
    else if (model->task == SK_TASK_MULTICLASS_BOTTOMUP && !has_output(model, SK_OUTPUT_CLASS_MAPS))
        missing = "class maps";
    else if (model->task == SK_TASK_MULTICLASS_TOPDOWN && !has_output(model, SK_OUTPUT_CLASS_VECTORS))
        missing = "class vectors";
    if (missing)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the network has no output of %s, which its task needs", what,
                       missing);
    return SK_OK;
}

/* --- the rest --- */

void sk_sleap_default_size(sk_model *model)
{
    int32_t stride = model->input.stride > 0 ? model->input.stride : 1;
    int32_t *sides[2] = {&model->input.height, &model->input.width};
    for (int i = 0; i < 2; i++) {
        int32_t side = *sides[i];
        if (side <= 0)
            side = model->sleap.crop_size[i] > 0 ? model->sleap.crop_size[i] : 512;
        *sides[i] = (side + stride - 1) / stride * stride;
    }
}

void sk_sleap_add_fact(sk_model *model, const char *key, const sk_config_value *root, const char *path)
{
    const sk_config_value *value = sk_config_find(root, path);
    char number[64];
    int64_t integer;
    double real;
    bool boolean;
    const char *text = sk_config_text(value);
    if (sk_config_is(value, SK_CONFIG_BOOL) && sk_config_to_bool(value, &boolean)) {
        text = boolean ? "true" : "false";
    } else if (sk_config_to_int(value, &integer)) {
        snprintf(number, sizeof number, "%" PRId64, integer);
        text = number;
    } else if (sk_config_to_real(value, &real)) {
        snprintf(number, sizeof number, "%g", real);
        text = number;
    }
    if (text && *text)
        sk_model_add_fact(model, key, text);
}
