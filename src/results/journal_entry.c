/* SPDX-License-Identifier: Apache-2.0 */
#include "results/journal_entry.h"

#include "base/memory.h"
#include "base/transfer.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define WINDOW_BYTES ((size_t)64 << 10)

/* Who reads one entry after the other gets them from a stretch of the file that was read at once. What lies beyond the file's end
 * is never in it, and it is forgotten at every end and every bad entry: a file that grows is seen as it is. */
static bool read_at(sk_journal_entry *entry, int file, int64_t offset, void *data, size_t bytes)
{
    const bool inside = offset >= entry->window_at &&
                        offset + (int64_t)bytes <= entry->window_at + (int64_t)entry->window_bytes;
    if (!inside) {
        const bool on = offset == entry->read_to && bytes < WINDOW_BYTES / 2;
        entry->window_bytes = 0;
        if (on && !entry->window)
            entry->window = sk_malloc(WINDOW_BYTES);
        if (!on || !entry->window)
            return sk_read_all_at(file, data, bytes, offset) == bytes;
        entry->window_at = offset;
        entry->window_bytes = sk_read_all_at(file, entry->window, WINDOW_BYTES, offset);
        if (entry->window_bytes < bytes)
            return false;
    }
    memcpy(data, entry->window + (offset - entry->window_at), bytes);
    return true;
}

static bool read_whole(sk_journal_entry *entry, int file, int64_t offset, bool *ended)
{
    uint32_t head[2];
    if (!read_at(entry, file, offset, head, sizeof head))
        return false;
    if (head[0] == 0) {
        *ended = head[1] == JOURNAL_END_MARK;
        return false;
    }
    if (head[0] < sizeof(journal_body_head) || head[0] > JOURNAL_BODY_LIMIT)
        return false;
    if (sk_array_reserve((void **)&entry->body, &entry->capacity, head[0], 1, JOURNAL_BODY_LIMIT, NULL) !=
            SK_OK ||
        !entry->body) {
        entry->scarce = true;
        return false;
    }
    if (!read_at(entry, file, offset + 8, entry->body, head[0]) || XXH32(entry->body, head[0], 0) != head[1])
        return false;
    entry->length = head[0];
    return true;
}

bool sk_journal_entry_read(sk_journal_entry *entry, int file, int64_t *offset, bool *ended)
{
    *ended = false;
    entry->scarce = false;
    const bool good = read_whole(entry, file, *offset, ended);
    if (good)
        *offset += 8 + (int64_t)entry->length;
    else
        sk_journal_entry_forget(entry);
    entry->read_to = *offset;
    return good;
}

void sk_journal_entry_forget(sk_journal_entry *entry)
{
    entry->window_bytes = 0;
}

bool sk_journal_entry_parse(sk_journal_entry *entry, sk_result_frame *frame)
{
    const uint32_t length = entry->length;
    sk_instances *instances = &entry->instances;
    char **source = &entry->source;
    journal_body_head head;
    memcpy(&head, entry->body, sizeof head);
    /* each count is small before they are multiplied: a checksum is no proof of who wrote it */
    if (head.source_length < 0 || head.problem_length < 0 || head.count < 0 || head.n_keypoints < 0 ||
        (uint64_t)head.source_length > length || (uint64_t)head.problem_length > length ||
        (uint64_t)head.count > length / sizeof(sk_found) ||
        (uint64_t)head.n_keypoints > length / sizeof(sk_keypoint))
        return false;
    uint64_t items = (uint64_t)head.count * sizeof(sk_found);
    uint64_t points = (uint64_t)head.count * (uint64_t)head.n_keypoints * sizeof(sk_keypoint);
    const size_t source_length = (size_t)head.source_length, problem_length = (size_t)head.problem_length;
    const uint64_t plain = sizeof head + source_length + problem_length + items + points;
    if (plain != length && plain + (uint64_t)head.count * SK_TRACK_LOOKS != length)
        return false;
    const unsigned char *at = entry->body + sizeof head;
    sk_free(*source);
    *source = sk_malloc(source_length + problem_length + 2);
    if (*source) { /* two texts in one piece */
        memcpy(*source, at, source_length);
        (*source)[source_length] = '\0';
        memcpy(*source + source_length + 1, at + source_length, problem_length);
        (*source)[source_length + 1 + problem_length] = '\0';
    }
    at += source_length + problem_length;
    const unsigned char *looks = plain < length ? at + items + points : NULL;
    sk_free(instances->items);
    sk_free(instances->keypoints);
    *instances = (sk_instances){.count = head.count, .capacity = head.count, .n_keypoints = head.n_keypoints};
    instances->items = sk_malloc((size_t)items);
    instances->keypoints = sk_malloc((size_t)points);
    entry->scarce = !*source || !instances->items || !instances->keypoints;
    if (entry->scarce)
        return false;
    memcpy(instances->items, at, (size_t)items);
    memcpy(instances->keypoints, at + items, (size_t)points);
    for (int32_t i = 0; i < head.count; i++)
        instances->items[i].first_keypoint = i * head.n_keypoints;
    const size_t name_length = strlen(*source);
    *frame = (sk_result_frame){.source = *source,
                               .frame_id = name_length < source_length ? *source + name_length + 1 : NULL,
                               .index = head.index,
                               .time = head.time,
                               .width = head.width,
                               .height = head.height,
                               .instances = instances,
                               .looks = looks,
                               .wall_ns = head.wall_ns,
                               .picture = head.picture,
                               .problem = problem_length ? *source + source_length + 1 : NULL};
    return true;
}

void sk_journal_entry_free(sk_journal_entry *entry)
{
    sk_free_all(entry->window, entry->body, entry->instances.items, entry->instances.keypoints,
                entry->source);
    *entry = (sk_journal_entry){0};
}
