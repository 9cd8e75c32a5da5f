/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/ros_messages.h"
#include "mutate.h"
#include "ros/param_services.h"

#include <string.h>

/* What strangers on the network may send to a node's services of parameters, and people on the command line. The first byte says
 * to whom: a service, one that does not succeed in bringing a change about, or a rule of the command line. */

static sk_status apply(void *context, bool anew, sk_error *err)
{
    (void)anew;
    return *(const bool *)context ? SK_OK : sk_fail(err, SK_ERR_ARG, "no");
}

/* Every parameter is there and is what its row says. */
static void check_params(sk_params *params)
{
    sk_param_about about;
    int32_t n = 0;
    for (; sk_params_at(params, n, &about); n++) {
        SK_FUZZ_CHECK(about.value.type == about.row.type && about.value.text);
        if (about.row.type == SK_NODE_DOUBLE && about.row.least < about.row.most)
            SK_FUZZ_CHECK(about.value.real >= about.row.least && about.value.real <= about.row.most);
    }
    SK_FUZZ_CHECK(n > 20 && n <= SK_PARAM_MOST);
}

static void ask(sk_params *params, sk_param_service service, bool succeeds, const uint8_t *data, size_t size)
{
    static const char *const replies[SK_PARAM_SERVICES] = {
        "rcl_interfaces/srv/DescribeParameters_Response",
        "rcl_interfaces/srv/GetParameterTypes_Response",
        "rcl_interfaces/srv/GetParameters_Response",
        "rcl_interfaces/srv/ListParameters_Response",
        "rcl_interfaces/srv/SetParameters_Response",
        "rcl_interfaces/srv/SetParametersAtomically_Response"};
    const sk_param_owner owner = {params, apply, &succeeds};
    int32_t changed[SK_PARAM_MOST], n_changed = 0;
    union {
        double aligned[64];
        char room[512];
    } message;
    sk_cdr_writer reply = {0};
    if (sk_param_answer(&owner, service, data, size, &reply, changed, &n_changed, NULL) == SK_OK) {
        const sk_msg_layout *layout = sk_msg_layout_find(replies[service]);
        sk_arena *arena = NULL;
        sk_cdr_reader in;
        SK_FUZZ_CHECK(layout && layout->bytes <= sizeof message);
        SK_FUZZ_CHECK(succeeds || n_changed == 0);
        SK_FUZZ_CHECK(sk_arena_open(4096, &arena, NULL) == SK_OK);
        SK_FUZZ_CHECK(sk_cdr_reader_begin(&in, reply.data, reply.length, NULL) == SK_OK);
        (void)sk_cdr_get_u64(&in), (void)sk_cdr_get_i64(&in);
        SK_FUZZ_CHECK(sk_msg_get(layout, &in, arena, &message, NULL) == SK_OK);
        sk_arena_close(&arena);
    }
    sk_cdr_writer_free(&reply);
}

static void say(sk_params *params, const uint8_t *data, size_t size)
{
    char whole[SK_ROS_NAME];
    sk_ros_names names;
    char *rule = sk_strndup((const char *)data, size);
    if (!rule)
        return;
    (void)!sk_params_put_rule(params, rule, NULL);
    if (sk_ros_names_init(&names, "node", "/space", NULL) == SK_OK) {
        (void)!sk_ros_names_remap(&names, rule, NULL);
        (void)!sk_ros_names_resolve(&names, rule, whole, NULL);
        (void)sk_ros_names_meant(&names, rule);
    }
    sk_free(rule);
}

SK_FUZZ_MUTATE(sk_mutate_fields)

SK_FUZZ(node_requests, data, size)
{
    sk_params *params = NULL;
    if (size < 1 || sk_params_open(&params, NULL) != SK_OK)
        return;
    const uint8_t whom = data[0];
    if (whom % 16 < 2 * SK_PARAM_SERVICES)
        ask(params, (sk_param_service)(whom % 16 % SK_PARAM_SERVICES), whom % 16 < SK_PARAM_SERVICES,
            data + 1, size - 1);
    else
        say(params, data + 1, size - 1);
    check_params(params);
    sk_params_close(&params);
}
