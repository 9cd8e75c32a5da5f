/* SPDX-License-Identifier: Apache-2.0 */
/* What of a driver is missing, and what is said of runtimes that this build has no engine for. */
#include "support/test.h"

#include "base/file.h"
#include "runtime/probe.h"

#include <stdio.h>
#include <string.h>

/* The C library lies where the loader looks, under one name or another of its kind. */
static const char *c_library(void)
{
    sk_probe_row row = {0};
    return sk_probe_has_driver("C", "/dev/null", "libc.so", "", &row) ? "libc.so" : "ld-";
}

static void both_parts_of_a_driver(void **state)
{
    (void)state;
    const struct {
        const char *device, *library, *reason; /* null: it is there */
    } cases[] = {
        {"/dev/null", c_library(), NULL},
        {"/dev/null", "libnobody.so.1", "the Some driver is incomplete: libnobody.so.1 is absent"},
        {"/dev/nobody0", c_library(), "the Some driver is incomplete: /dev/nobody0 is absent"},
        {"/dev/nobody0", "libnobody.so.1", "no Some driver: /dev/nobody0 and libnobody.so.1 are absent"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_probe_row row = {0};
        const bool there = sk_probe_has_driver("Some", cases[i].device, cases[i].library, "get it", &row);
        assert_int_equal(there, !cases[i].reason);
        assert_string_equal(row.reason, cases[i].reason ? cases[i].reason : "");
        assert_string_equal(row.remedy, cases[i].reason ? "get it" : "");
    }
}

/* A vendor's runtimes look for that vendor's driver; the others need none. */
static void each_runtime_looks_for_its_own(void **state)
{
    (void)state;
    static const struct {
        sk_runtime runtime;
        const char *device, *library, *remedy; /* null: needs none */
    } cases[] = {{SK_RUNTIME_CPU, NULL, NULL, NULL},
                 {SK_RUNTIME_ONNX_CPU, NULL, NULL, NULL},
                 {SK_RUNTIME_OPENVINO, NULL, NULL, NULL},
                 {SK_RUNTIME_CUDA, "/dev/nvidia0", "libcuda.so.1", "nvidia-driver"},
                 {SK_RUNTIME_ONNX_CUDA, "/dev/nvidia0", "libcuda.so.1", "nvidia-driver"},
                 {SK_RUNTIME_ROCM, "/dev/kfd", "libamdhip64.so", "rocm.docs.amd.com"},
                 {SK_RUNTIME_ONNX_ROCM, "/dev/kfd", "libamdhip64.so", "rocm.docs.amd.com"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_probe_row row = {0}, want = {0};
        const bool there = sk_probe_machine(cases[i].runtime, &row);
        if (!cases[i].device) {
            assert_true(there && !row.reason[0] && !row.remedy[0]);
            continue;
        }
        const char *vendor = strstr(cases[i].device, "nvidia") ? "NVIDIA" : "ROCm";
        assert_int_equal(there, sk_probe_has_driver(vendor, cases[i].device, cases[i].library, "", &want));
        assert_string_equal(row.reason, want.reason);
        if (!there)
            assert_non_null(strstr(row.remedy, cases[i].remedy));
    }
    sk_probe_row driver = {0}, row = {0};
    const bool nvidia = sk_probe_machine(SK_RUNTIME_CUDA, &driver);
    if (!sk_probe_machine(SK_RUNTIME_TENSORRT, &row))
        assert_string_equal(row.reason, nvidia ? "no TensorRT: libnvinfer.so is absent" : driver.reason);
#ifndef __APPLE__
    assert_false(sk_probe_machine(SK_RUNTIME_MPS, &row));
    assert_string_equal(row.reason, "Apple machines only");
#endif
}

/* What the machine lacks comes first; where it lacks nothing, it is this build. */
static void engines_that_are_not_there(void **state)
{
    (void)state;
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        sk_probe_row row = {.available = true, .remedy = "old"}, machine = {0};
        char want[128];
        const bool able = sk_probe_machine((sk_runtime)i, &machine);
        sk_probe_absent((sk_runtime)i, &row);
        assert_false(row.available);
        const bool library = i == SK_RUNTIME_ONNX_CPU || i == SK_RUNTIME_OPENVINO;
        snprintf(want, sizeof want, "%sthis build has no %s engine yet",
                 library ? "" : "the machine has what it needs, but ", sk_runtime_name((sk_runtime)i));
        assert_string_equal(row.reason, able ? want : machine.reason);
        assert_string_equal(row.remedy, able ? "use another runtime: skitter runtimes" : machine.remedy);
    }
}

/* Runtimes of a GPU whose driver is there take turns; all others are probed at once. */
static void who_takes_turns(void **state)
{
    (void)state;
    static const char vendors[SK_RUNTIME_COUNT] = {[SK_RUNTIME_CUDA] = 'n',
                                                   [SK_RUNTIME_ONNX_CUDA] = 'n',
                                                   [SK_RUNTIME_TENSORRT] = 'n',
                                                   [SK_RUNTIME_ROCM] = 'a',
                                                   [SK_RUNTIME_ONNX_ROCM] = 'a'};
    for (int drivers = 0; drivers < 4; drivers++)
        for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
            const bool there = (vendors[i] == 'n' && drivers & 1) || (vendors[i] == 'a' && drivers & 2);
            uint32_t want = 0;
            for (int k = 0; k < SK_RUNTIME_COUNT; k++)
                if (k == i || (there && vendors[k] == vendors[i]))
                    want += 1u << k;
            assert_int_equal(sk_probe_turns((sk_runtime)i, drivers & 1, drivers & 2), want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_parts_of_a_driver),
        cmocka_unit_test(each_runtime_looks_for_its_own),
        cmocka_unit_test(engines_that_are_not_there),
        cmocka_unit_test(who_takes_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
