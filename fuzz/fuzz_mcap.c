/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "mutate.h"
#include "use_bag.h"

/* A bag's MCAP file of a stranger. */

SK_FUZZ_MUTATE(sk_mutate_fields)

SK_FUZZ(mcap, data, size)
{
    sk_use_bag("mcap", sk_bag_file_open_mcap, data, size);
}
