/* SPDX-License-Identifier: Apache-2.0 */
#include "build_info.h"

#include <stdio.h>

int main(void)
{
    printf("skitter %s\n", SK_BUILD_VERSION);
    return 0;
}
