/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of Markdown that the labs' texts use, as elements. Links become their words. */
import {h} from "./dom.js";

const FENCE = /^```/, ITEM = /^(- |[0-9]+\. )/, COMMENT = /^<!--.*-->$/;

/* `code`, *emphasis*, [words](address) in a text: texts and elements. */
export function inline(text) {
	const out = [], pattern = /`([^`]+)`|\*([^*]+)\*|\[([^\]]+)\]\([^)]*\)/g;
	let at = 0;
	for (const found of text.matchAll(pattern)) {
		out.push(text.slice(at, found.index));
		out.push(found[1] ? h("code", {}, found[1]) : found[2] ? h("em", {}, found[2]) : found[3]);
		at = found.index + found[0].length;
	}
	out.push(text.slice(at));
	return out.filter(part => part !== "");
}

/* [{title, lines}] of a text: what stands before the first "## " has the title of "# ". */
export function sections(text) {
	const out = [{title: "", lines: []}];
	let inside = false;
	for (const line of text.split("\n")) {
		inside = FENCE.test(line) ? !inside : inside;
		if (!inside && line.startsWith("# "))
			out[0].title = line.slice(2);
		else if (!inside && line.startsWith("## "))
			out.push({title: line.slice(3), lines: []});
		else if (inside || !COMMENT.test(line))
			out[out.length - 1].lines.push(line);
	}
	return out;
}

/* The items of the first list in these lines, each on one line. */
export function items(lines) {
	const out = [];
	for (const line of lines) {
		if (ITEM.test(line))
			out.push(line.replace(ITEM, ""));
		else if (out.length && /^ /.test(line))
			out[out.length - 1] += " " + line.trim();
	}
	return out;
}

function takeWhile(lines, from, holds) {
	let to = from;
	while (to < lines.length && holds(lines[to]))
		to++;
	return lines.slice(from, to);
}

function fenceBlock(lines, from) {
	const inner = takeWhile(lines, from + 1, line => !FENCE.test(line));
	return {n: inner.length + 2, element: h("pre", {tabindex: 0}, inner.join("\n"))};
}

function listBlock(lines, from) {
	const part = takeWhile(lines, from, line => line !== "");
	return {n: part.length, element: h(/^-/.test(lines[from]) ? "ul" : "ol", {},
		items(part).map(item => h("li", {}, inline(item))))};
}

function tableBlock(lines, from) {
	const part = takeWhile(lines, from, line => line.startsWith("|"));
	const cells = line => line.split("|").slice(1, -1).map(cell => inline(cell.trim()));
	return {n: part.length, element: h("table", {}, h("thead", {}, h("tr", {},
		cells(part[0]).map(cell => h("th", {scope: "col"}, cell)))), h("tbody", {},
		part.slice(2).map(row => h("tr", {}, cells(row).map(cell => h("td", {}, cell))))))};
}

function paragraph(lines, from) {
	const part = takeWhile(lines, from, line => line !== "" && !FENCE.test(line));
	return {n: part.length, element: h("p", {}, inline(part.join(" ")))};
}

/* Elements of these lines. picture: makes an element of the address and words of a picture. */
export function blocks(lines, picture) {
	const out = [];
	for (let i = 0; i < lines.length;) {
		const line = lines[i], drawn = /^!\[([^\]]*)/.exec(line);
		if (line === "") {
			i++;
			continue;
		}
		const make = FENCE.test(line) ? fenceBlock : ITEM.test(line) ? listBlock :
			line.startsWith("|") ? tableBlock : paragraph;
		const {n, element} = make(lines, i);
		const words = drawn && /^!\[([^\]]*)\]\(([^)]*)\)/.exec(lines.slice(i, i + n).join(" "));
		out.push(words ? picture(words[2], words[1]) : element);
		i += n;
	}
	return out;
}
