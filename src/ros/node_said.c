/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "ros/node_inside.h"

#include <stdarg.h>
#include <stdio.h>

/* What the node says of itself: on /rosout, and as diagnostics. */

static void log_to_graph(sk_ros_node *node, sk_ros_node_level level, const char *text)
{
    if (!node->out.log)
        return;
    const sk_msg_log message = {.stamp = sk_msg_time_of(sk_clock_wall_ns()),
                                .level = (uint8_t)level,
                                .name = sk_msg_text_of(node->settings->names->node),
                                .msg = sk_msg_text_of(text)};
    pthread_mutex_lock(&node->log_lock);
    sk_status status = sk_msg_encode(&sk_msg_log_layout, &message, &node->log_writer, NULL);
    if (status == SK_OK)
        status = sk_publisher_write(node->out.log, node->log_writer.data, node->log_writer.length, NULL);
    pthread_mutex_unlock(&node->log_lock);
    (void)status; /* the person has heard it */
}

void node_say(sk_ros_node *node, sk_ros_node_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (node->settings->say)
        node->settings->say(node->settings->context, level, text);
    log_to_graph(node, level, text);
}

/* A hash of the text without its digits (FNV-1a); never 0. */
static uint64_t kind_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text; text++)
        if (*text < '0' || *text > '9')
            hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash ? hash : 1;
}

/* The place of this kind, or that of the one which was told longest ago. */
static node_complaint *complaint_of(sk_ros_node *node, uint64_t kind)
{
    node_complaint *oldest = &node->complaints[0];
    for (int i = 0; i < NODE_COMPLAINTS; i++) {
        node_complaint *c = &node->complaints[i];
        if (c->kind == kind)
            return c;
        if (c->told_ns < oldest->told_ns) /* an empty place: 0, before all others */
            oldest = c;
    }
    *oldest = (node_complaint){0};
    return oldest;
}

void node_complain(sk_ros_node *node, const char *text)
{
    const int64_t now = sk_clock_ns();
    const uint64_t kind = kind_of(text);
    pthread_mutex_lock(&node->lock);
    node_complaint *c = complaint_of(node, kind);
    const bool tell = c->kind == 0 || now - c->told_ns >= NODE_COMPLAINT_NS;
    const int64_t more = tell ? c->silenced : 0;
    *c = (node_complaint){kind, tell ? now : c->told_ns, tell ? 0 : c->silenced + 1};
    pthread_mutex_unlock(&node->lock);
    if (tell && more)
        node_say(node, SK_ROS_NODE_WARNING, "%s (and %lld more like this since it was told last)", text,
                 (long long)more);
    else if (tell)
        node_say(node, SK_ROS_NODE_WARNING, "%s", text);
}

/* --- a diagnosis --- */

#define MOST_FACTS 48

static void add_number(sk_node_fact *facts, size_t *n, const char *key, double value, int digits)
{
    sk_node_fact *f = &facts[(*n)++];
    snprintf(f->key, sizeof f->key, "%s", key);
    snprintf(f->value, sizeof f->value, "%.*f", digits, value);
}

/* What the core knows, and what only the node does. */
static size_t gather(sk_ros_node *node, const node_counts *c, sk_node_fact *facts)
{
    size_t n = 0;
    for (int32_t i = 0; n < MOST_FACTS - 4; i++, n++) {
        facts[n] = (sk_node_fact)SK_NODE_FACT_INIT;
        if (!sk_node_core_fact(node->core, i, &facts[n]))
            break;
    }
    add_number(facts, &n, "messages replaced by newer ones", (double)c->replaced, 0);
    add_number(facts, &n, "results published", (double)c->published, 0);
    if (c->latency_count) {
        add_number(facts, &n, "node ms mean", c->latency_sum / (double)c->latency_count, 3);
        add_number(facts, &n, "node ms max", c->latency_most, 3);
    }
    return n;
}

static sk_status publish_facts(sk_ros_node *node, const sk_node_fact *facts, size_t n, sk_error *err)
{
    sk_msg_key_value values[MOST_FACTS];
    sk_cdr_writer writer = {0};
    char name[SK_ROS_NAME + 16], message[256];
    const sk_node_level level = sk_node_core_health(node->core, message, sizeof message);
    for (size_t i = 0; i < n; i++)
        values[i] = (sk_msg_key_value){sk_msg_text_of(facts[i].key), sk_msg_text_of(facts[i].value)};
    snprintf(name, sizeof name, "%s: inference", node->settings->names->node);
    const sk_msg_diagnostic status = {.level = (uint8_t)level,
                                      .name = sk_msg_text_of(name),
                                      .message = sk_msg_text_of(message),
                                      .hardware_id = sk_msg_text_of(sk_node_core_about(node->core)->device),
                                      .values = {values, n}};
    const sk_msg_diagnostic_array array = {.header = {.stamp = sk_msg_time_of(sk_clock_wall_ns())},
                                           .status = {&status, 1}};
    sk_status done = sk_msg_encode(&sk_msg_diagnostic_array_layout, &array, &writer, err);
    if (done == SK_OK)
        done = sk_publisher_write(node->out.diagnostics, writer.data, writer.length, err);
    sk_cdr_writer_free(&writer);
    return done;
}

sk_status node_publish_diagnosis(sk_ros_node *node, sk_error *err)
{
    sk_node_fact *facts = sk_calloc(MOST_FACTS, sizeof *facts);
    if (!facts)
        return sk_fail_memory(err, MOST_FACTS * sizeof *facts);
    pthread_mutex_lock(&node->lock);
    const node_counts c = node->counts;
    node->counts.latency_sum = node->counts.latency_most = 0;
    node->counts.latency_count = 0;
    pthread_mutex_unlock(&node->lock);
    const sk_status status = publish_facts(node, facts, gather(node, &c, facts), err);
    sk_free(facts);
    return status;
}
