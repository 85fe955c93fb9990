/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes elements. All text goes into the page as text, never as markup. */

const SVG = "http:" + "//www.w3.org/2000/svg";

function fill(element, attributes, children) {
	for (const name in attributes || {}) {
		const value = attributes[name];
		if (name === "on")
			for (const what in value)
				element.addEventListener(what, value[what]);
		else if (value !== undefined && value !== null && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined && child !== false)
			element.append(child);
	return element;
}

export function h(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

export function g(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function $(id) {
	return document.getElementById(id);
}

export function button(text, act, attributes) {
	return h("button", {type: "button", ...attributes, on: {click: act}}, text);
}

/* heads: texts, or {name, num}; a row is a list of cells. */
export function table(caption, heads, rows) {
	const kind = i => heads[i] && heads[i].num ? "num" : null;
	return h("div", {class: "scroll", tabindex: 0, role: "group", "aria-label": caption},
		h("table", {},
			h("caption", {class: "quiet"}, caption),
			h("thead", {}, h("tr", {}, heads.map((head, i) =>
				h("th", {scope: "col", class: kind(i)}, head.name || head)))),
			h("tbody", {}, rows.map(row => h("tr", {}, row.map((cell, i) =>
				h("td", {class: kind(i)}, cell)))))));
}

/* What a picture in a canvas needs: its size in pixels of the screen, and the page's colours. */
export function prepare(canvas) {
	const ratio = devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
	const width = canvas.clientWidth, height = canvas.clientHeight;
	canvas.width = Math.max(1, Math.round(width * ratio));
	canvas.height = Math.max(1, Math.round(height * ratio));
	const pen = canvas.getContext("2d");
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	return {pen, width, height, colour: name => style.getPropertyValue("--" + name).trim()};
}

/* Calls what was handed to it last, once, before the next picture is drawn. */
export function later(act) {
	let waits = false;
	return () => {
		if (waits)
			return;
		waits = true;
		requestAnimationFrame(() => {
			waits = false;
			act();
		});
	};
}

export function save(name, parts, type) {
	const link = h("a", {download: name, href: URL.createObjectURL(new Blob(parts, {type}))});
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
