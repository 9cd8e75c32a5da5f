/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SERVER_KEEPING_H
#define SK_TESTS_SERVER_KEEPING_H

/* A list of runs without a server around it: its folder, what it says of a run, and what pages hear of it. */
#include "support/test.h"

#include "base/file.h"
#include "server/runs.h"
#include "server/runs_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_server server;

static inline const char *at(const char *name)
{
    static char paths[4][1200];
    static int n;
    char *path = paths[n++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", server.state, name);
    return path;
}

static inline int begin_keeping(void **state)
{
    static char folder[1024], cache[1100];
    (void)state;
    snprintf(folder, sizeof folder, "%s/state", test_folder());
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    setenv("SKITTER_CACHE_DIR", cache, 1);
    setenv("SKITTER_CONFIG_DIR", cache, 1);
    mkdir(folder, 0700);
    server.state = folder;
    return sk_events_open(&server.events, NULL) == SK_OK ? 0 : -1;
}

static inline int end_keeping(void **state)
{
    (void)state;
    sk_events_close(&server.events);
    return 0;
}

static inline void put(const char *name, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(at(name), text, strlen(text), &err), &err);
}

static inline sk_runs *open_runs(const char *program)
{
    sk_runs *runs = NULL;
    sk_error err = {0};
    assert_ok(sk_runs_open(&server, program, &runs, &err), &err);
    return runs;
}

/* Takes what the list says of a run; "" for one that is not in it. */
static inline const char *told_of(sk_runs *runs, const char *id)
{
    static char copy[1 << 14];
    sk_text text = {0};
    sk_json j = sk_json_to_text(&text, 0);
    copy[0] = '\0';
    if (sk_runs_put_one(runs, id, &j, NULL) == SK_OK) {
        assert_int_equal(sk_json_end(&j, NULL), SK_OK);
        snprintf(copy, sizeof copy, "%s", sk_text_get(&text));
    }
    sk_text_free(&text);
    return copy;
}

static inline void must_say(sk_runs *runs, const char *id, const char *words)
{
    if (!strstr(told_of(runs, id), words))
        fail_msg("run %s does not say %s: %s", id, words, told_of(runs, id));
}

static inline void add(sk_runs *runs, const char *folder, sk_status expected, char id[24])
{
    sk_wish wish = {.command = sk_strdup("track"), .folder = sk_strdup(folder)};
    sk_error err = {0};
    assert_ok(sk_wish_add(&wish, &err, "--conf=%d", 1), &err);
    assert_ok(sk_wish_write_line(&wish, &err), &err);
    const sk_status status = sk_runs_add(runs, &wish, id, &err);
    if (status != expected)
        fail_msg("%s: %s", folder, err.message);
    sk_wish_free(&wish);
}

/* Reads all that pages were told since. */
static inline void hear(sk_events_reader *reader, sk_text *all)
{
    bool ended;
    while (sk_events_read(server.events, reader, all, NULL, &ended))
        ;
}

static inline void wake(void *context)
{
    (void)context;
}

#endif
