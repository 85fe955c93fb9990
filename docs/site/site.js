// SPDX-License-Identifier: BSD-2-Clause
// Search over all pages: sections that hold every word, those with the words in headings first.
"use strict";
const query = document.getElementById("query");
const hits = document.getElementById("hits");
const up = document.documentElement.dataset.up;

function isInCell(all, quoted) {
	const at = all.indexOf(quoted);
	return at >= 0 && all.lastIndexOf("|", at) >= 0 && all.includes("|", at);
}

// How much a section is worth: 0 when a word is missing. What a program prints is mostly several
// words: a section where they stand together comes before one with the same words in headings, and
// first of all one with a table that has them as a cell.
function worth([, page, heading, text], words) {
	const all = text.toLowerCase(), phrase = words.join(" ");
	let sum = 0;
	for (const word of words) {
		const one = 9 * page.toLowerCase().includes(word) +
			6 * heading.toLowerCase().includes(word) + all.includes(word);
		if (!one)
			return 0;
		sum += one;
	}
	return sum + 50 * (words.length > 1 && all.includes(phrase)) +
		200 * (all.includes(`| ${phrase} |`) || isInCell(all, `"${phrase}"`));
}

// Names of enums are written without what each begins with.
function wordsOf(text) {
	return text.toLowerCase().replaceAll(/\bibv_(wc|event)_/g, "").split(/\s+/).filter(Boolean);
}

// The text around the words, or the first of them.
function around(text, words) {
	const all = text.toLowerCase(), together = all.indexOf(words.join(" "));
	const at = Math.max(0, (together < 0 ? all.indexOf(words[0]) : together) - 60);
	return (at ? "... " : "") + text.slice(at, at + 180);
}

function line([address, page, heading, text], words) {
	const item = document.createElement("li");
	const link = document.createElement("a");
	const small = document.createElement("small");

	link.href = up + "/" + address;
	link.textContent = page === heading ? page : page + ": " + heading;
	small.textContent = around(text, words);
	item.append(link, small);
	return item;
}

function search() {
	const words = wordsOf(query.value);
	const found = words.length ? window.searchIndex.map((s) => [worth(s, words), s])
		.filter(([sum]) => sum).sort((a, b) => b[0] - a[0]).slice(0, 30) : [];

	hits.replaceChildren(...found.map(([, section]) => line(section, words)));
	if (words.length && !found.length)
		hits.textContent = "Nothing has all of these words.";
	hits.hidden = !words.length;
}

query.addEventListener("input", search);
query.addEventListener("keydown", (event) => {
	if (event.key === "Enter" && hits.querySelector("a"))
		hits.querySelector("a").click();
});
// A search can be sent to somebody: index.html?q=WORDS
query.value = new URLSearchParams(location.search).get("q") || "";
search();
