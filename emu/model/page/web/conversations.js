/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is connected with whom: pairs of QPs, with what became of their packets. */
import {T} from "./texts.js";
import {button, h} from "./dom.js";
import {NONE, STATES} from "./trace.js";
import {some} from "./layout.js";

/*
 * [{name, qps: [one or two], packets, bytes, again, naks, lost, errors}], those with trouble first,
 * then by packets. QPs without a peer (of datagrams) stand for themselves.
 */
export function findConversations(trace) {
	const of = new Map(), list = [];
	trace.head.qps.forEach((q, qp) => {
		const peer = q.peer !== null && trace.head.qps[q.peer] ? q.peer : null;
		const known = peer !== null ? of.get(peer) : undefined;
		if (known && known.qps.length < 2 && trace.head.qps[peer].peer === qp) {
			known.qps.push(qp);
			of.set(qp, known);
			return;
		}
		const c = {name: trace.hostName(q.host) + "/" + trace.qpNumber(qp), qps: [qp], packets: 0,
			bytes: 0, again: 0, naks: 0, lost: 0, errors: 0};
		of.set(qp, c);
		list.push(c);
	});
	for (let a = 0; a < trace.nArrows; a++) {
		const c = of.get(trace.from(a)) || of.get(trace.to(a));
		if (!c)
			continue;
		c.packets++;
		c.bytes += trace.bytes(a);
		c.again += trace.tries(a) > 0;
		c.naks += trace.isNak(a);
		c.lost += trace.isLost(a);
	}
	for (const item of trace.recordsOf("completion")) {
		const c = of.get(trace.qp(item));
		if (c && trace.valueA(item) !== 0)
			c.errors++;
	}
	const bad = c => c.errors + c.lost + c.naks + c.again;
	return list.filter(c => c.packets || c.errors).sort((x, y) => (bad(y) > 0) - (bad(x) > 0) ||
		y.packets - x.packets);
}

/* The state that a QP was in last. */
export function lastStates(trace) {
	const states = new Map();
	for (const item of trace.recordsOf("state"))
		if (trace.qp(item) !== NONE)
			states.set(trace.qp(item), STATES[trace.valueB(item)] || "?");
	return states;
}

function counts(c) {
	const parts = [[c.errors, "error"], [c.lost, "lost"], [c.naks, "NAK"], [c.again, "again"]]
		.filter(([n]) => n).map(([n, what]) => n.toLocaleString("en") + " " + what);
	return parts.length ? h("span", {class: "bad"}, parts.join(", ")) : null;
}

const SHOWN_MAX = 200;

export function conversationList(trace, chosen, pick) {
	const list = findConversations(trace), states = lastStates(trace);
	const entry = c => {
		const end = qp => h("span", {class: "end"}, h("b", {}, trace.qpName(qp)), " ",
			trace.program(qp), states.has(qp) ? h("i", {}, " " + states.get(qp)) : null);
		return h("li", {}, h("button", {type: "button", class: "conversation",
			"aria-pressed": String(chosen === c.name), on: {click: () => pick(c)}},
		c.qps.map(end), h("span", {class: "quiet"}, some(c.packets, "packet") + ", " +
			some(c.bytes, "byte")), counts(c)));
	};
	return h("nav", {"aria-label": T.conversations}, h("h2", {}, T.conversations),
		button(T.allConversations, () => pick(null), {"aria-pressed": String(!chosen)}),
		list.length ? h("ul", {}, list.slice(0, SHOWN_MAX).map(entry)) :
			h("p", {class: "quiet"}, T.noConversations),
		list.length > SHOWN_MAX ? h("p", {}, list.length - SHOWN_MAX + " " + T.more) : null);
}
