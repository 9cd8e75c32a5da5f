// SPDX-License-Identifier: Apache-2.0
// Topics within the process: what is published goes by pointer to every subscription's queue.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

namespace rclcpp
{
struct KeepLast
{
  explicit KeepLast(size_t n) : depth(n) {}
  size_t depth;
};

enum class ReliabilityPolicy { BestEffort, Reliable };
enum class DurabilityPolicy { Volatile, TransientLocal };

class QoS
{
public:
  ReliabilityPolicy reliability() const {return is_reliable ? ReliabilityPolicy::Reliable : ReliabilityPolicy::BestEffort;}
  DurabilityPolicy durability() const
  {
    return is_transient_local ? DurabilityPolicy::TransientLocal : DurabilityPolicy::Volatile;
  }
  QoS(KeepLast last) : depth(last.depth) {}  // NOLINT: as rclcpp has it
  QoS(size_t n) : depth(n) {}                // NOLINT
  QoS & reliable() {is_reliable = true; return *this;}
  QoS & best_effort() {is_reliable = false; return *this;}
  QoS & transient_local() {is_transient_local = true; return *this;}
  QoS & durability_volatile() {is_transient_local = false; return *this;}
  size_t depth;
  bool is_reliable = true, is_transient_local = false;
};

class SubscriptionBase
{
public:
  using SharedPtr = std::shared_ptr<SubscriptionBase>;
  SubscriptionBase(std::string topic, const QoS & qos, std::type_index type)
  : topic_(std::move(topic)), qos_(qos), type_(type) {}
  virtual ~SubscriptionBase() = default;
  const char * get_topic_name() const {return topic_.c_str();}
  const QoS & get_actual_qos() const {return qos_;}

  void offer(std::shared_ptr<const void> message, std::type_index type, bool reliable)
  {
    if (type != type_) {
      throw std::runtime_error("another type than the topic's: " + topic_);
    }
    if (qos_.is_reliable && !reliable) {
      return;  // such a pair does not match
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (queue_.size() >= qos_.depth) {
      queue_.pop_front();
    }
    queue_.push_back(std::move(message));
  }

  // One message to the callback; false: there was none.
  bool deliver()
  {
    std::shared_ptr<const void> message;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (queue_.empty()) {
        return false;
      }
      message = std::move(queue_.front());
      queue_.pop_front();
    }
    call(std::move(message));
    return true;
  }

protected:
  virtual void call(std::shared_ptr<const void> message) = 0;

private:
  std::string topic_;
  QoS qos_;
  std::type_index type_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const void>> queue_;
};

template<typename MessageT>
class Subscription : public SubscriptionBase
{
public:
  using SharedPtr = std::shared_ptr<Subscription>;
  Subscription(std::string topic, const QoS & qos, std::function<void(std::shared_ptr<const MessageT>)> callback)
  : SubscriptionBase(std::move(topic), qos, typeid(MessageT)), callback_(std::move(callback)) {}

protected:
  void call(std::shared_ptr<const void> message) override
  {
    callback_(std::static_pointer_cast<const MessageT>(std::move(message)));
  }

private:
  std::function<void(std::shared_ptr<const MessageT>)> callback_;
};

// Who publishes on a topic.
class TopicEndpointInfo
{
public:
  TopicEndpointInfo(std::string node, std::string space, std::string type, const QoS & qos)
  : node_(std::move(node)), space_(std::move(space)), type_(std::move(type)), qos_(qos) {}
  const std::string & node_name() const {return node_;}
  const std::string & node_namespace() const {return space_;}
  const std::string & topic_type() const {return type_;}
  const QoS & qos_profile() const {return qos_;}

private:
  std::string node_, space_, type_;
  QoS qos_;
};

// All topics of the process.
class Topics
{
public:
  static Topics & all()
  {
    static Topics topics;
    return topics;
  }
  void add(const std::string & topic, std::weak_ptr<SubscriptionBase> subscription)
  {
    std::lock_guard<std::mutex> lock(mutex_);
    subscriptions_[topic].push_back(std::move(subscription));
  }
  std::vector<std::shared_ptr<SubscriptionBase>> of(const std::string & topic)
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::shared_ptr<SubscriptionBase>> alive;
    for (const auto & weak : subscriptions_[topic]) {
      if (auto strong = weak.lock()) {
        alive.push_back(strong);
      }
    }
    return alive;
  }

  // Publishers, until what `alive` points to is gone.
  void add_publisher(const std::string & topic, std::weak_ptr<void> alive, const TopicEndpointInfo & info)
  {
    std::lock_guard<std::mutex> lock(mutex_);
    publishers_[topic].emplace_back(std::move(alive), info);
  }
  std::map<std::string, std::vector<TopicEndpointInfo>> publishers()
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::map<std::string, std::vector<TopicEndpointInfo>> alive;
    for (const auto & topic : publishers_) {
      for (const auto & publisher : topic.second) {
        if (!publisher.first.expired()) {
          alive[topic.first].push_back(publisher.second);
        }
      }
    }
    return alive;
  }

  std::atomic<const char *> broken{nullptr};  // publishing there throws, as it does where the middleware cannot
  std::atomic<int> thrown{0};

private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::weak_ptr<SubscriptionBase>>> subscriptions_;
  std::map<std::string, std::vector<std::pair<std::weak_ptr<void>, TopicEndpointInfo>>> publishers_;
};

template<typename MessageT>
class Publisher
{
public:
  using SharedPtr = std::shared_ptr<Publisher>;
  Publisher(std::string topic, const QoS & qos) : topic_(std::move(topic)), qos_(qos) {}
  virtual ~Publisher() = default;
  const char * get_topic_name() const {return topic_.c_str();}
  size_t get_subscription_count() const {return Topics::all().of(topic_).size();}
  virtual void publish(std::unique_ptr<MessageT> message) {offer(std::move(message));}
  virtual void publish(const MessageT & message) {offer(std::make_shared<MessageT>(message));}

protected:
  void offer(std::shared_ptr<const MessageT> message)
  {
    const char * broken = Topics::all().broken;
    if (broken && topic_ == broken) {
      Topics::all().thrown++;
      throw std::runtime_error("failed to publish message: " + topic_);
    }
    for (const auto & subscription : Topics::all().of(topic_)) {
      subscription->offer(message, typeid(MessageT), qos_.is_reliable);
    }
  }

private:
  std::string topic_;
  QoS qos_;
};
}  // namespace rclcpp
