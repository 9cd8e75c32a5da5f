// SPDX-License-Identifier: Apache-2.0
#include "{{package_name}}/node.hpp"

#include <lifecycle_msgs/msg/state.hpp>
#include <rclcpp_components/register_node_macro.hpp>

#include <chrono>
#include <deque>
#include <stdexcept>
#include <utility>

namespace {{package_name}}
{

namespace
{
// What an image that the library reads in place hangs on, until its result was published.
struct Lent
{
  std::shared_ptr<const void> message;
  std_msgs::msg::Header header;
};

void give_up(void * lent)
{
  delete static_cast<Lent *>(lent);
}
}  // namespace

{{class_name}}::{{class_name}}(const rclcpp::NodeOptions & options)
: rclcpp_lifecycle::LifecycleNode({{node_name|cpp}}, options)
{
  sk_error err{};
  if (sk_log_listen(SK_LOG_INFO, hear, this, &listener_, &err) != SK_OK) {
    RCLCPP_WARN(get_logger(), "%s", err.message);
  }
  declare_parameters();
  if (get_parameter("autostart").as_bool()) {
    start_ = create_wall_timer(std::chrono::milliseconds(1), [this]() {start_by_itself();});
  }
}

{{class_name}}::~{{class_name}}()
{
  stop();
  close();
  sk_log_unlisten(&listener_);
}

// Once the executor runs: what a lifecycle manager would do.
void {{class_name}}::start_by_itself()
{
  start_->cancel();
  if (configure().id() == lifecycle_msgs::msg::State::PRIMARY_STATE_INACTIVE) {
    activate();
  }
}

{{class_name}}::CallbackReturn {{class_name}}::on_configure(const rclcpp_lifecycle::State &)
{
  sk_error err{};
  sk_node_settings * settings = nullptr;
  std::string problem;
  if (sk_node_settings_open(&settings, &err) != SK_OK) {
    problem = err.message;
  } else {
    problem = read_parameters(settings, {});
  }
  if (problem.empty()) {
    problem = open_core(settings, core_);
  }
  sk_node_settings_close(&settings);
  if (!problem.empty()) {
    RCLCPP_ERROR(get_logger(), "%s", problem.c_str());
    return CallbackReturn::FAILURE;
  }
  note(get_parameter("publish_annotated"));
  note(get_parameter("frame_id"));
  create_publishers();
  const sk_pipeline_info * about = sk_node_core_about(core_.get());
  RCLCPP_INFO(
    get_logger(), "%s (%s) is ready on %s (asked for: %s), %s, %s", about->models[0]->path,
    sk_task_name(about->task), about->runtime, about->runtime_requested, about->device, about->precision);
  return CallbackReturn::SUCCESS;
}

{{class_name}}::CallbackReturn {{class_name}}::on_activate(const rclcpp_lifecycle::State & state)
{
  LifecycleNode::on_activate(state);  // the publishers
  begin();
  subscribe();
  return CallbackReturn::SUCCESS;
}

{{class_name}}::CallbackReturn {{class_name}}::on_deactivate(const rclcpp_lifecycle::State & state)
{
  stop();
  LifecycleNode::on_deactivate(state);
  return CallbackReturn::SUCCESS;
}

{{class_name}}::CallbackReturn {{class_name}}::on_cleanup(const rclcpp_lifecycle::State &)
{
  close();
  return CallbackReturn::SUCCESS;
}

{{class_name}}::CallbackReturn {{class_name}}::on_shutdown(const rclcpp_lifecycle::State &)
{
  stop();
  close();
  return CallbackReturn::SUCCESS;
}

{{class_name}}::CallbackReturn {{class_name}}::on_error(const rclcpp_lifecycle::State & state)
{
  return on_shutdown(state);
}

void {{class_name}}::subscribe()
{
  const auto reliability = get_parameter("qos_reliability").as_string();
  const auto durability = get_parameter("qos_durability").as_string();
  rclcpp::QoS qos(rclcpp::KeepLast(static_cast<size_t>(get_parameter("qos_depth").as_int())));
  reliability == "reliable" ? qos.reliable() : qos.best_effort();
  durability == "transient_local" ? qos.transient_local() : qos.durability_volatile();
  const auto topic = get_parameter("input_topic").as_string();
  if (get_parameter("input_transport").as_string() == "compressed") {
    images_ = create_subscription<sensor_msgs::msg::CompressedImage>(
      compressed_topic(topic), qos,
      [this](std::shared_ptr<const sensor_msgs::msg::CompressedImage> message) {on_compressed(std::move(message));});
  } else {
    images_ = create_subscription<sensor_msgs::msg::Image>(
      topic, qos,
      [this](std::shared_ptr<const sensor_msgs::msg::Image> message) {on_image(std::move(message));});
  }
  RCLCPP_INFO(get_logger(), "listening to %s", images_->get_topic_name());
  sk_node_core_listen(core_.get());
  quiet_ = create_wall_timer(std::chrono::seconds(1), [this]() {note_quiet();});
}

// image_transport's rule: a remapping of the compressed topic itself counts first, else one of the topic that it is a form of. A name
// that has the ending already is taken as it is.
std::string {{class_name}}::compressed_topic(const std::string & topic)
{
  const std::string ending = "/compressed";
  if (topic.size() > ending.size() && topic.compare(topic.size() - ending.size(), ending.size(), ending) == 0) {
    return topic;
  }
  const auto topics = get_node_topics_interface();
  const bool own_rule = topics->resolve_topic_name(topic + ending) != topics->resolve_topic_name(topic + ending, true);
  return own_rule ? topic + ending : topics->resolve_topic_name(topic) + ending;
}

// When no image comes: says so, with who publishes what.
void {{class_name}}::note_quiet()
{
  std::shared_lock<std::shared_mutex> lock(gate_);
  double seconds = 0;
  if (!open_ || !images_ || !sk_node_core_is_quiet(core_.get(), &seconds)) {
    return;
  }
  const std::string input = images_->get_topic_name();
  const auto known = get_topic_names_and_types();
  std::vector<sk_node_speaker> speakers;
  std::deque<std::string> texts;  // what the speakers point to
  for (const auto & topic : known) {
    for (const auto & publisher : get_publishers_info_by_topic(topic.first)) {
      if (publisher.node_name() == get_name() && publisher.node_namespace() == get_namespace()) {
        continue;
      }
      sk_node_speaker speaker = SK_NODE_SPEAKER_INIT;
      speaker.topic = topic.first.c_str();
      speaker.type = texts.emplace_back(publisher.topic_type()).c_str();
      speaker.reliable = publisher.qos_profile().reliability() != rclcpp::ReliabilityPolicy::BestEffort;
      speaker.transient_local = publisher.qos_profile().durability() == rclcpp::DurabilityPolicy::TransientLocal;
      speakers.push_back(speaker);
    }
  }
  char text[1024];
  sk_node_core_explain_quiet(
    core_.get(), input.c_str(), seconds, speakers.data(), static_cast<int32_t>(speakers.size()), text, sizeof text);
  RCLCPP_WARN(get_logger(), "%s", text);
}

// Reads the model and gets ready; "" or what is wrong.
std::string {{class_name}}::open_core(const sk_node_settings * settings, std::shared_ptr<sk_node_core> & core) const
{
  sk_error err{};
  sk_node_core * opened = nullptr;
  if (sk_node_core_open(settings, &opened, &err) != SK_OK) {
    return err.message;
  }
  core.reset(opened, [](sk_node_core * open) {sk_node_core_close(&open);});
  return "";
}

void {{class_name}}::begin()
{
  {
    std::unique_lock<std::shared_mutex> lock(gate_);
    open_ = true;
  }
  taker_ = std::thread([this]() {take_results();});
}

// Images go nowhere from now on; results of those on their way are still published.
void {{class_name}}::pause()
{
  {
    std::unique_lock<std::shared_mutex> lock(gate_);
    open_ = false;
  }
  if (taker_.joinable()) {
    sk_node_core_finish(core_.get());
    taker_.join();
  }
}

void {{class_name}}::stop()
{
  quiet_.reset();
  images_.reset();
  pause();
}

void {{class_name}}::close()
{
  std::unique_lock<std::shared_mutex> lock(gate_);
  diagnose_.reset();
  detections_.reset();
{{#has_keypoints}}
  keypoints_.reset();
{{/has_keypoints}}
{{#has_tracks}}
  tracks_.reset();
{{/has_tracks}}
  annotated_.reset();
  diagnostics_.reset();
  core_.reset();
}

void {{class_name}}::on_image(std::shared_ptr<const sensor_msgs::msg::Image> message)
{
  sk_node_image image = SK_NODE_IMAGE_INIT;
  image.width = static_cast<int32_t>(message->width);
  image.height = static_cast<int32_t>(message->height);
  image.encoding = message->encoding.c_str();
  image.big_endian = message->is_bigendian != 0;
  image.step = message->step;
  image.data = message->data.data();
  image.length = message->data.size();
  submit(image, message, message->header);
}

void {{class_name}}::on_compressed(std::shared_ptr<const sensor_msgs::msg::CompressedImage> message)
{
  sk_node_image image = SK_NODE_IMAGE_INIT;
  image.data = message->data.data();
  image.length = message->data.size();
  submit(image, message, message->header);
}

void {{class_name}}::submit(sk_node_image image, std::shared_ptr<const void> message, const Header & header)
{
  std::shared_lock<std::shared_mutex> lock(gate_);
  if (!open_) {
    return;
  }
  auto lent = std::make_unique<Lent>(Lent{std::move(message), header});
  image.stamp_ns = static_cast<int64_t>(header.stamp.sec) * 1000000000 + header.stamp.nanosec;
  image.user = lent.get();
  image.release = give_up;
  sk_error err{};
  if (sk_node_core_submit(core_.get(), &image, &err) == SK_OK) {
    lent.release();  // give_up has it
  } else {
    RCLCPP_ERROR_THROTTLE(get_logger(), *get_clock(), 2000, "an image is left out: %s", err.message);
  }
}

// A thread of its own: the executor is never held up by the network.
void {{class_name}}::take_results()
{
  const sk_node_result * result = nullptr;
  sk_error err{};
  for (;;) {
    const sk_status status = sk_node_core_take(core_.get(), -1, &result, &err);
    if (status == SK_OK && !result) {
      return;
    }
    if (status == SK_ERR_CANCELLED) {
      RCLCPP_ERROR(get_logger(), "%s", err.message);
      return;
    }
    if (status != SK_OK) {
      RCLCPP_ERROR_THROTTLE(get_logger(), *get_clock(), 2000, "%s", err.message);
      continue;
    }
    if (result->status == SK_OK) {
      try {
        publish(result);
      } catch (const std::exception & problem) {  // a middleware that cannot, for now: out of a thread it would end the process
        RCLCPP_ERROR_THROTTLE(get_logger(), *get_clock(), 2000, "a result is left out: %s", problem.what());
      }
    } else {
      RCLCPP_ERROR_THROTTLE(get_logger(), *get_clock(), 2000, "an image failed: %s", result->problem);
    }
    sk_node_core_give_back(core_.get(), result);
  }
}

void {{class_name}}::publish(const sk_node_result * result)
{
  Header header = static_cast<const Lent *>(result->user)->header;
  {
    std::lock_guard<std::mutex> lock(text_);
    if (!frame_id_.empty()) {
      header.frame_id = frame_id_;
    }
  }
{{#detections_topic}}
  publish_detections(result, header);
{{/detections_topic}}
{{#has_keypoints}}
  publish_keypoints(result, header);
{{/has_keypoints}}
{{#has_tracks}}
  publish_tracks(result, header);
{{/has_tracks}}
  if (annotate_ && annotated_ && annotated_->get_subscription_count() > 0) {
    publish_annotated(result, header);
  }
}

void {{class_name}}::hear(void * node, sk_log_level level, const char * message)
{
  const auto logger = static_cast<{{class_name}} *>(node)->get_logger();
  if (level == SK_LOG_ERROR) {
    RCLCPP_ERROR(logger, "%s", message);
  } else if (level == SK_LOG_WARN) {
    RCLCPP_WARN(logger, "%s", message);
  } else {
    RCLCPP_DEBUG(logger, "%s", message);
  }
}

}  // namespace {{package_name}}

RCLCPP_COMPONENTS_REGISTER_NODE({{package_name}}::{{class_name}})
