/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ARTIFACT_FIXTURE_H
#define SK_TESTS_ARTIFACT_FIXTURE_H

/* A model, its artifact and a cache in a folder of their own, and a maker that counts what it makes. */
#include "support/test.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "runtime/artifact.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    bool remake;    /* … but only what was there before */
    bool making;
    bool die;      /* the process is killed while making */
    char seed[64]; /* goes into the bytes */
    int checks;    /* how often bytes were compared */
    bool unknown;  /* … and the last time as some of unknown origin */
    bool waited;   /* was told to wait for somebody */
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
    s->making = true;
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

/* Files of a person's that hold other weights say so. */
static sk_status fake_check(void *context, const char *path, const void *bytes, size_t length, bool unknown,
                            sk_artifact_check *out, sk_error *err)
{
    script *s = context;
    bool users = length >= 4 && memcmp(bytes, "USER", 4) == 0;
    bool bad = (s->bad && !(s->remake && s->making)) || (users && strstr(bytes, "other weights"));
    s->checks++;
    s->unknown = unknown;
    out->pcc = bad ? 0.5 : 1;
    out->max_difference = bad ? 3 : 1e-7;
    if (!users)
        assert_int_equal(length, BYTES);
    return bad ? sk_fail(err, SK_ERR_MISMATCH, "%s: its answers differ", path) : SK_OK;
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
    sk_sha256 hash;
    char text[65];
    sk_hash_sha256(sk_blob_data(a.bytes), BYTES, &hash);
    sk_sha256_text(&hash, text);
    assert_string_equal(a.sha256, text);
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

#endif
