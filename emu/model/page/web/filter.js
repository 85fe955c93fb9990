/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is shown of a trace. A search is words with blanks between, all of which must hold: psn=7,
 * qp=0x11, rule=1, a number (of any of these), or a part of a name (send, ack, nak, lost, state,
 * uhca0).
 */
import {ANSWER, MADE, NONE} from "./trace.js";

export const CHOICES = {
	all: () => true,
	packets: (t, i) => t.isArrow(i),
	requests: (t, i) => t.isArrow(i) && !(t.flags(i) & ANSWER),
	answers: (t, i) => t.isArrow(i) && (t.flags(i) & ANSWER) !== 0,
	trouble: (t, i) => t.isTrouble(i),
	lost: (t, i) => t.isArrow(i) && (t.isLost(i) || t.look(i) === "refused"),
	again: (t, i) => t.isArrow(i) && t.tries(i) > 0,
	nak: (t, i) => t.isArrow(i) ? t.isNak(i) : t.kind(i) === "nak",
	ruled: (t, i) => t.isArrow(i) ? t.rule(i) !== 0 || (t.flags(i) & MADE) !== 0 :
		t.kind(i) === "hit" || t.kind(i) === "rule",
	told: (t, i) => !t.isArrow(i),
};

function numberOf(text) {
	return /^(0x[0-9a-f]+|[0-9]+)$/.test(text) ? Number(text) : null;
}

function hasQp(trace, item, number) {
	const is = qp => qp !== NONE && trace.head.qps[qp] && trace.head.qps[qp].number === number;
	return trace.isArrow(item) ? is(trace.from(item)) || is(trace.to(item)) : is(trace.qp(item));
}

const FACTS = {
	psn: (t, i, n) => t.isArrow(i) && t.psn(i) === n,
	qp: hasQp,
	rule: (t, i, n) => t.isArrow(i) && t.rule(i) === n,
};

/* The names that an item answers to. */
function names(trace, item) {
	if (!trace.isArrow(item))
		return trace.kind(item) + " " + trace.look(item) + " " + trace.hostName(trace.host(item));
	const s = trace.syndrome(item);
	const answer = s === null ? "" : s >> 5 === 0 ? "ack" : s >> 5 === 1 ? "rnr nak" : "nak";
	const host = qp => trace.head.qps[qp] ? trace.hostName(trace.head.qps[qp].host) : "";
	return [trace.opcodeName(item), trace.look(item), answer, trace.isLost(item) ? "dropped" : "",
		host(trace.from(item)), host(trace.to(item)), trace.program(trace.from(item))].join(" ");
}

/* One word: (trace, item) -> does it hold? */
function readWord(word) {
	const [, name, value] = /^([a-z]+)[=:](.*)$/.exec(word) || [];
	if (name && FACTS[name] && numberOf(value) !== null)
		return (t, i) => FACTS[name](t, i, numberOf(value));
	const n = numberOf(word);
	if (n !== null)
		return (t, i) => Object.values(FACTS).some(is => is(t, i, n));
	return (t, i) => names(t, i).toLowerCase().includes(word);
}

/*
 * wish: {qps: Set of QPs or null, kind, text, from, to: times or null}. The items, in the order of
 * time.
 */
export function choose(trace, wish) {
	const kind = CHOICES[wish.kind] || CHOICES.all;
	const words = (wish.text || "").toLowerCase().split(/\s+/).filter(Boolean).map(readWord);
	const ofQps = item => trace.isArrow(item) ?
		wish.qps.has(trace.from(item)) || wish.qps.has(trace.to(item)) : wish.qps.has(trace.qp(item));
	const begin = wish.from === null ? 0 : trace.place(trace.order, wish.from);
	const end = wish.to === null ? trace.order.length : trace.place(trace.order, wish.to);
	if (!wish.qps && kind === CHOICES.all && !words.length)
		return trace.order.subarray(begin, end);
	return trace.order.subarray(begin, end).filter(item => (!wish.qps || ofQps(item)) &&
		kind(trace, item) && words.every(holds => holds(trace, item)));
}

/* The next item from place "at" on in this direction that is trouble; -1: there is none. */
export function nextTrouble(trace, items, at, by) {
	for (let i = at + by; i >= 0 && i < items.length; i += by)
		if (trace.isTrouble(items[i]))
			return i;
	return -1;
}
