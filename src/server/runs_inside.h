/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_RUNS_INSIDE_H
#define SK_SERVER_RUNS_INSIDE_H

#include "runtime/run_lock.h"
#include "server/runs.h"

#include <pthread.h>

/* Inside server/: the list of runs (runs.c), how it is kept (runs_store.c), processes (runs_process.c), what runs tell
 * (runs_told.c). Everything is under one lock. */

#define SK_RUNS_MOST      200
#define SK_RUN_LOG_LINES  300
#define SK_RUN_LOG_LINE   500 /* bytes */
#define SK_RUNS_ELSEWHERE 16

typedef enum sk_page_state {
    SK_PAGE_QUEUED,
    SK_PAGE_RUNNING,
    SK_PAGE_STOPPING,
    SK_PAGE_STOPPED,
    SK_PAGE_FAILED,
    SK_PAGE_DONE
} sk_page_state;

/* What a run has told so far; forgotten when it goes on. */
typedef struct sk_run_told {
    sk_config *progress; /* the last line of it; null: none yet */
    char runtime_requested[32], runtime[32], device[160];
    char export_step[16], export_path[512]; /* "" none is made */
    double export_part;                     /* negative: not known */
    char message[1024], notice[1024];
    int64_t preview; /* frame; -1: no picture */
    bool ended;      /* the last line came … */
    int end_status;
    char result[32];           /* state of the last source … */
    int64_t frames;            /* … of which so many are written */
    int64_t events_at, log_at; /* bytes of the files that were read */
    sk_text part;              /* of a line that is not whole yet */
    sk_text log_part;
} sk_run_told;

typedef struct sk_page_run {
    char id[24];
    sk_wish wish;
    sk_page_state state;
    int64_t created_ms, started_ms, ended_ms;
    int64_t pid, pid_start; /* 0: no process; when it began, as the system counts */
    bool child;             /* of this process: it is waited for */
    sk_run_told told;
    char *log[SK_RUN_LOG_LINES]; /* a ring */
    int32_t log_first, log_count;
    bool changed; /* since pages were told */
} sk_page_run;

struct sk_runs {
    sk_server *server;
    char *program;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool threaded, closing;
    int64_t last_id;
    int32_t count;
    sk_page_run *items[SK_RUNS_MOST]; /* oldest first */
    int32_t n_elsewhere;              /* runs of terminals */
    uint64_t holders; /* all processes that keep the runtime as it is, ours too, as one number */
    sk_run_info elsewhere[SK_RUNS_ELSEWHERE];
};

/* All need the lock. */
sk_page_run *sk_runs_find(sk_runs *runs, const char *id);
void sk_page_run_free(sk_page_run *run);
const char *sk_page_state_name(sk_page_state state);
bool sk_page_state_is_on(sk_page_state state); /* a process is at work */
void sk_runs_put_run(const sk_page_run *run, bool log, sk_json *json);
void sk_runs_put_elsewhere(const sk_run_info *run, sk_json *json);
/* Tells pages that it changed. */
void sk_runs_tell(sk_runs *runs, sk_page_run *run);

/* runs_store.c */
void sk_runs_save(sk_runs *runs); /* a failure is logged: the list is a convenience */
void sk_runs_load(sk_runs *runs);
char *sk_runs_path(const sk_runs *runs, const char *id, const char *ending); /* in the state folder */

/* runs_process.c */
sk_status sk_page_run_start(sk_runs *runs, sk_page_run *run, sk_error *err) SK_MUST_CHECK;
bool sk_page_run_is_alive(sk_page_run *run, int *exit_status); /* *exit_status: -1 not known */
void sk_page_run_interrupt(sk_page_run *run);

/* runs_told.c: reads on in the files; true: something came. */
bool sk_page_run_hear(sk_runs *runs, sk_page_run *run);
void sk_page_run_forget(sk_page_run *run); /* what was told */
void sk_page_run_add_log(sk_runs *runs, sk_page_run *run, const char *line, size_t length);
/* How it went, of a run whose process is gone. */
void sk_page_run_conclude(sk_runs *runs, sk_page_run *run, int exit_status);

#endif
