/* SPDX-License-Identifier: BSD-2-Clause */
/* A packet taken apart: its headers' bytes as fields with what they mean. */
import {A} from "./trace.js";

function hex(n) {
	return "0x" + n.toString(16);
}

const OPERATIONS = ["message for a receive request of the peer", "data for the peer's memory",
	"asks for data of the peer's memory", "the data that was asked for",
	"tells which requests arrived, or that something is wrong", "the value before an atomic",
	"atomic compare and swap", "atomic fetch and add", "atomic write", "flush",
	"atomic compare and swap with masks", "atomic fetch and add with masks",
	"tells the sender to slow down"];
const POSITIONS = ["first packet of its message", "in the middle of its message",
	"last packet of its message", "the only packet of its message"];
const NAKS = ["PSN sequence error: a packet before it is missing", "invalid request",
	"remote access error: key, range or right is wrong", "remote operational error",
	"invalid RD request"];
const RNR = [655.36, .01, .02, .03, .04, .06, .08, .12, .16, .24, .32, .48, .64, .96, 1.28, 1.92,
	2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84,
	245.76, 327.68, 491.52];

export function bytesOf(text) {
	return Uint8Array.from(text.match(/../g) || [], two => parseInt(two, 16));
}

function reader(bytes) {
	let at = 0;
	return {
		number(n) {
			let v = 0;
			for (; n > 0; n--)
				v = v * 256 + (bytes[at++] || 0);
			return v;
		},
		long() {
			const text = Array.from(bytes.slice(at, at + 8), b => b.toString(16).padStart(2, "0"));
			at += 8;
			return "0x" + (text.join("").replace(/^0+/, "") || "0");
		},
		address(n) {
			const part = bytes.slice(at, at + n);
			at += n;
			if (n === 4)
				return Array.from(part).join(".");
			const words = [];
			for (let i = 0; i < n; i += 2)
				words.push((part[i] << 8 | part[i + 1]).toString(16));
			return words.join(":");
		},
	};
}

export function syndromeWords(s) {
	const low = s & 31;
	switch (s >> 5 & 3) {
	case 0:
		return "ACK" + (low === 31 ? ", no limit of credits" : ", credit code " + low);
	case 1:
		return "RNR NAK: no receive request is there; try again after " + RNR[low] + " ms";
	case 3:
		return "NAK: " + (NAKS[low] || "reserved code");
	}
	return "reserved";
}

function decodeIp(r) {
	const first = r.number(1), v6 = first >> 4 === 6, out = [];
	let tos;
	if (v6) {
		const more = r.number(3);
		tos = (first & 15) << 4 | more >> 20;
		out.push(["flow label", hex(more & 0xfffff), ""]);
		r.number(3);
		out.push(["hop limit", r.number(1), ""]);
		out.push(["source", r.address(16), ""], ["destination", r.address(16), ""]);
	} else {
		tos = r.number(1);
		r.number(6);
		out.push(["time to live", r.number(1), ""]);
		r.number(3);
		out.push(["source", r.address(4), ""], ["destination", r.address(4), ""]);
	}
	out.push(["traffic class", hex(tos), ["not ECN-capable", "ECT(1)", "ECT(0)",
		"CE: congestion was met on the way"][tos & 3]]);
	const udp = [["source port", r.number(2), "stands for the flow, chooses the path"],
		["destination port", r.number(2), "RoCEv2"]];
	r.number(4);
	return [[v6 ? "IPv6" : "IPv4", out], ["UDP", udp]];
}

function decodeBth(r, opcodes) {
	const code = r.number(1), flags = r.number(1), pkey = r.number(2), ecn = r.number(1);
	const qp = r.number(3), ack = r.number(1), psn = r.number(3);
	const op = opcodes[code] || ["?", 0, 0, 0];
	return [op, [
		["opcode", hex(code), op[0] + ": " + OPERATIONS[op[2]] + "; " + POSITIONS[op[3]]],
		["SE", flags >> 7, flags >> 7 ? "the receiver's completion raises an event" : ""],
		["M", flags >> 6 & 1, "migration state; 1 with RoCE"],
		["pad", flags >> 4 & 3, "bytes behind the payload"],
		["version", flags & 15, ""],
		["P_Key", hex(pkey), pkey & 0x8000 ? "full member" : "limited member"],
		["FECN", ecn >> 7, ""], ["BECN", ecn >> 6 & 1, ""],
		["destination QP", hex(qp), ""],
		["AckReq", ack >> 7, ack >> 7 ? "the sender asks for an acknowledgement" : ""],
		["PSN", psn, "number of the packet, " + hex(psn)],
	]];
}

/* In the order of enum roce_header. */
const EXTENSIONS = [
	["XRCETH", "", r => [["reserved", r.number(1), ""], ["SRQ", hex(r.number(3)), "shared receive queue"]]],
	["DETH", "9.3", r => [["Q_Key", hex(r.number(4)), "must be that of the receiver"],
		["reserved", r.number(1), ""], ["source QP", hex(r.number(3)), ""]]],
	["FETH", "", r => {
		const v = r.number(4);
		return [["placement", v & 15, "1 visible, 2 persistent"],
			["selectivity", v >> 4 & 3, "0 range, 1 whole region"]];
	}],
	["RETH", "9.3", r => [["address", r.long(), "in the peer's memory"],
		["R_Key", hex(r.number(4)), "opens the peer's memory"],
		["length", r.number(4), "bytes of the whole message"]]],
	["AtomicETH", "9.3", r => [["address", r.long(), "in the peer's memory"],
		["R_Key", hex(r.number(4)), "opens the peer's memory"],
		["swap or add", r.long(), ""], ["compare", r.long(), ""]]],
	["AETH", "9.3 and 9.7.5.1", r => {
		const s = r.number(1);
		return [["syndrome", hex(s), syndromeWords(s)],
			["MSN", r.number(3), "requests that the receiver has finished"]];
	}],
	["AtomicAckETH", "9.3", r => [["original value", r.long(), "before the atomic"]]],
	["immediate data", "9.3", r => [["value", hex(r.number(4)), "for the peer's completion"]]],
	["IETH", "9.3", r => [["R_Key", hex(r.number(4)), "to be invalidated"]]],
];

/* Headers with their clauses of the InfiniBand specification, volume 1: [name, fields, clause]. */
export function decode(a, opcodes) {
	const r = reader(bytesOf(a[A.HEADERS]));
	const parts = decodeIp(r);
	const [op, bth] = decodeBth(r, opcodes);
	parts.push(["BTH (base transport header)", bth, "9.2"]);
	EXTENSIONS.forEach(([name, clause, read], i) => {
		if (op[1] & 1 << i)
			parts.push([name, read(r), clause]);
	});
	return parts;
}

