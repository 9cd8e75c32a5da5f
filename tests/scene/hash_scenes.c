/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_hash.h"

/* Prints the hashes of the known scenes; fails when one is not as known. Compiled by test_compilers.sh in many ways. */
int main(void)
{
    int wrong = 0;
    for (int i = 0; i < KNOWN_SCENES; i++) {
        uint64_t hash = hash_scene(&known_scenes[i]);
        printf("%d: 0x%016llx%s\n", i, (unsigned long long)hash,
               hash == known_scenes[i].hash ? "" : " WRONG");
        wrong += hash != known_scenes[i].hash;
    }
    return wrong > 0;
}
