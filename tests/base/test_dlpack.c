/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/dlpack.h"

#include "base/instances.h"
#include "base/memory.h"
#include "support/fault.h"
#include "support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* The structs lie as DLPack 1.0 says, on machines of 64 bits. */
_Static_assert(sizeof(sk_dl_tensor) == 48 && offsetof(sk_dl_tensor, device) == 8 &&
                   offsetof(sk_dl_tensor, ndim) == 16 && offsetof(sk_dl_tensor, dtype) == 20 &&
                   offsetof(sk_dl_tensor, shape) == 24 && offsetof(sk_dl_tensor, strides) == 32 &&
                   offsetof(sk_dl_tensor, byte_offset) == 40,
               "DLTensor");
_Static_assert(sizeof(sk_dl_managed) == 64 && offsetof(sk_dl_managed, manager) == 48 &&
                   offsetof(sk_dl_managed, deleter) == 56,
               "DLManagedTensor");
_Static_assert(sizeof(sk_dl_managed_versioned) == 80 && offsetof(sk_dl_managed_versioned, manager) == 8 &&
                   offsetof(sk_dl_managed_versioned, deleter) == 16 &&
                   offsetof(sk_dl_managed_versioned, flags) == 24 &&
                   offsetof(sk_dl_managed_versioned, tensor) == 32,
               "DLManagedTensorVersioned");

/* --- in --- */

static int deleted;
static uint8_t pixels[4096];

static void delete_it(sk_dl_managed_versioned *self)
{
    (void)self;
    deleted++;
}

static void delete_old(sk_dl_managed *self)
{
    (void)self;
    deleted++;
}

typedef struct made {
    int64_t shape[4], strides[4];
    sk_dl_managed_versioned m;
} made;

/* 5 x 6 pixels of 3 bytes in rows of 20, from the tenth byte on. */
static made *make(void)
{
    static made t;
    t = (made){.shape = {5, 6, 3}, .strides = {20, 3, 1}};
    t.m = (sk_dl_managed_versioned){.major = 1,
                                    .minor = 1,
                                    .deleter = delete_it,
                                    .tensor = {.data = pixels,
                                               .device = {SK_DL_CPU, 0},
                                               .ndim = 3,
                                               .dtype = {SK_DL_UINT, 8, 1},
                                               .shape = t.shape,
                                               .strides = t.strides,
                                               .byte_offset = 10}};
    deleted = 0;
    return &t;
}

static void a_tensor_is_a_frame(void **state)
{
    (void)state;
    sk_error err = {0};
    made *t = make();
    sk_frame f = SK_FRAME_INIT;
    f.index = 7;
    f.time_ns = 9;
    assert_ok(sk_frame_from_dlpack(&t->m, SK_PIXEL_NONE, &f, &err), &err);
    assert_true(f.format == SK_PIXEL_RGB && f.width == 6 && f.height == 5 && f.stride == 20);
    assert_ptr_equal(f.data, pixels + 10);
    assert_true(f.place == SK_PLACE_HOST && f.index == 7 && f.time_ns == 9);
    assert_int_equal(deleted, 0);
    f.release(f.release_context, &f);
    assert_int_equal(deleted, 1);
    t = make();
    f = (sk_frame)SK_FRAME_INIT;
    assert_ok(sk_frame_from_dlpack(&t->m, SK_PIXEL_BGR, &f, &err), &err);
    assert_int_equal(f.format, SK_PIXEL_BGR);
    /* no strides: no gaps */
    t = make();
    t->m.tensor.strides = NULL;
    assert_ok(sk_frame_from_dlpack(&t->m, SK_PIXEL_RGB, &f, &err), &err);
    assert_int_equal(f.stride, 18);
    /* four channels, pinned; grey on a device; 16 bits */
    t = make();
    t->shape[2] = 4;
    t->strides[0] = 24, t->strides[1] = 4;
    t->m.tensor.device.type = SK_DL_CUDA_HOST;
    assert_ok(sk_frame_from_dlpack(&t->m, SK_PIXEL_BGRA, &f, &err), &err);
    assert_true(f.format == SK_PIXEL_BGRA && f.stride == 24 && f.place == SK_PLACE_PINNED);
    t = make();
    t->m.tensor.ndim = 2;
    t->strides[1] = 1;
    t->m.tensor.device = (sk_dl_device){SK_DL_CUDA, 3};
    assert_ok(sk_frame_from_dlpack(&t->m, SK_PIXEL_NONE, &f, &err), &err);
    assert_true(f.format == SK_PIXEL_GRAY && f.place == SK_PLACE_CUDA && f.device == 3 && f.stride == 20);
    t = make();
    t->shape[2] = 1;
    t->strides[1] = 1, t->strides[2] = 99; /* of one element: any */
    t->m.tensor.dtype.bits = 16;
    assert_ok(sk_frame_from_dlpack(&t->m, SK_PIXEL_NONE, &f, &err), &err);
    assert_true(f.format == SK_PIXEL_GRAY16 && f.stride == 40);
    /* before 1.0; a maker without a deleter */
    t = make();
    sk_dl_managed old = {.tensor = t->m.tensor, .deleter = delete_old};
    assert_ok(sk_frame_from_dlpack_old(&old, SK_PIXEL_NONE, &f, &err), &err);
    f.release(f.release_context, &f);
    assert_int_equal(deleted, 1);
    old.deleter = NULL;
    assert_ok(sk_frame_from_dlpack_old(&old, SK_PIXEL_NONE, &f, &err), &err);
    f.release(f.release_context, &f);
}

static void refused(made *t, sk_pixel_format format, sk_status code, const char *word)
{
    sk_error err = {0};
    sk_frame f = SK_FRAME_INIT;
    assert_int_equal(sk_frame_from_dlpack(&t->m, format, &f, &err), code);
    if (!strstr(err.message, word))
        fail_msg("'%s' does not say '%s'", err.message, word);
    assert_int_equal(deleted, 0);
    assert_null(f.data);
    assert_null(f.release);
}

static void what_is_no_picture_is_told(void **state)
{
    (void)state;
    made *t = make();
    t->m.major = 2;
    refused(t, SK_PIXEL_NONE, SK_ERR_UNSUPPORTED, "2.1");
    t = make();
    t->m.tensor.ndim = 4;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "4 dimensions");
    t = make();
    t->m.tensor.dtype.code = SK_DL_FLOAT;
    t->m.tensor.dtype.bits = 32;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "floats of 32 bits");
    static const char *const elements[] = {
        "signed integers",   "unsigned integers", "floats",   "handles",
        "bfloats",           "complex numbers",   "booleans", "of an unknown type",
        "of an unknown type"};
    for (uint8_t code = 0; code < 9; code++) {
        char words[64];
        snprintf(words, sizeof words, "its elements are %s of 64 bits", elements[code]);
        t = make();
        t->m.tensor.dtype.code = code;
        t->m.tensor.dtype.bits = 64;
        refused(t, SK_PIXEL_NONE, SK_ERR_ARG, words);
    }
    t = make();
    t->m.tensor.dtype.lanes = 4;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "4 lanes");
    t = make();
    t->m.tensor.device.type = 8;
    refused(t, SK_PIXEL_NONE, SK_ERR_UNSUPPORTED, "device type 8");
    t = make();
    t->shape[0] = 3, t->shape[1] = 5, t->shape[2] = 6; /* channels first */
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "channels last");
    t = make();
    t->strides[1] = 1, t->strides[2] = 30; /* channels first, seen as last */
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "do not lie together");
    t = make();
    t->strides[0] = -20;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "run upwards");
    t = make();
    t->strides[0] = 17;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "overlap");
    t = make();
    t->strides[0] = INT64_MAX;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "rows");
    t = make();
    t->shape[1] = 70000;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "70000");
    t = make();
    t->shape[0] = 0;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "6 x 0");
    t = make();
    refused(t, SK_PIXEL_GRAY, SK_ERR_ARG, "3 channels");
    refused(t, SK_PIXEL_NV12, SK_ERR_ARG, "3 channels");
    t->m.tensor.data = NULL;
    refused(t, SK_PIXEL_NONE, SK_ERR_ARG, "no memory");
    t = make();
    sk_frame f = {0};
    sk_error err = {0};
    assert_int_equal(sk_frame_from_dlpack(&t->m, SK_PIXEL_NONE, &f, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "SK_FRAME_INIT"));
}

/* --- out --- */

static int released;

static void release(void *context)
{
    released += *(int *)context;
}

/* Three instances of two keypoints; the second has none of anything. */
static sk_instances make_list(bool all)
{
    sk_error err = {0};
    sk_instances list = {0};
    assert_ok(sk_instances_alloc(4, 2, &list, &err), &err);
    for (int i = 0; i < 3; i++) {
        sk_found *in = sk_instances_add(&list);
        in->score = 0.1f * (float)i;
        in->class_id = 10 + i;
        if (i == 1 && !all)
            continue;
        in->has = SK_HAS_BOX | SK_HAS_KEYPOINTS;
        for (int k = 0; k < 4; k++)
            in->box[k] = (float)(10 * i + k);
        for (int k = 0; k < 2; k++)
            list.keypoints[in->first_keypoint + k] =
                (sk_keypoint){(float)(100 * i + k), (float)(100 * i + k) + 0.5f, 0.9f};
    }
    return list;
}

static float at(const sk_dl_tensor *t, int64_t i, int64_t j, int64_t k)
{
    const int64_t place =
        i * t->strides[0] + (t->ndim > 1 ? j * t->strides[1] : 0) + (t->ndim > 2 ? k * t->strides[2] : 0);
    return ((const float *)t->data)[place];
}

static void check_values(const sk_instances *list, bool lent, bool whole)
{
    sk_error err = {0};
    int one = 1;
    sk_dl_managed_versioned *t = NULL;
    released = 0;
    assert_ok(sk_instances_to_dlpack(list, SK_PART_KEYPOINTS, lent ? release : NULL, &one, &t, &err), &err);
    assert_true(t->major == 1 && t->tensor.ndim == 3 && t->tensor.shape[0] == 3 && t->tensor.shape[1] == 2 &&
                t->tensor.shape[2] == 3);
    assert_true(t->tensor.dtype.code == SK_DL_FLOAT && t->tensor.dtype.bits == 32 &&
                t->tensor.dtype.lanes == 1);
    assert_int_equal(t->flags, lent && whole ? SK_DL_READ_ONLY : SK_DL_IS_COPIED);
    assert_int_equal(released, lent && !whole ? 1 : 0);
    assert_true((t->tensor.data == (void *)list->keypoints) == (lent && whole));
    assert_true(at(&t->tensor, 2, 1, 0) == 201 && at(&t->tensor, 2, 1, 1) == 201.5f);
    assert_true(whole ? at(&t->tensor, 1, 0, 0) == 100 : isnan(at(&t->tensor, 1, 0, 0)));
    t->deleter(t);
    assert_int_equal(released, lent ? 1 : 0);
    assert_ok(sk_instances_to_dlpack(list, SK_PART_BOXES, lent ? release : NULL, &one, &t, &err), &err);
    assert_true(t->tensor.ndim == 2 && t->tensor.shape[1] == 4 && at(&t->tensor, 2, 3, 0) == 23);
    assert_true(whole ? at(&t->tensor, 1, 0, 0) == 10 : isnan(at(&t->tensor, 1, 0, 0)));
    t->deleter(t);
    sk_dl_managed *old = NULL;
    assert_ok(sk_instances_to_dlpack_old(list, SK_PART_SCORES, lent ? release : NULL, &one, &old, &err),
              &err);
    assert_true(old->tensor.ndim == 1 && at(&old->tensor, 2, 0, 0) == 0.2f);
    assert_int_equal((uintptr_t)old->tensor.data % 256 == 0, !lent);
    old->deleter(old);
    assert_ok(sk_instances_to_dlpack(list, SK_PART_CLASSES, lent ? release : NULL, &one, &t, &err), &err);
    assert_int_equal(t->tensor.dtype.code, SK_DL_INT);
    assert_int_equal(((const int32_t *)t->tensor.data)[2 * t->tensor.strides[0]], 12);
    t->deleter(t);
    assert_int_equal(released, lent ? 4 : 0);
}

static void results_are_tensors(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        sk_instances list = make_list(whole);
        check_values(&list, false, whole);
        check_values(&list, true, whole);
        sk_instances_free(&list);
    }
}

/* Every part of every instance, or what stands for nothing. */
static void parts_hold_what_instances_hold(void **state)
{
    (void)state;
    for (int lent = 0; lent < 2; lent++)
        for (int all = 0; all < 2; all++) {
            sk_error err = {0};
            int one = 1;
            sk_instances list = make_list(all);
            for (int i = 0; i < 3; i++) {
                list.items[i].track_id = 70 + i;
                list.items[i].has |= all || i != 1 ? SK_HAS_OBB : 0;
                for (int k = 0; k < 5; k++)
                    list.items[i].obb[k] = (float)(1000 * i + k);
            }
            sk_dl_managed_versioned *t = NULL;
            assert_ok(sk_instances_to_dlpack(&list, SK_PART_OBBS, lent ? release : NULL, &one, &t, &err),
                      &err);
            assert_true(t->tensor.ndim == 2 && t->tensor.shape[0] == 3 && t->tensor.shape[1] == 5);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 5; k++)
                    assert_true(all || i != 1 ? at(&t->tensor, i, k, 0) == (float)(1000 * i + k)
                                              : isnan(at(&t->tensor, i, k, 0)));
            t->deleter(t);
            assert_ok(sk_instances_to_dlpack(&list, SK_PART_TRACKS, lent ? release : NULL, &one, &t, &err),
                      &err);
            assert_true(t->tensor.ndim == 1 && t->tensor.shape[0] == 3 && t->tensor.dtype.code == SK_DL_INT &&
                        t->tensor.dtype.bits == 32);
            for (int i = 0; i < 3; i++)
                assert_int_equal(((const int32_t *)t->tensor.data)[i * t->tensor.strides[0]], 70 + i);
            t->deleter(t);
            assert_ok(sk_instances_to_dlpack(&list, SK_PART_KEYPOINTS, lent ? release : NULL, &one, &t, &err),
                      &err);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 2; k++) {
                    assert_true(all || i != 1 ? at(&t->tensor, i, k, 1) == (float)(100 * i + k) + 0.5f
                                              : isnan(at(&t->tensor, i, k, 1)));
                    assert_true(at(&t->tensor, i, k, 2) == (all || i != 1 ? 0.9f : 0.0f));
                }
            t->deleter(t);
            assert_ok(sk_instances_to_dlpack(&list, SK_PART_BOXES, lent ? release : NULL, &one, &t, &err),
                      &err);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 4; k++)
                    assert_true(all || i != 1 ? at(&t->tensor, i, k, 0) == (float)(10 * i + k)
                                              : isnan(at(&t->tensor, i, k, 0)));
            t->deleter(t);
            sk_instances_free(&list);
        }
}

static void no_results_are_a_tensor_too(void **state)
{
    (void)state;
    sk_error err = {0};
    int one = 1;
    const sk_instances none = {.n_keypoints = 17};
    released = 0;
    for (int part = SK_PART_KEYPOINTS; part <= SK_PART_TRACKS; part++) {
        sk_dl_managed_versioned *t = NULL;
        assert_ok(sk_instances_to_dlpack(part % 2 ? &none : NULL, (sk_part)part, release, &one, &t, &err),
                  &err);
        assert_int_equal(t->tensor.shape[0], 0);
        assert_non_null(t->tensor.data);
        t->deleter(t);
    }
    assert_int_equal(released, 6);
    sk_dl_managed_versioned *t = NULL;
    assert_int_equal(sk_instances_to_dlpack(&none, (sk_part)9, release, &one, &t, &err), SK_ERR_ARG);
    assert_null(t);
    assert_int_equal(released, 6);
}

static sk_status make_one(void *context, sk_error *err)
{
    sk_dl_managed_versioned *t = NULL;
    SK_TRY(sk_instances_to_dlpack(context, SK_PART_KEYPOINTS, NULL, NULL, &t, err));
    t->deleter(t);
    return SK_OK;
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    sk_instances list = make_list(true);
    assert_true(test_every_allocation(make_one, &list) >= 1);
    sk_instances_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_is_a_frame),         cmocka_unit_test(what_is_no_picture_is_told),
        cmocka_unit_test(results_are_tensors),         cmocka_unit_test(parts_hold_what_instances_hold),
        cmocka_unit_test(no_results_are_a_tensor_too), cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
