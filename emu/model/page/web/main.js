/* SPDX-License-Identifier: BSD-2-Clause */
/* The page: one trace, one choice, several views of it. */
import {T} from "./texts.js";
import {$, button, h} from "./dom.js";
import {FileSource, ServerSource} from "./source.js";
import {choose} from "./filter.js";
import {VIEWS, itemOf, nameOf, readAddress, writeAddress} from "./state.js";
import {Ladder, legend} from "./ladder.js";
import {Strip} from "./strip.js";
import {Plot} from "./plot.js";
import {Inspector} from "./inspect.js";
import {conversationList, findConversations} from "./conversations.js";
import {completionsView, countersView, ruleTables, statesView, whyView} from "./tables.js";
import {memoryView} from "./memory.js";
import {Live} from "./live.js";
import {Lab} from "./lab.js";
import {fail, keepButtons, takeToken} from "./keep.js";

const HELD_MS = 3000;
/* Reading and drawing take at most one part in so many of the time, and what waits no longer. */
const SHARE = 20, REST_MS = 3000;

class Page {
	constructor(source) {
		this.source = source;
		this.view = readAddress(location.hash);
		this.live = new Live(source, text => this.say(text));
		this.inspector = new Inspector(source, item => this.pick(item));
		this.strip = new Strip((from, to) => this.change({from, to}));
		this.plot = new Plot(item => this.pick(item));
		this.build();
	}

	/* ---- what is always there ---- */

	build() {
		const panel = h("div", {id: "ladder-box"});
		this.dot = h("span", {id: "state", role: "status"});
		this.said = h("p", {id: "said", role: "alert"});
		this.verdict = h("div", {id: "verdict"});
		this.conversations = h("div", {id: "conversations"});
		this.other = h("div", {id: "other", tabindex: 0, role: "tabpanel"});
		this.ladderPart = h("div", {id: "ladder"}, this.tools(), panel, legend(),
			h("p", {class: "quiet keys"}, T.keys));
		this.bar = h("div", {id: "bar"});
		$("app").replaceChildren(h("header", {}, h("h1", {}, "uhca ", h("span", {class: "file"},
			this.source.name)), this.dot, this.bar, keepButtons(this.source, () => this.view,
			() => this.window(), text => this.say(text))), h("section", {"aria-label": T.overview},
			this.verdict, this.strip.canvas, this.said),
		h("div", {id: "parts"}, this.conversations, h("main", {}, this.tabs(), this.ladderPart,
			this.other), this.inspector.box), this.inspector.said);
		this.ladder = new Ladder(panel, this.source, item => this.picked(item));
		if (this.source.live)
			this.ladder.queues = qp => this.live.queues(this.trace, qp);
		this.ladder.onFollow = follows => this.showFollow(follows);
		addEventListener("pointerdown", () => this.hold(), true);
		addEventListener("hashchange", () => this.change(readAddress(location.hash)));
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
	}

	/* Between press and release nothing is drawn anew: the click would go with what was pressed. */
	hold() {
		this.held = new Promise(done => {
			const end = () => setTimeout(() => {
				this.held = null;
				done();
			});
			addEventListener("pointerup", end, {once: true});
			addEventListener("pointercancel", end, {once: true});
			setTimeout(end, HELD_MS);
		});
	}

	tabs() {
		this.tab = {};
		for (const name of VIEWS)
			this.tab[name] = h("button", {type: "button", role: "tab", id: "tab-" + name, on: {
				click: () => this.change({v: name}),
				keydown: e => this.turnTab(e, name)}}, T.views[name]);
		return h("div", {class: "tabs", role: "tablist", "aria-label": "Views"},
			VIEWS.map(name => this.tab[name]));
	}

	turnTab(e, name) {
		const by = {ArrowRight: 1, ArrowLeft: -1}[e.key];
		if (!by)
			return;
		const next = VIEWS[(VIEWS.indexOf(name) + by + VIEWS.length) % VIEWS.length];
		this.change({v: next});
		this.tab[next].focus();
	}

	tools() {
		const set = (name, read = value => value) => e => this.change({[name]: read(e.target.value)});
		const time = text => text === "" || Number.isNaN(Number(text)) ? null :
			Math.round(Number(text) * 1e6);
		const field = (id, text, element) => {
			element.id = id;
			this.field[id] = element;
			return h("label", {for: id}, text + " ", element);
		};
		this.field = {};
		this.followButton = button(T.follow, () => this.ladder.setFollow(!this.ladder.follows),
			{id: "follow", "aria-pressed": "false"});
		return h("form", {class: "tools", "aria-label": T.show, on: {submit: e => e.preventDefault()}},
			field("kind", T.show, h("select", {on: {change: set("kind")}},
				Object.entries(T.kinds).map(([value, text]) => h("option", {value}, text)))),
			field("find", T.find, h("input", {type: "search", size: 14, placeholder: T.findHint,
				on: {input: set("text")}})),
			field("space", T.spacing, h("select", {on: {change: set("space")}},
				h("option", {value: "even"}, T.even), h("option", {value: "time"}, T.toScale))),
			field("from", T.from, h("input", {size: 7, inputmode: "decimal",
				on: {change: set("from", time)}})),
			field("to", T.to, h("input", {size: 7, inputmode: "decimal", on: {change: set("to", time)}})),
			button(T.reset, () => this.change({c: "", kind: "all", text: "", from: null, to: null}),
				{id: "reset"}),
			button(T.previous, () => this.ladder.trouble(-1), {id: "previous"}),
			button(T.next, () => this.ladder.trouble(1), {id: "next"}),
			this.source.live ? this.followButton : null);
	}

	say(text) {
		this.said.textContent = text;
	}

	showFollow(follows) {
		this.followButton.textContent = follows ? T.following : T.follow;
		this.followButton.setAttribute("aria-pressed", String(follows));
	}

	/* ---- the choice ---- */

	change(by) {
		Object.assign(this.view, by);
		this.show();
		this.writeAddress();
	}

	writeAddress() {
		try {
			history.replaceState(null, "", "#" + writeAddress(this.view));
		} catch (error) {
			/* Some browsers let no file change its address. */
		}
	}

	/* The conversation of the address: its QPs, or null for all. */
	qps() {
		const found = this.view.c && this.list.find(c => c.name === this.view.c);
		return found ? new Set(found.qps) : null;
	}

	/* For a picture of what is shown. */
	window() {
		const say = new URLSearchParams(), qps = this.qps();
		if (qps)
			say.set("qp", this.trace.head.qps[[...qps][0]].number);
		for (const name of ["from", "to"])
			if (this.view[name] !== null)
				say.set(name, this.view[name]);
		return say;
	}

	/* An item that is not among what is shown brings all back. */
	pick(item) {
		this.view.v = "ladder";
		this.view.p = item < 0 ? "" : nameOf(this.trace, item);
		if (item >= 0 && this.ladder.placeOf(item) < 0)
			Object.assign(this.view, {c: "", kind: "all", text: "", from: null, to: null});
		this.show();
		this.ladder.pickItem(item, false);
		this.writeAddress();
		this.ladder.view.focus();
	}

	picked(item) {
		this.view.p = item < 0 ? "" : nameOf(this.trace, item);
		this.writeAddress();
		this.strip.show(this.trace, this.view.from, this.view.to, item);
		this.inspect(item);
	}

	inspect(item) {
		return this.inspector.show(this.trace, item, chosen => this.live.breakIt(this.trace, chosen));
	}

	/* One who comes without a wish wants to see what went wrong. */
	wishTrouble() {
		const trace = this.trace;
		const first = trace.order.find(item => /^(lost|refused|wrong|ruled)$/.test(trace.look(item)));
		this.view.p = first === undefined ? "" : nameOf(trace, first);
	}

	/* ---- showing ---- */

	showVerdict() {
		const head = this.trace.head;
		const lines = head.outcome.map(line => h("li", {class: line.mood}, line.text));
		if (head.error)
			lines.unshift(h("li", {class: "bad"}, T.broken + head.error));
		if (head.truncated)
			lines.unshift(h("li", {class: "bad"}, head.truncated + " frames are truncated: the " +
				"capture has less than their headers."));
		const first = lines.slice(0, 1), rest = lines.slice(1);
		this.verdict.replaceChildren(h("ul", {class: "outcome"}, first), rest.length ?
			h("details", {}, h("summary", {}, rest.length + " more"), h("ul", {class: "outcome"}, rest)) :
			"");
		if (head.forgotten)
			this.verdict.append(h("p", {class: "quiet"}, T.forgotten));
	}

	showState() {
		const s = this.live.state, gone = this.gone ? T.stopped : s && !s.running ? T.ended : "";
		this.dot.textContent = !this.source.live ? T.record : gone || this.live.summary() || T.live;
		this.dot.className = gone ? "bad" : this.live.frozen ? "frozen" : "good";
		const bar = this.source.live && !this.source.readOnly && s ? String(this.live.frozen) : "";
		if (bar !== this.bar.dataset.shown)
			this.bar.replaceChildren(...(bar ? [this.live.timeBar(true)] : []));
		this.bar.dataset.shown = bar;
	}

	show() {
		const view = this.view, trace = this.trace;
		this.list = findConversations(trace);
		const items = choose(trace, {qps: this.qps(), kind: view.kind, text: view.text,
			from: view.from, to: view.to});
		const item = view.p ? itemOf(trace, view.p) : -1;
		Object.assign(this.field.kind, {value: view.kind});
		Object.assign(this.field.space, {value: view.space});
		if (document.activeElement !== this.field.find)
			this.field.find.value = view.text;
		this.field.from.value = view.from === null ? "" : view.from / 1e6;
		this.field.to.value = view.to === null ? "" : view.to / 1e6;
		this.conversations.replaceChildren(conversationList(trace, view.c,
			c => this.change({c: c ? c.name : ""})));
		this.ladder.show(trace, items, view.space);
		this.ladder.place = item < 0 ? -1 : this.ladder.placeOf(item);
		this.strip.show(trace, view.from, view.to, item);
		this.showState();
		this.showView(items);
		if (String(item) !== this.inspector.box.dataset.item)
			this.inspect(item);
	}

	async showView(items) {
		const turn = this.turn = {}, v = this.view.v;
		for (const name of VIEWS) {
			this.tab[name].setAttribute("aria-selected", String(name === v));
			this.tab[name].tabIndex = name === v ? 0 : -1;
		}
		this.ladderPart.hidden = v !== "ladder";
		this.other.hidden = v === "ladder";
		this.other.setAttribute("aria-label", T.views[v]);
		if (v === "ladder")
			return;
		if (v === "plot") {
			this.other.replaceChildren(this.plot.box);
			this.plot.show(this.trace, items);
			return;
		}
		try {
			const parts = await this.parts(v);
			if (turn === this.turn)
				this.other.replaceChildren(...parts.flat(3).filter(Boolean));
		} catch (error) {
			if (error.status !== 409)
				this.say(error.message);
		}
	}

	async parts(v) {
		const pick = item => this.pick(item), args = [this.trace, this.source, pick];
		const views = {why: whyView, completions: completionsView, states: statesView,
			memory: memoryView, counters: countersView};
		if (v !== "rules")
			return views[v](...args);
		const done = await ruleTables(...args);
		if (this.source.live && this.live.state)
			return [...this.live.view(this.trace), ...done];
		return [h("h2", {}, T.views.rules), h("p", {class: "quiet"}, T.capturedOnly), ...done];
	}

	/* ---- news ---- */

	async read() {
		const before = this.trace, end = BigInt(before.head.began) + BigInt(before.head.length || 0);
		const trace = await this.source.load();
		await this.held;
		this.trace = trace;
		this.showVerdict();
		if (this.source.lab) /* another run */
			this.wishTrouble();
		this.show();
		if (this.source.lab && this.view.p)
			this.ladder.pickItem(itemOf(trace, this.view.p));
		if (this.ladder.follows)
			this.stopAtTrouble(Number(end - BigInt(this.trace.head.began)));
	}

	/* Who follows is stopped at what is wrong since this time. */
	stopAtTrouble(since) {
		const items = this.ladder.items, begin = this.trace.place(items, since + 1);
		for (let i = begin; i < items.length; i++) {
			if (!this.trace.isTrouble(items[i]))
				continue;
			this.ladder.setFollow(false);
			this.ladder.pick(i);
			return;
		}
	}

	/* Not while somebody writes into a field of the view, which would go. */
	redrawRules() {
		if (this.view.v === "rules" && !/INPUT/.test(document.activeElement.tagName))
			this.showView();
		this.showState();
	}

	async heard(what, data) {
		await this.held;
		this.gone = what === "gone";
		if (what === "state") {
			this.live.state = data;
			this.ladder.drawHeads();
		}
		if (what === "lab")
			await this.lab.heard(data);
		if (what === "trace" && data.generation !== this.source.generation)
			await this.reread();
		this.redrawRules();
		document.documentElement.dataset.heard = Number(document.documentElement.dataset.heard || 0) + 1;
	}

	/* The lab stands beside all of the page. */
	async openLab() {
		this.lab = new Lab(this.source);
		document.body.insertBefore(await this.lab.open(), $("app"));
		document.body.className = "has-lab";
	}

	/* One at a time; what comes meanwhile is read once more at the end. */
	async reread() {
		if (this.reading) {
			this.again = true;
			return;
		}
		this.reading = true;
		do {
			this.again = false;
			const began = performance.now();
			await this.read().catch(error => this.say(error.message));
			await this.rest((performance.now() - began) * (SHARE - 1));
		} while (this.again);
		this.reading = false;
	}

	/* Who does something sees at once what comes of it. */
	rest(ms) {
		return new Promise(done => {
			this.live.onAct = done;
			setTimeout(done, Math.min(ms, REST_MS));
		});
	}
}

async function begin() {
	const inFile = $("data") !== null, token = inFile ? null : takeToken();
	if (!inFile && !token) {
		fail(T.token);
		return;
	}
	const source = inFile ? new FileSource() : new ServerSource(token);
	const trace = await source.load(), page = new Page(source);
	page.trace = trace;
	page.showVerdict();
	if (source.lab)
		await page.openLab();
	if (!page.view.p && !source.live)
		page.wishTrouble();
	page.show();
	if (page.view.p)
		page.ladder.pickItem(itemOf(trace, page.view.p));
	document.documentElement.dataset.ready = "yes";
	if (source.live || source.lab)
		source.follow((what, data) => page.heard(what, data));
}

/* Tests of the modules bring no page. */
if ($("app"))
	begin().catch(error => fail(error.message));
