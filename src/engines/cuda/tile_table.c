/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/device.h"

#include "engines/cuda/conv_tiles.h"

/* The tiles as the planning C sees them. What a kernel makes of the same rows is in conv_kernel.cuh; the two agree on the
 * shared memory, on the threads and on which channels a thread stores. */

#define MOST(a, b)     ((a) > (b) ? (a) : (b))
#define IS_LOW(floats) ((floats) == GPU_BYTES || (floats) == GPU_E4M3)
/* A thread stores 2 G neighbouring channels: of G products of 8 columns each. */
#define GROUP(wn) ((wn) / 8 < 4 ? (wn) / 8 : 4)

/* k steps; sums of k groups and of a cluster's blocks go where these were */
#define GATHER_BYTES(bm, bn, bk, wk, st, split)                                                              \
    MOST((st) * ((bm) + (bn)) * (bk)*2, (wk) > 1 || (split) > 1 ? (wk) * (bm) * ((bn) + 4) * 4 : 0)

#define GATHER(prefix, bm_, bn_, bk_, wm, wn, wk, st, ks, split_, floats_)                                   \
    {.name = prefix #ks "_" #bm_ "x" #bn_ "x" #bk_ "_w" #wm "x" #wn "_k" #wk "_s" #st "_c" #split_,          \
     .kind = (ks) == 1 ? GPU_CONFIG_POINTWISE : GPU_CONFIG_3X3,                                              \
     .bm = (bm_),                                                                                            \
     .bn = (bn_),                                                                                            \
     .bk = (floats_) == GPU_TF32 || (floats_) == GPU_EXACT ? (bk_) / 2 : (bk_),                              \
     .threads = (bm_) / (wm) * ((bn_) / (wn)) * (wk)*32,                                                     \
     .group = GROUP(wn),                                                                                     \
     .split = (split_),                                                                                      \
     .shared_bytes = GATHER_BYTES(bm_, bn_, IS_LOW(floats_) ? (bk_) / 2 : (bk_), wk, st, split_),            \
     .floats = (floats_)},
#define GATHER_MMA(bm, bn, bk, wm, wn, wk, st, ks, split)                                                    \
    GATHER("ig", bm, bn, bk, wm, wn, wk, st, ks, split, 0)
#define GATHER_MMA_BF(bm, bn, bk, wm, wn, wk, st, ks, split)                                                 \
    GATHER("bf_ig", bm, bn, bk, wm, wn, wk, st, ks, split, GPU_BRAIN)
#define GATHER_TF32(bm, bn, bk, wm, wn, wk, st, ks, split)                                                   \
    GATHER("tf32_", bm, bn, bk, wm, wn, wk, st, ks, split, GPU_TF32)
#define GATHER_F32(bm, bn, bk, wm, wn, wk, st, ks, split)                                                    \
    GATHER("f32_", bm, bn, bk, wm, wn, wk, st, ks, split, GPU_EXACT)

#define GATHER_U8(bm, bn, bk, wm, wn, wk, st, ks, split)                                                     \
    GATHER("u8_", bm, bn, bk, wm, wn, wk, st, ks, split, GPU_BYTES)
#define GATHER_F8(bm, bn, bk, wm, wn, wk, st, ks, split)                                                     \
    GATHER("f8_", bm, bn, bk, wm, wn, wk, st, ks, split, GPU_E4M3)

#define WGMMA_GATHER(name_, bm_, bn_, bk_, nwg, st, ks, then_, floats_)                                      \
    {.name = name_,                                                                                          \
     .kind = (ks) == 1 ? GPU_CONFIG_POINTWISE : GPU_CONFIG_3X3,                                              \
     .bm = (bm_),                                                                                            \
     .bn = (bn_),                                                                                            \
     .bk = (bk_),                                                                                            \
     .threads = (nwg)*128,                                                                                   \
     .group = GROUP(bn_),                                                                                    \
     .split = 1,                                                                                             \
     .shared_bytes = GATHER_BYTES(bm_, bn_, IS_LOW(floats_) ? (bk_) / 2 : (bk_), 1, st, 1),                  \
     .then = (then_),                                                                                        \
     .wgmma = 1,                                                                                             \
     .floats = (floats_)},
#define GATHER_WGMMA(bm, bn, nwg, st, ks)                                                                    \
    WGMMA_GATHER("wg" #ks "_" #bm "x" #bn "_g" #nwg "_s" #st, bm, bn, 64, nwg, st, ks, 0, 0)
#define GATHER_THEN(bm, bn, nwg, st, ks)                                                                     \
    WGMMA_GATHER("wgt" #ks "_" #bm "x" #bn "_g" #nwg "_s" #st, bm, bn, 64, nwg, st, ks, 1, 0)
#define GATHER_WGMMA_BF(bm, bn, nwg, st, ks)                                                                 \
    WGMMA_GATHER("bf_wg" #ks "_" #bm "x" #bn "_g" #nwg "_s" #st, bm, bn, 64, nwg, st, ks, 0, GPU_BRAIN)
#define GATHER_THEN_BF(bm, bn, nwg, st, ks)                                                                  \
    WGMMA_GATHER("bf_wgt" #ks "_" #bm "x" #bn "_g" #nwg "_s" #st, bm, bn, 64, nwg, st, ks, 1, GPU_BRAIN)
#define GATHER_WGMMA_U8(bm, bn, bk, nwg, st, ks)                                                             \
    WGMMA_GATHER("u8wg" #ks "_" #bm "x" #bn "x" #bk "_g" #nwg "_s" #st, bm, bn, bk, nwg, st, ks, 0, GPU_BYTES)
#define GATHER_WGMMA_F8(bm, bn, bk, nwg, st, ks)                                                             \
    WGMMA_GATHER("f8wg" #ks "_" #bm "x" #bn "x" #bk "_g" #nwg "_s" #st, bm, bn, bk, nwg, st, ks, 0, GPU_E4M3)

#define GATHER_THEN_U8(bm, bn, bk, nwg, st, ks)                                                              \
    WGMMA_GATHER("u8wgt" #ks "_" #bm "x" #bn "x" #bk "_g" #nwg "_s" #st, bm, bn, bk, nwg, st, ks, 1,         \
                 GPU_BYTES)
#define GATHER_THEN_F8(bm, bn, bk, nwg, st, ks)                                                              \
    WGMMA_GATHER("f8wgt" #ks "_" #bm "x" #bn "x" #bk "_g" #nwg "_s" #st, bm, bn, bk, nwg, st, ks, 1, GPU_E4M3)

#define HALO(name_, th_, tw_, cb_, bn_, threads_, wn, s, buffers_, wgmma_, sets_, then_, floats_)            \
    {.name = name_,                                                                                          \
     .kind = GPU_CONFIG_HALO,                                                                                \
     .bm = (th_) * (tw_),                                                                                    \
     .bn = (bn_),                                                                                            \
     .bk = (cb_),                                                                                            \
     .threads = (threads_),                                                                                  \
     .group = GROUP(wn),                                                                                     \
     .split = 1,                                                                                             \
     .stride = (s),                                                                                          \
     .th = (th_),                                                                                            \
     .tw = (tw_),                                                                                            \
     .cb = (cb_),                                                                                            \
     .buffers = (buffers_),                                                                                  \
     .sets = (sets_),                                                                                        \
     .then = (then_),                                                                                        \
     .wgmma = (wgmma_),                                                                                      \
     .floats = (floats_)},
#define MMA_HALO(prefix, th, tw, cb, bn, wm, wn, s, floats_)                                                 \
    HALO(prefix "halo_" #th "x" #tw "_c" #cb "_n" #bn "_w" #wm "x" #wn "_s" #s, th, tw, cb, bn,              \
         (th) * (tw) / (wm) * ((bn) / (wn)) * 32, wn, s, 2, 0, 1, 0, floats_)
#define HALO_MMA(th, tw, cb, bn, wm, wn, s)    MMA_HALO("", th, tw, cb, bn, wm, wn, s, 0)
#define HALO_MMA_BF(th, tw, cb, bn, wm, wn, s) MMA_HALO("bf_", th, tw, cb, bn, wm, wn, s, GPU_BRAIN)
#define HALO_U8(th, tw, cb, bn, wm, wn, s)     MMA_HALO("u8", th, tw, cb, bn, wm, wn, s, GPU_BYTES)
#define HALO_F8(th, tw, cb, bn, wm, wn, s)     MMA_HALO("f8", th, tw, cb, bn, wm, wn, s, GPU_E4M3)

#define WGHALO(prefix, th, tw, cb, bn, nwg, s, b, floats_)                                                   \
    HALO(prefix "wghalo_" #th "x" #tw "_c" #cb "_n" #bn "_g" #nwg "_s" #s "_b" #b, th, tw, cb, bn,           \
         (nwg)*128, bn, s, b, 1, 1, 0, floats_)
#define HALO_WGMMA(th, tw, cb, bn, nwg, s)                                                                   \
    WGHALO("", th, tw, cb, bn, nwg, s, 1, 0)                                                                 \
    WGHALO("", th, tw, cb, bn, nwg, s, 2, 0)
#define HALO_WGMMA_BF(th, tw, cb, bn, nwg, s)                                                                \
    WGHALO("bf_", th, tw, cb, bn, nwg, s, 1, GPU_BRAIN)                                                      \
    WGHALO("bf_", th, tw, cb, bn, nwg, s, 2, GPU_BRAIN)
#define HALO_WGMMA_U8(th, tw, cb, bn, nwg, s)                                                                \
    WGHALO("u8", th, tw, cb, bn, nwg, s, 1, GPU_BYTES)                                                       \
    WGHALO("u8", th, tw, cb, bn, nwg, s, 2, GPU_BYTES)
#define HALO_WGMMA_F8(th, tw, cb, bn, nwg, s)                                                                \
    WGHALO("f8", th, tw, cb, bn, nwg, s, 1, GPU_E4M3)                                                        \
    WGHALO("f8", th, tw, cb, bn, nwg, s, 2, GPU_E4M3)

#define SETS_HALO(prefix, th, tw, cb, bn, nwg, s, sets, columns, b, then, floats_)                           \
    HALO(prefix "wghalo_" #th "x" #tw "_c" #cb "_n" #bn "_g" #nwg "_s" #s "_b" #b "_x" #sets "_" #columns    \
                "_" #then,                                                                                   \
         th, tw, cb, bn, (nwg) * (sets)*128, bn, s, b, 1, sets, then, floats_)
#define HALO_SETS(th, tw, cb, bn, nwg, s, sets, columns, b, then)                                            \
    SETS_HALO("", th, tw, cb, bn, nwg, s, sets, columns, b, then, 0)
#define HALO_SETS_BF(th, tw, cb, bn, nwg, s, sets, columns, b, then)                                         \
    SETS_HALO("bf_", th, tw, cb, bn, nwg, s, sets, columns, b, then, GPU_BRAIN)

#define HALO_SETS_U8(th, tw, cb, bn, nwg, s, sets, columns, b, then)                                         \
    SETS_HALO("u8", th, tw, cb, bn, nwg, s, sets, columns, b, then, GPU_BYTES)
#define HALO_SETS_F8(th, tw, cb, bn, nwg, s, sets, columns, b, then)                                         \
    SETS_HALO("f8", th, tw, cb, bn, nwg, s, sets, columns, b, then, GPU_E4M3)
#define WALKING(prefix, bm_, bn_, cb_, nwg, sets_, b, floats_)                                               \
    {.name = prefix "walk_" #bm_ "x" #bn_ "_c" #cb_ "_g" #nwg "_x" #sets_ "_b" #b,                           \
     .kind = GPU_CONFIG_WALK,                                                                                \
     .bm = (bm_),                                                                                            \
     .bn = (bn_),                                                                                            \
     .bk = (cb_),                                                                                            \
     .threads = (nwg) * (sets_)*128,                                                                         \
     .group = GROUP(bn_),                                                                                    \
     .split = 1,                                                                                             \
     .stride = 1,                                                                                            \
     .cb = (cb_),                                                                                            \
     .buffers = (b),                                                                                         \
     .sets = (sets_),                                                                                        \
     .wgmma = 1,                                                                                             \
     .floats = (floats_)},
#define WALK(bm, bn, cb, nwg, sets, b)    WALKING("", bm, bn, cb, nwg, sets, b, 0)
#define WALK_BF(bm, bn, cb, nwg, sets, b) WALKING("bf_", bm, bn, cb, nwg, sets, b, GPU_BRAIN)
#define WALK_U8(bm, bn, cb, nwg, sets, b) WALKING("u8", bm, bn, cb, nwg, sets, b, GPU_BYTES)
#define WALK_F8(bm, bn, cb, nwg, sets, b) WALKING("f8", bm, bn, cb, nwg, sets, b, GPU_E4M3)

#define SECTION(name, kind)               GPU_TILES_##name(kind)
static const gpu_config table[] = {GPU_TILE_SECTIONS(SECTION)};

int32_t gpu_config_count(void)
{
    return gpu_has_tiles() ? (int32_t)(sizeof table / sizeof table[0]) : 0;
}

const gpu_config *gpu_config_at(int32_t index)
{
    return &table[index];
}

int32_t gpu_config_index(const gpu_config *config)
{
    return (int32_t)(config - table);
}
