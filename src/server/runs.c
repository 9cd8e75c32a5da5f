/* SPDX-License-Identifier: Apache-2.0 */
#include "server/runs_inside.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/object.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TICK_MS      150
#define ELSEWHERE_NS ((int64_t)1000000000)
#define PING_NS      ((int64_t)10000000000)

sk_page_run *sk_runs_find(sk_runs *runs, const char *id)
{
    for (int32_t i = 0; i < runs->count; i++)
        if (strcmp(runs->items[i]->id, id) == 0)
            return runs->items[i];
    return NULL;
}

void sk_page_run_free(sk_page_run *run)
{
    sk_page_run_forget(run);
    for (int i = 0; i < SK_RUN_LOG_LINES; i++)
        sk_free(run->log[i]);
    sk_wish_free(&run->wish);
    sk_free(run);
}

bool sk_page_state_is_on(sk_page_state state)
{
    return state == SK_PAGE_RUNNING || state == SK_PAGE_STOPPING;
}

void sk_runs_tell(sk_runs *runs, sk_page_run *run)
{
    sk_text text = {0};
    sk_json j = sk_json_to_text(&text, 0);
    sk_runs_put_run(run, false, &j);
    if (sk_json_end(&j, NULL) == SK_OK)
        sk_events_tell(runs->server->events, "run", sk_text_get(&text));
    sk_text_free(&text);
    run->changed = false;
}

/* --- the thread that looks after them --- */

static void start_next(sk_runs *runs)
{
    sk_page_run *next = NULL;
    for (int32_t i = 0; i < runs->count; i++) {
        if (sk_page_state_is_on(runs->items[i]->state))
            return;
        if (!next && runs->items[i]->state == SK_PAGE_QUEUED)
            next = runs->items[i];
    }
    if (!next)
        return;
    sk_error err = {0};
    if (sk_page_run_start(runs, next, &err) != SK_OK) {
        next->state = SK_PAGE_FAILED;
        snprintf(next->told.message, sizeof next->told.message, "%s", err.message);
    }
    sk_runs_save(runs);
    sk_runs_tell(runs, next);
    sk_events_tell(runs->server->events, "runtimes", "{}");
}

static void look_after(sk_runs *runs, sk_page_run *run)
{
    int status = -1;
    if (!sk_page_state_is_on(run->state))
        return;
    const bool alive = sk_page_run_is_alive(run, &status);
    (void)sk_page_run_hear(runs, run);
    if (!alive) {
        sk_page_run_conclude(runs, run, status);
        run->ended_ms = sk_clock_wall_ms();
        sk_runs_save(runs);
        sk_events_tell(runs->server->events, "runtimes", "{}");
    }
    if (run->changed)
        sk_runs_tell(runs, run);
}

static bool same_elsewhere(const sk_runs *runs, const sk_run_info *rows, int32_t n)
{
    bool same = n == runs->n_elsewhere;
    for (int32_t i = 0; i < n && same; i++)
        same = rows[i].holder.pid == runs->elsewhere[i].holder.pid;
    return same;
}

/* Runs of terminals: told when they come and go. Not under the lock but for the last step: the list is on the disk. */
static void look_elsewhere(sk_runs *runs)
{
    sk_run_info rows[SK_RUNS_ELSEWHERE], others[SK_RUNS_ELSEWHERE];
    int32_t count = 0, n = 0;
    uint64_t holders = 0;
    if (sk_run_list(rows, SK_RUNS_ELSEWHERE, &count, NULL) != SK_OK)
        return;
    pthread_mutex_lock(&runs->lock);
    for (int32_t i = 0; i < count && i < SK_RUNS_ELSEWHERE; i++) {
        bool ours = rows[i].holder.pid == atomic_load(&runs->server->testing_pid);
        if (!ours)
            holders = holders * 1000003 + (uint64_t)rows[i].holder.pid;
        for (int32_t k = 0; k < runs->count; k++)
            ours = ours || runs->items[k]->pid == rows[i].holder.pid;
        if (!ours)
            others[n++] = rows[i];
    }
    if (!same_elsewhere(runs, others, n)) {
        for (int32_t i = 0; i < runs->n_elsewhere; i++) {
            char gone[64];
            snprintf(gone, sizeof gone, "{\"id\":\"pid-%lld\"}", (long long)runs->elsewhere[i].holder.pid);
            sk_events_tell(runs->server->events, "removed", gone);
        }
        memcpy(runs->elsewhere, others, sizeof others);
        runs->n_elsewhere = n;
        for (int32_t i = 0; i < n; i++) {
            sk_text text = {0};
            sk_json j = sk_json_to_text(&text, 0);
            sk_runs_put_elsewhere(&others[i], &j);
            if (sk_json_end(&j, NULL) == SK_OK)
                sk_events_tell(runs->server->events, "run", sk_text_get(&text));
            sk_text_free(&text);
        }
    }
    if (holders != runs->holders) /* ours hold it some time after they were started */
        sk_events_tell(runs->server->events, "runtimes", "{}");
    runs->holders = holders;
    pthread_mutex_unlock(&runs->lock);
}

static void *keep(void *context)
{
    sk_runs *runs = context;
    int64_t looked = 0, pinged = sk_clock_ns();
    pthread_mutex_lock(&runs->lock);
    while (!runs->closing) {
        for (int32_t i = 0; i < runs->count; i++)
            look_after(runs, runs->items[i]);
        start_next(runs);
        const int64_t now = sk_clock_ns();
        pthread_mutex_unlock(&runs->lock);
        if (now - looked >= ELSEWHERE_NS) {
            look_elsewhere(runs);
            looked = now;
        }
        if (now - pinged >= PING_NS) {
            sk_events_ping(runs->server->events);
            pinged = now;
        }
        pthread_mutex_lock(&runs->lock);
        const int64_t next_ms = sk_clock_wall_ms() + TICK_MS;
        const struct timespec until = {.tv_sec = next_ms / 1000, .tv_nsec = next_ms % 1000 * 1000000};
        if (!runs->closing)
            (void)pthread_cond_timedwait(&runs->wake, &runs->lock, &until);
    }
    pthread_mutex_unlock(&runs->lock);
    return NULL;
}

sk_status sk_runs_open(sk_server *server, const char *program, sk_runs **out, sk_error *err)
{
    sk_runs *runs = sk_calloc(1, sizeof *runs);
    *out = NULL;
    if (!runs || pthread_mutex_init(&runs->lock, NULL) != 0) {
        sk_free(runs);
        return sk_fail_memory(err, sizeof *runs);
    }
    sk_status status = SK_OK;
    runs->server = server;
    if (pthread_cond_init(&runs->wake, NULL) != 0)
        status = sk_fail_memory(err, sizeof runs->wake);
    runs->program = sk_strdup(program ? program : "/proc/self/exe");
    if (status == SK_OK && !runs->program)
        status = sk_fail_memory(err, 16);
    if (status == SK_OK) {
        sk_runs_load(runs);
        runs->threaded = pthread_create(&runs->thread, NULL, keep, runs) == 0;
        if (!runs->threaded)
            status = sk_fail(err, SK_ERR_RUNTIME, "no thread could be started to look after runs");
    }
    return SK_HAND_OVER(status, runs, out, sk_runs_close);
}

void sk_runs_close(sk_runs **pointer)
{
    SK_TAKE_OR_RETURN(runs, pointer);
    if (runs->threaded) {
        pthread_mutex_lock(&runs->lock);
        runs->closing = true;
        pthread_cond_broadcast(&runs->wake);
        pthread_mutex_unlock(&runs->lock);
        pthread_join(runs->thread, NULL); /* the list was kept at its last change */
    }
    for (int32_t i = 0; i < runs->count; i++)
        sk_page_run_free(runs->items[i]);
    pthread_cond_destroy(&runs->wake);
    pthread_mutex_destroy(&runs->lock);
    sk_free_all(runs->program, runs);
}

/* --- what people do --- */

/* Room for one more: the oldest that is over goes. Needs the lock. */
static sk_status make_room(sk_runs *runs, sk_error *err)
{
    for (int32_t i = 0; runs->count == SK_RUNS_MOST && i < runs->count; i++)
        if (!sk_page_state_is_on(runs->items[i]->state) && runs->items[i]->state != SK_PAGE_QUEUED) {
            sk_page_run_free(runs->items[i]);
            memmove(&runs->items[i], &runs->items[i + 1], (size_t)(--runs->count - i) * sizeof *runs->items);
        }
    return runs->count < SK_RUNS_MOST ? SK_OK
                                      : sk_fail(err, SK_ERR_BUSY, "%d runs wait already", SK_RUNS_MOST);
}

/* Needs the lock. */
static sk_status check_folder(const sk_runs *runs, const char *folder, sk_error *err)
{
    for (int32_t i = 0; i < runs->count; i++) {
        const sk_page_run *run = runs->items[i];
        if ((sk_page_state_is_on(run->state) || run->state == SK_PAGE_QUEUED) && run->wish.folder && folder &&
            strcmp(run->wish.folder, folder) == 0)
            return sk_fail(err, SK_ERR_BUSY,
                           "%.400s: run %s writes there already\nname another folder, or wait", folder,
                           run->id);
    }
    return SK_OK;
}

sk_status sk_runs_add(sk_runs *runs, sk_wish *wish, char id[24], sk_error *err)
{
    sk_page_run *run = sk_calloc(1, sizeof *run);
    if (!run)
        return sk_fail_memory(err, sizeof *run);
    sk_page_run_forget(run);
    pthread_mutex_lock(&runs->lock);
    sk_status status = make_room(runs, err);
    if (status == SK_OK)
        status = check_folder(runs, wish->folder, err);
    if (status == SK_OK) {
        run->wish = *wish;
        *wish = (sk_wish){0};
        run->created_ms = sk_clock_wall_ms();
        run->state = SK_PAGE_QUEUED;
        snprintf(run->id, sizeof run->id, "%lld", (long long)++runs->last_id);
        snprintf(id, 24, "%s", run->id);
        runs->items[runs->count++] = run;
        run = NULL;
        start_next(runs);
        sk_runs_save(runs);
        sk_runs_tell(runs, runs->items[runs->count - 1]);
    }
    pthread_mutex_unlock(&runs->lock);
    sk_free(run);
    return status;
}

static sk_status no_such(const char *id, sk_error *err)
{
    return sk_fail(err, SK_ERR_NOT_FOUND, "there is no run %.24s", id);
}

sk_status sk_runs_stop(sk_runs *runs, const char *id, sk_error *err)
{
    sk_status status = SK_OK;
    pthread_mutex_lock(&runs->lock);
    sk_page_run *run = sk_runs_find(runs, id);
    if (!run)
        status = no_such(id, err);
    else if (run->state == SK_PAGE_QUEUED)
        run->state = SK_PAGE_STOPPED;
    else if (run->state == SK_PAGE_RUNNING) {
        sk_page_run_interrupt(run);
        run->state = SK_PAGE_STOPPING;
    } else if (run->state != SK_PAGE_STOPPING)
        status = sk_fail(err, SK_ERR_ARG, "run %s is over: %s", run->id, sk_page_state_name(run->state));
    if (status == SK_OK) {
        sk_runs_save(runs);
        sk_runs_tell(runs, run);
    }
    pthread_mutex_unlock(&runs->lock);
    return status;
}

sk_status sk_runs_continue(sk_runs *runs, const char *id, sk_error *err)
{
    sk_status status = SK_OK;
    pthread_mutex_lock(&runs->lock);
    sk_page_run *run = sk_runs_find(runs, id);
    if (!run)
        status = no_such(id, err);
    else if (run->state != SK_PAGE_STOPPED && run->state != SK_PAGE_FAILED)
        status = sk_fail(err, SK_ERR_ARG, "run %s is %s: there is nothing to continue", run->id,
                         sk_page_state_name(run->state));
    else
        status = check_folder(runs, run->wish.folder, err);
    if (status == SK_OK) {
        run->state = SK_PAGE_QUEUED;
        run->told.message[0] = '\0';
        start_next(runs);
        sk_runs_save(runs);
        sk_runs_tell(runs, run);
    }
    pthread_mutex_unlock(&runs->lock);
    return status;
}

sk_status sk_runs_remove(sk_runs *runs, const char *id, sk_error *err)
{
    static const char *const endings[] = {".log", ".events", ".jpg"};
    char gone[64];
    sk_status status = SK_OK;
    pthread_mutex_lock(&runs->lock);
    sk_page_run *run = sk_runs_find(runs, id);
    if (!run)
        status = no_such(id, err);
    else if (sk_page_state_is_on(run->state))
        status = sk_fail(err, SK_ERR_BUSY, "run %s is on\nstop it first", run->id);
    if (status == SK_OK) {
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
            char *path = sk_runs_path(runs, run->id, endings[i]);
            if (path)
                (void)unlink(path);
            sk_free(path);
        }
        snprintf(gone, sizeof gone, "{\"id\":\"%s\"}", run->id);
        for (int32_t i = 0; i < runs->count; i++)
            if (runs->items[i] == run) {
                memmove(&runs->items[i], &runs->items[i + 1],
                        (size_t)(--runs->count - i) * sizeof *runs->items);
                break;
            }
        sk_page_run_free(run);
        sk_runs_save(runs);
        sk_events_tell(runs->server->events, "removed", gone);
    }
    pthread_mutex_unlock(&runs->lock);
    return status;
}
