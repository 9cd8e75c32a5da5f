/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_PARAMETER_TABLE_H
#define SK_ROS_PARAMETER_TABLE_H

/* The table lies where the library's own node (skitter/node_core.h) reads it. */
#include "app/node_parameters.h" /* IWYU pragma: export */

#endif
