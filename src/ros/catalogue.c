/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/catalogue.h"

#include "base/file.h"
#include "base/object.h"
#include "ros/manifest_runs.h"
#include "ros/shipped.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const sk_ros_refused sk_ros_refused_models[] = {
    {"bytetrack", "tracked_objects",
     "it follows boxes that another node finds, and this node takes images; yolo_track with "
     "tracker:=bytetrack "
     "finds and follows in one node"},
    {"depth_anything", "depth_map", "it estimates depth, and skitter has no network that does"},
    {"florence", "multi_task", "it answers in words, and skitter runs no language models"},
    {"grounding_dino", "detections",
     "it finds what a text describes, and skitter runs no language models; yolo finds classes it was trained "
     "for"},
    {"rtmpose", "keypoints",
     "its SimCC heads are not among those skitter decodes; yolo_pose, sleap_topdown and sleap_bottomup give "
     "keypoints"},
    {"segment_anything", "segmentation",
     "it gives masks for points and boxes that somebody shows it, and skitter "
     "publishes none"},
    {"zoedepth", "depth_map", "it estimates depth, and skitter has no network that does"},
    {0}};

const sk_ros_refused *sk_ros_refused_find(const char *name)
{
    for (const sk_ros_refused *r = sk_ros_refused_models; r->name; r++)
        if (strcmp(r->name, name) == 0)
            return r;
    return NULL;
}

static void keep_first(void *context, const char *line)
{
    sk_text *text = context;
    if (!text->length)
        sk_text_append(text, line);
}

bool sk_catalogue_runs(const sk_manifest *manifest, sk_text *why)
{
    sk_problems problems = {0};
    sk_ros_meaning meaning;
    sk_manifest_meaning(manifest, &meaning, &problems);
    if (why)
        sk_problems_each(&problems, keep_first, why);
    const bool runs = problems.count == 0;
    sk_problems_free(&problems);
    return runs;
}

/* --- reading --- */

static sk_status add(sk_catalogue *c, const char *text, size_t length, const char *path, sk_error *err)
{
    sk_manifest *manifest = NULL;
    SK_TRY(sk_manifest_open(text, length, path, &manifest, &c->problems, err));
    if (!manifest)
        return SK_OK;
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->manifests[i]->name, manifest->name) != 0)
            continue;
        if (i < c->n_shipped) { /* the user's own takes its place */
            sk_manifest *shipped = c->manifests[i];
            c->manifests[i] = manifest;
            sk_manifest_close(&shipped);
            return SK_OK;
        }
        sk_problems_add(&c->problems, "%s: '%s' is the model of %s, too: give one of them another model.name",
                        path, manifest->name, c->manifests[i]->path);
        sk_manifest_close(&manifest);
        return SK_OK;
    }
    sk_status status = sk_array_reserve((void **)&c->manifests, &c->capacity, c->count + 1,
                                        sizeof *c->manifests, SK_CATALOGUE_MAX, err);
    if (status == SK_OK)
        c->manifests[c->count++] = manifest;
    else
        sk_manifest_close(&manifest);
    return status;
}

static sk_status add_shipped(sk_catalogue *c, sk_error *err)
{
    for (const sk_ros_file *f = sk_ros_files; f->name; f++)
        if (strncmp(f->name, "models/", 7) == 0 && sk_path_has_extension(f->name, ".yaml"))
            SK_TRY(add(c, f->text, f->n_bytes, f->name, err));
    c->n_shipped = c->count;
    return SK_OK;
}

static sk_status add_file(sk_catalogue *c, const char *path, sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    sk_error why = {0};
    sk_status status = sk_file_read(path, SK_MANIFEST_MAX_BYTES, &text, &length, &why);
    if (status == SK_ERR_MEMORY)
        return sk_fail(err, status, "%s", why.message);
    if (status != SK_OK) {
        sk_problems_add(&c->problems, "%s", why.message);
        return SK_OK;
    }
    status = add(c, text, length, path, err);
    sk_free(text);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The paths DIR/<anything>/manifest.yaml that are there, in order of their names. */
static sk_status list_folder(const char *folder, char ***out, size_t *count, sk_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return sk_fail(err, SK_ERR_NOT_FOUND, "Path '%s' does not exist or is no folder: %s", folder,
                       strerror(errno));
    sk_status status = SK_OK;
    size_t capacity = 0;
    for (const struct dirent *entry; status == SK_OK && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        char *inside = sk_path_join(folder, entry->d_name);
        char *path = inside ? sk_path_join(inside, "manifest.yaml") : NULL;
        sk_free(inside);
        const bool there = path && sk_file_exists(path);
        if (!path)
            status = sk_fail_memory(err, 1);
        else if (there)
            status =
                sk_array_reserve((void **)out, &capacity, *count + 1, sizeof **out, SK_CATALOGUE_MAX, err);
        if (status == SK_OK && there && *out)
            (*out)[(*count)++] = path;
        else
            sk_free(path);
    }
    closedir(dir);
    if (*out)
        qsort(*out, *count, sizeof **out, by_name);
    return status;
}

static sk_status add_folder(sk_catalogue *c, const char *folder, sk_error *err)
{
    char **paths = NULL;
    size_t count = 0;
    sk_status status = list_folder(folder, &paths, &count, err);
    char *alone = sk_path_join(folder, "manifest.yaml");
    if (status == SK_OK && !alone)
        status = sk_fail_memory(err, 1);
    if (status == SK_OK && sk_file_exists(alone))
        status = add_file(c, alone, err);
    else if (status == SK_OK && count == 0)
        sk_problems_add(&c->problems, "%s: there is no manifest in it: they are %s/<model>/manifest.yaml",
                        folder, folder);
    for (size_t i = 0; i < count; i++) {
        if (status == SK_OK)
            status = add_file(c, paths[i], err);
        sk_free(paths[i]);
    }
    sk_free_all(paths, alone);
    return status;
}

static int by_model(const void *a, const void *b)
{
    return strcmp((*(sk_manifest *const *)a)->name, (*(sk_manifest *const *)b)->name);
}

sk_status sk_catalogue_open(const char *folder, sk_catalogue **out, sk_error *err)
{
    *out = NULL;
    sk_catalogue *c = sk_calloc(1, sizeof *c);
    if (!c)
        return sk_fail_memory(err, sizeof *c);
    sk_status status = add_shipped(c, err);
    if (status == SK_OK && folder)
        status = add_folder(c, folder, err);
    if (status == SK_OK)
        status = sk_text_status(&c->problems.lines, err);
    if (c->manifests)
        qsort(c->manifests, c->count, sizeof *c->manifests, by_model);
    return SK_HAND_OVER(status, c, out, sk_catalogue_close);
}

void sk_catalogue_close(sk_catalogue **catalogue)
{
    SK_TAKE_OR_RETURN(c, catalogue);
    for (size_t i = 0; i < c->count; i++)
        sk_manifest_close(&c->manifests[i]);
    sk_free((void *)c->manifests);
    sk_problems_free(&c->problems);
    sk_free(c);
}

const sk_manifest *sk_catalogue_find(const sk_catalogue *catalogue, const char *name)
{
    for (size_t i = 0; i < catalogue->count; i++)
        if (strcmp(catalogue->manifests[i]->name, name) == 0)
            return catalogue->manifests[i];
    return NULL;
}
