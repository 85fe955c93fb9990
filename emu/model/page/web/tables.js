/* SPDX-License-Identifier: BSD-2-Clause */
/* Views that are lists of what the devices told: why, completions, states, rules, counters. */
import {T} from "./texts.js";
import {$, button, g, h, table} from "./dom.js";
import {NONE, STATES} from "./trace.js";
import {word} from "./inspect.js";
import {ms, some} from "./layout.js";

const LIST_MAX = 400, CHARTS_MAX = 120, QPS_MAX = 200;

function link(trace, item, pick) {
	return button(ms(trace.time(item)), () => pick(item), {class: "link"});
}

function recordsOf(trace, source, items) {
	return source.details("records", items.map(item => item - trace.nArrows));
}

function heading(title, hint) {
	return [h("h2", {}, title), hint ? h("p", {class: "quiet"}, hint) : null];
}

function moreThan(n) {
	return n > LIST_MAX ? h("p", {}, some(n - LIST_MAX, "row") + " " + T.more + ".") : null;
}

export async function whyView(trace, source, pick) {
	const entry = why => h("li", {class: "bad"}, h("p", {}, why.text), h("p", {},
		why.arrow === null ? null : button(T.showIt, () => pick(why.arrow)), " ",
		button(T.showRecord, () => pick(trace.nArrows + why.record))));
	const troubles = Array.from(trace.order.filter(item => trace.isTrouble(item)));
	const records = troubles.filter(item => !trace.isArrow(item)).slice(0, LIST_MAX);
	const told = await recordsOf(trace, source, records);
	return [...heading(T.views.why), trace.head.why.length ?
		h("ol", {class: "outcome"}, trace.head.why.map(entry)) : h("p", {}, T.whyNone),
	h("h3", {}, T.trouble), table(T.trouble, [{name: "ms", num: true}, "QP", "what"],
		records.map((item, i) => [link(trace, item, pick), trace.qp(item) === NONE ? "" :
			trace.qpName(trace.qp(item)), told[i].note || told[i].kind])), moreThan(troubles.length),
	h("h3", {}, T.explanation), h("pre", {tabindex: 0}, await source.explanation())];
}

export async function completionsView(trace, source, pick) {
	const all = trace.recordsOf("completion"), good = item => trace.valueA(item) === 0;
	const items = [...all.filter(item => !good(item)), ...all.filter(good)].slice(0, LIST_MAX);
	const told = await recordsOf(trace, source, items);
	const row = (item, i) => {
		const r = told[i], status = word(r, "status") || "?", st = trace.head.statuses[status] || {};
		return [link(trace, item, pick), trace.qpName(r.qp), (word(r, "opcode") || "") + " wr " +
			(word(r, "wr") || "?"), h("b", {class: good(item) ? "" : "wrong"}, status),
		good(item) ? some(Number(word(r, "length")) || 0, "byte") : st.meaning || "",
		good(item) ? "" : st.clause || ""];
	};
	return [...heading(T.views.completions, T.completionsHint), trace.head.recorder ?
		h("p", {}, T.recorderHint) : null, all.length ? table(T.views.completions,
		[{name: "ms", num: true}, "QP", "request", "status", "in words", "clause"], items.map(row)) :
		h("p", {}, T.noCompletions), moreThan(all.length)];
}

/* [{qp, bars: [{state, from, to, item}]}], times as they are. */
export function stateBars(trace) {
	const of = new Map();
	for (const item of trace.recordsOf("state")) {
		const qp = trace.qp(item), t = trace.time(item);
		if (qp === NONE)
			continue;
		if (!of.has(qp))
			of.set(qp, [{state: STATES[trace.valueA(item)] || "RESET", from: trace.first, item: -1}]);
		const bars = of.get(qp);
		bars[bars.length - 1].to = t;
		bars.push({state: STATES[trace.valueB(item)] || "?", from: t, item});
	}
	return [...of].map(([qp, bars]) => {
		bars[bars.length - 1].to = trace.length;
		return {qp, bars};
	});
}

export async function statesView(trace, source, pick) {
	const list = stateBars(trace).slice(0, QPS_MAX), x0 = 170;
	const width = Math.max(180, ($("other").clientWidth || 900) - x0 - 20);
	const span = Math.max(1, trace.length - trace.first), x = t => x0 + (t - trace.first) / span * width;
	const out = heading(T.views.states, T.statesHint);
	if (!list.length)
		return [...out, h("p", {}, T.noStates)];
	const svg = g("svg", {width: x0 + width + 10, height: list.length * 30 + 6, role: "img",
		"aria-label": T.views.states});
	list.forEach(({qp, bars}, n) => {
		svg.append(g("text", {x: 0, y: n * 30 + 19}, trace.qpName(qp)));
		for (const bar of bars) {
			const w = Math.max(2, x(bar.to) - x(bar.from));
			svg.append(g("rect", {class: "bar s-" + bar.state, x: x(bar.from), y: n * 30 + 4, width: w,
				height: 22}, g("title", {}, bar.state + " from " + ms(bar.from) + " ms")));
			if (w > 9 * bar.state.length)
				svg.append(g("text", {class: "bartext", x: x(bar.from) + 4, y: n * 30 + 19}, bar.state));
		}
	});
	const rows = list.flatMap(({qp, bars}) => bars.filter(bar => bar.item >= 0).map(bar =>
		[link(trace, bar.item, pick), trace.qpName(qp), bar.state]));
	return [...out, h("div", {class: "scroll", tabindex: 0, role: "group",
		"aria-label": T.views.states}, svg), table(T.views.states, [{name: "ms", num: true}, "QP",
		"state"], rows.slice(0, LIST_MAX)), moreThan(rows.length)];
}

/* What rules did, by number: Map of {text, fired, hits: [items]}. */
export async function ruleHits(trace, source) {
	const rules = new Map(), get = n => rules.get(n) ||
		rules.set(n, {text: "", fired: 0, hits: []}).get(n);
	const items = [...trace.recordsOf("rule"), ...trace.recordsOf("hit", LIST_MAX)];
	(await recordsOf(trace, source, items)).forEach((r, i) => {
		const rule = get(Number(word(r, r.kind === "rule" ? "number" : "rule")));
		rule.text = word(r, "text") || rule.text;
		rule.fired = Math.max(rule.fired, Number(word(r, "hits")) || 0);
		if (r.kind === "hit" && word(r, "layer") !== "packet")
			rule.hits.push(items[i]);
	});
	for (let a = 0; a < trace.nArrows; a++)
		if (trace.rule(a) && get(trace.rule(a)).hits.length < LIST_MAX)
			get(trace.rule(a)).hits.push(a);
	return rules;
}

export async function ruleTables(trace, source, pick) {
	const rules = await ruleHits(trace, source), out = [];
	for (const [number, rule] of rules) {
		const arrows = rule.hits.filter(item => trace.isArrow(item));
		await source.details("arrows", arrows);
		out.push(h("h3", {}, T.rule + " " + number + ": ", h("code", {}, rule.text), ", " + T.fired +
			" " + some(rule.fired || rule.hits.length, "time")));
		if (arrows.length)
			out.push(table(T.rule + " " + number, [{name: "ms", num: true}, "what it touched",
				"what became of it"], arrows.map(a => {
				const known = source.known("arrows", a);
				return [link(trace, a, pick), known ? known[9] : "", known ? known[10] : ""];
			})));
	}
	return out;
}

function chart(trace, name, points) {
	const w = 240, high = 64, top = Math.max(1, ...points.map(p => p[1]));
	const span = Math.max(1, trace.length - trace.first);
	const at = p => (w * Math.max(0, p[0] - trace.first) / span).toFixed(1) + " " +
		(high - (high - 6) * p[1] / top).toFixed(1);
	const last = points[points.length - 1];
	return h("div", {class: "chart"}, h("b", {}, name), " " + last[1].toLocaleString("en"),
		g("svg", {width: w, height: high + 4, class: "request", role: "img", "aria-label": name +
			": " + last[1]}, g("path", {class: "line", d: "M" + at([trace.first, 0]) +
			points.map(p => " L" + at(p)).join("") + " L" + at([trace.length, last[1]])})));
}

export async function countersView(trace, source) {
	const items = trace.recordsOf("counters").slice(-LIST_MAX), by = new Map();
	for (const r of await recordsOf(trace, source, items)) {
		for (const [name, value] of r.words) {
			const key = trace.hostName(r.host) + " " + name;
			if (value === null || !/^[0-9]+$/.test(value))
				continue;
			by.set(key, by.get(key) || []);
			by.get(key).push([r.ns, Number(value)]);
		}
	}
	return [...heading(T.views.counters, T.countersHint), by.size ? h("div", {class: "charts"},
		[...by].slice(0, CHARTS_MAX).map(([name, points]) => chart(trace, name, points))) :
		h("p", {}, T.noCounters)];
}
