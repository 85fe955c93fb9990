#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scripts/record draws a run of today's programs, and docs/images/recording.svg shows the same
# commands and verdict: it is drawn again by hand.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
status=0
command -v ibv_rc_pingpong >/dev/null || {
	echo "record.sh: skipped: no ibv_rc_pingpong (scripts/deps --install first)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
}

# The text of a picture that does not differ from run to run.
steady() {
	sed -n '/^<text/s/<[^>]*>//gp' "$1" |
		grep -E '^\$|^title|^fault|^run|^after|^expect|ok |passed'
}

"$srcdir/scripts/record" "$tmp/new.svg" || exit 1
python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$tmp/new.svg" || status=1
grep -q '✗' "$tmp/new.svg" || {
	echo "FAIL the acknowledgement is not lost in the picture"
	status=1
}
steady "$srcdir/docs/images/recording.svg" >"$tmp/old" && steady "$tmp/new.svg" >"$tmp/new"
diff "$tmp/old" "$tmp/new" || {
	picture=docs/images/recording.svg
	echo "FAIL $picture is of other times: scripts/record $picture"
	status=1
}
exit $status
