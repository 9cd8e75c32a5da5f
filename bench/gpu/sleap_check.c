/* SPDX-License-Identifier: Apache-2.0 */
#include "sleap_check.h"

#include "engines/cropped.h"
#include "engines/painted_maps.h"

extern const sk_engine gpu_engine;

static int check_peaks(bool small)
{
    static const int sizes[][4] = {
        {8, 2, 30, 43}, {8, 3, 96, 96}, {24, 2, 192, 172}, {16, 1, 512, 384}, {8, 1, 3, 5}};
    painter p = {.engine = &gpu_engine, .random = {99}};
    for (int k = 0; k < (small ? 1 : 5); k++) {
        p.nodes = sizes[k][0];
        p.batch = sizes[k][1];
        p.height = sizes[k][2];
        p.width = sizes[k][3];
        for (int round = 0; round < (small || p.nodes > 8 ? 6 : 12); round++)
            if (!painted_round(&p, round)) {
                printf("BAD peaks in %d maps of %dx%d, round %d: %s\n", p.nodes, p.width, p.height, round,
                       p.problem);
                return 1;
            }
    }
    printf("peaks: %d tables of the highest, %d of all (%d rows, %d line scores) are the CPU's bit for bit, "
           "%d images came "
           "whole\n",
           p.tables[0], p.tables[1], p.rows[0] + p.rows[1], p.lines, p.wholes[0] + p.wholes[1]);
    return 0;
}

static int check_frames(bool small)
{
    framed f = {.engine = &gpu_engine, .random = {5}};
    for (int round = 0; round < (small ? 12 : 96); round++)
        if (!framed_round(&f, round, small ? 40 : 333, small ? 30 : 257)) {
            printf("BAD frames by SLEAP's rules, round %d: %s\n", round, f.problem);
            return 1;
        }
    printf("SLEAP's frames: %d ways of fitting them in are the CPU's bit for bit\n", f.compared);
    return 0;
}

/* Cut on the device, of both families, upright and turned, with neighbours painted over. */
static int check_crops(bool small)
{
    cropped c = {.engine = &gpu_engine, .random = {9}};
    for (int round = 0; round < (small ? 20 : 240); round++)
        if (!(round % 5 == 4   ? cropped_boxes(&c, round / 5, small ? 60 : 333, small ? 50 : 257)
              : round % 5 == 3 ? cropped_turned(&c, round / 5, small ? 60 : 333, small ? 50 : 257)
                               : cropped_round(&c, round, small ? 40 : 333, small ? 30 : 257))) {
            printf("BAD crops, round %d: %s\n", round, c.problem);
            return 1;
        }
    printf("crops: %d, cut in %d ways, are the CPU's bit for bit\n", c.crops, c.compared);
    return 0;
}

int check_sleap(bool small)
{
    return check_peaks(small) + check_frames(small) + check_crops(small);
}
