/* SPDX-License-Identifier: Apache-2.0 */
/* What of another program's configuration is not used: in brief for everybody, and line by line for who wants to know. */
#include "support/test.h"

#include "app/track_config.h"
#include "base/file.h"
#include "formats/hydra_config.h"
#include "skitter/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static sk_text heard;

static void hear(void *context, sk_log_level level, const char *message)
{
    (void)context;
    assert_int_equal(level, SK_LOG_INFO);
    sk_text_appendf(&heard, "%s\n", message);
}

/* What is told of a configuration with these members. */
static void read_it(const char *members, sk_text *warnings, sk_text *wanted)
{
    char json[512];
    sk_track_wish wish;
    sk_region *region = NULL;
    sk_text words = {0};
    sk_log_listener *listener = NULL;
    sk_hydra_config *config = NULL;
    snprintf(json, sizeof json,
             "{\"gamma\":1,\"enable_postprocessing\":true,\"dark_on_light_background\":true,\"enable_"
             "conservative_split\":true%s}",
             members);
    assert_ok(sk_file_replace("c.json", json, strlen(json), &err), &err);
    assert_ok(sk_hydra_config_open(json, strlen(json), "c.json", &config, &err), &err);
    for (const char *at = sk_hydra_without_counterpart(config); *at;
         at += strcspn(at, "\n"), at += *at == '\n')
        sk_text_appendf(wanted, "c.json: not used, %.*s\n", (int)strcspn(at, "\n"), at);
    sk_hydra_config_close(&config);
    sk_track_wish_defaults(&wish);
    assert_ok(sk_log_listen(SK_LOG_INFO, hear, NULL, &listener, &err), &err);
    assert_ok(sk_track_config_read("c.json", &wish, &region, &words, warnings, &err), &err);
    sk_log_unlisten(&listener);
    assert_null(region);
    assert_int_equal(words.length, 0);
    sk_text_free(&words);
}

static void what_is_not_used(void **state)
{
    (void)state;
    static const char some[] = ",\"zoom_factor\":1,\"debug_mode\":true,\"export_dataset_path\":\"x\","
                               "\"individual_crop_padding\":0.1";
    static const char *const rows[] = {"", ",\"zoom_factor\":1", ",\"zoom_factor\":1,\"debug_mode\":true",
                                       some};
    size_t lines[4];
    for (size_t i = 0; i < 4; i++) {
        sk_text warnings = {0}, wanted = {0};
        read_it(rows[i], &warnings, &wanted);
        assert_string_equal(sk_text_get(&heard), sk_text_get(&wanted));
        const bool any = wanted.length > 0;
        assert_int_equal(
            strstr(sk_text_get(&warnings), "c.json: without a counterpart here, and not used: ") != NULL,
            any);
        lines[i] = wanted.length;
        sk_text_free(&heard);
        sk_text_free(&wanted);
        sk_text_free(&warnings);
    }
    assert_true(lines[0] == 0 && lines[1] > 0 && lines[2] > lines[1] && lines[3] > lines[2]);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_used)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
