// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lifecycle_msgs/msg/state.hpp>
#include <rclcpp/rclcpp.hpp>

namespace rclcpp_lifecycle
{
class State
{
public:
  explicit State(uint8_t id) : id_(id) {}
  uint8_t id() const {return id_;}

private:
  uint8_t id_;
};

struct Managed
{
  virtual ~Managed() = default;
  virtual void on_activate() = 0;
  virtual void on_deactivate() = 0;
};

// Publishes only while its node is active.
template<typename MessageT>
class LifecyclePublisher : public rclcpp::Publisher<MessageT>, public Managed
{
public:
  using SharedPtr = std::shared_ptr<LifecyclePublisher>;
  using rclcpp::Publisher<MessageT>::Publisher;
  void on_activate() override {active_ = true;}
  void on_deactivate() override {active_ = false;}
  bool is_activated() const {return active_;}
  void publish(std::unique_ptr<MessageT> message) override
  {
    if (active_) {
      this->offer(std::move(message));
    }
  }

private:
  std::atomic<bool> active_{false};
};

namespace node_interfaces
{
class LifecycleNodeInterface
{
public:
  enum class CallbackReturn : uint8_t { SUCCESS = 97, FAILURE = 98, ERROR = 99 };
  virtual ~LifecycleNodeInterface() = default;
  virtual CallbackReturn on_configure(const State &) {return CallbackReturn::SUCCESS;}
  virtual CallbackReturn on_activate(const State &) {return CallbackReturn::SUCCESS;}
  virtual CallbackReturn on_deactivate(const State &) {return CallbackReturn::SUCCESS;}
  virtual CallbackReturn on_cleanup(const State &) {return CallbackReturn::SUCCESS;}
  virtual CallbackReturn on_shutdown(const State &) {return CallbackReturn::SUCCESS;}
  virtual CallbackReturn on_error(const State &) {return CallbackReturn::FAILURE;}
};
}  // namespace node_interfaces

class LifecycleNode : public rclcpp::NodeParts, public node_interfaces::LifecycleNodeInterface
{
public:
  explicit LifecycleNode(const std::string & name, const rclcpp::NodeOptions & options = rclcpp::NodeOptions())
  : NodeParts(name, options), state_(Ids::PRIMARY_STATE_UNCONFIGURED) {}

  template<typename MessageT>
  typename LifecyclePublisher<MessageT>::SharedPtr create_publisher(const std::string & topic, const rclcpp::QoS & qos)
  {
    auto publisher = std::make_shared<LifecyclePublisher<MessageT>>(resolve(topic), qos);
    managed_.push_back(publisher);
    return announce(publisher, MessageT::ros_name, qos);
  }

  CallbackReturn on_activate(const State &) override
  {
    for (const auto & weak : managed_) {
      if (const auto managed = weak.lock()) {
        managed->on_activate();
      }
    }
    return CallbackReturn::SUCCESS;
  }
  CallbackReturn on_deactivate(const State &) override
  {
    for (const auto & weak : managed_) {
      if (const auto managed = weak.lock()) {
        managed->on_deactivate();
      }
    }
    return CallbackReturn::SUCCESS;
  }

  const State & get_current_state() const {return state_;}
  const State & configure()
  {
    return pass(Ids::PRIMARY_STATE_UNCONFIGURED, Ids::PRIMARY_STATE_INACTIVE, &LifecycleNode::on_configure);
  }
  const State & activate() {return pass(Ids::PRIMARY_STATE_INACTIVE, Ids::PRIMARY_STATE_ACTIVE, &LifecycleNode::on_activate);}
  const State & deactivate()
  {
    return pass(Ids::PRIMARY_STATE_ACTIVE, Ids::PRIMARY_STATE_INACTIVE, &LifecycleNode::on_deactivate);
  }
  const State & cleanup()
  {
    return pass(Ids::PRIMARY_STATE_INACTIVE, Ids::PRIMARY_STATE_UNCONFIGURED, &LifecycleNode::on_cleanup);
  }
  const State & shutdown()
  {
    return pass(state_.id(), Ids::PRIMARY_STATE_FINALIZED, &LifecycleNode::on_shutdown);
  }

private:
  using Ids = lifecycle_msgs::msg::State;
  const State & pass(uint8_t from, uint8_t to, CallbackReturn (LifecycleNode::* step)(const State &))
  {
    if (state_.id() == from && (this->*step)(state_) == CallbackReturn::SUCCESS) {
      state_ = State(to);
    }
    return state_;
  }
  State state_;
  std::vector<std::weak_ptr<Managed>> managed_;
};
}  // namespace rclcpp_lifecycle
