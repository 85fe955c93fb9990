/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All packets and records at once, as the rows of fixed size that emu/model/page/page_columns.h
 * describes. An item is a packet or a record: items below the number of arrows are packets. Times
 * are nanoseconds since the model began.
 */

export const NONE = 0xffffffff;

/* Fates, and flags of an arrow. */
export const ARRIVED = 0, SEEN = 1, DROPPED = 2, REFUSED = 3, MISSING = 4;
export const ANSWER = 1, COPY = 2, IMPLIED_NAK = 4, MADE = 8, JUDGED = 16;
/* Flags of a record. */
const TROUBLE = 1, SHOWN = 2;

export const STATES = ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"];
/* In the order of enum model_kind. */
export const KINDS = ["state", "completion", "retry", "nak", "event", "call", "leak", "rule", "hit",
	"counters", "region", "note", "unreachable", "stands", "recorder", "request", "other"];

const ARROW_WORDS = 12, RECORD_WORDS = 8;

/* Places in the list that is an arrow's detail (page_data.c). */
export const A = {SENT: 0, ARRIVED: 1, FROM: 2, TO: 3, MESSAGE: 4, TRIES: 5, RULE: 6, FATE: 7,
	FLAGS: 8, LABEL: 9, NOTE: 10, HEADERS: 11, PAYLOAD: 12, LENGTH: 13, OUT: 14, IN: 15};

/* The numbers 0 to n - 1 in the order of their times. */
function inOrder(n, time) {
	const order = new Uint32Array(n);
	let sorted = true;
	for (let i = 0; i < n; i++) {
		order[i] = i;
		sorted = sorted && (i === 0 || time(i - 1) <= time(i));
	}
	return sorted ? order : order.sort((x, y) => time(x) - time(y) || x - y);
}

function merge(x, y, time) {
	const out = new Uint32Array(x.length + y.length);
	let i = 0, k = 0;
	for (let n = 0; n < out.length; n++)
		out[n] = k === y.length || (i < x.length && time(x[i]) <= time(y[k])) ? x[i++] : y[k++];
	return out;
}

export class Trace {
	constructor(head, arrows, records) {
		this.head = head;
		this.nArrows = arrows.byteLength / (4 * ARROW_WORDS);
		this.nRecords = records.byteLength / (4 * RECORD_WORDS);
		this.aTimes = new Float64Array(arrows);
		this.aWords = new Uint32Array(arrows);
		this.rTimes = new Float64Array(records);
		this.rWords = new Uint32Array(records);
		this.order = this.sort();
		this.length = head.length || 0;
		this.first = this.order.length ? Math.max(0, this.time(this.order[0])) : 0;
		this.names = Object.entries(head.opcodes);
	}

	/* Records that no ladder shows stand in no order: nobody walks through them. */
	sort() {
		const n = this.nArrows, arrows = inOrder(n, i => this.time(i));
		const records = inOrder(this.nRecords, i => this.time(n + i))
			.filter(i => this.rWords[i * RECORD_WORDS + 5] >> 8 & SHOWN).map(i => n + i);
		return merge(arrows, records, item => this.time(item));
	}

	isArrow(item) {
		return item < this.nArrows;
	}

	time(item) {
		return item < this.nArrows ? this.aTimes[item * ARROW_WORDS / 2] :
			this.rTimes[(item - this.nArrows) * RECORD_WORDS / 2];
	}

	/* ---- of arrows ---- */

	arrived(a) {
		return this.aTimes[a * ARROW_WORDS / 2 + 1];
	}

	word(a, k) {
		return this.aWords[a * ARROW_WORDS + k];
	}

	from(a) {
		return this.word(a, 4);
	}

	to(a) {
		return this.word(a, 5);
	}

	message(a) {
		return this.word(a, 6);
	}

	psn(a) {
		return this.word(a, 7);
	}

	bytes(a) {
		return this.word(a, 8);
	}

	rule(a) {
		return this.word(a, 9);
	}

	opcode(a) {
		return this.word(a, 10) & 255;
	}

	fate(a) {
		return this.word(a, 10) >> 8 & 255;
	}

	flags(a) {
		return this.word(a, 10) >> 16 & 255;
	}

	tries(a) {
		return this.word(a, 10) >>> 24;
	}

	/* Of an AETH; null: it has none. */
	syndrome(a) {
		const s = this.word(a, 11) & 255;
		return s === 255 ? null : s;
	}

	isNak(a) {
		const s = this.syndrome(a);
		return s !== null && s >> 5 !== 0 && (this.flags(a) & ANSWER) !== 0;
	}

	opcodeName(a) {
		const found = this.head.opcodes[this.opcode(a)];
		return found ? found[0] : "opcode " + this.opcode(a);
	}

	isLost(a) {
		return this.fate(a) === DROPPED || this.fate(a) === MISSING;
	}

	/* ---- of records ---- */

	recordWord(item, k) {
		return this.rWords[(item - this.nArrows) * RECORD_WORDS + k];
	}

	host(item) {
		return this.recordWord(item, 2);
	}

	kind(item) {
		return KINDS[this.recordWord(item, 5) & 255];
	}

	valueA(item) {
		return this.recordWord(item, 5) >> 16 & 255;
	}

	valueB(item) {
		return this.recordWord(item, 5) >>> 24;
	}

	/* Records of a kind, as items in the order of the file; most: at most so many. */
	recordsOf(kind, most = Infinity) {
		const code = KINDS.indexOf(kind), found = [];
		for (let i = 0; i < this.nRecords && found.length < most; i++)
			if ((this.rWords[i * RECORD_WORDS + 5] & 255) === code)
				found.push(this.nArrows + i);
		return found;
	}

	/* ---- of both ---- */

	/* The QP of a record, or the sender of an arrow. */
	qp(item) {
		return this.isArrow(item) ? this.from(item) : this.recordWord(item, 3);
	}

	touches(item, qp) {
		return this.isArrow(item) ? this.from(item) === qp || this.to(item) === qp :
			this.recordWord(item, 3) === qp;
	}

	isTrouble(item) {
		if (!this.isArrow(item))
			return (this.recordWord(item, 5) >> 8 & TROUBLE) !== 0;
		const look = this.look(item);
		return (look !== "request" && look !== "answer") ||
			(this.flags(item) & (IMPLIED_NAK | JUDGED)) !== 0;
	}

	/* The colour and shape of an item; the legend names each. */
	look(item) {
		if (!this.isArrow(item))
			return this.isTrouble(item) ? "wrong" : "told";
		if (this.isLost(item))
			return "lost";
		if (this.fate(item) === REFUSED)
			return "refused";
		if (this.rule(item) || this.flags(item) & (MADE | COPY))
			return "ruled";
		if (this.tries(item))
			return "again";
		if (this.isNak(item))
			return "wrong";
		return this.flags(item) & ANSWER ? "answer" : "request";
	}

	/* Where in a list of items, ordered by time, this time begins. */
	place(items, t) {
		let low = 0, high = items.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.time(items[middle]) < t)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/* ---- names ---- */

	hostName(host) {
		return host === NONE || host === null || !this.head.hosts[host] ? "?" :
			this.head.hosts[host].name;
	}

	qpNumber(qp) {
		const q = this.head.qps[qp];
		return !q || q.number === null ? "?" : "0x" + q.number.toString(16);
	}

	qpName(qp) {
		const q = this.head.qps[qp];
		return q ? this.hostName(q.host) + " QP " + this.qpNumber(qp) : "";
	}

	program(qp) {
		const q = this.head.qps[qp];
		return q && q.program ? q.program : "";
	}
}

/* Hexadecimal rows of a file, as the bytes that a server gives. */
export function bytesOfRows(rows) {
	const length = rows.length ? rows[0].length / 2 : 0;
	const out = new Uint8Array(rows.length * length);
	rows.forEach((row, i) => {
		for (let k = 0; k < length; k++)
			out[i * length + k] = parseInt(row.substr(2 * k, 2), 16);
	});
	return out.buffer;
}
