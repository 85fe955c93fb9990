/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is chosen; the address keeps it, so that it can be passed on. Ends and items have names that
 * stay when the trace is read again: "uhca0/0x11", and the time of an item with what it is.
 */

export const VIEWS = ["ladder", "plot", "why", "completions", "states", "memory", "rules", "counters"];

const FRESH = {c: "", v: "ladder", p: "", kind: "all", text: "", space: "even", from: null, to: null};

export function readAddress(hash) {
	const said = new URLSearchParams(hash.replace(/^#/, "")), view = {...FRESH};
	for (const name of ["c", "p", "text"])
		view[name] = said.get(name) || "";
	view.kind = said.get("kind") || "all";
	view.v = VIEWS.includes(said.get("v")) ? said.get("v") : FRESH.v;
	view.space = said.get("space") === "time" ? "time" : "even";
	for (const name of ["from", "to"])
		view[name] = /^[0-9]+$/.test(said.get(name) || "") ? Number(said.get(name)) : null;
	return view;
}

export function writeAddress(view) {
	const say = new URLSearchParams();
	for (const name in FRESH)
		if (view[name] !== FRESH[name] && view[name] !== null)
			say.set(name, view[name]);
	return say.toString();
}

/* What tells an item from others of about that time. */
function signature(trace, item) {
	const q = trace.head.qps[trace.qp(item)], number = q && q.number !== null ? q.number : "";
	return trace.isArrow(item) ? ["a", trace.opcode(item), trace.psn(item), number,
		trace.tries(item)].join("-") : ["r", trace.kind(item), number].join("-");
}

/*
 * The name of an item, and the item of a name: -1, there is none. Times of a device that is read
 * again differ a little, for they are counted from another clock.
 */
export function nameOf(trace, item) {
	return BigInt(trace.head.began) + BigInt(Math.round(trace.time(item))) + "." +
		signature(trace, item);
}

const NEAR_NS = 5e6;

export function itemOf(trace, name) {
	const [, time, kind] = /^([0-9]+)\.(.*)$/.exec(name) || [];
	if (time === undefined)
		return -1;
	const t = Number(BigInt(time) - BigInt(trace.head.began)), far = item =>
		Math.abs(trace.time(item) - t);
	let found = -1;
	for (let k = trace.place(trace.order, t - NEAR_NS); k < trace.order.length; k++) {
		const item = trace.order[k];
		if (trace.time(item) > t + NEAR_NS)
			break;
		if (signature(trace, item) === kind && (found < 0 || far(item) < far(found)))
			found = item;
	}
	return found;
}
