"""Starts {{package_name}}: {{model_name|comment}} on {{backend}}. Every parameter of the node is an argument here."""

import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import LifecycleNode, LoadComposableNodes
from launch_ros.descriptions import ComposableNode
from launch_ros.parameter_descriptions import ParameterValue
import yaml

PACKAGE = {{package_name|py}}
PLUGIN = '{{package_name}}::{{class_name}}'

# name, type, what the package begins with, what it is
PARAMETERS = [
    ('autostart', 'bool', 'true', 'configure and activate the node when it starts; false: a lifecycle manager does'),
{{#parameters}}
    ({{.name|py}}, {{.type|py}}, {{.default_text|py}}, {{.description|py}}),
{{/parameters}}
]


def value_of(name, kind, text):
    """Tell what an argument's text means for a parameter of this type."""
    value = yaml.safe_load(text)
    if kind == 'string':
        quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in '\'"'
        return value if quoted else text
    if kind == 'bool' and isinstance(value, bool):
        return value
    if kind == 'int' and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == 'double' and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if kind == 'int_list':
        value = value if isinstance(value, list) else [value]
        if all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            return value
    raise ValueError(f'{name}:={text} is not a {kind}')


def overrides(given):
    """Tell which parameters stand over the file's: those whose argument is not empty ('' hands on an empty text)."""
    found = {}
    for name, kind, _, _ in PARAMETERS:
        text = given.get(name, '')
        if text == '' or (kind == 'int_list' and text.replace(' ', '') == '[]'):
            continue  # an empty list has no type that a parameter file could tell
        found[name] = value_of(name, kind, text)
    return found


def make_node(context):
    """Make the node of what the arguments say: in a process of its own, or in a container that runs."""
    given = context.launch_configurations
    parameters = [given['params_file']]
    found = overrides(given)
    if found:  # texts stay texts, also where they look like numbers
        parameters.append({
            name: ParameterValue(value, value_type=str) if isinstance(value, str) else value
            for name, value in found.items()})
    container = given['container']
    if container:
        return [LoadComposableNodes(
            target_container=container,
            composable_node_descriptions=[ComposableNode(
                package=PACKAGE, plugin=PLUGIN, name=given['name'], namespace=given['namespace'],
                parameters=parameters, extra_arguments=[{'use_intra_process_comms': True}])])]
    return [LifecycleNode(
        package=PACKAGE, executable={{node_name|py}}, name=given['name'], namespace=given['namespace'],
        parameters=parameters, output='screen')]


def generate_launch_description():
    """Declare an argument for every parameter, and the node."""
    share = get_package_share_directory(PACKAGE)
    arguments = [
        DeclareLaunchArgument('name', default_value={{node_name|py}}, description="the node's name"),
        DeclareLaunchArgument('namespace', default_value='', description="the node's namespace"),
        DeclareLaunchArgument(
            'params_file', default_value=os.path.join(share, 'config', 'params.yaml'),
            description='parameters; the arguments below stand over it'),
        DeclareLaunchArgument(
            'container', default_value='',
            description='a component container that runs: images of a camera in it are not copied'),
    ]
    for name, kind, usual, description in PARAMETERS:
        arguments.append(DeclareLaunchArgument(
            name, default_value='', description=f'{description} [{kind}; the package begins with {usual!r}]'))
    return LaunchDescription(arguments + [OpaqueFunction(function=make_node)])
