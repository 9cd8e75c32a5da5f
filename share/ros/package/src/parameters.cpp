// SPDX-License-Identifier: Apache-2.0
#include "{{package_name}}/node.hpp"

#include <ament_index_cpp/get_package_share_directory.hpp>
#include <rcl_interfaces/msg/parameter_descriptor.hpp>

#include <filesystem>
#include <limits>
#include <locale>
#include <memory>
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

// A name without a folder is one of the package's models/. So is the path that the package was made with, on a machine that does
// not have it; another path is what it says.
std::string {{class_name}}::find_weights(const std::string & name) const
{
  const std::filesystem::path path(name);
  const bool made_with = name == {{weights|cpp}} || name == {{second_weights|cpp}};
  if (name.empty() || (path.has_parent_path() && (!made_with || std::filesystem::exists(path)))) {
    return name;
  }
  const auto own = std::filesystem::path(ament_index_cpp::get_package_share_directory({{package_name|cpp}})) / "models" /
    (path.has_filename() ? path : path.parent_path()).filename();
  if (path.has_parent_path()) {
    return std::filesystem::exists(own) ? own.string() : name;
  }
  return std::filesystem::exists(own) || !std::filesystem::exists(name) ? own.string() : name;
}

// The parameters, with `changes` in the place of what they are now; "" or all that is wrong.
std::string {{class_name}}::read_parameters(
  sk_node_settings * settings, const std::vector<rclcpp::Parameter> & changes) const
{
  std::string problems;
  bool asked = false;
  const auto set = [&](const char * name, const std::string & text) {
      sk_error err{};
      if (sk_node_settings_set(settings, name, text.c_str(), &err) != SK_OK) {
        problems += (problems.empty() ? "" : "; ") + std::string(err.message);
      }
    };
  for (const std::string name : names) {
    auto text = text_of(get_parameter(name));
    for (const auto & parameter : changes) {
      if (parameter.get_name() == name) {
        text = text_of(parameter);
      }
    }
    asked = asked || ((name == "compute_runtime" || name == "execution_provider") && !text.empty());
    if (name == "weights_path" || name == "second_weights_path") {
      text = find_weights(text);
    }
    set(name.c_str(), text);
  }
  if (!asked) {
    set("compute_runtime", {{compute_runtime|cpp}});
  }
  sk_node_settings_follow(settings, {{has_tracks|cpp}});
  return problems;
}

void {{class_name}}::note(const rclcpp::Parameter & parameter)
{
  if (parameter.get_name() == "publish_annotated") {
    annotate_ = parameter.as_bool();
  } else if (parameter.get_name() == "frame_id") {
    std::lock_guard<std::mutex> lock(text_);
    frame_id_ = parameter.as_string();
  }
}

// "" or why not. What counts as found may change while the node runs: a core is opened beside the old one, and takes its place.
std::string {{class_name}}::change(const std::vector<rclcpp::Parameter> & changes)
{
  sk_error err{};
  sk_node_settings * settings = nullptr;
  if (sk_node_settings_open(&settings, &err) != SK_OK) {
    return err.message;
  }
  const std::unique_ptr<sk_node_settings, void (*)(sk_node_settings *)> owner(
    settings, [](sk_node_settings * open) {sk_node_settings_close(&open);});
  const auto problems = read_parameters(settings, changes);
  if (!problems.empty() || !core_) {
    return problems;
  }
  bool anew = false;
  std::vector<rclcpp::Parameter> live;
  for (const auto & parameter : changes) {
    sk_node_param about = SK_NODE_PARAM_INIT;
    for (int32_t i = 0; sk_node_param_get(i, &about) && parameter.get_name() != about.name; i++) {}
    if (parameter.get_name() != about.name) {
      continue;  // none of the library's
    }
    if (!about.live && !about.found) {
      return parameter.get_name() + " is what the node was configured with: clean it up and configure it again to change it";
    }
    anew = anew || about.found;
    if (about.live) {
      live.push_back(parameter);
    }
  }
  if (!anew) {  // a core that is opened anew has them already
    for (const auto & parameter : live) {
      if (sk_node_core_set(core_.get(), parameter.get_name().c_str(), text_of(parameter).c_str(), &err) != SK_OK) {
        return err.message;
      }
    }
    return "";
  }
  std::shared_ptr<sk_node_core> core;
  const auto problem = open_core(settings, core);
  if (problem.empty()) {
    const bool active = taker_.joinable();
    pause();
    {
      std::unique_lock<std::shared_mutex> lock(gate_);
      core_ = core;
    }
    if (active) {
      begin();
    }
  }
  return problem;
}

rcl_interfaces::msg::SetParametersResult {{class_name}}::on_set_parameters(
  const std::vector<rclcpp::Parameter> & parameters)
{
  rcl_interfaces::msg::SetParametersResult result;
  result.reason = change(parameters);
  result.successful = result.reason.empty();
  if (result.successful && core_) {
    for (const auto & parameter : parameters) {
      note(parameter);
    }
  }
  return result;
}

}  // namespace {{package_name}}
