/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_MODULE_WRITER_H
#define SK_TESTS_SUPPORT_MODULE_WRITER_H

#include "torch_writer.h"

/* A torch module in words, as an object of a pickle:
 *
 *     C3{cv1:Conv(8,4,1) cv2:Conv(8,4,1) cv3:Conv(8,8,1) m:Sequential{0:Bottleneck{cv1:Conv(4,4,1) cv2:Conv(4,4,3) add=T}}}
 *
 * name:Class is a part, name=value an attribute: an integer, a real (with a point), T, F, N (None), 'text' or (1,2). Numbers behind
 * a class make its tensors: Conv(in, out, kernel, stride, groups, bias, padding) is Ultralytics' block of convolution, norm and
 * SiLU; Conv2d(the same), Transposed(the same) of the class ConvTranspose2d, BatchNorm2d(channels, affine). What is not given is 1,
 * no bias, and half the kernel as padding, of Transposed none. Attributes in braces come behind those. Parameter(n) is a tensor among the parameters of the module it is a part of. Values are of
 * a small generator that begins at `seed`.
 *
 * `more` is written as attributes of the outermost module: "i=2 f=-1"; null: none. A text that is none of this fails the test. */
void module_write(tw_pickle *p, const char *words, const char *more, uint32_t seed);

#endif
