/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the rows of a ladder lie. A browser has no element of a million rows' height: beyond
 * HEIGHT_MAX the scroll bar moves faster than the rows. No DOM here.
 */

export const HEIGHT_MAX = 8e6;

export class EvenRows {
	constructor(n, row) {
		this.n = n;
		this.row = row;
		this.height = n * row + row;
	}

	top(i) {
		return i * this.row;
	}

	at(y) {
		return Math.min(this.n, Math.max(0, Math.floor(y / this.row)));
	}

	end(i) {
		return this.top(i + 1);
	}
}

/* Times to scale: so many pixels for all of the time from the first to the last. */
export class TimedRows {
	constructor(times, height) {
		this.times = times;
		this.n = times.length;
		this.first = this.n ? times[0] : 0;
		const span = this.n ? times[this.n - 1] - this.first : 0;
		this.scale = span > 0 ? height / span : 0;
		this.height = span * this.scale + 40;
	}

	top(i) {
		return i < this.n ? (this.times[i] - this.first) * this.scale : this.height;
	}

	at(y) {
		let low = 0, high = this.n;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.top(middle) < y)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	end(i) {
		return this.top(i) + 14;
	}
}

/* Between the scroll bar, which may be shorter, and the rows. */
export class Scroll {
	constructor(height, seen) {
		this.height = height;
		this.seen = seen;
		this.bar = Math.min(height, HEIGHT_MAX);
		this.factor = this.bar > seen ? Math.max(1, (height - seen) / (this.bar - seen)) : 1;
	}

	toRows(scrollTop) {
		return scrollTop * this.factor;
	}

	toBar(y) {
		return Math.max(0, Math.min(y, this.height - this.seen)) / this.factor;
	}
}

export function wait(ns) {
	if (ns < 1e3)
		return Math.round(ns) + " ns";
	if (ns < 1e6)
		return (ns / 1e3).toFixed(1) + " us";
	return ns < 1e9 ? (ns / 1e6).toFixed(2) + " ms" : (ns / 1e9).toFixed(2) + " s";
}

/* A time as a cell has it: milliseconds with the microseconds' digits. */
export function ms(ns) {
	return ns === null || ns < 0 ? "?" : (ns / 1e6).toFixed(3);
}

export function some(n, what) {
	return n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");
}
