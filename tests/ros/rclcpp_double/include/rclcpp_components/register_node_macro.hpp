// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <rclcpp/rclcpp.hpp>
// A component is made by its options alone.
#define RCLCPP_COMPONENTS_REGISTER_NODE(Class) \
  extern "C" std::shared_ptr<void> make_component(const rclcpp::NodeOptions & options); \
  extern "C" std::shared_ptr<void> make_component(const rclcpp::NodeOptions & options) \
  { \
    return std::make_shared<Class>(options); \
  }
