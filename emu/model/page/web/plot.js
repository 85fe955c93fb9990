/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time and sequence of one direction of a conversation: packets by PSN, what was acknowledged,
 * what is on its way between, and bytes.
 */
import {T} from "./texts.js";
import {h, later, prepare, table} from "./dom.js";
import {ANSWER} from "./trace.js";
import {ms, some} from "./layout.js";

const PSN_HALF = 1 << 23, PSN_ALL = 1 << 24;

/* PSNs have 24 bits: how far this one is from that. */
export function psnDistance(psn, from) {
	const d = (psn - from + PSN_ALL) % PSN_ALL;
	return d >= PSN_HALF ? d - PSN_ALL : d;
}

/* Requests of "from" to "to" and their answers: [{t, psn (from the first), a, kind}]. */
export function points(trace, items, from, to) {
	const out = [];
	let first = null;
	for (const a of items) {
		if (!trace.isArrow(a))
			continue;
		const answer = (trace.flags(a) & ANSWER) !== 0;
		if (answer ? trace.from(a) !== to || trace.to(a) !== from :
			trace.from(a) !== from || trace.to(a) !== to)
			continue;
		if (first === null) {
			if (answer)
				continue;
			first = trace.psn(a);
		}
		out.push({t: trace.time(a), psn: psnDistance(trace.psn(a), first), a,
			kind: answer ? trace.isNak(a) ? "nak" : "ack" : trace.look(a)});
	}
	return out;
}

/* What is on its way after each point: the highest PSN sent less the one acknowledged. */
export function windows(list) {
	let sent = -1, acked = -1;
	return list.map(p => {
		if (p.kind === "ack")
			acked = Math.max(acked, p.psn);
		else if (p.kind !== "nak")
			sent = Math.max(sent, p.psn);
		return Math.max(0, sent - acked);
	});
}

export class Plot {
	constructor(onPick) {
		this.onPick = onPick;
		this.canvas = h("canvas", {class: "plot", "aria-hidden": "true"});
		this.read = h("p", {class: "quiet", role: "status"});
		this.choice = h("select", {on: {change: () => this.draw()}});
		this.table = h("div", {});
		this.box = h("div", {}, h("p", {class: "quiet"}, T.plotHint),
			h("p", {}, h("label", {}, T.direction + " ", this.choice)), this.canvas, this.read,
			h("details", {}, h("summary", {}, T.numbers), this.table));
		this.draw = later(() => this.drawNow());
		this.canvas.addEventListener("pointermove", e => this.showPacket(e));
		this.canvas.addEventListener("click", e => {
			const p = this.near(e);
			if (p)
				this.onPick(p.a);
		});
		new ResizeObserver(() => this.draw()).observe(this.canvas);
	}

	show(trace, items) {
		this.trace = trace;
		this.items = items;
		const ways = new Map();
		for (const a of items)
			if (trace.isArrow(a) && !(trace.flags(a) & ANSWER))
				ways.set(trace.from(a) + " " + trace.to(a), [trace.from(a), trace.to(a)]);
		const before = this.choice.value;
		this.choice.replaceChildren(...[...ways].slice(0, 50).map(([key, [from, to]]) =>
			h("option", {value: key}, trace.qpName(from) + " to " + trace.qpName(to))));
		if (ways.has(before))
			this.choice.value = before;
		this.draw();
	}

	drawNow() {
		const {pen, width, height, colour} = prepare(this.canvas);
		const [from, to] = this.choice.value.split(" ").map(Number);
		this.list = this.choice.value ? points(this.trace, this.items, from, to) : [];
		pen.clearRect(0, 0, width, height);
		pen.font = "12px sans-serif";
		pen.fillStyle = colour("soft");
		this.read.textContent = this.list.length ? "" : T.noPlot;
		if (!this.list.length)
			return;
		const low = Math.min(0, ...this.sample(p => p.psn)), most = this.list.reduce((m, p) =>
			Math.max(m, p.psn), 1);
		const first = this.list[0].t, last = this.list[this.list.length - 1].t;
		const left = 60, lower = height * 0.7;
		this.x = t => left + (t - first) / Math.max(1, last - first) * (width - left - 12);
		this.y = psn => lower - 16 - (psn - low) / Math.max(1, most - low) * (lower - 40);
		pen.fillText(T.plotPsn, 4, 12);
		pen.fillText(String(most), 4, this.y(most) + 4);
		pen.fillText(String(low), 4, this.y(low) + 4);
		pen.fillText(ms(first) + " ms", left, height - 2);
		pen.fillText(ms(last) + " ms", width - 90, height - 2);
		this.drawAcknowledged(pen, colour);
		this.drawPoints(pen, colour);
		this.drawWindow(pen, colour, lower, height - 18);
		this.showNumbers(most);
	}

	/* Enough of them for a least value, however many there are. */
	sample(of) {
		const step = Math.ceil(this.list.length / 1000);
		return this.list.filter((p, i) => i % step === 0).map(of);
	}

	drawAcknowledged(pen, colour) {
		let acked = null;
		pen.strokeStyle = colour("answer");
		pen.lineWidth = 2;
		pen.beginPath();
		for (const p of this.list) {
			if (p.kind !== "ack")
				continue;
			if (acked === null)
				pen.moveTo(this.x(p.t), this.y(p.psn));
			else
				pen.lineTo(this.x(p.t), this.y(acked));
			acked = Math.max(acked === null ? p.psn : acked, p.psn);
			pen.lineTo(this.x(p.t), this.y(acked));
		}
		pen.stroke();
	}

	/* Points of one pixel are drawn once. */
	drawPoints(pen, colour) {
		let lastX = -1, lastY = -1, lastKind = "";
		for (const p of this.list) {
			const x = Math.round(this.x(p.t)), y = Math.round(this.y(p.psn));
			if (p.kind === "ack" || (x === lastX && y === lastY && p.kind === lastKind))
				continue;
			[lastX, lastY, lastKind] = [x, y, p.kind];
			pen.fillStyle = pen.strokeStyle = colour(p.kind === "nak" ? "lost" : p.kind === "refused" ?
				"lost" : p.kind === "ruled" ? "rule" : p.kind);
			if (p.kind === "nak")
				pen.fillRect(x - 5, y - 5, 10, 10);
			else if (p.kind === "lost" || p.kind === "refused")
				this.cross(pen, x, y);
			else if (p.kind === "again")
				pen.strokeRect(x - 4, y - 4, 8, 8);
			else
				pen.fillRect(x - 2, y - 2, 4, 4);
		}
	}

	cross(pen, x, y) {
		pen.beginPath();
		pen.moveTo(x - 5, y - 5);
		pen.lineTo(x + 5, y + 5);
		pen.moveTo(x - 5, y + 5);
		pen.lineTo(x + 5, y - 5);
		pen.stroke();
	}

	drawWindow(pen, colour, top, bottom) {
		const out = windows(this.list), most = out.reduce((m, n) => Math.max(m, n), 1);
		const left = Math.floor(this.x(this.list[0].t)), high = new Float64Array(4096);
		this.mostOnWay = most;
		pen.fillStyle = colour("soft");
		pen.fillText(T.plotWindow + " (at most " + most + ")", 4, top + 10);
		pen.fillStyle = colour("request");
		/* The most in each column of pixels. */
		this.list.forEach((p, i) => {
			const end = i + 1 < this.list.length ? this.x(this.list[i + 1].t) : this.x(p.t);
			for (let x = Math.floor(this.x(p.t)); x <= end; x++)
				high[x - left] = Math.max(high[x - left], out[i]);
		});
		high.forEach((n, x) => {
			const up = n / most * (bottom - top - 16);
			if (n)
				pen.fillRect(left + x, bottom - up, 1, up);
		});
	}

	showNumbers(most) {
		const count = kind => this.list.filter(p => p.kind === kind).length;
		this.table.replaceChildren(table(T.views.plot, ["what", {name: "how many", num: true}], [
			["packets of requests", this.list.length - count("ack") - count("nak")],
			[T.looks.again, count("again")], [T.looks.lost, count("lost")], ["ACKs", count("ack")],
			["NAKs", count("nak")], ["PSNs", most + 1],
			[T.plotWindow + ", at most", this.mostOnWay]]));
	}

	near(e) {
		let found = null, least = 400;
		for (const p of this.list || []) {
			const dx = this.x(p.t) - e.offsetX, dy = this.y(p.psn) - e.offsetY;
			if (dx * dx + dy * dy < least) {
				least = dx * dx + dy * dy;
				found = p;
			}
		}
		return found;
	}

	showPacket(e) {
		const p = this.near(e);
		if (p)
			this.read.textContent = ms(p.t) + " ms: " + this.trace.opcodeName(p.a) + " psn " +
				this.trace.psn(p.a) + ", " + (T.looks[p.kind] || p.kind) + ", " +
				some(this.trace.bytes(p.a), "byte");
	}
}
