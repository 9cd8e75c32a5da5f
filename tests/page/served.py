# SPDX-License-Identifier: Apache-2.0
"""`skitter serve` with folders, settings and caches of its own."""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("SKITTER_TEST_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SKITTER = os.environ.get("SKITTER_TEST_BINARY") or os.path.join(SOURCE, "build", "skitter")


class Served:
    def __init__(self, runtime=None):
        self.work = os.path.realpath(tempfile.mkdtemp(prefix="skitter-page-"))
        self.data = os.path.join(self.work, "data")
        self.models = os.path.join(self.data, "models")
        os.makedirs(self.models)
        for name in ("demo-obb.pt", "demo-pose.pt"):
            shutil.copy(os.path.join(SOURCE, "share", "models", name), self.models)
        shutil.copytree(os.path.join(SOURCE, "share", "models", "demo-bottomup"), os.path.join(self.models, "demo-bottomup"))
        os.makedirs(os.path.join(self.work, "config"))
        self.environment = {**os.environ, "SKITTER_CONFIG_DIR": os.path.join(self.work, "config"),
                            "SKITTER_CACHE_DIR": os.path.join(self.work, "cache"), "SKITTER_ARTIFACTS": "cache",
                            "SKITTER_MODELS": self.models}
        self.environment.pop("SKITTER_COMPUTE_RUNTIME", None)
        if runtime:
            self.save_runtime(runtime)
        self.process = None
        self.start()

    def save_runtime(self, name):
        """As a terminal, or an earlier machine, left it."""
        with open(os.path.join(self.work, "config", "skitter.json"), "w", encoding="utf-8") as file:
            file.write('{"compute_runtime": "%s"}\n' % name)

    def start(self, port=0):
        self.process = subprocess.Popen([SKITTER, "serve", self.data, "--port", str(port)], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=self.environment, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url.startswith("http"):
            print("skitter serve did not start (a build without libmicrohttpd?)")
            sys.exit(77)

    def skitter(self, *words, wait=True):
        """A command in a terminal of the same user."""
        process = subprocess.Popen([SKITTER, *words], cwd=self.data, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if wait and process.wait(120) != 0:
            raise AssertionError(f"skitter {' '.join(words)}: {process.stderr.read()}")
        return process

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.process = None

    def close(self):
        self.stop()
        shutil.rmtree(self.work, ignore_errors=True)
