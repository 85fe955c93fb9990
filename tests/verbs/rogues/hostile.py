#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Misbehaves towards a daemon in one of several ways, by a seed, for some seconds.

hostile.py WAY SEED SECONDS ADDRESS DIRECTORY

Ways:
  noise    datagrams to the RoCE port: noise, cut off, wrong ICRC
  spoof    well-formed packets with right ICRCs: to QPs that are not there, to those that are from
           an address that is not their peer's, of services they do not have, to QP 1
  control  the client socket: noise, wrong sizes and descriptors, then sessions whose messages have
           the right form and any content
  fds      floods of descriptors of all kinds on the client socket
  storm    connections that come and go at once, and some that stay and say nothing
  deafly   sessions that send and never read
  hoard    sessions that register as much memory as they can, and end
  wide     sessions with arenas of 1 TiB, sparse, and a region in each part of them
  unwanted an arena for a daemon that pins nothing
  json     the socket of uhcactl: noise, depth, length, and clients that do not read
"""
import array
import fcntl
import glob
import json
import os
import random
import re
import resource
import socket
import struct
import sys
import time
import zlib

ROCE_PORT = 4791
HELLO, ALLOC_PD, REG_MR, ATTACH_ARENA, REG_PINNED_MR = 1, 5, 7, 52, 53
FDS = {1: 2, 9: 1, 52: 1}  # descriptors that go with a command


def header(name):
    """The text of headers of emu/abi: what is said there need not be said here."""
    here = os.path.dirname(os.path.abspath(__file__))
    text = ""
    for path in sorted(glob.glob(os.path.join(here, "../../../emu/abi", name))):
        with open(path, encoding="ascii") as f:
            text += f.read()
    return text


def constant(name):
    return int(re.search(rf"#define {name}\s+(\w+)", header("region.h")).group(1).rstrip("uU"), 0)


def commands():
    """The sizes that requests may have by their number: the one, or all that there are."""
    text = header("cmd*.h")
    sizes = dict(re.findall(r"sizeof\(struct uhca_cmd_(\w+)\) == (\d+)", text))
    names = re.findall(r"\bUHCA_CMD_(\w+) = (\d+)", text)
    every = sorted({int(size) for size in sizes.values()})
    return {int(number): [int(sizes[name.lower()])] if name.lower() in sizes else every
            for name, number in names}


class Attack:
    def __init__(self, seed, seconds, address, directory):
        self.rng = random.Random(seed)
        self.end = time.monotonic() + seconds
        self.address = address
        self.directory = directory
        self.qpns = []
        self.targets = set()
        self.count = 0
        self.sizes = commands()
        self.magic = constant("UHCA_ABI_MAGIC")
        self.version = constant("UHCA_ABI_VERSION")

    def goes_on(self):
        self.count += 1
        return time.monotonic() < self.end

    def look_for_qps(self):
        """Numbers of QPs that are there just now, as uhcactl shows them."""
        with self.connect("ctl", socket.SOCK_STREAM) as s:
            s.sendall(b'{"cmd": "show", "what": "qp"}\n')
            table = json.loads(s.makefile().readline())["result"]
        names = [c["name"] for c in table["columns"]]  # none when there is no row
        self.qpns = [row[names.index("qpn")] for row in table["rows"]]
        self.targets |= set(self.qpns)

    # ---- datagrams ----

    def noise(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            while self.goes_on():
                size = self.rng.choice([0, 1, 11, 12, 15, 16, 17, 28, 64, 300, 1044, 4140, 9000,
                                        65507])
                body = bytearray(self.rng.randbytes(size))
                if size >= 12 and self.rng.random() < 0.7:
                    body[0:12] = self.bth()
                send_datagram(s, bytes(body), self.address)

    def bth(self):
        opcode = self.rng.choice([0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x0A, 0x0B, 0x0C, 0x0D, 0x0F,
                                  0x10, 0x11, 0x12, 0x13, 0x14, 0x24, 0x2A, 0x64, 0x65,
                                  self.rng.getrandbits(8)])
        qpn = self.rng.choice([0, 1, 2, 3, 17, 0xFFFFFF, self.rng.getrandbits(24)] + self.qpns * 3)
        flags = self.rng.getrandbits(8) & 0xF0
        pkey = self.rng.choice([0xFFFF, 0xFFFF, 0x7FFF, self.rng.getrandbits(16)])
        return struct.pack(">BBHII", opcode, flags, pkey, qpn,
                           self.rng.getrandbits(1) << 31 | self.rng.getrandbits(24))

    def spoof(self):
        """From 127.0.0.x with x that no device here has."""
        sources = []
        for last in (9, 77):
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.bind((f"127.0.0.{last}", 0))
            s.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER: identification 0
            sources.append(s)
        while self.goes_on():
            if self.count % 50 == 0:
                self.look_for_qps()
            s = self.rng.choice(sources)
            payload = self.rng.randbytes(self.rng.choice([0, 4, 8, 16, 28, 64, 256, 260, 1024]))
            packet = self.bth() + payload
            source, port = s.getsockname()
            packet += icrc(source, self.address, port, packet)
            send_datagram(s, packet, self.address)

    # ---- the client socket ----

    def connect(self, name="sock", kind=socket.SOCK_SEQPACKET):
        s = socket.socket(socket.AF_UNIX, kind)
        s.connect(os.path.join(self.directory, name))
        s.settimeout(5)
        return s

    def some_fds(self, n):
        """Descriptors of many kinds; the caller closes them."""
        makers = [lambda: os.open("/dev/null", os.O_RDWR), lambda: os.open("/", os.O_RDONLY),
                  lambda: os.open("/proc/self/mem", os.O_RDWR),
                  lambda: os.open("/proc/self/mem", os.O_RDONLY),
                  lambda: os.open("/proc/self/maps", os.O_RDONLY), os.eventfd_maker,
                  lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).detach(),
                  lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).detach(),
                  lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0].detach()]
        return [self.rng.choice(makers)() for _ in range(n)]

    def send(self, s, message, n_fds=0):
        fds = self.some_fds(n_fds)
        try:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
            s.sendmsg([message], rights if fds else [], socket.MSG_NOSIGNAL)
            return True
        except OSError:
            return False
        finally:
            for fd in fds:
                os.close(fd)

    def hello(self, s):
        """A proper beginning."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        memory = os.open("/proc/self/mem", os.O_RDWR)
        message = struct.pack("<IIIIII32s32sII", HELLO, 96, 1, 0, self.magic, self.version,
                              b"uhca0", b"hostile", os.getpid(), 0)
        try:
            socket.send_fds(s, [message], [memory, theirs.fileno()])
            reply, fds, _, _ = socket.recv_fds(s, 4096, 8)
        finally:
            os.close(memory)
            theirs.close()
        for fd in fds:
            os.close(fd)
        if struct.unpack("<i", reply[12:16])[0] != 0:
            raise RuntimeError("a proper HELLO is refused")
        return ours

    def word(self, handles):
        return self.rng.choice([0, 1, 2, 3, 7, 16, 64, 65535, 0xFFFFFFFF, 0x80000000,
                                self.rng.getrandbits(32)] + handles[-8:] * 2)

    def command(self, handles):
        cmd = self.rng.choice([*self.sizes, max(self.sizes) + 1])
        size = self.rng.choice(self.sizes.get(cmd, [24]))
        body = b"".join(struct.pack("<I", self.word(handles)) for _ in range((size - 16) // 4))
        return cmd, struct.pack("<IIII", cmd, size, self.count & 0xFFFFFFFF, 0) + body

    def session(self):
        """A client that began well and then says anything."""
        handles = []
        with self.connect() as s:
            events = self.hello(s)
            for _ in range(self.rng.randrange(200)):
                cmd, message = self.command(handles)
                if not self.send(s, message, FDS.get(cmd, self.rng.random() < 0.1)):
                    break
                reply, fds, _, _ = socket.recv_fds(s, 4096, 8)
                for fd in fds:
                    os.close(fd)
                if len(reply) >= 20 and struct.unpack("<i", reply[12:16])[0] == 0:
                    handles.append(struct.unpack("<I", reply[16:20])[0])
            events.close()

    def crude(self):
        """A client whose messages have not even the right form."""
        with self.connect() as s:
            for _ in range(self.rng.randrange(1, 9)):
                size = self.rng.choice([0, 1, 15, 16, 24, 96, 200, 4096, 4097, 100000])
                body = bytearray(self.rng.randbytes(size))
                if size >= 16:
                    said = self.rng.choice([size, size + 1, 0, 0xFFFFFFFF])
                    body[0:16] = struct.pack("<IIII", self.rng.randrange(30), said, 0, 0)
                if not self.send(s, bytes(body), self.rng.choice([0, 0, 1, 2, 3, 5])):
                    break

    def control(self):
        while self.goes_on():
            self.crude()
            self.session()

    def fds(self):
        while self.goes_on():
            with self.connect() as s:
                for _ in range(20):
                    cmd = self.rng.choice([1, 9, 2, 255])
                    size = self.rng.choice(self.sizes.get(cmd, [24]))
                    message = struct.pack("<IIII", cmd, size, 0, 0) + bytes(size - 16)
                    if not self.send(s, message, self.rng.choice([4, 5, 64, 253])):
                        break

    def storm(self):
        silent = [self.connect() for _ in range(200)]
        while self.goes_on() or self.count < 1000:
            s = self.connect()
            if self.rng.random() < 0.3:
                self.send(s, struct.pack("<II", HELLO, 96))
            s.close()
            if self.rng.random() < 0.1:
                silent[self.rng.randrange(len(silent))].close()
                silent[self.rng.randrange(len(silent))] = self.connect()
        for s in silent:
            s.close()

    def deafly(self):
        """Requests without a look at the replies: the daemon must not wait for this one."""
        while self.goes_on():
            with self.connect() as s:
                events = self.hello(s)
                s.settimeout(0.5)
                while self.goes_on():
                    if not self.send(s, struct.pack("<IIIIII", 2, 24, 0, 0, 0, 0)):
                        break
                events.close()

    def hoard(self):
        """The largest regions there can be, until they are refused; not all max_mr of the device,
        which one program can take away from others, as on an adapter."""
        while self.goes_on():
            with self.connect() as s:
                events = self.hello(s)
                pd = ask(s, struct.pack("<IIIIII", ALLOC_PD, 24, 0, 0, 0, 0))
                shift = self.rng.choice([26, 35, 44, 46])
                body = struct.pack("<QQQIIII", 0, 1 << shift, 0, pd, 1, 0, 0)
                request = struct.pack("<IIII", REG_MR, 56, 0, 0) + body
                regions = 0
                while regions < 12000 and ask(s, request) and self.goes_on():
                    regions += 1
                events.close()

    def arena(self, s):
        """Offers one of the greatest size; whether it is taken."""
        with open(os.memfd_create("arena", os.MFD_ALLOW_SEALING), "r+b", 0) as f:
            f.truncate(1 << 40)
            fcntl.fcntl(f, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
            socket.send_fds(s, [struct.pack("<IIIIQ", ATTACH_ARENA, 24, 0, 0, 1 << 40)],
                            [f.fileno()])
            return struct.unpack("<i", s.recv(4096)[12:16])[0] == 0

    def wide(self):
        """A region in each 16 GiB of each arena: what the daemon maps for them is bounded."""
        sessions = []
        regions = [0, 0]
        for _ in range(130):
            s = self.connect()
            sessions += [s, self.hello(s)]
            pd = ask(s, struct.pack("<IIIIII", ALLOC_PD, 24, 0, 0, 0, 0))
            if not self.arena(s):
                sys.exit("an arena is refused")
            for window in range(64):
                body = struct.pack("<QQQIIIIII", 1 << 20, 4096, 0, pd, 1, 0, 0, 1, 0)
                extent = struct.pack("<QQQ", 1 << 20, 4096, window << 34)
                message = struct.pack("<IIII", REG_PINNED_MR, 832, 0, 0) + body + extent
                regions[ask(s, message.ljust(832, b"\0")) is None] += 1
        with open(os.path.join(self.directory, "pid"), encoding="ascii") as f:
            status = f"/proc/{int(f.read())}/status"
        with open(status, encoding="ascii") as f:
            mapped = int(re.search(r"VmSize:\s+(\d+) kB", f.read()).group(1)) >> 30
        if mapped > 40 or not regions[0] or not regions[1]:
            sys.exit(f"{regions} regions taken and refused, the daemon has {mapped} TiB mapped")
        while self.goes_on():
            time.sleep(0.01)
        for s in sessions:
            s.close()

    def unwanted(self):
        with self.connect() as s:
            events = self.hello(s)
            if self.arena(s):
                sys.exit("the arena was taken")
            events.close()

    # ---- the control socket ----

    def json(self):
        lines = [b"{", b"[" * 100000, b'{"cmd": ' * 5000, b'"' + b"x" * 70000 + b'"', b"\0" * 100,
                 b'{"cmd": "show", "what": "qp"}', b'{"cmd": "show", "what": ["qp"]}',
                 b'{"cmd": 1}', b'{"cmd": "show", "what": "qp", "more": 1}', b"\xff\xfe", b"",
                 b'{"cmd": "capture", "action": "start", "file": "/dev/full"}',
                 b'{"cmd": "capture", "action": "start", "file": "relative"}',
                 b'{"cmd": "counters"}', b'{"cmd": "version"}', b"1e999999", b'{"a": "\\ud800"}']
        while self.goes_on():
            with self.connect("ctl", socket.SOCK_STREAM) as s:
                s.settimeout(0.3)
                for _ in range(self.rng.choice([1, 5, 300])):
                    line = self.rng.choice(lines + [self.rng.randbytes(self.rng.randrange(99))])
                    try:
                        s.sendall(line + self.rng.choice([b"\n", b"\n", b""]))
                        if self.rng.random() < 0.3:
                            s.recv(65536)
                    except OSError:
                        break


os.eventfd_maker = getattr(os, "eventfd", lambda n: os.open("/dev/zero", os.O_RDWR))
_eventfd = os.eventfd_maker
os.eventfd_maker = lambda: _eventfd(0)


def ask(s, message):
    """The handle that the reply brings; None when it is refused."""
    s.sendall(message)
    reply = s.recv(4096)
    good = struct.unpack("<i", reply[12:16])[0] == 0
    return struct.unpack("<I", reply[16:20])[0] if good else None


def icrc(source, target, port, packet):
    """InfiniBand's invariant CRC of a packet in IPv4 and UDP, with the changing fields as ones."""
    length = len(packet) + 4
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0xFF, 20 + 8 + length, 0, 0x4000, 0xFF, 17, 0xFFFF,
                     socket.inet_aton(source), socket.inet_aton(target))
    udp = struct.pack(">HHHH", port, ROCE_PORT, 8 + length, 0xFFFF)
    bth = packet[:4] + b"\xff" + packet[5:]
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + bth))


def send_datagram(s, packet, address):
    try:
        s.sendto(packet, (address, ROCE_PORT))
    except OSError:
        pass  # the send buffer is full, or the packet longer than the path takes


def main():
    way, seed, seconds, address, directory = sys.argv[1:]
    print(f"{way}: seed {seed}")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    attack = Attack(int(seed), float(seconds), address, directory)
    getattr(attack, way)()
    if way == "spoof" and not attack.targets:
        sys.exit("there was no queue pair to attack")
    print(f"{way}: {attack.count} rounds")


main()
