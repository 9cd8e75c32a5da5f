/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_CLI_MACHINE_H
#define SK_TESTS_CLI_MACHINE_H

/* A machine that is made up: the test's own program is also the child that answers for every engine. cpu and onnx_cpu work,
 * onnx_cuda does not tell its version, openvino is not installed, what else the build has is broken. */
#include "said.h"

#include "app/runtimes.h"
#include "base/child.h"
#include "base/file.h"

static inline void machine_file(const char *name, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

static inline sk_status machine_with_library(sk_engine_probe *out, sk_error *problem)
{
    SK_TRY(sk_engine_reference.probe(out, problem));
    snprintf(out->version, sizeof out->version, "1.22");
    snprintf(out->detail, sizeof out->detail, "/lib/libthis.so");
    out->n_devices = 2;
    snprintf(out->devices[0].name, sizeof out->devices[0].name, "one device");
    snprintf(out->devices[1].name, sizeof out->devices[1].name, "another");
    out->devices[0].precisions = 1u << SK_PRECISION_F32;
    return SK_OK;
}

static inline sk_status machine_without_version(sk_engine_probe *out, sk_error *problem)
{
    SK_TRY(machine_with_library(out, problem));
    out->version[0] = '\0';
    out->n_devices = 0;
    return SK_OK;
}

static inline sk_status machine_lacks(sk_engine_probe *out, sk_error *problem)
{
    (void)problem;
    *out = (sk_engine_probe){0};
    snprintf(out->detail, sizeof out->detail, "libthat.so is not here. To get it: apt-get install that");
    return SK_OK;
}

static inline sk_status machine_broken(sk_engine_probe *out, sk_error *problem)
{
    (void)out;
    return sk_fail(problem, SK_ERR_RUNTIME, "the driver is too old");
}

static inline const sk_engine *machine_find(const char *name)
{
    static sk_engine engine;
    engine = sk_engine_reference;
    if (strcmp(name, "onnx_cpu") == 0)
        engine.probe = machine_with_library;
    else if (strcmp(name, "onnx_cuda") == 0)
        engine.probe = machine_without_version;
    else if (strcmp(name, "openvino") == 0)
        engine.probe = machine_lacks;
    else if (strcmp(name, "cpu") != 0)
        engine.probe = machine_broken;
    return &engine;
}

static inline void machine_serve(int fd)
{
    sk_probe_serve(fd, machine_find);
}

/* For main, first of all: false in the child, which has answered and leaves. Then the working folder is a fresh one. */
static inline bool machine_begin(int argc, char **argv)
{
    static const sk_child_role roles[] = {{"probe", machine_serve}};
    if (sk_child_serve(argc, argv, roles, 1))
        return false;
    static char emulator[1024], own[4096];
    static const char *words[8];
    size_t n = 0;
    const char *given = getenv("SKITTER_TEST_EMULATOR"); /* it starts this program where there is one */
    snprintf(emulator, sizeof emulator, "%s", given ? given : "");
    for (char *rest = emulator, *word; (word = strtok_r(rest, " ", &rest)) && n < 7;)
        words[n++] = word;
    if (!realpath(argv[0], own))
        abort();
    words[n++] = own;
    sk_child_set_program(words, n);
    if (chdir(test_folder()) != 0)
        abort();
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    return true;
}

#endif
