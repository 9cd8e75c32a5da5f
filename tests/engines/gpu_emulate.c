/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU of loops on the host, for testing the cuda engine's planning where there is none. "Device" memory is the host's,
 * filled with NaN patterns; captured graphs run their launches in a random order that keeps every promise of streams and
 * events, so that a missing dependency or shared memory between branches shows as wrong numbers. */
#include "engines/cuda/device.h"
#include "engines/cuda/pull.h"
#include "graph/graph.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GPU_HD static inline
static float halves[65536]; /* by bits; filled when the first stream is opened */
static inline float gpu_half_load(const void *p, int64_t i)
{
    return halves[((const uint16_t *)p)[i]];
}
static inline void gpu_half_store(void *p, int64_t i, float v)
{
    ((uint16_t *)p)[i] = sk_f32_to_f16(v);
}
static inline int32_t gpu_next(int32_t *counter)
{
    return (*counter)++;
}
#include "engines/cuda/peak_element.h"
#include "engines/cuda/sleap_element.h"

static inline int32_t gpu_thread(void) /* blocks have one thread here */
{
    return 0;
}
static inline int32_t gpu_threads(void)
{
    return 1;
}
static inline void gpu_sync(void)
{
}
static inline void gpu_vote(uint32_t *to, uint32_t before, int32_t bit, bool value, int32_t *changed)
{
    *to = (*to & ~((uint32_t)1 << bit)) | (uint32_t)value << bit;
    if ((before >> bit & 1) != (uint32_t)value)
        *changed = 1;
}
static inline void gpu_clear_bits(uint32_t *word, uint32_t bits)
{
    *word &= ~bits;
}
static inline int32_t gpu_bits(uint32_t word)
{
    return __builtin_popcount(word);
}
#include "engines/cuda/found_element.h"

int gpu_emulate_major = 9; /* tests may change these */
int gpu_emulate_minor;
int gpu_emulate_shared = 227 * 1024; /* bytes a block may have */
int gpu_emulate_fail_alloc;
int gpu_emulate_fail_launch; /* counts down: the launch of a graph that finds no memory */
int gpu_emulate_late;        /* 1: a kernel that waits for flags begins only when something waits for it */
int gpu_emulate_simple;      /* 1: a device without tensor-core kernels, as AMD's are to us */
int gpu_emulate_pinned;      /* 1: what callers hand in is pinned memory */
_Thread_local int gpu_emulate_early; /* kernels that were launched before what they read was there */
int64_t gpu_emulate_live;            /* blocks allocated and not freed */

enum { MAX_OPS = 4096, MAX_DEPS = 20 };

typedef struct op {
    gpu_launch launch;
    gpu_args args;
    int n_deps, deps[MAX_DEPS];
} op;

struct gpu_stream {
    int last;    /* latest operation of the capture; -1 none */
    int capture; /* which one */
    int n_waits, waits[MAX_DEPS];
    int64_t done_at; /* what is in it so far; ns */
    gpu_piece late;  /* a kernel that has not begun yet: gpu_emulate_late */
    size_t late_part;
    const uint32_t *late_ready; /* null: none */
    uint32_t late_value;
};
struct gpu_event {
    int op;
    int64_t at;
};
struct gpu_graph {
    int n;
    op *ops;
};

static _Thread_local gpu_graph *recording; /* sessions open and run on several threads */
static _Thread_local int capture;          /* its number */
static _Atomic int captures;
static _Thread_local uint32_t seed = 1; /* networks of a lane run on several threads */

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Runners have threads. */
static void count_live(int64_t change)
{
    __atomic_fetch_add(&gpu_emulate_live, change, __ATOMIC_RELAXED);
}

/* --- several devices, each with a speed of its own --- */

/* SKITTER_EMULATE, for those who load this as a plugin: "US [US …]" for each device how long a launch of a graph takes there, in
 * microseconds of wall time during which the host is free; "US!N": its N-th launch finds the device lost, and all after it; "US@N":
 * others use it at its N-th launch, which takes fifty times as long;
 * "idle" in front: nothing is computed, only time passes. Without it: one device that takes no time. */
enum { MOST_DEVICES = 16 };
static struct {
    _Atomic int64_t free_at; /* ns */
    _Atomic int32_t launches;
    int64_t takes;
    int32_t lost_from, busy_at; /* 0: never */
} devices[MOST_DEVICES];
static int32_t n_devices = 1;
static bool idle;
static _Thread_local int32_t current;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t at)
{
    const struct timespec t = {at / 1000000000, at % 1000000000};
    if (at > 0)
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void read_devices(void)
{
    const char *text = getenv("SKITTER_EMULATE");
    n_devices = 0;
    idle = text && strncmp(text, "idle ", 5) == 0;
    for (text = !text ? "" : idle ? text + 5 : text; *text && n_devices < MOST_DEVICES; n_devices++) {
        char *end;
        devices[n_devices].takes = strtol(text, &end, 10) * 1000;
        devices[n_devices].lost_from = *end == '!' ? (int32_t)strtol(end + 1, &end, 10) : 0;
        devices[n_devices].busy_at = *end == '@' ? (int32_t)strtol(end + 1, &end, 10) : 0;
        devices[n_devices].launches = 0;
        devices[n_devices].free_at = 0;
        text = end + (*end == ' ');
        if (*end && *end != ' ')
            break;
    }
    n_devices = n_devices ? n_devices : 1;
}

/* When a launch that begins no earlier than `from` is done; a device does one after the other. */
static int64_t device_runs(int64_t from, bool busy)
{
    int64_t before = atomic_load(&devices[current].free_at), begin, after;
    do {
        begin = before > from ? before : from;
        begin = begin > now_ns() ? begin : now_ns();
        after = begin + devices[current].takes * (busy ? 50 : 1);
    } while (!atomic_compare_exchange_weak(&devices[current].free_at, &before, after));
    return after;
}

int gpu_device_count(int32_t *count)
{
    read_devices();
    *count = n_devices;
    return 0;
}
int gpu_device_about(int32_t device, gpu_device_info *out)
{
    *out = (gpu_device_info){.name = "emulated",
                             .memory = 1u << 30,
                             .major = gpu_emulate_major,
                             .minor = gpu_emulate_minor,
                             .sms = 4,
                             .shared_bytes = gpu_emulate_shared};
    return device >= 0 && device < n_devices ? 0 : 101;
}
int gpu_use(int32_t device)
{
    if (device < 0 || device >= n_devices)
        return 101;
    current = device;
    return 0;
}
const char *gpu_error_text(int error)
{
    return error == 2 ? "out of memory" : error == 101 ? "invalid device ordinal" : "error";
}
int gpu_error_is_memory(int error)
{
    return error == 2;
}
int gpu_error_is_lost(int error)
{
    return error == 700;
}
int gpu_runtime_version(void)
{
    return 13000;
}
int gpu_memory_free(uint64_t *bytes)
{
    *bytes = 1u << 30;
    return 0;
}
int gpu_alloc(void **out, size_t bytes)
{
    *out = NULL;
    if (gpu_emulate_fail_alloc && --gpu_emulate_fail_alloc == 0)
        return 2;
    *out = malloc(bytes ? bytes : 1);
    if (!*out)
        return 2;
    memset(*out, 0xff, bytes);
    count_live(1);
    return 0;
}
void gpu_free(void *block)
{
    count_live(block ? -1 : 0);
    free(block);
}
int gpu_host_alloc(void **out, size_t bytes)
{
    return gpu_alloc(out, bytes);
}
void gpu_host_free(void *block)
{
    gpu_free(block);
}
int gpu_is_pinned(const void *address)
{
    (void)address;
    return gpu_emulate_pinned;
}
int gpu_stream_open(gpu_stream **out)
{
    for (int i = 65535; i >= 0 && halves[1] == 0; i--) /* once; number 0 is 0 anyway */
        halves[i] = sk_f16_to_f32((uint16_t)i);
    *out = calloc(1, sizeof **out);
    (*out)->last = -1;
    count_live(1);
    return 0;
}
void gpu_stream_close(gpu_stream *stream)
{
    count_live(stream ? -1 : 0);
    free(stream);
}
static int pull_late(gpu_stream *stream);
int gpu_stream_wait(gpu_stream *stream)
{
    sleep_until(stream->done_at);
    return pull_late(stream);
}
int gpu_event_open(gpu_event **out, int timing)
{
    (void)timing;
    *out = calloc(1, sizeof **out);
    (*out)->op = -1;
    count_live(1);
    return 0;
}
void gpu_event_close(gpu_event *event)
{
    count_live(event ? -1 : 0);
    free(event);
}
/* Nothing of an earlier capture counts in this one. */
static void enter(gpu_stream *stream)
{
    if (stream->capture == capture)
        return;
    stream->capture = capture;
    stream->last = -1;
    stream->n_waits = 0;
}
int gpu_event_record(gpu_event *event, gpu_stream *stream)
{
    enter(stream);
    event->op = recording ? stream->last : -1;
    event->at = recording ? 0 : stream->done_at;
    return 0;
}
int gpu_event_wait(gpu_event *event)
{
    sleep_until(event->at);
    return 0;
}
int gpu_event_elapsed(gpu_event *from, gpu_event *to, float *ms)
{
    (void)from;
    (void)to;
    *ms = 0.001f * (float)(1 + next_random() % 100);
    return 0;
}
int gpu_stream_wait_event(gpu_stream *stream, gpu_event *event)
{
    enter(stream);
    if (!recording && event->at > stream->done_at)
        stream->done_at = event->at;
    if (!recording || event->op < 0)
        return 0;
    if (stream->n_waits == MAX_DEPS)
        return 1;
    stream->waits[stream->n_waits++] = event->op;
    return 0;
}
int gpu_copy_up(void *device, const void *host, size_t bytes, gpu_stream *stream)
{
    (void)stream;
    if (bytes) /* a network without weights has none to bring up */
        memcpy(device, host, bytes);
    return 0;
}
int gpu_copy_down(void *host, const void *device, size_t bytes, gpu_stream *stream)
{
    (void)stream;
    memcpy(host, device, bytes);
    return 0;
}
int gpu_copy_up_2d(void *device, size_t device_pitch, const void *host, size_t host_pitch, size_t width,
                   size_t rows, gpu_stream *stream)
{
    (void)stream;
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)device + i * device_pitch, (const char *)host + i * host_pitch, width);
    return 0;
}
int gpu_copy_down_2d(void *host, const void *device, size_t pitch, size_t width, size_t rows,
                     gpu_stream *stream)
{
    (void)stream;
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)host + i * pitch, (const char *)device + i * pitch, width);
    return 0;
}
int gpu_copy_across_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t rows, gpu_stream *stream)
{
    (void)stream;
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return 0;
}
/* As a device whose launches return when they are done: whoever waits for the caller in one waits for ever, here 5 s. */
int gpu_pull(const gpu_piece *pieces, int32_t n, size_t part, const uint32_t *ready, uint32_t value,
             gpu_stream *stream)
{
    const int64_t end = now_ns() + 5000000000;
    if (ready && gpu_emulate_late) {
        if (stream->late_ready)
            return 702; /* its flags are written anew: it would wait for ever */
        stream->late = pieces[0];
        stream->late_part = part;
        stream->late_ready = ready;
        stream->late_value = value;
        return 0;
    }
    gpu_emulate_early += ready != NULL;
    for (int32_t k = 0; k < n; k++)
        if ((((uintptr_t)pieces[k].to | (uintptr_t)pieces[k].from | pieces[k].pitch | part) & 15) != 0)
            return 716; /* misaligned */
    for (int32_t k = 0; k < n; k++)
        for (size_t i = 0, parts = (pieces[k].bytes + part - 1) / part;
             i < parts * (pieces[k].rows ? pieces[k].rows : 1); i++) {
            const size_t begin = i % parts * part, left = pieces[k].bytes - begin,
                         at = i / parts * pieces[k].pitch + begin;
            while (ready && __atomic_load_n(ready + i * GPU_FLAG_WORDS, __ATOMIC_ACQUIRE) != value)
                if (now_ns() > end)
                    return 702;
            memcpy((char *)pieces[k].to + at, (const char *)pieces[k].from + at, left < part ? left : part);
        }
    return 0;
}
static int pull_late(gpu_stream *stream)
{
    const uint32_t *ready = stream->late_ready;
    stream->late_ready = NULL;
    if (!ready)
        return 0;
    const int late = gpu_emulate_late;
    gpu_emulate_late = 0;
    const int error = gpu_pull(&stream->late, 1, stream->late_part, ready, stream->late_value, stream);
    gpu_emulate_late = late;
    return error;
}
int gpu_fill(void *device, int byte, size_t bytes, gpu_stream *stream)
{
    (void)stream;
    (void)byte;
    memset(device, 0xff, bytes); /* NaN: whoever reads what nobody wrote is found out */
    return 0;
}

/* --- kernels --- */

/* The real tiles (tile_table.c): choosing one and packing for it are exercised as they are. */
int gpu_has_tiles(void)
{
    return !gpu_emulate_simple;
}
/* What this card refuses: more shared memory than it has, instructions and clusters of others. */
static bool is_beyond(const gpu_config *config, int32_t shared_bytes)
{
    return shared_bytes > gpu_emulate_shared ||
           (config && config->wgmma && (gpu_emulate_major != 9 || gpu_emulate_minor != 0)) ||
           (config && config->split > 1 && gpu_emulate_major < 9) ||
           (config && config->floats == GPU_E4M3 && gpu_emulate_major * 10 + gpu_emulate_minor < 89);
}
int gpu_occupancy(const gpu_config *config, int32_t shared_bytes, int32_t *blocks)
{
    *blocks = 2;
    return is_beyond(config, shared_bytes);
}

static float finish(float sum, const void *residual, int64_t at, int32_t type, int32_t before, int32_t act,
                    float alpha)
{
    const float r = residual ? gpu_load(residual, at, type) : 0.0f;
    return before ? gpu_act(sum + r, act, alpha) : gpu_act(sum, act, alpha) + r;
}

/* What tensor cores see of a float: 10 bits of mantissa, rounded. */
static float tensor_load(const void *p, int64_t i, int32_t type, int32_t floats)
{
    float v = gpu_load(p, i, type);
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (floats == GPU_TF32 && (bits >> 23 & 255) != 255)
        bits = (bits + 0x1000) & ~(uint32_t)0x1fff;
    memcpy(&v, &bits, sizeof bits);
    return v;
}

static int32_t channel_of(int32_t p, int32_t group)
{
    const int32_t span = 8 * group, r = p % span, q = r % 8;
    return p / span * span + q / 2 * 2 * group + 2 * (r / 8) + (q & 1);
}

/* As a map of this type keeps it. */
static float as_kept(float v, int32_t type)
{
    return type == GPU_F16    ? halves[sk_f32_to_f16(v)]
           : type == GPU_BF16 ? sk_bf16_to_f32(sk_f32_to_bf16(v))
                              : v;
}

/* The 1x1 convolution behind: `between` are the first's values in the order of its rows. */
static void conv_then(const gpu_launch *launch, int32_t m, const float *between)
{
    const int32_t type = launch->config->floats == GPU_BRAIN ? GPU_BF16 : GPU_F16;
    const gpu_conv_args *a = &launch->args->conv;
    const int32_t bn = launch->config->bn;
    const float *bias = (const float *)((const uint8_t *)a->p[2] + a->then_at);
    const void *weights = bias + a->then_rows;
    for (int32_t p = 0; p < a->then_rows; p++) {
        const int32_t co = channel_of(p, 4);
        if (co >= a->then8)
            continue;
        float sum = bias[co];
        for (int32_t k = 0; k < bn; k++)
            sum += between[k] * gpu_load(weights, (int64_t)p * bn + k, type);
        sum = gpu_act(sum, a->then_act, a->then_alpha);
        if (a->plane == 0)
            gpu_store(a->p[0], (int64_t)m * a->ldo + co, type, sum);
        else if (co < a->cout)
            ((float *)a->p[0])[((int64_t)(m / a->plane) * a->cout + co) * a->plane + m % a->plane] =
                as_kept(sum, type);
    }
}

/* The sum of a row of packed bytes; what lies outside is the zero of the map. */
static float count_of(const gpu_launch *launch, int32_t m, int32_t p, int32_t taps, int32_t cin,
                      int64_t depth)
{
    const gpu_conv_args *a = &launch->args->conv;
    const int32_t ox = m % a->ow, oy = m / a->ow % a->oh, n = m / a->ow / a->oh;
    int32_t sum = 0;
    float number = 0;
    for (int32_t t = 0; t < taps; t++) {
        const int32_t y = taps == 1 ? oy : oy * a->stride + t / 3 - a->pad_y;
        const int32_t x = taps == 1 ? ox : ox * a->stride + t % 3 - a->pad_x;
        const bool inside = y >= 0 && y < a->h && x >= 0 && x < a->w;
        for (int32_t i = 0; i < a->c8 * 8 && t * cin + i < depth; i++) {
            const uint8_t byte =
                inside ? ((const uint8_t *)a->p[1])[(((int64_t)n * a->h + y) * a->w + x) * a->ldi + i]
                       : (uint8_t)(a->bytes.fill & 255);
            const int8_t weight = ((const int8_t *)a->p[2])[(int64_t)p * a->kpad + t * cin + i];
            if (launch->config->floats == GPU_BYTES)
                sum += (int32_t)byte * weight;
            else if (i < a->cin8) /* what lies behind may be no number, and is not read */
                number += sk_f8_number(byte) * sk_f8_number((uint8_t)weight);
        }
    }
    return launch->config->floats == GPU_BYTES ? (float)sum : number;
}

/* What the launch does not cover stays as it was. */
static void conv(const gpu_launch *launch)
{
    const gpu_conv_args *a = &launch->args->conv;
    const gpu_config *c = launch->config;
    const int32_t walk = c->kind == GPU_CONFIG_WALK, point = walk || c->kind == GPU_CONFIG_POINTWISE;
    const int32_t halo = walk || c->kind == GPU_CONFIG_HALO;
    const int32_t taps = point ? 1 : 9, cin = halo ? a->blocks * c->cb : a->c8 * 8;
    float between[128] = {0};
    const int32_t rows = launch->grid[1] * c->bn, type = c->floats == GPU_BRAIN ? GPU_BF16
                                                         : c->floats            ? GPU_F32
                                                                                : GPU_F16;
    const int64_t depth = halo ? a->kpad : (int64_t)a->nk * c->bk;
    for (int32_t m = 0; m < a->m; m++) {
        const int32_t ox = m % a->ow, oy = m / a->ow % a->oh, n = m / a->ow / a->oh;
        if (walk   ? m >= a->tiles * c->bm
            : halo ? oy >= a->ty * c->th || ox >= a->tx * c->tw || n >= a->tiles / (a->tx * a->ty)
                   : m >= launch->grid[0] * c->bm)
            continue;
        for (int32_t p = 0; p < rows; p++) {
            const int32_t co = channel_of(p, c->group);
            if (co >= a->cout8)
                continue;
            const int64_t beside =
                a->residual_half ? ((int64_t)(m / a->ow / 2) * (a->ow / 2)) + m % a->ow / 2 : m;
            if (c->floats == GPU_BYTES || c->floats == GPU_E4M3) {
                const float *factor = (const float *)a->p[3] + 2 * co;
                if (a->then8) {
                    between[p] = halves[sk_f32_to_f16(gpu_act(
                        count_of(launch, m, p, taps, cin, depth) * factor[0] + factor[1], a->act, a->alpha))];
                    continue;
                }
                gpu_finish_bytes(&a->bytes, a->p[0], (int64_t)m * a->ldo + co, a->p[4], beside * a->ldr + co,
                                 a->residual_before, a->act, a->alpha,
                                 count_of(launch, m, p, taps, cin, depth) * factor[0] + factor[1]);
                continue;
            }
            float sum = ((const float *)a->p[3])[co];
            for (int32_t t = 0; t < taps; t++) {
                const int32_t y = point ? oy : oy * a->stride + t / 3 - a->pad_y;
                const int32_t x = point ? ox : ox * a->stride + t % 3 - a->pad_x;
                if (y < 0 || y >= a->h || x < 0 || x >= a->w)
                    continue;
                for (int32_t i = 0; i < a->c8 * 8 && t * cin + i < depth; i++)
                    sum += tensor_load(a->p[1], (((int64_t)n * a->h + y) * a->w + x) * a->ldi + i, type,
                                       c->floats) *
                           gpu_load(a->p[2], (int64_t)p * a->kpad + t * cin + i, type);
            }
            sum = finish(sum, a->p[4], beside * a->ldr + co, type, a->residual_before, a->act, a->alpha);
            if (a->then8)
                between[p] = as_kept(sum, type);
            else if (a->plane == 0)
                gpu_store(a->p[0], (int64_t)m * a->ldo + co, type, sum);
            else if (co < a->cout)
                ((float *)a->p[0])[((int64_t)(m / a->plane) * a->cout + co) * a->plane + m % a->plane] =
                    as_kept(sum, type);
        }
        if (a->then8)
            conv_then(launch, m, between);
    }
}

static void first(const gpu_first_args *a, int32_t cout)
{
    for (int64_t m = 0; m < (int64_t)a->n * a->oh * a->ow; m++)
        for (int32_t co = 0; co < cout; co++) {
            const int32_t ox = (int32_t)(m % a->ow), oy = (int32_t)(m / a->ow % a->oh);
            const int64_t n = m / a->ow / a->oh;
            const int32_t in16 = co % 16, j = co / 16 * 2 + in16 / 2 % 2, g = in16 / 4 * 2 + in16 % 2;
            float sum = ((const float *)a->p[3])[co];
            for (int32_t k = 0; k < 27; k++) {
                const int32_t r = k / 9, pixel = k / 3 % 3, ch = k % 3;
                const int32_t y = oy * 2 + r - a->pad_y, x = ox * 2 + pixel - a->pad_x;
                const bool inside = y >= 0 && y < a->h && x >= 0 && x < a->w;
                const int64_t at = ((n * a->h + y) * a->w + x) * (a->pixel_bytes == 3 ? 3 : 4) + ch;
                const float v = !inside ? a->more
                                : a->pixel_bytes < 8
                                    ? (float)((const uint8_t *)a->p[1])[at] * a->gain + a->more
                                    : gpu_half_load(a->p[1], at);
                sum +=
                    v * gpu_half_load(
                            a->p[2],
                            ((((int64_t)r * (cout / 8) + j) * 2 + ch / 2) * 32 + g * 4 + pixel) * 2 + ch % 2);
            }
            if (a->type == GPU_BF16)
                gpu_store(a->p[0], m * a->ldo + co, a->type, gpu_act(sum, a->act, a->alpha));
            else
                gpu_finish_bytes(&a->bytes, a->p[0], m * a->ldo + co, NULL, 0, 0, a->act, a->alpha, sum);
        }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Every key's rank is how many are smaller; here by sorting. */
static void rank_image(const gpu_rank_args *a, int32_t *words)
{
    const int32_t n = gpu_rank_count(a, words);
    uint64_t *keys = malloc(((size_t)n + 1) * sizeof *keys);
    memcpy(keys, gpu_rank_keys(a, words), (size_t)n * sizeof *keys);
    gpu_rank_begin(a, words);
    qsort(keys, (size_t)n, sizeof *keys, by_value);
    for (int32_t rank = n; rank-- > 0;)
        gpu_rank_enter(a, words, keys[rank], rank);
    free(keys);
}

/* The steps of final rows. */
static bool run_found(gpu_kind kind, const gpu_args *a)
{
    static _Thread_local gpu_found_shared shared;
    if (kind == GPU_SCAN) /* in any order: from the last on */
        for (int64_t i = (int64_t)a->scan.n * a->scan.places; i-- > 0;)
            gpu_scan_element(&a->scan, i);
    const bool ranks = kind == GPU_RANKING || kind == GPU_OVERLAPS || kind == GPU_SUPPRESS;
    for (int32_t k = 0; ranks && k < a->rank.n; k++) {
        int32_t *words = gpu_found_image(a->p[0], &a->rank.space, k),
                n = gpu_found_count(words, &a->rank.space);
        n = n < a->rank.most ? n : a->rank.most;
        if (kind == GPU_RANKING)
            rank_image(&a->rank, words);
        const bool oriented = a->rank.oriented != 0;
        for (int32_t i = oriented ? gpu_drop_items(n) : gpu_mask_items(n); kind == GPU_OVERLAPS && i-- > 0;)
            if (oriented)
                gpu_drop_item(&a->rank, words, n, i);
            else
                gpu_mask_item(&a->rank, words, n, i);
        if (kind == GPU_SUPPRESS) {
            memset(&shared, 0xff, sizeof shared);
            gpu_suppress_block(&a->rank, &shared, k);
        }
    }
    for (int32_t k = 0; kind == GPU_PAIRS && k < a->pairs.n; k++) {
        int32_t *words = gpu_found_image(a->p[0], &a->pairs.space, k);
        for (int32_t i = gpu_pairs_places(&a->pairs, words) * a->pairs.classes; i-- > 0;)
            gpu_pairs_item(&a->pairs, words, k, i);
    }
    const gpu_final_args *f = &a->final;
    const int64_t image_values = kind == GPU_FINAL ? (int64_t)f->max_det * f->words : 0;
    for (int64_t i = 0; kind == GPU_FINAL && i < f->n * image_values; i++)
        ((float *)f->p[0])[i] = gpu_final_value(
            f, gpu_found_image(f->p[1], &f->space, (int32_t)(i / image_values)), (int32_t)(i / image_values),
            (int32_t)(i % image_values / f->words), (int32_t)(i % f->words));
    return ranks || kind == GPU_SCAN || kind == GPU_PAIRS || kind == GPU_FINAL;
}

/* Threads of a GPU come in any order: every element once, from anywhere on, in steps of a prime. */
static void run_peaks(const gpu_peaks_args *a)
{
    enum { STEP = 7919 };
    const int64_t n = gpu_peaks_count(a), step = n % STEP ? STEP : 1;
    int64_t at = n ? (int64_t)(next_random() % (uint32_t)(n < 1000000 ? n : 1000000)) : 0;
    for (int64_t i = 0; i < n; i++, at = (at + step) % n)
        gpu_peaks_element(a, at);
}

static void run(const gpu_launch *launch)
{
    if (run_found(launch->kind, launch->args))
        return;
    if (launch->kind == GPU_SLEAP) {
        for (int64_t i = gpu_sleap_count(&launch->args->sleap); i-- > 0;)
            gpu_sleap_element(&launch->args->sleap, i);
        return;
    }
    if (launch->kind == GPU_PEAKS) {
        run_peaks(&launch->args->peaks);
        return;
    }
    if (launch->kind == GPU_CONV) {
        conv(launch);
    } else if (launch->kind == GPU_FIRST) {
        first(&launch->args->first, launch->variant);
    } else {
        const int64_t n = gpu_element_count(launch->kind, launch->args);
        for (int64_t i = 0; i < n; i++)
            gpu_element(launch->kind, launch->args, i);
    }
}

int gpu_launch_step(const gpu_launch *launch, gpu_stream *stream)
{
    if (is_beyond(launch->config, launch->shared_bytes))
        return 1;
    if (!recording) {
        run(launch);
        return 0;
    }
    if (recording->n == MAX_OPS)
        return 1;
    enter(stream);
    op *o = &recording->ops[recording->n];
    *o = (op){.launch = *launch, .args = *launch->args};
    if (stream->last >= 0)
        o->deps[o->n_deps++] = stream->last;
    for (int i = 0; i < stream->n_waits && o->n_deps < MAX_DEPS; i++)
        o->deps[o->n_deps++] = stream->waits[i];
    if (launch->pdl && o->n_deps != 1 && stream->n_waits)
        return 1; /* an early start is promised only behind one kernel */
    stream->n_waits = 0;
    stream->last = recording->n++;
    return 0;
}

int gpu_capture_begin(gpu_stream *stream)
{
    capture = ++captures;
    enter(stream);
    recording = calloc(1, sizeof *recording);
    recording->ops = calloc(MAX_OPS, sizeof *recording->ops);
    count_live(1);
    return 0;
}
int gpu_capture_end(gpu_stream *stream, gpu_graph **out)
{
    (void)stream;
    gpu_graph *graph = recording;
    recording = NULL;
    if (out)
        *out = graph;
    else
        gpu_graph_close(graph);
    return 0;
}
int gpu_graph_launch(gpu_graph *graph, gpu_stream *stream)
{
    const int32_t number = atomic_fetch_add(&devices[current].launches, 1) + 1;
    if (devices[current].lost_from && number >= devices[current].lost_from)
        return 700;
    if (gpu_emulate_fail_launch && --gpu_emulate_fail_launch == 0)
        return 2;
    const int error = pull_late(stream);
    if (error)
        return error;
    if (devices[current].takes > 0)
        stream->done_at = device_runs(stream->done_at, number == devices[current].busy_at);
    if (idle)
        return 0;
    if (graph->n > 1 && graph->ops[0].args.p[0] == graph->ops[graph->n - 1].args.p[0] &&
        graph->ops[0].launch.kind == GPU_CONV) { /* one step again and again: being timed */
        return 0;
    }
    char *done = calloc((size_t)graph->n + 1, 1);
    for (int left = graph->n; left > 0; left--) {
        int ready[MAX_OPS], n = 0;
        for (int i = 0; i < graph->n; i++) {
            int ok = !done[i];
            for (int k = 0; ok && k < graph->ops[i].n_deps; k++)
                ok = done[graph->ops[i].deps[k]];
            if (ok)
                ready[n++] = i;
        }
        const int pick = ready[next_random() % (uint32_t)n];
        graph->ops[pick].launch.args = &graph->ops[pick].args;
        run(&graph->ops[pick].launch);
        done[pick] = 1;
    }
    free(done);
    return 0;
}
void gpu_graph_close(gpu_graph *graph)
{
    if (!graph)
        return;
    count_live(-1);
    free(graph->ops);
    free(graph);
}
