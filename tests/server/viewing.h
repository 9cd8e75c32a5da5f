/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SERVER_VIEWING_H
#define SK_TESTS_SERVER_VIEWING_H

/* A server with the results of a run: three animals that were followed for a second. */
#include "server/asking.h"
#include "server/schema.h"

static char run[1024], target[4096], body[4096];

static inline int open_viewed(void **state)
{
    char line[8192];
    if (!getenv("SKITTER_TEST_BINARY"))
        return -1;
    schema_open();
    open_asked(state);
    snprintf(run, sizeof run, "%s", place("top/run"));
    snprintf(
        line, sizeof line,
        "cd '%s' && '%s' scene -o scene.mp4 --truth truth.csv --seconds 1 --size 320x240 --animals 3 -q && "
        "'%s' track scene.mp4 --detections truth.csv -o run --animals 3 --no-report -q",
        place("top"), getenv("SKITTER_TEST_BINARY"), getenv("SKITTER_TEST_BINARY"));
    return system(line); /* NOLINT: a test's own words */
}

static inline int close_viewed(void **state)
{
    schema_close();
    return close_asked(state);
}

/* Asks, and holds the answer against this schema; the caller closes it. */
static inline sk_config *shaped(const char *method, const char *at, const char *text, const char *schema)
{
    sk_error err = {0};
    char *answer = NULL, path[128];
    sk_config *json = NULL;
    const int code = ask((asking){.method = method, .target = at, .body = text}, &answer);
    if (code != 200)
        fail_msg("%s: %d %s", at, code, answer);
    assert_ok(sk_config_open_json(answer, strlen(answer), at, &json, &err), &err);
    snprintf(path, sizeof path, "components.schemas.%s", schema);
    schema_check(sk_config_find(schema_document, path), sk_config_root(json), at);
    sk_free(answer);
    return json;
}

static inline const char *to(const char *what, const char *more)
{
    snprintf(target, sizeof target, "/api/v1/view%s?folder=%s%s", what, run, more);
    return target;
}

static inline const char *about(const char *more)
{
    snprintf(body, sizeof body, "{\"folder\":\"%s\"%s}", run, more);
    return body;
}

#endif
