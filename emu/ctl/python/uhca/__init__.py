# SPDX-License-Identifier: BSD-2-Clause
"""libuhcactl for Python: fault rules, events and counters of an emulated RDMA device, and private
devices for programs that a test starts.

    with uhca.Instance(devices=2) as device:                # a daemon of its own
        with device.fault("drop opcode=rc.ack nth=3") as rule:
            device.run(["ibv_devinfo"], check=True)
        print(rule.hits, device.counter("retransmits", "uhca0"))

uhca.Control() alone is for what runs below uhca-run already. Calls raise uhca.Error, an OSError
with libuhcactl's errno and its words; uhca-fault(7) tells what a rule can say.
"""
import contextlib
import ctypes
import errno
import os
import re
import subprocess
import sys
import tempfile

__all__ = ["Control", "Error", "Instance", "Rule"]


class _Error(ctypes.Structure):
    _fields_ = [("column", ctypes.c_uint), ("text", ctypes.c_char * 252)]


class Error(OSError):
    """errno and text of libuhcactl, or EINVAL and the words of uhca-run, which does not start an
    instance; column: of the wrong word of a rule, from 1, or 0."""

    def __init__(self, number, text, column=0):
        super().__init__(number, text or os.strerror(number))
        self.column = column


_handle, _int, _str = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
_functions = {
    "open": (_handle, _str),
    "fault_add": (_int, _handle, _str),
    "fault_now": (_int, _handle, _str),
    "fault_change": (_int, _handle, _int, _str),
    "fault_remove": (_int, _handle, _int),
    "fault_clear": (_int, _handle),
    "fault_hits": (ctypes.c_int64, _handle, _int),
    "fault_wait": (_int, _handle, _int, ctypes.c_uint64, ctypes.c_uint),
    "event": (_int, _handle, _str, _str),
    "port": (_int, _handle, _str, _int),
    "device_fatal": (_int, _handle, _str),
    "counter": (_int, _handle, _str, _str, ctypes.POINTER(ctypes.c_uint64)),
}
_library = None


def _find():
    """UHCACTL_LIBRARY, or the library below the prefix of this module, or the system's."""
    prefix = os.path.abspath(__file__)
    for _ in ("__init__.py", "uhca", "python", "uhca", "share"):
        prefix = os.path.dirname(prefix)
    beside = os.path.join(prefix, "lib", "libuhcactl.so.0")
    beside = beside if os.path.exists(beside) else "libuhcactl.so.0"
    return os.environ.get("UHCACTL_LIBRARY", beside)


def _load():
    """The library with its functions declared."""
    global _library
    if _library is None:
        library = ctypes.CDLL(_find())
        for name, (result, *arguments) in _functions.items():
            function = getattr(library, "uhcactl_" + name)
            function.restype, function.argtypes = result, [*arguments, ctypes.POINTER(_Error)]
        library.uhcactl_close.argtypes = [_handle]
        _library = library
    return _library


def _bytes(text):
    return None if text is None else os.fsencode(text)


class Rule:
    """A fault rule in force. As a context it is taken away at the end; hits stays."""

    def __init__(self, control, number):
        self._control, self.number, self._hits = control, number, None

    @property
    def hits(self):
        """How often it has fired."""
        if self._hits is not None:
            return self._hits
        return self._control._call("fault_hits", self.number)

    def wait(self, hits=1, timeout=10.0):
        """Until it has fired so often; after timeout seconds: Error with ETIMEDOUT."""
        self._control._call("fault_wait", self.number, hits, int(timeout * 1000))

    def remove(self):
        if self._hits is None:
            self._hits = self.hits
            self._control._call("fault_remove", self.number)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class Control:
    """An instance that runs: None is the one around this program, or a name, or a directory."""

    def __init__(self, instance=None):
        error = _Error()
        self._open = _load().uhcactl_open(_bytes(instance), ctypes.byref(error))
        if not self._open:
            raise ConnectionError(error.text.decode())

    def _call(self, name, *arguments):
        error = _Error()
        result = getattr(_load(), "uhcactl_" + name)(self._open, *arguments, ctypes.byref(error))
        if result < 0:
            raise Error(-result, error.text.decode(), error.column)
        return result

    def fault(self, rule):
        """Puts a rule in force."""
        return Rule(self, self._call("fault_add", _bytes(rule)))

    def now(self, action):
        """Does at once what a rule would do to a device, and leaves no rule: "dev.unplug=2s
        dev=uhca1", "port.flap=down:1s,up:1s,times:3". The number of devices."""
        return self._call("fault_now", _bytes(action))

    def clear_faults(self):
        self._call("fault_clear")

    def counter(self, name, device=None):
        """What the device has counted since the daemon's start; names: uhcactl counters."""
        value = ctypes.c_uint64()
        self._call("counter", _bytes(device), _bytes(name), ctypes.byref(value))
        return value.value

    def event(self, name, device=None):
        """An asynchronous event, as "GID_CHANGE" or "QP_FATAL qp=0x1234"."""
        self._call("event", _bytes(device), _bytes(name))

    def port(self, up, device=None):
        self._call("port", _bytes(device), int(up))

    def device_fatal(self, device=None):
        self._call("device_fatal", _bytes(device))

    def close(self):
        if self._open:
            _load().uhcactl_close(self._open)
            self._open = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


class Instance(Control):
    """A private daemon, that ends with it, and programs that run on its devices.

    Keyword arguments are options of uhca-run(1): devices=2, profile="minimal", wire=True,
    fault=["RULE", "RULE"]; what uhca-run refuses is an Error with
    its words. keep is a folder for what is left of it, see uhca-run --keep. UHCA_RUN
    names another uhca-run than that of PATH.
    """

    def __init__(self, keep=None, **options):
        words = [os.environ.get("UHCA_RUN", "uhca-run"), "--private"]
        words += ["--keep", os.fspath(keep)] if keep else []
        for name, value in options.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is False or one is None:
                    continue
                words += ["--" + name.replace("_", "-")] + ([] if one is True else [str(one)])
        # It lives as long as this command, and tells in what environment commands find it.
        words += ["--", "sh", "-c", 'env -0 && printf "\\0end\\0" && read -r _; :']
        self._open = None
        self._said = tempfile.TemporaryFile()  # what uhca-run says, at its end or in its place
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._said)
        said = b""
        while not said.endswith(b"\0end\0"):
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                self._wait()
                raise self._refusal()
            said += piece
        self.env = dict(line.split("=", 1) for line in os.fsdecode(said).split("\0") if "=" in line)
        self.dir = self.env["UHCA_DIR"]
        try:
            super().__init__(self.dir)
        except BaseException:
            self._end()
            raise

    def run(self, words, **more):
        """subprocess.run on the devices of this instance."""
        return subprocess.run(words, **{"env": self.env, **more})

    def start(self, words, **more):
        """subprocess.Popen on the devices of this instance."""
        return subprocess.Popen(words, **{"env": self.env, **more})

    def _wait(self):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _words(self):
        self._said.seek(0)
        with self._said:
            return self._said.read().decode(errors="replace")

    def _refusal(self):
        words = self._words()
        column = re.search(r"column (\d+):", words)
        lines = [line for line in words.splitlines() if not line.startswith("Try ")]
        text = "\n".join(lines) or "uhca-run ended with %d" % self._process.returncode
        return Error(errno.EINVAL, text, int(column.group(1)) if column else 0)

    def _end(self):
        self._wait()
        sys.stderr.write(self._words())

    def close(self):
        super().close()
        if self._process.returncode is None:
            self._end()
