/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo_internal.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/config.h"
#include "skitter/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const model_files[SK_DEMO_PARTS] = {"demo-obb.pt", "demo-pose.pt"};
static const char *const stage_names[] = {"empty", "begun", "drawn", "finished"};

/* --- models --- */

static bool holds_models(const char *folder, char paths[SK_DEMO_PARTS][512])
{
    for (int i = 0; i < SK_DEMO_PARTS; i++) {
        int n = snprintf(paths[i], 512, "%s/%s", folder, model_files[i]);
        if (n >= 512 || !sk_file_is_regular(paths[i]))
            return false;
    }
    return true;
}

sk_status sk_demo_find_models(const char *asked, char paths[SK_DEMO_PARTS][512], sk_error *err)
{
    const char *said = asked ? asked : getenv("SKITTER_MODELS");
    if (said && said[0]) {
        if (holds_models(said, paths))
            return SK_OK;
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: the demo's models %s and %s are not there\n%s", said,
                       model_files[0], model_files[1],
                       asked ? "--models names the folder that holds them" : "SKITTER_MODELS names it");
    }
    for (int i = 0; i < 2; i++) {
        char *folder = sk_folder_models(i);
        bool there = folder && holds_models(folder, paths);
        sk_free(folder);
        if (there)
            return SK_OK;
    }
    return sk_fail(err, SK_ERR_NOT_FOUND,
                   "the demo's models, %s and %s, are not on this machine: looked in ../share/models and "
                   "../share/skitter/models beside the program\nthey come with skitter's repository in "
                   "share/models; name another folder "
                   "with --models DIR or SKITTER_MODELS",
                   model_files[0], model_files[1]);
}

/* --- what shapes the result --- */

sk_status sk_demo_fingerprint(const sk_demo_settings *s, char paths[SK_DEMO_PARTS][512], char *out,
                              size_t capacity, sk_error *err)
{
    int used =
        snprintf(out, capacity,
                 "skitter %s; species %s; animals %d; size %dx%d; rate %g; seconds %g; seed %llu; "
                 "behaviour %u; hides %d; border %d; runtime %s%s%s",
                 sk_version_text(), sk_species_names[s->scene.species], s->scene.animals, s->scene.width,
                 s->scene.height, s->scene.rate, s->seconds, (unsigned long long)s->scene.seed,
                 s->scene.behaviour, s->scene.hides, (int)s->scene.open_border, s->runtime,
                 s->compare ? "; compare" : "", s->pictures ? "; pictures" : "");
    for (int i = 0; i < SK_DEMO_PARTS; i++) {
        sk_sha256 hash;
        char text[SK_SHA256_TEXT];
        SK_TRY(sk_hash_sha256_file(paths[i], &hash, err));
        if (used > 0 && (size_t)used < capacity)
            used +=
                snprintf(out + used, capacity - (size_t)used, "; model %.16s", sk_sha256_text(&hash, text));
    }
    return SK_OK;
}

char *sk_demo_scene(const char *out)
{
    char *video = sk_path_join(out, "scene.mp4"), *pictures = sk_path_join(out, "scene");
    const bool is_video = video && pictures && (sk_file_exists(video) || !sk_file_is_directory(pictures));
    sk_free(is_video ? pictures : video);
    return is_video ? video : pictures;
}

/* --- demo.json --- */

static sk_status parse_state(const sk_demo_settings *s, const char *path, const char *text, size_t length,
                             const char *fingerprint, sk_demo_stage *stage, sk_error *err)
{
    sk_config *config = NULL;
    SK_TRY(sk_config_open_json(text, length, path, &config, err));
    const sk_config_value *root = sk_config_root(config);
    const char *state = sk_config_text_or(root, "state", "");
    for (int i = SK_DEMO_BEGUN; i <= SK_DEMO_FINISHED; i++)
        if (strcmp(state, stage_names[i]) == 0)
            *stage = (sk_demo_stage)i;
    sk_status status = SK_OK;
    if (!s->restart && strcmp(sk_config_text_or(root, "settings", ""), fingerprint) != 0)
        status = sk_fail(
            err, SK_ERR_MISMATCH,
            "%s: holds another demo (other animals, seed, runtime, models or version)\n--restart replaces "
            "it; --out chooses another folder",
            s->out);
    sk_config_close(&config);
    return status;
}

/* A folder that is somebody's own is not written over. */
static sk_status check_foreign(const sk_demo_settings *s, sk_error *err)
{
    static const char *const ours[] = {"scene.mp4", "scene", "truth.csv", "report.html",
                                       "boxes",     "poses", "tracks"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        char *path = sk_path_join(s->out, ours[i]);
        bool there = path && sk_file_exists(path);
        sk_status status =
            !path   ? sk_fail_memory(err, strlen(s->out))
            : there ? sk_fail(err, SK_ERR_MISMATCH,
                              "%s: is there already and not of a demo\n--out chooses another folder", path)
                    : SK_OK;
        sk_free(path);
        SK_TRY(status);
    }
    return SK_OK;
}

sk_status sk_demo_read_state(const sk_demo_settings *s, const char *fingerprint, sk_demo_stage *stage,
                             sk_error *err)
{
    *stage = SK_DEMO_EMPTY;
    char *path = sk_path_join(s->out, "demo.json"), *text = NULL;
    size_t length = 0;
    sk_status status = SK_OK;
    if (!path)
        return sk_fail_memory(err, strlen(s->out));
    if (!sk_file_exists(path)) {
        status = check_foreign(s, err);
        goto done;
    }
    SK_TRY_GOTO(sk_file_read(path, 1 << 24, &text, &length, err));
    status = parse_state(s, path, text, length, fingerprint, stage, err);
    if (status == SK_OK && s->restart)
        *stage = SK_DEMO_BEGUN;
done:
    sk_free(text);
    sk_free(path);
    return status;
}

sk_status sk_demo_write_state(const sk_demo_settings *s, const char *fingerprint, sk_demo_stage stage,
                              const sk_demo_report *report, sk_error *err)
{
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 2);
    sk_json_object(&json);
    sk_json_key_string(&json, "state", stage_names[stage]);
    sk_json_key_string(&json, "settings", fingerprint);
    if (stage == SK_DEMO_FINISHED) {
        sk_json_key(&json, "report");
        sk_demo_to_json(s, report, &json);
    }
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    char *path = sk_path_join(s->out, "demo.json");
    if (status == SK_OK)
        status =
            path ? sk_file_replace(path, text.data, text.length, err) : sk_fail_memory(err, strlen(s->out));
    sk_free(path);
    sk_text_free(&text);
    return status;
}
