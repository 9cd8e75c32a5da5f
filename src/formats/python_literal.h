/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_PYTHON_LITERAL_H
#define SK_FORMATS_PYTHON_LITERAL_H

#include "formats/config.h"

/* What Python's repr() writes and ast.literal_eval() reads: numbers, strings with escapes (also adjacent
 * ones, r'', b'', u''), True, False, None, lists, tuples, sets and dicts, e.g. the `names` of an
 * Ultralytics ONNX export, "{0: 'person', 1: 'bicycle'}". Also the floats nan and inf. No names, calls,
 * operators or complex numbers: nothing is evaluated. Tuples and sets become lists. */
sk_status sk_python_literal_open(const char *text, size_t length, const char *what, sk_config **out,
                                 sk_error *err) SK_MUST_CHECK;

#endif
