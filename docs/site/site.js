// SPDX-License-Identifier: BSD-2-Clause
// Search over all pages: sections that hold every word, those with the words in headings first.
"use strict";
const query = document.getElementById("query");
const hits = document.getElementById("hits");
const up = document.documentElement.dataset.up;

// How much a section is worth: 0 when a word is missing.
function worth([, page, heading, text], words) {
	let sum = 0;
	for (const word of words) {
		const one = 9 * page.toLowerCase().includes(word) +
			6 * heading.toLowerCase().includes(word) + text.toLowerCase().includes(word);
		if (!one)
			return 0;
		sum += one;
	}
	return sum;
}

// The text around the first word.
function around(text, word) {
	const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
	return (at ? "... " : "") + text.slice(at, at + 180);
}

function line([address, page, heading, text], words) {
	const item = document.createElement("li");
	const link = document.createElement("a");
	const small = document.createElement("small");

	link.href = up + "/" + address;
	link.textContent = page === heading ? page : page + ": " + heading;
	small.textContent = around(text, words[0]);
	item.append(link, small);
	return item;
}

function search() {
	const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
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
