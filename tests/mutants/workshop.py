# SPDX-License-Identifier: Apache-2.0
"""The place where changes are tried: a copy of the tree, a build of it with shared rooms, and how one changed file becomes a library.

Nothing here is ever changed for a mutant: the compiler is told to read another text in place of the file (an overlay), and what it
makes lies in the worker's own folder, which the tests' programs are given first to load from."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess

PARTS = ("libskitter_rooms.so", "libskitter_server.so", "libskitter_ros.so", "libskitter_cli.so")


def copy_tree(root, work):
    """What git knows or would know of the tree, as it lies there now; files that are the same keep their time."""
    tree = work / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    told = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, check=True, capture_output=True).stdout
    wanted = {n.decode() for n in told.split(b"\0") if n and (root / n.decode()).is_file()}
    for old in [p for p in tree.rglob("*") if p.is_file() and not p.is_symlink()]:
        if str(old.relative_to(tree)) not in wanted and "__pycache__" not in old.parts:
            old.unlink()
    for name in wanted:
        a, b = root / name, tree / name
        if not b.exists() or a.read_bytes() != b.read_bytes():
            b.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(a, b)
    data = root.parent / "shared"
    if data.exists() and not (work / "shared").exists():
        (work / "shared").symlink_to(data)
    return tree


def bare(path, folder):
    """What an object file says without its debug parts, which name columns."""
    out = folder / "bare.o"
    subprocess.run(["objcopy", "--strip-debug", str(path), str(out)], check=True)
    return hashlib.sha256(out.read_bytes()).hexdigest()


class Trouble(Exception):
    """The machine's, not a change's."""


def compiled(command, cwd, env):
    """Whether a compiler or linker took it. One that did not say why was ended by something else: tried once more."""
    for _ in range(2):
        try:
            done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace", env=env, timeout=300)
        except subprocess.TimeoutExpired:
            return False  # a change that a compiler cannot get through
        if done.returncode == 0:
            return True
        if done.returncode > 0 and "error:" in done.stderr and "No space left" not in done.stderr:
            return False
    raise Trouble(f"'{command[0]}' ended with {done.returncode}, which no change explains: {done.stderr[-300:]}")


class Workshop:
    def __init__(self, root, work, jobs, say):
        self.root, self.work, self.jobs = root, work, jobs
        self.tree = copy_tree(root, work)
        self.build = work / "build"
        say("building a copy of the tree")
        subprocess.run(["cmake", "-G", "Ninja", "-S", str(self.tree), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_C_COMPILER=clang", "-DSKITTER_MUTANTS=ON",
                        "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON"], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(["ninja", "-C", str(self.build), "-j", str(jobs)], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"error: the copy of the tree in {self.tree} does not build\n{done.stdout[-3000:]}")
        self.compile, self.link, self.inside = {}, {}, {}
        for part in PARTS:
            told = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", "-s", part], check=True, capture_output=True, text=True)
            self.link[part] = [w for w in shlex.split(told.stdout) if w not in (":", "&&")]
            for word in self.link[part]:
                if word.endswith(".o"):
                    self.inside[word] = part
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            at = words.index("-o")
            if words[at + 1] in self.inside:
                self.compile[words[at + 1]] = (words[:at] + words[at + 2 :], os.path.relpath(entry["file"], self.tree))
        self.users = self.read_users()
        self.unchanged = {}  # object -> what it says where nothing was changed

    def read_users(self):
        """file of the tree -> the objects that are compiled from it."""
        out = {}
        told = subprocess.run(["ninja", "-C", str(self.build), "-t", "deps"], check=True, capture_output=True, text=True).stdout
        target = None
        for line in told.splitlines():
            if line and not line.startswith(" "):
                target = line.split(":", 1)[0]
            elif line and target in self.compile:
                name = os.path.relpath(os.path.join(self.build, line.strip()), self.tree)
                if not name.startswith(".."):
                    out.setdefault(name, []).append(target)
        return out

    def made(self, folder, name, text):
        """Compiles and links with `text` in place of file `name`: "no build", "same", or the folder to load libraries from."""
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "lib").mkdir(parents=True)
        (folder / "tmp").mkdir()
        changed = folder / pathlib.Path(name).name
        changed.write_text(text)
        overlay = folder / "overlay.json"
        overlay.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": [
            {"name": str(self.tree / name), "type": "file", "external-contents": str(changed)}]}))
        env = {**os.environ, "CCACHE_DISABLE": "1"}  # it knows nothing of overlays
        fresh, same = {}, True
        for k, target in enumerate(self.users.get(name, [])):
            out = folder / f"{k}.o"
            command = self.compile[target][0] + ["-w", "-Xclang", "-ivfsoverlay", "-Xclang", str(overlay), "-o", str(out)]
            if not compiled(command, self.build, env):
                return "no build"
            if target not in self.unchanged:  # not the build's own: one out of a compiler cache names its source by another path
                plain = folder / "plain.o"
                subprocess.run(self.compile[target][0] + ["-w", "-o", str(plain)], cwd=self.build, capture_output=True, env=env, check=True)
                self.unchanged[target] = bare(plain, folder)
            if bare(out, folder) != self.unchanged[target]:
                same = False
                fresh[target] = str(out)
        if same:
            return "same"
        for part in {self.inside[t] for t in fresh}:
            words = [fresh.get(w, w) for w in self.link[part]]
            words[words.index("-o") + 1] = str(folder / "lib" / part)
            if not compiled(words, self.build, env):
                return "no build"
        return folder / "lib"
