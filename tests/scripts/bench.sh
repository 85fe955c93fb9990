#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/bench: what its report says of given figures (ratios, targets, an earlier table, pictures,
# a file whose other words stay), wrong words, and one row as it is measured.
set -u
root=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
status=0
wrong() {
	echo "wrong: $1"
	status=1
}

results() {
	cat <<'RESULTS'
latency|UCX tcp tag, 8 B|||4.00 5.00 3.00
latency|ib_send_lat 8 B, pinned|UCX tcp tag, 8 B|<= 0.5 x|2.20 1.90 2.00
latency|ib_send_lat 8 B, wire|UCX tcp tag, 8 B|<= 1.5 x|9.00 6.04 6.03
latency|ib_read_lat 8 B, wire|UCX tcp tag, 8 B|<= 10 us|11 11 11
rate|nothing|||
rate|UCX <put>|||1
quotient|of it|ib_send_lat 8 B, pinned|UCX tcp tag, 8 B|>= 0.7 x
quotient|of nothing|nothing|UCX tcp tag, 8 B|>= 0.7 x
resident|3000 10000
command|scripts/bench words
version|uhca-run 1
load|0.10|0.20
RESULTS
}

report=$root/scripts/benchmark/report
says() { # FILE TEXT: a line that holds it
	grep -qF -- "$2" "$1" || wrong "$1 has no \"$2\": $(cat "$1")"
}

results | "$report" >"$tmp/table" || wrong "the report failed"
says "$tmp/table" "| UCX tcp tag, 8 B                       |      4.00 | 3.00 5.00           |"
says "$tmp/table" "|      2.00 | 1.90 2.20           |  0.50 x | <= 0.5 x  |        |"
says "$tmp/table" "|      6.04 | 6.03 9.00           |  1.51 x | <= 1.5 x  | missed |"
says "$tmp/table" "|        11 | 11 11               |  2.75 x | <= 10 us  | missed |"
says "$tmp/table" "- of it: 0.50 x (>= 0.7 x, missed)"
says "$tmp/table" "No figure: nothing."
says "$tmp/table" "with 1000 connected QPs 10000 KiB, 7.0 KiB for each."
says "$tmp/table" "of 3. Load: 0.10 before, 0.20 after."
! grep -q "of nothing" "$tmp/table" || wrong "a quotient of what was not measured"

# What stands around the table stays.
begin='<!-- made by scripts/bench -->' end='<!-- end of what scripts/bench made -->'
printf '%s\n' before "$begin" old "$end" after >"$tmp/page.md"
results | "$report" --markdown "$tmp/page.md" --plots "$tmp" >/dev/null || wrong "no page"
[ "$(sed -n '1p;$p' "$tmp/page.md" | paste -sd' ')" = "before after" ] || wrong "words are lost"
says "$tmp/page.md" "Made by \`scripts/bench words\` on "
! grep -q old "$tmp/page.md" || wrong "the old table stays"
for kind in latency rate; do
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' \
		"$tmp/bench-$kind.svg" || wrong "no picture of $kind"
done
[ ! -e "$tmp/bench-cpu.svg" ] || wrong "a picture of nothing"

# The same again is no change; what lies above all of the other is beyond.
results | sed 's/|2.20 1.90 2.00/|2.30 2.40 2.50/' |
	"$report" --compare "$tmp/page.md" >"$tmp/compared" || wrong "--compare failed"
says "$tmp/compared" "     2.00 ->      2.40  1.20 x  beyond"
[ "$(grep -c ' -> ' "$tmp/compared")" = 5 ] || wrong "not five rows compared"
[ "$(grep -c beyond "$tmp/compared")" = 1 ] || wrong "more than one beyond"

refuses() { # WORDS OPTION...
	local words=$1 said
	shift
	said=$("$root/scripts/bench" "$@" 2>&1 </dev/null)
	[[ $?:$said = 2:*"$words"* ]] || wrong "bench $*: $said"
}
refuses "--rounds takes a number" --rounds many
refuses "no file $tmp/none" --compare "$tmp/none"
refuses "no folder $tmp/none" --plots "$tmp/none"
refuses "no option --none" --none
refuses "no row has a name with: none of them" "none of them"

"$root/scripts/bench" --quick "ib_read_lat 8 B, pinned" >"$tmp/measured" 2>"$tmp/errors" ||
	wrong "bench failed: $(cat "$tmp/errors")"
[ "$(grep -cE '^\| .*[0-9] x \|' "$tmp/measured")" = 1 ] || wrong "$(cat "$tmp/measured")"
! grep "No figure" "$tmp/measured" || status=1
exit $status
