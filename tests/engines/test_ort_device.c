/* SPDX-License-Identifier: Apache-2.0 */
/* A device's side of a session of ONNX Runtime, by a driver that counts: whatever fails, all is given back, and no context stays
 * current. */
#include "support/test.h"

#include "engines/ort/ort_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sk_error err;
static int *calls, *fails_at, *pushed, *held;

static int *counter(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        fail_msg("%s", dlerror());
    return symbol;
}

static int take_driver(void **state)
{
    (void)state;
    char path[4096];
    const char *build = getenv("SKITTER_TEST_BUILD");
    snprintf(path, sizeof path, "%s/tests/fake_cuda.so", build ? build : ".");
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return -1;
    calls = counter(library, "fake_cuda_calls");
    fails_at = counter(library, "fake_cuda_fails_at");
    pushed = counter(library, "fake_cuda_pushed");
    held = counter(library, "fake_cuda_held");
    return 0;
}

/* Everything once; where the n-th call of the driver fails, so does what called it. */
static sk_status use(int n, ort_device **d)
{
    float in[4] = {1, 2, 3, 4}, out[4] = {0};
    double seconds[ORT_MARKS - 1] = {0};
    void *memory = NULL;
    *calls = 0;
    *fails_at = n;
    SK_TRY(ort_device_open(1, 2, d, &err));
    assert_int_equal(*held, 1 + 1 + 2 * ORT_MARKS); /* the context, the stream, marks of two slots */
    assert_int_equal(*pushed, 0);
    assert_non_null(ort_device_stream(*d));
    SK_TRY(ort_device_buffer(*d, sizeof in, &memory, &err));
    assert_int_equal(*pushed, 0);
    ort_device_pin(*d, out, sizeof out); /* where it cannot be pinned it is used as it is */
    SK_TRY(ort_device_mark(*d, 1, ORT_MARK_BEGIN, &err));
    SK_TRY(ort_device_upload(*d, memory, in, sizeof in, &err));
    SK_TRY(ort_device_download(*d, out, memory, sizeof out, &err));
    assert_memory_equal(in, out, sizeof in);
    SK_TRY(ort_device_mark(*d, 1, ORT_MARK_DOWN, &err));
    SK_TRY(ort_device_wait(*d, 1, &err));
    SK_TRY(ort_device_times(*d, 1, seconds, &err));
    for (int i = 0; i + 1 < ORT_MARKS; i++)
        assert_true(seconds[i] > 0.00199 && seconds[i] < 0.00201);
    return ort_device_settle(*d, &err);
}

static void all_is_given_back(void **state)
{
    (void)state;
    ort_device *d = NULL;
    assert_ok(use(0, &d), &err);
    const int all = *calls;
    assert_int_equal(*pushed, 0);
    assert_int_equal(*held, 1 + 1 + 2 * ORT_MARKS + 2);
    ort_device_close(&d);
    assert_null(d);
    assert_true(*held == 0 && *pushed == 0);
    assert_true(all > 20);
    int failed = 0;
    for (int n = 1; n <= all; n++) {
        err = (sk_error){0};
        const sk_status status = use(n, &d);
        if (status != SK_OK) {
            assert_int_equal(status, SK_ERR_RUNTIME);
            assert_int_equal(strncmp(err.message, "the NVIDIA driver: ", 19), 0);
            assert_non_null(strstr(err.message, ": out of memory"));
            failed++;
        }
        assert_int_equal(*pushed, 0);
        *fails_at = 0;
        ort_device_close(&d);
        if (*held != 0 || *pushed != 0)
            fail_msg("call %d of %d failed: %d held, %d current", n, all, *held, *pushed);
    }
    assert_int_equal(failed, all - 2); /* but for pinning, which is two calls */
}

static void what_is_refused(void **state)
{
    (void)state;
    ort_device *d = NULL;
    void *memory = NULL;
    *fails_at = 0;
    assert_int_equal(ort_device_open(8, 1, &d, &err), SK_ERR_RUNTIME);
    assert_string_equal(err.message, "the NVIDIA driver: the device: invalid device ordinal");
    assert_null(d);
    assert_true(*held == 0 && *pushed == 0);
    assert_ok(ort_device_open(0, 1, &d, &err), &err);
    int given = 0;
    while (given < 10000 && ort_device_buffer(d, 0, &memory, &err) == SK_OK)
        given++;
    char words[64];
    snprintf(words, sizeof words, "more than %d buffers on one device", given);
    assert_string_equal(err.message, words);
    assert_true(given >= 32 && given < 10000);
    assert_null(memory);
    ort_device_close(&d);
    assert_true(*held == 0 && *pushed == 0);
    ort_device_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_given_back),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, take_driver, NULL);
}
