/* SPDX-License-Identifier: Apache-2.0 */
/* A continued run names what computed its earlier parts, too. */
#include "support/test.h"

#include "app/run_files.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void put(const char *text)
{
    char path[600];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/run.json", test_folder());
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static void test_earlier_parts(void **state)
{
    (void)state;
    sk_run_files files = {0};
    sk_run_header header = {0};
    put("{\"models\": [{\"path\": \"a.pt\", \"computed_by\": [{\"path\": \"a.onnx\", \"sha256\": \"" HASH
        "\"},"
        " {\"path\": null, \"sha256\": \"" HASH "\"}]},"
        " {\"path\": \"b.pt\", \"computed_by\": [{\"path\": \"b.onnx\", \"sha256\": \"" HASH "\"}]}]}");
    sk_run_files_read(test_folder(), &files);
    sk_run_files_read(test_folder(), &files); /* each once */
    sk_run_files_note(&files, NULL, &header);
    assert_int_equal(header.n_files, 3);
    assert_string_equal(header.files[0].path, "a.onnx");
    assert_string_equal(header.files[0].sha256, HASH);
    assert_string_equal(header.files[1].path, ""); /* made in memory */
    assert_int_equal(header.files[2].model, 1);
}

/* As many models as a run has; more are somebody else's. */
static void test_every_model(void **state)
{
    (void)state;
    sk_run_files files = {0};
    char text[1024] = "{\"models\": [";
    for (int i = 0; i < 5; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "%s{\"computed_by\": [{\"path\": \"%d.onnx\", \"sha256\": \"" HASH "\"}]}", i ? "," : "", i);
    }
    strcat(text, "]}");
    put(text);
    sk_run_files_read(test_folder(), &files);
    assert_int_equal(files.count, 4);
    for (int i = 0; i < 4; i++)
        assert_true(files.items[i].model == i && files.items[i].path[0] == '0' + i);
}

static void test_foreign_files(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"models\": 3}",
        "{\"models\": [{\"computed_by\": \"x\"}]}",
        "{\"models\": [{\"computed_by\": [1, {\"path\": 7, \"sha256\": \"short\"}]}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sk_run_files files = {0};
        put(texts[i]);
        sk_run_files_read(test_folder(), &files);
        assert_int_equal(files.count, 0);
    }
    char many[16384] = "{\"models\": [{\"computed_by\": [";
    for (int i = 0; i < 40; i++) {
        size_t used = strlen(many);
        snprintf(many + used, sizeof many - used, "%s{\"path\": \"%d.onnx\", \"sha256\": \"" HASH "\"}",
                 i ? "," : "", i);
    }
    strcat(many, "]}]}");
    put(many);
    sk_run_files files = {0};
    sk_run_files_read(test_folder(), &files);
    assert_int_equal(files.count, SK_RUN_MAX_FILES);
    sk_run_files none = {0};
    sk_run_files_read("/nowhere", &none);
    assert_int_equal(none.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_earlier_parts),
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_foreign_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
