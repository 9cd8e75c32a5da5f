/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json_scan.h"

#include <string.h>

sk_json_scan sk_json_scan_over(const char *text, size_t length, const char *what)
{
    return (sk_json_scan){.at = text, .end = text + length, .begin = text, .what = what};
}

static sk_status damaged(const sk_json_scan *scan, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: not valid JSON at byte %zu: %s", scan->what,
                   (size_t)(scan->at - scan->begin), why);
}

static void skip_space(sk_json_scan *scan)
{
    while (scan->at < scan->end && memchr(" \t\r\n", *scan->at, 4))
        scan->at++;
}

/* Past the closing quotation mark of the string that begins here. */
static bool skip_string(sk_json_scan *scan)
{
    for (scan->at++; scan->at < scan->end; scan->at++) {
        if (*scan->at == '\\' && scan->at + 1 < scan->end) {
            scan->at++;
        } else if (*scan->at == '"') {
            scan->at++;
            return true;
        }
    }
    return false;
}

static sk_status value(sk_json_scan *scan, sk_json_span *out, sk_error *err)
{
    skip_space(scan);
    const char *begin = scan->at;
    size_t depth = 0;
    while (scan->at < scan->end) {
        char c = *scan->at;
        if (c == '"') {
            if (!skip_string(scan))
                return damaged(scan, "a text without an end", err);
        } else if (c == '[' || c == '{') {
            depth++;
            scan->at++;
        } else if (c == ']' || c == '}') {
            if (depth == 0)
                break;
            depth--;
            scan->at++;
        } else if (depth == 0 && memchr(", \t\r\n:", c, 6)) {
            break;
        } else {
            scan->at++;
            continue; /* inside a number or word */
        }
        if (depth == 0)
            break;
    }
    if (depth > 0 || scan->at == begin)
        return damaged(scan, depth > 0 ? "the file is cut short" : "a value was expected here", err);
    *out = (sk_json_span){begin, (size_t)(scan->at - begin)};
    return SK_OK;
}

sk_status sk_json_scan_enter(sk_json_scan *scan, char opener, sk_error *err)
{
    skip_space(scan);
    if (scan->at == scan->end || *scan->at != opener)
        return damaged(scan, opener == '[' ? "a list was expected here" : "an object was expected here", err);
    scan->at++;
    scan->first = true;
    return SK_OK;
}

/* Before an item: past the comma, or *end past the closer. */
static sk_status step(sk_json_scan *scan, char closer, bool *end, sk_error *err)
{
    skip_space(scan);
    *end = false;
    if (scan->at == scan->end)
        return damaged(scan, "the file is cut short", err);
    if (*scan->at == closer) {
        scan->at++;
        *end = true;
        return SK_OK;
    }
    if (!scan->first) {
        if (*scan->at != ',')
            return damaged(scan, "a comma was expected here", err);
        scan->at++;
    }
    scan->first = false;
    return SK_OK;
}

sk_status sk_json_scan_item(sk_json_scan *scan, sk_json_span *item, sk_error *err)
{
    bool end;
    *item = (sk_json_span){0};
    SK_TRY(step(scan, ']', &end, err));
    return end ? SK_OK : value(scan, item, err);
}

sk_status sk_json_scan_pair(sk_json_scan *scan, sk_json_span *key, sk_json_span *out, sk_error *err)
{
    bool end;
    *key = *out = (sk_json_span){0};
    SK_TRY(step(scan, '}', &end, err));
    if (end)
        return SK_OK;
    skip_space(scan);
    const char *begin = scan->at;
    if (scan->at == scan->end || *scan->at != '"' || !skip_string(scan))
        return damaged(scan, "a key was expected here", err);
    *key = (sk_json_span){begin + 1, (size_t)(scan->at - begin) - 2};
    skip_space(scan);
    if (scan->at == scan->end || *scan->at != ':')
        return damaged(scan, "a colon was expected here", err);
    scan->at++;
    return value(scan, out, err);
}

sk_status sk_json_scan_finish(sk_json_scan *scan, sk_error *err)
{
    skip_space(scan);
    return scan->at == scan->end ? SK_OK : damaged(scan, "something follows the end", err);
}
