// SPDX-License-Identifier: Apache-2.0
#include "{{package_name}}/node.hpp"

#include <ament_index_cpp/get_package_share_directory.hpp>

#include <filesystem>
#include <locale>
#include <limits>
#include <sstream>

namespace {{package_name}}
{

namespace
{
using rcl_interfaces::msg::ParameterDescriptor;

// Every parameter the library is told of; `autostart` is the node's own.
const char * const names[] = {
{{#parameters}}
  {{.name|cpp}},
{{/parameters}}
};

ParameterDescriptor describe(const char * description, const char * choices)
{
  ParameterDescriptor descriptor;
  descriptor.description = description;
  descriptor.additional_constraints = choices;
  return descriptor;
}

template<typename Number>
ParameterDescriptor bounded(ParameterDescriptor descriptor, Number least, Number most);

template<>
ParameterDescriptor bounded(ParameterDescriptor descriptor, int64_t least, int64_t most)
{
  descriptor.integer_range.resize(1);
  descriptor.integer_range[0].from_value = least;
  descriptor.integer_range[0].to_value = most;
  return descriptor;
}

template<>
ParameterDescriptor bounded(ParameterDescriptor descriptor, double least, double most)
{
  descriptor.floating_point_range.resize(1);
  descriptor.floating_point_range[0].from_value = least;
  descriptor.floating_point_range[0].to_value = most;
  return descriptor;
}

// As the library reads it.
std::string text_of(const rclcpp::Parameter & parameter)
{
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(std::numeric_limits<double>::max_digits10);
  switch (parameter.get_type()) {
    case rclcpp::ParameterType::PARAMETER_BOOL:
      text << (parameter.as_bool() ? "true" : "false");
      break;
    case rclcpp::ParameterType::PARAMETER_INTEGER:
      text << parameter.as_int();
      break;
    case rclcpp::ParameterType::PARAMETER_DOUBLE:
      text << parameter.as_double();
      break;
    case rclcpp::ParameterType::PARAMETER_STRING:
      text << parameter.as_string();
      break;
    case rclcpp::ParameterType::PARAMETER_INTEGER_ARRAY:
      for (const int64_t number : parameter.as_integer_array()) {
        text << number << ",";
      }
      break;
    default:
      break;
  }
  return text.str();
}
}  // namespace

void {{class_name}}::declare_parameters()
{
  declare_parameter(
    "autostart", rclcpp::ParameterValue(true),
    describe("configure and activate the node when it starts; false: a lifecycle manager does", ""));
{{#parameters}}
{{#.type=bool}}
  declare_parameter(
    {{.name|cpp}}, rclcpp::ParameterValue({{.default|cpp}}), describe({{.description|cpp}}, ""));
{{/.type}}
{{#.type=int}}
{{#.has_range}}
  declare_parameter(
    {{.name|cpp}}, rclcpp::ParameterValue(int64_t{ {{.default|cpp}} }),
    bounded<int64_t>(describe({{.description|cpp}}, ""), {{.min|cpp}}, {{.max|cpp}}));
{{/.has_range}}
{{^.has_range}}
  declare_parameter(
    {{.name|cpp}}, rclcpp::ParameterValue(int64_t{ {{.default|cpp}} }), describe({{.description|cpp}}, ""));
{{/.has_range}}
{{/.type}}
{{#.type=double}}
{{#.has_range}}
  declare_parameter(
    {{.name|cpp}}, rclcpp::ParameterValue(double{ {{.default|cpp}} }),
    bounded<double>(describe({{.description|cpp}}, ""), {{.min|cpp}}, {{.max|cpp}}));
{{/.has_range}}
{{^.has_range}}
  declare_parameter(
    {{.name|cpp}}, rclcpp::ParameterValue(double{ {{.default|cpp}} }), describe({{.description|cpp}}, ""));
{{/.has_range}}
{{/.type}}
{{#.type=string}}
  declare_parameter(
    {{.name|cpp}}, rclcpp::ParameterValue(std::string({{.default|cpp}})),
    describe({{.description|cpp}}, ""{{#.choices}} "'"{{.|cpp}} "' "{{/.choices}}));
{{/.type}}
{{#.type=int_list}}
  declare_parameter(
    {{.name|cpp}}, rclcpp::ParameterValue(std::vector<int64_t>{{.default|cpp}}), describe({{.description|cpp}}, ""));
{{/.type}}
{{/parameters}}
  on_set_ = add_on_set_parameters_callback(
    [this](const std::vector<rclcpp::Parameter> & parameters) {return on_set_parameters(parameters);});
}

// A name without a folder is one of the package's models/.
std::string {{class_name}}::find_weights(const std::string & name) const
{
  if (name.empty() || name.find('/') != std::string::npos) {
    return name;
  }
  const auto own = std::filesystem::path(ament_index_cpp::get_package_share_directory({{package_name|cpp}})) / "models" / name;
  return std::filesystem::exists(own) || !std::filesystem::exists(name) ? own.string() : name;
}

bool {{class_name}}::read_parameters(sk_node_settings * settings)
{
  bool good = true;
  for (const char * name : names) {
    sk_error err{};
    auto text = text_of(get_parameter(name));
    if (std::string(name) == "weights_path" || std::string(name) == "second_weights_path") {
      text = find_weights(text);
    }
    if (sk_node_settings_set(settings, name, text.c_str(), &err) != SK_OK) {
      RCLCPP_ERROR(get_logger(), "%s", err.message);  // all that is wrong, not only the first
      good = false;
    }
  }
  sk_error err{};
  const bool asked = !get_parameter("compute_runtime").as_string().empty() ||
    !get_parameter("execution_provider").as_string().empty();
  if (!asked && sk_node_settings_set(settings, "compute_runtime", {{compute_runtime|cpp}}, &err) != SK_OK) {
    RCLCPP_ERROR(get_logger(), "%s", err.message);
    good = false;
  }
  sk_node_settings_follow(settings, {{has_tracks|cpp}});
  annotate_ = get_parameter("publish_annotated").as_bool();
  std::lock_guard<std::mutex> lock(text_);
  frame_id_ = get_parameter("frame_id").as_string();
  return good;
}

// Refuses what cannot be, and what cannot change while the node is configured.
rcl_interfaces::msg::SetParametersResult {{class_name}}::on_set_parameters(
  const std::vector<rclcpp::Parameter> & parameters)
{
  rcl_interfaces::msg::SetParametersResult result;
  sk_error err{};
  sk_node_settings * tried = nullptr;
  result.successful = sk_node_settings_open(&tried, &err) == SK_OK;
  for (const auto & parameter : parameters) {
    bool known = false;
    for (const char * name : names) {
      known = known || parameter.get_name() == name;
    }
    if (!known || !result.successful) {
      continue;
    }
    const auto text = text_of(parameter);
    result.successful = sk_node_settings_set(tried, parameter.get_name().c_str(), text.c_str(), &err) == SK_OK;
    if (result.successful && core_) {
      result.successful =
        sk_node_core_set(core_.get(), parameter.get_name().c_str(), text.c_str(), &err) == SK_OK;
    }
    if (result.successful && core_ && parameter.get_name() == "publish_annotated") {
      annotate_ = parameter.as_bool();
    } else if (result.successful && core_ && parameter.get_name() == "frame_id") {
      std::lock_guard<std::mutex> lock(text_);
      frame_id_ = parameter.as_string();
    }
  }
  if (!result.successful) {
    result.reason = err.message;
  }
  sk_node_settings_close(&tried);
  return result;
}

}  // namespace {{package_name}}
