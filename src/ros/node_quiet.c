/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "ros/node_inside.h"

#include <string.h>

/* No image comes: says so, with who publishes what. */

#define ASK_NS ((int64_t)1000000000)
#define MOST   4096 /* speakers */

typedef struct speakers {
    sk_node_speaker *items;
    size_t count, capacity;
    sk_status status;
    sk_error *err;
} speakers;

/* "sensor_msgs::msg::dds_::Image_" -> "sensor_msgs/msg/Image" */
static char *type_of(const char *wire)
{
    sk_text text = {0};
    char *type = NULL;
    while (*wire) {
        const size_t length = strcspn(wire, ":");
        const bool last = wire[length] == '\0';
        if (length != 4 || strncmp(wire, "dds_", 4) != 0) {
            if (text.length)
                sk_text_append(&text, "/");
            sk_text_append_bytes(&text, wire, length - (last && length && wire[length - 1] == '_'));
        }
        wire += length;
        wire += strspn(wire, ":");
    }
    (void)!sk_text_take(&text, &type, NULL);
    return type;
}

static void add(void *context, const sk_dds_speaker *from)
{
    speakers *s = context;
    if (s->status != SK_OK || s->count >= MOST || strncmp(from->topic, "rt/", 3) != 0)
        return;
    s->status =
        sk_array_reserve((void **)&s->items, &s->capacity, s->count + 1, sizeof *s->items, MOST, s->err);
    if (s->status != SK_OK)
        return;
    sk_node_speaker one = SK_NODE_SPEAKER_INIT;
    one.topic = sk_strdup(from->topic + 2);
    one.type = type_of(from->type);
    one.reliable = from->reliable;
    one.transient_local = from->transient_local;
    s->items[s->count++] = one;
    if (!one.topic || !one.type)
        s->status = sk_fail_memory(s->err, strlen(from->topic));
}

static void tell(sk_ros_node *node, double seconds)
{
    char text[1024];
    sk_error problem = {0};
    speakers s = {.err = &problem};
    sk_status status = sk_participant_speakers(sk_ros_graph_participant(node->graph), add, &s, &problem);
    status = status == SK_OK ? s.status : status;
    if (status == SK_OK) {
        sk_node_core_explain_quiet(node->core, node->input, seconds, s.items, (int32_t)s.count, text,
                                   sizeof text);
        node_say(node, SK_ROS_NODE_WARNING, "%s", text);
    } else {
        node_complain(node, problem.message);
    }
    for (size_t i = 0; i < s.count; i++)
        sk_free_all((void *)s.items[i].topic, (void *)s.items[i].type);
    sk_free(s.items);
}

void node_note_quiet(sk_ros_node *node)
{
    const int64_t now = sk_clock_ns();
    double seconds = 0;
    if (now - node->last_asked_ns < ASK_NS)
        return;
    node->last_asked_ns = now;
    if (sk_node_core_is_quiet(node->core, &seconds))
        tell(node, seconds);
}
