/* SPDX-License-Identifier: Apache-2.0 */
/* Where artifacts lie, when they are made anew and when not, and what happens when making one goes wrong. The maker is
 * a stand-in that counts; the files, locks, processes and full disks are real. */
#include "support/test.h"

#include "base/clock.h"
#include "base/file.h"
#include "runtime/artifact.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 20000

static const sk_engine_form form = {
    .name = "onnx", .extension = ".onnx", .folder_extension = ".onnx", .file = "model.onnx"};

/* One folder a test: model.pt, its artifact, a cache. */
static char folder[512], model[600], artifact[600];

static void path_in(char *out, size_t capacity, const char *name)
{
    snprintf(out, capacity, "%s/%s", folder, name);
}

static void put(const char *path, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static int set_up(void **state)
{
    (void)state;
    static int number;
    char cache[600];
    snprintf(folder, sizeof folder, "%s/case%d", test_folder(), number++);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    path_in(model, sizeof model, "model.pt");
    path_in(artifact, sizeof artifact, "model.onnx");
    path_in(cache, sizeof cache, "cache");
    assert_int_equal(setenv("SKITTER_CACHE_DIR", cache, 1), 0);
    put(model, "weights");
    return 0;
}

typedef struct script {
    int seconds_ms; /* how long making takes */
    bool bad;       /* what is made computes wrong numbers */
    bool die;       /* the process is killed while making */
    char seed[64];  /* goes into the bytes */
    int checks;     /* how often bytes were compared */
    bool waited;    /* was told to wait for somebody */
} script;

static int makes(void) /* by all processes */
{
    char log[600];
    path_in(log, sizeof log, "makes");
    int64_t n = sk_file_size(log);
    return n < 0 ? 0 : (int)n;
}

static sk_status fake_make(void *context, uint8_t **bytes, size_t *length, sk_error *err)
{
    script *s = context;
    char log[600];
    path_in(log, sizeof log, "makes");
    int file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file >= 0) {
        ssize_t ignored = write(file, "x", 1);
        (void)ignored;
        close(file);
    }
    if (s->die)
        raise(SIGKILL);
    sk_clock_sleep_ns((int64_t)s->seconds_ms * 1000000);
    *length = BYTES;
    *bytes = sk_malloc(BYTES);
    if (!*bytes)
        return sk_fail_memory(err, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        (*bytes)[i] = (uint8_t)(s->seed[i % (strlen(s->seed) + 1)] + (char)(i / 97));
    return SK_OK;
}

static sk_status fake_fits(void *context, const char *path, const void *bytes, size_t length, sk_error *err)
{
    (void)context;
    (void)path;
    return length >= 4 && memcmp(bytes, "USER", 4) == 0
               ? SK_OK
               : sk_fail(err, SK_ERR_MISMATCH, "it is for another task");
}

static sk_status fake_check(void *context, const char *path, const void *bytes, size_t length,
                            sk_artifact_check *out, sk_error *err)
{
    script *s = context;
    (void)bytes;
    s->checks++;
    out->pcc = s->bad ? 0.5 : 1;
    out->max_difference = s->bad ? 3 : 1e-7;
    assert_int_equal(length, BYTES);
    return s->bad ? sk_fail(err, SK_ERR_MISMATCH, "%s: its answers differ", path) : SK_OK;
}

static void fake_tell(void *context, sk_artifact_step step, const char *path, const char *note)
{
    script *s = context;
    (void)path;
    if (step == SK_ARTIFACT_WAITING)
        s->waited = strncmp(note, "process ", 8) == 0;
}

static sk_artifact_wish wish_for(const char *path)
{
    sk_artifact_wish w = {.model = path, .form = &form, .runtime = "onnx_cpu", .library = "1.30.0"};
    sk_artifact_key *k = &w.key;
    char *text = NULL;
    size_t bytes = 0;
    /* a stand-in for the model's hash: its text, filled up */
    if (sk_file_is_directory(path))
        snprintf(k->source, sizeof k->source, "%064d", 7);
    else if (sk_file_read(path, 64, &text, &bytes, NULL) == SK_OK)
        snprintf(k->source, sizeof k->source, "%-64s", text);
    sk_free(text);
    for (char *c = k->source; *c; c++)
        *c = *c == ' ' ? '0' : *c;
    snprintf(k->form, sizeof k->form, "onnx");
    k->batch = 1;
    k->height = k->width = 640;
    snprintf(k->precision, sizeof k->precision, "f32");
    k->opset = 17;
    snprintf(k->version, sizeof k->version, "0.1.0/1");
    return w;
}

static sk_status obtain_with(const sk_artifact_wish *w, script *s, sk_artifact *out, sk_error *err)
{
    sk_artifact_maker maker = {s, fake_make, fake_fits, fake_check, fake_tell};
    if (!s->seed[0])
        snprintf(s->seed, sizeof s->seed, "%.20s %d %d", w->key.source, w->key.batch, w->key.height);
    return sk_artifact_obtain(w, &maker, out, err);
}

/* Obtains, and says how many were made by it. The artifact's path is compared with `where`. */
static int obtain(const sk_artifact_wish *w, const char *where)
{
    script s = {0};
    sk_artifact a = {0};
    sk_error err = {0};
    int before = makes();
    assert_ok(obtain_with(w, &s, &a, &err), &err);
    assert_non_null(a.bytes);
    assert_int_equal(sk_blob_bytes(a.bytes), BYTES);
    if (where)
        assert_string_equal(a.path, where);
    assert_int_equal(a.made, makes() > before);
    assert_true(a.check.pcc == 1);
    sk_artifact_release(&a);
    return makes() - before;
}

/* No temporary files and locks are left in the folder. */
static void assert_tidy(void)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] == '.' && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            fail_msg("%s was left behind", e->d_name);
    closedir(dir);
}

static void names_and_places(void **state)
{
    (void)state;
    static const sk_engine_form engine = {
        .name = "tensorrt", .extension = ".engine", .folder_extension = ".tensorrt", .file = "model.engine"};
    char sleap[600], given[700], file[SK_ARTIFACT_PATH], container[SK_ARTIFACT_PATH], want[700];
    sk_error err = {0};
    path_in(sleap, sizeof sleap, "sleap.v1");
    assert_int_equal(mkdir(sleap, 0777), 0);
    assert_ok(sk_artifact_place("/path/model.pt", &form, file, container, &err), &err);
    assert_string_equal(file, "/path/model.onnx");
    assert_string_equal(container, file);
    assert_ok(sk_artifact_place("/path/model.pt", &engine, file, container, &err), &err);
    assert_string_equal(file, "/path/model.engine");
    assert_ok(sk_artifact_place("model", &form, file, container, &err), &err);
    assert_string_equal(file, "model.onnx");
    static const char *const tails[] = {"", "/", "//", "/."};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        snprintf(given, sizeof given, "%s%s", sleap, tails[i]);
        assert_ok(sk_artifact_place(given, &form, file, container, &err), &err);
        snprintf(want, sizeof want, "%s.onnx", sleap);
        assert_string_equal(container, want);
        snprintf(want, sizeof want, "%s.onnx/model.onnx", sleap);
        assert_string_equal(file, want);
        assert_ok(sk_artifact_place(given, &engine, file, container, &err), &err);
        snprintf(want, sizeof want, "%s.tensorrt/model.engine", sleap);
        assert_string_equal(file, want);
    }
    sk_artifact_wish w = wish_for(sleap);
    snprintf(want, sizeof want, "%s.onnx/model.onnx", sleap);
    assert_int_equal(obtain(&w, want), 1);
    assert_int_equal(obtain(&w, want), 0);
    assert_tidy();
}

static void made_once_and_found_again(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    sk_artifact_record r;
    sk_error err = {0};
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&w, artifact), 0);
    assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
    char why[SK_ARTIFACT_WHY];
    assert_true(sk_artifact_key_equal(&r.key, &w.key, why));
    assert_int_equal(r.bytes, BYTES);
    assert_string_equal(r.model, model);
    assert_int_equal(r.n_checks, 1);
    assert_string_equal(r.checks[0].runtime, "onnx_cpu");
    assert_tidy();
}

static void touch_changes_nothing(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    struct timespec later[2] = {{4000000000, 0}, {4000000000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, model, later, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, artifact, later, 0), 0);
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 0);
}

static void an_edited_model_is_exported_again(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    put(model, "other weights");
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&w, artifact), 0);
    put(model, "weights"); /* back again: the first was not kept, it may be any age */
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_tidy();
}

static void a_renamed_model_gets_its_own(void **state)
{
    (void)state;
    char renamed[600], its[600], side[700], its_side[700];
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    path_in(renamed, sizeof renamed, "renamed.pt");
    path_in(its, sizeof its, "renamed.onnx");
    assert_int_equal(rename(model, renamed), 0);
    w = wish_for(renamed);
    assert_int_equal(obtain(&w, its), 1);
    /* The artifact of another model, renamed with its sidecar: made anew, not believed. */
    put(model, "somebody new");
    assert_int_equal(rename(its, artifact), 0);
    snprintf(side, sizeof side, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
    snprintf(its_side, sizeof its_side, "%s%s", its, SK_ARTIFACT_SIDECAR);
    assert_int_equal(rename(its_side, side), 0);
    w = wish_for(model);
    sk_artifact_record r;
    sk_artifact_state found;
    char why[SK_ARTIFACT_WHY];
    sk_error err = {0};
    assert_ok(sk_artifact_inspect(artifact, &w.key, &r, &found, why, NULL, &err), &err);
    assert_int_equal(found, SK_ARTIFACT_FOREIGN);
    assert_int_equal(obtain(&w, artifact), 1);
}

static void other_batch_and_size(void **state)
{
    (void)state;
    sk_artifact_wish small = wish_for(model), large = small, many = small;
    large.key.height = 1024;
    many.key.batch = 8;
    assert_int_equal(obtain(&small, artifact), 1);
    assert_int_equal(obtain(&large, artifact), 1); /* takes the name … */
    assert_int_equal(obtain(&small, NULL), 0);     /* … and the first is still to be had */
    assert_int_equal(obtain(&large, artifact), 0);
    assert_int_equal(obtain(&many, artifact), 1);
    assert_int_equal(obtain(&large, NULL), 0);
    assert_int_equal(obtain(&small, NULL), 0);
    /* but not an older model's */
    put(model, "other weights");
    small = wish_for(model);
    assert_int_equal(obtain(&small, artifact), 1);
    assert_tidy();
}

static void the_cache_is_bounded(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    for (int i = 1; i <= 14; i++) {
        w.key.batch = i;
        assert_int_equal(obtain(&w, artifact), 1);
    }
    char cache[600];
    path_in(cache, sizeof cache, "cache/artifacts");
    int files = 0;
    DIR *dir = opendir(cache);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        files += strchr(e->d_name, '-') && !strstr(e->d_name, "json");
    closedir(dir);
    assert_int_equal(files, 8);
}

static void every_part_of_the_key_counts(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    char why[SK_ARTIFACT_WHY];
    static const char *const words[] = {"opset", "precision", "device", "library", "skitter", "form"};
    for (int i = 0; i < 6; i++) {
        sk_artifact_key k = w.key;
        switch (i) {
        case 0: k.opset = 18; break;
        case 1: snprintf(k.precision, sizeof k.precision, "f16"); break;
        case 2: snprintf(k.architecture, sizeof k.architecture, "sm_90"); break;
        case 3: snprintf(k.library, sizeof k.library, "10.3"); break;
        case 4: snprintf(k.version, sizeof k.version, "0.2.0/1"); break;
        default: snprintf(k.form, sizeof k.form, "tensorrt");
        }
        assert_false(sk_artifact_key_equal(&w.key, &k, why));
        assert_non_null(strstr(why, words[i]));
        sk_artifact_wish other = w;
        other.key = k;
        assert_int_equal(obtain(&other, artifact), 1);
        assert_int_equal(obtain(&w, artifact), 1);
    }
}

/* A file that is bound to no library is compared again with another version, once; one that is bound is made anew. */
static void another_library_version(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    assert_int_equal(obtain(&w, artifact), 1);
    w.library = "1.31.0";
    for (int i = 0; i < 2; i++) {
        assert_ok(obtain_with(&w, &s, &a, &err), &err);
        assert_false(a.made);
        sk_artifact_release(&a);
        assert_int_equal(s.checks, 1);
    }
    w.runtime = "openvino";
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    sk_artifact_release(&a);
    assert_int_equal(s.checks, 2);
    /* A version that computes something else is refused, and the file stays for those that do not. */
    w.library = "2027.0";
    s.bad = true;
    assert_int_equal(obtain_with(&w, &s, &a, &err), SK_ERR_MISMATCH);
    assert_null(a.bytes);
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 0);
    /* bound: TensorRT's */
    snprintf(w.key.library, sizeof w.key.library, "10.3");
    assert_int_equal(obtain(&w, artifact), 1);
    snprintf(w.key.library, sizeof w.key.library, "10.4");
    assert_int_equal(obtain(&w, artifact), 1);
    assert_tidy();
}

static void damaged_files_are_made_anew(void **state)
{
    (void)state;
    static const int lengths[] = {0, 1, 100, 300, BYTES / 2, BYTES - 1};
    sk_artifact_wish w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        assert_int_equal(truncate(artifact, lengths[i]), 0);
        assert_int_equal(obtain(&w, artifact), 1);
    }
    int file = open(artifact, O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "\1\2\3", 3, BYTES / 2), 3); /* a bad sector */
    close(file);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&w, artifact), 0);
    assert_tidy();
}

static void assert_still(const char *path, const char *text)
{
    char *now = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    assert_ok(sk_file_read(path, 1 << 20, &now, &bytes, &err), &err);
    assert_string_equal(now, text);
    sk_free(now);
}

static void users_files_are_used_and_never_overwritten(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    put(artifact, "USER made this");
    assert_ok(obtain_with(&w, &s, &a, &err), &err); /* no sidecar */
    assert_true(a.users);
    assert_false(a.made);
    assert_non_null(strstr(a.notice, "is used as it is"));
    assert_int_equal(sk_blob_bytes(a.bytes), 14);
    sk_artifact_release(&a);
    assert_int_equal(makes(), 0);
    /* ours first, then replaced by somebody: the sidecar is about another file */
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(obtain(&w, artifact), 1);
    put(artifact, "USER made this too");
    put(model, "other weights"); /* stale would be made anew; this is theirs */
    w = wish_for(model);
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.users);
    sk_artifact_release(&a);
    assert_int_equal(makes(), 1);
    assert_still(artifact, "USER made this too");
    /* a sidecar that nobody understands protects the file as well */
    char side[700];
    snprintf(side, sizeof side, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
    put(side, "{nonsense");
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.users);
    sk_artifact_release(&a);
    assert_still(artifact, "USER made this too");
}

static void a_misfit_of_the_users_is_left_alone(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    put(artifact, "segmentation model");
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.made);
    assert_non_null(strstr(a.path, "/cache/artifacts/"));
    assert_non_null(strstr(a.notice, "is left alone"));
    assert_non_null(strstr(a.notice, "it is for another task"));
    sk_artifact_release(&a);
    assert_still(artifact, "segmentation model");
    assert_int_equal(obtain(&w, NULL), 0);
    /* a folder of that name */
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(mkdir(artifact, 0777), 0);
    assert_int_equal(obtain(&w, NULL), 0);
    assert_true(sk_file_is_directory(artifact));
    assert_tidy();
}

static void a_bad_artifact_is_refused(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    script s = {.bad = true};
    sk_artifact a;
    sk_error err = {0};
    assert_int_equal(obtain_with(&w, &s, &a, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "differ"));
    assert_false(sk_file_exists(artifact));
    assert_tidy();
    assert_int_equal(obtain(&w, artifact), 1);
}

static int end_of(pid_t child)
{
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    return ended;
}

static void a_killed_export_leaves_nothing(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        script s = {.die = true};
        sk_artifact a;
        _exit(obtain_with(&w, &s, &a, NULL) == SK_OK ? 0 : 1);
    }
    assert_true(WIFSIGNALED(end_of(child)));
    assert_false(sk_file_exists(artifact));
    /* what a process killed while writing leaves */
    char left[700];
    path_in(left, sizeof left, ".model.onnx.0123abcd");
    put(left, "half a file");
    path_in(left, sizeof left, ".model.onnx.skitter.json.0123abcd");
    put(left, "half a sidecar");
    assert_int_equal(obtain(&w, artifact), 1);
    assert_tidy();
    put(left, "half a sidecar"); /* killed while making it anew */
    path_in(left, sizeof left, ".model.onnx.skitter.lock");
    put(left, "");
    sk_artifact_sweep(artifact);
    assert_tidy();
}

/* Killed between the two renames: the sidecar is about a file that never came. */
static void killed_between_sidecar_and_file(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    sk_artifact_record r;
    sk_error err = {0};
    char *before = NULL;
    size_t bytes = 0;
    assert_int_equal(obtain(&w, artifact), 1);
    assert_ok(sk_file_read(artifact, BYTES, &before, &bytes, &err), &err);
    put(model, "other weights");
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_ok(sk_file_replace(artifact, before, bytes, &err),
              &err); /* as if the second rename had not happened */
    assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
    assert_int_equal(strlen(r.replaces), 64);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&w, artifact), 0);
    /* and without a file before it */
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(obtain(&w, artifact), 1);
    sk_free(before);
    assert_tidy();
}

static void two_processes_make_it_once(void **state)
{
    (void)state;
    enum { PROCESSES = 6 };
    pid_t children[PROCESSES];
    sk_artifact_wish w = wish_for(model);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            script s = {.seconds_ms = 300};
            sk_artifact a;
            sk_status status = obtain_with(&w, &s, &a, NULL);
            _exit(status != SK_OK || sk_blob_bytes(a.bytes) != BYTES ? 1 : a.made == s.waited ? 2 : 0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int ended = end_of(children[i]);
        assert_true(WIFEXITED(ended));
        assert_int_not_equal(WEXITSTATUS(ended), 1);
    }
    assert_int_equal(makes(), 1);
    assert_tidy();
}

/* The one that waits takes over from a maker that dies. */
static void a_dead_maker_is_succeeded(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        script s = {.seconds_ms = 60000};
        sk_artifact a;
        _exit(obtain_with(&w, &s, &a, NULL) == SK_OK ? 0 : 1);
    }
    for (int i = 0; i < 500 && makes() == 0; i++)
        sk_clock_sleep_ns(10000000);
    pid_t killer = fork();
    assert_true(killer >= 0);
    if (killer == 0) {
        sk_clock_sleep_ns(200000000);
        _exit(kill(child, SIGKILL));
    }
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.made);
    assert_true(s.waited);
    sk_artifact_release(&a);
    assert_true(WIFSIGNALED(end_of(child)));
    assert_int_equal(end_of(killer), 0);
    assert_tidy();
}

/* A limit on the size of files is what a full disk looks like to write(). */
static void a_full_disk_leaves_nothing_half(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    for (int round = 0; round < 2; round++) { /* without and with an older artifact */
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rlimit small = {BYTES / 2, BYTES / 2};
            script s = {0};
            sk_artifact a;
            sk_error err = {0};
            signal(SIGXFSZ, SIG_IGN);
            int bad = setrlimit(RLIMIT_FSIZE, &small);
            sk_status status = obtain_with(&w, &s, &a, &err);
            /* the run goes on, in memory, and says so */
            bad = bad || status != SK_OK || a.path[0] || !a.made || sk_blob_bytes(a.bytes) != BYTES ||
                  !strstr(a.notice, "in memory") || !strstr(a.notice, "model.onnx") || s.checks != 1;
            sk_artifact_release(&a);
            w.must_keep = true; /* who asked for the file gets the error */
            bad = bad || obtain_with(&w, &s, &a, &err) != SK_ERR_IO;
            _exit(bad);
        }
        assert_int_equal(end_of(child), 0);
        assert_tidy();
        sk_artifact_record r;
        sk_artifact_state found;
        char why[SK_ARTIFACT_WHY];
        sk_error err = {0};
        assert_ok(sk_artifact_inspect(artifact, &w.key, &r, &found, why, NULL, &err), &err);
        assert_int_equal(found, round == 0 ? SK_ARTIFACT_ABSENT : SK_ARTIFACT_STALE);
        assert_int_equal(obtain(&w, artifact), 1); /* there is room again */
        w.key.batch = 4;
    }
}

static void a_read_only_folder_falls_to_the_cache(void **state)
{
    (void)state;
    char shut[600], inside[700], cache[600];
    path_in(shut, sizeof shut, "shut");
    path_in(cache, sizeof cache, "theirs");
    assert_int_equal(mkdir(shut, 0777), 0);
    assert_int_equal(mkdir(cache, 0777), 0);
    assert_int_equal(chmod(cache, 0777), 0);
    snprintf(inside, sizeof inside, "%s/model.pt", shut);
    put(inside, "weights");
    assert_int_equal(chmod(shut, 0555), 0);
    assert_int_equal(chmod(test_folder(), 0755), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        script s = {0};
        sk_artifact a;
        sk_error err = {0};
        /* permissions do not bind root */
        int bad = getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0);
        setenv("SKITTER_CACHE_DIR", cache, 1);
        sk_artifact_wish w = wish_for(inside);
        sk_status status = obtain_with(&w, &s, &a, &err);
        bad = bad || status != SK_OK || !a.made || strncmp(a.path, cache, strlen(cache)) != 0 ||
              !strstr(a.notice, "could not be kept beside the model") ||
              !strstr(a.notice, "Permission denied");
        sk_artifact_release(&a);
        status = obtain_with(&w, &s, &a, &err); /* and is found there again */
        bad = bad || status != SK_OK || a.made || strncmp(a.path, cache, strlen(cache)) != 0;
        _exit(bad);
    }
    assert_int_equal(end_of(child), 0);
    assert_int_equal(chmod(shut, 0755), 0);
}

static void nowhere_to_write_at_all(void **state)
{
    (void)state;
    char nowhere[700];
    snprintf(nowhere, sizeof nowhere, "%s/model.pt", model); /* below a file */
    assert_int_equal(setenv("SKITTER_CACHE_DIR", "/dev/null/x", 1), 0);
    sk_artifact_wish w = wish_for(model);
    w.model = nowhere;
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.made);
    assert_string_equal(a.path, "");
    assert_non_null(strstr(a.notice, "in memory"));
    sk_artifact_release(&a);
}

static sk_status hash_of(const char *path, char hash[65], sk_error *err)
{
    (void)err;
    sk_artifact_wish w = wish_for(path);
    memcpy(hash, w.key.source, 65);
    return SK_OK;
}

static const sk_artifact_row *row_of(const sk_artifact_row *rows, int32_t count, const char *name)
{
    for (int32_t i = 0; i < count; i++)
        if (strcmp(sk_path_name(rows[i].path), name) == 0)
            return &rows[i];
    fail_msg("%s is not listed", name);
    return NULL;
}

static void listed_verified_and_removed(void **state)
{
    (void)state;
    static const char *const names[] = {"fresh", "edited", "cut", "orphan", "users"};
    char path[5][600], file[5][600];
    sk_error err = {0};
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s.pt", names[i]);
        path_in(path[i], sizeof path[i], name);
        snprintf(name, sizeof name, "%s.onnx", names[i]);
        path_in(file[i], sizeof file[i], name);
        put(path[i], names[i]);
        sk_artifact_wish w = wish_for(path[i]);
        assert_int_equal(obtain(&w, file[i]), 1);
    }
    put(path[1], "edited since");
    assert_int_equal(truncate(file[2], 1000), 0);
    assert_int_equal(unlink(path[3]), 0);
    put(file[4], "USER made this");
    sk_artifact_row *rows = NULL;
    int32_t count = 0;
    assert_ok(sk_artifact_list(NULL, 0, true, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 5);
    assert_int_equal(row_of(rows, count, "fresh.onnx")->state, SK_ARTIFACT_FRESH);
    assert_int_equal(row_of(rows, count, "edited.onnx")->state, SK_ARTIFACT_STALE);
    assert_int_equal(row_of(rows, count, "cut.onnx")->state, SK_ARTIFACT_DAMAGED);
    assert_true(row_of(rows, count, "orphan.onnx")->orphan);
    assert_int_equal(row_of(rows, count, "users.onnx")->state, SK_ARTIFACT_USER);
    assert_int_equal(sk_artifact_remove(row_of(rows, count, "users.onnx"), &err), SK_ERR_ARG);
    assert_still(file[4], "USER made this");
    assert_ok(sk_artifact_remove(row_of(rows, count, "cut.onnx"), &err), &err);
    assert_false(sk_file_exists(file[2]));
    sk_free(rows);
    assert_ok(sk_artifact_list(NULL, 0, false, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 4);
    sk_free(rows);
    const char *places[] = {path[0], folder};
    assert_ok(sk_artifact_list(places, 1, true, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 1);
    sk_free(rows);
    assert_ok(sk_artifact_list(places + 1, 1, true, hash_of, &rows, &count, &err), &err);
    assert_int_equal(count, 4);
    sk_free(rows);
    places[0] = "/nowhere";
    assert_int_equal(sk_artifact_list(places, 1, true, hash_of, &rows, &count, &err), SK_ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_and_places, set_up),
        cmocka_unit_test_setup(made_once_and_found_again, set_up),
        cmocka_unit_test_setup(touch_changes_nothing, set_up),
        cmocka_unit_test_setup(an_edited_model_is_exported_again, set_up),
        cmocka_unit_test_setup(a_renamed_model_gets_its_own, set_up),
        cmocka_unit_test_setup(other_batch_and_size, set_up),
        cmocka_unit_test_setup(the_cache_is_bounded, set_up),
        cmocka_unit_test_setup(every_part_of_the_key_counts, set_up),
        cmocka_unit_test_setup(another_library_version, set_up),
        cmocka_unit_test_setup(damaged_files_are_made_anew, set_up),
        cmocka_unit_test_setup(users_files_are_used_and_never_overwritten, set_up),
        cmocka_unit_test_setup(a_misfit_of_the_users_is_left_alone, set_up),
        cmocka_unit_test_setup(a_bad_artifact_is_refused, set_up),
        cmocka_unit_test_setup(a_killed_export_leaves_nothing, set_up),
        cmocka_unit_test_setup(killed_between_sidecar_and_file, set_up),
        cmocka_unit_test_setup(two_processes_make_it_once, set_up),
        cmocka_unit_test_setup(a_dead_maker_is_succeeded, set_up),
        cmocka_unit_test_setup(a_full_disk_leaves_nothing_half, set_up),
        cmocka_unit_test_setup(a_read_only_folder_falls_to_the_cache, set_up),
        cmocka_unit_test_setup(nowhere_to_write_at_all, set_up),
        cmocka_unit_test_setup(listed_verified_and_removed, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
