/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of a report. All text goes into the page as text, never as markup. Data: see
 * report_data.c; times in nanoseconds since the model began.
 */
"use strict";
(function () {

const D = JSON.parse(document.getElementById("data").textContent);

/* Places in the list of an arrow. */
const SENT = 0, ARRIVED = 1, FROM = 2, TO = 3, MESSAGE = 4, TRIES = 5, RULE = 6, FATE = 7,
	FLAGS = 8, LABEL = 9, NOTE = 10, HEADERS = 11, PAYLOAD = 12, LENGTH = 13, OUT = 14, IN = 15;
const DROPPED = 2, REFUSED = 3, MISSING = 4;
const ANSWER = 1, COPY = 2, IMPLIED_NAK = 4, MADE = 8;

const ALL_AT_ONCE = 1500; /* rows; more are drawn only where one looks */
const LANES_MAX = 24;
const TABLE_MAX = 400;
const LATE = 100000;

/* ---- making things ---- */

const NS = (function () {
	const box = document.createElement("div");
	box.innerHTML = "<svg></svg>";
	return box.firstChild.namespaceURI;
})();

function fill(element, attributes, children) {
	for (const name in attributes) {
		if (name === "on")
			for (const what in attributes.on)
				element.addEventListener(what, attributes.on[what]);
		else if (attributes[name] !== undefined && attributes[name] !== null)
			element.setAttribute(name, attributes[name]);
	}
	for (const child of children)
		if (child !== null && child !== undefined)
			element.append(child);
	return element;
}

function h(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

function g(tag, attributes, ...children) {
	return fill(document.createElementNS(NS, tag), attributes, children);
}

function $(id) {
	return document.getElementById(id);
}

function table(heads, rows, more) {
	const body = rows.slice(0, TABLE_MAX).map(row => h("tr", row.attributes || {},
		...row.cells.map((cell, i) => h("td", {class: heads[i].num ? "num" : null}, cell))));
	const box = h("div", {class: "scroll"}, h("table", {},
		h("thead", {}, h("tr", {}, ...heads.map(head =>
			h("th", {class: head.num ? "num" : null}, head.name || head)))),
		h("tbody", {}, ...body)));
	const left = rows.length - TABLE_MAX;
	return left > 0 ? h("div", {}, box, h("p", {}, left + " more " + more + " are not listed."))
		: box;
}

/* ---- words ---- */

function ms(ns) {
	return ns === null ? "?" : (ns / 1e6).toFixed(3);
}

function took(ns) {
	if (ns < 1e3)
		return ns + " ns";
	if (ns < 1e6)
		return (ns / 1e3).toFixed(1) + " us";
	return ns < 1e9 ? (ns / 1e6).toFixed(2) + " ms" : (ns / 1e9).toFixed(2) + " s";
}

function hex(n) {
	return "0x" + n.toString(16);
}

function some(n, what) {
	return n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");
}

function hostName(i) {
	return i === null ? "?" : D.hosts[i].name;
}

function qpNumber(i) {
	return i === null || D.qps[i].number === null ? "?" : hex(D.qps[i].number);
}

function qpName(i) {
	return i === null ? "" : hostName(D.qps[i].host) + " QP " + qpNumber(i);
}

function word(record, name) {
	const found = record.words.find(w => w[0] === name && w[1] !== null);
	return found ? found[1] : null;
}

/* ---- what there is to draw ---- */

function arrowLook(a) {
	if (a[FATE] === DROPPED || a[FATE] === MISSING)
		return "lost";
	if (a[FATE] === REFUSED)
		return "refused";
	if (a[RULE] || a[FLAGS] & (MADE | COPY))
		return "ruled";
	if (a[TRIES])
		return "again";
	if (/NAK/.test(a[LABEL]))
		return "wrong";
	return a[FLAGS] & ANSWER ? "answer" : "request";
}

/* Events that belong to a life without trouble. */
const GOOD_EVENTS = /^(COMM_EST|PORT_ACTIVE|SQ_DRAINED|QP_LAST_WQE_REACHED|CLIENT_REREGISTER)$/;

function recordIsTrouble(r) {
	const to = word(r, "to"), status = word(r, "status");
	return r.kind === "retry" ||
		(r.kind === "event" && !GOOD_EVENTS.test(word(r, "type"))) || r.kind === "call" || r.kind === "hit" ||
		r.kind === "leak" || (r.kind === "state" && (to === "ERR" || to === "SQE")) ||
		(r.kind === "completion" && status !== null && status !== "SUCCESS");
}

function itemOfArrow(a, i) {
	const look = arrowLook(a);
	const nak = /NAK/.test(a[LABEL]) || (a[FLAGS] & IMPLIED_NAK) !== 0;
	const c = a[OUT] || a[IN] || {};
	return {t: a[SENT], id: "a" + i, a: a, look: look, nak: nak, note: a[NOTE],
		trouble: nak || (look !== "request" && look !== "answer"),
		text: [a[LABEL], a[NOTE], qpName(a[FROM]), qpName(a[TO]), c.wr ? "wr " + c.wr : "",
			c.op || ""].join(" ").toLowerCase()};
}

function itemOfRecord(r, i) {
	const trouble = recordIsTrouble(r);
	return {t: r.ns || 0, id: "r" + i, r: r, look: trouble ? "wrong" : "told",
		note: r.note || "", trouble: trouble,
		text: [r.kind, r.note, qpName(r.qp)].join(" ").toLowerCase()};
}

const items = D.arrows.map(itemOfArrow)
	.concat(D.records.map(itemOfRecord).filter(item => item.note))
	.sort((x, y) => x.t - y.t);
/* Before that there are only rules and the like: pictures along time begin here. */
const firstOfQp = items.find(item => item.a || item.r.qp !== null);
const T0 = firstOfQp ? firstOfQp.t : 0, SPAN = Math.max(1, (D.length || 1) - T0);

const itemById = new Map(items.map(item => [item.id, item]));

/* ---- what is chosen ---- */

const KINDS = {
	all: ["everything", () => true],
	packets: ["packets", item => !!item.a],
	requests: ["requests", item => item.a && !(item.a[FLAGS] & ANSWER)],
	answers: ["answers", item => item.a && item.a[FLAGS] & ANSWER],
	trouble: ["trouble only", item => item.trouble],
	lost: ["lost or refused packets", item => item.look === "lost" || item.look === "refused"],
	again: ["packets sent again", item => item.a && item.a[TRIES] > 0],
	nak: ["NAKs", item => item.a && item.nak],
	ruled: ["what rules did", item => item.a ? item.a[RULE] || item.a[FLAGS] & MADE :
		item.r.kind === "hit" || item.r.kind === "rule"],
	told: ["what devices tell", item => !!item.r],
};

const view = {qp: "", dev: "", kind: "all", text: "", space: "even", zoom: 1, p: ""};

function readAddress() {
	const said = new URLSearchParams(location.hash.slice(1));
	for (const name of ["qp", "dev", "text", "p"])
		view[name] = said.get(name) || "";
	view.kind = KINDS[said.get("kind")] ? said.get("kind") : "all";
	view.space = said.get("space") === "time" ? "time" : "even";
	view.zoom = Math.min(400, Math.max(0.4, Number(said.get("zoom")) || 1));
}

function writeAddress() {
	const say = new URLSearchParams();
	for (const name of ["qp", "dev", "text", "p"])
		if (view[name])
			say.set(name, view[name]);
	if (view.kind !== "all")
		say.set("kind", view.kind);
	if (view.space !== "even")
		say.set("space", view.space);
	if (view.zoom !== 1)
		say.set("zoom", view.zoom.toFixed(2));
	try {
		history.replaceState(null, "", "#" + say.toString());
	} catch (e) {
		/* Some browsers let no file change its address. */
	}
}

function hasNumber(qp) {
	return qp !== null && qpNumber(qp) === view.qp.toLowerCase();
}

function hasDevice(qp) {
	return qp !== null && hostName(D.qps[qp].host) === view.dev;
}

function wanted(item) {
	const a = item.a, r = item.r;
	if (view.qp && !(a ? hasNumber(a[FROM]) || hasNumber(a[TO]) : hasNumber(r.qp)))
		return false;
	if (view.dev && !(a ? hasDevice(a[FROM]) || hasDevice(a[TO]) :
		r.host !== null && hostName(r.host) === view.dev))
		return false;
	if (!KINDS[view.kind][1](item))
		return false;
	return !view.text || item.text.includes(view.text.toLowerCase());
}

/* ---- where things are ---- */

let rows = [], lanes = [], laneOf = new Map(), hiddenLanes = 0, place = {};

function addLane(qp) {
	if (qp === null || laneOf.has(qp))
		return;
	if (lanes.length === LANES_MAX) {
		hiddenLanes++;
		laneOf.set(qp, -1);
		return;
	}
	laneOf.set(qp, lanes.length);
	lanes.push(qp);
}

function findLanes() {
	lanes = [];
	laneOf = new Map();
	hiddenLanes = 0;
	for (const item of rows) {
		if (item.a) {
			addLane(item.a[FROM]);
			addLane(item.a[TO]);
		}
	}
	for (const item of rows)
		if (item.r)
			addLane(item.r.qp);
}

function wrap(text, letters) {
	const lines = [];
	let line = "";
	for (const w of text.split(" ")) {
		if (line && line.length + 1 + w.length > letters) {
			lines.push(line);
			line = "";
		}
		line += (line ? " " : "") + w;
	}
	if (line)
		lines.push(line);
	return lines;
}

function scale() {
	return view.space === "even" ? Math.min(view.zoom, 4) : 1;
}

function layOut() {
	const z = scale();
	const letters = 50;
	place = {z: z, first: 180 * z, gap: (lanes.length > 3 ? 260 : 330) * z, y: [], wait: [],
		notes: [], row: 28 * z};
	place.notesX = place.first + Math.max(0, lanes.length - 1) * place.gap + 46 * z;
	place.width = place.notesX + letters * 7 * z;
	const all = D.length || 0;
	let y = 24 * z, last = null;
	for (const item of rows) {
		const lines = wrap(item.note, letters);
		const wait = last === null ? 0 : item.t - last;
		const gap = view.space === "even" && wait > 1e6 && wait > all / 25;
		if (gap)
			y += 26 * z;
		place.wait.push(gap ? wait : 0);
		place.y.push(y);
		place.notes.push(lines);
		y += place.row + Math.max(0, lines.length - 1) * 15 * z;
		last = item.t;
	}
	if (view.space === "time")
		y = layOutByTime();
	place.height = y + 30 * z;
}

function layOutByTime() {
	if (!rows.length)
		return 24;
	/* What was before the first packet is told, and takes no room for its time. */
	const first = rows.find(item => item.a) || rows[0];
	const t0 = first.t, t1 = Math.max(t0, rows[rows.length - 1].t);
	const k = Math.min(8e6, 1200 * view.zoom) / Math.max(1, t1 - t0);
	const early = rows.findIndex(item => item.t >= t0), top = 24 + 30 * Math.max(0, early);
	place.y = rows.map((item, i) => item.t < t0 ? 24 + 30 * i : top + (item.t - t0) * k);
	return top + (t1 - t0) * k;
}

/* The first row at or behind this height. */
function rowAt(y) {
	let low = 0, high = rows.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (place.y[middle] < y)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function heightOf(t) {
	let low = 0, high = rows.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (rows[middle].t < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rows.length ? place.y[low] : place.height - 20;
}

function laneX(qp) {
	const lane = laneOf.get(qp);
	return lane === undefined || lane < 0 ? null : place.first + lane * place.gap;
}

/* ---- drawing ---- */

function drawCross(x, y) {
	const r = 6 * place.z;
	return g("path", {class: "x", d: "M" + (x - r) + " " + (y - r) + " l" + 2 * r + " " + 2 * r +
		" m0 " + -2 * r + " l" + -2 * r + " " + 2 * r});
}

function drawTip(x1, y1, x2, y2) {
	const angle = Math.atan2(y2 - y1, x2 - x1), r = 10 * place.z;
	const at = turn => (x2 - r * Math.cos(angle + turn)) + " " + (y2 - r * Math.sin(angle + turn));
	return g("path", {class: "tip", d: "M" + x2 + " " + y2 + " L" + at(0.4) + " L" + at(-0.4) + " z"});
}

function fit(text, room) {
	const letters = Math.max(4, Math.floor(room / (6.3 * place.z)));
	return text.length <= letters ? text : text.slice(0, letters - 1) + "\u2026";
}

function drawArrow(box, a, y, words) {
	let x1 = laneX(a[FROM]), x2 = laneX(a[TO]);
	const z = place.z, lost = a[FATE] === DROPPED || a[FATE] === MISSING;
	if (x1 === null || x2 === null || a[FROM] === a[TO]) {
		const x = x1 !== null ? x1 : x2 !== null ? x2 : place.first;
		box.append(g("path", {class: "line", d: "M" + x + " " + (y - 4 * z) + " h" + 26 * z +
			" v" + 10 * z + " h" + -20 * z}), drawTip(x + 26 * z, y + 6 * z, x + 3, y + 6 * z));
		if (words)
			box.append(g("text", {class: "label", x: x + 34 * z, y: y + 4 * z,
				style: "text-anchor:start", "font-size": 12 * z}, a[LABEL]));
		return;
	}
	const late = a[ARRIVED] && a[ARRIVED] - a[SENT] > LATE;
	let y1 = y - 1, y2 = late ? Math.max(heightOf(a[ARRIVED]), y + 6 * z) : y + 6 * z;
	const side = x2 > x1 ? 1 : -1;
	x1 += 2 * side;
	x2 -= 3 * side;
	if (lost) {
		x2 = x1 + (x2 - x1) * 0.72;
		y2 = y1 + (y2 - y1) * 0.72;
	}
	box.append(g("path", {class: "line", d: "M" + x1 + " " + y1 + " L" + x2 + " " + y2}));
	box.append(lost || a[FATE] === REFUSED ? drawCross(x2, y2) : drawTip(x1, y1, x2, y2));
	if (words)
		box.append(g("text", {class: "label", x: (x1 + x2) / 2, y: y - 4 * z,
			"font-size": 12 * z}, fit(a[LABEL], Math.abs(x2 - x1))));
}

function drawTold(box, r, y) {
	const x = laneX(r.qp);
	if (x === null)
		return;
	box.append(g("path", {class: "lead", d: "M" + x + " " + y + " H" + (place.notesX - 8)}));
	box.append(g("circle", {class: "tip", cx: x, cy: y, r: 5 * place.z}));
}

function drawRow(i, words) {
	const item = rows[i], y = place.y[i], z = place.z;
	const next = i + 1 < rows.length ? place.y[i + 1] - (place.wait[i + 1] ? 26 * z : 0) : place.height;
	const high = view.space === "time" ? 12 : Math.min(next - y, 400);
	const box = g("g", {class: "row " + (item.a ? "packet " : "record ") + item.look +
		(item.a && item.a[TRIES] ? " dotted" : "") + (view.p === item.id ? " picked" : ""),
		"data-id": item.id});
	box.append(g("title", {}, (item.a ? item.a[LABEL] + ". " : "") + item.note));
	box.append(g("rect", {class: "hit", x: 0, y: y - 15 * z, width: place.width, height: high}));
	if (words)
		box.append(g("text", {class: "time", x: 72 * z, y: y + 4 * z, "font-size": 11 * z},
			ms(item.t)));
	if (item.a)
		drawArrow(box, item.a, y, words);
	else
		drawTold(box, item.r, y);
	if (words)
		place.notes[i].slice(0, view.space === "time" ? 1 : 9).forEach((line, n) => box.append(g("text", {class: "note",
			x: place.notesX, y: y + (4 + 15 * n) * z, "font-size": 12 * z}, line)));
	return box;
}

function drawLane(svg, qp, y0, y1) {
	const x = laneX(qp);
	let from = y0, bad = false;
	const line = (to, err) => to > from && svg.append(g("path", {
		class: "lane" + (err ? " err" : ""), d: "M" + x + " " + from + " V" + to}));
	for (const change of errorTimes.get(qp) || []) {
		const y = heightOf(change.t);
		if (y > y0 && y < y1) {
			line(y, bad);
			from = y;
		}
		if (y < y1)
			bad = change.bad;
	}
	line(y1, bad);
}

const errorTimes = new Map();
D.records.forEach(r => {
	if (r.kind !== "state" || r.qp === null)
		return;
	if (!errorTimes.has(r.qp))
		errorTimes.set(r.qp, []);
	errorTimes.get(r.qp).push({t: r.ns, bad: /^(ERR|SQE)$/.test(word(r, "to"))});
});

let drawn = null, spread = null;

function drawPart(force) {
	const box = $("view"), all = rows.length <= ALL_AT_ONCE || printing;
	const seen = box.clientHeight || 800;
	let y0 = all ? 0 : Math.max(0, box.scrollTop - seen);
	let y1 = all ? place.height : Math.min(place.height, box.scrollTop + 2 * seen);
	if (!force && drawn && (all || (drawn[0] <= Math.max(0, box.scrollTop - seen / 3) &&
		drawn[1] >= Math.min(place.height, box.scrollTop + seen * 4 / 3))))
		return;
	drawn = [y0, y1];
	const svg = g("svg", {width: place.width, height: Math.max(1, y1 - y0), role: "img",
		viewBox: "0 " + y0 + " " + place.width + " " + Math.max(1, y1 - y0)});
	svg.style.top = y0 + "px";
	lanes.forEach(qp => drawLane(svg, qp, y0, y1));
	let wordsAt = -100, n = 0;
	const last = Math.min(rows.length, printing ? ALL_AT_ONCE : rows.length);
	for (let i = rowAt(y0 - 40); i < last && place.y[i] <= y1; i++) {
		if (place.wait[i])
			svg.append(g("text", {class: "gap", x: place.first, y: place.y[i] - 26 * place.z,
				"font-size": 12 * place.z}, "\u22ee " + took(place.wait[i]) + " pass"));
		/* By time, words and rows would lie on each other. */
		const words = view.space === "even" || place.y[i] - wordsAt >= 16;
		if (words)
			wordsAt = place.y[i];
		if (!words && ++n > 4000)
			continue;
		svg.append(drawRow(i, words));
	}
	spread.replaceChildren(svg);
}

function drawHeads() {
	const z = place.z, wide = Math.min(place.gap - 14 * z, 210 * z);
	const box = h("div", {class: "heads"});
	box.style.width = place.width + "px";
	box.style.height = 58 * Math.max(z, 0.9) + "px";
	lanes.forEach(qp => {
		const head = h("div", {}, h("b", {}, hostName(D.qps[qp].host)), "QP " + qpNumber(qp) +
			(D.qps[qp].program ? " " + D.qps[qp].program : ""));
		head.style.left = laneX(qp) - wide / 2 + "px";
		head.style.width = wide + "px";
		head.style.fontSize = 13 * Math.max(z, 0.8) + "px";
		box.append(head);
	});
	const time = h("span", {class: "told"}, "ms");
	time.style.cssText = "position:absolute;bottom:4px;left:" + 46 * z + "px";
	box.append(time);
	return box;
}

function tellCount() {
	const packets = rows.filter(item => item.a).length;
	$("view").dataset.packets = packets;
	$("view").dataset.records = rows.length - packets;
	let text = "Shown: " + packets.toLocaleString("en") + " of " +
		some(D.arrows_in_all, "packet") + ", " + some(rows.length - packets, "note") +
		" of the devices.";
	if (D.arrows_in_all > D.arrows.length)
		text += " Only the first " + some(D.arrows.length, "packet") + " are in this page.";
	if (hiddenLanes)
		text += " " + some(hiddenLanes, "QP") + " more have no column: choose one above.";
	if (!rows.length)
		text += " Nothing fits what is chosen above.";
	$("count").textContent = text;
}

function draw() {
	rows = items.filter(wanted);
	findLanes();
	layOut();
	spread = h("div", {class: "spread"});
	spread.style.width = place.width + "px";
	spread.style.height = place.height + "px";
	$("view").replaceChildren(drawHeads(), spread);
	drawPart(true);
	tellCount();
	$("z-one").textContent = Math.round(view.zoom * 100) + " %";
}

let printing = false;

/* ---- one packet ---- */

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

function bytesOf(text) {
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

function syndromeWords(s) {
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

function decodeBth(r) {
	const code = r.number(1), flags = r.number(1), pkey = r.number(2), ecn = r.number(1);
	const qp = r.number(3), ack = r.number(1), psn = r.number(3);
	const op = D.opcodes[code] || ["?", 0, 0, 0];
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
	["XRCETH", r => [["reserved", r.number(1), ""], ["SRQ", hex(r.number(3)), "shared receive queue"]]],
	["DETH", r => [["Q_Key", hex(r.number(4)), "must be that of the receiver"],
		["reserved", r.number(1), ""], ["source QP", hex(r.number(3)), ""]]],
	["FETH", r => {
		const v = r.number(4);
		return [["placement", v & 15, "1 visible, 2 persistent"],
			["selectivity", v >> 4 & 3, "0 range, 1 whole region"]];
	}],
	["RETH", r => [["address", r.long(), "in the peer's memory"],
		["R_Key", hex(r.number(4)), "opens the peer's memory"],
		["length", r.number(4), "bytes of the whole message"]]],
	["AtomicETH", r => [["address", r.long(), "in the peer's memory"],
		["R_Key", hex(r.number(4)), "opens the peer's memory"],
		["swap or add", r.long(), ""], ["compare", r.long(), ""]]],
	["AETH", r => {
		const s = r.number(1);
		return [["syndrome", hex(s), syndromeWords(s)],
			["MSN", r.number(3), "requests that the receiver has finished"]];
	}],
	["AtomicAckETH", r => [["original value", r.long(), "before the atomic"]]],
	["immediate data", r => [["value", hex(r.number(4)), "for the peer's completion"]]],
	["IETH", r => [["R_Key", hex(r.number(4)), "to be invalidated"]]],
];

function decode(a) {
	const r = reader(bytesOf(a[HEADERS]));
	const parts = decodeIp(r);
	const [op, bth] = decodeBth(r);
	parts.push(["BTH (base transport header)", bth]);
	EXTENSIONS.forEach(([name, read], i) => {
		if (op[1] & 1 << i)
			parts.push([name, read(r)]);
	});
	return parts;
}

const COMMENT_WORDS = {
	wr: "the work request (wr_id)", qp: "the sender's QP", op: "what the request is",
	part: "which packet of the message's", try: "how often it was sent before",
	rule: "number of the rule that touched it", fault: "the rule", made: "a rule made the packet",
	dropped: "it goes no further, for this reason", bytes: "of the frame",
};

function factTable(facts) {
	return h("table", {}, ...facts.map(([name, value, meaning]) => h("tr", {}, h("td", {}, name),
		h("td", {class: String(value).length < 20 ? "mono" : ""}, value instanceof Node ? value : String(value)),
		h("td", {}, meaning || ""))));
}

function comment(title, c) {
	if (!c)
		return [];
	return [h("h3", {}, title), factTable(Object.keys(c).map(name =>
		[name, c[name], COMMENT_WORDS[name]]))];
}

function dump(a) {
	const bytes = bytesOf(a[PAYLOAD]);
	if (!a[LENGTH])
		return [];
	const lines = [];
	for (let i = 0; i < bytes.length; i += 16) {
		const part = Array.from(bytes.slice(i, i + 16));
		lines.push(i.toString(16).padStart(4, "0") + "  " +
			part.map(b => b.toString(16).padStart(2, "0")).join(" ").padEnd(47) + "  " +
			part.map(b => b >= 32 && b < 127 ? String.fromCharCode(b) : ".").join(""));
	}
	return [h("h3", {}, "Payload: " + some(a[LENGTH], "byte") +
		(bytes.length < a[LENGTH] ? ", the first " + bytes.length : "")),
		bytes.length ? h("pre", {}, lines.join("\n")) : h("p", {}, "The capture has none of it.")];
}

function messageFacts(index) {
	const m = D.messages[index];
	if (!m)
		return [];
	const facts = [["request", m.op + " of " + some(m.bytes, "byte"), ""],
		["packets", m.psns === 1 ? "psn " + m.psn : m.psns + ", from psn " + m.psn + " on",
			m.tries ? "sent " + (m.tries + 1) + " times" : "sent once"]];
	if (m.wr)
		facts.push(["wr_id", m.wr, ""]);
	if (m.rkey)
		facts.push(["memory", m.va, "key " + m.rkey]);
	facts.push(["answered", m.answered === null ? "never" : ms(m.answered) + " ms", m.answered === null ? "" :
		took(m.answered - m.began) + " after it began"]);
	const c = m.completion === null ? null : D.records[m.completion];
	if (c)
		facts.push(["completed", pickLink("r" + m.completion, ms(c.ns) + " ms"),
			word(c, "status") || ""]);
	return [h("h3", {}, "It belongs to"), factTable(facts)];
}

function tellArrow(a) {
	const out = [h("h3", {class: arrowLook(a)}, a[LABEL])];
	if (a[NOTE])
		out.push(h("p", {class: arrowLook(a)}, h("b", {}, a[NOTE])));
	const way = [["from", qpName(a[FROM]), ""], ["to", qpName(a[TO]), ""],
		["sent", ms(a[SENT]) + " ms", ""]];
	if (a[FATE] === DROPPED || a[FATE] === MISSING)
		way.push(["arrived", "never", ""]);
	else if (a[ARRIVED])
		way.push(["arrived", ms(a[ARRIVED]) + " ms", "after " + took(a[ARRIVED] - a[SENT])]);
	out.push(factTable(way));
	if (a[MESSAGE] !== null)
		out.push(...messageFacts(a[MESSAGE]));
	for (const [name, fields] of decode(a))
		out.push(h("h3", {}, name), factTable(fields));
	out.push(...dump(a), ...comment("The sender's device says of it", a[OUT]),
		...comment("The receiver's device says of it", a[IN]));
	return out;
}

function tellRecord(r) {
	const st = r.kind === "completion" ? D.statuses[word(r, "status")] : null;
	const out = [h("h3", {}, r.note || r.kind), h("p", {}, "At " + ms(r.ns) + " ms" +
		(r.qp !== null ? ", " + qpName(r.qp) : r.host !== null ? ", " + hostName(r.host) : ""))];
	if (st)
		out.push(h("p", {}, st.meaning), st.clause ? h("p", {class: "told"}, "Specification: InfiniBand "
			+ "Architecture, volume 1, " + st.clause) : null, st.check ? h("p", {}, "Look at: " + st.check) : null);
	out.push(factTable(r.words.filter(w => w[1] !== null).map(w => [w[0], w[1], ""])));
	const m = r.message === null ? null : D.messages[r.message];
	if (m && itemById.has("a" + m.arrow))
		out.push(h("p", {}, pickLink("a" + m.arrow, "Its first packet")));
	return out.filter(x => x !== null);
}

function tellPicked() {
	const item = itemById.get(view.p);
	const out = item ? item.a ? tellArrow(item.a) : tellRecord(item.r) :
		[h("h3", {}, "Nothing is chosen"), h("p", {class: "told"},
			"Choose an arrow or a dot. The button \u201cNext trouble\u201d goes to what did not "
			+ "go well: what was lost, refused, sent again, or touched by a fault rule.")];
	$("detail").replaceChildren(...out);
	$("detail").scrollTop = 0;
}

function pickLink(id, text) {
	return h("a", {href: "#p=" + id, on: {click(e) {
		e.preventDefault();
		pick(id, true);
		$("ladder").scrollIntoView();
	}}}, text);
}

function showPicked() {
	const i = rows.findIndex(item => item.id === view.p), box = $("view");
	if (i < 0)
		return;
	const y = place.y[i], head = 60 * Math.max(place.z, 0.9);
	if (y < box.scrollTop + 30 || y > box.scrollTop + box.clientHeight - head - 40)
		box.scrollTop = Math.max(0, y - box.clientHeight / 2 + head);
}

function pick(id, show) {
	view.p = id;
	if (id && show && !rows.some(item => item.id === id)) {
		Object.assign(view, {qp: "", dev: "", kind: "all", text: ""});
		putForm();
		draw();
	}
	if (show)
		showPicked();
	drawPart(true);
	tellPicked();
	writeAddress();
}

function step(by, only) {
	let i = rows.findIndex(item => item.id === view.p);
	if (i < 0)
		i = by > 0 ? -1 : rows.length;
	for (i += by; i >= 0 && i < rows.length; i += by) {
		if (!only || rows[i].trouble) {
			pick(rows[i].id, true);
			return true;
		}
	}
	return false;
}

function nextTrouble() {
	if (step(1, true))
		return;
	view.p = "";
	if (!step(1, true))
		$("count").textContent += " There is no trouble among what is shown.";
}

/* ---- the form, keys, wheel ---- */

function putForm() {
	$("f-qp").value = view.qp;
	$("f-dev").value = view.dev;
	$("f-kind").value = view.kind;
	$("f-text").value = view.text;
	$("f-space").value = view.space;
}

function options(id, list) {
	$(id).replaceChildren(...list.map(([value, text]) => h("option", {value: value}, text)));
}

function setUpForm() {
	const numbers = new Map();
	D.qps.forEach((q, i) => {
		const n = qpNumber(i);
		if (n !== "?")
			numbers.set(n, numbers.has(n) ? numbers.get(n) + ", " + hostName(q.host) : n + " " + hostName(q.host));
	});
	options("f-qp", [["", "all"], ...numbers]);
	options("f-dev", [["", "all"], ...new Map(D.hosts.map(host => [host.name, host.name]))]);
	options("f-kind", Object.keys(KINDS).map(kind => [kind, KINDS[kind][0]]));
	const set = (id, name, event) => $(id).addEventListener(event, () => {
		view[name] = $(id).value;
		if (name === "space")
			view.zoom = 1;
		draw();
		showPicked();
		writeAddress();
	});
	set("f-qp", "qp", "change");
	set("f-dev", "dev", "change");
	set("f-kind", "kind", "change");
	set("f-text", "text", "input");
	set("f-space", "space", "change");
	document.querySelector(".tools").addEventListener("submit", e => e.preventDefault());
	$("z-in").addEventListener("click", () => zoom(1.25));
	$("z-out").addEventListener("click", () => zoom(0.8));
	$("z-one").addEventListener("click", () => zoom(1 / view.zoom));
	$("f-next").addEventListener("click", nextTrouble);
	$("f-reset").addEventListener("click", () => {
		Object.assign(view, {qp: "", dev: "", kind: "all", text: "", zoom: 1});
		putForm();
		draw();
		writeAddress();
	});
}

/* What was in the middle stays there. */
function zoom(by) {
	const box = $("view"), before = place.height;
	const middle = (box.scrollTop + box.clientHeight / 2) / before;
	if (view.space === "time" && by !== 1)
		by = by > 1 ? by * 1.3 : by / 1.3;
	view.zoom = Math.min(view.space === "time" ? 400 : 4, Math.max(0.4, view.zoom * by));
	draw();
	box.scrollTop = middle * place.height - box.clientHeight / 2;
	drawPart(true);
	writeAddress();
}

const KEYS = {
	ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1),
	n: nextTrouble, "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8),
	"0": () => zoom(1 / view.zoom), Escape: () => pick("", false), "/": () => $("f-text").focus(),
};

function setUpKeys() {
	$("view").addEventListener("click", e => {
		const row = e.target.closest && e.target.closest(".row");
		if (row)
			pick(row.dataset.id, false);
	});
	$("view").addEventListener("scroll", () => drawPart(false), {passive: true});
	$("view").addEventListener("wheel", e => {
		if (!e.ctrlKey)
			return;
		e.preventDefault();
		zoom(e.deltaY < 0 ? 1.15 : 1 / 1.15);
	}, {passive: false});
	document.addEventListener("keydown", e => {
		const typing = /^(INPUT|SELECT)$/.test(e.target.tagName);
		const arrow = /^Arrow/.test(e.key) && document.activeElement !== $("view");
		if (e.ctrlKey || e.altKey || e.metaKey || !KEYS[e.key] || arrow)
			return;
		if (typing && e.key !== "Escape")
			return;
		e.preventDefault();
		KEYS[e.key]();
	});
	addEventListener("beforeprint", () => {
		printing = true;
		drawPart(true);
	});
	addEventListener("afterprint", () => {
		printing = false;
		drawPart(true);
	});
	addEventListener("resize", () => drawPart(true));
	addEventListener("hashchange", () => {
		readAddress();
		putForm();
		draw();
		showPicked();
		tellPicked();
	});
}

function putLegend() {
	const sample = (look, text, dotted, cross) => {
		const svg = g("svg", {width: 54, height: 16, class: look, "aria-hidden": "true"});
		const box = g("g", {class: dotted ? "dotted" : ""},
			g("path", {class: "line", d: "M2 8 H" + (cross ? 36 : 50)}));
		box.append(cross ? g("path", {class: "x", d: "M32 3 l10 10 m0 -10 l-10 10"}) :
			g("path", {class: "tip", d: "M52 8 l-9 -4 v8 z"}));
		svg.append(box);
		return h("span", {class: look}, svg, text);
	};
	const dot = (look, text) => h("span", {class: look}, g("svg", {width: 14, height: 14},
		g("circle", {class: "tip", cx: 7, cy: 7, r: 5})), text);
	$("legend").append(sample("request", "request"), sample("answer", "answer"),
		sample("again", "sent again", true), sample("lost", "lost or dropped", false, true),
		sample("ruled", "changed or made by a fault rule"), dot("told", "record of the device"),
		dot("wrong", "something is wrong"));
}

/* ---- other sections ---- */

function section(id, title, hint, ...content) {
	const box = h("section", {id: id}, h("h2", {}, title), hint ? h("p", {class: "hint"}, hint) : null,
		...content);
	$("app").append(box);
}

const recordsOf = kind => D.records.map((r, i) => [r, i]).filter(([r]) => r.kind === kind);

function timeAxis(svg, x0, width, y) {
	for (let i = 0; i <= 4; i++) {
		const x = x0 + width * i / 4;
		svg.append(g("text", {x: x, y: y, class: "time", "font-size": 11,
			style: "text-anchor:" + (i === 0 ? "start" : i === 4 ? "end" : "middle")},
			ms(T0 + SPAN * i / 4) + " ms"));
	}
}

function putStates() {
	const by = new Map();
	for (const [r, i] of recordsOf("state")) {
		if (r.qp === null)
			continue;
		if (!by.has(r.qp))
			by.set(r.qp, []);
		by.get(r.qp).push([r, i]);
	}
	if (!by.size)
		return;
	const qps = [...by.keys()].slice(0, 200), x0 = 190, width = 1000;
	const svg = g("svg", {width: x0 + width + 10, height: qps.length * 30 + 24, role: "img",
		"aria-label": "States of QPs over time"});
	qps.forEach((qp, n) => {
		const changes = by.get(qp), y = n * 30;
		svg.append(g("text", {x: 0, y: y + 18, "font-size": 13}, qpName(qp)));
		let t = T0, state = word(changes[0][0], "from") || "RESET", id = null;
		const bar = until => {
			const x = x0 + width * (t - T0) / SPAN, w = Math.max(2, width * (until - t) / SPAN);
			const box = g("g", {class: "row"}, g("title", {}, state + " from " + ms(t) + " to " +
				ms(until) + " ms"), g("rect", {class: "bar s-" + state, x: x, y: y + 3, width: w,
				height: 20}));
			if (w > 8 * state.length + 4)
				box.append(g("text", {class: "bartext", x: x + 4, y: y + 17}, state));
			if (id)
				box.addEventListener("click", pickLater(id));
			svg.append(box);
		};
		for (const [r, i] of changes) {
			bar(r.ns);
			t = r.ns;
			state = word(r, "to") || "?";
			id = "r" + i;
		}
		bar(T0 + SPAN);
	});
	timeAxis(svg, x0, width, qps.length * 30 + 14);
	const legend = h("p", {}, ...["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"].map(name =>
		h("span", {style: "margin-right:1rem;white-space:nowrap"}, g("svg", {width: 14, height: 12},
			g("rect", {class: "s-" + name, width: 12, height: 12})), " " + name)));
	section("states", "States of the queue pairs",
		"RTS can send and receive, RTR only receives; in ERR everything is flushed, in SQE what "
		+ "waits to be sent.", h("div", {class: "states"}, svg), legend);
}

function pickLater(id) {
	return () => {
		pick(id, true);
		$("ladder").scrollIntoView();
	};
}

function putCompletions() {
	const list = recordsOf("completion");
	if (!list.length)
		return;
	const good = ([r]) => word(r, "status") === "SUCCESS";
	const sorted = [...list.filter(x => !good(x)), ...list.filter(good)];
	section("completions", "Completions", "What the program gets from ibv_poll_cq(3): errors first, "
		+ "then in the order of time.", table([{name: "ms", num: true}, "QP", "request", "status",
		"in words", "specification"],
		sorted.map(([r, i]) => {
			const status = word(r, "status") || "?", st = D.statuses[status] || {};
			const bad = status !== "SUCCESS";
			return {cells: [pickLink("r" + i, ms(r.ns)), qpName(r.qp), (word(r, "opcode") || "") +
				" wr " + (word(r, "wr") || "?"), h("b", {class: bad ? "wrong whole" : "whole"}, status),
				bad ? (st.meaning || "") : some(Number(word(r, "length")) || 0, "byte"),
				bad ? (st.clause || "") : ""]};
		}), "completions"));
}

function putFaults() {
	const rules = new Map();
	const get = n => rules.get(n) || rules.set(n, {text: "", hits: [], fired: 0}).get(n);
	for (const [r] of recordsOf("rule")) {
		const rule = get(Number(word(r, "number")));
		rule.text = word(r, "text") || rule.text;
	}
	D.arrows.forEach((a, i) => {
		if (!a[RULE])
			return;
		const rule = get(a[RULE]), c = (a[OUT] && a[OUT].fault) || (a[IN] && a[IN].fault);
		rule.text = rule.text || c || "";
		rule.hits.push([a[SENT], "a" + i, a[LABEL], a[NOTE]]);
	});
	for (const [r, i] of recordsOf("hit")) {
		const rule = get(Number(word(r, "rule")));
		rule.fired = Math.max(rule.fired, Number(word(r, "hits")) || 0);
		if (word(r, "layer") !== "packet")
			rule.hits.push([r.ns, "r" + i, word(r, "what") || word(r, "layer"), r.note || ""]);
	}
	if (!rules.size)
		return;
	const parts = [];
	for (const [number, rule] of rules) {
		rule.hits.sort((x, y) => x[0] - y[0]);
		parts.push(h("h3", {}, "Rule " + number + ": ", h("code", {}, rule.text || "its text is not known"),
			": " + (rule.fired ? "fired " + some(rule.fired, "time") : rule.hits.length ? "" :
				"never fired") + (rule.hits.length ? (rule.fired ? ", " : "") +
				"touched what is below" : "")));
		if (rule.hits.length)
			parts.push(table([{name: "ms", num: true}, "what it touched", "what became of it"],
				rule.hits.map(hit => ({cells: [pickLink(hit[1], ms(hit[0])), hit[2], hit[3]]})),
				"hits"));
	}
	section("faults", "What the fault rules did", "Rules make devices fail on purpose, see "
		+ "uhca-fault(7). Choose a time to see the packet.", ...parts);
}

function chart(name, points) {
	const w = 250, hi = 70;
	const top = Math.max(...points.map(p => p[1]));
	const at = p => (w * Math.max(0, p[0] - T0) / SPAN).toFixed(1) + " " + (hi - (hi - 6) * p[1] / Math.max(1, top)).toFixed(1);
	const path = ["M" + at([T0, 0])];
	points.forEach(p => path.push("L" + at(p)));
	path.push("L" + at([T0 + SPAN, points[points.length - 1][1]]));
	return h("div", {class: "chart"}, h("b", {}, name), " " + points[points.length - 1][1].toLocaleString("en"),
		g("svg", {width: w, height: hi + 4, class: "request", role: "img", "aria-label": name}, g("path",
			{class: "line", d: path.join(" ")}), ...points.map(p => {
			const [x, y] = at(p).split(" ");
			return g("circle", {class: "tip", cx: x, cy: y, r: 2}, g("title", {},
				ms(p[0]) + " ms: " + p[1]));
		})));
}

function putCounters() {
	const by = new Map();
	for (const [r] of recordsOf("counters")) {
		for (const [name, value] of r.words) {
			if (value === null || !/^[0-9]+$/.test(value))
				continue;
			const key = hostName(r.host) + " " + name;
			if (!by.has(key))
				by.set(key, []);
			by.get(key).push([r.ns, Number(value)]);
		}
	}
	if (!by.size)
		return;
	section("counters", "Counters over time", "What the devices count since the daemon's start; only "
		+ "those that moved. Left is " + ms(T0) + " ms, right " + ms(T0 + SPAN) + " ms.",
		h("div", {class: "charts"}, ...[...by].slice(0, 120).map(([name, points]) => chart(name, points))));
}

function accessesOf(key, host) {
	return D.messages.filter(m => m.rkey === key && (host === null || D.qps[m.to].host === host));
}

const CELLS = 512;

/* Which pages an access touches; large regions share cells. */
function pageGrid(start, length, page, hits) {
	const pages = Math.max(1, Math.ceil(length / page)), per = Math.ceil(pages / CELLS);
	const count = new Array(Math.ceil(pages / per)).fill(0);
	for (const m of hits) {
		const at = Number(BigInt(m.va) - start);
		const first = Math.floor(at / page / per);
		const last = Math.floor((at + Math.max(1, m.bytes) - 1) / page / per);
		for (let i = Math.max(0, first); i <= last && i < count.length; i++)
			count[i]++;
	}
	const cells = count.map((n, i) => h("i", {class: n ? "used" : "", title: "bytes " + i * per * page +
		" to " + Math.min(length, (i + 1) * per * page) + ": " + some(n, "access").replace("accesss", "accesses")}));
	return [h("p", {class: "told"}, some(pages, "page") + " of " + some(page, "byte") +
		(per > 1 ? ", " + per + " in a square" : "") + "; dark: packets reach it"),
		h("div", {class: "pages"}, ...cells)];
}

function putRegion(r) {
	const key = word(r, "key") || "?", address = word(r, "address") || "0x0";
	const length = Number(word(r, "length")) || 0, page = Number(word(r, "pages")) || 0;
	const hits = accessesOf(key, r.host);
	const start = /^0x[0-9a-f]+$/.test(address) ? BigInt(address) : 0n;
	const box = h("div", {class: "region"}, h("b", {}, "key " + key), " of " + hostName(r.host) + ": " +
		some(length, "byte") + " from " + address + " on, told at " + ms(r.ns) + " ms. " +
		(hits.length ? hits.length + " requests of peers name it." :
			"No request of a peer names it: it is used locally, or not at all."));
	if (page && length)
		box.append(...pageGrid(start, length, page, hits));
	else
		box.append(h("p", {class: "told"}, "It has no pages of its own: device memory, or a key that is "
			+ "described by others."));
	const outside = hits.filter(m => BigInt(m.va) < start ||
		BigInt(m.va) + BigInt(m.bytes) > start + BigInt(length));
	if (outside.length)
		box.append(h("p", {class: "wrong"}, outside.length + " of them reach outside of it."));
	if (hits.length)
		box.append(table([{name: "ms", num: true}, "request", "from", {name: "offset", num: true},
			{name: "bytes", num: true}], hits.slice(0, 50).map(m => ({cells: [
			pickLink("a" + m.arrow, ms(m.began)), m.op, qpName(m.from),
			String(BigInt(m.va) - start), m.bytes]})), "requests"));
	return box;
}

function putMemory() {
	const last = new Map();
	for (const [r] of recordsOf("region"))
		last.set(r.host + " " + word(r, "key") + " " + word(r, "address"), r);
	const known = new Set([...last.values()].map(r => word(r, "key")));
	const unknown = new Map();
	for (const m of D.messages)
		if (m.rkey && !known.has(m.rkey))
			unknown.set(m.rkey, (unknown.get(m.rkey) || 0) + 1);
	if (!last.size && !unknown.size)
		return;
	const box = [...last.values()].slice(0, 60).map(putRegion);
	if (unknown.size)
		box.push(h("p", {}, "Keys that requests name and no record tells of: " +
			[...unknown].slice(0, 20).map(([key, n]) => key + " (" + n + ")").join(", ") + "."));
	section("memory", "Memory that keys open", "What each key opens, and where requests of the peers "
		+ "reach into it.", ...box);
}

function putJumps() {
	const box = document.querySelector("nav.jump");
	for (const s of document.querySelectorAll("section[id]"))
		box.append(h("a", {href: "#", on: {click(e) {
			e.preventDefault();
			s.scrollIntoView();
		}}}, s.querySelector("h2").textContent));
}

/* ---- begin ---- */

readAddress();
/* One who comes without a wish wants to see what went wrong. */
if (!location.hash)
	view.p = (items.find(item => /^(lost|refused|wrong|ruled)$/.test(item.look)) || {id: ""}).id;
$("app").hidden = false;
setUpForm();
putForm();
putLegend();
draw();
tellPicked();
showPicked();
drawPart(true);
setUpKeys();
putCompletions();
putFaults();
putStates();
putCounters();
putMemory();
putJumps();
document.documentElement.dataset.ready = "yes";

})();
