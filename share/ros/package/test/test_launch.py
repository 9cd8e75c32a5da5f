# SPDX-License-Identifier: Apache-2.0
"""The launch file declares and hands on every parameter, also on machines without launch itself."""

import ast
import os

import pytest
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
LAUNCH = os.path.join(HERE, '..', 'launch', 'vision.launch.py')


def names_of_config():
    with open(os.path.join(HERE, '..', 'config', 'params.yaml')) as file:
        return set(yaml.safe_load(file)['/**']['ros__parameters'])


def parts():
    """Give what the launch file defines, without what it imports."""
    with open(LAUNCH) as file:
        tree = ast.parse(file.read())
    wanted = [item for item in tree.body if not isinstance(item, (ast.Import, ast.ImportFrom))]
    scope = {'yaml': yaml, 'os': os}
    exec(compile(ast.Module(body=wanted, type_ignores=[]), LAUNCH, 'exec'), scope)
    return scope


def test_every_parameter_is_an_argument():
    scope = parts()
    names = [name for name, _, _, _ in scope['PARAMETERS']]
    assert len(names) == len(set(names))
    assert names_of_config() <= set(names)


def test_values_keep_their_types():
    scope = parts()
    kinds = {name: kind for name, kind, _, _ in scope['PARAMETERS']}
    texts = {'bool': ('false', False), 'int': ('7', 7), 'double': ('1', 1.0), 'string': ('0', '0'),
             'int_list': ('[0, 2]', [0, 2])}
    given = {name: texts[kind][0] for name, kind in kinds.items()}
    found = scope['overrides'](given)
    assert found == {name: texts[kind][1] for name, kind in kinds.items()}
    assert all(isinstance(found[name], float) for name, kind in kinds.items() if kind == 'double')
    assert scope['overrides']({name: '' for name in kinds}) == {}


def test_wrong_values_are_refused():
    scope = parts()
    with pytest.raises(ValueError):
        scope['overrides']({'frame_skip': 'many'})


def test_launch_description():
    pytest.importorskip('launch_ros')
    from launch import LaunchContext
    from launch_ros.utilities import evaluate_parameters
    scope = {}
    with open(LAUNCH) as file:
        exec(compile(file.read(), LAUNCH, 'exec'), scope)
    scope['get_package_share_directory'] = lambda name: os.path.join(HERE, '..')
    context = LaunchContext()
    context.launch_configurations.update({'device': '0', 'qos_depth': '3', 'frame_skip': '2', 'diagnostics_period': '1'})
    nodes = []
    for entity in scope['generate_launch_description']().entities:
        nodes += entity.visit(context) or []
    assert len(nodes) == 1
    assert {name for name, _, _, _ in scope['PARAMETERS']} <= set(context.launch_configurations)
    told = evaluate_parameters(context, nodes[0]._Node__parameters)
    assert told[-1] == {'device': '0', 'qos_depth': 3, 'frame_skip': 2, 'diagnostics_period': 1.0}
