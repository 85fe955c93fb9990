/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a page can do to a running device: rules for packets like one that was chosen, the freezing
 * of time, ports. Each act is sent with the statement of a scenario that does the same.
 */
import {T} from "./texts.js";
import {button, h, table} from "./dom.js";
import {ANSWER} from "./trace.js";
import {some} from "./layout.js";

/* What rules call this packet: its opcode, or which kind of acknowledgement it is. */
export function opcodeWord(trace, a) {
	const s = trace.syndrome(a);
	if (s !== null && trace.opcodeName(a) === "RC_ACKNOWLEDGE")
		return s >> 5 === 0 ? "rc.ack" : s >> 5 === 1 ? "rc.rnr" : "rc.nak";
	return trace.opcodeName(a);
}

function deviceOf(trace, qp) {
	return trace.head.qps[qp] ? trace.hostName(trace.head.qps[qp].host) : "?";
}

/* The rule that does this to the next packet like arrow a. */
export function ruleFor(trace, a, action) {
	const forms = {drop: "drop", dup: "dup", delay: "delay=20ms", bit: "corrupt=bit", rnr: "rnr",
		access: "nak=access"};
	const answers = action === "rnr" || action === "access";
	const device = deviceOf(trace, answers ? trace.to(a) : trace.from(a));
	return forms[action] + " opcode=" + opcodeWord(trace, a) + " dev=" + device + " nth=1";
}

export function actionsFor(trace, a) {
	const request = !(trace.flags(a) & ANSWER) && trace.opcodeName(a).startsWith("RC_");
	return Object.keys(T.actions).filter(name => request || (name !== "rnr" && name !== "access"));
}

/* How many packets of this opcode word a device has sent so far. */
export function countSent(trace, word, device) {
	let n = 0;
	for (let a = 0; a < trace.nArrows; a++)
		n += opcodeWord(trace, a).toLowerCase() === word.toLowerCase() &&
			deviceOf(trace, trace.from(a)) === device;
	return n;
}

/* Those that wait on their way out have passed the rules already, and no one has seen them yet. */
export function countWaiting(devices, word, device) {
	return devices.filter(d => d.device === device).flatMap(d => d.waiting).filter(w =>
		w.direction === "tx" && waitingWord(w.packet).toLowerCase() === word.toLowerCase()).length;
}

/*
 * The same rule for a run from the beginning: "the next one" is the one behind those that there
 * were. Rules in the name of a responder count what came from the other end, and stay.
 */
export function fromBeginning(trace, rule, devices) {
	const [, opcode] = /(?:^|\s)opcode=(\S+)/.exec(rule) || [];
	const [, device] = /(?:^|\s)dev=(\S+)/.exec(rule) || [];
	const [, nth] = /(?:^|\s)nth=([0-9]+)(?=\s|$)/.exec(rule) || [];
	if (!opcode || !device || !nth || /^(rnr|nak|ghost)/.test(rule))
		return rule;
	return rule.replace(/nth=[0-9]+/, "nth=" + (Number(nth) + countSent(trace, opcode, device) +
		countWaiting(devices, opcode, device)));
}

/* A packet that waits, as the step mode prints it: "RC_ACKNOWLEDGE ... NAK ... [code=0]". */
export function waitingWord(packet) {
	const opcode = (/^[A-Z0-9_]+/.exec(packet) || [""])[0];
	if (opcode !== "RC_ACKNOWLEDGE")
		return opcode;
	return /\bRNR/.test(packet) ? "rc.rnr" : /\bNAK/.test(packet) ? "rc.nak" : "rc.ack";
}

export function waitingPsn(packet) {
	const psn = /\bpsn=([0-9]+)/.exec(packet);
	return psn ? Number(psn[1]) : null;
}

/*
 * The rule that does to it, in a run from the beginning, what a hand did: "drop", "set=...". One on
 * its way in is among those that were sent; one on its way out comes behind them.
 */
export function ruleForWaiting(trace, devices, device, waiting, action) {
	const word = waitingWord(waiting.packet), psn = waitingPsn(waiting.packet);
	const same = a => opcodeWord(trace, a).toLowerCase() === word.toLowerCase();
	let sender = device, n = 1;
	if (waiting.direction === "tx") {
		const before = devices.find(d => d.device === device).waiting.filter(w =>
			w.number < waiting.number);
		n += countSent(trace, word, device) + countWaiting([{device, waiting: before}], word, device);
	} else {
		let found = trace.nArrows - 1;
		while (found >= 0 && !(same(found) && trace.psn(found) === psn))
			found--;
		if (found >= 0)
			sender = deviceOf(trace, trace.from(found));
		for (let a = 0; a < found; a++)
			n += same(a) && deviceOf(trace, trace.from(a)) === sender;
	}
	return action + " opcode=" + word + " dev=" + sender + " nth=" + n;
}

/* A table of the state as objects. */
export function rowsOf(table) {
	return table ? table.rows.map(row => Object.fromEntries(table.columns.map((column, i) =>
		[column.name, row[i]]))) : [];
}

/*
 * The queues of a QP as they are now: requests that are posted and not done, receives that no
 * message has taken, completions that the program has not polled. "": the QP is gone.
 */
export function queuesOf(state, device, number) {
	const qp = rowsOf(state.qp).find(row => row.device === device && row.qpn === number);
	if (!qp)
		return "";
	const cqs = rowsOf(state.cq).filter(row => row.device === device && row.client === qp.client &&
		(row.handle === qp.send_cq || row.handle === qp.recv_cq));
	return some(qp.sends, "send") + ", " + some(qp.recvs, "receive") + ", " +
		cqs.reduce((sum, row) => sum + row.outstanding, 0) + " " + T.toPoll;
}

/* A name that no rule has. */
export function freeName(rules, used) {
	let n = 1;
	while (used.has("hand" + n) || rules.some(rule => rule.name === "hand" + n))
		n++;
	used.add("hand" + n);
	return "hand" + n;
}

export class Live {
	constructor(source, onSaid) {
		this.source = source;
		this.onSaid = onSaid;
		this.onAct = () => null;
		this.state = null;
		this.used = new Set();
		this.pace = 0;
	}

	get rules() {
		return this.state && this.state.fault ? this.state.fault.rules : [];
	}

	get devices() {
		return this.state && this.state.step ? this.state.step.devices : [];
	}

	get frozen() {
		return this.devices.some(device => device.frozen);
	}

	async act(request, scenario) {
		try {
			const result = await this.source.act(request, scenario);
			this.onSaid("");
			this.onAct();
			return result;
		} catch (error) {
			this.onSaid((error.column ? "column " + error.column + ": " : "") + error.message);
			return null;
		}
	}

	addRule(trace, rule) {
		const named = /^[A-Za-z0-9_.-]+:/.test(rule);
		const name = named ? rule.split(":")[0] : freeName(this.rules, this.used);
		const text = named ? rule.slice(name.length + 1).trim() : rule;
		return this.act({cmd: "fault", action: "add", text: name + ": " + text},
			"fault " + name + ": " + fromBeginning(trace, text, this.devices));
	}

	removeRule(rule) {
		return this.act({cmd: "fault", action: "remove", rule: rule.rule},
			rule.name && rule.hits === 0 ? "forget " + rule.name : undefined);
	}

	/* ---- what stands in the inspector ---- */

	breakIt(trace, item) {
		if (!this.source.live || item < 0 || !trace.isArrow(item))
			return [];
		if (this.source.readOnly)
			return [h("p", {class: "quiet"}, T.onlyLook)];
		const text = h("input", {id: "rule", size: 44, "aria-label": T.rule, spellcheck: "false"});
		const write = action => () => {
			text.value = ruleFor(trace, item, action);
			text.focus();
		};
		text.value = ruleFor(trace, item, "drop");
		return [h("section", {class: "break"}, h("h3", {}, T.breakIt),
			h("p", {class: "quiet"}, T.breakHint), h("p", {}, actionsFor(trace, item).map(name =>
				[button(T.actions[name], write(name), {"data-action": name}), " "])),
			h("form", {class: "tools", on: {submit: e => {
				e.preventDefault();
				this.addRule(trace, text.value.trim());
			}}}, text, h("button", {id: "add-rule"}, T.add)))];
	}

	queues(trace, qp) {
		const q = trace.head.qps[qp];
		return this.state ? queuesOf(this.state, trace.hostName(q.host), q.number) : "";
	}

	get waiting() {
		return this.devices.reduce((sum, device) => sum + device.total, 0);
	}

	/*
	 * Slow motion: all devices are frozen, and the oldest packet goes so many times a second. 0 ends
	 * it and leaves them frozen; a device that somebody lets go ends it, too.
	 */
	async setPace(pace) {
		const turn = this.turn = {};
		let stood = this.frozen;
		this.pace = pace;
		if (pace && !stood && !await this.act({cmd: "step", action: "freeze"}))
			this.pace = 0;
		while (turn === this.turn && this.pace) {
			await new Promise(done => setTimeout(done, 1000 / pace));
			if (stood && !this.frozen)
				this.pace = 0;
			stood = stood || this.frozen;
			if (turn === this.turn && this.pace && this.waiting)
				await this.source.act({cmd: "step", action: "next"}).catch(() => null);
		}
	}

	paceField() {
		const choice = h("select", {id: "time-pace", on: {change: e => this.setPace(
			Number(e.target.value))}}, [0, 1, 2, 5, 10].map(n => h("option", {value: n},
			n ? n + " " + T.aSecond : T.off)));
		choice.value = String(this.pace);
		return h("label", {}, T.slowMotion + " ", choice);
	}

	/* ---- the view of rules and time ---- */

	rulesPart() {
		const row = rule => [String(rule.rule), rule.name, h("code", {}, rule.text), String(rule.hits),
			String(rule.matched), this.source.readOnly ? "" : button(T.remove,
				() => this.removeRule(rule))];
		return [h("h3", {}, T.rules), this.rules.length ? table(T.rules, ["number", "name", T.rule,
			{name: T.fired, num: true}, {name: T.matched, num: true}, T.actions], this.rules.map(row)) :
			h("p", {class: "quiet"}, T.noRules)];
	}

	/* It stands on top of the page and in the view; the one on top has names for tests. */
	timeBar(top) {
		const act = (text, action, more) => button(text, () => this.act({cmd: "step", action}),
			{id: top ? "time-" + action : null, ...more});
		return h("p", {class: "timebar"}, this.frozen ? act(T.go, "go") : act(T.freeze, "freeze"),
			" ", act(T.step, "next", {disabled: !this.frozen}), " ", top ? this.paceField() : null);
	}

	waitingPart(trace) {
		const field = h("input", {size: 12, value: "bth.psn", "aria-label": T.field});
		const value = h("input", {size: 8, "aria-label": T.value});
		const act = (device, w, action) => () => {
			const request = {cmd: "step", action, device, number: w.number};
			if (action === "release")
				return this.act(request);
			if (action === "change")
				Object.assign(request, {field: field.value, value: Number(value.value)});
			const form = action === "drop" ? "drop" : "set=" + field.value + ":" + Number(value.value);
			return this.act(request, "fault " + freeName(this.rules, this.used) + ": " +
				ruleForWaiting(trace, this.devices, device, w, form));
		};
		const rows = this.devices.flatMap(d => d.waiting.map(w => [d.device, String(w.number),
			w.direction, w.packet, this.source.readOnly ? "" : [
				button(T.release, act(d.device, w, "release")), " ",
				button(T.drop, act(d.device, w, "drop"), {class: "drop"}), " ",
				button(T.set, act(d.device, w, "change"))]]));
		return [h("h3", {}, T.waiting), rows.length ? [h("p", {class: "tools"}, h("label", {},
			T.set + ": " + T.field + " ", field), h("label", {}, T.value + " ", value)),
		table(T.waiting, ["device", "number", "way", "packet", T.actions], rows)] :
			h("p", {class: "quiet"}, T.nothingWaits)];
	}

	devicesPart() {
		const row = device => {
			const port = action => () => this.act({cmd: "port", action, device},
				"uhcactl port " + action + " " + device);
			return [device, this.source.readOnly ? "" : [button(T.portDown, port("down")), " ",
				button(T.portUp, port("up")), " ", button(T.fatal, () => this.act({cmd: "device",
					action: "fatal", device}, "uhcactl device fatal " + device))]];
		};
		return [h("h3", {}, T.devices), table(T.devices, ["device", T.actions],
			this.devices.map(d => row(d.device)))];
	}

	view(trace) {
		return [h("h2", {}, T.views.rules), ...this.rulesPart(), h("h3", {}, T.time),
			h("p", {class: "quiet"}, T.timeHint), this.source.readOnly ? null : this.timeBar(false),
			...this.waitingPart(trace), ...this.devicesPart()];
	}

	summary() {
		return (this.frozen ? T.frozen + ", " + some(this.waiting, "packet") + " waiting" : "");
	}
}
