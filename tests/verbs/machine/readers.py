#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What programs find out about the adapters of a machine from sysfs, each by its own rule.

    readers.py READER...

prints one line for each adapter or choice. Readers: nccl (NCCL and RCCL), mooncake, ibdev2netdev,
show_gids, ucx, gloo. The rules are written anew after the public sources of these programs; the
names of the functions there stand at each. Runs below uhca-run."""
import os
import sys

IB = "/sys/class/infiniband"


def read(*parts):
    """The first line of a file, or None where it cannot be opened or read."""
    try:
        with open(os.path.join(*parts), encoding="ascii") as f:
            return f.readline().rstrip("\n")
    except OSError:
        return None


def devices():
    return sorted(os.listdir(IB))


def ports(dev):
    return sorted(os.listdir(f"{IB}/{dev}/ports"), key=int)


def port(dev, p, name):
    return read(IB, dev, "ports", p, name)


def is_active(dev, p):
    return port(dev, p, "state").startswith("4")


# ---- NCCL and RCCL: src/transport/net_ib, ncclIbGetPciPath, ncclIbInitDevices, ncclIbGetGidIndex


def nccl_path(dev):
    """Functions of one card are one device, and so are virtual functions."""
    try:
        path = os.path.realpath(f"{IB}/{dev}/device", strict=True)
    except OSError:
        return None
    path = path[:-1] + "0"
    return path[:-4] + "00" + path[-2:]


def nccl_order(dev):
    path = nccl_path(dev)
    if not path:
        return (1, dev)
    domain, bus, rest = path.rsplit("/", 1)[1].split(":")
    return (0, int(domain, 16), int(bus, 16), rest)


def gid_family(gid):
    return "v4" if gid.startswith("0000:0000:0000:0000:0000:ffff:") else "v6"


def is_valid(gid):
    return gid.strip("0:") != "" and gid[:19] != "fe80:0000:0000:0000"


def gid_version(dev, p, i):
    text = read(IB, dev, "ports", p, "gid_attrs/types", str(i))
    return {"IB/RoCE v1": 1, "RoCE v1": 1, "RoCE v2": 2}.get(text)


def nccl_gid(dev, p):
    """The scan of a RoCE table for IPv4 and RoCE v2; InfiniBand uses index 0."""
    if port(dev, p, "link_layer") == "InfiniBand":
        return 0
    gids = sorted(map(int, os.listdir(f"{IB}/{dev}/ports/{p}/gids")))
    best = 0
    for i in gids[1:]:
        gid = port(dev, p, f"gids/{i}")
        old = port(dev, p, f"gids/{best}")
        if gid_family(gid) != "v4":
            continue
        if gid_family(old) != "v4":
            best = i
        elif is_valid(gid) and gid_version(dev, p, i) == 2 and gid_version(dev, p, best) != 2:
            best = i
    return best


def nccl():
    seen = {}
    found = sorted(
        (d for d in devices()),
        key=nccl_order,
    )
    for dev in found:
        for p in ports(dev):
            if not is_active(dev, p) or port(dev, p, "link_layer") == "Unknown":
                continue
            path = nccl_path(dev)
            merged = seen.get(path, 0) if path else 0
            seen[path] = merged + 1
            name = path.rsplit("/", 1)[1] if path else "-"
            rate = port(dev, p, "rate").split()[0]
            numa = read(IB, dev, "device/numa_node")
            print(dev, name, int(p) + merged, rate, numa, nccl_gid(dev, p))


# ---- Mooncake: topology.cpp, listInfiniBandDevices, discoverCpuTopology


def mooncake():
    found = []
    for dev in devices():
        verbs = f"{IB}/{dev}/device/infiniband_verbs"
        node = os.listdir(verbs)[0] if os.path.isdir(verbs) else None
        if node and not os.access(f"/dev/infiniband/{node}", os.R_OK | os.W_OK):
            continue
        if not is_active(dev, "1") or not os.listdir(f"{IB}/{dev}/ports/1/gids"):
            continue
        folder = os.path.realpath(f"{IB}/{dev}/../..")
        found.append((dev, folder.rsplit("/", 1)[1], read(folder, "numa_node") or "-1"))
    for node in sorted(os.listdir("/sys/devices/system/node")):
        if node.startswith("node"):
            near = [d for d, _, n in found if n == node[4:]]
            print(f"cpu:{node[4:]}", ",".join(near) or "-")


# ---- gloo: transport/ibverbs, common/linux.cc, pciDevices, infinibandToBusID


def gloo():
    for bdf in sorted(os.listdir("/sys/bus/pci/devices")):
        if read("/sys/bus/pci/devices", bdf, "class") is None:
            sys.exit(f"{bdf} has no class: gloo throws")
        try:
            for dev in os.listdir(f"/sys/bus/pci/devices/{bdf}/infiniband"):
                print(dev, bdf)
        except OSError:
            pass


# ---- UCX: ucs/sys/topo, ucs_topo_get_sysfs_path, ucs_topo_read_numa_node


def ucx():
    for dev in devices():
        path = os.path.realpath(f"{IB}/{dev}")
        while path != "/" and not os.path.exists(f"{path}/vendor"):
            path = os.path.dirname(path)
        bdf = os.path.basename(path)
        if bdf.count(":") != 2:
            print(dev, "no system device")
            continue
        speed = read(IB, dev, "device/current_link_speed").split()
        print(dev, bdf, read("/sys/bus/pci/devices", bdf, "numa_node"), speed[0], speed[1][:4])


# ---- the scripts ibdev2netdev and show_gids of mlnx-tools


def ibdev2netdev():
    nets = [n for n in sorted(os.listdir("/sys/class/net"))]
    if not any(read("/sys/class/net", n, "device/vendor") == "0x15b3" for n in nets):
        return
    for dev in devices():
        for p in ports(dev):
            net = read(IB, dev, "ports", p, "gid_attrs/ndevs/0")
            if port(dev, p, "link_layer") == "InfiniBand":
                tail = port(dev, p, "gids/0").replace(":", "")[-16:]
                for n in nets:
                    address = (read("/sys/class/net", n, "address") or "").replace(":", "")
                    net = n if address.endswith(tail) else net
            if net:
                up = "Up" if read("/sys/class/net", net, "carrier") == "1" else "Down"
                print(f"{dev} port {p} ==> {net} ({up})")


def show_gids():
    for dev in devices():
        for p in ports(dev):
            for i in sorted(map(int, os.listdir(f"{IB}/{dev}/ports/{p}/gids"))):
                gid = port(dev, p, f"gids/{i}")
                if gid.strip("0:") == "" or gid == "fe80:0000:0000:0000:0000:0000:0000:0000":
                    continue
                version = (read(IB, dev, "ports", p, "gid_attrs/types", str(i)) or "").split("v")
                print(dev, p, i, gid, "v" + version[-1],
                      read(IB, dev, "ports", p, "gid_attrs/ndevs", str(i)) or "")


READERS = {f.__name__: f for f in (nccl, mooncake, gloo, ucx, ibdev2netdev, show_gids)}

if __name__ == "__main__":
    if len(sys.argv) < 2 or any(r not in READERS for r in sys.argv[1:]):
        sys.exit(f"usage: readers.py {' '.join(READERS)}")
    for reader in sys.argv[1:]:
        print(f"[{reader}]")
        READERS[reader]()
