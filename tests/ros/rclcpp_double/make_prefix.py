#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_prefix.py MSG_TEXTS PREFIX: the double as an installation, with a CMake package for each that it stands for.

MSG_TEXTS is what tests/ros/ros_msg_texts wrote: PACKAGE/NAME.msg."""
import os
import shutil
import sys

import msg2hpp

HERE = os.path.dirname(os.path.abspath(__file__))
# package, its targets
LIBRARIES = {'rclcpp': ['rclcpp::rclcpp'], 'rclcpp_lifecycle': ['rclcpp_lifecycle::rclcpp_lifecycle'],
             'rclcpp_components': ['rclcpp_components::component'], 'ament_index_cpp': ['ament_index_cpp::ament_index_cpp']}
HEAD = '# of the double of rclcpp\nget_filename_component(_double "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)\n'
TARGET = '''if(NOT TARGET {0})
  find_package(Threads REQUIRED)
  add_library({0} INTERFACE IMPORTED)
  set_target_properties({0} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${{_double}}/include" INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
'''
COMPONENTS = '''macro(rclcpp_components_register_nodes target)
  get_target_property(_type ${target} TYPE)
  if(NOT _type STREQUAL "SHARED_LIBRARY")
    message(FATAL_ERROR "${target} is a component and no shared library")
  endif()
endmacro()
'''
# rosidl's own CMake functions by their names: headers of the messages, and a target that has them
GENERATORS = '''function(rosidl_generate_interfaces target)
  cmake_parse_arguments(_given "" "" "DEPENDENCIES" ${{ARGN}})
  foreach(_needed ${{_given_DEPENDENCIES}})
    find_package(${{_needed}} REQUIRED)
  endforeach()
  set(_files "")
  foreach(_file ${{_given_UNPARSED_ARGUMENTS}})
    list(APPEND _files ${{CMAKE_CURRENT_SOURCE_DIR}}/${{_file}})
  endforeach()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${{Python3_EXECUTABLE}} {here}/msg2hpp.py ${{PROJECT_NAME}} ${{CMAKE_CURRENT_BINARY_DIR}}/messages ${{_files}}
    COMMAND_ERROR_IS_FATAL ANY)
  add_library(${{PROJECT_NAME}}_messages INTERFACE)
  target_include_directories(${{PROJECT_NAME}}_messages INTERFACE $<BUILD_INTERFACE:${{CMAKE_CURRENT_BINARY_DIR}}/messages>)
endfunction()
function(rosidl_get_typesupport_target out interfaces typesupport)
  set(${{out}} ${{interfaces}}_messages PARENT_SCOPE)
endfunction()
'''


def package(prefix, name, text):
    folder = os.path.join(prefix, 'share', name, 'cmake')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f'{name}Config.cmake'), 'w', encoding='utf-8') as file:
        file.write(HEAD + text + f'set({name}_FOUND TRUE)\n')


def main(texts, prefix):
    shutil.copytree(os.path.join(HERE, 'include'), os.path.join(prefix, 'include'), dirs_exist_ok=True)
    for root in (texts, os.path.join(HERE, 'msg')):
        for name in sorted(os.listdir(root)):
            for message in sorted(os.listdir(os.path.join(root, name))):
                msg2hpp.convert(name, os.path.join(root, name, message), os.path.join(prefix, 'include'))
            package(prefix, name, TARGET.format(f'{name}::{name}') + f'set({name}_TARGETS {name}::{name})\n')
    for name, targets in LIBRARIES.items():
        package(prefix, name, ''.join(TARGET.format(t) for t in targets) + (COMPONENTS if name == 'rclcpp_components' else ''))
    package(prefix, 'rosidl_default_generators', GENERATORS.format(here=HERE))


if __name__ == '__main__':
    main(*sys.argv[1:])
