/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ROS_OWN_NETWORK_H
#define SK_TESTS_ROS_OWN_NETWORK_H

#include <stdlib.h>

/* No network but this machine's own, and nobody who is not meant. */
static inline void keep_to_this_machine(void)
{
    setenv(
        "CYCLONEDDS_URI",
        "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"
        "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
        "</Discovery></Domain></CycloneDDS>",
        1);
}

#endif
