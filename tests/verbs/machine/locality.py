#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Of the XML of lstopo on standard input: each RDMA device with its PCI address and the bridges
above it, as hwloc found them."""
import sys
import xml.etree.ElementTree as tree


def walk(node, path):
    kind = node.get("type")
    if kind == "Bridge":
        path = path + [node.get("pci_busid") or "host"]
    elif kind == "PCIDev":
        path = path + [node.get("pci_busid")]
    elif kind == "OSDev" and node.get("osdev_type") == "3":
        infos = {i.get("name"): i.get("value") for i in node.findall("info")}
        print(node.get("name"), " > ".join(p for p in path if p != "host"),
              "state", infos.get("Port1State"))
    for child in node:
        walk(child, path)


walk(tree.parse(sys.stdin).getroot(), [])
