#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Of the output of fi_info -v on standard input: each device that libfabric found, with what it
knows of it."""
import sys

WANTED = ("device_id", "firmware", "bus_type", "speed", "state", "network_type")

found = {}
name = None
inside = False
for line in sys.stdin:
    key, _, value = line.strip().partition(": ")
    if line.strip() == "nic:":
        inside = True
    elif line.startswith("fi_info:"):
        inside = False
    elif inside and key == "name":
        name = found.setdefault(value, {})
    elif inside and key in WANTED and name is not None:
        name[key] = value
for device in sorted(found):
    print(device, *(found[device].get(k) for k in WANTED))
