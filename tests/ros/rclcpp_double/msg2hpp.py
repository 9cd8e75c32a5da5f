#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C++ structs of ROS messages: msg2hpp.py PACKAGE OUT FILE.msg … writes OUT/PACKAGE/msg/name.hpp, as rosidl's headers are called."""
import os
import re
import sys

PLAIN = {'bool': 'bool', 'byte': 'uint8_t', 'char': 'uint8_t', 'float32': 'float', 'float64': 'double', 'string': 'std::string',
         **{f'{u}int{n}': f'{u}int{n}_t' for u in ('', 'u') for n in (8, 16, 32, 64)}}


def snake(name):
    name = re.sub(r'([A-Z]+)([A-Z][a-z])', r'\1_\2', name)
    return re.sub(r'([a-z0-9])([A-Z])', r'\1_\2', name).lower()


def type_of(word, package, includes):
    if word in PLAIN:
        return PLAIN[word]
    if word.startswith('string<='):
        return 'std::string'
    owner, _, name = word.rpartition('/')
    owner = owner or package
    if word == 'Header':
        owner, name = 'std_msgs', 'Header'
    includes.add(f'{owner}/msg/{snake(name)}.hpp')
    return f'{owner}::msg::{name}'


def convert(package, path, out):
    name = os.path.splitext(os.path.basename(path))[0]
    includes, fields, constants = set(), [], []
    for line in open(path, encoding='utf-8'):
        words = line.split('#')[0].split(None, 2)
        if not words:
            continue
        if '=' in words[1] or (len(words) > 2 and words[2].startswith('=')):
            key, value = re.sub(r'\s*=\s*', '=', ' '.join(words[1:])).split('=')
            constants.append(f'  static constexpr {PLAIN[words[0]]} {key} = {value};')
            continue
        array = re.fullmatch(r'(.*)\[(<=)?(\d*)\]', words[0])
        base = type_of(array[1] if array else words[0], package, includes)
        if array and array[3] and not array[2]:
            base = f'std::array<{base}, {array[3]}>'
        elif array:
            base = f'std::vector<{base}>'
        fields.append(f'  {base} {words[1]}{{{words[2].strip() if len(words) > 2 else ""}}};')
    folder = os.path.join(out, package, 'msg')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, snake(name) + '.hpp'), 'w', encoding='utf-8') as file:
        file.write('#pragma once\n#include <array>\n#include <cstdint>\n#include <memory>\n#include <string>\n#include <vector>\n')
        file.write(''.join(f'#include <{i}>\n' for i in sorted(includes)))
        file.write(f'namespace {package}::msg\n{{\nstruct {name}\n{{\n  using SharedPtr = std::shared_ptr<{name}>;\n'
                   f'  static constexpr const char * ros_name = "{package}/msg/{name}";\n')
        file.write('\n'.join(constants + fields) + f'\n}};\n}}  // namespace {package}::msg\n')


if __name__ == '__main__':
    for message in sys.argv[3:]:
        convert(sys.argv[1], message, sys.argv[2])
