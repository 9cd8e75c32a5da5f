# SPDX-License-Identifier: Apache-2.0
"""Where things are: the program, the demo's models, and the runtimes' libraries of this Python's environment."""

import importlib.util
import os
import shutil
import sys
import sysconfig

from . import _errors


def program():
    """Path of the native program `skitter` that came with this package."""
    named = os.environ.get("SKITTER_PROGRAM")
    if named:
        return named
    name = "skitter"
    package = os.path.dirname(os.path.abspath(__file__))
    # beside the folder lib/python3…/site-packages that the package lies in: also a distribution's, whose Python has its scripts elsewhere
    places = [os.path.normpath(os.path.join(package, "..", "..", "..", "..", "bin")), sysconfig.get_path("scripts")]
    for scheme in ("posix_user", "posix_local"):
        if scheme in sysconfig.get_scheme_names():
            places.append(sysconfig.get_path("scripts", scheme))
    # `pip install --target DIR` puts programs into DIR/bin
    places.append(os.path.join(os.path.dirname(package), "bin"))
    for place in places:
        path = os.path.join(place or "", name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    path = shutil.which(name)
    if path:
        return path
    raise _errors.NotFoundError(
        "the program 'skitter' is neither beside this Python (%s) nor in PATH; install the package again, or name it in "
        "SKITTER_PROGRAM" % ", ".join(p for p in places if p)
    )


def model(name):
    """Path of a model of the demo's: 'demo-obb.pt', 'demo-pose.pt', 'demo-bottomup'."""
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(program())))
    places = [os.environ.get("SKITTER_MODELS"), os.path.join(prefix, "share", "skitter", "models"),
              os.path.join(prefix, "share", "models")]
    for place in places:
        if place and os.path.exists(os.path.join(place, name)):
            return os.path.join(place, name)
    raise _errors.NotFoundError("the demo's model %s is in none of %s" % (name, ", ".join(p for p in places if p)))


_LIBRARIES = (("SKITTER_ONNXRUNTIME", "onnxruntime", "capi"), ("SKITTER_OPENVINO", "openvino", "libs"))
_told = False


def tell_libraries():
    """Names this environment's program, onnxruntime and openvino to the library and to programs that are started, unless somebody
    did: they lie where only Python knows. Neither is imported."""
    global _told
    if _told:
        return
    _told = True
    if not os.environ.get("SKITTER_PROGRAM"):
        try:
            os.environ["SKITTER_PROGRAM"] = program()  # runtimes are tried in a process of their own
        except _errors.NotFoundError:
            pass
    for variable, package, folder in _LIBRARIES:
        if os.environ.get(variable) or package in _foreign():
            continue
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            continue
        for place in (spec.submodule_search_locations or ()) if spec else ():
            path = os.path.join(place, folder)
            if os.path.isdir(path) and any(n.startswith("lib") for n in os.listdir(path)):
                os.environ[variable] = path
                break


def _foreign():
    """Packages that an environment which is active has itself: found by the library's own search, which says so."""
    active = os.environ.get("VIRTUAL_ENV")
    return () if not active or os.path.realpath(active) == os.path.realpath(sys.prefix) else ("onnxruntime", "openvino")
