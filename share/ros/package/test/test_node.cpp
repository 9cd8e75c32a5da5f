// SPDX-License-Identifier: Apache-2.0
// The node's states and parameters; with VISION_TEST_WEIGHTS=/path/to/model an image passes through it, too.
#include "{{package_name}}/node.hpp"

#include <gtest/gtest.h>
#include <lifecycle_msgs/msg/state.hpp>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using lifecycle_msgs::msg::State;
using {{package_name}}::{{class_name}};

namespace
{
rclcpp::NodeOptions options(std::vector<rclcpp::Parameter> parameters)
{
  parameters.emplace_back("autostart", false);
  return rclcpp::NodeOptions().parameter_overrides(parameters);
}

class Running : public ::testing::Test
{
protected:
  void SetUp() override {rclcpp::init(0, nullptr);}
  void TearDown() override {rclcpp::shutdown();}
};
}  // namespace

TEST_F(Running, HasEveryParameter)
{
  const auto node = std::make_shared<{{class_name}}>(options({}));
{{#parameters}}
  EXPECT_TRUE(node->has_parameter({{.name|cpp}}));
{{/parameters}}
  EXPECT_FALSE(node->set_parameter(rclcpp::Parameter("qos_reliability", "sometimes")).successful);
  EXPECT_TRUE(node->set_parameter(rclcpp::Parameter("frame_skip", 2)).successful);
  EXPECT_FALSE(node->set_parameter(rclcpp::Parameter("frame_skip", -1)).successful);
}

TEST_F(Running, StaysUnconfiguredWithoutItsModel)
{
  const auto node = std::make_shared<{{class_name}}>(
    options({rclcpp::Parameter("weights_path", "/nowhere/model.pt"), rclcpp::Parameter("compute_runtime", "cpu")}));
  EXPECT_EQ(node->configure().id(), State::PRIMARY_STATE_UNCONFIGURED);
}

TEST_F(Running, AnImagePassesThrough)
{
  const char * weights = std::getenv("VISION_TEST_WEIGHTS");
  if (!weights) {
    GTEST_SKIP() << "VISION_TEST_WEIGHTS names no model";
  }
  const auto node = std::make_shared<{{class_name}}>(
    options(
      {rclcpp::Parameter("weights_path", weights), rclcpp::Parameter("compute_runtime", "cpu"),
        rclcpp::Parameter("input_topic", "test_image"), rclcpp::Parameter("qos_reliability", "reliable"),
        rclcpp::Parameter("second_weights_path", std::getenv("VISION_TEST_SECOND") ? std::getenv("VISION_TEST_SECOND") : "")}));
  const auto peer = std::make_shared<rclcpp::Node>("peer");
  std::shared_ptr<const vision_msgs::msg::Detection2DArray> got;
  const auto images = peer->create_publisher<sensor_msgs::msg::Image>("test_image", rclcpp::QoS(5));
  ASSERT_EQ(node->configure().id(), State::PRIMARY_STATE_INACTIVE);
  EXPECT_FALSE(node->set_parameter(rclcpp::Parameter("qos_depth", 64)).successful) << "while it is configured";
  ASSERT_EQ(node->activate().id(), State::PRIMARY_STATE_ACTIVE);
  std::string topic = {{detections_topic|cpp}};
  if (topic.substr(0, 2) == "~/") {
    topic = std::string({{node_name|cpp}}) + topic.substr(1);
  }
  const auto results = peer->create_subscription<vision_msgs::msg::Detection2DArray>(
    topic, rclcpp::QoS(5),
    [&got](std::shared_ptr<const vision_msgs::msg::Detection2DArray> message) {got = message;});
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node->get_node_base_interface());
  executor.add_node(peer);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!got && std::chrono::steady_clock::now() < end) {
    auto image = std::make_unique<sensor_msgs::msg::Image>();
    image->width = 64;
    image->height = 48;
    image->step = 3 * 64;
    image->encoding = "rgb8";
    image->data.assign(image->step * image->height, 127);
    image->header.frame_id = "camera";
    image->header.stamp.sec = 12;
    images->publish(std::move(image));
    for (int i = 0; i < 20 && !got; i++) {
      executor.spin_some(std::chrono::milliseconds(10));
    }
  }
  ASSERT_TRUE(got);
  EXPECT_EQ(got->header.frame_id, "camera");
  EXPECT_EQ(got->header.stamp.sec, 12);
  EXPECT_EQ(node->deactivate().id(), State::PRIMARY_STATE_INACTIVE);
  EXPECT_EQ(node->cleanup().id(), State::PRIMARY_STATE_UNCONFIGURED);
  EXPECT_EQ(node->configure().id(), State::PRIMARY_STATE_INACTIVE) << "and once more";
}
