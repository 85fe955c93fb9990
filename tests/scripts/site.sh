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

if command -v chromium >/dev/null; then
	mkdir "$tmp/browser"
	python3 "$srcdir/tests/scripts/site.py" "$srcdir" "$tmp/out" "$tmp/browser" ||
		wrong "the site in a browser"
elif [ "${CI:-}" = true ]; then
	wrong "there is no chromium"
else
	echo "skip the search: no chromium (scripts/deps --install tests)"
	[ $status != 0 ] || status=77
fi
exit $status
