/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "formats/ros_messages.h"
#include "kernels/plain.h"
#include "media/bag_topic.h"
#include "media/encoding.h"
#include "media/frame_choice.h"
#include "media/frame_ids.h"
#include "media/picture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The images of one topic of a bag, in the order in which they were recorded. A frame's time is that of its header's stamp, or,
 * where that is 0, that at which it was recorded; the first image's is the source's beginning. */

#define TRIES          16 /* damaged images at the beginning, before one that says how large they are */
#define INTERVALS_MOST 100000

typedef struct bag_reader {
    sk_reader base;
    sk_bag *bag;
    char *path, *frame_id; /* the first image's */
    sk_frame_ids ids;      /* of those that were read */
    bool compressed;
    sk_frame_choice choice;
    int64_t next; /* number from which on the next frame is looked for */
    int32_t rounds;
    int64_t given, length_ns; /* frames given so far, and how long one round is: when looping */
    int64_t round_ns;         /* when this round began */
    int64_t first_ns;         /* the first image's stamp */
    int64_t promised;         /* images, by metadata.yaml; -1: it does not say */
    int32_t width, height;
    sk_slot coded; /* an image before it is made plain */
    uint8_t *row;  /* one row of it */
    size_t row_capacity;
    sk_source_settings settings;
} bag_reader;

/* --- pictures --- */

static uint8_t luma_of(int red, int green, int blue)
{
    return (uint8_t)((red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16);
}

/* A plain row (RGB, BGR or grey) in another plain format. */
static void convert_row(const uint8_t *from, sk_pixel_format have, uint8_t *to, sk_pixel_format want,
                        int32_t width)
{
    const int step = have == SK_PIXEL_GRAY ? 1 : 3, r = have == SK_PIXEL_BGR ? 2 : 0;
    if (have == want) {
        memcpy(to, from, (size_t)width * (size_t)step);
        return;
    }
    for (int32_t x = 0; x < width; x++, from += step) {
        if (want == SK_PIXEL_GRAY) {
            *to++ = luma_of(from[r], from[1], from[2 - r]);
        } else if (have == SK_PIXEL_GRAY) {
            memset(to, from[0], 3);
            to += 3;
        } else {
            *to++ = from[2];
            *to++ = from[1];
            *to++ = from[0];
        }
    }
}

static sk_status decode_raw(bag_reader *r, const sk_msg_image *image, sk_slot *slot, sk_error *err)
{
    const sk_picture_task task = {.path = r->path,
                                  .format = r->settings.format,
                                  .max_pixels = r->settings.max_pixels,
                                  .length = image->data.count};
    sk_frame frame = SK_FRAME_INIT;
    SK_TRY(sk_picture_check_size(&task, image->width, image->height, err));
    const sk_encoded_image coded = {.width = (int32_t)image->width,
                                    .height = (int32_t)image->height,
                                    .encoding = image->encoding.data ? image->encoding.data : "",
                                    .big_endian = image->is_bigendian != 0,
                                    .step = image->step,
                                    .data = image->data.items,
                                    .length = image->data.count};
    SK_TRY(sk_encoded_frame(&coded, &r->coded, &frame, err));
    const sk_nv12_weights weights = sk_nv12_weights_of(frame.matrix, frame.full_range);
    SK_TRY(sk_array_reserve((void **)&r->row, &r->row_capacity, 4 * (size_t)frame.width + 64, 1, SIZE_MAX / 4,
                            err));
    SK_TRY(sk_slot_prepare(slot, r->settings.format, frame.width, frame.height, err));
    for (int32_t y = 0; y < frame.height; y++) {
        sk_plain_row(&frame, &weights, y, r->row);
        convert_row(r->row, sk_plain_format(frame.format), slot->frame.data + slot->frame.stride * y,
                    r->settings.format, frame.width);
    }
    return SK_OK;
}

static sk_status decode(bag_reader *r, const sk_bag_message *message, sk_slot *slot, sk_msg_header *header,
                        sk_error *err)
{
    if (!r->compressed) {
        sk_msg_image image;
        SK_TRY(sk_msg_decode(&sk_msg_image_layout, message->bytes, message->count, NULL, &image, err));
        *header = image.header;
        return decode_raw(r, &image, slot, err);
    }
    sk_msg_compressed_image image;
    SK_TRY(sk_msg_decode(&sk_msg_compressed_image_layout, message->bytes, message->count, NULL, &image, err));
    *header = image.header;
    const sk_picture_task task = {.path = "a compressed image",
                                  .format = r->settings.format,
                                  .max_pixels = r->settings.max_pixels,
                                  .data = image.data.items,
                                  .length = image.data.count};
    sk_status status = sk_picture_decode_bytes(&task, slot, err);
    if (status != SK_OK)
        sk_error_prefix(err, "format '%.40s'", image.format.data ? image.format.data : "");
    return status;
}

static int64_t stamp_of(const sk_msg_header *header, const sk_bag_message *message)
{
    const int64_t stamp = sk_msg_time_ns(header->stamp);
    return stamp ? stamp : message->log_ns;
}

static sk_status read_image(bag_reader *r, int64_t number, sk_slot *slot, sk_msg_header *header,
                            int64_t *stamp, sk_error *err)
{
    sk_bag_message message;
    SK_TRY(sk_bag_read(r->bag, (size_t)number, &message, err));
    SK_TRY(decode(r, &message, slot, header, err));
    *stamp = stamp_of(header, &message);
    if (r->width && (slot->frame.width != r->width || slot->frame.height != r->height))
        return sk_fail(err, SK_ERR_MISMATCH, "an image of %dx%d where those before have %dx%d",
                       slot->frame.width, slot->frame.height, r->width, r->height);
    return SK_OK;
}

/* Which image an error is about, unless the bag's own reader has named the file already. */
static void name_image(const bag_reader *r, int64_t number, sk_error *err)
{
    if (err && strncmp(err->message, r->path, strlen(r->path)) != 0)
        sk_error_prefix(err, "%s: image %lld", r->path, (long long)number);
}

/* --- the reader --- */

static sk_status read_next(sk_reader *base, sk_slot *slot, bool *end, bool *left_out, sk_error *err)
{
    bag_reader *r = (bag_reader *)base;
    const int64_t total = (int64_t)sk_bag_messages(r->bag);
    int64_t number = sk_frame_choice_next(&r->choice, r->next), stamp = 0;
    if (number < 0 || number >= total) {
        r->choice = sk_frame_choice_of(&r->settings);
        number = sk_frame_choice_next(&r->choice, 0);
        if (--r->rounds <= 0 || number < 0 || number >= total) {
            if (r->settings.last < 0 && r->settings.n_ranges == 0) /* all were wanted */
                base->missing = r->promised > total ? r->promised - total : 0;
            *end = true;
            return SK_OK;
        }
        r->round_ns += r->length_ns;
    }
    const int64_t index = r->settings.loop > 1 ? r->given : number;
    sk_error problem = {0};
    sk_msg_header header = {0};
    sk_status status = read_image(r, number, slot, &header, &stamp, &problem);
    *left_out = status != SK_OK && status != SK_ERR_MEMORY && base->unreadable;
    if (*left_out) {
        char name[4200];
        snprintf(name, sizeof name, "%.4096s#%lld", r->path, (long long)number);
        SK_TRY(base->unreadable(base->publish_context, index, name, problem.message, err));
        base->damaged++;
    } else if (status != SK_OK) {
        if (err)
            *err = problem;
        name_image(r, number, err);
        return status;
    } else {
        SK_TRY(sk_frame_ids_note(&r->ids, index, header.frame_id.data, header.frame_id.length, err));
    }
    r->given++;
    r->next = number + 1;
    slot->frame.index = index;
    slot->frame.time_ns = stamp - r->first_ns + r->round_ns;
    slot->frame.wall_ns = stamp;
    return SK_OK;
}

static sk_status bag_read(sk_reader *base, sk_slot *slot, bool *end, sk_error *err)
{
    bool left_out = false;
    do
        SK_TRY(read_next(base, slot, end, &left_out, err));
    while (left_out && !*end && !atomic_load(base->stop));
    *end = *end || left_out; /* stopped behind one that was left out: the slot holds no picture */
    return SK_OK;
}

static sk_status bag_seek(sk_reader *base, int64_t frame, sk_error *err)
{
    bag_reader *r = (bag_reader *)base;
    (void)err;
    r->choice = sk_frame_choice_of(&r->settings);
    r->next = frame;
    r->given = frame;
    return SK_OK;
}

static size_t bag_frame_id(sk_reader *base, int64_t index, char *out, size_t capacity)
{
    return sk_frame_ids_of(&((bag_reader *)base)->ids, index, out, capacity);
}

static void bag_close(sk_reader *base)
{
    bag_reader *r = (bag_reader *)base;
    sk_bag_close(&r->bag);
    sk_slot_free(&r->coded);
    sk_frame_ids_end(&r->ids);
    sk_free_all(r->path, r->frame_id, r->row, r);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Images a second, by the times at which they were recorded: of all of them, unless there are long pauses. */
static double rate_of(const bag_reader *r)
{
    const size_t count = sk_bag_messages(r->bag);
    const size_t n = count > INTERVALS_MOST ? INTERVALS_MOST : count;
    if (n < 2)
        return 0;
    int64_t *intervals = sk_malloc((n - 1) * sizeof *intervals);
    const double mean = (double)(sk_bag_time(r->bag, n - 1) - sk_bag_time(r->bag, 0)) / (double)(n - 1);
    double median = mean;
    for (size_t i = 0; intervals && i + 1 < n; i++)
        intervals[i] = sk_bag_time(r->bag, i + 1) - sk_bag_time(r->bag, i);
    if (intervals) {
        qsort(intervals, n - 1, sizeof *intervals, by_value);
        median = (double)intervals[(n - 1) / 2];
    }
    sk_free(intervals);
    const double each = mean > 1.1 * median && median > 0 ? median : mean;
    return each > 0 ? 1e9 / each : 0;
}

/* How large the images are, when the first was taken, and by what. */
static sk_status look_at_first(bag_reader *r, sk_error *err)
{
    const size_t count = sk_bag_messages(r->bag);
    sk_slot slot = {0};
    sk_status status = SK_OK;
    int64_t stamp = 0;
    for (size_t i = 0; i < count && i < TRIES; i++) {
        sk_msg_header header = {0};
        status = read_image(r, (int64_t)i, &slot, &header, &stamp, err);
        if (status == SK_ERR_MEMORY)
            break;
        if (status != SK_OK)
            continue;
        r->first_ns = stamp;
        r->width = slot.frame.width;
        r->height = slot.frame.height;
        r->frame_id = sk_strndup(header.frame_id.data ? header.frame_id.data : "", header.frame_id.length);
        if (!r->frame_id)
            status = sk_fail_memory(err, header.frame_id.length);
        break;
    }
    if (status != SK_OK)
        name_image(r, 0, err);
    sk_slot_free(&slot);
    return status;
}

/* A run opens its source several times: what is wrong with it is said once. */
static void warn_of_problems(const bag_reader *r)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t told;
    uint64_t all = 1;
    for (size_t i = 0; sk_bag_problem(r->bag, i); i++)
        all = sk_hash_xxh3(sk_bag_problem(r->bag, i), strlen(sk_bag_problem(r->bag, i)), all);
    pthread_mutex_lock(&lock);
    const bool known = told == all;
    told = all;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; !known && sk_bag_problem(r->bag, i); i++)
        sk_log(SK_LOG_WARN, "%s. What is there is read", sk_bag_problem(r->bag, i));
}

static sk_status open_topic(bag_reader *r, sk_error *err)
{
    size_t topic = 0;
    SK_TRY(sk_bag_open(r->path, &r->bag, err));
    SK_TRY(sk_bag_find_images(r->bag, r->path, r->settings.topic, &topic, err));
    SK_TRY(sk_bag_choose(r->bag, topic, err));
    const sk_bag_topic *t = sk_bag_topic_at(r->bag, topic);
    r->compressed = sk_bag_images_of(t) == SK_BAG_COMPRESSED;
    const int64_t count = (int64_t)sk_bag_messages(r->bag);
    if (count == 0)
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: no image of %s is in it", r->path, t->name);
    SK_TRY(look_at_first(r, err));
    sk_source_info *info = &r->base.info;
    info->kind = SK_SOURCE_VIDEO;
    info->width = r->width;
    info->height = r->height;
    info->rate = rate_of(r);
    info->frames = sk_frames_wanted(&r->settings, count);
    if (info->frames > 0)
        info->frames *= r->settings.loop;
    info->total = count;
    info->exact = true;
    info->decoder = r->compressed ? "bag, compressed images" : "bag, raw images";
    info->stamped = true;
    info->frame_id = r->frame_id;
    r->promised = t->promised;
    r->length_ns = sk_bag_time(r->bag, (size_t)count - 1) - sk_bag_time(r->bag, 0) +
                   (info->rate > 0 ? (int64_t)(1e9 / info->rate) : 0);
    warn_of_problems(r);
    return SK_OK;
}

sk_status sk_reader_open_bag(const char *uri, const sk_source_settings *settings, sk_reader **out,
                             sk_error *err)
{
    bag_reader *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    r->base.read = bag_read;
    r->base.seek = bag_seek;
    r->base.close = bag_close;
    r->base.frame_id = bag_frame_id;
    sk_frame_ids_begin(&r->ids);
    r->base.any_size = true;
    r->settings = *settings;
    r->rounds = settings->loop;
    r->choice = sk_frame_choice_of(settings);
    r->path = sk_strdup(uri);
    sk_status status = r->path ? open_topic(r, err) : sk_fail_memory(err, strlen(uri));
    r->settings.topic = NULL; /* the caller's */
    if (status == SK_OK)
        *out = &r->base;
    else
        bag_close(&r->base);
    return status;
}
