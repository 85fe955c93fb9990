/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ladder: a column for each end, an arrow for each packet, a dot for each record. Only the rows
 * that are seen are drawn; their words are fetched when they are.
 */
import {T} from "./texts.js";
import {$, g, h, later} from "./dom.js";
import {A, ANSWER, NONE, REFUSED, STATES} from "./trace.js";
import {EvenRows, Scroll, TimedRows, ms, some, wait} from "./layout.js";
import {nextTrouble} from "./filter.js";

const LANES_MAX = 24, ROW = 28, ROW_NARROW = 44, TIME = 76, NARROW = 700, LATE = 100000;
const DRAWN_MAX = 400, TOUCH_MS = 1000;
const STILL = 6; /* pixels that a hand moves at a click */

/* The ends that have a column, in the order in which they appear. */
export function findLanes(trace, items) {
	const lanes = [], seen = new Set();
	let hidden = 0;
	const add = qp => {
		if (qp === NONE || seen.has(qp))
			return;
		seen.add(qp);
		if (lanes.length < LANES_MAX)
			lanes.push(qp);
		else
			hidden++;
	};
	for (const item of items) {
		if (trace.isArrow(item)) {
			add(trace.from(item));
			add(trace.to(item));
		}
	}
	for (const item of items)
		if (!trace.isArrow(item))
			add(trace.qp(item));
	return {lanes, hidden};
}

export function shortLabel(trace, a) {
	const s = trace.syndrome(a), kind = s === null ? "" : s >> 5 === 1 ? "RNR NAK" : "NAK";
	if (s !== null && trace.opcodeName(a).endsWith("ACKNOWLEDGE"))
		return (s >> 5 === 0 ? "ACK" : kind) + " psn " + trace.psn(a);
	return trace.opcodeName(a).replace(/^[A-Z]+_/, "") + " psn " + trace.psn(a);
}

export class Ladder {
	constructor(box, source, onPick) {
		this.source = source;
		this.onPick = onPick;
		this.follows = false;
		this.place = -1;
		this.items = new Uint32Array(0);
		this.heads = h("div", {class: "heads", "aria-hidden": "true"});
		this.spread = h("div", {class: "spread"});
		this.view = h("div", {id: "rows", tabindex: 0, role: "listbox", "aria-label": T.ladderName},
			this.spread);
		this.count = h("p", {id: "count", role: "status"});
		box.replaceChildren(this.count, this.heads, this.view);
		this.draw = later(() => this.drawNow());
		this.view.addEventListener("scroll", () => this.scrolled(), {passive: true});
		this.touched = -Infinity;
		for (const what of ["wheel", "touchmove", "pointerdown", "keydown"])
			this.view.addEventListener(what, () => {
				this.touched = performance.now();
			}, {passive: true});
		this.view.addEventListener("pointerdown", e => {
			this.down = {at: e.target, row: e.target.closest(".row"), x: e.clientX, y: e.clientY};
		}, {passive: true});
		this.view.addEventListener("pointerup", e => this.released(e));
		this.view.addEventListener("click", e => this.clicked(e));
		this.view.addEventListener("keydown", e => this.pressed(e));
		new ResizeObserver(() => this.arrange()).observe(this.view);
	}

	/* ---- what is shown ---- */

	show(trace, items, space) {
		const anchor = this.trace && this.items.length ? this.anchor() : null;
		if (anchor)
			anchor.time += Number(BigInt(this.trace.head.began) - BigInt(trace.head.began));
		this.trace = trace;
		this.items = items;
		this.space = space;
		Object.assign(this, findLanes(trace, items));
		this.states = this.findStates();
		this.arrange();
		this.showCount();
		if (this.follows)
			this.view.scrollTop = this.view.scrollHeight;
		else if (anchor)
			this.scrollTo(trace.place(items, anchor.time), anchor.rest);
	}

	/* The time that is on top, so that it stays there when the trace is read again. */
	anchor() {
		const i = Math.min(this.items.length - 1, this.rows.at(this.top()));
		return {time: Number(this.trace.time(this.items[i])), rest: this.top() - this.rows.top(i)};
	}

	findStates() {
		const states = new Map();
		for (const item of this.trace.recordsOf("state")) {
			const qp = this.trace.qp(item);
			if (!states.has(qp))
				states.set(qp, []);
			states.get(qp).push(item);
		}
		return states;
	}

	arrange() {
		if (!this.trace)
			return;
		const width = this.view.clientWidth || 600;
		this.narrow = width < NARROW;
		const row = this.narrow ? ROW_NARROW : ROW;
		this.rows = this.space === "time" ?
			new TimedRows(Array.from(this.items, item => this.trace.time(item)), 20000) :
			new EvenRows(this.items.length, row);
		this.scroll = new Scroll(this.rows.height, this.view.clientHeight);
		this.spread.style.height = this.scroll.bar + "px";
		this.first = this.narrow ? 18 : TIME + 50;
		this.notes = this.narrow ? width - 8 : Math.max(width * 0.62, this.first + 80);
		const span = Math.max(80, this.notes - this.first - (this.narrow ? 14 : 70));
		this.gap = this.lanes.length > 1 ? span / (this.lanes.length - 1) : span;
		this.laneOf = new Map(this.lanes.map((qp, i) => [qp, this.first + i * this.gap]));
		this.drawHeads();
		this.draw();
	}

	showCount() {
		let packets = 0;
		for (const item of this.items)
			packets += this.trace.isArrow(item);
		let text = some(packets, "packet") + " of " + some(this.trace.head.arrows_in_all, "packet") +
			", " + some(this.items.length - packets, "note") + " of the devices.";
		if (this.trace.head.arrows_in_all > this.trace.nArrows)
			text += " Only the first " + some(this.trace.nArrows, "packet") + " are in this page.";
		if (this.hidden)
			text += " " + some(this.hidden, "QP") + " more have no column: choose a conversation.";
		if (!this.items.length)
			text += " " + T.nothingFits;
		this.count.textContent = text;
		this.view.dataset.packets = packets;
		this.view.dataset.records = this.items.length - packets;
	}

	/* ---- choosing ---- */

	top() {
		return this.scroll.toRows(this.view.scrollTop);
	}

	scrollTo(i, rest = 0) {
		this.view.scrollTop = this.scroll.toBar(this.rows.top(i) + rest);
		this.draw();
	}

	/* Place i of what is shown; it comes into view. */
	pick(i, notifies = true) {
		this.place = i;
		if (i >= 0 && this.follows)
			this.setFollow(false);
		if (i >= 0) {
			const y = this.rows.top(i), seen = this.view.clientHeight;
			if (y < this.top() || y + ROW_NARROW > this.top() + seen)
				this.scrollTo(i, -seen / 2);
		}
		this.draw();
		if (notifies)
			this.onPick(i < 0 ? -1 : this.items[i]);
	}

	pickItem(item, notifies) {
		const i = item < 0 ? -1 : this.placeOf(item);
		this.pick(i, notifies);
		return i >= 0;
	}

	placeOf(item) {
		const t = this.trace.time(item);
		for (let i = this.trace.place(this.items, t); i < this.items.length &&
			this.trace.time(this.items[i]) === t; i++)
			if (this.items[i] === item)
				return i;
		return -1;
	}

	trouble(by) {
		const start = this.place < 0 && by < 0 ? this.items.length : this.place;
		let i = nextTrouble(this.trace, this.items, start, by);
		if (i < 0)
			i = nextTrouble(this.trace, this.items, by > 0 ? -1 : this.items.length, by);
		if (i < 0)
			this.count.textContent = T.noTrouble;
		else
			this.pick(i);
	}

	walk(by) {
		if (this.items.length)
			this.pick(Math.max(0, Math.min(this.items.length - 1,
				this.place < 0 ? (by > 0 ? 0 : this.items.length - 1) : this.place + by)));
	}

	pressed(e) {
		const page = Math.max(1, Math.floor(this.view.clientHeight / ROW) - 1);
		const acts = {ArrowDown: () => this.walk(1), ArrowUp: () => this.walk(-1),
			PageDown: () => this.walk(page), PageUp: () => this.walk(-page),
			Home: () => this.pick(this.items.length ? 0 : -1),
			End: () => this.pick(this.items.length - 1),
			n: () => this.trouble(1), p: () => this.trouble(-1), Escape: () => this.pick(-1),
			Enter: () => $("inspector").focus(), "/": () => $("find").focus()};
		if (e.ctrlKey || e.altKey || e.metaKey || !acts[e.key])
			return;
		e.preventDefault();
		acts[e.key]();
	}

	clicked(e) {
		const row = e.target.closest(".row");
		if (row)
			this.pick(Number(row.dataset.place));
	}

	/* Rows are drawn anew when their words come: a press on what is gone by now makes no click. */
	released(e) {
		const down = this.down, still = down && Math.hypot(e.clientX - down.x, e.clientY - down.y) < STILL;
		if (still && down.row && !down.at.isConnected)
			this.pick(Number(down.row.dataset.place));
	}

	/* Rows that come scroll, too: only a hand ends following. */
	scrolled() {
		const atEnd = this.view.scrollTop + this.view.clientHeight >= this.view.scrollHeight - 4;
		if (this.follows && !atEnd && performance.now() - this.touched < TOUCH_MS)
			this.setFollow(false);
		this.draw();
	}

	setFollow(follows) {
		this.follows = follows;
		if (follows)
			this.view.scrollTop = this.view.scrollHeight;
		if (this.onFollow)
			this.onFollow(follows);
	}

	/* ---- drawing ---- */

	/* queues: of a running device, the words of a QP's queues. */
	drawHeads() {
		this.heads.classList.toggle("deep", !!this.queues);
		this.heads.replaceChildren(...this.lanes.map(qp => {
			const head = h("div", {}, h("b", {}, this.trace.hostName(this.trace.head.qps[qp].host)),
				"QP " + this.trace.qpNumber(qp), h("span", {}, this.trace.program(qp)),
				this.queues ? h("span", {class: "queues"}, this.queues(qp)) : null);
			const wide = Math.min(this.gap - 6, this.queues ? 190 : 150), x = this.laneOf.get(qp);
			head.style.width = wide + "px";
			head.style.left = Math.max(0, Math.min(x - wide / 2,
				this.view.clientWidth - wide)) + "px";
			return head;
		}));
	}

	drawNow() {
		if (!this.trace)
			return;
		const top = this.top(), seen = this.view.clientHeight || 600;
		const begin = Math.max(0, this.rows.at(top) - 4);
		const end = Math.min(this.items.length, begin + DRAWN_MAX, this.rows.at(top + seen) + 4);
		const svg = g("svg", {width: this.view.clientWidth, height: seen + 2 * ROW_NARROW,
			role: "presentation"});
		svg.style.top = this.view.scrollTop - ROW_NARROW + "px";
		this.origin = top - ROW_NARROW;
		this.lanes.forEach(qp => this.drawLane(svg, qp, top, seen));
		let wordsAt = -100;
		for (let i = begin; i < end; i++) {
			const words = this.rows.top(i) - wordsAt >= 14;
			svg.append(this.drawRow(i, words));
			if (words)
				wordsAt = this.rows.top(i);
		}
		this.spread.replaceChildren(svg);
		this.view.setAttribute("aria-activedescendant", this.place >= begin && this.place < end ?
			"row" + this.place : "");
		this.fetch(begin, end);
	}

	/* The words of these rows, where they are not there yet. */
	async fetch(begin, end) {
		const wanted = {arrows: [], records: []}, trace = this.trace;
		for (let i = begin; i < end; i++) {
			const item = this.items[i], of = trace.isArrow(item) ? "arrows" : "records";
			const place = trace.isArrow(item) ? item : item - trace.nArrows;
			if (!this.source.known(of, place))
				wanted[of].push(place);
		}
		if (!wanted.arrows.length && !wanted.records.length)
			return;
		try {
			for (const of in wanted)
				if (wanted[of].length)
					await this.source.details(of, wanted[of]);
			if (trace === this.trace)
				this.draw();
		} catch (error) {
			/* Another trace is on its way, or the server has ended and that is told. */
		}
	}

	/* A lane tells in which state its QP is. */
	drawLane(svg, qp, top, seen) {
		const x = this.laneOf.get(qp);
		let y = -ROW_NARROW, state = "", bottom = seen + ROW_NARROW;
		const line = to => to > y && svg.append(g("path", {class: "lane " + state,
			d: "M" + x + " " + (y + ROW_NARROW) + " V" + (to + ROW_NARROW)}));
		for (const item of this.states.get(qp) || []) {
			const at = this.rows.top(this.trace.place(this.items, this.trace.time(item))) - top;
			if (at > y && at < bottom) {
				line(at);
				y = at;
			}
			if (at >= bottom)
				break;
			state = /ERR|SQE/.test(STATES[this.trace.valueB(item)] || "") ? "err" : "";
		}
		line(bottom);
	}

	words(item) {
		const arrow = this.trace.isArrow(item);
		const place = arrow ? item : item - this.trace.nArrows;
		const known = this.source.known(arrow ? "arrows" : "records", place);
		if (arrow)
			return {label: known ? known[A.LABEL] : shortLabel(this.trace, item),
				note: known ? known[A.NOTE] : ""};
		return {label: "", note: known ? known.note || known.kind : this.trace.kind(item)};
	}

	/* What a screen reader says of a row: what is drawn, as who speaks to it says it, then the rest. */
	spoken(box, item, words) {
		const t = this.trace, drawn = [...box.querySelectorAll("text")].map(e => e.textContent).join(" ");
		const rest = [words.label, words.note].filter(text => text && !drawn.includes(text));
		if (!drawn.includes(ms(t.time(item))))
			rest.push(ms(t.time(item)) + " ms");
		if (!t.isArrow(item))
			return [drawn, ...rest, t.qpName(t.qp(item))].filter(Boolean).join(", ");
		rest.push(t.qpName(t.from(item)) + " to " + t.qpName(t.to(item)));
		if (!words.note && t.arrived(item) >= 0)
			rest.push("arrived after " + wait(t.arrived(item) - t.time(item)));
		return [drawn, ...rest].filter(Boolean).join(", ");
	}

	drawRow(i, withWords) {
		const item = this.items[i], t = this.trace, look = t.look(item);
		const y = this.rows.top(i) - this.origin + 18, words = this.words(item);
		const row = this.space === "time" ? 14 : this.rows.row;
		const box = g("g", {class: "row " + (t.isArrow(item) ? "packet " : "record ") + look +
			(t.isArrow(item) && t.tries(item) ? " dotted" : "") +
			(i === this.place ? " picked" : ""), id: "row" + i, "data-place": i, role: "option",
			"aria-selected": String(i === this.place), "aria-setsize": this.items.length,
			"aria-posinset": i + 1});
		box.append(g("rect", {class: "hit", x: 0, y: y - 17, width: this.view.clientWidth,
			height: row}));
		if (withWords && !this.narrow)
			box.append(g("text", {class: "time", x: TIME - 6, y: y + 4}, this.timeText(i)), " ");
		if (t.isArrow(item))
			this.drawArrow(box, item, i, y, withWords ? words.label : "");
		else
			this.drawRecord(box, item, y);
		if (withWords)
			this.drawNote(box, words.note, y);
		box.setAttribute("aria-label", this.spoken(box, item, words));
		return box;
	}

	timeText(i) {
		const t = this.trace.time(this.items[i]);
		const before = i > 0 ? t - this.trace.time(this.items[i - 1]) : 0;
		return before > 1e6 && before > this.trace.length / 25 ? "+" + wait(before) : ms(t);
	}

	drawNote(box, note, y) {
		const x = this.narrow ? 8 : this.notes, room = this.view.clientWidth - x - 8;
		const fits = Math.max(8, Math.floor(room / 7.2));
		if (note)
			box.append(g("text", {class: "note", x, y: this.narrow ? y + 20 : y + 4},
				note.length > fits ? note.slice(0, fits - 1) + "…" : note));
	}

	drawRecord(box, item, y) {
		const x = this.laneOf.get(this.trace.qp(item));
		if (x === undefined)
			return;
		if (!this.narrow)
			box.append(g("path", {class: "lead", d: "M" + x + " " + y + " H" + (this.notes - 6)}));
		const kind = this.trace.kind(item);
		if (this.trace.look(item) === "wrong")
			box.append(g("rect", {class: "tip", x: x - 5, y: y - 5, width: 10, height: 10}));
		else if (kind === "rule" || kind === "hit")
			box.append(g("path", {class: "tip", d: "M" + x + " " + (y - 6) + " l6 6 l-6 6 l-6 -6 z"}));
		else
			box.append(g("circle", {class: "tip", cx: x, cy: y, r: 5}));
	}

	drawArrow(box, a, i, y, label) {
		const t = this.trace, lost = t.isLost(a);
		let x1 = this.laneOf.get(t.from(a)), x2 = this.laneOf.get(t.to(a));
		if (x1 === undefined || x2 === undefined || x1 === x2) {
			const x = x1 === undefined ? x2 === undefined ? this.first : x2 : x1;
			box.append(g("path", {class: "line", d: "M" + x + " " + (y - 4) + " h22 v9 h-18"}),
				tip(x + 22, y + 5, x + 3, y + 5, false),
				g("text", {class: "label", x: x + 28, y: y + 4, "text-anchor": "start"}, label), " ");
			return;
		}
		const late = t.arrived(a) - t.time(a) > LATE;
		let y2 = late ? this.rows.top(t.place(this.items, t.arrived(a))) - this.origin + 18 : y + 6;
		y2 = Math.max(y + 6, Math.min(y2, y + 3000));
		const side = x2 > x1 ? 1 : -1;
		x1 += 2 * side;
		x2 -= 3 * side;
		if (lost) {
			x2 = x1 + (x2 - x1) * 0.72;
			y2 = y + 4;
		}
		box.append(g("path", {class: "line", d: "M" + x1 + " " + (y - 1) + " L" + x2 + " " + y2}));
		box.append(lost || t.fate(a) === REFUSED ? cross(x2, y2) :
			tip(x1, y - 1, x2, y2, (t.flags(a) & ANSWER) !== 0));
		if (t.rule(a))
			box.append(g("path", {class: "tip", d: "M" + (x1 + 12 * side) + " " + (y - 6) +
				" l5 5 l-5 5 l-5 -5 z"}));
		const fits = Math.max(4, Math.floor(Math.abs(x2 - x1) / 6.6));
		box.append(g("text", {class: "label", x: (x1 + x2) / 2, y: y - 4},
			label.length > fits ? label.slice(0, fits - 1) + "…" : label), " ");
	}
}

function cross(x, y) {
	return g("path", {class: "x", d: "M" + (x - 6) + " " + (y - 6) + " l12 12 m0 -12 l-12 12"});
}

/* Full of a request, open of an answer. */
export function tip(x1, y1, x2, y2, open) {
	const angle = Math.atan2(y2 - y1, x2 - x1);
	const at = turn => (x2 - 10 * Math.cos(angle + turn)) + " " + (y2 - 10 * Math.sin(angle + turn));
	return g("path", {class: open ? "line" : "tip", d: "M" + at(0.4) + " L" + x2 + " " + y2 + " L" +
		at(-0.4) + (open ? "" : " z")});
}

/* What each look means, with a picture of it. */
export function legend() {
	const sample = (look, text, open, crossed) => {
		const box = g("g", {class: look === "again" ? "dotted" : ""},
			g("path", {class: "line", d: "M2 8 H" + (crossed ? 34 : 50)}),
			crossed ? cross(38, 8) : tip(2, 8, 52, 8, open));
		return h("span", {class: look}, g("svg", {width: 54, height: 16, class: look,
			"aria-hidden": "true"}, box), text);
	};
	const mark = (look, shape) => h("span", {class: look}, g("svg", {width: 16, height: 16,
		class: look, "aria-hidden": "true"}, shape), T.looks[look]);
	return h("p", {class: "legend"}, sample("request", T.looks.request),
		sample("answer", T.looks.answer, true), sample("again", T.looks.again),
		sample("lost", T.looks.lost, false, true), sample("refused", T.looks.refused, false, true),
		mark("ruled", g("path", {class: "tip", d: "M8 2 l6 6 l-6 6 l-6 -6 z"})),
		mark("told", g("circle", {class: "tip", cx: 8, cy: 8, r: 5})),
		mark("wrong", g("rect", {class: "tip", x: 3, y: 3, width: 10, height: 10})));
}
