/* SPDX-License-Identifier: Apache-2.0 */
#include "recorded.h"

#include "test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *said;
static size_t said_bytes, room;

static void grow(size_t wanted)
{
    if (wanted <= room)
        return;
    room = 2 * wanted;
    said = realloc(said, room);
    assert_non_null(said);
}

void recorded_say(const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line, format, args); /* NOLINT: it was begun a line above */
    va_end(args);
    assert_true(n >= 0 && n < (int)sizeof line);
    grow(said_bytes + (size_t)n + 2);
    memcpy(said + said_bytes, line, (size_t)n);
    said_bytes += (size_t)n;
    said[said_bytes++] = '\n';
    said[said_bytes] = 0;
}

/* A number behind ~ is rounded to bytes on its way, by sines and cosines that may differ in their last bit: the first four digits
 * count. One behind ~~ is what such roundings add up to (an error, a loss): processors of two makers, whose reciprocals are estimated
 * otherwise, differ in its second or third digit. */
static bool same_number(const char *a, const char *b)
{
    const size_t marks = strspn(a, "~");
    const double part = strspn(b, "~") != marks || marks == 0 ? 3e-7 : marks == 1 ? 2e-4 : 1e-1;
    a += *a == '(' ? 1 : marks;
    b += *b == '(' ? 1 : strspn(b, "~");
    char *a_end, *b_end;
    const double x = strtod(a, &a_end), y = strtod(b, &b_end);
    if (a_end == a || b_end == b || strcmp(a_end, b_end) != 0) /* a comma behind it, say */
        return false;
    return (isnan(x) && isnan(y)) || fabs(x - y) <= part * fmax(fabs(x), fabs(y)) + 1e-12;
}

static void same_line(const char *path, int number, char *got, char *wanted)
{
    char *got_rest, *wanted_rest, got_line[4096], wanted_line[4096];
    snprintf(got_line, sizeof got_line, "%s", got);
    snprintf(wanted_line, sizeof wanted_line, "%s", wanted);
    char *p = strtok_r(got, " ", &got_rest), *q = strtok_r(wanted, " ", &wanted_rest);
    while (p && q && (strcmp(p, q) == 0 || same_number(p, q))) {
        p = strtok_r(NULL, " ", &got_rest);
        q = strtok_r(NULL, " ", &wanted_rest);
    }
    if (p || q)
        fail_msg("%s:%d:\n  '%s' was recorded,\n  '%s' is now", path, number, wanted_line, got_line);
}

void recorded_check(const char *relative)
{
    const char *path = test_source(relative), *record = getenv("SKITTER_TEST_RECORD");
    char *all = said, *rest = all;
    size_t left = said_bytes;
    said = NULL; /* the next one begins anew, also where this one fails */
    said_bytes = room = 0;
    FILE *file = fopen(path, record ? "wb" : "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    if (record) {
        assert_int_equal(fwrite(all, 1, left, file), left);
    } else {
        static char wanted[4096];
        int number = 0;
        while (fgets(wanted, sizeof wanted, file)) {
            wanted[strcspn(wanted, "\n")] = 0;
            char *end = left ? strchr(rest, '\n') : NULL;
            if (!end)
                fail_msg("%s:%d: '%s' was recorded, nothing is said now", path, number + 1, wanted);
            *end = 0;
            same_line(path, ++number, rest, wanted);
            left -= (size_t)(end + 1 - rest);
            rest = end + 1;
        }
        if (left)
            fail_msg("%s:%d: nothing more was recorded, now there is '%.60s'", path, number + 1, rest);
    }
    fclose(file);
    free(all);
}

void recorded_add(recorded_sum *sum, double value)
{
    const double golden = 0.61803398874989485 * (double)++sum->n;
    const double number = isnan(value)   ? 0.0625 /* no number is something, too */
                          : isinf(value) ? (value > 0 ? 1e3 : -1e3)
                                         : value;
    sum->sum += (0.5 + (golden - floor(golden))) * number;
}

double recorded_chance(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

double recorded_between(unsigned *state, double from, double to)
{
    return from + (to - from) * recorded_chance(state);
}

/* --- seeds --- */

const char *recorded_own_words(const char *message)
{
    static const char *const from[] = {"not valid JSON", "not valid YAML", "SQLite says"};
    static char out[2048];
    snprintf(out, sizeof out, "%s", message);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        char *at = strstr(out, from[i]);
        if (at)
            at[strlen(from[i])] = 0;
    }
    return out;
}

static uint64_t hash(uint64_t before, const char *text)
{
    for (before ^= 0x9E3779B97F4A7C15u; *text; text++)
        before = (before ^ (unsigned char)*text) * 0x100000001B3u;
    return before;
}

typedef struct variations {
    recorded_use use;
    unsigned char *bytes; /* a copy that ends where it ends, so that reading on is noticed */
    int read, all;
    uint64_t said;
} variations;

static void vary(variations *v, const unsigned char *bytes, size_t length, size_t at, unsigned char with)
{
    v->bytes = malloc(length + 1);
    assert_non_null(v->bytes);
    memcpy(v->bytes, bytes, length);
    v->bytes[length] = 0;
    if (at < length)
        v->bytes[at] = with;
    const char *text = v->use(v->bytes, length);
    v->read += strncmp(text, "ok", 2) == 0;
    v->all++;
    v->said = hash(v->said, text);
    free(v->bytes);
}

static void replay_one(const char *folder, const char *name, recorded_use use)
{
    char path[4096], head[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    static unsigned char bytes[1 << 18];
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const bool library = length > 6 && memcmp(bytes, "SQLite", 6) == 0; /* which judges damage as it likes */
    const char *text = use(bytes, length);
    const uint64_t whole = hash(0, text);
    snprintf(head, sizeof head, "%.500s", text);
    head[strcspn(head, "\n")] = 0;
    recorded_say("%s %s #%016llx", name, head, (unsigned long long)whole);
    variations cuts = {.use = use}, changes = {.use = use};
    unsigned dice = 77;
    for (size_t k = 0; k < 60 && k < length && !library; k++)
        vary(&cuts, bytes, length < 60 ? k : (size_t)((double)length * recorded_chance(&dice)), SIZE_MAX, 0);
    for (int k = 0; k < 250 && length && !library; k++) {
        const size_t at = (size_t)((double)length * recorded_chance(&dice));
        const unsigned char with[6] = {0, 0xff, '0', ' ', bytes[at] ^ 1, bytes[at] ^ 0x80};
        vary(&changes, bytes, length, at, with[k % 6]);
    }
    recorded_say("- %d of %d cuts #%016llx, %d of %d changes #%016llx", cuts.read, cuts.all,
                 (unsigned long long)cuts.said, changes.read, changes.all, (unsigned long long)changes.said);
}

void recorded_replay(const char *relative, const char *seeds, recorded_use use)
{
    char folder[4096], name[256], line[4096];
    snprintf(folder, sizeof folder, "%s", test_source(seeds));
    if (getenv("SKITTER_TEST_RECORD")) {
        struct dirent **list;
        const int n = scandir(folder, &list, NULL, alphasort);
        for (int i = 0; i < n; i++) {
            if (list[i]->d_name[0] != '.' && !strchr(list[i]->d_name, ' '))
                replay_one(folder, list[i]->d_name, use);
            free(list[i]);
        }
        free(list);
    } else {
        FILE *file = fopen(test_source(relative), "rb");
        if (!file)
            fail_msg("%s cannot be opened", relative);
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "%255s", name) == 1 && strcmp(name, "-") != 0)
                replay_one(folder, name, use);
        fclose(file);
    }
    recorded_check(relative);
}
