/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/dlpack.h"

#include "base/frame.h"
#include "base/instances.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* --- frames in --- */

#define MOST_PIXELS_A_SIDE 65535

static sk_status wrong(const char *what, sk_error *err)
{
    return sk_fail(
        err, SK_ERR_ARG,
        "DLPack tensor: %s. A frame is [height][width] or [height][width][channels], unsigned 8 bits", what);
}

static sk_status place_of(const sk_dl_tensor *t, sk_frame *f, sk_error *err)
{
    f->device = t->device.id;
    switch (t->device.type) {
    case SK_DL_CPU: f->place = SK_PLACE_HOST; return SK_OK;
    case SK_DL_CUDA_HOST:
    case SK_DL_ROCM_HOST: f->place = SK_PLACE_PINNED; return SK_OK;
    case SK_DL_CUDA:
    case SK_DL_CUDA_MANAGED: f->place = SK_PLACE_CUDA; break;
    case SK_DL_ROCM: f->place = SK_PLACE_ROCM; break;
    default:
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "DLPack tensor: memory of device type %d is not known here; give it in host or CUDA memory",
            (int)t->device.type);
    }
    return f->device >= 0 ? SK_OK : wrong("the number of its device is negative", err);
}

/* The pixel format of so many channels, as far as `format` agrees. */
static sk_status format_of(int64_t channels, int bits, sk_pixel_format format, sk_frame *f, sk_error *err)
{
    static const sk_pixel_format usual[5] = {SK_PIXEL_NONE, SK_PIXEL_GRAY, SK_PIXEL_NONE, SK_PIXEL_RGB,
                                             SK_PIXEL_RGBA};
    if (channels < 1 || channels > 4 || channels == 2 || (bits == 16 && channels != 1))
        return sk_fail(err, SK_ERR_ARG,
                       "DLPack tensor: %lld channels of %d bits are no picture; 1, 3 or 4 of 8 bits, or 1 of "
                       "16 are, the "
                       "channels last: [height][width][channels]",
                       (long long)channels, bits);
    f->format = bits == 16 ? SK_PIXEL_GRAY16 : usual[channels];
    if (format == SK_PIXEL_NONE || format == f->format)
        return SK_OK;
    if ((format == SK_PIXEL_BGR && channels == 3) || (format == SK_PIXEL_BGRA && channels == 4)) {
        f->format = format;
        return SK_OK;
    }
    return sk_fail(err, SK_ERR_ARG, "DLPack tensor: %lld channels of %d bits are not pixel format %d",
                   (long long)channels, bits, (int)format);
}

/* Elements of a dimension of one lie anywhere: its stride says nothing. */
static bool lies(const sk_dl_tensor *t, int32_t dim, int64_t expected)
{
    return !t->strides || t->shape[dim] == 1 || t->strides[dim] == expected;
}

/* Elements that are no pixels, by the names that people give them. */
static sk_status refuse_type(const sk_dl_tensor *t, sk_error *err)
{
    const sk_dl_type type = t->dtype;
    static const char *const names[] = {"signed integers", "unsigned integers", "floats",  "handles",
                                        "bfloats",         "complex numbers",   "booleans"};
    const char *name = type.code < sizeof names / sizeof *names ? names[type.code] : "of an unknown type";
    return sk_fail(
        err, SK_ERR_ARG,
        "DLPack tensor: its elements are %s of %d bits, %d lanes; unsigned 8 bits (grey also 16) are taken%s",
        name, type.bits, t->dtype.lanes,
        type.code == SK_DL_FLOAT ? ": times 255 where they go from 0 to 1" : "");
}

static sk_status describe(const sk_dl_tensor *t, sk_pixel_format format, sk_frame *f, sk_error *err)
{
    if (!t->data || !t->shape)
        return wrong("no memory", err);
    if (t->ndim != 2 && t->ndim != 3)
        return sk_fail(err, SK_ERR_ARG,
                       "DLPack tensor: %d dimensions; a frame has 2 or 3, one picture at a time: "
                       "[height][width][channels]",
                       (int)t->ndim);
    if (t->dtype.code != SK_DL_UINT || t->dtype.lanes != 1 || (t->dtype.bits != 8 && t->dtype.bits != 16))
        return refuse_type(t, err);
    const int64_t height = t->shape[0], width = t->shape[1], channels = t->ndim == 3 ? t->shape[2] : 1;
    SK_TRY(format_of(channels, t->dtype.bits, format, f, err));
    if (height < 1 || width < 1 || height > MOST_PIXELS_A_SIDE || width > MOST_PIXELS_A_SIDE)
        return sk_fail(err, SK_ERR_ARG, "DLPack tensor: a picture of %lld x %lld pixels is not possible",
                       (long long)width, (long long)height);
    if ((t->ndim == 3 && !lies(t, 2, 1)) || !lies(t, 1, channels))
        return wrong(
            "its pixels do not lie together (channels first, or every second one?); make it contiguous", err);
    int64_t row = width * channels;
    if (t->strides && height > 1) {
        if (t->strides[0] < row || t->strides[0] > INT64_MAX / 4 / height)
            return wrong("its rows overlap or run upwards; make it contiguous", err);
        row = t->strides[0];
    }
    f->width = (int32_t)width;
    f->height = (int32_t)height;
    f->stride = (ptrdiff_t)row * (t->dtype.bits / 8);
    f->data = (uint8_t *)t->data + t->byte_offset;
    return place_of(t, f, err);
}

static void release_versioned(void *context, const sk_frame *frame)
{
    (void)frame;
    sk_dl_managed_versioned *tensor = context;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

static void release_old(void *context, const sk_frame *frame)
{
    (void)frame;
    sk_dl_managed *tensor = context;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

static sk_status take(const sk_dl_tensor *t, sk_pixel_format format, sk_frame *out,
                      void (*release)(void *, const sk_frame *), void *context, sk_error *err)
{
    const uint32_t size = out->size;
    if (size < sizeof *out)
        return sk_fail(err, SK_ERR_ARG, "a frame begins with SK_FRAME_INIT (its size is %u)", size);
    sk_frame f = *out;
    SK_TRY(describe(t, format, &f, err));
    SK_TRY(sk_frame_check(&f, err));
    f.release = release;
    f.release_context = context;
    *out = f;
    return SK_OK;
}

sk_status sk_frame_from_dlpack(sk_dl_managed_versioned *tensor, sk_pixel_format format, sk_frame *out,
                               sk_error *err)
{
    SK_CHECK_ARG(tensor && out, err);
    if (tensor->major != 1)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "DLPack tensor: version %u.%u; 1.x is known here",
                       tensor->major, tensor->minor);
    return take(&tensor->tensor, format, out, release_versioned, tensor, err);
}

sk_status sk_frame_from_dlpack_old(sk_dl_managed *tensor, sk_pixel_format format, sk_frame *out,
                                   sk_error *err)
{
    SK_CHECK_ARG(tensor && out, err);
    return take(&tensor->tensor, format, out, release_old, tensor, err);
}

/* --- results out --- */

#define DATA_ALIGNMENT 256 /* what DLPack asks of its makers */

/* What a tensor of ours hangs on. */
typedef struct lent_part {
    sk_dl_managed_versioned versioned;
    sk_dl_managed old;
    int64_t shape[3], strides[3];
    void (*release)(void *context);
    void *context;
} lent_part;

/* Where a part lies in the list: bytes from one instance to the next, 0: not evenly. */
typedef struct part_view {
    int32_t inner[2]; /* sizes behind [n]; 0: none */
    bool whole;       /* int32, else float */
    const void *first;
    size_t step;
} part_view;

static bool has_all(const sk_instances *list, uint32_t bit)
{
    for (int32_t i = 0; list->items && i < list->count; i++)
        if (!(list->items[i].has & bit))
            return false;
    return true;
}

static bool keypoints_lie_evenly(const sk_instances *list)
{
    for (int32_t i = 0; i < list->count; i++)
        if (list->items[i].first_keypoint != list->items[0].first_keypoint + i * list->n_keypoints)
            return false;
    return has_all(list, SK_HAS_KEYPOINTS);
}

static sk_status view_part(const sk_instances *list, sk_part part, part_view *v, sk_error *err)
{
    const sk_found *items = list->count > 0 ? list->items : NULL;
    *v = (part_view){.step = sizeof *items};
    switch (part) {
    case SK_PART_KEYPOINTS:
        v->inner[0] = list->n_keypoints;
        v->inner[1] = 3;
        v->step = items && keypoints_lie_evenly(list) ? (size_t)list->n_keypoints * sizeof(sk_keypoint) : 0;
        v->first = items ? list->keypoints + items[0].first_keypoint : NULL;
        break;
    case SK_PART_BOXES:
        v->inner[0] = 4;
        v->first = items ? items[0].box : NULL;
        v->step = has_all(list, SK_HAS_BOX) ? v->step : 0;
        break;
    case SK_PART_OBBS:
        v->inner[0] = 5;
        v->first = items ? items[0].obb : NULL;
        v->step = has_all(list, SK_HAS_OBB) ? v->step : 0;
        break;
    case SK_PART_SCORES: v->first = items ? &items[0].score : NULL; break;
    case SK_PART_CLASSES:
        v->whole = true;
        v->first = items ? &items[0].class_id : NULL;
        break;
    case SK_PART_TRACKS:
        v->whole = true;
        v->first = items ? &items[0].track_id : NULL;
        break;
    default: return sk_fail(err, SK_ERR_ARG, "results have no part %d (SK_PART_…)", (int)part);
    }
    return SK_OK;
}

static void copy_instance(const sk_instances *list, int32_t i, sk_part part, void *to)
{
    const sk_found *in = &list->items[i];
    float *values = to;
    switch (part) {
    case SK_PART_KEYPOINTS:
        if (in->has & SK_HAS_KEYPOINTS) {
            memcpy(to, list->keypoints + in->first_keypoint, (size_t)list->n_keypoints * sizeof(sk_keypoint));
            break;
        }
        for (int32_t k = 0; k < list->n_keypoints; k++) {
            values[3 * k] = values[3 * k + 1] = NAN;
            values[3 * k + 2] = 0;
        }
        break;
    case SK_PART_BOXES:
        for (int k = 0; k < 4; k++)
            values[k] = in->has & SK_HAS_BOX ? in->box[k] : NAN;
        break;
    case SK_PART_OBBS:
        for (int k = 0; k < 5; k++)
            values[k] = in->has & SK_HAS_OBB ? in->obb[k] : NAN;
        break;
    case SK_PART_SCORES: memcpy(to, &in->score, 4); break;
    case SK_PART_CLASSES: memcpy(to, &in->class_id, 4); break;
    default: memcpy(to, &in->track_id, 4); break;
    }
}

static void end_part(lent_part *p)
{
    if (p->release)
        p->release(p->context);
    sk_free(p);
}

static void delete_versioned(sk_dl_managed_versioned *self)
{
    if (self)
        end_part(self->manager);
}

static void delete_old(sk_dl_managed *self)
{
    if (self)
        end_part(self->manager);
}

static void describe_part(const sk_instances *list, const part_view *v, sk_dl_tensor *t, lent_part *p)
{
    *t = (sk_dl_tensor){.device = {SK_DL_CPU, 0},
                        .ndim = 1 + (v->inner[0] > 0 || v->inner[1] > 0) + (v->inner[1] > 0),
                        .dtype = {v->whole ? SK_DL_INT : SK_DL_FLOAT, 32, 1},
                        .shape = p->shape,
                        .strides = p->strides};
    p->shape[0] = list->count;
    p->shape[1] = v->inner[0];
    p->shape[2] = v->inner[1];
    int64_t step = 1;
    for (int32_t d = t->ndim - 1; d >= 0; d--) {
        p->strides[d] = step;
        step *= p->shape[d] > 0 ? p->shape[d] : 1;
    }
}

static sk_status make_part(const sk_instances *list, sk_part part, void (*release)(void *), void *context,
                           lent_part **out, sk_error *err)
{
    static const sk_instances none = {0};
    part_view v;
    list = list ? list : &none;
    SK_TRY(view_part(list, part, &v, err));
    const size_t one = 4 * (size_t)(v.inner[1]   ? v.inner[0] * v.inner[1]
                                    : v.inner[0] ? v.inner[0]
                                                 : part != SK_PART_KEYPOINTS);
    const bool borrowed = release && v.first && v.step && one;
    const size_t head = (sizeof(lent_part) + DATA_ALIGNMENT - 1) / DATA_ALIGNMENT * DATA_ALIGNMENT;
    const size_t bytes = head + (borrowed ? 0 : one * (size_t)list->count) + 4;
    lent_part *p = sk_aligned_calloc(DATA_ALIGNMENT, bytes);
    if (!p)
        return sk_fail_memory(err, bytes);
    sk_dl_tensor t;
    describe_part(list, &v, &t, p);
    if (borrowed) {
        t.data = (void *)(uintptr_t)v.first; /* marked as read-only */
        p->strides[0] = (int64_t)(v.step / 4);
        p->release = release;
        p->context = context;
    } else {
        t.data = (char *)p + head;
        for (int32_t i = 0; i < list->count; i++)
            copy_instance(list, i, part, (char *)t.data + one * (size_t)i);
        if (release)
            release(context);
    }
    p->versioned = (sk_dl_managed_versioned){.major = 1,
                                             .manager = p,
                                             .deleter = delete_versioned,
                                             .flags = borrowed ? SK_DL_READ_ONLY : SK_DL_IS_COPIED,
                                             .tensor = t};
    p->old = (sk_dl_managed){.tensor = t, .manager = p, .deleter = delete_old};
    *out = p;
    return SK_OK;
}

sk_status sk_instances_to_dlpack(const sk_instances *list, sk_part part, void (*release)(void *context),
                                 void *context, sk_dl_managed_versioned **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    lent_part *p = NULL;
    SK_TRY(make_part(list, part, release, context, &p, err));
    *out = &p->versioned;
    return SK_OK;
}

sk_status sk_instances_to_dlpack_old(const sk_instances *list, sk_part part, void (*release)(void *context),
                                     void *context, sk_dl_managed **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    lent_part *p = NULL;
    SK_TRY(make_part(list, part, release, context, &p, err));
    *out = &p->old;
    return SK_OK;
}
