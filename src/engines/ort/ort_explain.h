/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_ORT_ORT_EXPLAIN_H
#define SK_ENGINES_ORT_ORT_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* What the loader's and NVIDIA's libraries' words mean to a person: which library is the wrong one, and what helps. */

/* Writes the meaning of a failure's text; false where it is none that is known. `cuda_here`: the CUDA version whose runtime this
 * machine's loader finds, 0 for none. */
bool ort_explain(const char *text, int cuda_here, char *out, size_t capacity);

/* "libcudnn.so.9: cannot open …" -> "libcudnn.so.9"; false where the text names no library. */
bool ort_missing_library(const char *message, char *name, size_t capacity);

/* The CUDA version of the runtime that the loader finds; 0: none. */
int ort_cuda_here(void);

#endif
