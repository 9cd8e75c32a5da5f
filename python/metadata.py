#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pip and importlib.metadata know of the package: METADATA of the wheel, and of the package that a distribution installs."""

import argparse
import os

EXTRAS = {"arrays": ["numpy"], "tables": ["numpy", "pandas"], "sleap": ["numpy", "sleap-io"],
          "supervision": ["numpy", "supervision"], "onnxruntime": ["onnxruntime"], "openvino": ["openvino"]}


def read(path):
    with open(path, "rb") as f:
        return f.read()


def version_of(source):
    return read(os.path.join(source, "VERSION")).decode().strip()


def metadata(source):
    """The whole text, from the repository's version and its page on Python."""
    lines = ["Metadata-Version: 2.1", "Name: skitter", "Version: " + version_of(source),
             "Summary: Detects, poses and follows animals in video, on whatever compute the machine has",
             "License: Apache-2.0", "Requires-Python: >=3.9", "Classifier: Programming Language :: Python :: 3",
             "Classifier: License :: OSI Approved :: Apache Software License",
             "Classifier: Operating System :: POSIX :: Linux", "Classifier: Typing :: Typed",
             "Description-Content-Type: text/markdown"]
    for extra, packages in EXTRAS.items():
        lines.append("Provides-Extra: " + extra)
        lines += ['Requires-Dist: %s; extra == "%s"' % (p, extra) for p in packages]
    return ("\n".join(lines) + "\n\n").encode() + read(os.path.join(source, "docs", "python.md"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="the repository")
    parser.add_argument("--out", required=True, help="the file")
    args = parser.parse_args()
    os.makedirs(os.path.dirname(args.out), exist_ok=True)
    with open(args.out, "wb") as f:
        f.write(metadata(args.source))


if __name__ == "__main__":
    main()
