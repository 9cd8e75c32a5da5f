/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/node.h"

#include "app/node_settings.h"
#include "base/clock.h"
#include "base/memory.h"
#include "ros/node_inside.h"

#include <stdio.h>
#include <string.h>

#define TURN_NS 100000000 /* how soon an interruption is noticed */

/* --- opening --- */

static sk_status open_core(sk_ros_node *node, sk_error *err)
{
    SK_TRY(node_open_core(node, &node->core, err));
    return node_begin_telling(node, err);
}

static void close_core(sk_ros_node *node)
{
    node_end_telling(node);
    sk_node_core_close(&node->core);
}

/* What may change while the node runs, for the other thread. */
static sk_status note_live(sk_ros_node *node, sk_error *err)
{
    const sk_params *params = node->settings->params;
    char *frame_id = sk_strdup(sk_params_text(params, "frame_id"));
    if (!frame_id)
        return sk_fail_memory(err, strlen(sk_params_text(params, "frame_id")));
    pthread_mutex_lock(&node->lock);
    char *before = node->next_frame_id;
    node->annotate = sk_params_truth(params, "publish_annotated");
    node->next_frame_id = frame_id;
    pthread_mutex_unlock(&node->lock);
    sk_free(before);
    return SK_OK;
}

/* Another core in the place of the one that is open, which comes back where results of the other cannot be told. Where even that
 * fails, the node ends: it would take images and say nothing. */
static sk_status exchange_core(sk_ros_node *node, sk_node_core *next, sk_error *err)
{
    sk_node_core *before = node->core;
    node_end_telling(node);
    node->core = next;
    const sk_status status = node_begin_telling(node, err);
    if (status != SK_OK) {
        node_end_telling(node);
        node->core = before;
        before = next;
        node->broken.code = node_begin_telling(node, &node->broken);
    }
    sk_node_core_close(&before);
    return status;
}

/* While the core is opened anew, nothing is looked at; where that fails, all is as it was. */
sk_status node_apply(void *context, bool anew, sk_error *err)
{
    sk_ros_node *node = context;
    char skip[32];
    if (anew) {
        sk_node_core *next = NULL;
        SK_TRY(node_open_core(node, &next, err));
        SK_TRY(exchange_core(node, next, err));
        sk_node_core_listen(node->core);
    }
    SK_TRY(note_live(node, err));
    snprintf(skip, sizeof skip, "%lld", (long long)sk_params_number(node->settings->params, "frame_skip"));
    return sk_node_core_set(node->core, "frame_skip", skip, err);
}

static sk_status open_services(sk_ros_node *node, sk_error *err)
{
    const sk_param_owner owner = {node->settings->params, node_apply, node};
    sk_ros_names_whole(node->settings->names, node->name);
    return sk_param_services_open(node->graph, &owner, node->name, &node->services, err);
}

/* The topic of the images. Compressed ones: image_transport's rules. */
static sk_status name_input(sk_ros_node *node, sk_error *err)
{
    const char *topic = sk_params_text(node->settings->params, "input_topic");
    return node->compressed
               ? sk_ros_names_resolve_transport(node->settings->names, topic, "compressed", node->input, err)
               : sk_ros_names_resolve(node->settings->names, topic, node->input, err);
}

static sk_status open_topics(sk_ros_node *node, sk_error *err)
{
    const sk_params *params = node->settings->params;
    const sk_pipeline_info *about = sk_node_core_about(node->core);
    const int32_t depth = (int32_t)sk_params_number(params, "qos_depth");
    const sk_dds_quality in = {.reliable = node->every,
                               .every = node->every,
                               .transient_local =
                                   strcmp(sk_params_text(params, "qos_durability"), "transient_local") == 0,
                               .depth = depth};
    const sk_dds_quality out = {.reliable = true, .every = node->every, .depth = node->every ? 64 : 10};
    const sk_dds_quality plain = {.reliable = true, .depth = 10};
    const sk_dds_quality kept = {.reliable = true, .transient_local = true, .depth = 1000};
    sk_ros_graph *g = node->graph;
    SK_TRY(sk_ros_graph_publish(g, "/rosout", "rcl_interfaces/msg/Log", &kept, &node->out.log, err));
    SK_TRY(sk_ros_graph_publish(g, "~/detections", "vision_msgs/msg/Detection2DArray", &out,
                                &node->out.detections, err));
    if (about->n_keypoints)
        SK_TRY(sk_ros_graph_publish(g, "~/keypoints", "skitter_msgs/msg/InstanceArray", &out,
                                    &node->out.keypoints, err));
    if (sk_node_settings_follows(sk_params_settings(params)))
        SK_TRY(
            sk_ros_graph_publish(g, "~/tracks", "skitter_msgs/msg/TrackArray", &out, &node->out.tracks, err));
    SK_TRY(
        sk_ros_graph_publish(g, "~/annotated", "sensor_msgs/msg/Image", &plain, &node->out.annotated, err));
    SK_TRY(sk_ros_graph_publish(g, "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", &plain,
                                &node->out.diagnostics, err));
    return sk_ros_graph_subscribe_whole(
        g, node->input, node->compressed ? "sensor_msgs/msg/CompressedImage" : "sensor_msgs/msg/Image", &in,
        &node->images, err);
}

static sk_status open_node(sk_ros_node *node, sk_error *err)
{
    const sk_ros_node_settings *s = node->settings;
    const sk_ros_graph_settings how = {.domain = s->domain, .humble = s->humble, .messages = s->messages};
    node->every = strcmp(sk_params_text(s->params, "qos_reliability"), "reliable") == 0;
    node->compressed = strcmp(sk_params_text(s->params, "input_transport"), "compressed") == 0;
    SK_TRY(note_live(node, err));
    SK_TRY(name_input(node, err));
    SK_TRY(sk_dds_load(err)); /* before a model takes its time */
    if (s->track)
        sk_node_settings_follow(sk_params_settings(s->params), true);
    SK_TRY(open_core(node, err));
    SK_TRY(sk_ros_graph_open(&how, s->names, &node->graph, err));
    SK_TRY(open_topics(node, err));
    SK_TRY(open_services(node, err));
    return sk_ros_graph_announce(node->graph, err);
}

static void close_node(sk_ros_node *node)
{
    close_core(node);
    sk_param_services_close(&node->services);
    sk_ros_graph_close(&node->graph);
    node_free_images(node);
    sk_cdr_writer_free(&node->writer);
    sk_cdr_writer_free(&node->log_writer);
    sk_free_all(node->drawn, node->found, node->frame_id, node->next_frame_id);
    pthread_mutex_destroy(&node->log_lock);
    pthread_mutex_destroy(&node->lock);
}

/* --- running --- */

static void say_hello(sk_ros_node *node)
{
    const sk_pipeline_info *about = sk_node_core_about(node->core);
    const sk_ros_names *names = node->settings->names;
    char found[SK_ROS_NAME]; /* as others see it: remapped */
    if (sk_ros_names_resolve(names, "~/detections", found, NULL) != SK_OK)
        found[0] = '\0';
    node_say(node, SK_ROS_NODE_INFO, "%s is active on domain %u: %s -> %s; %s on %s (%s), %s", node->name,
             (unsigned)node->settings->domain, node->input, found, about->models[0]->path, about->runtime,
             about->device, node->every ? "every image (reliable)" : "the newest image (best effort)");
}

/* Somebody publishes images that the settings do not let through, or listens in vain: say it, once each. */
static void note_refusals(sk_ros_node *node)
{
    const char *what = sk_subscriber_refused(node->images);
    if (what)
        node_say(node, SK_ROS_NODE_WARNING,
                 "a publisher of %s offers another %s than qos_%s asks for, so nothing comes from it; "
                 "qos_reliability:=best_effort and qos_durability:=volatile take what anybody offers",
                 node->input, what, strcmp(what, "durability") == 0 ? "durability" : "reliability");
    what = sk_publisher_refused(node->out.detections);
    if (what)
        node_say(node, SK_ROS_NODE_WARNING,
                 "a subscriber of ~/detections asks for another %s than the node offers (reliable, volatile)",
                 what);
}

static sk_status turn(sk_ros_node *node, sk_error *err)
{
    SK_TRY(node_take_images(node, err));
    sk_param_services_turn(node->services);
    if (node->broken.code != SK_OK) {
        if (err)
            *err = node->broken;
        return node->broken.code;
    }
    node_note_quiet(node);
    const int64_t now = sk_clock_ns();
    const int64_t period = (int64_t)(sk_params_real(node->settings->params, "diagnostics_period") * 1e9);
    if (period <= 0 || now - node->last_diagnosis_ns < period)
        return SK_OK;
    node->last_diagnosis_ns = now;
    note_refusals(node);
    sk_error problem = {0};
    if (node_publish_diagnosis(node, &problem) != SK_OK) /* nobody who only listens ends the node */
        node_complain(node, problem.message);
    return SK_OK;
}

sk_status sk_ros_node_run(const sk_ros_node_settings *settings, sk_ros_node_report *report, sk_error *err)
{
    sk_ros_node *node = sk_calloc(1, sizeof *node);
    sk_status status = SK_OK;
    *report = (sk_ros_node_report){0};
    if (!node)
        return sk_fail_memory(err, sizeof *node);
    pthread_mutex_init(&node->lock, NULL);
    pthread_mutex_init(&node->log_lock, NULL);
    node->settings = settings;
    SK_TRY_GOTO(open_node(node, err));
    say_hello(node);
    sk_node_core_listen(node->core);
    while (status == SK_OK && !settings->interrupted(settings->context)) {
        sk_participant_wait(sk_ros_graph_participant(node->graph), TURN_NS);
        status = turn(node, err);
    }
    node_end_telling(node);
    const node_counts *c = &node->counts;
    *report = (sk_ros_node_report){.received = c->received, .published = c->published, .failed = c->failed};
done:
    report->left_behind = node->left_behind;
    close_node(node);
    sk_free(node);
    return status;
}
