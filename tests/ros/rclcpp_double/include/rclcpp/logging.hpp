// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace rclcpp
{
class Logger
{
public:
  explicit Logger(std::string name) : name_(std::move(name)) {}
  const char * get_name() const {return name_.c_str();}

private:
  std::string name_;
};
}  // namespace rclcpp

#define RCLCPP_DOUBLE_LOG(level, logger, ...) \
  do { \
    std::fprintf(stderr, "[" level "] [%s]: ", (logger).get_name()); \
    std::fprintf(stderr, __VA_ARGS__); \
    std::fputc('\n', stderr); \
  } while (0)
#define RCLCPP_DEBUG(logger, ...) do {if (std::getenv("RCLCPP_DOUBLE_DEBUG")) {RCLCPP_DOUBLE_LOG("DEBUG", logger, __VA_ARGS__);}} while (0)
#define RCLCPP_INFO(logger, ...) RCLCPP_DOUBLE_LOG("INFO", logger, __VA_ARGS__)
#define RCLCPP_WARN(logger, ...) RCLCPP_DOUBLE_LOG("WARN", logger, __VA_ARGS__)
#define RCLCPP_ERROR(logger, ...) RCLCPP_DOUBLE_LOG("ERROR", logger, __VA_ARGS__)
#define RCLCPP_WARN_THROTTLE(logger, clock, ms, ...) do {(void)(clock); RCLCPP_WARN(logger, __VA_ARGS__);} while (0)
#define RCLCPP_ERROR_THROTTLE(logger, clock, ms, ...) do {(void)(clock); RCLCPP_ERROR(logger, __VA_ARGS__);} while (0)
