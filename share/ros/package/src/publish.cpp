// SPDX-License-Identifier: Apache-2.0
#include "{{package_name}}/node.hpp"

#include <chrono>
#include <cmath>
#include <utility>

namespace {{package_name}}
{

namespace
{
void fill_box(const sk_node_object & object, vision_msgs::msg::BoundingBox2D & box)
{
  box.center.position.x = object.x;
  box.center.position.y = object.y;
  box.center.theta = object.theta;
  box.size_x = object.size_x;
  box.size_y = object.size_y;
}
{{#has_keypoints}}

void fill_instance(const sk_node_object & object, const sk_pipeline_info * about, msg::Instance & instance)
{
  instance.class_id = object.class_id;
  instance.class_name = object.class_name;
  instance.score = object.score;
  instance.track = object.track;
  fill_box(object, instance.box);
  instance.keypoints.resize(object.points ? static_cast<size_t>(about->n_keypoints) : 0);
  for (size_t i = 0; i < instance.keypoints.size(); i++) {
    auto & keypoint = instance.keypoints[i];
    keypoint.name = about->keypoint_names[i];
    keypoint.x = object.points[i].x;
    keypoint.y = object.points[i].y;
    keypoint.score = object.points[i].score;
    keypoint.visible = !std::isnan(object.points[i].x);
  }
}
{{/has_keypoints}}
{{^has_keypoints}}
{{#has_tracks}}

void fill_instance(const sk_node_object & object, const sk_pipeline_info *, msg::Instance & instance)
{
  instance.class_id = object.class_id;
  instance.class_name = object.class_name;
  instance.score = object.score;
  instance.track = object.track;
  fill_box(object, instance.box);
}
{{/has_tracks}}
{{/has_keypoints}}
}  // namespace

void {{class_name}}::create_publishers()
{
  const rclcpp::QoS qos(10);
{{#detections_topic}}
  detections_ = create_publisher<vision_msgs::msg::Detection2DArray>({{detections_topic|cpp}}, qos);
{{/detections_topic}}
{{#has_keypoints}}
  keypoints_ = create_publisher<msg::InstanceArray>({{keypoints_topic|cpp}}, qos);
{{/has_keypoints}}
{{#has_tracks}}
  tracks_ = create_publisher<msg::TrackArray>({{tracks_topic|cpp}}, qos);
{{/has_tracks}}
{{#annotated_topic}}
  annotated_ = create_publisher<sensor_msgs::msg::Image>({{annotated_topic|cpp}}, qos);
{{/annotated_topic}}
  diagnostics_ = create_publisher<diagnostic_msgs::msg::DiagnosticArray>("/diagnostics", qos);
  const double period = get_parameter("diagnostics_period").as_double();
  if (period > 0) {
    diagnose_ = create_wall_timer(std::chrono::duration<double>(period), [this]() {publish_diagnostics();});
  }
}

void {{class_name}}::publish_detections(const sk_node_result * result, const Header & header)
{
  auto message = std::make_unique<vision_msgs::msg::Detection2DArray>();
  message->header = header;
  message->detections.resize(static_cast<size_t>(result->n_objects));
  for (int32_t i = 0; i < result->n_objects; i++) {
    sk_node_object object = SK_NODE_OBJECT_INIT;
    sk_node_result_object(result, i, &object);
    auto & detection = message->detections[static_cast<size_t>(i)];
    detection.header = header;
    fill_box(object, detection.bbox);
    detection.results.resize(1);
    detection.results[0].hypothesis.class_id = object.class_name;
    detection.results[0].hypothesis.score = object.score;
    if (object.track >= 0) {
      detection.id = std::to_string(object.track);
    }
  }
  detections_->publish(std::move(message));
}
{{#has_keypoints}}

void {{class_name}}::publish_keypoints(const sk_node_result * result, const Header & header)
{
  const sk_pipeline_info * about = sk_node_core_about(core_.get());
  auto message = std::make_unique<msg::InstanceArray>();
  message->header = header;
  message->skeleton_names.assign(about->keypoint_names, about->keypoint_names + about->n_keypoints);
  for (int32_t i = 0; i < about->n_edges; i++) {
    message->skeleton_edges.push_back(about->edges[i][0]);
    message->skeleton_edges.push_back(about->edges[i][1]);
  }
  message->instances.resize(static_cast<size_t>(result->n_objects));
  for (int32_t i = 0; i < result->n_objects; i++) {
    sk_node_object object = SK_NODE_OBJECT_INIT;
    sk_node_result_object(result, i, &object);
    fill_instance(object, about, message->instances[static_cast<size_t>(i)]);
  }
  keypoints_->publish(std::move(message));
}
{{/has_keypoints}}
{{#has_tracks}}

void {{class_name}}::publish_tracks(const sk_node_result * result, const Header & header)
{
  auto message = std::make_unique<msg::TrackArray>();
  message->header = header;
  message->tracks.resize(static_cast<size_t>(result->n_tracks));
  for (int32_t i = 0; i < result->n_tracks; i++) {
    sk_node_track track = SK_NODE_TRACK_INIT;
    sk_node_result_track(result, i, &track);
    auto & told = message->tracks[static_cast<size_t>(i)];
    told.id = track.id;
    told.state = track.state;
    told.x = track.x;
    told.y = track.y;
    told.heading = track.heading;
    told.certainty = track.certainty;
    fill_instance(track.object, sk_node_core_about(core_.get()), told.instance);
  }
  tracks_->publish(std::move(message));
}
{{/has_tracks}}

// Only while somebody looks.
void {{class_name}}::publish_annotated(const sk_node_result * result, const Header & header)
{
  sk_error err{};
  auto message = std::make_unique<sensor_msgs::msg::Image>();
  message->header = header;
  message->width = static_cast<uint32_t>(result->width);
  message->height = static_cast<uint32_t>(result->height);
  message->encoding = "rgb8";
  message->step = message->width * 3;
  message->data.resize(static_cast<size_t>(message->step) * message->height);
  if (sk_node_core_draw(core_.get(), result, message->data.data(), message->data.size(), &err) == SK_OK) {
    annotated_->publish(std::move(message));
  } else {
    RCLCPP_WARN_THROTTLE(get_logger(), *get_clock(), 2000, "%s", err.message);
  }
}

void {{class_name}}::publish_diagnostics()
{
  std::shared_lock<std::shared_mutex> lock(gate_);
  if (!open_ || !diagnostics_->is_activated()) {
    return;
  }
  char summary[512];
  auto message = std::make_unique<diagnostic_msgs::msg::DiagnosticArray>();
  message->header.stamp = now();
  message->status.resize(1);
  auto & status = message->status[0];
  status.level = static_cast<decltype(status.level)>(sk_node_core_health(core_.get(), summary, sizeof summary));
  status.name = get_node_base_interface()->get_fully_qualified_name();
  status.message = summary;
  status.hardware_id = sk_node_core_about(core_.get())->device;
  sk_node_fact fact = SK_NODE_FACT_INIT;
  for (int32_t i = 0; sk_node_core_fact(core_.get(), i, &fact); i++) {
    status.values.emplace_back();
    status.values.back().key = fact.key;
    status.values.back().value = fact.value;
  }
  diagnostics_->publish(std::move(message));
}

}  // namespace {{package_name}}
