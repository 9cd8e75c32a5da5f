/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/pull.h"
#include "engines/cuda/session.h"

enum {
    SMALL = 256 << 10, /* bytes that a kernel writes before a copy engine has begun */
    PART = 4096
};

bool gpu_pulls(const gpu_session *s)
{
    return !s->overlapped && !(s->plan.without & GPU_WITHOUT_PULL);
}

int gpu_download(gpu_session *s, int32_t slot, size_t offset, size_t bytes, size_t rows, size_t pitch)
{
    uint8_t *host = s->slots[slot].host + offset, *device = s->slots[slot].device + offset;
    const gpu_piece piece = {.to = host, .from = device, .bytes = bytes, .rows = rows, .pitch = pitch};
    if (gpu_pulls(s) && bytes * rows <= SMALL && ((offset | pitch) & 15) == 0)
        return gpu_pull(&piece, 1, PART, NULL, 0, s->down);
    return rows == 1 ? gpu_copy_down(host, device, bytes, s->down)
                     : gpu_copy_down_2d(host, device, pitch, bytes, rows, s->down);
}
