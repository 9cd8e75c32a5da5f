/* SPDX-License-Identifier: Apache-2.0 */
#include "use_bag.h"

#include "fuzz.h"

#include "formats/ros_messages.h"

#include <stdio.h>
#include <unistd.h>

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

void sk_use_bag(const char *name, sk_bag_opener open, const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/skitter-fuzz-%s-%d", name, (int)getpid());
    sk_error err = {0};
    sk_bag_file *file = NULL;
    FILE *to = fopen(path, "wb");
    if (!to)
        return;
    fwrite(data, 1, size, to);
    fclose(to);
    if (open(path, &file, &err) == SK_OK) {
        for (size_t i = 0; i < file->n_topics && i < 16; i++)
            read_topic(file, i);
        file->close(file);
    } else {
        SK_FUZZ_CHECK(!file && err.message[0]);
    }
    unlink(path);
}
