"""The real binary as a child process, and what can be asked about it from outside."""

import http.client
import json
import os
import pathlib
import queue
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = pathlib.Path(__file__).resolve().parent / "activities"


def binary():
    named = os.environ.get("ACTIVITYHOST_BINARY")
    candidates = [named] if named else [ROOT / ".build" / "release" / "activityhost", ROOT / ".build" / "debug" / "activityhost"]
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return str(candidate)
    raise RuntimeError("no activityhost binary; build one or set ACTIVITYHOST_BINARY")


def run(*arguments, timeout=20, **options):
    """Runs a command to its end."""
    return subprocess.run([binary(), *arguments], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, **options)


class Lines:
    """What a stream has said so far; waits for more with a deadline."""

    def __init__(self, stream):
        self.all = []
        self._queue = queue.Queue()
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream):
        for line in stream:
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)
        stream.close()

    def _take(self, timeout):
        line = self._queue.get(timeout=timeout)
        if line is None:
            self._queue.put(None)
            raise EOFError
        self.all.append(line)
        return line

    def wait_for(self, *words, timeout=10):
        """The first line, seen already or not, that holds all the words."""
        for line in self.all:
            if all(word in line for word in words):
                return line
        deadline = time.monotonic() + timeout
        try:
            while True:
                line = self._take(max(0.001, deadline - time.monotonic()))
                if all(word in line for word in words):
                    return line
        except (queue.Empty, EOFError):
            raise AssertionError(f"no line with {words}; there was: {self.all[-20:]}") from None

    def rest(self, timeout=10):
        """Everything up to the end of the stream."""
        try:
            while True:
                self._take(timeout)
        except (queue.Empty, EOFError):
            return self.all


class Host:
    """One running host. `start` names an activity and runs `start` in place of `serve`."""

    def __init__(self, *extra, activities=(FIXTURES,), limits=None, start=None, data=None, listen="127.0.0.1:0", environment=None):
        self._temporary = tempfile.TemporaryDirectory(prefix="activityhost-e2e-")
        self.data = pathlib.Path(data or self._temporary.name)
        command = [binary(), *(["start", start] if start else ["serve"]), "--json", "--listen", listen, "--data", str(self.data)]
        for folder in activities:
            command += ["--activities", str(folder)]
        for name, value in (limits or {}).items():
            command += ["--limit", f"{name}={value}"]
        self.process = subprocess.Popen(
            [*command, *extra], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        self.output = Lines(self.process.stdout)
        self.errors = Lines(self.process.stderr)
        try:
            self.ready = json.loads(self.output.wait_for("{", timeout=20))
        except (AssertionError, ValueError) as problem:
            self.kill()
            raise AssertionError(f"the host did not start: {problem}; standard error: {self.errors.rest(1)}") from None
        self.address, _, port = self.ready["listen"].rpartition(":")
        self.port = int(port)

    @property
    def authority(self):
        return f"127.0.0.1:{self.port}"

    @property
    def socket_url(self):
        return f"ws://{self.authority}/v1/socket"

    def request(self, method, path, body=None, headers=None, timeout=10):
        """One HTTP request; a body that is no text is sent as JSON. Gives status, headers and bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get_json(self, path, **options):
        status, _, body = self.request("GET", path, **options)
        assert status == 200, (path, status, body)
        return json.loads(body)

    def group(self, activity=None, parameters=None):
        """A new group: {code, url, token, session}."""
        body = {"activity": activity, "parameters": parameters or {}} if activity else {}
        status, _, answer = self.request("POST", "/v1/groups", body)
        assert status == 201, (status, answer)
        return json.loads(answer)

    def processes(self):
        """The host's process and its children's."""
        found, waiting = [], [self.process.pid]
        while waiting:
            process = waiting.pop()
            found.append(process)
            for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
                waiting += [int(child) for child in task.read_text().split()]
        return found

    def resident_bytes(self):
        total = 0
        for process in self.processes():
            total += int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return total

    def cpu_seconds(self):
        ticks = 0
        for process in self.processes():
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def is_alive(self):
        return self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=5):
        return self.process.wait(timeout)

    def kill(self):
        if self.is_alive():
            self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends the host; whether it ends in time is a test of its own."""
        if self.is_alive():
            self.signal(signal.SIGTERM)
            try:
                self.wait(8)
            except subprocess.TimeoutExpired:
                self.kill()
        self._temporary.cleanup()
