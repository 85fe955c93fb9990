/* SPDX-License-Identifier: BSD-2-Clause */
/* A lab beside the page: its text, the program, the check and what it says. */
import {T} from "./texts.js";
import {button, h} from "./dom.js";
import {blocks, inline, items, sections} from "./markdown.js";

const KEEP_MS = 700, REASON = "not yet: ";

/* [{words, why}] of a section whose items are "`words`: explanation". */
export function mistakes(lines) {
	return items(lines).map(item => /^`([^`]+)`: (.*)$/.exec(item)).filter(Boolean)
		.map(([, words, why]) => ({words, why}));
}

/* The mistake whose words are in this line; of several the longest, which says most. */
export function mistakeOf(list, line) {
	return list.filter(m => line.includes(m.words))
		.sort((a, b) => b.words.length - a.words.length)[0];
}

/* What a check says, as a page shows it: [{text, reason, line}], line: of the program, or null. */
export function readSaid(said) {
	return said.split("\n").filter(text => text !== "" && !/: not yet \(see all with/.test(text))
		.map(text => {
			const at = /(?:exercise\.c|program):([0-9]+)/.exec(text), reason = text.startsWith(REASON);
			return {text: reason ? text.slice(REASON.length) : text, reason,
				line: at ? Number(at[1]) : null};
		});
}

/* Where a line begins and ends in a text: the first is 1. */
export function lineRange(text, line) {
	let from = 0;
	for (let n = 1; n < line; n++) {
		const end = text.indexOf("\n", from);
		if (end < 0)
			break;
		from = end + 1;
	}
	const end = text.indexOf("\n", from);
	return [from, end < 0 ? text.length : end];
}

export class Lab {
	constructor(source) {
		this.source = source;
		this.state = {number: 0, running: false, status: null};
	}

	async open() {
		const data = await this.source.json("lab");
		this.kept = data.program || "";
		this.handedOut = data.handed_out || "";
		this.parts = sections(data.text || "");
		this.mistakes = mistakes(this.section("Common mistakes"));
		this.build(data.name);
		this.show(data);
		return this.box;
	}

	section(title) {
		const found = this.parts.find(part => part.title === title);
		return found ? found.lines : [];
	}

	/* ---- the text ---- */

	picture(words) {
		const image = h("img", {alt: words});
		this.source.ask("lab/picture.svg").then(reply => reply.blob()).then(blob => {
			image.src = URL.createObjectURL(blob);
		}, () => image.replaceWith(words));
		const figure = h("figure", {tabindex: 0, "aria-label": words}, image,
			button(T.fullSize, () => figure.classList.toggle("full"), {class: "link"}));
		return figure;
	}

	questions() {
		const answers = items(this.section("Answers"));
		return items(this.section("Questions")).map((question, i) => h("details",
			{class: "question"}, h("summary", {}, inline(question)),
			h("p", {}, inline(answers[i] || T.noAnswer))));
	}

	text() {
		const own = ["Questions", "Answers", "Common mistakes", "Steps"];
		const part = ({title, lines}) => [h("h3", {}, title), blocks(lines, (at, words) =>
			this.picture(words))];
		const steps = blocks(this.section("Steps"), (at, words) => this.picture(words)).filter(element => element.tagName === "OL");
		return h("article", {id: "lab-text", "aria-label": T.labText, tabindex: 0},
			h("h2", {}, this.parts[0].title), this.parts.slice(1)
				.filter(p => !own.includes(p.title) && p.title !== "What to change next").map(part),
			steps.length ? [h("h3", {}, "Steps"), steps, h("p", {}, T.labSteps)] : null,
			h("h3", {}, "Questions"), this.questions(),
			this.mistakes.length ? [h("h3", {}, "Common mistakes"), h("dl", {},
				this.mistakes.map(m => [h("dt", {}, m.words), h("dd", {}, inline(m.why))]))] : null,
			this.parts.filter(p => p.title === "What to change next").map(part));
	}

	/* ---- the program ---- */

	program() {
		this.area = h("textarea", {id: "program", spellcheck: "false", wrap: "off",
			autocapitalize: "off", autocomplete: "off", "aria-describedby": "program-keys",
			readonly: this.source.readOnly, on: {input: () => this.typed(),
				keydown: e => this.key(e), keyup: () => this.showLine(),
				click: () => this.showLine()}});
		this.where = h("span", {class: "quiet"});
		this.result = h("div", {id: "result", role: "status", tabindex: 0});
		this.checkButton = button(T.check, () => this.check(), {id: "check",
			disabled: this.source.readOnly});
		return h("section", {id: "lab-program", "aria-label": T.program}, h("div", {class: "tools"},
			h("label", {for: "program"}, h("b", {}, "exercise.c")), this.where, this.checkButton,
			this.source.readOnly ? null : button(T.startOver, () => this.startOver(),
				{id: "start-over"})),
		this.area, h("p", {id: "program-keys", class: "quiet keys"}, T.programKeys), this.result);
	}

	build(name) {
		this.name = name;
		this.box = h("section", {id: "lab", "aria-label": T.lab + " " + name}, this.text(),
			this.program());
		this.area.value = this.kept;
		this.showLine();
	}

	showLine() {
		const n = this.area.value.slice(0, this.area.selectionStart).split("\n").length;
		this.where.textContent = T.line + " " + n;
	}

	goTo(line) {
		const [from, to] = lineRange(this.area.value, line);
		const height = parseFloat(getComputedStyle(this.area).lineHeight) || 18;
		this.area.focus();
		this.area.setSelectionRange(from, to);
		this.area.scrollTop = Math.max(0, (line - 5) * height);
		this.showLine();
	}

	/* A new line begins where the one before began. */
	key(e) {
		if (e.key !== "Enter" || e.isComposing)
			return;
		e.preventDefault();
		if (e.ctrlKey || e.metaKey) {
			this.check();
			return;
		}
		const at = this.area.selectionStart, text = this.area.value;
		const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1, at))[0];
		this.area.setRangeText("\n" + indent, at, this.area.selectionEnd, "end");
		this.typed();
	}

	typed() {
		this.showLine();
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.keep(false).catch(() => null), KEEP_MS);
	}

	startOver() {
		this.area.focus();
		this.area.setRangeText(this.handedOut, 0, this.area.value.length, "start");
		this.area.scrollTop = 0;
		this.typed();
	}

	async keep(check) {
		const program = this.area.value;
		clearTimeout(this.timer);
		if (!check && (program === this.kept || this.state.running))
			return null;
		const state = await this.source.json("lab/program", {method: "POST",
			headers: {"Content-Type": "application/json"}, body: JSON.stringify({program, check})});
		this.kept = program;
		return state;
	}

	async check() {
		if (this.state.running || this.source.readOnly)
			return;
		try {
			this.showResult(await this.keep(true));
		} catch (error) {
			this.result.replaceChildren(h("p", {class: "bad"}, error.message));
		}
	}

	/* ---- the result ---- */

	showResult(state) {
		this.state = state;
		this.box.dataset.checked = state.running ? "" : String(state.number);
		this.box.dataset.status = state.status === null || state.running ? "" : String(state.status);
		this.checkButton.disabled = state.running || this.source.readOnly;
		if (state.running)
			this.result.replaceChildren(h("p", {}, T.checking));
	}

	entry({text, reason, line}) {
		const mistake = reason ? mistakeOf(this.mistakes, text) : null;
		return h("li", {class: reason ? "bad" : ""}, text, line ? [" ", button(T.goToLine + " " + line,
			() => this.goTo(line), {class: "link"})] : null,
		mistake ? h("p", {class: "why"}, inline(mistake.why)) : null);
	}

	/* data: the answer of the request lab. */
	show(data) {
		this.showResult(data.check);
		if (data.check.running || data.check.status === null)
			return;
		if (data.check.status === 0) {
			this.result.replaceChildren(h("p", {class: "done"}, "\u2713 " + T.labDone + " " +
				this.name + ". " + T.labNext));
			return;
		}
		const said = readSaid(data.said || "");
		this.result.replaceChildren(h("p", {}, h("b", {}, T.notYet)),
			h("ul", {class: "outcome"}, said.map(entry => this.entry(entry))));
	}

	async heard(state) {
		if (state.running) {
			this.showResult(state);
			return;
		}
		const data = await this.source.json("lab"), program = data.program || "";
		if (this.area.value === this.kept && program !== this.kept) {
			this.area.value = this.kept = program; /* another editor has changed the file */
			this.showLine();
		}
		this.show(data);
	}
}
