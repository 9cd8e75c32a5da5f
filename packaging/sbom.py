#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of parts of what is handed out (CycloneDX 1.5, JSON): the wheel's says what is inside its binaries, a Debian package's what
its binaries link and load. The same files and libraries give the same bytes: no times, no random numbers."""

import argparse
import hashlib
import json
import os
import re
import subprocess
from urllib.parse import quote

LICENCE = "Apache-2.0"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def said_by(*command):
    """What a command prints, or nothing where it is absent or fails."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def installed_version(package):
    return said_by("dpkg-query", "-W", "-f", "${Version}", package)


def purl(package, version):
    return "pkg:deb/debian/%s@%s" % (package, quote(version, safe=""))


def debian_part(name, package, version=None, needed=True):
    """A part that comes from a package of Debian's; one that is only loaded where it is there is optional."""
    version = installed_version(package) if version is None else version
    part = {"type": "library", "name": name, "version": version, "purl": purl(package, version), "bom-ref": purl(package, version)}
    return part if needed else dict(part, scope="optional")


def file_part(name, data):
    return {"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}]}


def document(name, version, reference, parts, files):
    """`files` are {name: bytes} of the binaries."""
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "library", "name": name, "version": version, "bom-ref": reference, "purl": reference,
                                   "licenses": [{"license": {"id": LICENCE}}]}},
        "components": parts + [file_part(n, files[n]) for n in sorted(files)],
        "dependencies": [{"ref": reference, "dependsOn": sorted({p["bom-ref"] for p in parts})}],
    }, indent=1, sort_keys=True).encode() + b"\n"


def needed_by(path):
    """Names of the shared libraries that a binary asks for."""
    return re.findall(r"\(NEEDED\).*\[(.+?)\]", said_by("readelf", "-dW", path))


def package_of(library, triplet):
    """The installed package that has a shared library of this machine's own."""
    for place in (triplet + "/", "lib64/"):
        found = re.match(r"([^:,\s]+)", said_by("dpkg-query", "-S", "*/%s%s" % (place, library)))
        if found:
            return found.group(1)
    return None


def binaries_under(root):
    """{name below the root: bytes} of what the loader loads."""
    found = {}
    for folder, _, names in os.walk(root):
        for path in (os.path.join(folder, n) for n in names):
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as f:
                    if f.read(4) != b"\x7fELF":
                        continue
                found[os.path.relpath(path, root)] = read(path)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", required=True, help="name of the Debian package")
    parser.add_argument("--version", required=True)
    parser.add_argument("--root", required=True, help="the folder with its files")
    parser.add_argument("--own", action="append", default=[], metavar="LIBRARY=PACKAGE", help="a library of the same source")
    parser.add_argument("--loaded", action="append", default=[], metavar="PACKAGE", help="loaded when needed")
    parser.add_argument("--triplet", required=True, help="the machine's, as in /usr/lib/TRIPLET")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    files = binaries_under(args.root)
    own = dict(o.split("=") for o in args.own)
    parts = {}
    for library in sorted({n for f in files for n in needed_by(os.path.join(args.root, f))}):
        package = own.get(library) or package_of(library, args.triplet)
        if package is None:
            parser.error("no package has %s, which %s needs" % (library, args.package))
        parts[package] = debian_part(package, package, args.version if library in own else None)
    for package in args.loaded:
        parts.setdefault(package, debian_part(package, package, needed=False))
    os.makedirs(os.path.dirname(args.out), exist_ok=True)
    with open(args.out, "wb") as f:
        f.write(document(args.package, args.version, purl(args.package, args.version), [parts[p] for p in sorted(parts)], files))


if __name__ == "__main__":
    main()
