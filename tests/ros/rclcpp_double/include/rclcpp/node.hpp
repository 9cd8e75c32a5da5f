// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rclcpp/logging.hpp"
#include "rclcpp/parameter.hpp"
#include "rclcpp/topics.hpp"

#include <builtin_interfaces/msg/time.hpp>
#include <rcl_interfaces/msg/parameter_descriptor.hpp>
#include <rcl_interfaces/msg/set_parameters_result.hpp>

#include <chrono>

namespace rclcpp
{
class Time
{
public:
  explicit Time(int64_t ns) : ns_(ns) {}
  operator builtin_interfaces::msg::Time() const  // NOLINT: as rclcpp has it
  {
    builtin_interfaces::msg::Time stamp;
    stamp.sec = static_cast<int32_t>(ns_ / 1000000000);
    stamp.nanosec = static_cast<uint32_t>(ns_ % 1000000000);
    return stamp;
  }
  int64_t nanoseconds() const {return ns_;}

private:
  int64_t ns_;
};

class Clock
{
public:
  using SharedPtr = std::shared_ptr<Clock>;
  Time now() const
  {
    return Time(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch()).count());
  }
};

class TimerBase
{
public:
  using SharedPtr = std::shared_ptr<TimerBase>;
  TimerBase(std::chrono::nanoseconds period, std::function<void()> callback)
  : period_(period), callback_(std::move(callback)), next_(std::chrono::steady_clock::now() + period) {}
  void cancel() {cancelled_ = true;}
  bool is_canceled() const {return cancelled_;}
  bool fire()
  {
    if (cancelled_ || std::chrono::steady_clock::now() < next_) {
      return false;
    }
    next_ += period_;
    callback_();
    return true;
  }

private:
  std::chrono::nanoseconds period_;
  std::function<void()> callback_;
  std::chrono::steady_clock::time_point next_;
  bool cancelled_ = false;
};

class NodeOptions
{
public:
  NodeOptions & parameter_overrides(std::vector<Parameter> overrides)
  {
    overrides_ = std::move(overrides);
    return *this;
  }
  const std::vector<Parameter> & parameter_overrides() const {return overrides_;}
  NodeOptions & use_intra_process_comms(bool) {return *this;}
  // "-r", "from:=to", both whole
  NodeOptions & arguments(std::vector<std::string> arguments)
  {
    for (size_t i = 0; i + 1 < arguments.size(); i++) {
      const auto at = arguments[i + 1].find(":=");
      if (arguments[i] == "-r" && at != std::string::npos) {
        remaps_[arguments[i + 1].substr(0, at)] = arguments[i + 1].substr(at + 2);
      }
    }
    return *this;
  }
  const std::map<std::string, std::string> & remaps() const {return remaps_;}

private:
  std::map<std::string, std::string> remaps_;
  std::vector<Parameter> overrides_;
};

namespace node_interfaces
{
struct OnSetParametersCallbackHandle
{
  using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
  std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> callback;
};

// What executors see of a node.
struct NodeBaseInterface
{
  using SharedPtr = std::shared_ptr<NodeBaseInterface>;
  const char * get_fully_qualified_name() const {return full_name.c_str();}
  std::string full_name;
  std::mutex mutex;
  std::vector<std::weak_ptr<SubscriptionBase>> subscriptions;
  std::vector<std::weak_ptr<TimerBase>> timers;
};
}  // namespace node_interfaces

namespace node_interfaces
{
class NodeTopicsInterface
{
public:
  using SharedPtr = std::shared_ptr<NodeTopicsInterface>;
  NodeTopicsInterface(std::string space, std::string node, std::map<std::string, std::string> remaps)
  : space_(std::move(space)), node_(std::move(node)), remaps_(std::move(remaps)) {}
  std::string resolve_topic_name(const std::string & topic, bool only_expand = false) const
  {
    const auto whole = !topic.empty() && topic[0] == '/' ? topic :
      topic.compare(0, 2, "~/") == 0 ? space_ + "/" + node_ + topic.substr(1) : space_ + "/" + topic;
    const auto rule = remaps_.find(whole);
    return only_expand || rule == remaps_.end() ? whole : rule->second;
  }

private:
  std::string space_, node_;
  std::map<std::string, std::string> remaps_;
};
}  // namespace node_interfaces

// What rclcpp::Node and the lifecycle node have in common.
class NodeParts
{
public:
  NodeParts(std::string name, NodeOptions options)
  : name_(std::move(name)), options_(std::move(options)), base_(std::make_shared<node_interfaces::NodeBaseInterface>())
  {
    for (const auto & override : options_.parameter_overrides()) {
      if (override.get_name() == "__ns") {
        namespace_ = override.as_string();
      }
    }
    base_->full_name = namespace_ + "/" + name_;
    topics_ = std::make_shared<node_interfaces::NodeTopicsInterface>(namespace_, name_, options_.remaps());
  }
  virtual ~NodeParts() = default;

  const char * get_name() const {return name_.c_str();}
  const char * get_namespace() const {return namespace_.empty() ? "/" : namespace_.c_str();}
  node_interfaces::NodeTopicsInterface::SharedPtr get_node_topics_interface() {return topics_;}  // not const, as rclcpp has it
  std::map<std::string, std::vector<std::string>> get_topic_names_and_types() const
  {
    std::map<std::string, std::vector<std::string>> names;
    for (const auto & topic : Topics::all().publishers()) {
      for (const auto & publisher : topic.second) {
        names[topic.first].push_back(publisher.topic_type());
      }
    }
    return names;
  }
  std::vector<TopicEndpointInfo> get_publishers_info_by_topic(const std::string & topic) const
  {
    return Topics::all().publishers()[topic];
  }
  Logger get_logger() const {return Logger(name_);}
  Time now() const {return clock_->now();}
  Clock::SharedPtr get_clock() const {return clock_;}
  node_interfaces::NodeBaseInterface::SharedPtr get_node_base_interface() const {return base_;}

  const ParameterValue & declare_parameter(
    const std::string & name, const ParameterValue & value,
    const rcl_interfaces::msg::ParameterDescriptor & descriptor = rcl_interfaces::msg::ParameterDescriptor())
  {
    if (parameters_.count(name)) {
      throw std::runtime_error("parameter declared twice: " + name);
    }
    parameters_[name] = Declared{value, descriptor};
    for (const auto & override : options_.parameter_overrides()) {
      if (override.get_name() != name) {
        continue;
      }
      const auto result = set_parameter(override);
      if (!result.successful) {
        throw std::runtime_error(name + ": " + result.reason);
      }
    }
    return parameters_[name].value;
  }
  bool has_parameter(const std::string & name) const {return parameters_.count(name) > 0;}
  std::vector<std::string> parameter_names() const
  {
    std::vector<std::string> names;
    for (const auto & entry : parameters_) {
      names.push_back(entry.first);
    }
    return names;
  }
  const rcl_interfaces::msg::ParameterDescriptor & describe_parameter(const std::string & name) const
  {
    return parameters_.at(name).descriptor;
  }
  Parameter get_parameter(const std::string & name) const
  {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) {
      throw std::runtime_error("parameter not declared: " + name);
    }
    return Parameter(name, found->second.value);
  }
  rcl_interfaces::msg::SetParametersResult set_parameter(const Parameter & parameter)
  {
    rcl_interfaces::msg::SetParametersResult result;
    const auto found = parameters_.find(parameter.get_name());
    result.successful = false;
    if (found == parameters_.end()) {
      result.reason = "parameter not declared";
    } else if (found->second.value.get_type() != parameter.get_type()) {
      result.reason = "wrong parameter type";
    } else if (!within(found->second.descriptor, parameter)) {
      result.reason = "out of the parameter's range";
    } else {
      result.successful = true;
      for (const auto & weak : callbacks_) {
        const auto handle = weak.lock();
        if (handle && result.successful) {
          result = handle->callback({parameter});
        }
      }
    }
    if (result.successful) {
      found->second.value = parameter.get_parameter_value();
    }
    return result;
  }
  node_interfaces::OnSetParametersCallbackHandle::SharedPtr add_on_set_parameters_callback(
    std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> callback)
  {
    auto handle = std::make_shared<node_interfaces::OnSetParametersCallbackHandle>();
    handle->callback = std::move(callback);
    callbacks_.push_back(handle);
    return handle;
  }

  template<typename MessageT, typename CallbackT>
  typename Subscription<MessageT>::SharedPtr create_subscription(
    const std::string & topic, const QoS & qos, CallbackT callback)
  {
    const auto full = resolve(topic);
    auto subscription = std::make_shared<Subscription<MessageT>>(full, qos, std::move(callback));
    Topics::all().add(full, subscription);
    std::lock_guard<std::mutex> lock(base_->mutex);
    base_->subscriptions.push_back(subscription);
    return subscription;
  }
  template<typename Rep, typename Period, typename CallbackT>
  TimerBase::SharedPtr create_wall_timer(std::chrono::duration<Rep, Period> period, CallbackT callback)
  {
    auto timer = std::make_shared<TimerBase>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(period), std::move(callback));
    std::lock_guard<std::mutex> lock(base_->mutex);
    base_->timers.push_back(timer);
    return timer;
  }

  std::string resolve(const std::string & topic) const
  {
    return topics_->resolve_topic_name(topic);
  }

protected:
  template<typename PublisherT>
  std::shared_ptr<PublisherT> announce(std::shared_ptr<PublisherT> publisher, const char * type, const QoS & qos) const
  {
    Topics::all().add_publisher(publisher->get_topic_name(), publisher, TopicEndpointInfo(name_, get_namespace(), type, qos));
    return publisher;
  }

private:
  struct Declared
  {
    ParameterValue value;
    rcl_interfaces::msg::ParameterDescriptor descriptor;
  };
  static bool within(const rcl_interfaces::msg::ParameterDescriptor & descriptor, const Parameter & parameter)
  {
    if (parameter.get_type() == ParameterType::PARAMETER_INTEGER && !descriptor.integer_range.empty()) {
      const auto & range = descriptor.integer_range[0];
      return parameter.as_int() >= range.from_value && parameter.as_int() <= range.to_value;
    }
    if (parameter.get_type() == ParameterType::PARAMETER_DOUBLE && !descriptor.floating_point_range.empty()) {
      const auto & range = descriptor.floating_point_range[0];
      return parameter.as_double() >= range.from_value && parameter.as_double() <= range.to_value;
    }
    return true;
  }

  std::string name_, namespace_;
  NodeOptions options_;
  node_interfaces::NodeBaseInterface::SharedPtr base_;
  node_interfaces::NodeTopicsInterface::SharedPtr topics_;
  Clock::SharedPtr clock_ = std::make_shared<Clock>();
  std::map<std::string, Declared> parameters_;
  std::vector<std::weak_ptr<node_interfaces::OnSetParametersCallbackHandle>> callbacks_;
};

class Node : public NodeParts
{
public:
  explicit Node(const std::string & name, const NodeOptions & options = NodeOptions()) : NodeParts(name, options) {}
  template<typename MessageT>
  typename Publisher<MessageT>::SharedPtr create_publisher(const std::string & topic, const QoS & qos)
  {
    return announce(std::make_shared<Publisher<MessageT>>(resolve(topic), qos), MessageT::ros_name, qos);
  }
};
}  // namespace rclcpp
