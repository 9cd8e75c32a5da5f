/* SPDX-License-Identifier: Apache-2.0 */
/* Engines in libraries of their own: found, refused, explained. */
#include "support/test.h"

#include "engines/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *fake(const char *kind)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/fake_plugin_%s.so", getenv("SKITTER_TEST_BUILD"), kind);
    return path;
}

static void refused(const char *kind, const char *words)
{
    void *handle = NULL;
    const sk_engine *engine = NULL;
    sk_error err = {0};
    assert_int_equal(sk_plugin_open_file(fake(kind), "fake", &handle, &engine, &err), SK_ERR_UNSUPPORTED);
    assert_null(engine);
    assert_null(handle);
    if (!strstr(err.message, words) || !strstr(err.message, kind))
        fail_msg("of %s: %s", kind, err.message);
}

static void test_refuses_what_does_not_fit(void **state)
{
    (void)state;
    refused("empty", "not a skitter plugin (no sk_plugin_entry in it)");
    refused("no_table", "not a skitter plugin");
    refused("other_version", "a plugin of skitter 0.0.1 with border 9-");
    refused("other_hash", "build both from the same sources: make install plugin-fake");
    refused("other_name", "holds no complete engine 'fake'");
    refused("holes", "holds no complete engine 'fake'");
    refused("absent", "could not be loaded");
}

static void test_takes_what_fits(void **state)
{
    (void)state;
    void *handle = NULL;
    const sk_engine *engine = NULL;
    sk_error err = {0};
    sk_engine_probe probe;
    assert_ok(sk_plugin_open_file(fake("good"), "fake", &handle, &engine, &err), &err);
    assert_string_equal(engine->name, "fake");
    assert_ok(engine->probe(&probe, &err), &err);
    assert_string_equal(probe.detail, "a fake: it has no device");
    dlclose(handle);
}

static const sk_plugin_wish wish = {
    .engine = "fake",
    .file = "fake_plugin_good.so",
    .remedy = "make plugin-fake",
    .vendor = "Fake",
    .driver = "libc.so.6",
    .device = "/dev/fake0",
    .driver_remedy = "apt-get install libc6",
};

static void test_says_where_it_looked(void **state)
{
    (void)state;
    const sk_engine *engine = NULL;
    sk_error err = {0};
    char path[4096];
    setenv("SKITTER_PLUGIN_DIR", "/nowhere", 1);
    assert_int_equal(sk_plugin_load(&wish, &engine, NULL, 0, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "not in /nowhere, which SKITTER_PLUGIN_DIR names"));
    assert_non_null(strstr(err.message, "To get it: make plugin-fake"));
    unsetenv("SKITTER_PLUGIN_DIR"); /* beside this program, which lies in the same folder */
    assert_ok(sk_plugin_load(&wish, &engine, path, sizeof path, &err), &err);
    assert_string_equal(path, fake("good"));
    setenv("SKITTER_PLUGIN_DIR", "/nowhere", 1); /* once loaded, it stays */
    assert_ok(sk_plugin_load(&wish, &engine, NULL, 0, &err), &err);
    unsetenv("SKITTER_PLUGIN_DIR");
}

static void test_probe_explains(void **state)
{
    (void)state;
    sk_engine_probe probe;
    assert_int_equal(sk_plugin_probe(&wish, &probe), SK_OK);
    assert_false(probe.available);
    assert_string_equal(probe.detail, "a fake: it has no device");
    sk_plugin_wish other = wish;
    other.device_is_needed = true;
    assert_int_equal(sk_plugin_probe(&other, &probe), SK_OK);
    assert_non_null(
        strstr(probe.detail, "no Fake device: libc.so.6 is there, but /dev/fake0 is absent. To get it:"));
    other.device_is_needed = false;
    other.driver = "libthereisnosuchdriver.so.1";
    assert_int_equal(sk_plugin_probe(&other, &probe), SK_OK);
    assert_false(probe.available);
    assert_string_equal(probe.detail, "no Fake driver: libthereisnosuchdriver.so.1 cannot be loaded and "
                                      "/dev/fake0 is absent. To get it: apt-get install libc6");
}

/* Whatever this machine has: cuda and rocm are known engines, and absent ones say what helps. */
static void test_known_plugins(void **state)
{
    (void)state;
    static const char *const names[] = {"cuda", "rocm"};
    for (int i = 0; i < 2; i++) {
        const sk_engine *engine = sk_engine_find(names[i]);
        sk_engine_probe probe;
        assert_non_null(engine);
        assert_int_equal(engine->can.usual, SK_PRECISION_F16);
        assert_int_equal(engine->probe(&probe, NULL), SK_OK);
        if (!probe.available)
            assert_true(strlen(probe.detail) > 10);
    }
}

/* For test_border.sh: says why it does not take the file. */
static int refuse_file(const char *path)
{
    void *handle = NULL;
    const sk_engine *engine = NULL;
    sk_error err = {0};
    const sk_status status = sk_plugin_open_file(path, "fake", &handle, &engine, &err);
    printf("%s\n", status == SK_OK ? "taken" : err.message);
    return status != SK_ERR_UNSUPPORTED;
}

/* Without the plugin that builds it, a model's own form is refused with the way to get it. */
static void test_forms_without_their_plugin(void **state)
{
    (void)state;
    sk_error err = {0};
    const sk_engine *tensorrt = sk_engine_find("tensorrt");
    const sk_session_settings settings = sk_session_defaults();
    uint8_t *out = NULL;
    size_t length = 0;
    char text[64];
    assert_non_null(tensorrt);
    assert_string_equal(tensorrt->form->name, "tensorrt");
    assert_string_equal(tensorrt->form->extension, ".engine");
    setenv("SKITTER_PLUGIN_DIR", "/nowhere", 1);
    assert_int_not_equal(tensorrt->form->build("", 0, 1, "", &settings, NULL, NULL, &out, &length, &err),
                         SK_OK);
    assert_non_null(strstr(err.message, "make plugin-tensorrt"));
    assert_null(out);
    err = (sk_error){0};
    assert_int_not_equal(tensorrt->form->architecture(&settings, text, sizeof text, &err), SK_OK);
    assert_non_null(strstr(err.message, "make plugin-tensorrt"));
    unsetenv("SKITTER_PLUGIN_DIR");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return refuse_file(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses_what_does_not_fit),
        cmocka_unit_test(test_takes_what_fits),
        cmocka_unit_test(test_says_where_it_looked),
        cmocka_unit_test(test_probe_explains),
        cmocka_unit_test(test_known_plugins),
        cmocka_unit_test(test_forms_without_their_plugin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
