// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rclcpp/executors.hpp"
#include "rclcpp/logging.hpp"
#include "rclcpp/node.hpp"
