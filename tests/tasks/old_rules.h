/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_OLD_RULES_H
#define SK_TESTS_OLD_RULES_H

/* The recorded rows of oriented boxes are of Ultralytics 8.3, which clipped centre and sides to the frame like the corners
 * of a box. Newer releases, and skitter, do not. */
static inline void clip_as_before(float obb[4], int width, int height)
{
    for (int k = 0; k < 4; k++) {
        float most = (float)(k % 2 ? height : width);
        obb[k] = obb[k] < 0 ? 0 : obb[k] > most ? most : obb[k];
    }
}

#endif
