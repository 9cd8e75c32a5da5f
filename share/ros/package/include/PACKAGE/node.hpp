// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <skitter/log.h>
#include <skitter/node_core.h>

#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <rcl_interfaces/msg/set_parameters_result.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <rclcpp_lifecycle/lifecycle_publisher.hpp>
#include <sensor_msgs/msg/compressed_image.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <std_msgs/msg/header.hpp>
#include <vision_msgs/msg/detection2_d_array.hpp>
{{#has_keypoints}}
#include <{{package_name}}/msg/instance_array.hpp>
{{/has_keypoints}}
{{#has_tracks}}
#include <{{package_name}}/msg/track_array.hpp>
{{/has_tracks}}

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {{package_name}}
{

// A lifecycle component. configure: reads the model, warms up and traces it. activate: subscribes and publishes. Images stay where the
// middleware put them: in one process with the camera's driver (intra-process communication) nothing is copied.
class {{class_name}} : public rclcpp_lifecycle::LifecycleNode
{
public:
  explicit {{class_name}}(const rclcpp::NodeOptions & options = rclcpp::NodeOptions());
  ~{{class_name}}() override;

  using CallbackReturn = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;
  CallbackReturn on_configure(const rclcpp_lifecycle::State & state) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State & state) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State & state) override;
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State & state) override;
  CallbackReturn on_shutdown(const rclcpp_lifecycle::State & state) override;
  CallbackReturn on_error(const rclcpp_lifecycle::State & state) override;

private:
  using Header = std_msgs::msg::Header;

  // parameters.cpp
  void declare_parameters();
  std::string read_parameters(sk_node_settings * settings, const std::vector<rclcpp::Parameter> & changes) const;
  std::string change(const std::vector<rclcpp::Parameter> & changes);
  void note(const rclcpp::Parameter & parameter);
  rcl_interfaces::msg::SetParametersResult on_set_parameters(const std::vector<rclcpp::Parameter> & parameters);
  std::string find_weights(const std::string & name) const;

  // node.cpp
  void start_by_itself();
  void subscribe();
  std::string compressed_topic(const std::string & topic);
  void note_quiet();
  std::string open_core(const sk_node_settings * settings, std::shared_ptr<sk_node_core> & core) const;
  void begin();
  void pause();
  void stop();
  void close();
  void on_image(std::shared_ptr<const sensor_msgs::msg::Image> message);
  void on_compressed(std::shared_ptr<const sensor_msgs::msg::CompressedImage> message);
  void submit(sk_node_image image, std::shared_ptr<const void> message, const Header & header);
  void take_results();
  static void hear(void * node, sk_log_level level, const char * message);

  // publish.cpp
  void create_publishers();
  void publish(const sk_node_result * result);
  void publish_detections(const sk_node_result * result, const Header & header);
{{#has_keypoints}}
  void publish_keypoints(const sk_node_result * result, const Header & header);
{{/has_keypoints}}
{{#has_tracks}}
  void publish_tracks(const sk_node_result * result, const Header & header);
{{/has_tracks}}
  void publish_annotated(const sk_node_result * result, const Header & header);
  void publish_diagnostics();

  std::shared_ptr<sk_node_core> core_;  // from configure to cleanup
  std::thread taker_;                   // from activate to deactivate
  std::shared_mutex gate_;              // images pass while it is shared …
  bool open_ = false;                   // … and this is set
  std::atomic<bool> annotate_{true};
  std::mutex text_;                     // of:
  std::string frame_id_;

  rclcpp::SubscriptionBase::SharedPtr images_;
  rclcpp_lifecycle::LifecyclePublisher<vision_msgs::msg::Detection2DArray>::SharedPtr detections_;
{{#has_keypoints}}
  rclcpp_lifecycle::LifecyclePublisher<msg::InstanceArray>::SharedPtr keypoints_;
{{/has_keypoints}}
{{#has_tracks}}
  rclcpp_lifecycle::LifecyclePublisher<msg::TrackArray>::SharedPtr tracks_;
{{/has_tracks}}
  rclcpp_lifecycle::LifecyclePublisher<sensor_msgs::msg::Image>::SharedPtr annotated_;
  rclcpp_lifecycle::LifecyclePublisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr diagnostics_;
  rclcpp::TimerBase::SharedPtr diagnose_, start_, quiet_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr on_set_;
  sk_log_listener * listener_ = nullptr;
};

}  // namespace {{package_name}}
