#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one operator, constant, condition or call at a time and looks whether a test notices.

Works on a copy of the tree in build-mutants/, and there on copies of single files: nothing is left changed, also when it is killed.
A place is drawn by the seed and changed, its file compiled, one shared library linked; then the tests that run that line are
started, the room's own first, quick ones before slow ones, until one fails. What is printed of a change:

  caught     a test failed, or did not end
  survived   the tests that run the line all passed: one is missing, or the change cannot be told from outside
  unreached  no test runs the file: survived, too
  same       the compiler makes the same code of both
  judged     stands in equivalent.txt with the reason why nobody could tell
  no build   not C any more

PyPI's universalmutator does the first half of this (changes by regular expressions); what takes the time is to know which few of
some hundred tests to run and to need no linking for them, which it leaves to its user."""
import argparse
import concurrent.futures
import fcntl
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import places  # noqa: E402
import reach  # noqa: E402
import workshop  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KINDS = ("caught", "survived", "unreached", "same", "judged", "no build")


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:110]}", end="", file=sys.stderr, flush=True)


def rooms_of(tree):
    return sorted(p.name for p in (tree / "src").iterdir() if p.is_dir())


def lacking():
    """Instructions that this machine does not have, by the word that names their sources: no test can run them here."""
    try:
        flags = set(re.search(r"^(?:flags|Features)\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M).group(1).split())
    except (OSError, AttributeError):
        return []
    return [word for word, flag in (("amx", "amx_tile"), ("avxvnni", "avx_vnni"), ("avx512", "avx512f"), ("avx2", "avx2")) if flag not in flags]


def files_of(tree, room):
    """Sources of a room that are compiled into the libraries and can be executed here: plugins for GPUs, the page's own files and
    kernels of other processors are not."""
    every = [p for p in sorted((tree / "src" / room).rglob("*")) if p.suffix in (".c", ".h")]
    left = [p for p in every if "engines/cuda" not in str(p) and "engines/tensorrt" not in str(p) and p.name != "main.c"]
    return [p for p in left if not any(word in p.stem.split("_") for word in lacking())]


def drawn(tree, room, count, seed):
    """`count` changes of a room, the same for the same seed and sources."""
    every = [(path, place) for path in files_of(tree, room) for place in places.changes(path.read_text())]
    draw = random.Random(f"{seed} {room}")
    draw.shuffle(every)
    return [(path, draw.choice(place)) for path, place in every[:count]]


def of_line(tree, only):
    name, _, line = only.partition(":")
    path = tree / name
    text = path.read_text()
    return [(path, c) for p in places.changes(text) for c in p if places.line_of(text, c.start) == int(line)]


def key_of(text, change):
    """Names a change by what its line says before and after, not by the line's number, which moves."""
    a = text.rfind("\n", 0, change.start) + 1
    b = text.find("\n", change.end)
    before = " ".join(text[a:b].split())
    after = " ".join((text[a : change.start] + change.text + text[change.end : b]).split())
    return f"{before} => {after}"


def judged():
    out = {}
    lines = (HERE / "equivalent.txt").read_text().splitlines()
    for i, line in enumerate(lines):
        if line.startswith("src/") and i + 1 < len(lines):
            out[line.strip()] = lines[i + 1].strip()
    return out


def function_at(text, line):
    """The lines of the function around a line; of the whole file for a table outside of all."""
    lines = text.splitlines()
    begin = next((n for n in range(line, 0, -1) if re.match(r"[{}]", lines[n - 1])), 0)
    if not begin or lines[begin - 1].startswith("}"):
        return 1, len(lines)
    end = next((n for n in range(line, len(lines) + 1) if lines[n - 1].startswith("}")), len(lines))
    while begin > 1 and lines[begin - 2].strip() and not lines[begin - 2].startswith(("}", "#", "/*", " *")):
        begin -= 1
    return begin, end


class Trial:
    def __init__(self, work, jobs, most, anew):
        self.shop = workshop.Workshop(ROOT, work, jobs, say)
        self.reach = reach.Reach(self.shop.tree, self.shop.build, work, jobs, say, anew)
        self.most, self.work = most, work
        self.known = judged()
        self.sound = {}  # test -> does it pass on the unchanged code, now? Its fixtures may be others than when the map was made
        self.looking = threading.Lock()
        for name in self.reach.failing:
            say("")
            print(f"note: {name} does not pass on the unchanged code here; it is left out", flush=True)

    def tests_for(self, room, name, text, change):
        first = places.line_of(text, change.start)
        last = places.line_of(text, max(change.start, change.end - 1))
        users = [self.shop.compile[t][1] for t in self.shop.users.get(name, [])]
        near, far = self.reach.who(room, name, first, last, *function_at(text, first), users)
        out, seconds = [], 0.0
        for test in near + far:  # as many as fit into the time, at least three
            takes = self.reach.map[test]["seconds"]
            if len(out) < 3 or seconds + takes <= self.most:
                out.append(test)
                seconds += takes
        return out

    def is_sound(self, test, folder):
        """Whether what it found wrong is the change: asked once of each test that found something."""
        with self.looking:
            if test not in self.sound:
                limit = 60 + 16 * self.reach.map[test]["seconds"]
                answer, _ = reach.run(self.reach.tests[test], folder, limit, {"LD_LIBRARY_PATH": str(self.shop.build)})
                self.sound[test] = answer == "passed"
                if answer != "passed":
                    say("")
                    print(f"note: {test} does not pass on the unchanged code here; it is left out", flush=True)
            return self.sound[test]

    def one(self, worker, room, path, change):
        text = path.read_text()
        name = str(path.relative_to(self.shop.tree))
        key = f"{name}: {key_of(text, change)}"
        if key in self.known:
            return "judged", self.known[key]
        folder = self.work / f"worker{worker}"
        library = self.shop.made(folder, name, places.applied(text, change))
        if isinstance(library, str):
            return library, ""
        tests = self.tests_for(room, name, text, change)
        if not tests:
            return "unreached", "no test runs it"
        for test in tests:
            if not self.sound.get(test, True):
                continue
            limit = 20 + 8 * self.reach.map[test]["seconds"]
            answer, _ = reach.run(self.reach.tests[test], folder, limit,
                                  {"LD_LIBRARY_PATH": f"{library}:{self.shop.build}", "SKITTER_TEST_FIRST": "1"})
            if answer in ("failed", "no end") and self.is_sound(test, folder):
                return "caught", test + (" (no end)" if answer == "no end" else "")
        return "survived", f"{len(tests)} tests passed"


def ends_of(pool, waiting):
    """Those that are done, as they come; when somebody interrupts, the others are not begun."""
    try:
        yield from concurrent.futures.as_completed(waiting)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def alone(work):
    """One at a time in a folder; the lock ends with the process."""
    work.mkdir(exist_ok=True)
    lock = open(work / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"error: another run works in {work}; wait for its end")
    return lock


def try_all(trial, room, chosen, jobs, tally):
    """Tries changes, some at a time, and prints each when it is known; counts them by kind."""
    free = list(range(jobs))

    def one(item):
        worker, begun = free.pop(), time.monotonic()
        try:
            verdict, why = trial.one(worker, room, *item)
        finally:
            shutil.rmtree(trial.work / f"worker{worker}", ignore_errors=True)
            free.append(worker)
        return item, verdict, why, time.monotonic() - begun

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(one, item) for item in chosen]
        for done in ends_of(pool, waiting):
            (path, change), verdict, why, seconds = done.result()
            tally[verdict] += 1
            text = path.read_text()
            say("")
            print(f"{verdict:9} {path.relative_to(trial.shop.tree)}:{places.line_of(text, change.start)}  {key_of(text, change)}" +
                  (f"  [{why}]" if why else "") + f"  {seconds:.0f} s", flush=True)
            say(f"{room}: {sum(tally.values())} of {len(chosen)}")


def print_table(tallies):
    if any(sum(t.values()) for t in tallies.values()):
        print("\n| room | tried | caught | equivalent | survived | no build | caught of those that matter |\n|---|---|---|---|---|---|---|")
        print("\n".join(row_of(room, tally) for room, tally in tallies.items() if sum(tally.values())), flush=True)


def row_of(room, tally):
    matter = tally["caught"] + tally["survived"] + tally["unreached"]
    return (f"| {room} | {sum(tally.values())} | {tally['caught']} | {tally['same'] + tally['judged']} | "
            f"{tally['survived'] + tally['unreached']} | {tally['no build']} | "
            + (f"{100 * tally['caught'] / matter:.0f} % |" if matter else "nothing that matters |"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", default="", help="one room, several by commas; all without it")
    parser.add_argument("--count", type=int, default=40, help="changes a room")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=60, help="how long the tests of one change may take together, about")
    parser.add_argument("--work", default="build-mutants", help="folder for the copy of the tree, its build and the map")
    parser.add_argument("--list", action="store_true", help="only say which changes would be tried")
    parser.add_argument("--only", default="", help="FILE:LINE: every change of that line instead of drawn ones; several by commas")
    parser.add_argument("--anew", action="store_true", help="find out again which test runs which line")
    given = parser.parse_args()
    if given.count < 1:
        sys.exit(f"error: {given.count} changes are none to try; N=40 tries forty of each room")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rooms = [r for r in given.room.split(",") if r] or rooms_of(ROOT)
    unknown = [r for r in rooms if not (ROOT / "src" / r).is_dir()]
    if unknown:
        sys.exit(f"error: there is no room '{unknown[0]}'; there are {', '.join(rooms_of(ROOT))}")
    only = [o for o in given.only.split(",") if o]
    for o in only:
        if not (ROOT / o.partition(":")[0]).is_file() or not o.partition(":")[2].isdigit():
            sys.exit(f"error: {o} names no line; write it as src/graph/fuse.c:158")
        if pathlib.Path(o).parts[0] != "src" or not of_line(ROOT, o):
            sys.exit(f"error: {o}: nothing there can be changed; a line of C in src/ is wanted, with an operator, a number or a call")
    if given.list:
        for path, change in [item for room in rooms for item in drawn(ROOT, room, given.count, given.seed)]:
            text = path.read_text()
            print(f"{path.relative_to(ROOT)}:{places.line_of(text, change.start)}: {change.kind}: {key_of(text, change)}")
        return 0
    work = (ROOT / given.work).resolve()
    tallies = {}
    try:
        lock = alone(work)  # noqa: F841
        trial = Trial(work, given.jobs, given.seconds, given.anew)
        for room in [pathlib.Path(o).parts[1] for o in only] or rooms:
            tallies[room] = dict.fromkeys(KINDS, 0)
        for o in only:
            room = pathlib.Path(o).parts[1]
            try_all(trial, room, of_line(trial.shop.tree, o), given.jobs, tallies[room])
        for room in [] if only else rooms:
            try_all(trial, room, drawn(trial.shop.tree, room, given.count, given.seed), given.jobs, tallies[room])
    except KeyboardInterrupt:
        say("")
        print("interrupted; what was tried until then:" if any(sum(t.values()) for t in tallies.values()) else "interrupted")
        print_table(tallies)
        os._exit(130)  # without waiting for what is being tried
    except workshop.Trouble as trouble:
        print_table(tallies)
        sys.exit(f"error: {trouble}")
    except PermissionError as refused:
        sys.exit(f"error: {refused.filename}: cannot be written; make BUILD=/tmp/build mutants works elsewhere")
    print_table(tallies)
    return 0


if __name__ == "__main__":
    sys.exit(main())
