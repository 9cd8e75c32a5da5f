/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/own_manifest.h"

#include "base/file.h"
#include "formats/config_make.h"
#include "models/model.h"
#include "ros/manifest_runs.h"
#include "ros/shipped.h"
#include "ros/template.h"
#include "skitter/version.h"

#include <ctype.h>
#include <string.h>

#define TEMPLATE     "own_manifest.yaml"
#define LONGEST_NAME 60

/* What the two models are together; null: nothing a node could publish. */
static const char *task_of(const sk_model *first, const sk_model *second)
{
    const sk_task a = sk_model_task(first), b = second ? sk_model_task(second) : SK_TASK_UNKNOWN;
    const bool pose_on_crops =
        b == SK_TASK_POSE || b == SK_TASK_SINGLE_INSTANCE || b == SK_TASK_CENTERED_INSTANCE;
    switch (a) {
    case SK_TASK_DETECT: return !second ? "detect" : pose_on_crops ? "pose" : NULL;
    case SK_TASK_OBB: return !second ? "obb" : pose_on_crops ? "pose" : NULL;
    case SK_TASK_POSE: return second ? NULL : "pose";
    case SK_TASK_SINGLE_INSTANCE: return second ? NULL : "single";
    case SK_TASK_BOTTOMUP:
    case SK_TASK_MULTICLASS_BOTTOMUP: return second ? NULL : "bottomup";
    case SK_TASK_CENTROID:
        return b == SK_TASK_CENTERED_INSTANCE || b == SK_TASK_MULTICLASS_TOPDOWN ? "topdown" : NULL;
    default: return NULL;
    }
}

static sk_status refuse(const sk_model *first, const sk_model *second, const sk_own_manifest *what,
                        sk_error *err)
{
    const sk_task task = sk_model_task(first);
    const char *hint = task == SK_TASK_CENTROID && !second
                           ? "name the folder of its centered instance model behind it"
                       : task == SK_TASK_CENTERED_INSTANCE || task == SK_TASK_MULTICLASS_TOPDOWN
                           ? "name the folder of its centroid model before it"
                           : "nodes publish boxes, oriented boxes, keypoints and tracks";
    return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: no node can be made of a model for '%s'%s%s%s\n%s",
                   what->models[0], sk_task_name(task), second ? " with one for '" : "",
                   second ? sk_task_name(sk_model_task(second)) : "", second ? "'" : "", hint);
}

/* Where a model is, from the root on; a shell ends the names of folders with a slash, and the name is before it. */
static char *whole_path(const char *model)
{
    char *whole = sk_path_absolute(model);
    for (size_t length = whole ? strlen(whole) : 0; length > 1 && whole[length - 1] == '/';)
        whole[--length] = '\0';
    return whole;
}

static char *last_name(const char *model)
{
    char *whole = whole_path(model), *name = whole ? sk_strdup(sk_path_name(whole)) : NULL;
    sk_free(whole);
    return name;
}

/* The model's name from its file's, or from its whole folder's: SLEAP's have dots in them and no ending. */
static sk_status name_model(const sk_own_manifest *what, char **out, sk_error *err)
{
    char *whole = whole_path(what->models[0]);
    char *stem = what->name                    ? sk_strdup(what->name)
                 : !whole                      ? NULL
                 : sk_file_is_directory(whole) ? last_name(whole)
                                               : sk_path_stem(whole);
    sk_free(whole);
    if (!stem)
        return sk_fail_memory(err, 1);
    if (what->name) {
        *out = stem;
        return SK_OK;
    }
    sk_text text = {0};
    for (const char *c = stem; *c && text.length < LONGEST_NAME; c++) {
        const char letter = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
        if (letter != '_' || (text.length && text.data[text.length - 1] != '_'))
            sk_text_append_bytes(&text, &letter, 1);
    }
    if (!text.length)
        sk_text_append(&text, "model");
    sk_free(stem);
    return sk_text_take(&text, out, err);
}

static void put_weights(sk_maker *m, const sk_own_manifest *what)
{
    sk_make_list(m, "weights");
    for (int i = 0; i < 2 && what->models[i]; i++)
        sk_make_owned(m, NULL, whole_path(what->models[i]));
    sk_make_close(m);
}

static void put_names(sk_maker *m, const char *key, int32_t count,
                      const char *(*name)(const sk_model *, int32_t), const sk_model *model)
{
    bool named = true;
    for (int32_t i = 0; i < count; i++)
        named = named && *name(model, i);
    sk_make_list(m, key);
    for (int32_t i = 0; named && i < count; i++)
        sk_make_owned(m, NULL, sk_text_utf8_copy(name(model, i)));
    sk_make_close(m);
}

static void put_skeleton(sk_maker *m, const sk_model *model)
{
    sk_make_list(m, "skeleton");
    for (int32_t i = 0; i < model->n_edges; i++) {
        sk_make_map(m, NULL);
        sk_make_int(m, "from", model->edges[i][0]);
        sk_make_int(m, "to", model->edges[i][1]);
        sk_make_close(m);
    }
    sk_make_close(m);
}

static sk_status make_values(const sk_own_manifest *what, const char *name, const char *task,
                             const sk_model *first, const sk_model *second, sk_config **out, sk_error *err)
{
    const bool yolo = first->family != SK_FAMILY_SLEAP;
    const sk_model *points = second ? second : first;
    const bool keypoints = points->n_keypoints > 0 && strcmp(task, "detect") != 0 && strcmp(task, "obb") != 0;
    sk_maker m;
    sk_make_begin(&m, "the manifest");
    sk_make_text(&m, "skitter_version", sk_version_text());
    sk_make_owned(&m, "from", last_name(what->models[0]));
    sk_make_text(&m, "name", name);
    sk_make_text(&m, "family", yolo ? "ultralytics" : "sleap");
    sk_make_text(&m, "task", task);
    sk_make_list(&m, "backends");
    for (const char *const *b = sk_ros_backends; *b; b++)
        if (yolo || strcmp(*b, "rocm") != 0) /* as the shipped manifests: not run there yet */
            sk_make_text(&m, NULL, *b);
    sk_make_close(&m);
    sk_make_text(&m, "architecture",
                 first->architecture && *first->architecture ? first->architecture : "own");
    put_weights(&m, what);
    sk_make_text(&m, "format", first->input.channels == 1 ? "grey" : "rgb");
    sk_make_text(&m, "output_type", what->track ? "tracked_objects" : keypoints ? "keypoints" : "detections");
    put_names(&m, "class_names", first->n_classes, sk_model_class_name, first);
    put_names(&m, "keypoint_names", keypoints ? points->n_keypoints : 0, sk_model_keypoint_name, points);
    put_skeleton(&m, points);
    sk_make_bool(&m, "has_keypoints", keypoints);
    sk_make_bool(&m, "has_tracks", what->track);
    sk_make_bool(&m, "is_yolo", yolo);
    sk_make_real(&m, "confidence", what->track ? 0.1 : 0.25);
    return sk_make_finish(&m, out, err);
}

static sk_status render(const sk_config_value *values, sk_text *text, sk_error *err)
{
    for (const sk_ros_file *f = sk_ros_files; f->name; f++)
        if (strcmp(f->name, TEMPLATE) == 0)
            return sk_template_render(f->text, f->n_bytes, f->name, values, text, err);
    return sk_fail(err, SK_ERR_INTERNAL, "this skitter was built without " TEMPLATE);
}

static void keep_first(void *context, const char *line)
{
    char *kept = context;
    if (!*kept)
        sk_text_shorten(line, kept, 512);
}

/* What was written is read as anybody's would be. */
static sk_status check(const sk_text *text, sk_error *err)
{
    sk_manifest *manifest = NULL;
    sk_problems problems = {0};
    sk_ros_meaning meaning;
    char why[512] = "";
    sk_status status =
        sk_manifest_open(sk_text_get(text), text->length, "the manifest", &manifest, &problems, err);
    if (manifest)
        sk_manifest_meaning(manifest, &meaning, &problems);
    sk_problems_each(&problems, keep_first, why);
    if (status == SK_OK && problems.count)
        status = sk_fail(err, SK_ERR_FORMAT, "%s", why);
    sk_problems_free(&problems);
    sk_manifest_close(&manifest);
    return status;
}

sk_status sk_own_manifest_write(const sk_own_manifest *what, sk_text *text, char **name, sk_error *err)
{
    sk_model *first = NULL, *second = NULL;
    sk_config *values = NULL;
    sk_status status = SK_OK;
    *name = NULL;
    SK_TRY_GOTO(sk_model_open(what->models[0], &first, err));
    if (what->models[1])
        SK_TRY_GOTO(sk_model_open(what->models[1], &second, err));
    if (first->truncated || (second && second->truncated)) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off, and no node could run it",
                         what->models[first->truncated ? 0 : 1]);
        goto done;
    }
    const char *task = task_of(first, second);
    if (!task || first->family == SK_FAMILY_NONE) {
        status = refuse(first, second, what, err);
        goto done;
    }
    SK_TRY_GOTO(name_model(what, name, err));
    SK_TRY_GOTO(make_values(what, *name, task, first, second, &values, err));
    SK_TRY_GOTO(render(sk_config_root(values), text, err));
    SK_TRY_GOTO(check(text, err));
done:
    if (status != SK_OK) {
        sk_free(*name);
        *name = NULL;
    }
    sk_config_close(&values);
    sk_model_close(&first);
    sk_model_close(&second);
    return status;
}
