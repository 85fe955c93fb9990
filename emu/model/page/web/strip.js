/* SPDX-License-Identifier: BSD-2-Clause */
/* All of the time as a strip: packets per pixel, trouble above them. A part of it can be chosen. */
import {T} from "./texts.js";
import {h, later, prepare} from "./dom.js";

/* Packets and trouble in each of so many parts of the time. */
export function bins(trace, n) {
	const all = new Uint32Array(n), bad = new Uint32Array(n);
	const span = Math.max(1, trace.length - trace.first);
	for (const item of trace.order) {
		const k = Math.min(n - 1, Math.floor((trace.time(item) - trace.first) / span * n));
		all[k]++;
		if (trace.isTrouble(item))
			bad[k]++;
	}
	return {all, bad};
}

export class Strip {
	constructor(onRange) {
		this.canvas = h("canvas", {class: "strip", role: "img", "aria-label": T.strip});
		this.draw = later(() => this.drawNow());
		this.canvas.addEventListener("pointerdown", e => {
			this.canvas.setPointerCapture(e.pointerId);
			this.start = this.time(e);
		});
		this.canvas.addEventListener("pointermove", e => this.moved(e));
		this.canvas.addEventListener("pointerup", e => {
			const end = this.time(e), start = this.start;
			this.start = this.range = null;
			const far = Math.abs(end - start) > this.trace.length / 100;
			onRange(far ? Math.min(start, end) : null, far ? Math.max(start, end) : null);
		});
		new ResizeObserver(() => this.draw()).observe(this.canvas);
	}

	time(e) {
		const part = Math.min(1, Math.max(0, e.offsetX / this.canvas.clientWidth));
		return Math.round(this.trace.first + part * (this.trace.length - this.trace.first));
	}

	moved(e) {
		if (typeof this.start !== "number")
			return;
		this.range = [Math.min(this.start, this.time(e)), Math.max(this.start, this.time(e))];
		this.draw();
	}

	show(trace, from, to, picked) {
		Object.assign(this, {trace, from, to, picked});
		this.draw();
	}

	drawNow() {
		if (!this.trace || !this.canvas.clientWidth)
			return;
		const {pen, width, height, colour} = prepare(this.canvas), {all, bad} = bins(this.trace, width);
		const most = Math.max(1, ...all), span = Math.max(1, this.trace.length - this.trace.first);
		const x = t => (t - this.trace.first) / span * width;
		const range = this.range || [this.from, this.to];
		pen.clearRect(0, 0, width, height);
		if (range[0] !== null || range[1] !== null) {
			pen.fillStyle = colour("pick");
			const left = range[0] === null ? 0 : x(range[0]);
			pen.fillRect(left, 0, Math.max(2, (range[1] === null ? width : x(range[1])) - left), height);
		}
		for (let i = 0; i < width; i++) {
			const high = all[i] ? Math.max(2, Math.sqrt(all[i] / most) * (height - 12)) : 0;
			pen.fillStyle = colour("request");
			pen.fillRect(i, height - high, 1, high);
			pen.fillStyle = colour("lost");
			if (bad[i])
				pen.fillRect(i - 1, 0, 3, 9);
		}
		if (this.picked >= 0) {
			pen.fillStyle = colour("ink");
			pen.fillRect(x(this.trace.time(this.picked)) - 1, 0, 2, height);
		}
	}
}
