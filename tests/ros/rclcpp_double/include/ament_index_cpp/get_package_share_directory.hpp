// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <stdexcept>
#include <string>
namespace ament_index_cpp
{
// Below the first prefix that has the package, as the index says.
inline std::string get_package_share_directory(const std::string & package)
{
  const char * prefixes = std::getenv("AMENT_PREFIX_PATH");
  if (!prefixes) {
    throw std::runtime_error("AMENT_PREFIX_PATH is not set: " + package);
  }
  return std::string(prefixes).substr(0, std::string(prefixes).find(':')) + "/share/" + package;
}
}  // namespace ament_index_cpp
