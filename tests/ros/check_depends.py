# SPDX-License-Identifier: Apache-2.0
"""check_depends.py PACKAGE…: what generated packages import, include, find and link is named in their package.xml; and every field of
their messages says what it is."""
import ast
import glob
import os
import re
import sys
import xml.etree.ElementTree as tree

# Python modules whose package has another name in ROS's list (rosdep)
PYTHON = {'yaml': 'python3-yaml', 'pytest': 'python3-pytest'}
BROUGHT = {'gtest': 'ament_cmake_gtest'}


def imports(path):
    for item in ast.walk(ast.parse(open(path, encoding='utf-8').read(), path)):
        if isinstance(item, ast.Import):
            yield from (name.name.split('.')[0] for name in item.names)
        elif isinstance(item, ast.ImportFrom) and item.level == 0:
            yield item.module.split('.')[0]


def named(package, kinds):
    return {item.text for item in tree.parse(os.path.join(package, 'package.xml')).getroot() if item.tag in kinds}


def check(package):
    own = os.path.basename(package)
    run = named(package, ('depend', 'exec_depend'))
    test = run | named(package, ('test_depend',))
    build = named(package, ('depend', 'build_depend', 'buildtool_depend', 'test_depend'))
    missing = set()
    for path in glob.glob(f'{package}/**/*.py', recursive=True):
        wanted = {PYTHON.get(name, name) for name in imports(path) if name not in sys.stdlib_module_names}
        missing |= {(path, name) for name in wanted - (test if '/test/' in path else run)}
    for path in glob.glob(f'{package}/**/*.[ch]pp', recursive=True):
        text = open(path, encoding='utf-8').read()
        wanted = {name for name in re.findall(r'#include [<"](\w+)/', text)} | set(re.findall(r'\b(\w+_msgs|rcl_interfaces)::', text))
        missing |= {(path, name) for name in {BROUGHT.get(name, name) for name in wanted} - build - {own, 'skitter'}}
    found = set(re.findall(r'find_package\((\w+) REQUIRED', open(f'{package}/CMakeLists.txt', encoding='utf-8').read()))
    if not os.path.isdir(f'{package}/msg'):
        found.discard('rosidl_default_generators')  # looked for where there are messages
    missing |= {('CMakeLists.txt', name) for name in found - build}
    for path in glob.glob(f'{package}/msg/*.msg'):
        lines = open(path, encoding='utf-8').read().splitlines()
        assert lines[0].startswith('#'), path
        missing |= {(path, f'what it is: {line}') for line in lines[1:] if '#' not in line}
        missing |= {(path, name) for name in re.findall(r'^(\w+)/', '\n'.join(lines), re.M) if name not in run}
    return missing


problems = [(package, *problem) for package in sys.argv[1:] for problem in sorted(check(package))]
assert not problems, problems
