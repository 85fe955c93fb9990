/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the page has its trace from: the file that it is itself, or the server that gave it. Both
 * have the same functions.
 */
import {Trace, bytesOfRows} from "./trace.js";

const ROWS_AT_ONCE = 20000, DETAILS_AT_ONCE = 256, KEPT_MAX = 4000;

export class FileSource {
	constructor() {
		const read = id => JSON.parse(document.getElementById(id).textContent);
		this.data = read("data");
		this.columns = read("columns");
		this.text = read("explanation");
		this.live = this.lab = false;
		this.readOnly = true;
		this.name = document.title.trim();
	}

	async load() {
		const {arrows, messages, records, ...head} = this.data;
		this.lists = {arrows, messages, records};
		return new Trace(head, bytesOfRows(this.columns.arrows), bytesOfRows(this.columns.records));
	}

	known(of, place) {
		return this.lists[of][place];
	}

	async details(of, places) {
		return places.map(place => this.lists[of][place]);
	}

	async explanation() {
		return this.text;
	}

	follow() {
	}
}

/* Lists such as 3,7,10-19. */
export function ranges(places) {
	const out = [];
	for (let i = 0; i < places.length;) {
		let k = i;
		while (k + 1 < places.length && places[k + 1] === places[k] + 1)
			k++;
		out.push(k > i ? places[i] + "-" + places[k] : String(places[i]));
		i = k + 1;
	}
	return out.join(",");
}

/* Whole events of a stream of text; the rest stays for the next time. */
export function takeEvents(text, notify) {
	const parts = text.split("\n\n");
	for (const part of parts.slice(0, -1)) {
		const name = /^event: (.*)$/m.exec(part), data = /^data: (.*)$/m.exec(part);
		if (name && data)
			notify(name[1], JSON.parse(data[1]));
	}
	return parts[parts.length - 1];
}

export class ServerSource {
	constructor(token) {
		this.token = token;
		this.kept = new Map();
		this.number = 0;
	}

	async ask(path, options = {}) {
		const reply = await fetch("/api/" + path, {...options, cache: "no-store",
			headers: {Authorization: "Bearer " + this.token, ...options.headers}});
		if (!reply.ok) {
			const said = await reply.json().catch(() => ({}));
			const error = new Error(said.error || "HTTP status " + reply.status);
			error.status = reply.status;
			error.column = said.column;
			throw error;
		}
		return reply;
	}

	async json(path, options) {
		return (await this.ask(path, options)).json();
	}

	async rows(of, n) {
		const parts = [];
		for (let from = 0; from < n; from += ROWS_AT_ONCE)
			parts.push(await (await this.ask("columns?of=" + of + "&generation=" +
				this.generation + "&from=" + from)).arrayBuffer());
		const out = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
		let at = 0;
		for (const part of parts) {
			out.set(new Uint8Array(part), at);
			at += part.byteLength;
		}
		return out.buffer;
	}

	/* A device that is at work may have another generation before all of one is fetched. */
	async load() {
		for (let tries = 0; ; tries++) {
			try {
				const head = await this.json("head");
				this.generation = head.generation;
				this.kept.clear();
				Object.assign(this, {live: head.live, readOnly: head.read_only,
					lab: head.lab, name: head.name});
				return new Trace(head, await this.rows("arrows", head.arrows_in_all),
					await this.rows("records", head.records_in_all));
			} catch (error) {
				if (error.status !== 409 || tries === 20)
					throw error;
			}
		}
	}

	known(of, place) {
		return this.kept.get(of + place);
	}

	async details(of, places) {
		const missing = [...new Set(places)].filter(place => !this.kept.has(of + place))
			.sort((x, y) => x - y);
		if (this.kept.size > KEPT_MAX)
			this.kept.clear();
		const generation = this.generation;
		for (let i = 0; i < missing.length; i += DETAILS_AT_ONCE) {
			const part = missing.slice(i, i + DETAILS_AT_ONCE);
			const got = await this.json("details?of=" + of + "&generation=" + generation + "&i=" +
				ranges(part));
			if (generation === this.generation)
				part.forEach((place, k) => this.kept.set(of + place, got[k]));
		}
		return places.map(place => this.kept.get(of + place));
	}

	async explanation() {
		return (await this.ask("explanation")).text();
	}

	async act(request, scenario) {
		const said = await this.json("act", {method: "POST",
			headers: {"Content-Type": "application/json"},
			body: JSON.stringify(scenario ? {request, scenario} : {request})});
		return said.result;
	}

	/* Tells of each event while the page is looked at; of the end of the stream, too. */
	async follow(notify) {
		for (;;) {
			try {
				await this.stream(notify);
			} catch (error) {
				notify("gone", error);
			}
			await new Promise(done => setTimeout(done, 1000));
			while (document.hidden)
				await new Promise(done => document.addEventListener("visibilitychange", done,
					{once: true}));
		}
	}

	async stream(notify) {
		const stop = new AbortController(), decoder = new TextDecoder();
		const hide = () => document.hidden && stop.abort();
		document.addEventListener("visibilitychange", hide);
		try {
			const reply = await this.ask("events?n=" + this.number++, {signal: stop.signal});
			const reader = reply.body.getReader();
			for (let text = ""; ;) {
				const {done, value} = await reader.read();
				if (done)
					throw new Error("the server has ended");
				text = takeEvents(text + decoder.decode(value, {stream: true}), notify);
			}
		} finally {
			document.removeEventListener("visibilitychange", hide);
		}
	}
}
