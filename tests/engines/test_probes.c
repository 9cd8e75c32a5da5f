/* SPDX-License-Identifier: Apache-2.0 */
/* What engines say of themselves that are always there, and OpenVINO's own words in ours. */
#include "support/test.h"

#include "engines/engine.h"
#include "engines/openvino/openvino_api.h"

#include <stdio.h>
#include <string.h>

static void the_reference_is_there(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_engine_probe probe = {0};
    const sk_engine *engine = sk_engine_find("reference");
    assert_non_null(engine);
    assert_ok(engine->probe(&probe, &err), &err);
    assert_true(probe.available && probe.n_devices == 1);
    assert_string_equal(probe.version, "1");
    assert_string_equal(probe.detail, "always there; for checking, not for speed");
    assert_string_equal(probe.devices[0].name, "CPU, one thread");
    assert_int_equal(probe.devices[0].precisions, 1u << SK_PRECISION_F32);
}

static void the_processor_is_there(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_engine_probe probe = {0};
    const sk_engine *engine = sk_engine_find("cpu");
    assert_non_null(engine);
    assert_ok(engine->probe(&probe, &err), &err);
    assert_true(probe.available && probe.n_devices == 1);
    assert_true(probe.version[0] != '\0' && probe.detail[0] != '\0' && probe.devices[0].name[0] != '\0');
    assert_true(probe.devices[0].precisions & 1u << SK_PRECISION_F32);
    assert_true(probe.devices[0].precisions & 1u << SK_PRECISION_I8);
    assert_false(probe.devices[0].precisions & 1u << SK_PRECISION_AUTO);
}

static const char *last;
static int freed;

static const char *kind_of(int status)
{
    return status == -2 ? NULL : "general error";
}

static const char *last_error(void)
{
    return last;
}

static void free_text(const char *text)
{
    assert_ptr_equal(text, last);
    freed++;
}

static void openvinos_words(void **state)
{
    (void)state;
    sk_error err = {0};
    ov_api api = {.get_error_info = kind_of, .get_last_error = last_error, .free_text = free_text};
    snprintf(api.version, sizeof api.version, "2024.1");
    assert_int_equal(ov_check(&api, 0, "anything", &err), SK_OK);
    assert_int_equal(freed, 0);
    last = "first line\nsecond\n\nthird";
    assert_int_equal(ov_check(&api, -1, "compiling", &err), SK_ERR_RUNTIME);
    assert_string_equal(err.message, "OpenVINO 2024.1: compiling: first line second  third (general error)");
    assert_int_equal(freed, 1);
    last = "";
    assert_int_equal(ov_check(&api, -2, "reading", &err), SK_ERR_RUNTIME);
    assert_string_equal(err.message, "OpenVINO 2024.1: reading: no reason given (unknown status)");
    assert_int_equal(freed, 2);
    last = NULL;
    assert_int_equal(ov_check(&api, -1, "reading", &err), SK_ERR_RUNTIME);
    assert_string_equal(err.message, "OpenVINO 2024.1: reading: no reason given (general error)");
    assert_int_equal(freed, 2); /* there was nothing to free */
    api.get_last_error = NULL;  /* not in every release */
    last = "not asked for";
    assert_int_equal(ov_check(&api, 1, "reading", &err), SK_ERR_RUNTIME);
    assert_string_equal(err.message, "OpenVINO 2024.1: reading: no reason given (general error)");
    api.get_last_error = last_error;
    api.free_text = NULL;
    assert_int_equal(ov_check(&api, 1, "reading", &err), SK_ERR_RUNTIME);
    assert_string_equal(err.message, "OpenVINO 2024.1: reading: not asked for (general error)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_is_there),
        cmocka_unit_test(the_processor_is_there),
        cmocka_unit_test(openvinos_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
