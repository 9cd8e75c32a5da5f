// SPDX-License-Identifier: Apache-2.0
#include "{{package_name}}/node.hpp"

#include <memory>

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  {
    const auto node = std::make_shared<{{package_name}}::{{class_name}}>();
    rclcpp::spin(node->get_node_base_interface());
  }
  rclcpp::shutdown();
  return 0;
}
