/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_TORCH_FILE_H
#define SK_FORMATS_TORCH_FILE_H

#include "formats/pickle.h"

/* A torch.save zip: the pickled tree and the storages it names. Knows nothing of YOLO or SLEAP. */

typedef struct sk_torch_file sk_torch_file;

/* Errors name the file and the remedy: LFS pointers, TorchScript archives, legacy (non-zip) checkpoints, truncated
 * files (with the byte count), plain foreign files. */
sk_status sk_torch_file_open(const char *path, sk_torch_file **out, sk_error *err) SK_MUST_CHECK;
/* From memory; borrowed until close. */
sk_status sk_torch_file_open_memory(const void *bytes, size_t length, const char *what, sk_torch_file **out,
                                    sk_error *err) SK_MUST_CHECK;
void sk_torch_file_close(sk_torch_file **file);

const sk_pickle_value *sk_torch_file_root(const sk_torch_file *file);
/* True when the zip directory was missing and only what could be salvaged (the pickle) is there: `info` still works,
 * tensors may fail with SK_ERR_FORMAT. */
bool sk_torch_file_truncated(const sk_torch_file *file);
size_t sk_torch_file_length(const sk_torch_file *file); /* bytes of the file */

/* Copies a tensor's elements, made contiguous and converted to `to` (f32 for weights), into a fresh blob. Checks
 * shape, strides and offset against the storage's real size. */
sk_status sk_torch_file_tensor(sk_torch_file *file, const sk_pickle_value *tensor, sk_dtype to, sk_blob **out,
                               sk_error *err) SK_MUST_CHECK;

#endif
