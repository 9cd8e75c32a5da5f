# SPDX-License-Identifier: Apache-2.0
"""The program's commands as functions: the same work, the same folders, the same texts."""

import json
import os
import signal
import subprocess
import sys
import threading

from . import _convert, _environment, _errors, _progress, _settings

_BY_EXIT = {2: _errors.ArgumentError, 3: _errors.UnsupportedError, 4: _errors.IncompleteError}

_ON_OFF = ("rect", "nms", "looks", "pose", "crop_turned", "mask_neighbours")  # which have a third state, or are on unless told


def options_of(given):
    """Keywords as the command line's options: conf=0.4 is --conf 0.4, save_overlay=True is --save-overlay, rect=False --rect off."""
    out = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if name == "frames" and value is not None and not isinstance(value, str):
            value = ",".join("%d:%s:%d" % (a, "" if b < 0 else b, s) for a, b, s in _settings.frame_ranges(value))
        if name in _ON_OFF and isinstance(value, bool):
            value = "on" if value else "off"
        if value is None or value is False:
            continue
        if value is True:
            out.append(option)
        elif isinstance(value, dict):
            for k, v in value.items():
                out += [option, "%s=%s" % (k, v)]
        elif isinstance(value, (list, tuple)) and name in ("engine_option", "set", "roi", "roi_exclude"):
            for v in value:
                out += [option, str(v)]
        elif isinstance(value, (list, tuple)):
            out += [option, ("x" if name == "imgsz" else ",").join(str(v) for v in value)]
        else:
            out += [option, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return out


def _message(text):
    """What a person is to know of what the program said last."""
    text = text.strip()
    at = text.rfind("skitter: error: ")
    return text[at + len("skitter: error: "):] if at >= 0 else text


def _start(command, **how):
    """Starts the program, deaf to Ctrl-C: a terminal sends it to both, others to Python alone, and twice would end it in the middle
    of a frame. run() tells it, once."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(command, **how)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run(arguments, show=True, events=None):
    """Runs the program with these arguments; its standard output. What it says of itself goes to sys.stderr if `show`.
    `events` is called with everything that a run tells (--events)."""
    _environment.tell_libraries()
    command = [_environment.program()] + [os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in arguments]
    reader = writer = None
    if events is not None:
        reader, writer = os.pipe()
        command += ["--events", str(writer)]
    end = {}
    said = []
    with _start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                pass_fds=(writer,) if writer is not None else ()) as child:
        if writer is not None:
            os.close(writer)

        def hear():
            for line in child.stderr:
                text = line.decode("utf-8", "replace")
                said.append(text)
                if show:
                    sys.stderr.write(text)

        out = []
        threads = [threading.Thread(target=hear, daemon=True),
                   threading.Thread(target=lambda: out.append(child.stdout.read()), daemon=True)]
        for t in threads:
            t.start()
        interrupted = False
        try:
            if reader is not None:
                with os.fdopen(reader, "r", encoding="utf-8", errors="replace") as lines:
                    for line in lines:
                        try:
                            event = json.loads(line)
                        except ValueError:
                            continue
                        if event.get("event") == "end":
                            end = event
                        events(event)
            code = child.wait()
        except KeyboardInterrupt:
            interrupted = True
            child.terminate()  # it finishes its frame and closes its files
            try:
                code = child.wait(30)
            except (KeyboardInterrupt, subprocess.TimeoutExpired):
                child.kill()
                code = child.wait()
        for t in threads:
            t.join()
    if interrupted or code == 130:
        raise KeyboardInterrupt
    if code != 0:
        text = end.get("message") or _message("".join(said)) or "skitter ended with code %d" % code
        raise (_errors.BY_STATUS.get(end.get("status")) or _BY_EXIT.get(code, _errors.Error))(text)
    return out[0].decode("utf-8", "replace") if out else ""


def _json(arguments, show=False):
    return json.loads(run(list(arguments) + ["--json"], show=show))


class Run:
    """A run of predict or track: its folder, and what the program said of it."""

    def __init__(self, folder, summary):
        self.folder, self.summary = folder, summary

    def path(self, name):
        """Path of a file in the folder."""
        return os.path.join(self.folder, name)

    def _made(self, name, kind):
        if not os.path.exists(self.path(name)):
            raise _errors.NotFoundError("%s: this run did not write %s; format='%s' does" % (self.folder, name, kind))
        return self.path(name)

    @property
    def info(self):
        """run.json: what ran, on what, with which settings."""
        with open(self.path("run.json"), encoding="utf-8") as f:
            return json.load(f)

    def to_pandas(self):
        """results.csv as a pandas.DataFrame."""
        return _convert.needs("pandas", "to_pandas()").read_csv(self._made("results.csv", "csv"))

    def to_sleap_io(self):
        """results.slp as sleap_io.Labels; needs format='slp'."""
        return _convert.needs("sleap_io", "to_sleap_io()", "sleap-io").load_slp(self._made("results.slp", "slp"))

    def to_coco(self):
        """results.coco.json as a dictionary; needs format='coco'."""
        with open(self._made("results.coco.json", "coco"), encoding="utf-8") as f:
            return json.load(f)

    def __repr__(self):
        return "<skitter.Run in %s: %s frames, %s instances>" % (
            self.folder, self.summary.get("frames", "?"), self.summary.get("instances", "?"))

    def _repr_html_(self):
        files = "".join("<li>%s</li>" % n for n in sorted(os.listdir(self.folder)) if not n.startswith("."))
        return "<b>%s</b><ul>%s</ul>" % (repr(self)[1:-1], files)


def _run_folder(command, source, models, out, progress, options):
    sources = source if isinstance(source, (list, tuple)) else [source]
    if not all(isinstance(s, (str, bytes, os.PathLike, int)) for s in sources):
        raise _errors.ArgumentError("skitter.%s reads paths, addresses and cameras; arrays are for skitter.Pipeline" % command)
    arguments = [command] + [os.fsdecode(_convert.source_text(s)) for s in sources]
    if models is not None:
        for m in models if isinstance(models, (list, tuple)) else [models]:
            arguments += ["--model", os.fspath(m)]
    if out is not None:
        arguments += ["--out", os.fspath(out)]
    bar = _progress.Bar(progress)
    results = []

    def hear(event):
        if event["event"] == "progress":
            bar.at(event.get("frame"), event.get("total"))
        elif event["event"] == "result":
            results.append(event)

    try:
        run(arguments + options_of(options), show=False, events=hear)
    finally:
        bar.close()
    runs = [Run(r["out"], r) for r in results]
    return runs[0] if len(runs) == 1 and not isinstance(source, (list, tuple)) else runs


def predict(source, models, out=None, *, progress=None, **options):
    """`skitter predict`: results of a source as files in a folder; a Run. Options by the command line's names: format='csv,slp',
    save_overlay=True, conf=0.4. A list of sources, or a folder of several videos, gives a list of Runs. The same call again goes on where it stopped."""
    return _run_folder("predict", source, models, out, progress, options)


def track(source, models=None, out=None, *, progress=None, **options):
    """`skitter track`: follows animals through a whole video, each with its identity; a Run, whose folder has tables, .slp and
    report.html. animals=7, tracker='bytetrack', online=True and all other options by the command line's names."""
    return _run_folder("track", source, models, out, progress, options)


def export(model, output=None, *, runtime=None, **options):
    """`skitter export`: writes a model as ONNX, or as what a runtime runs; what was written, as a dictionary with 'path'."""
    arguments = ["export", os.fspath(model)]
    if output is not None:
        arguments += ["--output", os.fspath(output)]
    return _json(arguments + options_of(dict(options, runtime=runtime)))


def eval(result, truth, **options):  # noqa: A001 - the command's name
    """`skitter eval`: results against the truth; every number as a dictionary. `result` is a folder, a file or a Run."""
    if isinstance(result, Run):
        result = result.folder
    return _json(["eval", os.fspath(result), os.fspath(truth)] + options_of(options))


def runtimes(*models, **options):
    """`skitter runtimes`: {'allowed': names, 'excluded': [{'name', 'because'}]} here, and for these models together."""
    return _json(["runtimes"] + [os.fspath(m) for m in models] + options_of(options))


class Diagnosis(dict):
    """What `skitter doctor` found."""

    def __str__(self):
        lines = []
        for r in self.get("runtimes", []):
            lines.append("%-10s %-4s %s" % (r["name"], "ok" if r["available"] else "no", r["reason"]))
            if r.get("remedy"):
                lines.append("           -> " + r["remedy"])
        return "\n".join(lines)

    __repr__ = __str__


def doctor():
    """`skitter doctor`: tests every compute runtime; prints as a table, is a dictionary."""
    return Diagnosis(_json(["doctor"]))


class Demo(dict):
    """What `skitter demo` measured; `report` is the page to open."""

    folder = ""

    @property
    def report(self):
        """Path of report.html."""
        return os.path.join(self.folder, "report.html")

    def __repr__(self):
        try:
            with open(os.path.join(self.folder, "summary.txt"), encoding="utf-8") as f:
                return f.read().rstrip()
        except OSError:
            return "<skitter.Demo in %s>" % self.folder

    def _repr_html_(self):
        import base64
        import html
        picture = ""
        try:
            with open(os.path.join(self.folder, "sample.jpg"), "rb") as f:
                picture = '<img style="max-width:60%%" src="data:image/jpeg;base64,%s">' % base64.b64encode(f.read()).decode()
        except OSError:
            pass
        return "%s<pre>%s</pre>" % (picture, html.escape(repr(self)))


def demo(out="skitter-demo", **options):
    """`skitter demo`: draws a scene, finds, follows and measures its animals with models that came along, and prints what came
    out of it. Without FFmpeg's libraries the scene is pictures instead of a video."""
    measured = Demo(_json(["demo", "--out", os.fspath(out)] + options_of(options), show=True))
    measured.folder = os.fspath(out)
    print(repr(measured))
    return measured
