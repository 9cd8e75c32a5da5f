/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_TORCH_WRITER_H
#define SK_TESTS_SUPPORT_TORCH_WRITER_H

#include "graph/tensor.h"

/* Writes checkpoints as torch.save does (protocol 2, stored zip entries with data descriptors, payloads on 64-byte
 * boundaries), so that tests need no files from outside. Ends the test program when memory is out. */

typedef struct tw_buffer {
    uint8_t *bytes;
    size_t length, capacity;
} tw_buffer;

void tw_bytes(tw_buffer *b, const void *bytes, size_t length);
void tw_byte(tw_buffer *b, int byte);
void tw_little(tw_buffer *b, uint64_t value, int bytes);
void tw_free(tw_buffer *b);

/* --- zip --- */

typedef struct tw_zip {
    tw_buffer out, directory;
    int count;
    bool deflate;       /* compress the entries */
    bool no_descriptor; /* sizes in the local header */
    bool no_crc;        /* as torch.serialization.set_crc32_options(False) */
    bool zip64;         /* 64-bit sizes and end record */
    bool unaligned;     /* no padding */
} tw_zip;

void tw_zip_add(tw_zip *zip, const char *name, const void *bytes, size_t length);
void tw_zip_finish(tw_zip *zip); /* afterwards zip->out is the archive */
void tw_zip_free(tw_zip *zip);

/* --- pickle --- */

/* Sees every integer before it is written and says what is written instead. */
typedef int64_t tw_hook(void *context, int64_t value);
typedef const char *tw_text_hook(void *context, const char *text);

typedef struct tw_pickle {
    tw_buffer out;
    tw_hook *hook; /* null: none */
    tw_text_hook *text_hook;
    void *context;
    uint32_t memo;
    struct tw_storage {
        void *bytes;
        size_t length;
    } * storages;
    int n_storages;
} tw_pickle;

void tw_start(tw_pickle *p); /* PROTO 2 */
void tw_stop(tw_pickle *p);
uint32_t tw_memoize(tw_pickle *p); /* BINPUT; returns the index */
void tw_get(tw_pickle *p, uint32_t index);
void tw_none(tw_pickle *p);
void tw_bool(tw_pickle *p, bool value);
void tw_int(tw_pickle *p, int64_t value);
void tw_real(tw_pickle *p, double value);
void tw_text(tw_pickle *p, const char *text);
void tw_global(tw_pickle *p, const char *module, const char *name);
void tw_ints(tw_pickle *p, const int64_t *values, int count); /* tuple */
void tw_dict_begin(tw_pickle *p);                             /* EMPTY_DICT MARK */
void tw_dict_end(tw_pickle *p);                               /* SETITEMS */
void tw_ordered_begin(tw_pickle *p);
void tw_list_begin(tw_pickle *p);
void tw_list_end(tw_pickle *p);
/* An object and its state: keys and values follow until tw_object_end. */
void tw_object_begin(tw_pickle *p, const char *module, const char *class_name);
void tw_object_end(tw_pickle *p);
/* A tensor with its own storage; `values` are converted to dtype. parameter: wrapped in _rebuild_parameter. */
void tw_tensor(tw_pickle *p, sk_dtype dtype, const sk_shape *shape, const float *values, bool parameter);
/* The same with explicit storage key, element count, offset and strides; adds no storage. */
void tw_tensor_raw(tw_pickle *p, const char *storage_class, const char *key, int64_t count, int64_t offset,
                   const int64_t *dims, const int64_t *strides, int rank);
void tw_pickle_free(tw_pickle *p);

/* The whole checkpoint, "<root>/data.pkl", "<root>/data/N" and so on, into `zip` (options may be set before). */
void tw_checkpoint(tw_zip *zip, const char *root, const tw_pickle *p);
/* Writes the archive to a file of test_folder(); returns its path (static buffer). */
const char *tw_save(const tw_zip *zip, const char *name);

#endif
