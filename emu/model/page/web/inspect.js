/* SPDX-License-Identifier: BSD-2-Clause */
/* One item opened: a packet with its headers, its request and what both devices say; a record. */
import {T} from "./texts.js";
import {button, h} from "./dom.js";
import {A, DROPPED, MISSING} from "./trace.js";
import {bytesOf, decode} from "./packet.js";
import {ms, some, wait} from "./layout.js";

const COMMENT_WORDS = {
	wr: "the work request (wr_id)", qp: "the sender's QP", op: "what the request is",
	part: "which packet of the message's", try: "how often it was sent before",
	rule: "number of the rule that touched it", fault: "the rule", made: "a rule made the packet",
	dropped: "it goes no further, for this reason", bytes: "of the frame",
};

/* [name, value, meaning] */
function factTable(facts) {
	return h("table", {}, ...facts.map(([name, value, meaning]) => h("tr", {}, h("td", {}, name),
		h("td", {class: String(value).length < 20 ? "mono" : ""}, value instanceof Node ? value : String(value)),
		h("td", {}, meaning || ""))));
}


export function word(record, name) {
	const found = record.words.find(w => w[0] === name && w[1] !== null);
	return found ? found[1] : null;
}

function comment(title, c) {
	return c ? [h("h3", {}, title), factTable(Object.keys(c).map(name =>
		[name, c[name], COMMENT_WORDS[name]]))] : [];
}

function dump(a) {
	const bytes = bytesOf(a[A.PAYLOAD]);
	if (!a[A.LENGTH])
		return [];
	const lines = [];
	for (let i = 0; i < bytes.length; i += 16) {
		const part = Array.from(bytes.slice(i, i + 16));
		lines.push(i.toString(16).padStart(4, "0") + "  " +
			part.map(b => b.toString(16).padStart(2, "0")).join(" ").padEnd(47) + "  " +
			part.map(b => b >= 32 && b < 127 ? String.fromCharCode(b) : ".").join(""));
	}
	return [h("h3", {}, "Payload: " + some(a[A.LENGTH], "byte") +
		(bytes.length < a[A.LENGTH] ? ", the first " + bytes.length : "")),
		bytes.length ? h("pre", {}, lines.join("\n")) : h("p", {}, "The capture has none of it.")];
}


export class Inspector {
	constructor(source, pick) {
		this.source = source;
		this.pick = pick;
		this.box = h("aside", {id: "inspector", tabindex: 0, "aria-label": "What is chosen"});
		this.said = h("p", {class: "hidden", "aria-live": "polite"});
	}

	link(item, text) {
		return button(text, () => this.pick(item), {class: "link"});
	}

	async show(trace, item, extra) {
		const turn = this.turn = {};
		let parts = [h("h2", {}, T.nothingChosen), h("p", {class: "quiet"}, T.howToChoose)];
		try {
			if (item >= 0 && trace.isArrow(item))
				parts = await this.arrow(trace, item);
			else if (item >= 0)
				parts = await this.record(trace, item);
		} catch (error) {
			parts = [h("p", {class: "bad"}, error.message)];
		}
		if (turn !== this.turn)
			return;
		this.box.replaceChildren(...parts.filter(Boolean), ...(extra ? extra(item) : []));
		this.box.dataset.item = item;
		this.said.textContent = item >= 0 ? parts[0].textContent : "";
	}

	async arrow(trace, item) {
		const [a] = await this.source.details("arrows", [item]), look = trace.look(item);
		const way = [["from", trace.qpName(a[A.FROM]), trace.program(a[A.FROM])],
			["to", trace.qpName(a[A.TO]), trace.program(a[A.TO])],
			["sent", ms(a[A.SENT]) + " ms", ""]];
		if (a[A.FATE] === DROPPED || a[A.FATE] === MISSING)
			way.push(["arrived", "never", ""]);
		else if (a[A.ARRIVED])
			way.push(["arrived", ms(a[A.ARRIVED]) + " ms", "after " +
				wait(a[A.ARRIVED] - a[A.SENT])]);
		const out = [h("h2", {class: look}, a[A.LABEL]),
			h("p", {class: look}, h("b", {}, a[A.NOTE] || T.looks[look])), factTable(way)];
		if (a[A.MESSAGE] !== null)
			out.push(...await this.request(trace, a[A.MESSAGE]));
		for (const [name, fields, clause] of decode(a, trace.head.opcodes))
			out.push(h("h3", {}, name, clause ? h("span", {class: "quiet", title: T.specification +
				clause}, " clause " + clause) : null), factTable(fields));
		return [...out, ...dump(a), ...comment("The sender's device says of it", a[A.OUT]),
			...comment("The receiver's device says of it", a[A.IN])];
	}

	async request(trace, place) {
		const [m] = await this.source.details("messages", [place]);
		if (!m)
			return [];
		const facts = [["request", m.op + " of " + some(m.bytes, "byte"), ""],
			["packets", m.psns === 1 ? "psn " + m.psn : m.psns + ", from psn " + m.psn + " on",
				m.tries ? "sent " + (m.tries + 1) + " times" : "sent once"]];
		if (m.wr)
			facts.push(["wr_id", m.wr, ""]);
		if (m.rkey)
			facts.push(["memory", m.va, "key " + m.rkey]);
		facts.push(["answered", m.answered === null ? "never" : ms(m.answered) + " ms",
			m.answered === null ? "" : wait(m.answered - m.began) + " after it began"]);
		if (m.completion !== null) {
			const [c] = await this.source.details("records", [m.completion]);
			facts.push(["completed", this.link(trace.nArrows + m.completion, ms(c.ns) + " ms"),
				word(c, "status") || ""]);
		}
		return [h("h3", {}, "It belongs to"), factTable(facts)];
	}

	async record(trace, item) {
		const [r] = await this.source.details("records", [item - trace.nArrows]);
		const st = r.kind === "completion" ? trace.head.statuses[word(r, "status")] : null;
		const out = [h("h2", {}, r.note || r.kind), h("p", {}, "At " + ms(r.ns) + " ms" +
			(r.qp !== null ? ", " + trace.qpName(r.qp) : r.host !== null ? ", " +
			trace.hostName(r.host) : ""))];
		if (st)
			out.push(h("p", {}, st.meaning), st.clause && h("p", {class: "quiet"}, T.specification +
				st.clause), st.check && h("p", {}, "Look at: " + st.check));
		out.push(factTable(r.words.filter(w => w[1] !== null).map(w => [w[0], w[1], ""])));
		if (r.message !== null) {
			const [m] = await this.source.details("messages", [r.message]);
			if (m)
				out.push(h("p", {}, this.link(m.arrow, "Its first packet")));
		}
		return out;
	}
}
