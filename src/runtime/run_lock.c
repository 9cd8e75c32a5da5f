/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/run_lock.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* runs/gate is held for the moment in which somebody begins a run, lists the runs or changes the setting; it makes
 * "nobody runs, so I change" one step. Each run's own file is runs/<host>-<pid>-<n>.lock, its last line "run NAME". */
#define GATE_MS 10000

struct sk_run_lock {
    sk_lock *lock;
    char *path;
};

static sk_status runs_folder(char **out, sk_error *err)
{
    char *cache = NULL;
    SK_TRY(sk_folder_cache(&cache, err));
    *out = sk_path_join(cache, "runs");
    sk_free(cache);
    if (!*out)
        return sk_fail_memory(err, 64);
    sk_status status = sk_folder_make(*out, err);
    if (status != SK_OK) {
        sk_free(*out);
        *out = NULL;
    }
    return status;
}

static sk_status gate_open(const char *folder, sk_lock **out, sk_error *err)
{
    char *path = sk_path_join(folder, "gate");
    sk_status status = path ? sk_lock_open(path, GATE_MS, out, NULL, err) : sk_fail_memory(err, 64);
    sk_free(path);
    return status;
}

/* The lock file already says who holds it; this adds what for. A failure leaves the run nameless, not unlocked. */
static void add_name(const char *path, const char *name)
{
    char line[280];
    int length = snprintf(line, sizeof line, "run %.255s\n", name);
    for (int i = 0; i < length - 1; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    int file;
    if (sk_file_open_own(path, O_WRONLY | O_APPEND, &file, NULL) != SK_OK)
        return;
    ssize_t written = write(file, line, (size_t)length);
    (void)written;
    close(file);
}

static void read_name(const char *path, char *name, size_t capacity)
{
    char *text = NULL;
    size_t bytes = 0;
    name[0] = '\0';
    if (sk_file_read_own(path, 4096, &text, &bytes, NULL) == SK_OK) {
        const char *line = strstr(text, "\nrun ");
        if (line)
            snprintf(name, capacity, "%.*s", (int)strcspn(line + 5, "\n"), line + 5);
    }
    sk_free(text);
}

sk_status sk_run_lock_open(const char *name, sk_run_lock **out, sk_error *err)
{
    static atomic_int counter;
    char *folder = NULL, host[72] = "", file[176]; /* Linux has names of up to 64 bytes */
    sk_lock *gate = NULL;
    sk_status status;
    *out = NULL;
    sk_run_lock *run = sk_calloc(1, sizeof *run);
    if (!run)
        return sk_fail_memory(err, sizeof *run);
    SK_TRY_GOTO(runs_folder(&folder, err));
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    snprintf(file, sizeof file, "%s-%ld-%d.lock", host, (long)getpid(), atomic_fetch_add(&counter, 1));
    run->path = sk_path_join(folder, file);
    if (!run->path) {
        status = sk_fail_memory(err, 64);
        goto done;
    }
    SK_TRY_GOTO(gate_open(folder, &gate, err));
    SK_TRY_GOTO(sk_lock_open(run->path, 0, &run->lock, NULL, err));
    add_name(run->path, name);
    *out = run;
    run = NULL;
done:
    sk_lock_close(&gate);
    if (run) {
        sk_free(run->path);
        sk_free(run);
    }
    sk_free(folder);
    return status;
}

void sk_run_lock_close(sk_run_lock **lock)
{
    SK_TAKE_OR_RETURN(run, lock);
    unlink(run->path); /* while it is still ours */
    sk_lock_close(&run->lock);
    sk_free_all(run->path, run);
}

static bool is_run_file(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".lock") == 0;
}

/* Adds to *count. Needs the gate: nobody is between making a file and locking it. */
static sk_status look(const char *folder, sk_run_info *rows, int32_t capacity, int32_t *count, sk_error *err)
{
    sk_status status = SK_OK;
    DIR *dir = opendir(folder);
    if (!dir)
        return sk_fail(err, SK_ERR_IO, "%s: the folder of running runs cannot be read: %s", folder,
                       strerror(errno));
    for (struct dirent *entry; status == SK_OK && (entry = readdir(dir));) {
        if (!is_run_file(entry->d_name))
            continue;
        char *path = sk_path_join(folder, entry->d_name);
        sk_run_info info = {0};
        struct stat kind;
        bool taken = false;
        if (path && lstat(path, &kind) == 0 && !S_ISREG(kind.st_mode)) { /* planted: no run of ours */
            sk_free(path);
            continue;
        }
        status = path ? sk_lock_query(path, &taken, &info.holder, err) : sk_fail_memory(err, 64);
        if (status == SK_ERR_NOT_FOUND) { /* its run ended this instant */
            status = SK_OK;
        } else if (status == SK_OK && !taken) {
            unlink(path); /* left by a run that died */
        } else if (status == SK_OK) {
            read_name(path, info.name, sizeof info.name);
            if (*count < capacity)
                rows[*count] = info;
            ++*count;
        }
        sk_free(path);
    }
    closedir(dir);
    return status;
}

sk_status sk_run_list(sk_run_info *rows, int32_t capacity, int32_t *count, sk_error *err)
{
    char *folder = NULL;
    sk_lock *gate = NULL;
    sk_status status;
    *count = 0;
    SK_TRY_GOTO(runs_folder(&folder, err));
    SK_TRY_GOTO(gate_open(folder, &gate, err));
    status = look(folder, rows, capacity, count, err);
done:
    sk_lock_close(&gate);
    sk_free(folder);
    return status;
}

sk_status sk_run_change_begin(sk_lock **out, sk_error *err)
{
    char *folder = NULL;
    sk_run_info first = {0};
    int32_t count = 0;
    sk_status status;
    *out = NULL;
    SK_TRY_GOTO(runs_folder(&folder, err));
    SK_TRY_GOTO(gate_open(folder, out, err));
    status = look(folder, &first, 1, &count, err);
    if (status == SK_OK && count > 0) {
        char others[48] = "";
        if (count > 1)
            snprintf(others, sizeof others, " (and %d more)", count - 1);
        status =
            sk_fail(err, SK_ERR_BUSY,
                    "the compute runtime cannot be changed while a run is on: '%s', process %lld on %s%s\n"
                    "wait for it, or stop it: kill %lld (the same command continues it later)",
                    first.name[0] ? first.name : first.holder.command, (long long)first.holder.pid,
                    first.holder.host, others, (long long)first.holder.pid);
    }
done:
    if (status != SK_OK)
        sk_lock_close(out);
    sk_free(folder);
    return status;
}
