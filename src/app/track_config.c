/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_config.h"

#include "app/track_region.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "track/hydra_settings.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define BYTES_MOST ((size_t)16 << 20)

/* --- hydra-suite's --- */

/* What it says about its second way of finding animals. */
static void read_hydra_background(const sk_hydra_config *config, sk_background_settings *b)
{
    bool truth = false;
    double number = 0;
    if (sk_hydra_truth(config, "dark_on_light_background", &truth))
        b->ground = truth ? SK_GROUND_LIGHT : SK_GROUND_DARK;
    if (sk_hydra_number(config, "threshold_value", &number) ||
        sk_hydra_number(config, "subtraction_threshold", &number))
        b->threshold = number;
    if (sk_hydra_number(config, "morph_kernel_size", &number))
        b->smallest_feature = (int32_t)number;
    (void)sk_hydra_number(config, "contrast", &b->contrast);
    (void)sk_hydra_number(config, "brightness", &b->brightness);
    (void)sk_hydra_number(config, "gamma", &b->gamma);
    (void)sk_hydra_number(config, "min_contour_area", &b->least_area);
    (void)sk_hydra_truth(config, "enable_lighting_stabilization", &b->steady_light);
    (void)sk_hydra_truth(config, "enable_conservative_split", &b->split);
    double wide = 3, times = 2; /* its own defaults */
    (void)sk_hydra_number(config, "dilation_kernel_size", &wide);
    (void)sk_hydra_number(config, "dilation_iterations", &times);
    if (sk_hydra_truth(config, "enable_additional_dilation", &truth) && truth)
        b->grow = (int32_t)fmin(times * floor(wide / 2), 1000);
    if ((sk_hydra_truth(config, "enable_adaptive_background", &truth) ||
         sk_hydra_truth(config, "adaptive_background", &truth)) &&
        !truth)
        b->following = 0;
}

/* Keypoints at the head and at the tail: their names, or their numbers from 0. */
static sk_status read_points(const char *path, const sk_config_value *list, const char *name,
                             char out[SK_TRACK_POINTS_TEXT], sk_error *err)
{
    size_t used = 0;
    for (size_t i = 0; i < sk_config_count(list); i++) {
        const sk_config_value *item = sk_config_at(list, i);
        const char *text = sk_config_text(item);
        int64_t number = -1;
        if (!text && !sk_config_to_int(item, &number))
            return sk_fail(err, SK_ERR_FORMAT, "%s: %s is a list of keypoints' names", path, name);
        const int n = text ? snprintf(out + used, SK_TRACK_POINTS_TEXT - used, "%s%s", i ? "," : "", text)
                           : snprintf(out + used, SK_TRACK_POINTS_TEXT - used, "%s%lld", i ? "," : "",
                                      (long long)number);
        used += (size_t)n;
        if (used >= SK_TRACK_POINTS_TEXT)
            return sk_fail(err, SK_ERR_LIMIT, "%s: %s names too many keypoints", path, name);
    }
    return SK_OK;
}

/* Which end is the head, and whether anything is done once all frames are known. */
static sk_status read_hydra_wish(const char *path, const sk_hydra_config *config, sk_track_wish *wish,
                                 sk_error *err)
{
    static const char *const front = "pose_direction_anterior_keypoints";
    static const char *const back = "pose_direction_posterior_keypoints";
    bool after = true;
    SK_TRY(read_points(path, sk_hydra_list(config, front), front, wish->head_points, err));
    SK_TRY(read_points(path, sk_hydra_list(config, back), back, wish->tail_points, err));
    if (sk_hydra_truth(config, "enable_postprocessing", &after))
        wish->online = !after;
    return SK_OK;
}

/* There are many: how many of which subject, and with -v which. */
static void tell_unused(const char *path, const sk_hydra_config *config, sk_text *warnings)
{
    const char *at = sk_hydra_without_counterpart(config);
    if (*at)
        sk_text_appendf(warnings, "%s: without a counterpart here, and not used: %s\n", path,
                        sk_hydra_without_brief(config));
    while (*at) {
        const int length = (int)strcspn(at, "\n");
        sk_log(SK_LOG_INFO, "%s: not used, %.*s", path, length, at);
        at += length + (at[length] == '\n');
    }
}

static sk_status read_hydra(const char *path, const char *text, size_t length, sk_track_wish *wish,
                            sk_region **region, sk_text *region_text, sk_text *warnings, sk_error *err)
{
    sk_hydra_config *config = NULL;
    sk_region *shapes = NULL;
    sk_sha256 hash;
    char hex[SK_SHA256_TEXT];
    SK_TRY(sk_hydra_config_open(text, length, path, &config, err));
    wish->offline.track = wish->track;
    sk_status status = sk_hydra_settings(config, path, &wish->offline, &shapes, err);
    wish->track = wish->offline.track;
    if (status == SK_OK)
        status = read_hydra_wish(path, config, wish, err);
    if (status == SK_OK)
        read_hydra_background(config, &wish->background);
    if (status == SK_OK)
        tell_unused(path, config, warnings);
    if (status == SK_OK && sk_hydra_unknown(config)[0])
        sk_text_appendf(warnings, "%s: nobody knows these settings: %s\n", path, sk_hydra_unknown(config));
    if (shapes) {
        sk_hash_sha256(text, length, &hash);
        sk_text_appendf(region_text, "%sshapes of configuration %.16s", region_text->length ? " " : "",
                        sk_sha256_text(&hash, hex));
        sk_region_close(region);
        *region = shapes;
    }
    sk_hydra_config_close(&config);
    return status;
}

/* --- our own --- */

typedef struct reading {
    const char *path;
    sk_track_wish *wish;
    sk_region **region;
    sk_text *region_text;
} reading;

static sk_status wrong_kind(const reading *r, const char *name, const char *wanted, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: \"%s\" is to be %s", r->path, name, wanted);
}

static sk_status read_region(const reading *r, const char *name, const sk_config_value *value, sk_error *err)
{
    const bool exclude = strcmp(name, "roi_exclude") == 0;
    const size_t count = sk_config_is(value, SK_CONFIG_LIST) ? sk_config_count(value) : 1;
    for (size_t i = 0; i < count; i++) {
        const char *text =
            sk_config_text(sk_config_is(value, SK_CONFIG_LIST) ? sk_config_at(value, i) : value);
        if (!text)
            return wrong_kind(r, name, "a text such as \"10,10,300,200\", or a list of such", err);
        sk_status status = sk_track_region_add(text, exclude, r->region, r->region_text, err);
        if (status != SK_OK) {
            sk_error_prefix(err, "%s", r->path);
            return status;
        }
    }
    return SK_OK;
}

static sk_status read_tracker(const reading *r, const char *name, const sk_config_value *value, sk_error *err)
{
    const char *text = sk_config_text(value);
    for (const char *const *method = sk_track_methods(); text && *method; method++)
        if (strcmp(*method, text) == 0) {
            r->wish->track.method = *method;
            return SK_OK;
        }
    return wrong_kind(r, name, "the name of a tracker: \"skitter\", \"bytetrack\" or \"ocsort\"", err);
}

static sk_status read_member(const reading *r, const char *name, const sk_config_value *value, sk_error *err)
{
    static const struct {
        const char *name;
        size_t at;
    } flags[] = {{"online", offsetof(sk_track_wish, online)},
                 {"looks", offsetof(sk_track_wish, looks)},
                 {"tell_covered", offsetof(sk_track_wish, track.tell_covered)},
                 {"tell_lost", offsetof(sk_track_wish, track.tell_lost)},
                 {"backward", offsetof(sk_track_wish, offline.backward)}};
    if (strcmp(name, "run") == 0)
        return SK_OK; /* track_config_run.h */
    if (strcmp(name, "tracker") == 0)
        return read_tracker(r, name, value, err);
    if (strcmp(name, "roi") == 0 || strcmp(name, "roi_exclude") == 0)
        return read_region(r, name, value, err);
    if (strcmp(name, "offline_steps") == 0) {
        const char *text = sk_config_text(value);
        r->wish->offline.upstream = text && strcmp(text, "upstream") == 0;
        return text && (r->wish->offline.upstream || strcmp(text, "skitter") == 0)
                   ? SK_OK
                   : wrong_kind(r, name, "\"skitter\" or \"upstream\"", err);
    }
    if (strcmp(name, "head_points") == 0 || strcmp(name, "tail_points") == 0)
        return sk_config_is(value, SK_CONFIG_LIST)
                   ? read_points(r->path, value, name,
                                 name[0] == 'h' ? r->wish->head_points : r->wish->tail_points, err)
                   : wrong_kind(r, name, "a list of keypoints' names", err);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(name, flags[i].name) == 0)
            return sk_config_to_bool(value, (bool *)((char *)r->wish + flags[i].at))
                       ? SK_OK
                       : wrong_kind(r, name, "true or false", err);
    const sk_track_setting *setting = sk_track_setting_find(name);
    double number;
    if (!setting)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: \"%s\" is no setting of tracking; docs/track.md lists them, and so does 'skitter "
                       "track --set "
                       "x=1'",
                       r->path, name);
    if (!sk_config_to_real(value, &number) || sk_config_is(value, SK_CONFIG_BOOL))
        return wrong_kind(r, name, "a number", err);
    sk_status status = sk_track_setting_set(setting, number, r->wish, err);
    if (status != SK_OK)
        sk_error_prefix(err, "%s", r->path);
    return status;
}

sk_status sk_track_config_read(const char *path, sk_track_wish *wish, sk_region **region,
                               sk_text *region_text, sk_text *warnings, sk_error *err)
{
    char *text = NULL;
    size_t length = 0;
    sk_config *config = NULL;
    SK_TRY(sk_file_read(path, BYTES_MOST, &text, &length, err));
    const reading r = {path, wish, region, region_text};
    sk_status status = sk_config_open_json(text, length, path, &config, err);
    const sk_config_value *root = status == SK_OK ? sk_config_root(config) : NULL;
    if (status == SK_OK && !sk_config_is(root, SK_CONFIG_MAP))
        status = sk_fail(err, SK_ERR_FORMAT, "%s: is to be one JSON object of settings", path);
    if (status == SK_OK && sk_hydra_config_is(root)) {
        status = read_hydra(path, text, length, wish, region, region_text, warnings, err);
    } else {
        for (size_t i = 0; status == SK_OK && i < root->length; i++)
            status = read_member(&r, root->u.pairs[i].name, root->u.pairs[i].value, err);
    }
    sk_config_close(&config);
    sk_free(text);
    return status;
}
