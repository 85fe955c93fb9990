#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/rules/check-prose finds long sentences and bad beginnings in documents and man pages.
set -u
root=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
failed=0
mkdir -p "$tmp/emu/man"
page=$tmp/page.md

# ends STATUS [LINE]: the check ends so, and has a line that begins so.
ends() {
	local said status
	said=$(UHCA_SRCDIR=$tmp "$root/scripts/rules/check-prose" 2>&1)
	status=$?
	[ "$status" = "$1" ] && grep -qE -e "^${2:-check-prose: }" <<<"$said" && return
	echo "prose.sh, line ${BASH_LINENO[0]}: status $status, not $1 with '${2:-}': $said"
	failed=1
}
# words N: that many words.
words() { printf 'word %.0s' $(seq "$1"); }

echo "The daemon is a device. The program uses it." >"$page"
ends 0
{ words 16 && echo "end."; } >"$page"
ends 1 'page.md: median 17 words'
{ words 14 && echo "end." && words 17 && echo "end. One. Two."; } >"$page"
ends 0
{ words 40 && echo "end. One. Two."; } >"$page"
ends 1 'page.md: median 1 words, 33.3 % above 40'
{ echo "One. Two." && words 41 | sed 's/^/| /; s/$/ |/'; } >"$page" # a cell of a table
ends 1 'page.md: median 1 words, 33.3 % above 40'
{ echo '```' && words 50 && printf '\n```\n\n# ' && words 50 && echo; } >"$page"
ends 0
{ echo "- Short" && words 10 && echo && echo "- short" && words 12; } >"$page"
ends 0
echo "Uses \`$(words 30)\` and [w $(words 3)](to/a/page.md)." >"$page"
ends 0
for word in Who What Of Nobody Whoever; do
	echo "It is one. $word it is asks." >"$page"
	ends 1 'page.md: .* 1 begin badly'
done
echo "What is it? It is one." >"$page"
ends 0

# A man page; its NAME and examples are no sentences.
rm "$page"
cat >"$tmp/emu/man/a.1" <<END
.SH NAME
a \\- $(words 50)
.SH DESCRIPTION
.B a
is one.
.nf
$(words 50)
.fi
.TP
.BR \\-\\-option =\\fIN\\fR
Short.
END
ends 0
printf '.PP\n.B What\nit does is one.\n.PP\n%s end.\n' "$(words 45)" >>"$tmp/emu/man/a.1"
ends 1 'emu/man/a.1: .* 25.0 % above 40, 1 begin badly'

# A reader that ends early, as "| head" does.
said=$({ UHCA_SRCDIR=$tmp "$root/scripts/rules/check-prose" --list | :; } 2>&1)
[ -z "$said" ] || {
	echo "prose.sh: --list into a pipe that is closed: $said"
	failed=1
}
exit $failed
