#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""echo.py server|client ADDRESS PORT: an ordinary TCP program. The server sends back what it gets
from one connection; the client looks whether it is the same."""
import random
import socket
import sys
import time

SIZES = (1, 100, 4096, 65536, 1000000)
PIECE = 32768


def serve(listener):
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((sys.argv[2], int(sys.argv[3])))
    listener.listen(1)
    connection, _ = listener.accept()
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.close()


def connected(family):
    deadline = time.monotonic() + 20
    while True:
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.connect((sys.argv[2], int(sys.argv[3])))
            return connection
        except ConnectionRefusedError:
            connection.close()
            if time.monotonic() > deadline:
                raise


def receive(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            sys.exit("the connection ended early")
        data += part
    return data


def ask(connection):
    numbers = random.Random(1)
    for size in SIZES:
        data = numbers.randbytes(size)
        # Both would wait for the other's reading if more were sent than is buffered.
        for start in range(0, size, PIECE):
            piece = data[start : start + PIECE]
            connection.sendall(piece)
            if receive(connection, len(piece)) != piece:
                sys.exit(f"mismatch in {size} bytes")
    connection.shutdown(socket.SHUT_RDWR)
    print(f"{sum(SIZES)} bytes came back")


def main():
    family = socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET
    if sys.argv[1] == "server":
        serve(socket.socket(family, socket.SOCK_STREAM))
    else:
        ask(connected(family))


main()
