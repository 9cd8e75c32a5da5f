/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_BENCH_PLAY_H
#define SK_TESTS_APP_BENCH_PLAY_H

#include "support/test.h"

#include "app/bench_talk.h"
#include "base/child.h"

#include <stdio.h>
#include <string.h>

/* The benchmark's processes, played: each answers as its actor says; where `serving`, the process itself is asked. */

/* --- the play: in place of base/child.c --- */

typedef struct actor {
    sk_status starts;
    bool deaf; /* it takes no wish */
    opened_report opened;
    bool silent_open;
    int fails_at, silent_at; /* the how manieth round of the network: it fails, or says nothing */
    int frames_fail_at;
    bool frames_silent;
    int32_t n_layers;
    bool layers_torn;
    /* told by the play: */
    bench_wish wish;
    int32_t order;
    int rounds, frames, asked;
} actor;

static actor actors[3];
static char told[512];
static int ends[2], waits;
static bool serving;

static void tell(int who, const char *what)
{
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s%d%s", told[0] ? " " : "", who, what);
}

sk_status sk_child_start(const char *role, bool quiet, sk_child *out, sk_error *e)
{
    static int next;
    assert_string_equal(role, "bench");
    assert_false(quiet); /* what libraries print is for the person */
    if (!told[0])
        next = 0;
    actor *a = &actors[next];
    tell(next, "S");
    if (a->starts != SK_OK) {
        next++;
        return sk_fail(e, a->starts, "no program");
    }
    *out = (sk_child){.pid = 1000 + next, .fd = 100 + next};
    next++;
    return SK_OK;
}

int sk_child_end(sk_child *child, bool answered)
{
    ends[answered]++;
    *child = (sk_child){0};
    return 0;
}

int sk_child_wait(sk_child *child)
{
    tell(child->fd - 100, "W");
    waits++;
    *child = (sk_child){0};
    return 0;
}

bool sk_child_serve(int argc, char *const *argv, const sk_child_role *roles, size_t n)
{
    (void)argc, (void)argv, (void)roles, (void)n;
    return false;
}

void sk_child_set_program(const char *const *words, size_t n)
{
    (void)words, (void)n;
}

sk_child_heard sk_child_receive_within(int fd, void *data, size_t bytes, int64_t limit_ms)
{
    (void)fd, (void)data, (void)bytes, (void)limit_ms;
    return SK_CHILD_CLOSED;
}

static bool served_send(const void *data, size_t bytes);
static bool served_receive(void *data, size_t bytes);

bool sk_child_send(int fd, const void *data, size_t bytes)
{
    if (serving)
        return served_send(data, bytes);
    actor *a = &actors[fd - 100];
    if (bytes == sizeof a->wish) {
        memcpy(&a->wish, data, bytes);
        return !a->deaf;
    }
    assert_int_equal(bytes, sizeof a->order);
    memcpy(&a->order, data, bytes);
    static const char *const names[] = {"", "R", "L", "E", "F"};
    tell(fd - 100, names[a->order]);
    return true;
}

/* Rounds of the network: the first warms up. */
static const double network_ms[][RUNS_A_ROUND] = {{900, 900, 900, 900}, {5, 1, 3, 7}, {2, 9, 800, 800}, {0}};
static const double frames_ms[][RUNS_A_ROUND] = {
    {700, 700, 700, 700}, {50, 10, 30, 70}, {20, 90, 600, 600}, {0}};
static const double cpu_ms[] = {8, 3, 5, 1}, rss_mb[] = {10, 20, 30, 40};

bool sk_child_receive(int fd, void *data, size_t bytes)
{
    if (serving)
        return served_receive(data, bytes);
    actor *a = &actors[fd - 100];
    if (bytes == sizeof(opened_report)) {
        memcpy(data, &a->opened, bytes);
        return !a->silent_open;
    }
    if (a->order == ORDER_LAYERS && bytes == sizeof a->n_layers) {
        memcpy(data, &a->n_layers, bytes);
        return true;
    }
    if (a->order == ORDER_LAYERS) {
        assert_int_equal(bytes, (size_t)a->n_layers * sizeof(sk_profile_row));
        memset(data, 'x', bytes);
        return !a->layers_torn;
    }
    assert_int_equal(bytes, sizeof(round_report));
    round_report r = {.ok = 1};
    if (a->order == ORDER_FRAMES) {
        memcpy(r.ms, frames_ms[a->frames < 3 ? a->frames : 3], sizeof r.ms);
        r.rss_mb = 500;
        r.cpu_ms = 0.5;
        a->frames++;
        r.ok = a->frames != a->frames_fail_at;
        snprintf(r.problem, sizeof r.problem, "%s", r.ok ? "" : "no frames");
        memcpy(data, &r, a->frames_silent ? 0 : bytes);
        return !a->frames_silent;
    }
    assert_int_equal(a->order, ORDER_RUN);
    const int k = a->rounds < 3 ? a->rounds : 3;
    memcpy(r.ms, network_ms[k], sizeof r.ms);
    r.cpu_ms = cpu_ms[k];
    r.rss_mb = rss_mb[k];
    a->rounds++;
    if (a->rounds == a->silent_at)
        return false;
    r.ok = a->rounds != a->fails_at;
    snprintf(r.problem, sizeof r.problem, "%s", r.ok ? "" : "burnt");
    memcpy(data, &r, bytes);
    return true;
}

#endif
