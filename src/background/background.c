/* SPDX-License-Identifier: Apache-2.0 */
#include "background/background_internal.h"

#include "base/frame.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define SAMPLES_MOST 31
#define SAMPLE_BYTES ((size_t)64 << 20) /* for all samples of the median together */
#define AREAS        255                /* of blobs that the size of one animal is taken from */
#define SEVERAL      1.6                /* times an animal's area: more than one */
#define SHRED        0.1                /* … less is none */
#define QUIET        12.0               /* grey levels: less is the codec's work, on any video */
#define GROUND_SHIFT 8                  /* the background has so many bits behind the point */

struct sk_background {
    sk_background_settings settings;
    int32_t width, height;
    size_t pixels;
    uint8_t table[256];
    double brightness; /* of the background: the middle of its greys */
    double threshold;
    uint16_t *ground; /* grey, with GROUND_SHIFT bits behind the point */
    uint8_t *picture; /* the same, rounded */
    uint8_t *grey, *difference, *mask, *spare;
    uint8_t *samples[SAMPLES_MOST];
    int32_t n_samples;
    bool begun;
    blob_list blobs;
    double areas[AREAS]; /* the last ones, in turn */
    int64_t n_areas, n_frames;
};

void sk_background_defaults(sk_background_settings *s)
{
    *s = (sk_background_settings){.contrast = 1,
                                  .gamma = 1,
                                  .following = 0.02,
                                  .steady_light = true,
                                  .smallest_feature = 3,
                                  .least_area = 20,
                                  .split = true,
                                  .most_found = 4096};
}

static sk_status check(const sk_background_settings *s, sk_error *err)
{
    const struct {
        const char *name;
        double value, least, most;
    } ranges[] = {{"contrast", s->contrast, 0.01, 100},
                  {"brightness", s->brightness, -255, 255},
                  {"gamma", s->gamma, 0.01, 100},
                  {"threshold", s->threshold, 0, 254},
                  {"following", s->following, 0, 255},
                  {"smallest_feature", s->smallest_feature, 0, 255},
                  {"grow", s->grow, 0, 127},
                  {"least_area", s->least_area, 0, 1e9},
                  {"body_area", s->body_area, 0, 1e9},
                  {"most_found", s->most_found, 1, 1e6}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (!(ranges[i].value >= ranges[i].least && ranges[i].value <= ranges[i].most))
            return sk_fail(err, SK_ERR_ARG, "the background detector's %s is %g: it goes from %g to %g",
                           ranges[i].name, ranges[i].value, ranges[i].least, ranges[i].most);
    return SK_OK;
}

sk_status sk_background_open(const sk_background_settings *settings, int32_t width, int32_t height,
                             sk_background **out, sk_error *err)
{
    sk_status status = SK_OK;
    *out = NULL;
    SK_TRY(check(settings, err));
    SK_CHECK_ARG(width > 0 && height > 0 && width <= 65535 && height <= 65535, err);
    sk_background *b = sk_calloc(1, sizeof *b);
    if (!b)
        return sk_fail_memory(err, sizeof *b);
    b->settings = *settings;
    b->width = width;
    b->height = height;
    b->pixels = (size_t)width * (size_t)height;
    grey_table(settings, b->table);
    uint8_t **const planes[] = {&b->picture, &b->grey, &b->difference, &b->mask, &b->spare};
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
        if (!(*planes[i] = sk_calloc(1, b->pixels)))
            SK_TRY_GOTO(sk_fail_memory(err, b->pixels));
    b->ground = sk_calloc(b->pixels, sizeof *b->ground);
    if (!b->ground)
        SK_TRY_GOTO(sk_fail_memory(err, 2 * b->pixels));
    *out = b;
    b = NULL;
done:
    sk_background_close(&b);
    return status;
}

static void free_samples(sk_background *b)
{
    for (int32_t i = 0; i < b->n_samples; i++)
        sk_free(b->samples[i]);
    b->n_samples = 0;
}

void sk_background_close(sk_background **background)
{
    sk_background *b = *background;
    if (!b)
        return;
    free_samples(b);
    uint8_t *const planes[] = {b->picture, b->grey, b->difference, b->mask, b->spare};
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
        sk_free(planes[i]);
    sk_free(b->ground);
    blobs_free(&b->blobs);
    sk_free(b);
    *background = NULL;
}

static sk_status check_frame(const sk_background *b, const sk_frame *f, sk_error *err)
{
    if (f->width != b->width || f->height != b->height)
        return sk_fail(err, SK_ERR_ARG,
                       "frame %lld has %dx%d pixels where those before had %dx%d: a still background needs "
                       "frames of one size",
                       (long long)f->index, f->width, f->height, b->width, b->height);
    if (sk_frame_on_device(f) ||
        (f->format != SK_PIXEL_RGB && f->format != SK_PIXEL_BGR && f->format != SK_PIXEL_GRAY &&
         f->format != SK_PIXEL_NV12 && f->format != SK_PIXEL_I420))
        return sk_fail(err, SK_ERR_ARG,
                       "the background detector takes RGB, BGR, grey, NV12 or I420 in host memory");
    return SK_OK;
}

int32_t sk_background_wanted(const sk_background *b)
{
    const size_t fit = SAMPLE_BYTES / b->pixels;
    return fit < 9 ? 9 : fit > SAMPLES_MOST ? SAMPLES_MOST : (int32_t)fit;
}

sk_status sk_background_prime(sk_background *b, const sk_frame *frame, sk_error *err)
{
    SK_CHECK_ARG(!b->begun, err);
    SK_TRY(check_frame(b, frame, err));
    if (b->n_samples >= sk_background_wanted(b))
        return SK_OK;
    uint8_t *sample = sk_malloc(b->pixels);
    if (!sample)
        return sk_fail_memory(err, b->pixels);
    grey_of_frame(frame, b->table, sample);
    b->samples[b->n_samples++] = sample;
    return SK_OK;
}

/* --- the light --- */

/* Brings the grey picture to the background's brightness. Lamps change slowly or flicker; animals hardly change the middle. */
static void steady(const sk_background *b, uint8_t *grey)
{
    const double now = grey_middle(grey, b->pixels);
    if (!(now > 1) || fabs(now - b->brightness) < 0.25)
        return;
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)lrint(fmin(255, i * b->brightness / now));
    for (size_t i = 0; i < b->pixels; i++)
        grey[i] = table[grey[i]];
}

/* Half of all pixels differ by less than this from the background; the noise is one and a half times that. */
static double noise_of(const sk_background *b, const uint8_t *grey)
{
    uint64_t counts[256] = {0}, below = 0;
    for (size_t i = 0; i < b->pixels; i++)
        counts[grey[i] > b->picture[i] ? grey[i] - b->picture[i] : b->picture[i] - grey[i]]++;
    int middle = 0;
    while (2 * (below += counts[middle]) < b->pixels)
        middle++;
    return 1.5 * middle;
}

/* --- the ground --- */

static void begin(sk_background *b)
{
    if (b->n_samples > 0) {
        b->brightness = grey_middle(b->samples[0], b->pixels);
        for (int32_t i = 1; b->settings.steady_light && i < b->n_samples; i++)
            steady(b, b->samples[i]);
        grey_median((const uint8_t *const *)b->samples, b->n_samples, b->pixels, b->picture);
    } else {
        memcpy(b->picture, b->grey, b->pixels);
    }
    for (size_t i = 0; i < b->pixels; i++)
        b->ground[i] = (uint16_t)(b->picture[i] << GROUND_SHIFT);
    b->brightness = grey_middle(b->picture, b->pixels);
    double noise = 0;
    for (int32_t i = 0; i < b->n_samples; i++)
        noise = fmax(noise, noise_of(b, b->samples[i]));
    b->threshold = b->settings.threshold > 0 ? b->settings.threshold : fmin(fmax(QUIET, 6 * noise), 254);
    free_samples(b);
    b->begun = true;
}

/* A running median: a step towards what is seen, however far that is, so that an animal which rests does not pull harder than
 * noise does. A step is at least the last bit: where less is asked for, it is taken less often. */
static void follow(sk_background *b)
{
    const double wanted = b->settings.following * (1 << GROUND_SHIFT);
    if (wanted <= 0)
        return;
    const int64_t every = (int64_t)fmin(ceil(1 / wanted), 1e9);
    const int step = (int)fmax(1, rint(wanted));
    if (++b->n_frames % every)
        return;
    for (size_t i = 0; i < b->pixels; i++) {
        const int was = b->ground[i], far = (b->grey[i] << GROUND_SHIFT) - was;
        const int way = far > step ? step : far < -step ? -step : far;
        b->ground[i] =
            (uint16_t)(was + (b->mask[i] ? way / 4 : way)); /* what is an animal: slower, if at all */
        b->picture[i] = (uint8_t)((b->ground[i] + (1 << (GROUND_SHIFT - 1))) >> GROUND_SHIFT);
    }
}

static void subtract(sk_background *b)
{
    const bool darker = b->settings.ground != SK_GROUND_DARK, lighter = b->settings.ground != SK_GROUND_LIGHT;
    const int threshold = (int)floor(b->threshold);
    for (size_t i = 0; i < b->pixels; i++) {
        const int d = b->picture[i] - b->grey[i];
        const int counts = d > 0 ? (darker ? d : 0) : (lighter ? -d : 0);
        b->difference[i] = (uint8_t)counts;
        b->mask[i] = counts > threshold ? 255 : 0;
    }
}

/* --- animals --- */

/* Half of all pixels are in blobs of this size or larger: legs and shreds beside the animals are many, but small. */
static double body_area(const sk_background *b)
{
    if (b->settings.body_area > 0 || b->n_areas == 0)
        return b->settings.body_area;
    double sorted[AREAS] = {0};
    const int32_t n = b->n_areas < AREAS ? (int32_t)b->n_areas : AREAS;
    for (int32_t i = 0; i < n; i++) {
        int32_t at = i;
        for (; at > 0 && sorted[at - 1] > b->areas[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = b->areas[i];
    }
    double half = 0;
    for (int32_t i = 0; i < n; i++)
        half += sorted[i] / 2;
    int32_t at = 0;
    for (; at < n - 1 && half > sorted[at]; at++)
        half -= sorted[at];
    return sorted[at];
}

static void tell(const sk_background *b, const blob_sums *sums, const blob *whole, sk_instances *found)
{
    sk_found *one = sk_instances_add(found);
    if (!one)
        return;
    double obb[5];
    blob_box(sums, obb);
    one->has = SK_HAS_BOX | SK_HAS_OBB;
    one->class_id = 0;
    const double contrast = (double)whole->contrast / whole->sums.n;
    one->score = (float)(contrast / (contrast + b->threshold)); /* twice the threshold: two thirds */
    for (int i = 0; i < 5; i++)
        one->obb[i] = (float)obb[i];
    const double c = fabs(cos(obb[4])), s = fabs(sin(obb[4]));
    const double half_w = 0.5 * (obb[2] * c + obb[3] * s), half_h = 0.5 * (obb[2] * s + obb[3] * c);
    one->box[0] = (float)fmax(0, obb[0] - half_w);
    one->box[1] = (float)fmax(0, obb[1] - half_h);
    one->box[2] = (float)fmin(b->width, obb[0] + half_w);
    one->box[3] = (float)fmin(b->height, obb[1] + half_h);
}

static void tell_blob(sk_background *b, const blob *one, double body, sk_instances *found)
{
    const double times = one->sums.n / body; /* its own size was counted for a body: there is one */
    if (!b->settings.split || times < SEVERAL) {
        tell(b, &one->sums, one, found);
        return;
    }
    const int32_t parts = (int32_t)fmin(fmax(2, lrint(times)), BLOB_PARTS_MOST);
    blob_sums sums[BLOB_PARTS_MOST];
    blob_split(&b->blobs, one, parts, sums);
    for (int32_t i = 0; i < parts; i++)
        if (sums[i].n >= fmax(b->settings.least_area, 1))
            tell(b, &sums[i], one, found);
}

/* The largest first; of equal ones the upper, then the left one. */
static bool before(const sk_found *a, const sk_found *c)
{
    const float p = a->obb[2] * a->obb[3], q = c->obb[2] * c->obb[3];
    return p != q ? p > q : a->obb[1] != c->obb[1] ? a->obb[1] < c->obb[1] : a->obb[0] < c->obb[0];
}

static void sort_found(sk_instances *found)
{
    for (int32_t i = 1; i < found->count; i++) {
        const sk_found moved = found->items[i];
        int32_t at = i;
        for (; at > 0 && before(&moved, &found->items[at - 1]); at--)
            found->items[at] = found->items[at - 1];
        found->items[at] = moved;
    }
}

sk_status sk_background_find(sk_background *b, const sk_frame *frame, sk_instances *found, sk_error *err)
{
    found->count = 0;
    SK_TRY(check_frame(b, frame, err));
    grey_of_frame(frame, b->table, b->grey);
    if (!b->begun)
        begin(b);
    if (b->settings.steady_light)
        steady(b, b->grey);
    subtract(b);
    mask_clean(b->mask, b->spare, b->width, b->height, b->settings.smallest_feature);
    mask_grow(b->mask, b->spare, b->width, b->height, b->settings.grow);
    bool too_many = false;
    SK_TRY(blobs_find(b->mask, b->difference, b->width, b->height, (size_t)b->settings.most_found, &b->blobs,
                      &too_many, err));
    for (size_t i = 0; i < b->blobs.count; i++) /* their size first: what the first frame shows counts, too */
        if (b->blobs.items[i].sums.n >= b->settings.least_area)
            b->areas[b->n_areas++ % AREAS] = b->blobs.items[i].sums.n;
    const double body = body_area(b), least = fmax(b->settings.least_area, SHRED * body);
    for (size_t i = 0; i < b->blobs.count; i++)
        if (b->blobs.items[i].sums.n >= least)
            tell_blob(b, &b->blobs.items[i], body, found);
    sort_found(found);
    follow(b);
    return SK_OK;
}

const uint8_t *sk_background_picture(const sk_background *b)
{
    return b->picture;
}

double sk_background_threshold(const sk_background *b)
{
    return b->threshold;
}
