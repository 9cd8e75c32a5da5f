// SPDX-License-Identifier: Apache-2.0
// The node of a generated package, "fly_watch", with the double of rclcpp around it and the real library in it: drive_node SOURCE
// raw|compressed [name:=value …] publishes every frame of SOURCE as images and prints what the node publishes, a line of JSON each.
// POSE: its model gives keypoints and it follows; else it only detects. Checks besides what a robot relies on: states, parameters,
// diagnoses, pictures on demand, memory.
#include "node.cpp"
#include "parameters.cpp"
#include "publish.cpp"

#include <skitter/source.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

using lifecycle_msgs::msg::State;
using fly_watch::FlyWatchNode;

#define CHECK(what) \
  do { \
    if (!(what)) { \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      std::exit(1); \
    } \
  } while (0)

template<typename T>
struct Latest
{
  std::shared_ptr<const T> message;
  size_t count = 0;
  void operator()(std::shared_ptr<const T> next) {message = std::move(next), count++;}
};

struct Peer
{
  std::shared_ptr<rclcpp::Node> node = std::make_shared<rclcpp::Node>("peer");
  Latest<vision_msgs::msg::Detection2DArray> detections;
#ifdef POSE
  Latest<fly_watch::msg::InstanceArray> keypoints;
  Latest<fly_watch::msg::TrackArray> tracks;
#endif
  Latest<sensor_msgs::msg::Image> annotated;
  Latest<diagnostic_msgs::msg::DiagnosticArray> diagnosis;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions;
  rclcpp::SubscriptionBase::SharedPtr looks;

  template<typename T>
  rclcpp::SubscriptionBase::SharedPtr listen(const char * topic, Latest<T> & to)
  {
    return node->create_subscription<T>(topic, rclcpp::QoS(1000), [&to](std::shared_ptr<const T> m) {to(std::move(m));});
  }
  Peer()
  {
    subscriptions = {listen("/fly_watch_node/detections", detections), listen("/diagnostics", diagnosis)};
#ifdef POSE
    subscriptions.push_back(listen("/fly_watch_node/keypoints", keypoints));
    subscriptions.push_back(listen("/fly_watch_node/tracks", tracks));
#endif
  }
  // All that a frame brings.
  bool has(size_t frames) const
  {
#ifdef POSE
    return detections.count == frames && keypoints.count == frames && tracks.count == frames;
#else
    return detections.count == frames;
#endif
  }
};

static rclcpp::Parameter parameter_of(const std::string & text)
{
  const auto at = text.find(":=");
  CHECK(at != std::string::npos);
  const auto name = text.substr(0, at), value = text.substr(at + 2);
  char * end = nullptr;
  if (value == "true" || value == "false") {
    return rclcpp::Parameter(name, value == "true");
  }
  const long long whole = std::strtoll(value.c_str(), &end, 10);
  if (!value.empty() && !*end) {
    return rclcpp::Parameter(name, int64_t{whole});
  }
  const double real = std::strtod(value.c_str(), &end);
  return !value.empty() && !*end ? rclcpp::Parameter(name, real) : rclcpp::Parameter(name, value);
}

// --- what was published, as text ---

static void print_box(const vision_msgs::msg::BoundingBox2D & box)
{
  std::printf(
    "\"box\":[%.9g,%.9g,%.9g,%.9g,%.9g]", box.center.position.x, box.center.position.y, box.size_x, box.size_y,
    box.center.theta);
}

#ifdef POSE
static void print_instance(const fly_watch::msg::Instance & instance)
{
  std::printf(
    "{\"class\":%d,\"name\":\"%s\",\"score\":%.9g,\"track\":%d,", instance.class_id, instance.class_name.c_str(),
    instance.score, instance.track);
  print_box(instance.box);
  std::printf(",\"keypoints\":[");
  for (size_t i = 0; i < instance.keypoints.size(); i++) {
    const auto & k = instance.keypoints[i];
    if (k.visible) {
      std::printf("%s[%.9g,%.9g,%.9g]", i ? "," : "", k.x, k.y, k.score);
    } else {
      std::printf("%snull", i ? "," : "");
    }
  }
  std::printf("]}");
}

static void print_more(const Peer & peer)
{
  const char * comma = "";
  std::printf(",\"instances\":[");
  for (const auto & instance : peer.keypoints.message->instances) {
    std::printf("%s", comma);
    print_instance(instance);
    comma = ",";
  }
  std::printf("],\"tracks\":[");
  comma = "";
  for (const auto & track : peer.tracks.message->tracks) {
    std::printf(
      "%s{\"id\":%d,\"state\":\"%s\",\"x\":%.9g,\"y\":%.9g,\"heading\":%.9g,", comma, track.id, track.state.c_str(),
      track.x, track.y, track.heading);
    print_box(track.instance.box);
    std::printf("}");
    comma = ",";
  }
  std::printf("]");
}
#else
static void print_more(const Peer &) {}
#endif

static void print_frame(const Peer & peer, int64_t index)
{
  std::printf("{\"frame\":%lld,\"detections\":[", static_cast<long long>(index));
  const char * comma = "";
  for (const auto & d : peer.detections.message->detections) {
    std::printf(
      "%s{\"class\":\"%s\",\"score\":%.9g,\"id\":\"%s\",", comma, d.results.at(0).hypothesis.class_id.c_str(),
      d.results.at(0).hypothesis.score, d.id.c_str());
    print_box(d.bbox);
    std::printf("}");
    comma = ",";
  }
  std::printf("]");
  print_more(peer);
  std::printf("}\n");
}

// --- images in ---

static std::shared_ptr<sensor_msgs::msg::Image> image_of(const sk_frame & frame, double seconds)
{
  auto image = std::make_shared<sensor_msgs::msg::Image>();
  image->header.frame_id = "camera";
  image->header.stamp.sec = 1700000000 + static_cast<int32_t>(seconds);
  image->header.stamp.nanosec = static_cast<uint32_t>(std::llround((seconds - std::floor(seconds)) * 1e9));
  image->width = static_cast<uint32_t>(frame.width);
  image->height = static_cast<uint32_t>(frame.height);
  image->step = 3 * image->width + 5;  // rows with a gap
  image->encoding = "rgb8";
  image->data.resize(static_cast<size_t>(image->step) * image->height);
  for (uint32_t y = 0; y < image->height; y++) {
    std::memcpy(&image->data[static_cast<size_t>(y) * image->step], frame.data + y * frame.stride, 3 * image->width);
  }
  return image;
}

static std::unique_ptr<sensor_msgs::msg::CompressedImage> compressed_of(const char * path, const sensor_msgs::msg::Image & like)
{
  auto image = std::make_unique<sensor_msgs::msg::CompressedImage>();
  std::ifstream file(path, std::ios::binary);
  image->header = like.header;
  image->format = "png";
  image->data.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  CHECK(!image->data.empty());
  return image;
}

// --- what a robot relies on ---

static void check_parameters(FlyWatchNode & node)
{
  sk_node_param p = SK_NODE_PARAM_INIT;
  for (int32_t i = 0; sk_node_param_get(i, &p); i++) {
    if (node.has_parameter(p.name)) {  // of those a YOLO has, each is described
      CHECK(!node.describe_parameter(p.name).description.empty());
    }
  }
  for (const char * name : {"execution_provider", "compute_runtime", "precision", "device", "use_compile", "use_torch_compile",
    "confidence_threshold", "iou_threshold", "classes", "frame_skip", "qos_depth", "engine_cache_dir", "variant", "autostart"})
  {
    CHECK(node.has_parameter(name));
  }
  CHECK(!node.set_parameter(rclcpp::Parameter("confidence_threshold", 2.0)).successful);
  CHECK(!node.set_parameter(rclcpp::Parameter("confidence_threshold", 1)).successful);  // another type
  CHECK(!node.set_parameter(rclcpp::Parameter("qos_reliability", "sometimes")).successful);
  CHECK(!node.set_parameter(rclcpp::Parameter("classes", std::vector<int64_t>{-1})).successful);
}

static void check_diagnosis(const diagnostic_msgs::msg::DiagnosticArray & message)
{
  bool requested = false, effective = false, network = false;
  CHECK(message.status.size() == 1 && message.status[0].level == diagnostic_msgs::msg::DiagnosticStatus::OK);
  CHECK(message.status[0].name == "/fly_watch_node" && message.header.stamp.sec > 0);
  for (const auto & pair : message.status[0].values) {
    requested = requested || (pair.key == "compute_runtime requested" && pair.value == "cpu");
    effective = effective || (pair.key == "compute_runtime effective" && pair.value == "cpu");
    network = network || (pair.key == "network ms" && pair.value.find("p99") != std::string::npos);
  }
  CHECK(requested && effective && network);
}

// Compressed images on a topic that is remapped by image_transport's rules, and none that comes: what it says of it goes to stderr.
static int stay_quiet(std::vector<rclcpp::Parameter> overrides)
{
  overrides.emplace_back("input_topic", "image_raw");
  overrides.emplace_back("input_transport", "compressed");
  overrides.emplace_back("autostart", false);
  auto & topics = rclcpp::Topics::all();
  const auto peer = std::make_shared<rclcpp::Node>("peer");
  const auto raw = peer->create_publisher<sensor_msgs::msg::Image>("/lab/image", rclcpp::QoS(1));
  const auto small = peer->create_publisher<sensor_msgs::msg::CompressedImage>("/lab/image/compressed", rclcpp::QoS(1));
  for (const char * rule : {"/image_raw/compressed:=/exactly/this", "/image_raw:=/usb/image"}) {
    const bool exact = std::string(rule).find("exactly") != std::string::npos;
    const auto node = std::make_shared<FlyWatchNode>(
      rclcpp::NodeOptions().arguments({"--ros-args", "-r", rule}).parameter_overrides(overrides));
    CHECK(node->configure().id() == State::PRIMARY_STATE_INACTIVE && node->activate().id() == State::PRIMARY_STATE_ACTIVE);
    CHECK(topics.of(exact ? "/exactly/this" : "/usb/image/compressed").size() == 1);
    if (exact) {
      continue;
    }
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node->get_node_base_interface());
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(7500);
    while (std::chrono::steady_clock::now() < end) {
      executor.spin_some(std::chrono::milliseconds(20));
    }
  }
  rclcpp::shutdown();
  return 0;
}

int main(int argc, char ** argv)
{
  CHECK(argc >= 3);
  const bool compressed = std::string(argv[2]) == "compressed";
  rclcpp::init(argc, argv);
  if (std::string(argv[2]) == "quiet") {
    return stay_quiet({parameter_of(argv[3]), parameter_of(argv[4])});
  }
  std::vector<rclcpp::Parameter> overrides = {
    rclcpp::Parameter("input_topic", "image_raw"), rclcpp::Parameter("input_transport", argv[2]),
    rclcpp::Parameter("qos_reliability", "reliable"), rclcpp::Parameter("qos_depth", 100),
    rclcpp::Parameter("diagnostics_period", 0.05)};
  for (int i = 3; i < argc; i++) {
    overrides.push_back(parameter_of(argv[i]));
  }
  const auto node = std::make_shared<FlyWatchNode>(rclcpp::NodeOptions().parameter_overrides(overrides));
  check_parameters(*node);
  Peer peer;
  const auto raw = peer.node->create_publisher<sensor_msgs::msg::Image>("image_raw", rclcpp::QoS(100));
  const auto small = peer.node->create_publisher<sensor_msgs::msg::CompressedImage>("image_raw/compressed", rclcpp::QoS(100));
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node->get_node_base_interface());
  executor.add_node(peer.node);
  // it starts by itself
  for (int i = 0; i < 30000 && node->get_current_state().id() != State::PRIMARY_STATE_ACTIVE; i++) {
    executor.spin_some(std::chrono::milliseconds(5));
  }
  CHECK(node->get_current_state().id() == State::PRIMARY_STATE_ACTIVE);
  CHECK(!node->set_parameter(rclcpp::Parameter("imgsz", 64)).successful);
  CHECK(node->set_parameter(rclcpp::Parameter("frame_id", "gripper")).successful);

  sk_error err{};
  sk_source * source = nullptr;
  CHECK(sk_source_open(argv[1], nullptr, &source, &err) == SK_OK);
  const sk_frame * frame = nullptr;
  std::weak_ptr<const sensor_msgs::msg::Image> last;
  int64_t index = 0;
  for (; sk_source_next(source, &frame, &err) == SK_OK && frame; index++) {
    auto image = image_of(*frame, static_cast<double>(index) / 25);
    const auto stamp = image->header.stamp;
    last = image;
    if (index == 1) {  // somebody begins to look
      CHECK(peer.annotated.count == 0);
      peer.looks = peer.listen("/fly_watch_node/annotated", peer.annotated);
    }
    if (compressed) {
      small->publish(compressed_of(sk_source_frame_name(source, frame), *image));
    } else {
      raw->publish(std::make_unique<sensor_msgs::msg::Image>(*image));
    }
    sk_source_release(source, frame);
    const size_t wanted = static_cast<size_t>(index) + 1;
    for (int i = 0; i < 20000 && !peer.has(wanted); i++) {
      executor.spin_some(std::chrono::milliseconds(1));
    }
    CHECK(peer.has(wanted));
    const auto & header = peer.detections.message->header;
    CHECK(header.stamp.sec == stamp.sec && header.stamp.nanosec == stamp.nanosec && header.frame_id == "gripper");
#ifdef POSE
    CHECK(peer.keypoints.message->skeleton_names.size() == 5 && peer.keypoints.message->skeleton_edges.size() == 8);
#endif
    print_frame(peer, index);
  }
  CHECK(last.expired());
  for (int i = 0; i < 400 && peer.annotated.count + 1 < static_cast<size_t>(index); i++) {
    executor.spin_some(std::chrono::milliseconds(5));
  }
  CHECK(peer.annotated.count + 1 == static_cast<size_t>(index));
  CHECK(peer.annotated.message->encoding == "rgb8" && peer.annotated.message->step == 3 * peer.annotated.message->width);
  for (int i = 0; i < 200; i++) {
    executor.spin_some(std::chrono::milliseconds(1));
  }
  CHECK(peer.diagnosis.count > 0);
  check_diagnosis(*peer.diagnosis.message);

  // what counts as found changes while it runs; what the node was configured with does not
  CHECK(!node->set_parameter(rclcpp::Parameter("device", "cpu:0")).successful);
  CHECK(node->set_parameter(rclcpp::Parameter("confidence_threshold", 0.999)).successful);
  CHECK(node->get_current_state().id() == State::PRIMARY_STATE_ACTIVE);
  sk_source_close(&source);
  CHECK(sk_source_open(argv[1], nullptr, &source, &err) == SK_OK && sk_source_next(source, &frame, &err) == SK_OK && frame);
  const auto again = image_of(*frame, 100);
  const auto packed = compressed ? compressed_of(sk_source_frame_name(source, frame), *again) : nullptr;
  sk_source_release(source, frame);
  sk_source_close(&source);
  const auto send = [&]() {compressed ? small->publish(*packed) : raw->publish(*again);};
  const auto gets = [&](size_t frames) {
      for (int i = 0; i < 20000 && !peer.has(frames); i++) {
        executor.spin_some(std::chrono::milliseconds(1));
      }
      return peer.has(frames);
    };
  send();
  CHECK(gets(static_cast<size_t>(index) + 1) && peer.detections.message->detections.empty());

  // a middleware that cannot publish costs a result, not the process
  auto & topics = rclcpp::Topics::all();
  topics.broken = "/fly_watch_node/detections";
  send();
  for (int i = 0; i < 20000 && topics.thrown == 0; i++) {
    executor.spin_some(std::chrono::milliseconds(1));
  }
  topics.broken = nullptr;
  CHECK(topics.thrown == 1 && peer.has(static_cast<size_t>(index) + 1));
  send();
  CHECK(gets(static_cast<size_t>(index) + 2));

  // down and up again; an image in between goes nowhere, a broken one hurts nobody
  CHECK(node->deactivate().id() == State::PRIMARY_STATE_INACTIVE);
  const size_t before = peer.detections.count;
  auto broken = std::make_unique<sensor_msgs::msg::Image>();
  broken->width = 4000000000u;
  broken->encoding = "rgb8";
  CHECK(node->activate().id() == State::PRIMARY_STATE_ACTIVE);
  (compressed ? void() : raw->publish(std::move(broken)));
  for (int i = 0; i < 20; i++) {
    executor.spin_some(std::chrono::milliseconds(1));
  }
  CHECK(peer.detections.count == before);
  CHECK(node->deactivate().id() == State::PRIMARY_STATE_INACTIVE);
  CHECK(node->cleanup().id() == State::PRIMARY_STATE_UNCONFIGURED);
  CHECK(node->shutdown().id() == State::PRIMARY_STATE_FINALIZED);
  rclcpp::shutdown();
  return 0;
}
