/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_ARGS_H
#define SK_ENGINES_CUDA_ARGS_H

#include "kernels/nv12_formula.h"

#include <stddef.h>
#include <stdint.h>

/* What is handed to kernels: bare structures, the same for the C that plans, the CUDA that computes and the host loops
 * that stand in for it in tests.
 *
 * Values live on the device in one of two forms, or both:
 *   map    NHWC, fp16 (fp32 in f32 sessions, bf16 in bf16 ones), channel pitch a multiple of 8; a value may be a range of channels of a
 *          larger map, so concatenating and splitting channels costs nothing. Channels between a value's last and the
 *          next multiple of 8 hold zeros.
 *   bytes  the same in i8 and fp8 sessions with a byte a channel, pitch and beginning of a value multiples of 16; channels that are
 *          no value's hold anything, which is a number in fp8 as well
 *   dense  row-major in the graph's own type and order, fp32 where the graph says f32
 *
 * Every structure begins with its addresses: p[0] is what is written, the others are read unless said. */

enum { GPU_F32 = 1, GPU_F16 = 2, GPU_U8 = 3, GPU_BF16 = 4, GPU_F8 = 5 }; /* element type of maps */

/* Activations fused into convolutions. */
enum { GPU_ACT_NONE = 0, GPU_ACT_SILU, GPU_ACT_RELU, GPU_ACT_LEAKY, GPU_ACT_SIGMOID };

#define GPU_MAX_POINTERS 6
#define GPU_RANK         8

/* What is bytes at the end of a convolution, and how numbers become bytes and bytes numbers. */
typedef struct gpu_bytes {
    int32_t out, residual; /* 1: bytes; 0: as the session's maps */
    int32_t half;  /* the end is SiLU to bytes, bytes added after it or halves before it: sums come halved */
    int32_t f8;    /* 1: bytes are e4m3: written is number * gain, added is number * gain; the zeros are 0 */
    uint32_t fill; /* the input's zero, four times */
    float gain, zero; /* written: 255 times what is left of number * gain + zero in [0, 1] */
    float residual_gain, residual_zero; /* added: (byte - zero) * gain */
} gpu_bytes;

/* Convolution on the tensor cores: p = out, in, weights (packed), bias f32, residual (may be null). Of bytes
 * (GPU_BYTES, GPU_E4M3): bias is f32 [cout][2], what sums are multiplied with and what is then added. */
typedef struct gpu_conv_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, oh, ow, m; /* m = n * oh * ow */
    int32_t stride, pad_y, pad_x;
    int32_t c8, ldi, ldo, ldr; /* input channels / 8; channel pitches of input, output and residual */
    int32_t cin8;              /* e4m3: input channels rounded up to 8: what lies behind may be no number */
    int32_t cout8;             /* output channels rounded up to 8: what is stored */
    int32_t kpad, nk;          /* weights: row length; k tiles */
    int32_t act, residual_before;
    int32_t residual_half; /* 1x1: the residual has half the rows and columns, each of its pixels for four */
    float alpha;
    int32_t tx, ty, tiles, blocks,
        buffers;         /* halo kernels: tiles across, down, in all; channel blocks; input buffers */
    int32_t plane, cout; /* 1x1, plane > 0: not a map is written but f32 [n][cout][plane] */
    /* then8 > 0: what this convolution makes goes through a 1x1 convolution to so many channels (rounded up to 8) before it is
     * written; `plane`, `cout` and `ldo` are of that one. Its bias (f32) and weights [then_rows][tile's channels] lie behind the
     * first's, `then_at` bytes from p[2] on. */
    int32_t then8, then_rows, then_at, then_act;
    float then_alpha;
    gpu_bytes bytes;
} gpu_conv_args;

/* First convolution, 3x3 stride 2 from pictures of 4 channels, fp16 or bytes, or of 3 bytes: p = out, in, weights
 * (fragments), bias. */
typedef struct gpu_first_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, oh, ow, pad_y, pad_x, ldo;
    int32_t pixel_bytes;
    int32_t act, type; /* type: of what is written, unless bytes */
    float alpha;
    float gain; /* 8-bit input: a pixel's value is byte * gain before the (adapted) weights … */
    float more; /* … and this much more, outside the picture as well, which the bias takes back */
    gpu_bytes bytes;
} gpu_first_args;

/* Depthwise k x k: p = out, in, weights [k * k][c], bias, residual. Of bytes (type GPU_U8): 3x3, stride 1, weights int8, a word for
 * each channel of a row, [3][c][4], the fourth 0; bias as of gpu_conv_args; what lies outside is bytes.fill. Of e4m3 (GPU_F8): the same
 * with weights f32 [9][c]. */
typedef struct gpu_depthwise_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, oh, ow, k, stride, pad_y, pad_x, c8, ldi, ldo, ldr;
    int32_t act, residual_before, type;
    float alpha;
    gpu_bytes bytes;
} gpu_depthwise_args;

/* Any convolution, one output value at a time: p = out, in, weights f32 [cout][kh][kw][cin/groups], bias f32 (may be
 * null), residual (may be null). */
typedef struct gpu_conv_any_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, oh, ow, cin, cout, groups, kh, kw, stride_y, stride_x, dilation_y, dilation_x, pad_y,
        pad_x;
    int32_t ldi, ldo, ldr, type, act, residual_before, residual_half;
    float alpha;
} gpu_conv_any_args;

/* Transposed convolution: p = out, in, weights f32 [kh][kw][cin][cout8], bias f32. One element: 8 channels. */
typedef struct gpu_deconv_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, oh, ow, cin, cout, kh, kw, stride_y, stride_x, pad_y, pad_x, ldi, ldo, type, act;
    float alpha;
} gpu_deconv_args;

/* A map of 4 x c8 chunks of channels to one of twice the size: chunk group 2 py + px goes to odd or even rows and columns:
 * p = out, in. One element: 8 channels of one output pixel. */
typedef struct gpu_shuffle_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, c8, ldi, ldo, type;
} gpu_shuffle_args;

/* Pooling, 8 channels at a time: p = out, in. */
typedef struct gpu_pool_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, oh, ow, c8, kh, kw, stride_y, stride_x, pad_y, pad_x, pad_h, pad_w, ldi, ldo, type;
    int32_t average, include_pad;
} gpu_pool_args;

/* Three max pools of odd size k, stride 1, one after the other: p = first out, in, second out (written), third out
 * (written). */
typedef struct gpu_pool_chain_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, c8, k, ldi, ldo[3], type;
} gpu_pool_chain_args;

/* Resize by tables: p = out, in, rows int32 [oh][2], columns int32 [ow][2], row weights f32 [oh], column weights [ow] of the
 * second tap. */
typedef struct gpu_resize_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, h, w, oh, ow, c8, ldi, ldo, type, linear;
} gpu_resize_args;

/* A channel range copied to another place, value by value; zeros to the next multiple of 8 where `zeros`: p = out, in. */
typedef struct gpu_copy_args {
    void *p[GPU_MAX_POINTERS];
    int64_t pixels;
    int32_t c, zeros, ldi, ldo, type;
} gpu_copy_args;

/* Element by element on maps, 8 channels at a time: p = out, a, b. */
typedef struct gpu_map_args {
    void *p[GPU_MAX_POINTERS];
    int64_t pixels;
    int32_t c8, ldo, lda, ldb, type;
    int32_t unary, binary; /* sk_unary of a, or sk_binary of a and b */
    float alpha, beta;
} gpu_map_args;

/* Between forms: dense f32 [n][c][h*w] and a map. p = out, in. */
typedef struct gpu_form_args {
    void *p[GPU_MAX_POINTERS];
    int64_t plane; /* h * w */
    int32_t n, c, ld, type;
} gpu_form_args;

/* Pictures to the network's input: p = out, in. out: map of pitch `ld` (type f16/f32), or, type 0, bytes with pitch 4.
 * value = byte * gain[c] - shift[c]. `planes`: the input is f32 [n][c][h][w] and copied. */
typedef struct gpu_input_args {
    void *p[GPU_MAX_POINTERS];
    int64_t row_bytes, picture_bytes;
    int32_t n, h, w, c, ld, type, planes;
    float gain[4], shift[4];
} gpu_input_args;

/* Frames into the network's input: p = out, in, columns int32 [rw][2] (pixels), rows int32 [rh][2], weights of columns int16
 * [rw][2], of rows int16 [rh][2]. Output as of gpu_input_args.
 * Crops of one frame instead: p = out, in, and for each a gpu_box_crop, then for each `table_bytes` of the four tables, with room
 * for w columns and h rows, then the boxes that are painted over. */

/* How a crop lies where it is turned, and what is painted over in it: `n_boxes` of the list, the first of which stays. */
typedef struct gpu_crop_view {
    float middle_x, middle_y, half_x, half_y, cosine, sine; /* turned: its middle in the picture, and sizes */
    int32_t turned, first_box, n_boxes, unused;
} gpu_crop_view;

typedef struct gpu_crop_box {
    float x, y, half_width, half_height, cosine, sine; /* in the crop's pixels */
} gpu_crop_box;

typedef struct gpu_box_crop {
    int32_t x, y; /* first pixel in the frame; turned: 0 */
    int32_t left, top, rh, rw, mode;
    int32_t unused;
    gpu_crop_view view;
} gpu_box_crop;

/* The same for SLEAP's crops: left and top of each. */
typedef struct gpu_cut_crop {
    float left, top;
    gpu_crop_view view;
} gpu_cut_crop;

typedef struct gpu_letterbox_args {
    void *p[GPU_MAX_POINTERS];
    int64_t row_bytes, picture_bytes;
    int32_t n, h, w, left, top, rh, rw, border;
    int32_t frame_h, frame_w, channels, swap, nv12;
    sk_nv12_weights weights;
    int32_t mode; /* 0 copied, 1 linear, 2 the mean of 2 x 2 */
    int32_t c, ld, type;
    int32_t table_bytes; /* crops; 0: frames */
    int32_t most_boxes;  /* crops: room in the list of what is painted over */
    float gain[4], shift[4];
    gpu_crop_view view;        /* of the crop in hand … */
    const gpu_crop_box *boxes; /* … and its boxes */
} gpu_letterbox_args;

/* Places of one level whose best score passes: p = table, scores, up to three other maps. An image's part of the table is 4
 * words, the first of them the count, then rows of [place, scores, others …]. */
typedef struct gpu_gather_args {
    void *p[GPU_MAX_POINTERS];
    int64_t image_words;
    int32_t n, places, first, classes, n_others;
    int32_t lds, ld[3], c[3];
    int32_t row_words, capacity, type;
    float bound;
} gpu_gather_args;

/* The counts of all images to zero: p = table. */
typedef struct gpu_zero_args {
    void *p[GPU_MAX_POINTERS];
    int64_t image_words;
    int32_t n;
} gpu_zero_args;

/* Work space of what is found, for each image one after the other; places in words of 4 bytes. [0] is how many candidates
 * there are, [1] how many stay. Keys (64 bits) say score and place and sort ascending from the best on: as they were found,
 * by rank, and those that stay. Boxes (4), angles and classes lie by place. By rank, classes apart, lie corners (4) and the
 * masks of the first tile; of oriented boxes, as columns of `total`, centre, covariance and reach, and which are dropped.
 * `stay`: ranks of those that stay. One-to-one heads: [2] is how many pairs of place and class there are, `pairs` their keys
 * (score, and rank of the place times classes plus class); kept are the best of them. */
typedef struct gpu_found_space {
    int64_t image_words, keys, sorted, kept, stay, boxes, angles, classes, ranked, dropped, mask, pairs;
    int32_t total;
} gpu_found_space;

#define GPU_FOUND_LEVELS  4
#define GPU_FOUND_CLASSES 1024
#define GPU_FOUND_TILE    1024 /* ranks settled together */

/* Candidates of one level: p = work space, scores, boxes, angles (oriented). One element: a place. */
typedef struct gpu_scan_args {
    void *p[GPU_MAX_POINTERS];
    gpu_found_space space;
    int32_t n, places, first, width, classes, reg, lds, ldb, lda, type;
    int32_t oriented, angle_raw, filter, corners; /* corners: boxes of one-to-one heads, finite or not */
    float stride, bound, confidence;
    uint32_t wanted[GPU_FOUND_CLASSES / 32];
} gpu_scan_args;

/* Ranking; which boxes overlap; suppression, a block an image: p = work space. */
enum { GPU_RANK_BOXES = 0, GPU_RANK_PLACES, GPU_RANK_PAIRS }; /* the latter two of one-to-one heads */
typedef struct gpu_rank_args {
    void *p[GPU_MAX_POINTERS];
    gpu_found_space space;
    int32_t n, most, max_det, oriented;
    int32_t what, classes;
    float offset, limit, reach;
} gpu_rank_args;

/* Pairs of place and class of one-to-one heads: p = work space, scores of each level. */
typedef struct gpu_pairs_args {
    void *p[GPU_MAX_POINTERS];
    gpu_found_space space;
    int32_t n, most, classes, n_levels, type;
    int32_t first[GPU_FOUND_LEVELS], places[GPU_FOUND_LEVELS], ld[GPU_FOUND_LEVELS];
    float bound, confidence;
} gpu_pairs_args;

/* What is found: p = its table, work space, the keypoints of each level. `classes`: of one-to-one heads, else 0. */
typedef struct gpu_final_args {
    void *p[GPU_MAX_POINTERS];
    gpu_found_space space;
    int32_t n, max_det, words, oriented, n_levels, keypoints, dims, keypoints_26, type;
    int32_t first[GPU_FOUND_LEVELS], width[GPU_FOUND_LEVELS], places[GPU_FOUND_LEVELS], ld[GPU_FOUND_LEVELS];
    int32_t classes, filter;
    float stride[GPU_FOUND_LEVELS];
    uint32_t wanted[GPU_FOUND_CLASSES / 32];
} gpu_final_args;

/* How a value of either form is read: element (image, c, y, x) lies at image * image + (y * w + x) * pixel + c * channel. */
typedef struct gpu_view {
    int64_t image;
    int32_t pixel, channel, h, w, type;
} gpu_view;

/* Peaks of maps: p = table (slices: the scratch), maps, offsets (may be null), others (class maps or fields), scratch.
 * The table is that of tasks/peak_table.h; rows of a map come in any order. */
enum { GPU_PEAKS_CLEAR = 0, GPU_PEAKS_LOCAL, GPU_PEAKS_SLICES, GPU_PEAKS_HIGHEST, GPU_PEAKS_LINES };
#define GPU_PEAKS_EDGES 64
typedef struct gpu_peaks_args {
    void *p[GPU_MAX_POINTERS];
    gpu_view maps, offsets, others;
    int64_t image_words;
    int32_t what, n, channels, capacity, row_words, counts, rows, lines,
        pairs; /* where things are in a table */
    int32_t n_classes, n_edges, n_slices, n_points, refinement;
    float threshold, maps_stride, others_stride, ratio, weight;
    uint8_t edges[GPU_PEAKS_EDGES][2];
} gpu_peaks_args;

/* SLEAP's way of a frame into the network (sleap_input.c), step by step; one element: a pixel of the result, which is h x w
 * of out_h x out_w and zero outside. p = out, in, and by what it does:
 *   CLEAR, GREY_FLAG   flags int32 [n]: 1 where a frame of three channels has colours (in: the frame)
 *   COLOURS            the network's channels, bytes; flags
 *   NV12               three channels, from luma and chroma; rows are of an even number of bytes
 *   ACROSS, DOWN       antialiased along one axis: first place and count int32 [..][2], weights int16 [..][taps]
 *   PLACE              as it is
 *   MIX, MIX_PLANES    between four: places int32 [w][2], parts f32 [w], the same for rows; bytes, or planes of fractions
 *   GREY_PLANES        one plane of fractions; flags
 *   CUT, CUT_MIX       n crops of the one picture in; gpu_cut_crop [n], then the boxes that are painted over */
enum {
    GPU_SLEAP_CLEAR = 0,
    GPU_SLEAP_GREY_FLAG,
    GPU_SLEAP_COLOURS,
    GPU_SLEAP_ACROSS,
    GPU_SLEAP_DOWN,
    GPU_SLEAP_PLACE,
    GPU_SLEAP_MIX,
    GPU_SLEAP_MIX_PLANES,
    GPU_SLEAP_GREY_PLANES,
    GPU_SLEAP_CUT,
    GPU_SLEAP_CUT_MIX,
    GPU_SLEAP_NV12
};
typedef struct gpu_sleap_args {
    void *p[GPU_MAX_POINTERS];
    int32_t what, n, in_h, in_w, in_c, out_h, out_w, h, w, c;
    int32_t swap, old, taps, bits;
    int32_t one_flag;   /* 1: the first flag is for all */
    int32_t most_boxes; /* crops: room in the list of what is painted over */
    sk_nv12_weights weights;
} gpu_sleap_args;

/* An output that is a 1x1 convolution, in fp32: p = out f32 [n][cout][plane], in (map), weights f32 [cout][cin], bias f32.
 * cin is a multiple of 8. */
typedef struct gpu_head_args {
    void *p[GPU_MAX_POINTERS];
    int64_t plane;
    int32_t n, cin, cout, ld, act, type;
    float alpha;
} gpu_head_args;

/* softmax(scale q^T k) v over the pixels of a map whose channels are [heads * kd of q][of k][heads * hd of v]: p = out,
 * qkv, and where `k`: weights of the maps' type [k * k][heads * hd] and bias f32 of a depthwise convolution of v, whose result is added. An
 * image is `areas` ranges of `pixels` pixels, each by itself; n counts these ranges. The convolution sees images of h x w. */
typedef struct gpu_attention_args {
    void *p[GPU_MAX_POINTERS];
    int32_t n, pixels, heads, kd, hd, ldi, ldo;
    int32_t areas, h, w, k, type;
    float scale;
    gpu_bytes bytes;
} gpu_attention_args;

/* A map of bytes made one of the session's type, or the reverse: p = out, in. Number = (byte - zero) * gain, or as of
 * gpu_bytes. One element: 8 channels. */
typedef struct gpu_convert_args {
    void *p[GPU_MAX_POINTERS];
    int64_t pixels;
    int32_t c8, ldi, ldo, to_bytes, f8;
    float gain, zero;
} gpu_convert_args;

/* Dense f32, any rank, broadcast by strides of 0: p = out, a, b, c. */
typedef struct gpu_nd_args {
    void *p[GPU_MAX_POINTERS];
    int64_t count;
    int32_t rank;
    int32_t op; /* sk_unary or sk_binary; where: 0 */
    int64_t dims[GPU_RANK], so[GPU_RANK], sa[GPU_RANK], sb[GPU_RANK], sc[GPU_RANK];
    int32_t bytes; /* copies: of one element */
    float alpha, beta;
    double low, high;
} gpu_nd_args;

/* Rows along one axis: element (outer, inner) at outer * n * inner_count + k * inner_count + inner. p = out, in, scale,
 * shift (norm). */
typedef struct gpu_row_args {
    void *p[GPU_MAX_POINTERS];
    int64_t rows, n, inner;
    int32_t op; /* 0 softmax, 1 log softmax, 2 layer norm */
    float epsilon;
} gpu_row_args;

/* out[batch][i][j] = alpha * sum_k a[..][i][k] b[..][k][j] + beta * c: p = out, a, b, c (may be null). */
typedef struct gpu_matmul_args {
    void *p[GPU_MAX_POINTERS];
    int64_t count; /* output elements */
    int64_t m, n, k;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col;
    int32_t batch_rank;
    int64_t batch[GPU_RANK], a_batch[GPU_RANK], b_batch[GPU_RANK];
    float alpha, beta;
} gpu_matmul_args;

/* Reduction of f32 over some axes: p = out, in. Output element i walks `inner` dims. */
typedef struct gpu_reduce_args {
    void *p[GPU_MAX_POINTERS];
    int64_t count, reduced;
    int32_t op; /* sk_reduction */
    int32_t rank_out, rank_in;
    int64_t out_dims[GPU_RANK], out_strides[GPU_RANK], in_dims[GPU_RANK], in_strides[GPU_RANK];
} gpu_reduce_args;

typedef enum gpu_kind {
    GPU_CONV = 1,
    GPU_FIRST,
    GPU_DEPTHWISE,
    GPU_CONV_ANY,
    GPU_DECONV,
    GPU_POOL,
    GPU_POOL_CHAIN,
    GPU_RESIZE,
    GPU_COPY,
    GPU_MAP,
    GPU_TO_DENSE,
    GPU_TO_MAP,
    GPU_INPUT,
    GPU_ATTENTION,
    GPU_ND_UNARY,
    GPU_ND_BINARY,
    GPU_ND_WHERE,
    GPU_ND_CLIP,
    GPU_ND_COPY,
    GPU_ROWS,
    GPU_MATMUL,
    GPU_REDUCE,
    GPU_SHUFFLE,
    GPU_LETTERBOX,
    GPU_GATHER,
    GPU_ZERO,
    GPU_SCAN,
    GPU_RANKING,
    GPU_OVERLAPS,
    GPU_PAIRS,
    GPU_SUPPRESS,
    GPU_FINAL,
    GPU_PEAKS,
    GPU_SLEAP,
    GPU_HEAD,
    GPU_CONVERT,
    GPU_BY_REFERENCE, /* by the reference executor on the host */
    GPU_KIND_COUNT
} gpu_kind;

typedef union gpu_args {
    void *p[GPU_MAX_POINTERS];
    gpu_conv_args conv;
    gpu_first_args first;
    gpu_depthwise_args depthwise;
    gpu_conv_any_args conv_any;
    gpu_deconv_args deconv;
    gpu_shuffle_args shuffle;
    gpu_pool_args pool;
    gpu_pool_chain_args pool_chain;
    gpu_resize_args resize;
    gpu_copy_args copy;
    gpu_map_args map;
    gpu_form_args form;
    gpu_input_args input;
    gpu_attention_args attention;
    gpu_letterbox_args letterbox;
    gpu_gather_args gather;
    gpu_zero_args zero;
    gpu_scan_args scan;
    gpu_rank_args rank;
    gpu_pairs_args pairs;
    gpu_final_args final;
    gpu_peaks_args peaks;
    gpu_sleap_args sleap;
    gpu_head_args head;
    gpu_convert_args convert;
    gpu_nd_args nd;
    gpu_row_args rows;
    gpu_matmul_args matmul;
    gpu_reduce_args reduce;
} gpu_args;

#endif
