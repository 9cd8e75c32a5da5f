// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rclcpp
{
enum class ParameterType : uint8_t
{
  PARAMETER_NOT_SET = 0,
  PARAMETER_BOOL = 1,
  PARAMETER_INTEGER = 2,
  PARAMETER_DOUBLE = 3,
  PARAMETER_STRING = 4,
  PARAMETER_INTEGER_ARRAY = 7
};

class ParameterValue
{
public:
  ParameterValue() = default;
  explicit ParameterValue(bool value) : type_(ParameterType::PARAMETER_BOOL), value_(value) {}
  explicit ParameterValue(int value) : type_(ParameterType::PARAMETER_INTEGER), value_(int64_t{value}) {}
  explicit ParameterValue(int64_t value) : type_(ParameterType::PARAMETER_INTEGER), value_(value) {}
  explicit ParameterValue(double value) : type_(ParameterType::PARAMETER_DOUBLE), value_(value) {}
  explicit ParameterValue(std::string value) : type_(ParameterType::PARAMETER_STRING), value_(std::move(value)) {}
  explicit ParameterValue(const char * value) : ParameterValue(std::string(value)) {}
  explicit ParameterValue(std::vector<int64_t> value)
  : type_(ParameterType::PARAMETER_INTEGER_ARRAY), value_(std::move(value)) {}

  ParameterType get_type() const {return type_;}
  template<typename T>
  const T & get() const
  {
    const T * value = std::get_if<T>(&value_);
    if (!value) {
      throw std::runtime_error("a parameter is read as another type than it has");
    }
    return *value;
  }

private:
  ParameterType type_ = ParameterType::PARAMETER_NOT_SET;
  std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>> value_;
};

class Parameter
{
public:
  template<typename T>
  Parameter(std::string name, T value) : name_(std::move(name)), value_(std::move(value)) {}
  Parameter(std::string name, ParameterValue value) : name_(std::move(name)), value_(std::move(value)) {}

  const std::string & get_name() const {return name_;}
  ParameterType get_type() const {return value_.get_type();}
  const ParameterValue & get_parameter_value() const {return value_;}
  bool as_bool() const {return value_.get<bool>();}
  int64_t as_int() const {return value_.get<int64_t>();}
  double as_double() const {return value_.get<double>();}
  const std::string & as_string() const {return value_.get<std::string>();}
  const std::vector<int64_t> & as_integer_array() const {return value_.get<std::vector<int64_t>>();}

private:
  std::string name_;
  ParameterValue value_;
};
}  // namespace rclcpp
