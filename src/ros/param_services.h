/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_PARAM_SERVICES_H
#define SK_ROS_PARAM_SERVICES_H

#include "formats/cdr.h"
#include "ros/params.h"
#include "ros/ros_graph.h"

/* The six services by which `ros2 param` and rqt read and change a node's parameters, and /parameter_events, which tells of
 * changes. */
typedef struct sk_param_services sk_param_services;

typedef enum sk_param_service {
    SK_PARAM_DESCRIBE,
    SK_PARAM_GET_TYPES,
    SK_PARAM_GET,
    SK_PARAM_LIST,
    SK_PARAM_SET,
    SK_PARAM_SET_ATOMICALLY,
    SK_PARAM_SERVICES
} sk_param_service;

/* Who brings changes about. `anew`: something changed that the core has to be opened anew for. A failure is told to whoever asked
 * for the change; the parameters are then what they were before. */
typedef struct sk_param_owner {
    sk_params *params;
    sk_status (*apply)(void *context, bool anew, sk_error *err);
    void *context;
} sk_param_owner;

/* The reply to a request, both as bytes with the two numbers that a call begins with. `changed` (room for one of each parameter)
 * gets the numbers of parameters that have another value now. SK_ERR_FORMAT for bytes that are no request. */
sk_status sk_param_answer(const sk_param_owner *owner, sk_param_service service, const void *request,
                          size_t bytes, sk_cdr_writer *reply, int32_t *changed, int32_t *n_changed,
                          sk_error *err) SK_MUST_CHECK;
#define SK_PARAM_MOST 80

/* `owner` is copied, the graph borrowed; `node` is the node's whole name. */
sk_status sk_param_services_open(sk_ros_graph *graph, const sk_param_owner *owner, const char *node,
                                 sk_param_services **out, sk_error *err) SK_MUST_CHECK;
void sk_param_services_close(sk_param_services **services);
/* Answers one request of each kind that has come, so that a flood of them holds up nothing else for long. */
void sk_param_services_turn(sk_param_services *services);

#endif
