/* SPDX-License-Identifier: Apache-2.0 */
#include "media/frame_choice.h"

#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MOST  1000000
#define COUNTED_MOST 10000000 /* overlapping ranges are counted one by one; more is as good as no end */

sk_frame_choice sk_frame_choice_of(const sk_source_settings *s)
{
    if (s->n_ranges > 0)
        return (sk_frame_choice){
            .ranges = s->ranges, .count = (size_t)s->n_ranges, .lower = s->first, .upper = s->last};
    return (sk_frame_choice){.count = 1, .one = {s->first, s->last, s->step}, .upper = -1};
}

/* The range's smallest number from `from` on; -1: none. */
static int64_t next_in(const sk_frame_range *r, int64_t from)
{
    int64_t at = from <= r->first ? r->first : r->first + (from - r->first + r->step - 1) / r->step * r->step;
    return r->last >= 0 && at >= r->last ? -1 : at;
}

int64_t sk_frame_choice_next(sk_frame_choice *c, int64_t from)
{
    const sk_frame_range *ranges = c->ranges ? c->ranges : &c->one;
    int64_t best = -1;
    if (from < c->lower)
        from = c->lower;
    while (c->cursor < c->count && next_in(&ranges[c->cursor], from) < 0)
        c->cursor++;
    for (size_t i = c->cursor; i < c->count && (best < 0 || ranges[i].first < best); i++) {
        int64_t at = next_in(&ranges[i], from);
        best = at >= 0 && (best < 0 || at < best) ? at : best;
    }
    return c->upper >= 0 && best >= c->upper ? -1 : best;
}

static int64_t count_range(const sk_frame_range *r, int64_t total)
{
    int64_t last = total < 0 || (r->last >= 0 && r->last < total) ? r->last : total;
    return last < 0 ? -1 : last > r->first ? (last - r->first + r->step - 1) / r->step : 0;
}

int64_t sk_frames_wanted(const sk_source_settings *s, int64_t total)
{
    sk_frame_choice choice = sk_frame_choice_of(s);
    if (s->n_ranges == 0)
        return count_range(&choice.one, total);
    int64_t count = 0, most = 0;
    for (int32_t i = 0; i < s->n_ranges; i++) {
        int64_t of_range = count_range(&s->ranges[i], total < 0 ? s->last : total);
        if (of_range < 0 || of_range > COUNTED_MOST || (most += of_range) > COUNTED_MOST)
            return -1;
    }
    for (int64_t at = -1; (at = sk_frame_choice_next(&choice, at + 1)) >= 0 && (total < 0 || at < total);)
        count++;
    return count;
}

static bool is_range(const sk_frame_range *r)
{
    return r->first >= 0 && r->first <= SK_FRAME_NUMBER_MOST && r->step >= 1 &&
           r->step <= SK_FRAME_NUMBER_MOST;
}

sk_status sk_frames_check(const sk_source_settings *s, sk_error *err)
{
    bool good = is_range(&(sk_frame_range){s->first, s->last, s->step}) && s->n_ranges >= 0 &&
                (s->n_ranges == 0 || s->ranges);
    for (int32_t i = 0; good && i < s->n_ranges; i++)
        good = is_range(&s->ranges[i]) && (i == 0 || s->ranges[i - 1].first <= s->ranges[i].first);
    if (s->step < 1)
        return sk_fail(err, SK_ERR_ARG, "step is %lld: give 1 for every frame, 2 for every second%s",
                       (long long)s->step, s->step ? "" : "; sk_source_defaults() fills the settings in");
    /* The highest number stands for "none is left", whatever `last` is. */
    if (good && s->last >= 0 && s->first > s->last && s->first < SK_FRAME_NUMBER_MOST)
        return sk_fail(
            err, SK_ERR_ARG,
            "first is %lld and last %lld: there is no frame from the one to the other; last is the "
            "first that is no longer wanted, -1 for all",
            (long long)s->first, (long long)s->last);
    if (good)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_ARG,
        "frame range %lld:%lld:%lld with %d more: out of range; ranges are sorted by their first frame",
        (long long)s->first, (long long)s->last, (long long)s->step, s->n_ranges);
}

/* --- words --- */

static bool take_number(const char **at, int64_t *number)
{
    char *end;
    errno = 0;
    if (**at < '0' || **at > '9')
        return false;
    long long value = strtoll(*at, &end, 10);
    if (errno || value > SK_FRAME_NUMBER_MOST)
        return false;
    *number = value;
    *at = end;
    return true;
}

/* One item, up to ',' or the end. */
static bool take_range(const char **at, sk_frame_range *r)
{
    int64_t parts[3] = {0, -1, 1};
    int n = 0;
    bool number = take_number(at, &parts[0]);
    if (number && **at == '-') {
        ++*at;
        if (!take_number(at, &parts[1]) || parts[1] < parts[0])
            return false;
        *r = (sk_frame_range){parts[0], parts[1] + 1, 1};
        return **at == ',' || **at == '\0';
    }
    if (number && (**at == ',' || **at == '\0')) {
        *r = (sk_frame_range){parts[0], parts[0] + 1, 1};
        return true;
    }
    while (**at == ':' && n < 2) {
        ++*at;
        n++;
        (void)take_number(at, &parts[n]);
    }
    *r = (sk_frame_range){parts[0], parts[1], parts[2]};
    return n > 0 && parts[2] >= 1 && (parts[1] < 0 || parts[1] > parts[0]) && (**at == ',' || **at == '\0');
}

static int compare_ranges(const void *a, const void *b)
{
    const sk_frame_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

sk_status sk_frames_parse(const char *text, sk_source_settings *s, sk_frame_range **out, sk_error *err)
{
    *out = NULL;
    sk_frame_range *ranges = NULL;
    size_t count = 0, capacity = 0;
    sk_status status = SK_OK;
    for (const char *at = text;; at++) {
        SK_TRY_GOTO(
            sk_array_reserve((void **)&ranges, &capacity, count + 1, sizeof *ranges, RANGES_MOST, err));
        if (!take_range(&at, &ranges[count++])) {
            status =
                sk_fail(err, SK_ERR_ARG,
                        "--frames %.200s: give A:B:S (frames A up to, not with, B, every S-th; every part "
                        "may be left out), A-B (with B), A, or several of them by commas: 0-9,20,30:60:5",
                        text);
            goto done;
        }
        if (*at == '\0')
            break;
    }
    if (count == 1) {
        s->first = ranges[0].first;
        s->last = ranges[0].last;
        s->step = ranges[0].step;
        goto done;
    }
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    s->ranges = *out = ranges;
    s->n_ranges = (int32_t)count;
    ranges = NULL;
done:
    sk_free(ranges);
    return status;
}

static int range_text(const sk_frame_range *r, char *buffer, size_t capacity)
{
    if (r->last == r->first + 1)
        return snprintf(buffer, capacity, "%lld", (long long)r->first);
    int used = r->last < 0 ? snprintf(buffer, capacity, "%lld:", (long long)r->first)
                           : snprintf(buffer, capacity, "%lld:%lld", (long long)r->first, (long long)r->last);
    if (r->step != 1 && (size_t)used < capacity)
        used += snprintf(buffer + used, capacity - (size_t)used, ":%lld", (long long)r->step);
    return used;
}

const char *sk_frames_text(const sk_source_settings *s, char *buffer, size_t capacity)
{
    char item[80];
    size_t used = 0;
    buffer[0] = '\0';
    if (s->n_ranges == 0) {
        const sk_frame_range whole = {.first = s->first, .last = s->last, .step = s->step};
        if (s->first == 0 && s->last < 0 && s->step == 1)
            snprintf(buffer, capacity, "all");
        else
            range_text(&whole, buffer, capacity);
        return buffer;
    }
    for (int32_t i = 0; i < s->n_ranges; i++) {
        int length = range_text(&s->ranges[i], item, sizeof item);
        if (length < 0 || used + (size_t)length + 64 > capacity) {
            snprintf(buffer + used, capacity - used, ",… (%d in all, %016llx)", s->n_ranges,
                     (unsigned long long)sk_hash_xxh3(s->ranges, (size_t)s->n_ranges * sizeof *s->ranges, 0));
            break;
        }
        used += (size_t)snprintf(buffer + used, capacity - used, "%s%s", i ? "," : "", item);
    }
    return buffer;
}
