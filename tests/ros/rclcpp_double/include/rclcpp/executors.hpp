// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rclcpp/node.hpp"

#include <atomic>
#include <thread>

namespace rclcpp
{
inline std::atomic<bool> & running()
{
  static std::atomic<bool> is{false};
  return is;
}
inline void init(int, const char * const *) {running() = true;}
inline void shutdown() {running() = false;}
inline bool ok() {return running();}

namespace executors
{
class SingleThreadedExecutor
{
public:
  void add_node(node_interfaces::NodeBaseInterface::SharedPtr base) {bases_.push_back(std::move(base));}
  void add_node(const std::shared_ptr<Node> & node) {bases_.push_back(node->get_node_base_interface());}
  // Until nothing is left to do, or time is over.
  void spin_some(std::chrono::nanoseconds most = std::chrono::nanoseconds(0))
  {
    const auto end = std::chrono::steady_clock::now() + most;
    bool did = true;
    while (did) {
      did = false;
      for (const auto & base : bases_) {
        did = spin_once(*base) || did;
      }
      if (most.count() > 0 && std::chrono::steady_clock::now() > end) {
        return;
      }
    }
    if (most.count() > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void spin()
  {
    while (ok()) {
      spin_some(std::chrono::milliseconds(10));
    }
  }

private:
  static bool spin_once(node_interfaces::NodeBaseInterface & base)
  {
    std::vector<std::weak_ptr<SubscriptionBase>> subscriptions;
    std::vector<std::weak_ptr<TimerBase>> timers;
    {
      std::lock_guard<std::mutex> lock(base.mutex);
      subscriptions = base.subscriptions;
      timers = base.timers;
    }
    bool did = false;
    for (const auto & weak : timers) {
      const auto timer = weak.lock();
      did = (timer && timer->fire()) || did;
    }
    for (const auto & weak : subscriptions) {
      const auto subscription = weak.lock();
      did = (subscription && subscription->deliver()) || did;
    }
    return did;
  }
  std::vector<node_interfaces::NodeBaseInterface::SharedPtr> bases_;
};
}  // namespace executors

inline void spin(node_interfaces::NodeBaseInterface::SharedPtr base)
{
  executors::SingleThreadedExecutor executor;
  executor.add_node(std::move(base));
  executor.spin();
}
}  // namespace rclcpp
