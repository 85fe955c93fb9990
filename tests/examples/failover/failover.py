# SPDX-License-Identifier: BSD-2-Clause
"""Messages over two rails, as failover.c sends and receives them, by pyverbs: the two programs
speak to each other.

    failover.py - PORT DEVICE DEVICE COUNT            receives
    failover.py ADDRESS PORT DEVICE DEVICE COUNT      sends
"""
import ctypes
import select
import socket
import struct
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AH, AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import RecvWR, SendWR, SGE

WINDOW, QUESTION = 8, 0xFFFFFFFF  # in place of a rail: what has come?
PAUSE, ASK, AGAIN, DEAD_END, PATIENCE = 0.001, 0.005, 0.02, 2, 20  # seconds
END_FORMAT = "=II16s"  # struct rail_end of rail.h

wc_status_str = ctypes.CDLL("libibverbs.so.1").ibv_wc_status_str
wc_status_str.restype = ctypes.c_char_p


def words_of(wc):
    return wc_status_str(wc.status).decode()


class Rail:
    """An adapter, and on it what a connection needs: see rail.h."""

    asked = 0.0

    def __init__(self, number, name):
        self.number, self.name = number, name
        self.context = self.pd = self.mr = self.cq = self.qp = None

    def open(self):
        if self.name.encode() not in [device.name for device in get_device_list()]:
            return False
        self.context = Context(name=self.name)
        self.pd, self.cq = PD(self.context), CQ(self.context, 4 * WINDOW)
        self.mr = MR(self.pd, 8 * WINDOW, e.IBV_ACCESS_LOCAL_WRITE)
        return True

    def choose_gid(self):
        """The first IPv4 address that the table has now."""
        port = self.context.query_port(1)
        if port.state != e.IBV_PORT_ACTIVE:
            return False
        for self.index in range(port.gid_tbl_len):
            self.gid = self.context.query_gid(1, self.index).gid
            if self.gid.startswith("0000:0000:0000:0000:0000:ffff:"):
                return True
        return False

    def prepare(self):
        """Number and GID of a new queue pair, or None."""
        self.drop()
        try:
            if not (self.context or self.open()) or not self.choose_gid():
                return None
            init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq,
                              cap=QPCap(WINDOW, WINDOW, 1, 1, 0))
            attr = QPAttr(port_num=1)
            self.qp = QP(self.pd, init)
            self.qp.to_init(attr)
        except PyverbsError:
            self.drop()
            return None
        return self.qp.qp_num, bytes.fromhex(self.gid.replace(":", ""))

    def connect(self, number, gid):
        text = ":".join(gid[i:i + 2].hex() for i in range(0, 16, 2))
        route = GlobalRoute(dgid=GID(text), sgid_index=self.index, hop_limit=64)
        attr = QPAttr(port_num=1)
        attr.dest_qp_num, attr.path_mtu, attr.min_rnr_timer = number, e.IBV_MTU_1024, 1
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 10, 3, 7
        attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
        try:
            self.qp.to_rts(attr)
        except PyverbsError:
            self.drop()
            return False
        return True

    def drop(self, everything=False):
        if self.qp:
            self.qp.close()
            self.qp = None
            while self.cq.poll()[0]:  # of the queue pair that has gone
                pass
        if everything and self.context:
            for one in filter(None, (self.mr, self.cq, self.pd, self.context)):
                one.close()
            self.context = self.pd = self.mr = self.cq = None

    def news(self):
        """What has made the rail unusable, or None. It asks: get_async_event of pyverbs waits with
        the interpreter's lock."""
        if not self.context or time.monotonic() - self.asked < ASK:
            return None
        self.asked = time.monotonic()
        try:
            if self.context.query_port(1).state != e.IBV_PORT_ACTIVE:
                word = "PORT_ERR"
            elif self.qp and self.context.query_gid(1, self.index).gid != self.gid:
                word = "GID_CHANGE"
            else:
                return None
        except PyverbsError:
            self.drop(True)
            return "DEVICE_FATAL"
        usable = self.qp is not None
        self.drop()
        return word if usable else None

    def element(self, slot):
        return SGE(self.mr.buf + 8 * slot, 8, self.mr.lkey)

    def send(self, number):
        self.mr.write(struct.pack("=Q", number), 8, 8 * (number % WINDOW))
        self.qp.post_send(SendWR(wr_id=number, num_sge=1, sg=[self.element(number % WINDOW)]))

    def receive(self, slot):
        """False: the adapter has gone. The rail is dropped; news comes later."""
        try:
            self.qp.post_recv(RecvWR(wr_id=slot, num_sge=1, sg=[self.element(slot)]))
        except PyverbsError:
            self.drop()
        return self.qp is not None

    def completions(self):
        while self.qp:
            n, found = self.cq.poll(1)
            if n == 0:
                return
            yield found[0]


class End:
    """What both ends have."""

    def __init__(self, peer, names, count):
        self.peer, self.count = peer, count
        self.rails = [Rail(i, name) for i, name in enumerate(names)]

    def tell(self, rail, number=0, gid=bytes(16)):
        self.peer.sendall(struct.pack(END_FORMAT, rail, number, gid))

    def hear(self):
        said = self.peer.recv(struct.calcsize(END_FORMAT), socket.MSG_WAITALL)
        return struct.unpack(END_FORMAT, said) if said else None

    def close(self):
        for rail in self.rails:
            rail.drop(True)
        self.peer.close()


class Sender(End):
    acked = posted = 0
    active = None
    tried = [0.0, 0.0]
    lost_at = time.monotonic()

    def ask(self):
        self.tell(QUESTION)
        return self.hear()[1]

    def lose(self, rail, why):
        """The other one carries at once: the lost one may be back before the next look at them."""
        print(f"rail {rail.number} lost: {why}", flush=True)
        rail.drop()
        self.tried[rail.number] = time.monotonic()
        if self.active is rail:
            self.active, self.lost_at = None, time.monotonic()
            self.acked = self.posted = self.ask()
            self.choose()

    def bring_back(self, rail):
        """Both ends anew."""
        self.tried[rail.number] = time.monotonic()
        own = rail.prepare()
        if not own:
            return
        self.tell(rail.number, *own)
        _, number, gid = self.hear()
        if number and rail.connect(number, gid):
            print(f"rail {rail.number} up, GID index {rail.index}", flush=True)
        else:
            rail.drop()

    def choose(self):
        """The first that works; a better one only when nothing is under way."""
        best = next((rail for rail in self.rails if rail.qp), None)
        if best and best is not self.active and not (self.active and self.posted != self.acked):
            self.active = best
            print(f"rail {best.number} carries", flush=True)

    def step(self):
        for rail in self.rails:
            why = rail.news()
            if why:
                self.lose(rail, why)
            if not rail.qp and time.monotonic() - self.tried[rail.number] >= AGAIN:
                self.bring_back(rail)
        self.choose()
        if self.active and self.posted < self.count and self.posted - self.acked < WINDOW:
            try:
                self.active.send(self.posted)
                self.posted += 1
            except PyverbsError:
                self.lose(self.active, "it takes no request")
        time.sleep(PAUSE)
        for wc in self.active.completions() if self.active else ():
            if wc.status == e.IBV_WC_SUCCESS:
                self.acked += 1
            else:
                self.lose(self.active, words_of(wc))

    def run(self):
        while self.acked < self.count:
            self.step()
            if not self.active and time.monotonic() - self.lost_at > DEAD_END:
                print("no rail is left")
                return 3
            if self.acked == self.count:  # the receiver has the last word
                self.acked = self.posted = self.ask()
        return 0


class Receiver(End):
    next = 0  # the first that has not come

    def __init__(self, *more):
        super().__init__(*more)
        self.here = set()  # later ones: the sender's completion does not say that ours is there

    def take(self, rail):
        for wc in rail.completions():
            if wc.status != e.IBV_WC_SUCCESS:
                print(f"rail {rail.number} lost: {words_of(wc)}", flush=True)
                rail.drop()
                return
            number = struct.unpack("=Q", rail.mr.read(8, 8 * wc.wr_id))[0]
            if number >= self.next:  # one below came before, by the other rail
                self.here.add(number)
            while self.next in self.here:
                self.here.remove(self.next)
                self.next += 1
            rail.receive(wc.wr_id)

    def answer(self, rail, number, gid):
        self.take(rail)  # before its queue pair goes
        own = rail.prepare()
        if own and rail.connect(number, gid) and all(map(rail.receive, range(WINDOW))):
            self.tell(rail.number, *own)
        else:
            self.tell(rail.number)

    def run(self):
        while True:
            for rail in self.rails:
                self.take(rail)
                why = rail.news()
                if why:
                    print(f"rail {rail.number} lost: {why}", flush=True)
            if not select.select([self.peer], [], [], PAUSE)[0]:
                continue
            said = self.hear()
            if not said:
                break
            if said[0] == QUESTION:
                self.tell(QUESTION, self.next)
            else:
                self.answer(self.rails[said[0]], *said[1:])
        print(f"{self.next} messages, each once")
        return 0 if self.next == self.count else 3


def meet(address, port):
    if address == "-":
        with socket.create_server(("127.0.0.1", port)) as server:
            return server.accept()[0]
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((address, port))
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(AGAIN)


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    address, port, *names, count = sys.argv[1:]
    kind = Receiver if address == "-" else Sender
    end = kind(meet(address, int(port)), names, int(count))
    try:
        return end.run()
    finally:
        end.close()


sys.exit(main())
