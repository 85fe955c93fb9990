/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be taken along: the capture, a picture, a scenario, the address. */
import {T} from "./texts.js";
import {$, button, h, save} from "./dom.js";
import {writeAddress} from "./state.js";

const PNG_MAX = 8000; /* pixels in one direction */

/* The address of what is shown, without the token. */
export function share(view) {
	return location.origin === "null" || location.protocol === "file:" ?
		location.href.split("#")[0] + "#" + writeAddress(view) :
		location.origin + location.pathname + "#" + writeAddress(view);
}

async function showScenario(source) {
	const text = await (await source.ask("scenario")).text();
	const box = h("dialog", {"aria-label": T.scenario}, h("h2", {}, T.scenario),
		h("p", {}, T.scenarioHint), h("pre", {id: "scenario", tabindex: 0}, text), h("p", {},
			button(T.download, () => save("by-hand.scn", [text], "text/plain")), " ",
			button(T.close, () => box.close(), {autofocus: true})));
	box.addEventListener("close", () => box.remove());
	document.body.append(box);
	box.showModal();
}

/* The picture as the browser draws it; large ones are made smaller. */
async function drawPng(svg) {
	const image = new Image(), canvas = document.createElement("canvas");
	image.src = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"}));
	await image.decode();
	const scale = Math.min(1, PNG_MAX / Math.max(image.width, image.height));
	canvas.width = Math.max(1, image.width * scale);
	canvas.height = Math.max(1, image.height * scale);
	canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
	URL.revokeObjectURL(image.src);
	return new Promise(done => canvas.toBlob(done, "image/png"));
}

export function keepButtons(source, getView, getWindow, say) {
	const get = (path, name, type) => async () => {
		try {
			save(name, [await (await source.ask(path())).arrayBuffer()], type);
		} catch (error) {
			say(error.message);
		}
	};
	const png = async () => {
		try {
			const svg = await (await source.ask("ladder.svg?" + getWindow())).arrayBuffer();
			save("ladder.png", [await drawPng(svg)], "image/png");
		} catch (error) {
			say(error.message);
		}
	};
	const out = [button(T.link, () => {
		(navigator.clipboard ? navigator.clipboard.writeText(share(getView())) : Promise.reject())
			.then(() => say(T.copied), () => say(share(getView())));
	}, {id: "keep-link"})];
	if (source.ask)
		out.unshift(button(T.capture, get(() => "capture.pcapng", "uhca.pcapng",
			"application/octet-stream"), {id: "keep-capture"}), button(T.picture,
			get(() => "ladder.svg?" + getWindow(), "ladder.svg", "image/svg+xml"), {id: "keep-svg"}),
		button(T.png, png, {id: "keep-png"}));
	if (source.live)
		out.push(button(T.scenario, () => showScenario(source).catch(e => say(e.message)),
			{id: "keep-scenario"}));
	return h("p", {class: "keep", role: "group", "aria-label": T.keep}, out.map(b => [b, " "]));
}

/* The token of the printed address, which then leaves the address. */
export function takeToken() {
	const said = new URLSearchParams(location.hash.slice(1)), token = said.get("token");
	if (token) {
		sessionStorage.setItem("token", token);
		said.delete("token");
		history.replaceState(null, "", "#" + said);
	}
	return sessionStorage.getItem("token");
}

export function fail(text) {
	$("app").replaceChildren(h("main", {}, h("h1", {}, "uhca"), h("p", {class: "bad"}, text)));
}
