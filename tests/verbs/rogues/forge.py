#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends datagrams to QP 1 whose IPv4 header and ICRC hold an identification of choice.

forge.py FROM TO IDENTIFICATION COUNT
"""
import socket
import struct
import sys
import zlib

RAW_HEADERS = 20 + 8


def forge(source, target, identification):
    body = struct.pack(">BBHIIII", 0x64, 0x40, 0xFFFF, 1, 0, 0x80010000, 1) + bytes(256)
    length = 8 + len(body) + 4
    packet = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + length, identification, 0x4000, 64, 17, 0,
                         socket.inet_aton(source), socket.inet_aton(target))
    packet += struct.pack(">HHHH", 0xC123, 4791, length, 0) + body
    # Type of service, hop limit, checksums and the byte with FECN and BECN are not covered.
    covered = bytearray(packet)
    for place in (1, 8, 10, 11, 26, 27, RAW_HEADERS + 4):
        covered[place] = 0xFF
    return packet + struct.pack("<I", zlib.crc32(b"\xff" * 8 + covered))


def main():
    source, target, identification, count = sys.argv[1:]
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as s:
        for _ in range(int(count)):
            s.sendto(forge(source, target, int(identification)), (target, 0))


main()
