/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "ros/node_inside.h"

static node_image *get_image(sk_ros_node *node)
{
    pthread_mutex_lock(&node->lock);
    node_image *image = node->free_images;
    if (image)
        node->free_images = image->next;
    pthread_mutex_unlock(&node->lock);
    if (!image && (image = sk_calloc(1, sizeof *image)))
        image->node = node;
    return image;
}

static void put_image(void *user)
{
    node_image *image = user;
    sk_ros_node *node = image->node;
    sk_dds_taken_release(&image->taken);
    pthread_mutex_lock(&node->lock);
    image->next = node->free_images;
    node->free_images = image;
    pthread_mutex_unlock(&node->lock);
}

void node_free_images(sk_ros_node *node)
{
    while (node->free_images) {
        node_image *image = node->free_images;
        node->free_images = image->next;
        sk_free(image);
    }
}

static sk_status read_raw(const node_image *image, sk_msg_header *header, sk_node_image *out, sk_error *err)
{
    sk_msg_image m;
    SK_TRY(sk_msg_decode(&sk_msg_image_layout, image->taken.bytes, image->taken.count, NULL, &m, err));
    if (m.width > INT32_MAX || m.height > INT32_MAX)
        return sk_fail(err, SK_ERR_FORMAT, "an image of %u x %u pixels", m.width, m.height);
    *header = m.header;
    out->width = (int32_t)m.width;
    out->height = (int32_t)m.height;
    out->encoding = m.encoding.length ? m.encoding.data : "";
    out->big_endian = m.is_bigendian != 0;
    out->step = m.step;
    out->data = m.data.items;
    out->length = m.data.count;
    return SK_OK;
}

static sk_status read_compressed(const node_image *image, sk_msg_header *header, sk_node_image *out,
                                 sk_error *err)
{
    sk_msg_compressed_image m;
    SK_TRY(sk_msg_decode(&sk_msg_compressed_image_layout, image->taken.bytes, image->taken.count, NULL, &m,
                         err));
    *header = m.header;
    out->data = m.data.items;
    out->length = m.data.count;
    return SK_OK;
}

/* The message that `image` holds goes to the core, or it is free again. One that cannot be read ends nothing. */
static sk_status submit(sk_ros_node *node, node_image *image, sk_error *err)
{
    sk_node_image out = SK_NODE_IMAGE_INIT;
    sk_msg_header header = {0};
    sk_error problem = {0};
    sk_status status = node->compressed ? read_compressed(image, &header, &out, &problem)
                                        : read_raw(image, &header, &out, &problem);
    if (status == SK_OK) {
        image->header = header;
        out.stamp_ns = sk_msg_time_ns(header.stamp);
        out.user = image;
        out.release = put_image;
        status = sk_node_core_submit(node->core, &out, &problem);
    }
    if (status == SK_OK)
        return SK_OK;
    put_image(image);
    pthread_mutex_lock(&node->lock);
    node->counts.failed++;
    pthread_mutex_unlock(&node->lock);
    node_complain(node, problem.message);
    if (status != SK_ERR_MEMORY && status != SK_ERR_RUNTIME)
        return SK_OK;
    if (err)
        *err = problem;
    return status;
}

/* Best effort: all that have come but the newest are let go. Reliable: one, so that requests are heard in between. */
sk_status node_take_images(sk_ros_node *node, sk_error *err)
{
    node_image *chosen = NULL;
    int64_t received = 0;
    for (;;) {
        node_image *image = get_image(node);
        if (!image) {
            if (chosen)
                put_image(chosen);
            return sk_fail_memory(err, sizeof *image);
        }
        if (!sk_subscriber_take(node->images, &image->taken)) {
            put_image(image);
            break;
        }
        image->came_ns = sk_clock_ns();
        received++;
        if (chosen)
            put_image(chosen);
        chosen = image;
        if (node->every)
            break;
    }
    if (!chosen)
        return SK_OK;
    pthread_mutex_lock(&node->lock);
    node->counts.received += received;
    node->counts.replaced += received - 1;
    pthread_mutex_unlock(&node->lock);
    return submit(node, chosen, err);
}
