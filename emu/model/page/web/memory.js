/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory: what keys open and where requests reach into it, and the walk from a key to its byte. */
import {T} from "./texts.js";
import {button, h, table} from "./dom.js";
import {word} from "./inspect.js";
import {ms, some} from "./layout.js";

const CELLS = 512, REGIONS_MAX = 60, REQUESTS_MAX = 50, MESSAGES_MAX = 5000;

/* How many of the accesses [{va, bytes}] reach each part of the region: [counts, pages in a part]. */
export function pageCounts(start, length, page, accesses) {
	const pages = Math.max(1, Math.ceil(length / page)), per = Math.ceil(pages / CELLS);
	const count = new Array(Math.ceil(pages / per)).fill(0);
	for (const m of accesses) {
		const at = Number(BigInt(m.va) - start);
		const last = Math.floor((at + Math.max(1, m.bytes) - 1) / page / per);
		for (let i = Math.max(0, Math.floor(at / page / per)); i <= last && i < count.length; i++)
			count[i]++;
	}
	return [count, per];
}

export function isOutside(start, length, m) {
	return BigInt(m.va) < start || BigInt(m.va) + BigInt(m.bytes) > start + BigInt(length);
}

function region(trace, r, messages, pick) {
	const key = word(r, "key") || "?", address = word(r, "address") || "0x0";
	const length = Number(word(r, "length")) || 0, page = Number(word(r, "pages")) || 0;
	const start = /^0x[0-9a-f]+$/.test(address) ? BigInt(address) : 0n;
	const hits = messages.filter(m => m.rkey === key &&
		(r.host === null || trace.head.qps[m.to].host === r.host));
	const out = [h("h3", {}, "key " + key + " of " + trace.hostName(r.host)), h("p", {},
		some(length, "byte") + " from " + address + " on, told at " + ms(r.ns) + " ms. " +
		(hits.length ? hits.length + " requests of peers name it." :
			"No request of a peer names it: it is used locally, or not at all."))];
	if (page && length) {
		const [count, per] = pageCounts(start, length, page, hits);
		out.push(h("p", {class: "quiet"}, some(Math.ceil(length / page), "page") + " of " +
			some(page, "byte") + (per > 1 ? ", " + per + " in a square" : "") +
			"; dark: packets reach it"), h("div", {class: "pages", role: "img", "aria-label":
			count.filter(Boolean).length + " of " + count.length + " parts are reached"},
		count.map((n, i) => h("i", {class: n ? "used" : "", title: "bytes " + i * per * page +
			" on: " + n}))));
	}
	const outside = hits.filter(m => isOutside(start, length, m));
	if (outside.length)
		out.push(h("p", {class: "bad"}, outside.length + " of them reach outside of it."));
	if (hits.length)
		out.push(table("requests of key " + key, [{name: "ms", num: true}, "request", "from",
			{name: "offset", num: true}, {name: "bytes", num: true}],
		hits.slice(0, REQUESTS_MAX).map(m => [button(ms(m.began), () => pick(m.arrow),
			{class: "link"}), m.op, trace.qpName(m.from), String(BigInt(m.va) - start), m.bytes])));
	return h("section", {class: "region"}, out);
}

/* Each step of the daemon's walk (emu/abi/ctl.h) as a line. */
export function walkLines(w) {
	const hex = n => "0x" + Number(n).toString(16);
	const out = [hex(w.key) + ": index " + w.index + ", key byte " + hex(w.key_byte) + ", PD " + w.pd +
		", of " + w.program + " on " + w.device];
	if (w.window_of !== undefined)
		out.push("a window of " + hex(w.window_of) + ": " + w.window_length + " bytes from offset " +
			w.window_offset);
	for (const s of w.steps)
		out.push("described as " + s.shape + ": entry " + s.entry + " of " + s.n + " leads to key " +
			hex(s.child_key) + ", address " + hex(s.child_addr));
	out.push("region " + hex(w.region_key) + " (" + w.kind + "): " + w.length + " bytes from " +
		hex(w.iova) + " on, offset " + w.region_offset);
	if (w.n_pages)
		out.push("page " + w.entry + " of " + w.n_pages + " (" + w.page_size + " bytes each), byte " +
			w.in_page + " of it");
	if (w.byte !== undefined)
		out.push("there stands " + hex(w.byte));
	return out;
}

function walkForm(source) {
	const key = h("input", {size: 12, placeholder: "0x1234"}), said = h("div", {role: "status"});
	const offset = h("input", {size: 10, value: "0"});
	const walk = async () => {
		try {
			const w = await source.act({cmd: "walk", key: Number(key.value),
				offset: Number(offset.value)});
			said.replaceChildren(h("ol", {class: "walk"}, walkLines(w).map(line => h("li", {}, line))));
		} catch (error) {
			said.replaceChildren(h("p", {class: "bad"}, error.message));
		}
	};
	return h("section", {}, h("h3", {}, T.walk), h("p", {class: "quiet"}, T.walkHint), h("form",
		{class: "tools", on: {submit: e => {
			e.preventDefault();
			walk();
		}}}, h("label", {}, T.key + " ", key), h("label", {}, T.offset + " ", offset),
		h("button", {}, T.walk)), said);
}

export async function memoryView(trace, source, pick) {
	const places = trace.recordsOf("region").map(item => item - trace.nArrows);
	const records = await source.details("records", places.slice(-REGIONS_MAX * 2));
	const n = Math.min(trace.head.messages_in_all, MESSAGES_MAX);
	const messages = (await source.details("messages", Array.from({length: n}, (x, i) => i)))
		.filter(Boolean);
	const last = new Map(records.map(r => [r.host + " " + word(r, "key") + " " + word(r, "address"), r]));
	const known = new Set(records.map(r => word(r, "key"))), unknown = new Map();
	for (const m of messages)
		if (m.rkey && !known.has(m.rkey))
			unknown.set(m.rkey, (unknown.get(m.rkey) || 0) + 1);
	const out = [h("h2", {}, T.views.memory), h("p", {class: "quiet"}, T.memoryHint)];
	if (source.live)
		out.push(walkForm(source));
	if (!last.size && !unknown.size)
		out.push(h("p", {}, T.noMemory));
	out.push(...[...last.values()].slice(-REGIONS_MAX).map(r => region(trace, r, messages, pick)));
	if (unknown.size)
		out.push(h("p", {}, "Keys that requests name and no record tells of: " + [...unknown]
			.slice(0, 20).map(([key, times]) => key + " (" + times + ")").join(", ") + "."));
	return out;
}
