/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_TEST_REGION_H
#define SK_SERVER_TEST_REGION_H

#include "server/wish.h"
#include "track/region.h"

/* The region of a wish, for a test on one frame: a run would not count what lies outside of it. *out is null where there is none. */
sk_status sk_test_region_open(const sk_wish *wish, sk_region **out, sk_error *err) SK_MUST_CHECK;

/* Does an instance, as a line of results has it, count? Its centre is that of its turned box, its box or its keypoints. */
bool sk_test_region_holds(const sk_region *region, const sk_config_value *instance);

#endif
