/* SPDX-License-Identifier: Apache-2.0 */
#include "results/jsonl_line.h"

#include "base/memory.h"
#include "base/number_read.h"
#include "formats/config.h"

#include <math.h>
#include <string.h>

#define KEYPOINTS_MOST 1024
#define POINTS_MOST    ((size_t)1 << 22) /* of a line: one that has few may not ask for places of many */
#define NUMBER_MOST    (1 << 24)         /* of classes and tracks: as sk_run_header_fits */
#define FRAME_MOST     9007199254740992.0

typedef struct cursor {
    const char *at, *end;
} cursor;

/* --- JSON, as far as it is needed --- */

static char peek(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
    return c->at < c->end ? *c->at : '\0';
}

static bool take(cursor *c, char wanted)
{
    if (peek(c) != wanted)
        return false;
    c->at++;
    return true;
}

/* Between its quotation marks, escapes as they stand. */
static bool text(cursor *c, const char **begin, size_t *length)
{
    if (!take(c, '"'))
        return false;
    *begin = c->at;
    for (; c->at < c->end; c->at++) {
        if (*c->at == '"') {
            *length = (size_t)(c->at++ - *begin);
            return true;
        }
        c->at += *c->at == '\\';
    }
    return false;
}

static bool number(cursor *c, double *out)
{
    if (peek(c) == 'n' && c->end - c->at >= 4 && memcmp(c->at, "null", 4) == 0) {
        c->at += 4;
        *out = NAN;
        return true;
    }
    const char *after = sk_number_read(c->at, c->end, out);
    if (after)
        c->at = after;
    return after;
}

/* Past a value of any kind. */
static bool skip(cursor *c)
{
    int depth = 0;
    do {
        const char next = peek(c);
        const char *begin;
        size_t length;
        if (next == '"') {
            if (!text(c, &begin, &length))
                return false;
        } else if (next == '[' || next == '{') {
            depth++;
            c->at++;
        } else if (next == ']' || next == '}') {
            depth--;
            c->at++;
        } else if (next == ',' || next == ':') {
            if (!depth)
                return false;
            c->at++;
        } else {
            begin = c->at;
            while (c->at < c->end && !memchr(",:]} \t\r\"[{", *c->at, 11))
                c->at++;
            if (c->at == begin)
                return false;
        }
    } while (depth > 0 && c->at < c->end);
    return depth == 0;
}

/* The next member of an object that was entered: *end at its end. */
static bool member(cursor *c, bool *first, const char **key, size_t *length, bool *end)
{
    *end = take(c, '}');
    if (*end)
        return true;
    if (!*first && !take(c, ','))
        return false;
    *first = false;
    return text(c, key, length) && take(c, ':');
}

static bool is(const char *key, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(key, name, length) == 0;
}

static bool floats(cursor *c, float *out, int count)
{
    if (!take(c, '['))
        return false;
    for (int i = 0; i < count; i++) {
        double value;
        if ((i && !take(c, ',')) || !number(c, &value))
            return false;
        out[i] = (float)value;
    }
    return take(c, ']');
}

/* --- an instance --- */

static sk_status wrong(const char *what, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: %s\ndocs/results.md describes these lines", what, why);
}

static sk_status keypoints(sk_jsonl_line *line, cursor *c, sk_found *in, const char *what, sk_error *err)
{
    sk_instances *all = &line->instances;
    const int32_t first = (all->count - 1) * all->n_keypoints;
    int32_t n = 0;
    if (!take(c, '['))
        return wrong(what, "keypoints are a list", err);
    for (bool more = peek(c) != ']'; more; more = take(c, ','), n++) {
        if (n == KEYPOINTS_MOST || (all->n_keypoints && n == all->n_keypoints))
            return wrong(what, "not as many keypoints as other instances have", err);
        SK_TRY(sk_array_reserve((void **)&all->keypoints, &line->points_capacity, (size_t)(first + n) + 1,
                                sizeof *all->keypoints, POINTS_MOST, err));
        float xy[3];
        if (!floats(c, xy, 3))
            return wrong(what, "a keypoint is a list of x, y and score", err);
        all->keypoints[first + n] = (sk_keypoint){xy[0], xy[1], xy[2]};
    }
    if (!take(c, ']') || (all->n_keypoints && n != all->n_keypoints))
        return wrong(what, "not as many keypoints as other instances have", err);
    in->has |= n ? SK_HAS_KEYPOINTS : 0;
    if (all->n_keypoints || !n)
        return SK_OK;
    all->n_keypoints = n; /* those before it have none: their places are before its own */
    const size_t own = (size_t)(all->count - 1) * (size_t)n;
    SK_TRY(sk_array_reserve((void **)&all->keypoints, &line->points_capacity, own + (size_t)n,
                            sizeof *all->keypoints, POINTS_MOST, err));
    memmove(all->keypoints + own, all->keypoints, (size_t)n * sizeof *all->keypoints);
    return SK_OK;
}

static bool whole(cursor *c, int32_t least, int32_t *out)
{
    double value;
    if (!number(c, &value) || !(value >= least && value <= NUMBER_MOST) || value != floor(value))
        return false;
    *out = (int32_t)value;
    return true;
}

static bool state(cursor *c, sk_sighting *s)
{
    const char *begin;
    size_t length;
    if (!text(c, &begin, &length))
        return false;
    for (int i = 0; i <= SK_TRACK_LOST; i++)
        if (is(begin, length, sk_track_state_name((sk_track_state)i))) {
            s->state = (sk_track_state)i;
            s->place = 0; /* it has one */
            return true;
        }
    return false;
}

static sk_status value(sk_jsonl_line *line, cursor *c, const char *key, size_t length, const char *what,
                       sk_error *err)
{
    sk_found *in = &line->instances.items[line->instances.count - 1];
    sk_sighting *s = &line->sightings[line->instances.count - 1];
    const struct {
        const char *name;
        double *at;
    } reals[] = {
        {"x", &s->x},
        {"y", &s->y},
        {"heading", &s->heading},
        {"uncertainty", &s->uncertainty},
        {"score", &s->score},
        {"tracking_score", &s->certainty},
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (is(key, length, reals[i].name))
            return number(c, reals[i].at) ? SK_OK : wrong(what, "a number was expected", err);
    bool good = true;
    if (is(key, length, "class"))
        good = whole(c, -1, &in->class_id);
    else if (is(key, length, "track"))
        good = whole(c, 0, &in->track_id);
    else if (is(key, length, "state"))
        good = state(c, s);
    else if (is(key, length, "box"))
        in->has |= SK_HAS_BOX, good = floats(c, in->box, 4);
    else if (is(key, length, "obb"))
        in->has |= SK_HAS_OBB, good = floats(c, in->obb, 5);
    else if (is(key, length, "keypoints"))
        return keypoints(line, c, in, what, err);
    else
        good = skip(c);
    return good ? SK_OK : wrong(what, "an instance's member stands there in another form", err);
}

/* What the line does not repeat: the box of the sighting is the instance's. */
static void complete(sk_jsonl_line *line, int64_t frame)
{
    const int32_t i = line->instances.count - 1;
    sk_found *in = &line->instances.items[i];
    sk_sighting *s = &line->sightings[i];
    in->score = isnan(s->score) ? NAN : (float)s->score;
    in->tracking_score = (float)s->certainty;
    s->frame = frame;
    s->track = in->track_id;
    s->class_id = in->class_id;
    for (int k = 0; k < 4; k++)
        s->box.upright[k] = (double)in->box[k];
    for (int k = 0; k < 5; k++)
        s->box.turned[k] = (double)in->obb[k];
    if (s->place < 0 || in->track_id < 0)
        return;
    line->n_sightings++;
    s->place = in->track_id;
    s->detection = s->state == SK_TRACK_ACTIVE ? i : -1;
    s->score = s->state == SK_TRACK_ACTIVE ? s->score : NAN;
    sk_detection d;
    if (!sk_detection_of(&line->instances, i, NULL, &d))
        return;
    s->major = d.major;
    s->minor = d.minor;
    s->angle = d.angle;
    s->x = isnan(s->x) ? d.x : s->x;
    s->y = isnan(s->y) ? d.y : s->y;
}

static sk_status instance(sk_jsonl_line *line, cursor *c, const char *what, sk_error *err)
{
    sk_instances *all = &line->instances;
    bool first = true;
    if (all->count == SK_TRACK_MOST)
        return wrong(what, "more instances than a frame may have", err);
    SK_TRY(sk_array_reserve((void **)&all->items, &line->items_capacity, (size_t)all->count + 1,
                            sizeof *all->items, SK_TRACK_MOST, err));
    SK_TRY(sk_array_reserve((void **)&line->sightings, &line->sightings_capacity, (size_t)all->count + 1,
                            sizeof *line->sightings, SK_TRACK_MOST, err));
    all->items[all->count] = (sk_found){.class_id = -1, .track_id = -1};
    line->sightings[all->count++] =
        (sk_sighting){.place = -1, .detection = -1, .x = NAN, .y = NAN, .heading = NAN, .uncertainty = NAN};
    if (!take(c, '{'))
        return wrong(what, "an instance is an object", err);
    for (;;) {
        const char *key;
        size_t length;
        bool end;
        if (!member(c, &first, &key, &length, &end))
            return wrong(what, "not valid JSON", err);
        if (end)
            return SK_OK;
        SK_TRY(value(line, c, key, length, what, err));
    }
}

/* --- a frame --- */

/* Its quotation marks included; escapes are the configuration reader's business. */
static sk_status source(sk_jsonl_line *line, cursor *c, const char *what, sk_error *err)
{
    const char *begin;
    size_t length;
    if (!text(c, &begin, &length))
        return wrong(what, "\"source\" is a text", err);
    sk_free(line->source);
    line->source = NULL;
    if (!memchr(begin, '\\', length) && !memchr(begin, '\0', length)) {
        line->source = sk_strndup(begin, length);
        return line->source ? SK_OK : sk_fail_memory(err, length);
    }
    sk_config *config = NULL;
    SK_TRY(sk_config_open_json(begin - 1, length + 2, what, &config, err));
    const char *plain = sk_config_text(sk_config_root(config));
    line->source = plain ? sk_strdup(plain) : NULL;
    sk_config_close(&config);
    return plain ? line->source ? SK_OK : sk_fail_memory(err, length)
                 : wrong(what, "\"source\" is a text", err);
}

/* "2026-11-15T19:48:25.123456789Z"; 0 where it is none. */
static int64_t wall(const char *begin, size_t length)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd.dddddddddZ";
    int64_t part[7] = {0};
    size_t at = 0;
    if (length != sizeof form - 1)
        return 0;
    for (size_t i = 0; i < length; i++) {
        const bool digit = begin[i] >= '0' && begin[i] <= '9';
        if (form[i] != 'd')
            at += begin[i] == form[i] ? 1 : 100;
        else if (digit && at < 7)
            part[at] = part[at] * 10 + (begin[i] - '0');
        else
            return 0;
        if (at > 7)
            return 0;
    }
    if (part[0] < 1970 || part[0] > 2261 || part[1] < 1 || part[1] > 12 || part[2] < 1 || part[2] > 31 ||
        part[3] > 23 || part[4] > 59 || part[5] > 60)
        return 0; /* beyond what nanoseconds in 64 bits reach, or no time at all */
    /* days since 1970 of a date of the Gregorian calendar, years beginning in March */
    const int64_t year = part[0] - (part[1] <= 2), month = (part[1] + 9) % 12;
    const int64_t days =
        365 * year + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + part[2] - 1 - 719468;
    return (((days * 24 + part[3]) * 60 + part[4]) * 60 + part[5]) * 1000000000 + part[6];
}

static sk_status instances(sk_jsonl_line *line, cursor *c, const char *what, sk_error *err)
{
    if (!take(c, '['))
        return wrong(what, "\"instances\" is a list", err);
    for (bool more = peek(c) != ']'; more; more = take(c, ','))
        SK_TRY(instance(line, c, what, err));
    return take(c, ']') ? SK_OK : wrong(what, "not valid JSON", err);
}

static sk_status frame_member(sk_jsonl_line *line, cursor *c, const char *key, size_t length,
                              const char *what, sk_result_frame *frame, sk_error *err)
{
    double real = 0;
    if (is(key, length, "source"))
        return source(line, c, what, err);
    if (is(key, length, "instances"))
        return instances(line, c, what, err);
    if (is(key, length, "frame")) {
        if (!number(c, &real) || !(real >= 0 && real <= FRAME_MOST))
            return wrong(what, "\"frame\" is a whole number from 0 on", err);
        frame->index = (int64_t)real;
        return SK_OK;
    }
    if (is(key, length, "time")) {
        if (!number(c, &frame->time))
            return wrong(what, "\"time\" is a number", err);
        return SK_OK;
    }
    if (is(key, length, "utc")) {
        const char *begin;
        size_t bytes;
        if (!text(c, &begin, &bytes))
            return wrong(what, "\"utc\" is a text", err);
        frame->wall_ns = wall(begin, bytes);
        return SK_OK;
    }
    return skip(c) ? SK_OK : wrong(what, "not valid JSON", err);
}

/* Instances without keypoints among others with some have places for them, too. */
static sk_status even_out(sk_jsonl_line *line, sk_error *err)
{
    sk_instances *all = &line->instances;
    all->n_keypoints = all->n_keypoints ? all->n_keypoints : line->least_keypoints;
    const size_t points = (size_t)all->count * (size_t)all->n_keypoints;
    SK_TRY(sk_array_reserve((void **)&all->keypoints, &line->points_capacity, points, sizeof *all->keypoints,
                            POINTS_MOST, err));
    for (int32_t i = 0; i < all->count; i++) {
        all->items[i].first_keypoint = i * all->n_keypoints;
        for (int32_t k = 0; k < all->n_keypoints && !(all->items[i].has & SK_HAS_KEYPOINTS); k++)
            all->keypoints[i * all->n_keypoints + k] = (sk_keypoint){NAN, NAN, 0};
    }
    return SK_OK;
}

sk_status sk_jsonl_line_read(sk_jsonl_line *line, const char *bytes, size_t length, const char *what,
                             sk_result_frame *frame, sk_error *err)
{
    cursor c = {bytes, bytes + length};
    bool first = true;
    *frame = (sk_result_frame){.index = -1, .source = ""};
    line->instances.count = 0;
    line->instances.n_keypoints = 0;
    line->n_sightings = 0;
    sk_free(line->source);
    line->source = NULL;
    if (!take(&c, '{'))
        return wrong(what, "an object was expected", err);
    for (;;) {
        const char *key;
        size_t bytes_of_key;
        bool end;
        if (!member(&c, &first, &key, &bytes_of_key, &end))
            return wrong(what, "not valid JSON", err);
        if (end)
            break;
        SK_TRY(frame_member(line, &c, key, bytes_of_key, what, frame, err));
    }
    if (peek(&c) || frame->index < 0)
        return wrong(what, peek(&c) ? "something follows the end" : "an object with \"frame\" was expected",
                     err);
    SK_TRY(even_out(line, err));
    const int32_t count = line->instances.count;
    for (line->instances.count = 1; line->instances.count <= count; line->instances.count++)
        complete(line, frame->index);
    line->instances.count = line->instances.capacity = count;
    frame->instances = &line->instances;
    frame->sightings = count && line->n_sightings == (size_t)count ? line->sightings : NULL;
    frame->source = line->source ? line->source : "";
    return SK_OK;
}

void sk_jsonl_line_free(sk_jsonl_line *line)
{
    sk_free_all(line->instances.items, line->instances.keypoints, line->sightings, line->source);
    *line = (sk_jsonl_line){0};
}

int64_t sk_jsonl_line_number(const char *bytes, size_t length)
{
    cursor c = {bytes, bytes + length};
    bool first = true, end = false;
    const char *key;
    size_t bytes_of_key;
    double real;
    if (!take(&c, '{'))
        return -1;
    while (member(&c, &first, &key, &bytes_of_key, &end) && !end) {
        if (is(key, bytes_of_key, "frame"))
            return number(&c, &real) && real >= 0 && real <= FRAME_MOST ? (int64_t)real : -1;
        if (!skip(&c))
            return -1;
    }
    return -1;
}
