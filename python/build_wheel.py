#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of what CMake built (cmake/Python.cmake; `make wheel`), with Python's standard library alone. The same input
gives the same bytes. What the binaries need is looked at, not promised: libraries beyond the C library are refused, and the
platform's tag is the newest version of glibc that any of them asks for."""

import argparse
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile

from metadata import metadata, read, version_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "packaging"))
import sbom  # noqa: E402

C_LIBRARY = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
             "ld-linux-aarch64.so.1"}
# What is inside the binaries beside our own code: Debian's source of the archive, and the package whose licence text is shipped.
INSIDE = [("hdf5", "libhdf5-dev"), ("libaec", "libaec-dev"), ("tiff", "libtiff-dev"), ("libwebp", "libwebp-dev"),
          ("libzstd", "libzstd-dev"), ("xz-utils", "liblzma-dev"), ("lerc", "liblerc-dev"), ("jbigkit", "libjbig-dev"),
          ("libdeflate", "libdeflate-dev"), ("libjpeg-turbo", "libturbojpeg0-dev"), ("libpng1.6", "libpng-dev"),
          ("libyaml", "libyaml-dev"), ("jansson", "libjansson-dev"), ("protobuf-c", "libprotobuf-c-dev"),
          ("xxhash", "libxxhash-dev"), ("libsodium", "libsodium-dev"), ("zlib", "zlib1g-dev"),
          ("gcc-12", "libstdc++-12-dev")]
MODELS = ["demo-obb.pt", "demo-pose.pt", "README.md"]


def needed(path):
    """Libraries that a binary asks for, and the newest version of glibc."""
    said = subprocess.run(["readelf", "-dW", "-V", path], check=True, capture_output=True, text=True).stdout
    libraries = set(re.findall(r"\(NEEDED\).*\[(.+?)\]", said))
    versions = [tuple(int(n) for n in v.split(".")) for v in re.findall(r"Name: GLIBC_([0-9.]+)", said)]
    return libraries, max(versions or [(2, 17)])


def list_of_parts(version, binaries):
    """Our code, and what of others is inside the binaries."""
    parts = [sbom.debian_part(name, package) for name, package in INSIDE]
    return sbom.document("skitter", version, "pkg:pypi/skitter@" + version, parts, {n: read(p) for n, p in binaries.items()})


def collect(args, version):
    """Everything but RECORD: {name in the wheel: bytes}, and the binaries among them."""
    files, binaries = {}, {}
    package = os.path.join(args.source, "python", "skitter")
    for name in os.listdir(package):
        if name.endswith((".py", ".pyi", ".typed")):
            files["skitter/" + name] = read(os.path.join(package, name))
    for name in sorted(os.listdir(args.binaries)):
        path = os.path.join(args.binaries, name)
        if name == args.module or re.fullmatch(r"libskitter\.so\.[0-9.]+", name):
            binaries["skitter/" + name] = path
    for path in args.library:
        binaries["skitter/" + os.path.basename(path)] = os.path.realpath(path)
    data = "skitter-%s.data/" % version
    binaries[data + "scripts/skitter"] = os.path.join(args.binaries, "skitter")
    files.update({name: read(path) for name, path in binaries.items()})
    models = os.path.join(args.source, "share", "models")
    for name in MODELS:
        files[data + "data/share/skitter/models/" + name] = read(os.path.join(models, name))
    docs = os.path.join(args.source, "docs")
    for name in os.listdir(docs):
        if name.endswith(".md"):
            files[data + "data/share/doc/skitter/docs/" + name] = read(os.path.join(docs, name))
    return files, binaries


def tag_of(binaries):
    """cp39-abi3-manylinux_2_36_x86_64, or of one Python where the module was built for one."""
    own = {os.path.basename(n) for n in binaries}
    newest = (2, 17)
    for name, path in binaries.items():
        libraries, glibc = needed(path)
        foreign = libraries - C_LIBRARY - own
        if foreign:
            sys.exit("error: %s needs %s, which is neither in the wheel nor the C library's" % (name, ", ".join(sorted(foreign))))
        newest = max(newest, glibc)
    module = next(n for n in own if n.startswith("_native."))
    found = re.match(r"_native\.cpython-(\d+t?)-", module)
    python = "cp%s-cp%s" % (found.group(1).rstrip("t"), found.group(1)) if found else "cp39-abi3"
    return "%s-manylinux_%d_%d_%s" % (python, newest[0], newest[1], platform.machine())


def write(path, files, executable):
    epoch = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800)
    import time
    when = time.gmtime(epoch)[:6]
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as z:
        for name in sorted(files, key=lambda n: (".dist-info/" in n, n)):
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            z.writestr(entry, files[name])
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="the repository")
    parser.add_argument("--binaries", required=True, help="what CMake built")
    parser.add_argument("--module", default="_native.abi3.so", help="the module among them: one for another Python may lie there, too")
    parser.add_argument("--library", action="append", default=[], help="a shared library that goes beside libskitter")
    parser.add_argument("--out", required=True, help="the folder for the wheel")
    args = parser.parse_args()
    version = version_of(args.source)
    files, binaries = collect(args, version)
    tag = tag_of(binaries)
    info = "skitter-%s.dist-info/" % version
    files[info + "METADATA"] = metadata(args.source)
    files[info + "WHEEL"] = ("Wheel-Version: 1.0\nGenerator: skitter/python/build_wheel.py\nRoot-Is-Purelib: false\n"
                             "Tag: %s\n" % tag).encode()
    files[info + "licenses/LICENSE"] = read(os.path.join(args.source, "LICENSE"))
    for name, package in INSIDE:
        notice = "/usr/share/doc/%s/copyright" % package
        if os.path.exists(notice):
            files[info + "licenses/" + name] = read(notice)
    files[info + "sboms/skitter.cdx.json"] = list_of_parts(version, binaries)
    record = info + "RECORD"
    lines = ["%s,sha256=%s,%d" % (n, base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b"=").decode(), len(d))
             for n, d in sorted(files.items())]
    files[record] = ("\n".join(lines + [record + ",,"]) + "\n").encode()
    os.makedirs(args.out, exist_ok=True)
    name = "skitter-%s-%s.whl" % (version, tag)
    for old in os.listdir(args.out):  # of another tag: nobody should take it for this one
        if old.startswith("skitter-") and old.endswith(".whl") and old != name:
            os.remove(os.path.join(args.out, old))
    write(os.path.join(args.out, name), files, set(binaries))
    print(os.path.join(args.out, name))


if __name__ == "__main__":
    main()
