#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scripts/site makes pages of all documents, without dead links; its search finds what is there, as
# a browser shows it; links and anchors that lead nowhere, and pictures from the network, are found.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
status=0
wrong() {
	echo "FAIL $*"
	status=1
}

"$srcdir/scripts/site" "$tmp/out" >"$tmp/said" 2>&1
case $? in
0) echo "ok   $(sed "s|$tmp/||" "$tmp/said")" ;;
77)
	cat "$tmp/said"
	exit 77
	;;
*)
	cat "$tmp/said"
	wrong "the site of the tree"
	;;
esac
for page in index docs/how-to/faults docs/index docs/tutorials/labs/index man/uhca-run.1; do
	[ -s "$tmp/out/$page.html" ] || wrong "there is no $page.html"
done
grep -q '<a href="uhcad.8.html">uhcad(8)</a>' "$tmp/out/man/uhca-run.1.html" ||
	wrong "uhcad(8) is no link in uhca-run(1)"
for page in "$tmp"/out/man/*.html; do
	[ "$(grep -c '<h1' "$page")" = 1 ] || wrong "${page##*/} has not one first heading"
done
# The recording shows something before it plays.
! grep -q 'opacity: 0;' "$srcdir/docs/images/recording.svg" || wrong "the recording begins empty"
"$srcdir/scripts/site" "$tmp/out" >/dev/null || wrong "a site is not made anew"
mkdir "$tmp/other" && : >"$tmp/other/file"
"$srcdir/scripts/site" "$tmp/other" 2>/dev/null && wrong "a folder that is no site was taken"
# ends STATUS WORDS: a tree whose README is standard input.
ends() {
	cat >"$tmp/tree/README.md"
	UHCA_SRCDIR=$tmp/tree "$srcdir/scripts/site" "$tmp/small" >"$tmp/said" 2>&1
	if [ $? = "$1" ] && grep -q -e "$2" "$tmp/said"; then
		echo "ok   $2"
	else
		cat "$tmp/said"
		wrong "$2"
	fi
}
mkdir -p "$tmp/tree/docs" && cp -R "$srcdir/docs/site" "$tmp/tree/docs/" || exit 99
for page in ARCHITECTURE CONTRIBUTING CHANGELOG SECURITY docs/page; do
	printf '# A page\n\n## A part of it, %sso%s\n' '"' '"' >"$tmp/tree/$page.md"
done
ends 0 ', 0 dead links' <<'END'
# One
[a part](docs/page.md#a-part-of-it-so), [here](#one), [elsewhere](https://example.org/)
END
ends 1 'docs/gone.html leads nowhere' <<'END'
[gone](docs/gone.md)
END
ends 1 'page.html#a-part: there is no such anchor' <<'END'
[a part](docs/page.md#a-part)
END
ends 1 'https://example.org/a.png is loaded from the network' <<'END'
![a picture](https://example.org/a.png)
END

chaos=$tmp/out/docs/explanation/chaos.html
if command -v chromium >/dev/null; then
	timeout 240 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$tmp/profile" --dump-dom \
		"file://$chaos?q=forget+all-of-this" >"$tmp/none" 2>/dev/null
	timeout 240 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$tmp/profile" --enable-logging=stderr --dump-dom \
		"file://$chaos?q=stale+key" >"$tmp/dom" 2>"$tmp/log"
	grep -q '<a href="../../docs/how-to/faults.html#' "$tmp/dom" ||
		wrong "the search finds nothing"
	grep -q 'Nothing has all of these words' "$tmp/none" || wrong "the search finds too much"
	! grep -F ':CONSOLE' "$tmp/log" | grep -v 'source: chrome://' ||
		wrong "something is on the browser's console"
	# What programs print of a status or an event leads to the page of statuses, first of all.
	python3 - "file://$tmp/out/index.html" >"$tmp/printed.html" <<'END'
import ctypes, json, sys
verbs, cm = ctypes.CDLL("libibverbs.so.1"), ctypes.CDLL("librdmacm.so.1")
printed = ["IBV_WC_RETRY_EXC_ERR", "IBV_EVENT_QP_LAST_WQE_REACHED"]
for call, count in ((verbs.ibv_wc_status_str, 24), (verbs.ibv_event_type_str, 20),
                    (cm.rdma_event_str, 16)):
    call.restype = ctypes.c_char_p
    printed += [call(i).decode() for i in range(count)]
print(f"""<iframe id="site" src="{sys.argv[1]}"></iframe><p id="said"></p>
<script>
addEventListener("load", () => {{
	const page = document.getElementById("site").contentDocument, wrong = [];
	const query = page.getElementById("query"), printed = {json.dumps(printed)};
	for (const words of printed) {{
		query.value = words;
		query.dispatchEvent(new Event("input"));
		const first = page.querySelector("#hits a");
		if (!first || !first.href.includes("/docs/reference/statuses.html#"))
			wrong.push(words + ": " + (first ? first.href : "nothing"));
	}}
	document.getElementById("said").textContent = printed.length + " looked for, not found: " +
		wrong.join("; ") + ".";
}});
</script>""")
END
	timeout 240 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--allow-file-access-from-files --user-data-dir="$tmp/profile" --dump-dom \
		"file://$tmp/printed.html" >"$tmp/dom" 2>/dev/null
	grep -q '>62 looked for, not found: \.<' "$tmp/dom" ||
		wrong "the search: $(grep '<p id="said">' "$tmp/dom")"
	# As wide as a phone: the pages are behind a button above the text, which opens them.
	cat >"$tmp/phone.html" <<END
<iframe id="phone" src="file://$chaos" style="width:390px;height:800px"></iframe>
<p id="said"></p>
<script>
addEventListener("load", () => {
	const page = document.getElementById("phone").contentDocument;
	const nav = page.querySelector("nav"), main = page.querySelector("main");
	const button = page.querySelector("header label");
	const closed = nav.offsetHeight;
	button.click();
	document.getElementById("said").textContent = "closed " + closed + " opened " +
		(nav.offsetHeight > 0) + " above " + (nav.offsetTop < main.offsetTop) + " button " +
		(button.offsetHeight > 0 && button.offsetTop < nav.offsetTop) + " wide " +
		(page.documentElement.scrollWidth > 390);
});
</script>
END
	timeout 240 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--allow-file-access-from-files --user-data-dir="$tmp/profile" --dump-dom \
		"file://$tmp/phone.html" >"$tmp/dom" 2>/dev/null
	grep -q '>closed 0 opened true above true button true wide false<' "$tmp/dom" ||
		wrong "the pages of a phone: $(grep '<p id="said">' "$tmp/dom")"
elif [ "${CI:-}" = true ]; then
	wrong "there is no chromium"
else
	echo "skip the search: no chromium (scripts/deps --install tests)"
	[ $status != 0 ] || status=77
fi
exit $status
