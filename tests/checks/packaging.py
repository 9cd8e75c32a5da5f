# SPDX-License-Identifier: Apache-2.0
"""Whether what packages the program agrees with what the build installs, without making a package (test_packaging.sh):
    packaging.py REPOSITORY INSTALLED      INSTALLED: a folder that `cmake --install --prefix /usr` filled
Every installed file belongs to exactly one Debian package or is left out by name; the recipes have the form that their programs read."""

import fnmatch
import json
import os
import re
import shlex
import sys

TRIPLET = "x86_64-linux-gnu"
problems = []


def complain(text):
    problems.append(text)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def words_of(path):
    """Lines of words without comments, as debhelper reads its lists."""
    lines = (line.split("#")[0].split() for line in read(path).splitlines())
    return [words for words in lines if words]


def stanzas(text):
    """Fields of a control file's paragraphs."""
    out = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        fields, name = {}, None
        for line in paragraph.splitlines():
            if line[:1] in " \t":
                fields[name] += "\n" + line
            else:
                name, value = line.split(":", 1)
                fields[name] = value.strip()
        out.append(fields)
    return out


def names_in(field):
    """Package names of a field of dependencies; substitutions are not names."""
    return {re.split(r"[\s(\[]", d.strip())[0] for d in field.split(",") if d.strip() and not d.strip().startswith("$")}


def as_debian(path):
    """Where Debian has it: libraries lie in a folder of the machine's name."""
    return re.sub(r"^usr/lib/(?!python3/|%s)" % re.escape(TRIPLET), "usr/lib/%s/" % TRIPLET, path)


def fits(path, pattern):
    """A pattern names a file, or a folder with all that is in it; stars stop at slashes."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(fnmatch.fnmatchcase(p, w) for p, w in zip(parts, wanted))


def check_files(debian, installed, source, packages):
    files = [os.path.relpath(os.path.join(folder, n), installed) for folder, _, names in os.walk(installed) for n in names]
    files = [as_debian(f) for f in files]
    # the Python module is installed where a distribution names a folder for it
    files += ["usr/lib/python3/dist-packages/skitter/" + n for n in os.listdir(os.path.join(source, "python", "skitter"))
              if n != "__pycache__"]
    lists = {p: [w[0] for w in words_of(os.path.join(debian, p + ".install"))] for p in packages}
    lists["nobody"] = [w[0] for w in words_of(os.path.join(debian, "not-installed"))]
    used = set()
    for f in files:
        takers = {(p, pattern) for p, patterns in lists.items() for pattern in patterns if fits(f, pattern)}
        used |= takers
        if len({p for p, _ in takers}) != 1:
            complain("%s belongs to %s" % (f, " and ".join(sorted(p for p, _ in takers)) or "no package, nor is it in not-installed"))
    for p, patterns in lists.items():
        for pattern in patterns:
            if (p, pattern) not in used:
                complain("debian/%s: nothing that is installed is called %s" % (p, pattern))


def check_debian(source, installed):
    debian = os.path.join(source, "packaging", "debian")
    control = stanzas(read(debian, "control"))
    packages = [c["Package"] for c in control[1:]]
    if sorted(packages) != ["libskitter-dev", "libskitter0", "python3-skitter", "skitter"]:
        complain("debian/control has the packages " + ", ".join(packages))
    check_files(debian, installed, source, packages)
    # what the build needs is listed once, in scripts/packages.txt; these come with every build of a package
    given = {"gcc", "libc6-dev", "make", "git"}
    wanted = {w[1] for w in words_of(os.path.join(source, "scripts", "packages.txt")) if w[0] in ("build", "wheel")} - given
    asked = names_in(control[0]["Build-Depends"]) - {"debhelper-compat", "dh-python"}
    for name in sorted(wanted ^ asked):
        complain("%s is in %s" % (name, "scripts/packages.txt, but not among debian/control's Build-Depends" if name in wanted else
                                  "debian/control's Build-Depends, but not in scripts/packages.txt"))
    version = read(source, "VERSION").strip()
    if not re.match(r"skitter \(%s\) " % re.escape(version), read(debian, "changelog")):
        complain("debian/changelog does not begin with skitter (%s)" % version)
    first, second = version.split(".")[:2]
    bounds = "libskitter0 (>= %s.%s), libskitter0 (<< %s.%d)" % (first, second, first, int(second) + 1)
    if bounds not in read(debian, "rules"):
        complain("debian/rules: dh_makeshlibs does not say %s, which version %s means" % (bounds, version))
    for test in names_in(",".join(t["Tests"] for t in stanzas(read(debian, "tests", "control")))):
        if not os.access(os.path.join(debian, "tests", test), os.X_OK):
            complain("debian/tests/%s cannot be run" % test)


def check_conda(source):
    recipe = read(source, "packaging", "conda", "meta.yaml")
    version = read(source, "VERSION").strip()
    if '{%% set version = "%s" %%}' % version not in recipe:
        complain("conda/meta.yaml: its version is not " + version)
    plain = re.sub(r"\{%.*?%\}", "", recipe)
    plain = re.sub(r"\{\{\s*version\s*\}\}", version, plain)
    plain = re.sub(r"\{\{.*?\}\}", "jinja", plain)
    if re.search(r"\{\{|\}\}|\{%|%\}", plain):
        complain("conda/meta.yaml: a bracket of jinja's is not closed")
    try:
        import yaml
    except ImportError:
        print("PyYAML is not here: conda/meta.yaml was not parsed")
        return
    said = yaml.safe_load(plain)
    for key in ("package", "source", "build", "requirements", "test", "about"):
        if key not in said:
            complain("conda/meta.yaml has no '%s'" % key)
    if not os.path.isdir(os.path.join(source, "packaging", "conda", said["source"]["path"])):
        complain("conda/meta.yaml: there is no " + said["source"]["path"])
    if not os.path.isfile(os.path.join(source, said["about"]["license_file"])):
        complain("conda/meta.yaml: there is no " + said["about"]["license_file"])
    for part, needs in said["requirements"].items():
        for need in needs:
            if not isinstance(need, str) or not re.fullmatch(r"[a-z0-9][a-z0-9._-]*( [0-9.*<>=,|]+)?", need):
                complain("conda/meta.yaml: %s: '%s' names no package" % (part, need))


INSTRUCTIONS = {"FROM", "RUN", "COPY", "WORKDIR", "USER", "ENV", "ENTRYPOINT", "CMD", "ARG", "LABEL", "EXPOSE", "VOLUME"}


def check_container(source):
    text = "\n".join(line for line in read(source, "packaging", "Containerfile").splitlines() if not line.lstrip().startswith("#"))
    stages, first = set(), True
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if not line.strip():
            continue
        name, _, rest = line.strip().partition(" ")
        if name not in INSTRUCTIONS or (first and name not in ("FROM", "ARG")):
            complain("Containerfile: '%s' cannot stand here: %s" % (name, line))
        first = False
        if name == "FROM":
            found = re.fullmatch(r"(\S+:\S+)(?: AS (\w+))?", rest)
            if not found:
                complain("Containerfile: no image with a tag: " + line)
            elif found.group(2):
                stages.add(found.group(2))
        elif name in ("ENTRYPOINT", "CMD"):
            if not all(isinstance(w, str) for w in json.loads(rest)):
                complain("Containerfile: not a list of words: " + line)
        elif name == "COPY":
            words = shlex.split(rest)
            of = [w[len("--from="):] for w in words if w.startswith("--from=")]
            if of and of[0] not in stages:
                complain("Containerfile: no stage is called " + of[0])
            if not of and not all(os.path.exists(os.path.join(source, w)) for w in words[:-1]):
                complain("Containerfile: there is no such file: " + line)
        elif name == "RUN":
            shlex.split(rest)
            if "apt-get install" in rest and ("apt-get update &&" not in re.sub(r"\s+", " ", rest) or "install -y" not in rest):
                complain("Containerfile: apt-get install without update before it, or without -y: " + line)


def main():
    source, installed = sys.argv[1:3]
    check_debian(source, installed)
    check_conda(source)
    check_container(source)
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
