/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/discovery.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The same text as rmw_cyclonedds makes, so that both find each other: indexes of participants that may be tried one by one. */
#define MOST_PARTICIPANTS 32

typedef enum reach { SUBNET, LOCALHOST, OFF, SYSTEM_DEFAULT } reach;

static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text && text[0] ? text : NULL;
}

static sk_status read_range(reach *out, sk_error *err)
{
    static const char *const words[] = {"SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT"};
    const char *text = variable("ROS_AUTOMATIC_DISCOVERY_RANGE"), *local = variable("ROS_LOCALHOST_ONLY");
    *out = local && strcmp(local, "1") == 0 ? LOCALHOST : SUBNET;
    if (!text || *out == LOCALHOST) /* as ROS has it: the older one counts where it is set */
        return SK_OK;
    for (int i = 0; i < 4; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *out = (reach)i;
            return SK_OK;
        }
    return sk_fail(err, SK_ERR_ARG,
                   "ROS_AUTOMATIC_DISCOVERY_RANGE=%.60s is none of SUBNET, LOCALHOST, OFF, SYSTEM_DEFAULT",
                   text);
}

/* Names and addresses, which go into XML. */
static sk_status append_peers(sk_text *out, const char *list, sk_error *err)
{
    for (const char *at = list; *at; at += *at == ';') {
        const size_t length = strcspn(at, ";");
        for (size_t i = 0; i < length; i++)
            if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-[]%/", at[i]))
                return sk_fail(err, SK_ERR_ARG, "ROS_STATIC_PEERS=%.100s: addresses with ';' between", list);
        if (length)
            sk_text_appendf(out, "<Peer address=\"%.*s\"/>", (int)length, at);
        at += length;
    }
    return SK_OK;
}

sk_status sk_ros_discovery(sk_text *out, sk_error *err)
{
    const char *peers = variable("ROS_STATIC_PEERS"), *uri = variable("CYCLONEDDS_URI");
    reach range = SUBNET;
    SK_TRY(read_range(&range, err));
    if (range != SYSTEM_DEFAULT) {
        sk_text_append(out, "<CycloneDDS><Domain>");
        if (range != SUBNET)
            sk_text_append(out, "<General><AllowMulticast>false</AllowMulticast></General>");
        if (range == OFF)
            sk_text_appendf(
                out, "<Discovery><ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_%ld</Tag>",
                (long)getpid());
        else
            sk_text_appendf(out,
                            "<Discovery><ParticipantIndex>auto</ParticipantIndex>"
                            "<MaxAutoParticipantIndex>%d</MaxAutoParticipantIndex>",
                            MOST_PARTICIPANTS);
        if (range != OFF && (peers || range == LOCALHOST)) {
            sk_text_append(out, "<Peers>");
            if (range == LOCALHOST)
                sk_text_append(out, "<Peer address=\"localhost\"/>");
            if (peers)
                SK_TRY(append_peers(out, peers, err));
            sk_text_append(out, "</Peers>");
        }
        sk_text_append(out, "</Discovery></Domain></CycloneDDS>,");
    }
    sk_text_append(out, uri ? uri : "");
    return sk_text_status(out, err);
}
