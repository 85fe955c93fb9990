#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scripts/simulation/plot draws series of uhca-sim, as docs/how-to/simulate.md has it; the picture
# there is that of today's uhca-sim.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
PATH=$(cd "${UHCA_BUILDDIR:-$srcdir/build}" && pwd):$PATH || exit 99
trap 'rm -rf "$tmp"' EXIT
status=0
command -v gnuplot >/dev/null || {
	echo "plot.sh: skipped: no gnuplot (scripts/deps --install tests)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
}

complain() {
	echo "FAIL $*"
	status=1
}

ln -s "$srcdir/scripts" "$tmp/scripts" && cd "$tmp" || exit 99
incast="--topology one-switch:21,rate=40G --workload incast:size=1M --drain 20ms --sample 20us"
{
	# Several words.
	# shellcheck disable=SC2086
	uhca-sim run $incast --series none.csv &&
		uhca-sim run $incast --cc window --series window.csv &&
		uhca-sim run $incast --cc dcqcn --series dcqcn.csv
} >/dev/null || complain "uhca-sim"
scripts/simulation/plot incast.svg none.csv window.csv dcqcn.csv || complain "plot"
python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' incast.svg || status=1
for name in none window dcqcn; do
	[ "$(grep -c "<title>.*$name</title>" incast.svg)" = 2 ] ||
		complain "$name is not drawn twice"
done

# gnuplot's versions differ, the points do not: those of the page's picture.
picture=$srcdir/docs/images/plots/simulate-incast.svg
grep -o ' d=.*' incast.svg >new && grep -o ' d=.*' "$picture" >old
cmp -s old new || [ "$(gnuplot --version)" != "gnuplot 5.4 patchlevel 4" ] ||
	complain "$picture is of other times: scripts/simulation/plot"

# Mistakes: another file, and no picture then.
echo a,b >other.csv
! scripts/simulation/plot no.svg none.csv other.csv 2>errors || complain "another file is drawn"
grep -q 'other.csv is no file of uhca-sim --series' errors || complain "$(cat errors)"
[ ! -e no.svg ] || complain "a picture of nothing"
exit "$status"
