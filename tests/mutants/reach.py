# SPDX-License-Identifier: Apache-2.0
"""Which tests run which line, and how long each takes: every test by itself, each block that ran noted by reach.c.

The map is made once and kept. Tests whose source is another are run again; lines that moved since are followed by comparing the
sources with those of the map, so that an edit does not cost running everything again (`--anew` does)."""
import bisect
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import time

# They judge the sources' text or make builds of their own: a changed operator is nothing to them.
# A browser wants more addresses than a runaway change may have.
LEFT_OUT = ("checks_", "kernels_self_test", "python_", "page_", "app_peak_memory")


def listed(build):
    """The tests of a build: name -> command, folder, environment, labels."""
    told = json.loads(subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True,
                                     text=True).stdout)
    out = {}
    for t in told["tests"]:
        has = {p["name"]: p["value"] for p in t.get("properties", [])}
        if t["name"].startswith(LEFT_OUT) or "slow" in has.get("LABELS", []) or "command" not in t:
            continue
        out[t["name"]] = {"command": t["command"], "cwd": has.get("WORKING_DIRECTORY", str(build)), "labels": has.get("LABELS", []),
                          "env": dict(e.split("=", 1) for e in has.get("ENVIRONMENT", []))}
    return out


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (32 << 30, 32 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(test, folder, limit, more):
    """One test with temporary files, settings and caches of its own: "passed", "skipped", "failed" or "no end", and the seconds."""
    for name in ("tmp", "config", "cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    env = {**os.environ, **test["env"], "TMPDIR": str(folder / "tmp"), "SKITTER_CONFIG_DIR": str(folder / "config"),
           "SKITTER_CACHE_DIR": str(folder / "cache"), **more}
    begun = time.monotonic()
    with open(folder / "told", "wb") as told:
        child = subprocess.Popen(test["command"], cwd=test["cwd"], env=env, stdin=subprocess.DEVNULL, stdout=told, stderr=told,
                                 start_new_session=True, preexec_fn=limited)
        try:
            code = child.wait(limit)
            answer = "passed" if code == 0 else "skipped" if code == 77 else "failed"
        except subprocess.TimeoutExpired:
            answer = "no end"
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)  # also what the test has left behind
            except ProcessLookupError:
                pass
            child.wait()
    return answer, time.monotonic() - begun


def sources_of(tree):
    return {str(p.relative_to(tree)): p.read_text() for p in sorted((tree / "src").rglob("*")) if p.suffix in (".c", ".h")}


def own_source(tree, name, test):
    h = hashlib.sha256()
    for room in test["labels"]:
        thing = name[len(room) + 1 :]
        for p in sorted((tree / "tests" / room).glob(f"**/test_{thing}.*")) + sorted((tree / "tests" / room).glob(f"check_{thing}.c")):
            h.update(p.read_bytes())
    return h.hexdigest()


def places_of_blocks(build, tree, counts):
    """library -> for each block the (file, line) it begins at, those of functions it was inlined into included."""
    out = {}
    for blocks in sorted(counts.glob("*.blocks")):
        library = blocks.name[: -len(".blocks")]
        raw = blocks.read_bytes()
        offsets = struct.unpack(f"<{len(raw) // 8}Q", raw)
        asked = "".join(f"0x{o:x}\n" for o in offsets)
        told = subprocess.run(["llvm-symbolizer", f"--obj={build / library}", "--inlines", "--functions=none"], input=asked, check=True,
                              capture_output=True, text=True).stdout
        mine = []
        for part in told.split("\n\n")[: len(offsets)]:
            here = []
            for line in part.splitlines():
                path, _, rest = line.rpartition(":")
                path, _, number = path.rpartition(":")
                # a compiler cache that several checkouts share gives objects that name another one's copy of the tree
                _, inside, path = os.path.normpath(os.path.join(build, path)).rpartition(f"/{tree.name}/src/")
                if inside and number.isdigit():
                    here.append(("src/" + path, int(number)))
            mine.append(here)
        out[library] = mine
    return out


def lines_ran(blocks, scratch):
    out = {}
    for library, places in blocks.items():
        seen = scratch / f"{library}.seen"
        if seen.exists():
            for k, ran in enumerate(seen.read_bytes()):
                if ran:
                    for path, line in places[k]:
                        out.setdefault(path, set()).add(line)
    return {k: sorted(v) for k, v in out.items()}


def moved(before, after):
    """Line number -> line number, of the lines that two texts have in common."""
    out = {}
    for a, b, n in difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False).get_matching_blocks():
        out.update({a + k + 1: b + k + 1 for k in range(n)})
    return out


def keep(map_, path):
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(map_))
    os.replace(fresh, path)


class Reach:
    def __init__(self, tree, build, work, jobs, say, anew=False):
        self.tests = listed(build)
        kept, counts = work / "lines.json", work / "counts"
        old = json.loads(kept.read_text()) if kept.exists() and not anew else {"sources": {}, "tests": {}}
        now = sources_of(tree)
        for path, text in now.items():
            before = old["sources"].get(path)
            if before is not None and before != text:
                to = moved(before, text)
                for t in old["tests"].values():
                    if path in t["lines"]:
                        t["lines"][path] = sorted(to[n] for n in t["lines"][path] if n in to)
        old["sources"] = now
        wanted = [n for n, t in self.tests.items() if old["tests"].get(n, {}).get("own") != own_source(tree, n, t)]
        old["tests"] = {n: t for n, t in old["tests"].items() if n in self.tests}
        shutil.rmtree(counts, ignore_errors=True)
        counts.mkdir(parents=True)
        subprocess.run([str(build / "skitter"), "--version"], env={**os.environ, "SKITTER_REACH": str(counts)}, capture_output=True)
        blocks = places_of_blocks(build, tree, counts)
        self.known = {}
        for places in blocks.values():
            for here in places:
                for path, line in here:
                    self.known.setdefault(path, set()).add(line)
        self.known = {k: sorted(v) for k, v in self.known.items()}

        def one(name):
            scratch = counts / name
            (scratch / "seen").mkdir(parents=True)
            answer, seconds = run(self.tests[name], scratch, 600, {"SKITTER_REACH": str(scratch / "seen"), "SKITTER_FUZZ_SECONDS": "1"})
            lines = lines_ran(blocks, scratch / "seen")
            if answer != "failed":
                shutil.rmtree(scratch, ignore_errors=True)
            return name, {"own": own_source(tree, name, self.tests[name]), "answer": answer, "seconds": round(seconds, 2), "lines": lines}

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for n, (name, told) in enumerate(pool.map(one, wanted), 1):
                old["tests"][name] = told
                say(f"which test runs which line: {n} of {len(wanted)} tests, {name}")
                if n % 40 == 0:
                    keep(old, kept)
        keep(old, kept)
        self.map = old["tests"]
        self.failing = sorted(n for n, t in self.map.items() if t["answer"] in ("failed", "no end"))

    def who(self, room, path, first, last, begin, end, users):
        """The tests that run the lines first..last, then those that run others of the function begin..end: of each the room's own
        first, and quick ones before slow ones. Where the compiler left no block of the function, those that run its file, or one of
        its users."""
        known = self.known.get(path, [])
        wanted = set(range(first, last + 1))
        if not any(first <= n <= last for n in known):  # a line in the middle of a block
            k = bisect.bisect_left(known, first) - 1
            if k >= 0 and known[k] >= begin:
                wanted.add(known[k])
        near, far = [], []
        for name, t in self.map.items():
            lines = t["lines"].get(path, ())
            if t["answer"] != "passed" or not lines:
                continue
            if any(n in wanted for n in lines):
                near.append(name)
            elif any(begin <= n <= end for n in lines):
                far.append(name)
        order = lambda n: (room not in self.tests[n]["labels"], self.map[n]["seconds"])  # noqa: E731
        if not near and not far:
            passed = [(n, t["lines"]) for n, t in self.map.items() if t["answer"] == "passed"]
            far = [n for n, lines in passed if path in lines] or [n for n, lines in passed if any(u in lines for u in users)]
        return sorted(near, key=order), sorted(far, key=order)
