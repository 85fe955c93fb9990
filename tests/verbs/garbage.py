#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Throws seeded garbage at a daemon: at its UDP port, its client socket and its control socket.

garbage.py SEED ADDRESS DIRECTORY COUNT
"""
import os
import random
import socket
import struct
import sys

ROCE_PORT = 4791


def datagram(rng):
    """Noise, or noise behind a base transport header with a plausible opcode."""
    size = rng.choice([0, 1, 11, 12, 15, 16, 17, 28, 64, 300, 1044, 4140, 9000])
    body = bytearray(rng.randbytes(size))
    if size >= 12 and rng.random() < 0.7:
        opcode = rng.choice([0x00, 0x04, 0x06, 0x0A, 0x0C, 0x0D, 0x10, 0x11, 0x13, 0x24, 0x64])
        qpn = rng.choice([0, 1, 2, 3, 17, 0xFFFFFF, rng.getrandbits(24)])
        body[0:12] = struct.pack(">BBHII", opcode, rng.getrandbits(8) & 0xF0, 0xFFFF, qpn,
                                 rng.getrandbits(32))
    return bytes(body)


def message(rng):
    """Noise, or a request header of the control protocol with a wrong body."""
    size = rng.choice([0, 1, 15, 16, 24, 96, 200, 4096])
    body = bytearray(rng.randbytes(size))
    if size >= 16 and rng.random() < 0.7:
        said = rng.choice([size, size + 1, 0, 0xFFFFFFFF])
        body[0:16] = struct.pack("<IIII", rng.randrange(0, 30), said, 0, 0)
    return bytes(body)


def throw_datagrams(rng, address, count):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _ in range(count):
            try:
                s.sendto(datagram(rng), (address, ROCE_PORT))
            except OSError:
                pass


def throw_messages(rng, path, kind, count):
    left = count
    while left > 0:
        with socket.socket(socket.AF_UNIX, kind) as s:
            s.settimeout(5)
            s.connect(path)
            for _ in range(min(left, rng.randrange(1, 8))):
                left -= 1
                try:
                    s.send(message(rng))
                except OSError:
                    break


def main():
    seed, address, directory, count = sys.argv[1:]
    rng = random.Random(int(seed))
    throw_datagrams(rng, address, int(count))
    throw_messages(rng, os.path.join(directory, "sock"), socket.SOCK_SEQPACKET, int(count) // 10)
    throw_messages(rng, os.path.join(directory, "ctl"), socket.SOCK_STREAM, int(count) // 10)


main()
