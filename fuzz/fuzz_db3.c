/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "mutate.h"
#include "use_bag.h"

/* A bag's SQLite file of a stranger. */

SK_FUZZ_MUTATE(sk_mutate_fields)

SK_FUZZ(db3, data, size)
{
    sk_use_bag("db3", sk_bag_file_open_db3, data, size);
}
