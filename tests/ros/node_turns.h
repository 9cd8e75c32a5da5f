/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ROS_NODE_TURNS_H
#define SK_TESTS_ROS_NODE_TURNS_H

/* A node that runs for so many turns, with a DDS library of numbers and a clock that a test sets; and what is heard of it. */
#include "numbered_dds.h"
#include "support/yolo_writer.h"

#include "base/memory.h"
#include "ros/node.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static sk_error err;

/* --- a clock that stands still --- */

static _Atomic int64_t now_ns; /* 0: the real one */

typedef int read_clock(clockid_t, struct timespec *);

int clock_gettime(clockid_t which, struct timespec *out)
{
    static read_clock *real;
    const int64_t now = now_ns;
    if (now && which == CLOCK_MONOTONIC) {
        *out = (struct timespec){now / 1000000000, now % 1000000000};
        return 0;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(which, out);
}

/* --- what is heard of it --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char said[8192], wrote[4096]; /* to people; stamps and frames of what was written */
static char last_facts[4096];
static int last_turn;

static inline void hear(void *context, sk_ros_node_level level, const char *text)
{
    (void)context;
    pthread_mutex_lock(&lock);
    const size_t at = strlen(said);
    snprintf(said + at, sizeof said - at, "%d %s\n", (int)level, text);
    pthread_mutex_unlock(&lock);
}

typedef struct header {
    int32_t sec;
    uint32_t nanosec;
    const char *frame_id;
} header;

typedef struct status {
    uint8_t level;
    const char *name, *message, *hardware;
    sk_dds_sequence values;
} status;

typedef struct diagnosis {
    header header;
    sk_dds_sequence status;
} diagnosis;

/* What lies in a sample, as the library gets it. */
static inline int32_t look(const char *topic, const void *sample)
{
    const char *name = strrchr(topic, '/');
    pthread_mutex_lock(&lock);
    if (name && (strcmp(name, "/detections") == 0 || strcmp(name, "/keypoints") == 0 ||
                 strcmp(name, "/tracks") == 0 || strcmp(name, "/annotated") == 0)) {
        const header *h = sample;
        const size_t at = strlen(wrote);
        snprintf(wrote + at, sizeof wrote - at, "%s %d %s\n", name, (int)h->sec, h->frame_id);
    } else if (name && strcmp(name, "/diagnostics") == 0) {
        const diagnosis *d = sample;
        const status *s = d->status.buffer;
        const char *const(*pairs)[2] = s->values.buffer;
        size_t at = (size_t)snprintf(last_facts, sizeof last_facts, "%d %s\n", s->level, s->name);
        for (uint32_t i = 0; i < s->values.length && at < sizeof last_facts; i++)
            at += (size_t)snprintf(last_facts + at, sizeof last_facts - at, "%s=%s\n", pairs[i][0],
                                   pairs[i][1]);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Waits for the thread that tells: every image that was taken is given back, and counted before. */
static inline void until_given_back(void)
{
    bool all = false;
    for (int i = 0; i < 4000 && !all; i++) {
        all = true;
        for (int k = 0; k < n_coming; k++)
            all = all && (coming[k].topic || coming[k].held == 0);
        if (!all)
            usleep(5000);
    }
}

static inline bool ended(void *context)
{
    (void)context;
    return turns >= last_turn;
}

typedef struct wish {
    const char *head;
    const char *rules[12];
    bool track;
    int turns;
    void (*on_turn)(int turn);
    int32_t (*on_write)(const char *topic, const void *sample);
} wish;

/* Runs a node for so many turns; what it came to is in said, wrote and *report. */
static inline sk_status run(const wish *w, sk_ros_node_report *report)
{
    const yolo_fixture fixture = {.head = w->head, .f32 = true, .imgsz = 64};
    sk_ros_names names;
    sk_params *params = NULL;
    char rule[4300];
    assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
    assert_ok(sk_params_open(&params, &err), &err);
    snprintf(rule, sizeof rule, "weights_path:=%s", yolo_save(&fixture, "turns.pt"));
    assert_ok(sk_params_put_rule(params, rule, &err), &err);
    assert_ok(sk_params_put_rule(params, "compute_runtime:=cpu", &err), &err);
    for (int i = 0; w->rules[i]; i++)
        assert_ok(sk_params_put_rule(params, w->rules[i], &err), &err);
    const sk_ros_node_settings settings = {
        .names = &names, .params = params, .domain = 3, .track = w->track, .interrupted = ended, .say = hear};
    said[0] = wrote[0] = last_facts[0] = '\0';
    last_turn = w->turns;
    on_turn = w->on_turn;
    on_write = w->on_write ? w->on_write : look;
    const sk_status status_ = sk_ros_node_run(&settings, report, &err);
    now_ns = 0;
    sk_params_close(&params);
    return status_;
}

static inline void expect_said(const char *words)
{
    if (!strstr(said, words))
        fail_msg("not said: %s\namong:\n%s", words, said);
}

#define SECOND ((int64_t)1000000000)

#endif
