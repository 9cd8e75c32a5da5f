/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_ORT_ORT_DEVICE_H
#define SK_ENGINES_ORT_ORT_DEVICE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* An NVIDIA device's side of a session: memory for the ends of the model, and the one stream on which it is filled, run and
 * read. ONNX Runtime copies an input that lies on the host when it is *bound*, so what is bound once has to lie on the device.
 * Through the driver's library, loaded at run time; in the primary context, which ONNX Runtime works in too. */
typedef struct ort_device ort_device;

sk_status ort_device_open(int32_t index, int32_t slots, ort_device **out, sk_error *err) SK_MUST_CHECK;
void ort_device_close(ort_device **device); /* frees what it gave; nulls the pointer */

/* The stream: a cudaStream_t. */
void *ort_device_stream(const ort_device *device);

/* Memory on the device, and host memory that transfers read and write directly, both until close. Host memory that cannot be
 * pinned is used as it is: the driver then copies through memory of its own. */
sk_status ort_device_buffer(ort_device *device, size_t bytes, void **out, sk_error *err) SK_MUST_CHECK;
void ort_device_pin(ort_device *device, void *host, size_t bytes);

/* Between these two the calling thread works on this device, whatever it worked on before: newer libraries do not choose it
 * themselves. */
sk_status ort_device_enter(const ort_device *device, sk_error *err) SK_MUST_CHECK;
void ort_device_leave(void);

/* Queued on the stream. */
sk_status ort_device_upload(ort_device *device, void *to, const void *host, size_t bytes,
                            sk_error *err) SK_MUST_CHECK;
sk_status ort_device_download(ort_device *device, void *host, const void *from, size_t bytes,
                              sk_error *err) SK_MUST_CHECK;
/* Marks on the stream, in the order a submit passes them; the last ends what belongs to the slot, and wait blocks until that
 * is done. */
typedef enum ort_mark { ORT_MARK_BEGIN = 0, ORT_MARK_UP, ORT_MARK_RUN, ORT_MARK_DOWN, ORT_MARKS } ort_mark;
sk_status ort_device_mark(ort_device *device, int32_t slot, ort_mark mark, sk_error *err) SK_MUST_CHECK;
sk_status ort_device_wait(ort_device *device, int32_t slot, sk_error *err) SK_MUST_CHECK;
/* After wait: seconds between the slot's marks, ORT_MARKS - 1 of them. */
sk_status ort_device_times(ort_device *device, int32_t slot, double *seconds, sk_error *err) SK_MUST_CHECK;
sk_status ort_device_settle(ort_device *device, sk_error *err) SK_MUST_CHECK; /* everything queued */

#endif
