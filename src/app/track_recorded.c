/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_recorded.h"

#include "app/track_region.h"
#include "base/memory.h"
#include "base/number_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {"tracker",      "tracking",  "backward", "interpolation",
                                    "tell_covered", "tell_lost", "region",   "points"};

bool sk_track_is_recorded(const char *name)
{
    bool is = strncmp(name, "track.", 6) == 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is = is || strcmp(name, words[i]) == 0;
    return is;
}

static sk_status unknown(const char *name, const char *value, sk_error *err)
{
    return sk_fail(err, SK_ERR_UNSUPPORTED, "run.json: %s is '%.80s', which this version does not know", name,
                   value ? value : "");
}

static sk_status read_number(const sk_run_record *record, const char *name, double *out, sk_error *err)
{
    const char *text = sk_run_record_identity(record, name);
    const char *end = text ? text + strlen(text) : NULL;
    return text && sk_number_read(text, end, out) == end ? SK_OK : unknown(name, text, err);
}

static sk_status read_flag(const sk_run_record *record, const char *name, bool *out, sk_error *err)
{
    double value;
    SK_TRY(read_number(record, name, &value, err));
    *out = value != 0;
    return SK_OK;
}

static sk_status read_method(const sk_run_record *record, sk_track_wish *wish, sk_error *err)
{
    const char *method = sk_run_record_identity(record, "tracker");
    for (const char *const *name = sk_track_methods(); method && *name; name++)
        if (strcmp(*name, method) == 0) {
            wish->track.method = *name;
            return SK_OK;
        }
    return unknown("tracker", method, err);
}

/* "tail,base to nose": runs of older versions do not say it, and went by the names. */
static sk_status read_points(const char *text, sk_track_wish *wish, sk_error *err)
{
    const char *between = text ? strstr(text, " to ") : NULL;
    if (!text)
        return SK_OK;
    if (!between || strstr(between + 1, " to ") || (size_t)(between - text) >= sizeof wish->tail_points ||
        strlen(between + 4) >= sizeof wish->head_points)
        return unknown("points", text, err);
    snprintf(wish->tail_points, sizeof wish->tail_points, "%.*s", (int)(between - text), text);
    snprintf(wish->head_points, sizeof wish->head_points, "%s", between + 4);
    return SK_OK;
}

static sk_status read_region(const char *text, sk_track_wish *wish, sk_region **region, sk_text *as_text,
                             sk_error *err)
{
    if (strstr(text, "mask ") || strstr(text, "shapes of configuration "))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "its region was a picture, or one of a configuration, of which run.json has the hash");
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        char *one = sk_strndup(at, strcspn(at, " "));
        sk_status status =
            one ? sk_track_region_add(one, false, region, as_text, err) : sk_fail_memory(err, strlen(at));
        at += strcspn(at, " ");
        sk_free(one);
        SK_TRY(status);
    }
    wish->track.filter.region = *region;
    wish->region_text = as_text->length ? sk_text_get(as_text) : NULL;
    return SK_OK;
}

sk_status sk_track_wish_recorded(const sk_run_record *record, sk_track_wish *wish, sk_region **region,
                                 sk_text *region_text, sk_error *err)
{
    const char *tracking = sk_run_record_identity(record, "tracking");
    const char *text = sk_run_record_identity(record, "region");
    double value;
    char name[80];
    sk_track_wish_defaults(wish);
    SK_TRY(read_method(record, wish, err));
    wish->online = (tracking && strcmp(tracking, "online") == 0) ||
                   strcmp(sk_run_record_header(record)->source_kind, "live") == 0;
    const char *steps = sk_run_record_identity(record, "offline steps");
    wish->offline.upstream = steps && strcmp(steps, "upstream") == 0;
    SK_TRY(read_flag(record, "backward", &wish->offline.backward, err));
    SK_TRY(read_flag(record, "tell_covered", &wish->track.tell_covered, err));
    SK_TRY(read_flag(record, "tell_lost", &wish->track.tell_lost, err));
    SK_TRY(read_number(record, "interpolation", &value, err));
    wish->offline.method = (sk_interpolation)(value >= 0 && value <= SK_INTERPOLATION_NONE ? value : 0);
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *s = sk_track_setting_at(i);
        if (sk_track_setting_finds(s))
            continue;
        snprintf(name, sizeof name, "track.%s", s->name);
        SK_TRY(read_number(record, name, &value, err));
        SK_TRY(sk_track_setting_set(s, value, wish, err));
    }
    SK_TRY(read_points(sk_run_record_identity(record, "points"), wish, err));
    const double rate = sk_run_record_header(record)->rate; /* a fraction: with all its digits */
    if (rate > 0 && fabs(wish->track.fps - rate) < 1e-12 * rate)
        wish->track.fps = rate;
    return read_region(text ? text : "", wish, region, region_text, err);
}
