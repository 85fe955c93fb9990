/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the page's modules (emu/model/page/web), which page.py puts in front of this. */

const tests = {};
let checks = 0;

function same(got, wanted) {
	const a = JSON.stringify(got), b = JSON.stringify(wanted);
	checks++;
	if (a !== b)
		throw new Error(a + ", not " + b);
}

/* Arrows of [sent, arrived, from, to, psn, opcode, fate, flags, tries, syndrome, rule]. */
function makeTrace(arrows, records = []) {
	const a = new ArrayBuffer(48 * arrows.length), r = new ArrayBuffer(32 * records.length);
	arrows.forEach(([sent, arrived, from, to, psn, opcode, fate, flags, tries, syndrome, rule], i) => {
		const f = new Float64Array(a), u = new Uint32Array(a), at = i * 12;
		f[i * 6] = sent;
		f[i * 6 + 1] = arrived;
		u.set([from, to, 0, psn, 64, rule || 0, (opcode | fate << 8 | flags << 16 | tries << 24) >>> 0,
			syndrome === undefined ? 255 : syndrome], at + 4);
	});
	records.forEach(([ns, qp, kind, flags, x, y], i) => {
		new Float64Array(r)[i * 4] = ns;
		new Uint32Array(r).set([0, qp, NONE, (KINDS.indexOf(kind) | flags << 8 | x << 16 | y << 24) >>> 0,
			0, 0], i * 8 + 2);
	});
	const qps = [{host: 0, number: 0x11, peer: 1, program: "one"},
		{host: 1, number: 0x12, peer: 0, program: "two"}];
	return new Trace({began: "1000", length: 1000, hosts: [{name: "uhca0"}, {name: "uhca1"}], qps,
		opcodes: {1: ["RC_SEND_MIDDLE", 0, 0, 1], 4: ["RC_SEND_ONLY", 0, 0, 3],
			17: ["RC_ACKNOWLEDGE", 32, 4, 3]}, arrows_in_all: arrows.length}, a, r);
}

/* A SEND that is lost, sent again, acknowledged, and one with a NAK. */
const story = () => makeTrace([
	[0, -1, 0, 1, 7, 4, DROPPED, 0, 0, undefined, 1], [100, 110, 0, 1, 7, 4, ARRIVED, 0, 1],
	[120, 130, 1, 0, 7, 17, ARRIVED, ANSWER, 0, 0x1f], [200, 210, 0, 1, 8, 4, ARRIVED, 0, 0],
	[220, 230, 1, 0, 8, 17, ARRIVED, ANSWER, 0, 0x60]], [
	[90, 0, "retry", 3, 255, 255], [95, 0, "counters", 0, 255, 255],
	[240, 0, "completion", 3, 10, 255]]);

tests.looks = () => {
	const t = story();
	same([0, 1, 2, 3, 4].map(a => t.look(a)), ["lost", "again", "answer", "request", "wrong"]);
	same(t.look(5), "wrong");
	same(t.kind(7), "completion");
	same([...t.order], [0, 5, 1, 2, 3, 4, 7]); /* the counters stand in no ladder */
	same(t.qpName(1), "uhca1 QP 0x12");
};

tests.order = () => {
	const t = makeTrace([[50, 60, 0, 1, 1, 4, 0, 0, 0], [10, 20, 0, 1, 2, 4, 0, 0, 0],
		[50, 55, 0, 1, 3, 4, 0, 0, 0]]);
	same([...t.order], [1, 0, 2]);
	same(t.place(t.order, 50), 1);
	same(t.place(t.order, 51), 3);
};

tests.hexRows = () => same([...new Uint8Array(bytesOfRows(["00ff", "1020"]))], [0, 255, 16, 32]);

const found = (text, more) => [...choose(story(), {qps: null, kind: "all", from: null, to: null, text,
	...more})];

tests.search = () => {
	same(found("psn=7"), [0, 1, 2]);
	same(found("nak"), [4]);
	same(found("ACK psn=8"), [4]);
	same(found("0x12 lost"), [0]);
	same(found("rule=1"), [0]);
	same(found("retry"), [5]);
	same(found("nothing-like-it"), []);
	same(found("", {kind: "trouble"}), [0, 5, 1, 4, 7]);
	same(found("", {kind: "no such kind"}).length, 7);
	same(found("", {from: 100, to: 200}), [1, 2]);
	same(found("", {qps: new Set([5])}), []);
};

tests.trouble = () => {
	const t = story();
	same(nextTrouble(t, t.order, 0, 1), 1);
	same(nextTrouble(t, t.order, 6, 1), -1);
	same(nextTrouble(t, t.order, 5, -1), 2);
};

tests.address = () => {
	const view = readAddress("#c=uhca0/0x11&v=plot&text=a%26b&from=5&space=time&kind=nak");
	same([view.c, view.v, view.text, view.from, view.to, view.space, view.kind],
		["uhca0/0x11", "plot", "a&b", 5, null, "time", "nak"]);
	same(readAddress("#" + writeAddress(view)), view);
	same(readAddress("#v=<b>&from=-1").v, "ladder");
	same(writeAddress(readAddress("")), "");
};

tests.names = () => {
	const t = makeTrace([[10, 20, 0, 1, 1, 4, 0, 0, 0], [10, 20, 0, 1, 2, 4, 0, 0, 0]],
		[[10, 0, "nak", 3, 255, 255]]);
	same(nameOf(t, 0), "1010.a-4-1-17-0");
	same(nameOf(t, 2), "1010.r-nak-17");
	same([0, 1, 2].map(item => itemOf(t, nameOf(t, item))), [0, 1, 2]);
	/* Read again, the clock is 3 us off. */
	same(itemOf(t, "4010.a-4-2-17-0"), 1);
	same([itemOf(t, "9001010.a-4-2-17-0"), itemOf(t, "1010"), itemOf(t, "x")], [-1, -1, -1]);
};

tests.rows = () => {
	const rows = new EvenRows(1000000, 28), scroll = new Scroll(rows.height, 600);
	same(scroll.bar, HEIGHT_MAX);
	same(Math.round(scroll.toRows(scroll.bar - 600)), rows.height - 600);
	same(Math.round(scroll.toBar(scroll.toRows(1000))), 1000);
	same(rows.at(rows.top(777777)), 777777);
	const timed = new TimedRows([0, 10, 1000], 100);
	same([timed.at(0), timed.at(0.5), timed.at(50), timed.at(1e9)], [0, 1, 2, 3]);
	same(new TimedRows([], 100).height, 40);
};

tests.conversations = () => {
	const [c, ...rest] = findConversations(story());
	same(rest, []);
	same([c.name, c.qps, c.packets, c.again, c.naks, c.lost, c.errors],
		["uhca0/0x11", [0, 1], 5, 1, 1, 1, 1]);
};

tests.plot = () => {
	same([psnDistance(5, 0xfffffe), psnDistance(0xfffffe, 5)], [7, -7]);
	const t = story(), list = points(t, t.order, 0, 1);
	same(list.map(p => p.kind), ["lost", "again", "ack", "request", "nak"]);
	same(windows(list), [1, 1, 0, 1, 1]);
};

tests.states = () => same(stateBars(makeTrace([], [[100, 0, "state", 2, 0, 1], [200, 0, "state", 3, 1, 6]]))
	.map(q => q.bars.map(bar => [bar.state, bar.from, bar.to])),
	[[["RESET", 100, 100], ["INIT", 100, 200], ["ERR", 200, 1000]]]);

tests.memory = () => {
	same(pageCounts(0x1000n, 8192, 4096, [{va: "0x1800", bytes: 4096}]), [[1, 1], 1]);
	same(pageCounts(0n, 4096 * 1024, 4096, [])[1], 2);
	same(isOutside(0x1000n, 16, {va: "0x1008", bytes: 9}), true);
	same(isOutside(0x1000n, 16, {va: "0x1008", bytes: 8}), false);
	same(walkLines({key: 0x12, index: 1, key_byte: 2, pd: 3, program: "p", device: "uhca0", steps: [],
		region_key: 0x12, kind: "plain", length: 64, iova: 0, region_offset: 5, n_pages: 1, entry: 0,
		page_size: 4096, in_page: 5, byte: 255}).length, 4);
};

tests.rules = () => {
	const t = story();
	same(ruleFor(t, 3, "drop"), "drop opcode=RC_SEND_ONLY dev=uhca0 nth=1");
	same(ruleFor(t, 2, "delay"), "delay=20ms opcode=rc.ack dev=uhca1 nth=1");
	same(ruleFor(t, 4, "drop"), "drop opcode=rc.nak dev=uhca1 nth=1");
	same(ruleFor(t, 3, "rnr"), "rnr opcode=RC_SEND_ONLY dev=uhca1 nth=1");
	same(actionsFor(t, 2).includes("rnr"), false);
	same(countSent(t, "rc_send_only", "uhca0"), 3);
	const waits = [{device: "uhca0", waiting: [{number: 4, direction: "tx",
		packet: "RC_SEND_ONLY qp=0x12 psn=9 len=64"}, {number: 5, direction: "rx",
		packet: "RC_ACKNOWLEDGE qp=0x11 psn=8 NAK PSN sequence error [code=0] msn=1"}]}];
	same(fromBeginning(t, "drop opcode=RC_SEND_ONLY dev=uhca0 nth=1", waits),
		"drop opcode=RC_SEND_ONLY dev=uhca0 nth=5");
	same(fromBeginning(t, "drop p=1%", waits), "drop p=1%");
	same(fromBeginning(t, "rnr opcode=send dev=uhca0 nth=1", waits), "rnr opcode=send dev=uhca0 nth=1");
	same(ruleForWaiting(t, waits, "uhca0", waits[0].waiting[0], "drop"),
		"drop opcode=RC_SEND_ONLY dev=uhca0 nth=4");
	same(ruleForWaiting(t, waits, "uhca0", waits[0].waiting[1], "set=bth.psn:3"),
		"set=bth.psn:3 opcode=rc.nak dev=uhca1 nth=1");
	same([freeName([{name: "hand1"}], new Set(["hand2"]))], ["hand3"]);
};

tests.stream = () => {
	const heard = [];
	const rest = takeEvents(": here\n\nevent: state\ndata: {\"a\":1}\n\nevent: tr", (what, data) =>
		heard.push([what, data]));
	same(heard, [["state", {a: 1}]]);
	same(rest, "event: tr");
	same(ranges([3, 7, 8, 9, 12]), "3,7-9,12");
};

tests.packet = () => {
	const bytes = "4502004400004000401100007f0000017f000002" + "c00012b700300000" +
		"11406fff" + "00000012" + "00000008" + "60000001";
	const parts = decode([0, 0, 0, 0, 0, 0, 0, 0, 0, "", "", bytes],
		{17: ["RC_ACKNOWLEDGE", 32, 4, 3]});
	same(parts.map(p => p[0]), ["IPv4", "UDP", "BTH (base transport header)", "AETH"]);
	same(parts[3][1][0], ["syndrome", "0x60", "NAK: PSN sequence error: a packet before it is missing"]);
	same(parts[2][1].find(f => f[0] === "destination QP")[1], "0x12");
};

tests.words = () => {
	same([wait(999), wait(1500), wait(2.5e6), wait(3e9)], ["999 ns", "1.5 us", "2.50 ms", "3.00 s"]);
	same([ms(-1), ms(null), ms(1234567)], ["?", "?", "1.235"]);
};

tests.markdown = () => {
	const parts = sections("# Title\n\nBefore\n\n## One\n<!-- status 0 -->\n```sh\n# no heading\n" +
		"## nor this\n```\n\n## Two\n1. first\n   goes on\n2. second\n");
	same(parts.map(part => part.title), ["Title", "One", "Two"]);
	same(parts[1].lines, ["```sh", "# no heading", "## nor this", "```", ""]);
	same(items(parts[2].lines), ["first goes on", "second"]);
	same(inline("a `b*c` *d* [e](f) <g>").map(part => part.outerHTML || part),
		["a ", "<code>b*c</code>", " ", "<em>d</em>", " ", "e", " <g>"]);
	const made = blocks("a\nb\n\n- c\n  d\n\n| e | f |\n|---|---|\n| g | h |\n\n![i](j.svg)".split("\n"),
		(address, words) => [address, words].join());
	same(made.map(part => part.tagName || part), ["P", "UL", "TABLE", "j.svg,i"]);
	same(made[1].textContent, "c d");
};

tests.said = () => {
	const list = mistakes(["- `(8)`: a pointer", "- `bytes`: few", "- `bytes (8)`: both", "", "- none"]);
	same(list.map(m => m.words), ["(8)", "bytes", "bytes (8)"]);
	same(mistakeOf(list, "task 2: bytes (8)").why, "both");
	same(mistakeOf(list, "task 1"), undefined);
	same(readSaid("/x/exercise.c:12:5: error: no\nnot yet: task 1: bytes (3)\n" +
		"lab a: not yet (see all with: b)\n"), [
		{text: "/x/exercise.c:12:5: error: no", reason: false, line: 12},
		{text: "task 1: bytes (3)", reason: true, line: null}]);
	same([lineRange("a\nbc\n", 1), lineRange("a\nbc\n", 2), lineRange("a", 9)], [[0, 1], [2, 4], [0, 1]]);
};

tests.queues = () => {
	const table = (...names) => ({columns: names.map(name => ({name})), rows: []});
	const qp = table("device", "client", "qpn", "send_cq", "recv_cq", "sends", "recvs");
	const cq = table("device", "client", "handle", "outstanding");
	qp.rows.push(["uhca0", 1, 5, 7, 8, 1, 500]);
	cq.rows.push(["uhca0", 1, 7, 2], ["uhca0", 2, 8, 9], ["uhca1", 1, 8, 9], ["uhca0", 1, 8, 1]);
	same(queuesOf({qp, cq}, "uhca0", 5), "1 send, 500 receives, 3 to poll");
	same(queuesOf({qp, cq}, "uhca1", 5), "");
};

/* Three packets wait: all devices are frozen, each goes by itself, and then nothing is asked for. */
tests.pace = async () => {
	const asked = [], live = new Live({act: async request => {
		asked.push(request.action);
		if (request.action === "freeze")
			live.state = {step: {devices: [{frozen: true, total: 3, waiting: []}]}};
		else
			live.devices[0].total--;
		return {};
	}}, () => null);
	live.setPace(100);
	for (let i = 0; i < 500 && (!live.state || live.waiting); i++)
		await new Promise(done => setTimeout(done, 10));
	await new Promise(done => setTimeout(done, 50));
	same(asked, ["freeze", "next", "next", "next"]);
	live.state.step.devices[0] = {frozen: false, total: 1, waiting: []};
	for (let i = 0; i < 500 && live.pace; i++)
		await new Promise(done => setTimeout(done, 10));
	same([live.pace, asked.length], [0, 4]);
};

const wrong = [];
for (const name in tests) {
	try {
		await tests[name]();
	} catch (error) {
		wrong.push(name + ": " + error.message);
	}
}
document.documentElement.dataset.wrong = wrong.join("; ");
document.documentElement.dataset.tested = checks;
