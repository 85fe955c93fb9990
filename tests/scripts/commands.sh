#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# check-commands notices pages that are wrong: a command that fails, a status that is not what the
# comment says, output that is none of the command's, a block without a language, a test that does
# not run what it is said to run. What is right it lets pass. Traces of a page that failed are kept.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/scripts" && cp "$srcdir/scripts/uhca-run" "$tmp/scripts/" || exit 99
mkdir -p "$tmp/tests/support" &&
	cp "$srcdir/tests/support/read-kept" "$srcdir/tests/support/hasty" "$tmp/tests/support/" ||
	exit 99
export UHCA_SRCDIR="$tmp" UHCA_FAILURES="$tmp/failures"
status=0

# ends STATUS WORDS: so does the checker with the page on standard input, and says these words.
ends() {
	cat >"$tmp/page.md"
	"$srcdir/scripts/rules/check-commands" --seconds "${seconds:-300}" page.md >"$tmp/said" 2>&1
	have=$?
	if [ $have = 77 ]; then
		cat "$tmp/said"
		exit 77
	elif [ $have = "$1" ] && grep -q -e "$2" "$tmp/said"; then
		echo "ok   $2"
	else
		cat "$tmp/said"
		echo "FAIL $2: status $have, not $1"
		status=1
	fi
}

ends 0 '^check-commands: 3 blocks of 1 pages.*1 not run' <<'END'
<!-- not run: there is no such thing -->
```sh
no-such-thing
```
<!-- file greeting -->
```text
hello
```
<!-- status 0 3 -->
```sh
cat greeting
sh -c '
exit 3'
```
```console
$ echo it took 17.3 ms, and all went as it should
it took 2 ms, and all went as it should
```
END
ends 1 'page.md:1: ends with 0 1, not 0 0' <<'END'
```sh
true
false
```
END
ends 1 'page.md:2: ends with 0, not 1' <<'END'
<!-- status 1 -->
```sh
true
```
END
ends 1 'page.md:1: .*% of what the page shows was said' <<'END'
```sh
echo one thing
```
<!-- output -->
```text
another model
```
END
ends 1 'page.md:1: the block has no language' <<'END'
```
true
```
END
echo 'some command --of-it' >"$tmp/other"
ends 1 'other does not run: another command' <<'END'
<!-- run by other -->
```sh
some command
another  command
```
END
# kept WORD: the log of the page's instance is there, and the file that the page wrote.
kept() {
	if grep -q "$1" "$tmp/failures/check-commands-page.md/home/said" &&
		[ -s "$tmp/failures/check-commands-page.md/instances/sh/log" ]; then
		echo "ok   traces of a page that $1"
	else
		find "$tmp/failures"
		echo "FAIL traces of a page that $1"
		status=1
	fi
	rm -rf "$tmp/failures"
}

ends 1 'page.md:1: ends with 3, not 0' <<'END'
```sh
uhca-run --private -- sh -c 'echo failed >$HOME/said; exit 3'
```
END
kept failed
seconds=2
ends 1 'page.md:1: not over after 2 s' <<'END'
```sh
uhca-run --private -- sh -c 'echo hung >$HOME/said; exec sleep 600'
```
END
kept hung
exit $status
