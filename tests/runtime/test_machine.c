/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers and devices that come and go: what is said of them, and that what was probed before is not believed any more. The machine is
 * one of this test's own, made of folders that only a process of its own sees, which needs the right to. */
#include "support/test.h"

#include "base/file.h"
#include "runtime/probe.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_RIGHT = 77 };

/* Empty folders in the place of the machine's. */
static bool own_machine(void)
{
    static const char *const places[] = {"/dev", "/usr/local", "/opt", "/proc/driver", "/sys/module"};
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (mount("none", places[i], "tmpfs", 0, NULL) != 0)
            return false;
    return true;
}

/* What the loader's usual folders hold stays: a machine that has drivers there is not ours to describe. */
static bool has_drivers(void)
{
    static const char *const libraries[] = {"libcuda.so.1", "libamdhip64.so", "libnvinfer.so"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        sk_probe_row row = {0};
        if (sk_probe_has_driver("", "/", libraries[i], "", &row))
            return true;
    }
    return false;
}

static bool add(const char *path, const char *text)
{
    char folder[256];
    sk_error err;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    return sk_folder_make(folder, &err) == SK_OK && sk_file_replace(path, text, strlen(text), &err) == SK_OK;
}

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

/* bare: where no drivers lie in the loader's folders */
static int run_apart(int (*what)(const char *folder), bool bare)
{
    int status = 0;
    const char *folder = test_folder();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(own_machine() && !(bare && has_drivers()) ? what(folder) : NO_RIGHT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check(int (*what)(const char *folder), bool bare)
{
    const int code = run_apart(what, bare);
    if (code == NO_RIGHT)
        skip(); /* not ours to rebuild */
    assert_int_equal(code, 0);
}

static bool says(sk_runtime runtime, const char *reason, const char *remedy)
{
    sk_probe_row row = {0};
    const bool able = sk_probe_machine(runtime, &row);
    if (able == (reason[0] != '\0') || strcmp(row.reason, reason) != 0 ||
        strncmp(row.remedy, remedy, strlen(remedy)) != 0 || (!remedy[0] && row.remedy[0])) {
        fprintf(stderr, "%s: '%s' '%s'\n", sk_runtime_name(runtime), row.reason, row.remedy);
        return false;
    }
    return true;
}

/* --- an NVIDIA machine, part by part --- */

static int nvidia_comes(const char *folder)
{
    static const sk_runtime all[] = {SK_RUNTIME_CUDA, SK_RUNTIME_ONNX_CUDA, SK_RUNTIME_TENSORRT};
    static const char remedy[] =
        "install NVIDIA's driver (Debian: apt-get install nvidia-driver); in a container, "
        "start it with --gpus all",
                      none[] = "no NVIDIA driver: /dev/nvidia0 and libcuda.so.1 are absent",
                      half[] = "the NVIDIA driver is incomplete: libcuda.so.1 is absent",
                      trt[] = "no TensorRT: libnvinfer.so is absent";
    (void)folder;
    for (int i = 0; i < 3; i++)
        EXPECT(says(all[i], none, remedy));
    EXPECT(add("/dev/nvidia0", ""));
    for (int i = 0; i < 3; i++)
        EXPECT(says(all[i], half, remedy));
    EXPECT(add("/usr/local/nvidia/lib64/libcuda.so.1", ""));
    EXPECT(says(SK_RUNTIME_CUDA, "", "") && says(SK_RUNTIME_ONNX_CUDA, "", ""));
    EXPECT(says(SK_RUNTIME_TENSORRT, trt,
                "install TensorRT (NVIDIA's repository: apt-get install libnvinfer10)"));
    EXPECT(add("/usr/local/cuda/lib64/libnvinfer.so.10", ""));
    EXPECT(says(SK_RUNTIME_TENSORRT, "", ""));
    EXPECT(unlink("/dev/nvidia0") == 0);
    EXPECT(says(SK_RUNTIME_TENSORRT, "the NVIDIA driver is incomplete: /dev/nvidia0 is absent", remedy));
    /* nobody else has a use for them */
    EXPECT(says(SK_RUNTIME_ROCM, "no ROCm driver: /dev/kfd and libamdhip64.so are absent",
                "install ROCm (https://rocm.docs.amd.com)"));
    EXPECT(says(SK_RUNTIME_ONNX_CPU, "", "") && says(SK_RUNTIME_OPENVINO, "", ""));
    return 0;
}

static void an_nvidia_driver_comes_in_parts(void **state)
{
    (void)state;
    check(nvidia_comes, true);
}

static int amd_comes(const char *folder)
{
    (void)folder;
    EXPECT(add("/opt/rocm/lib/libamdhip64.so.6", "")); /* the last folder that is looked into */
    EXPECT(says(SK_RUNTIME_ROCM, "the ROCm driver is incomplete: /dev/kfd is absent",
                "install ROCm (https://rocm.docs.amd.com); in a container, start it with --device /dev/kfd "
                "--device /dev/dri"));
    EXPECT(add("/dev/kfd", ""));
    EXPECT(says(SK_RUNTIME_ROCM, "", "") && says(SK_RUNTIME_ONNX_ROCM, "", ""));
    sk_probe_row row = {.available = true, .remedy = "old"};
    sk_probe_absent(SK_RUNTIME_ROCM, &row);
    EXPECT(!row.available);
    EXPECT(strcmp(row.reason, "the machine has what it needs, but this build has no rocm engine yet") == 0);
    EXPECT(strcmp(row.remedy, "use another runtime: skitter runtimes") == 0);
    /* each of the folders is looked into, by the beginning of a library's name */
    static const char *const others[] = {"/usr/local/lib/libsome.so.3", "/usr/local/nvidia/lib64/libsome.so",
                                         "/usr/local/cuda/lib64/libsome.so.1", "/opt/rocm/lib/libsome.so"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        EXPECT(!sk_probe_has_driver("", "/dev/kfd", "libsome.so", "", &row));
        EXPECT(add(others[i], ""));
        EXPECT(sk_probe_has_driver("", "/dev/kfd", "libsome.so", "", &row));
        EXPECT(unlink(others[i]) == 0);
    }
    return 0;
}

static void an_amd_driver_comes_in_parts(void **state)
{
    (void)state;
    check(amd_comes, true);
}

/* --- what was found before --- */

static int probes_are_forgotten(const char *folder)
{
    static const struct {
        const char *path, *text;
    } parts[] = {{"/dev/nvidia0", ""},
                 {"/dev/kfd", ""},
                 {"/dev/dri/renderD128", ""},
                 {"/dev/accel/accel0", ""},
                 {"/proc/driver/nvidia/version", "NVRM version: 570.1"},
                 {"/proc/driver/nvidia/version", "NVRM version: 570.2"},
                 {"/sys/module/amdgpu/version", "6.7.0"},
                 {"/sys/module/amdgpu/version", "6.7.1"}};
    sk_probe_row row = {.runtime = SK_RUNTIME_OPENVINO, .available = true}, got;
    char library[400], cache[400];
    snprintf(library, sizeof library, "%s/libsome.so", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("SKITTER_CACHE_DIR", cache, 1);
    const int free_then = dup(1);
    EXPECT(free_then >= 0 && close(free_then) == 0);
    EXPECT(add(library, "library"));
    snprintf(row.library, sizeof row.library, "%s", library);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sk_probe_cache_write(&row);
        EXPECT(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got) && got.cached && got.available);
        EXPECT(add(parts[i].path, parts[i].text));
        if (sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got)) {
            fprintf(stderr, "%s does not count\n", parts[i].path);
            return 1;
        }
    }
    /* one device is not another in its place */
    sk_probe_cache_write(&row);
    EXPECT(unlink("/dev/nvidia0") == 0);
    EXPECT(!sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    sk_probe_cache_write(&row);
    EXPECT(unlink("/dev/kfd") == 0 && add("/dev/nvidia0", ""));
    EXPECT(!sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    EXPECT(unlink("/dev/nvidia0") == 0 && add("/dev/kfd", ""));
    EXPECT(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    /* nothing stays open of what was looked at */
    const int free_now = dup(1);
    EXPECT(free_now == free_then);
    return 0;
}

static void another_machine_is_probed_anew(void **state)
{
    (void)state;
    check(probes_are_forgotten, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_nvidia_driver_comes_in_parts),
                                       cmocka_unit_test(an_amd_driver_comes_in_parts),
                                       cmocka_unit_test(another_machine_is_probed_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
