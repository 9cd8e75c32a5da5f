/* SPDX-License-Identifier: Apache-2.0 */
/* Whichever allocation fails while a bag is written or read: it is told, or nothing is missing. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/mcap.h"
#include "formats/ros_messages.h"
#include "formats/rosbag.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGES = 30 };
static sk_error err;
static char path[512];

/* Messages that grow, so that every buffer must; a chunk now and then. */
static sk_status write_file(void)
{
    static char text[3000];
    sk_mcap_writer *writer = NULL;
    uint16_t channels[2] = {0};
    memset(text, 'm', sizeof text);
    sk_status status = sk_mcap_writer_open(path, SK_PACKING_NONE, &writer, &err);
    for (int i = 0; status == SK_OK && i < 2; i++)
        status = sk_mcap_writer_topic(writer, i ? "/b" : "/a",
                                      sk_msg_type_find(i ? "std_msgs/msg/Header" : "std_msgs/msg/String"),
                                      "qos", &channels[i], &err);
    for (int i = 0; status == SK_OK && i < MESSAGES; i++) {
        text[0] = (char)('A' + i);
        status = sk_mcap_writer_write(writer, channels[i % 2], 10 * i, text, (size_t)(100 * i), &err);
        if (status == SK_OK && i % 10 == 9)
            status = sk_mcap_writer_flush(writer, &err);
    }
    if (status == SK_OK)
        status = sk_mcap_writer_finish(&writer, "a: b\n", &err);
    sk_mcap_writer_close(&writer);
    return status;
}

static sk_status read_file(size_t *found)
{
    sk_bag *bag = NULL;
    sk_status status = sk_bag_open(path, &bag, &err);
    *found = 0;
    for (size_t topic = 0; status == SK_OK && topic < sk_bag_topics(bag); topic++) {
        status = sk_bag_choose(bag, topic, &err);
        for (size_t i = 0; status == SK_OK && i < sk_bag_messages(bag); i++) {
            sk_bag_message message;
            status = sk_bag_read(bag, i, &message, &err);
            *found += status == SK_OK ? message.count + 1 : 0;
        }
    }
    if (status == SK_OK && sk_bag_problem(bag, 0))
        *found = 0;
    sk_bag_close(&bag);
    return status;
}

static void whichever_allocation_fails(void **state)
{
    (void)state;
    char *whole = NULL;
    size_t bytes = 0, found = 0;
    snprintf(path, sizeof path, "%s/memory.mcap", test_folder());
    assert_ok(write_file(), &err);
    assert_ok(sk_file_read(path, 1 << 20, &whole, &bytes, &err), &err);
    for (int reading = 0; reading < 2; reading++) {
        int failures = 0;
        bool reached = true;
        for (uint64_t n = 1; reached; n++) {
            sk_memory_fail_nth(n);
            const sk_status status = reading ? read_file(&found) : write_file();
            reached = sk_memory_fail_left() == 0;
            sk_memory_fail_nth(0);
            failures += status != SK_OK;
            if (status != SK_OK) {
                assert_int_equal(status, SK_ERR_MEMORY);
                continue;
            }
            if (reading) {
                assert_int_equal(found, MESSAGES + 100 * (MESSAGES * (MESSAGES - 1) / 2));
                continue;
            }
            char *again = NULL;
            size_t more = 0;
            assert_ok(sk_file_read(path, 1 << 20, &again, &more, &err), &err);
            if (more != bytes || memcmp(whole, again, bytes) != 0)
                fail_msg("allocation %d fails, and a file of %zu bytes was called written", (int)n, more);
            sk_free(again);
        }
        assert_true(failures > 10);
    }
    sk_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whichever_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
