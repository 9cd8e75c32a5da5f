/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/bag_file.h"
#include "formats/ros_messages.h"
#include "mutate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A bag's SQLite file that somebody else wrote, or that was cut off: opened, every topic listed, messages read and images taken
 * apart. */

SK_FUZZ_MUTATE(sk_mutate_fields)

static void read_topic(sk_bag_file *file, size_t topic)
{
    sk_bag_entries entries = {0};
    sk_error err = {0};
    if (file->list(file, topic, &entries, &err) == SK_OK)
        SK_FUZZ_CHECK((int64_t)entries.count == file->topics[topic].messages);
    for (size_t i = 0; i < entries.count && i < 64; i++) {
        const uint8_t *bytes = NULL;
        size_t count = 0;
        sk_msg_image image;
        if (file->read(file, topic, &entries.items[i], &bytes, &count, &err) != SK_OK) {
            SK_FUZZ_CHECK(err.message[0]);
            continue;
        }
        uint8_t sum = 0;
        for (size_t k = 0; k < count; k++)
            sum ^= bytes[k];
        (void)*(volatile uint8_t *)&sum;
        (void)!sk_msg_decode(&sk_msg_image_layout, bytes, count, NULL, &image, &err);
    }
    sk_free(entries.items);
}

SK_FUZZ(db3, data, size)
{
    static char path[64];
    if (!path[0])
        snprintf(path, sizeof path, "/tmp/skitter-fuzz-db3-%d", (int)getpid());
    sk_error err = {0};
    sk_bag_file *file = NULL;
    FILE *to = fopen(path, "wb");
    if (!to)
        return;
    fwrite(data, 1, size, to);
    fclose(to);
    if (sk_bag_file_open_db3(path, &file, &err) == SK_OK) {
        for (size_t i = 0; i < file->n_topics && i < 16; i++)
            read_topic(file, i);
        file->close(file);
    } else {
        SK_FUZZ_CHECK(!file && err.message[0]);
    }
    unlink(path);
}
