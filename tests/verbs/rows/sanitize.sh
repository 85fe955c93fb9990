# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of the sanitizer: its checks find their programs and are silent of others, by UDP and where
# memory cannot be pinned. Inside one daemon tests/verbs/sanitize/checks.sh does the same.

judge_checks() {
	local checks
	local groups='.*'
	[ "$variant" != nobody ] || groups='buffers|keys' # a user's rights to memory matter
	mapfile -t checks < <(cd "$here/sanitize/bad" && printf '%s\n' */*.c |
		grep -E "^($groups)/" | sed 's/\.c$//')
	timeout -k 2 240 "$here/sanitize/judge" "${checks[@]}" >"$out/said" 2>&1 ||
		echo "status $?: $(tail -n 3 "$out/said")"
}

judge_known() { # NAME
	timeout -k 2 240 "$here/sanitize/judge" "known/$1" >"$out/said" 2>&1 ||
		echo "status $?: $(tail -n 3 "$out/said")"
}

# Sixteen threads that share queues, and a daemon that dies: nothing of that is a mistake.
judge_threads() {
	timeout -k 2 240 "$uhca_run" --private --sanitize --sanitize-options "text=$out/found" -- \
		"$UHCA_BUILDDIR/tests/verbs/rogues/threads" >"$out/said" 2>&1 ||
		echo "ended with $?: $(tail -n 1 "$out/said")"
	cat "$out/found"
}

# What clients -s makes of a report: each finding fails one row.
judge_rows() (
	UHCA_SANITIZE_FOUND=$out/report found_lines=0
	: >"$UHCA_SANITIZE_FOUND"
	find_anew
	[ -z "$anew" ] || echo "found in nothing: $anew"
	echo "SUMMARY: uhca-sanitizer: send-changed a.c:1 in f" >"$UHCA_SANITIZE_FOUND"
	find_anew
	[ "$anew" = "send-changed a.c:1 in f" ] || echo "found: $anew"
	find_anew
	[ -z "$anew" ] || echo "found again: $anew"
)

rows_sanitize() {
	local program name
	[ -z "$list_only" ] || {
		echo "sanitizer checks: tests/verbs/sanitize/judge"
		echo "sanitizer known-NAME: tests/verbs/sanitize/judge known/NAME"
		echo "sanitizer rows: clients -s"
		echo "sanitizer threads: tests/verbs/rogues/threads"
		return
	}
	if [ "$variant" = internal ]; then
		try sanitizer rows judge_rows
		try sanitizer threads judge_threads
		return
	fi
	try sanitizer checks judge_checks
	[ "$variant" = sanitizer ] || return 0
	for program in "$here"/sanitize/known/*.c; do
		name=${program##*/}
		name=${name%.c}
		try sanitizer "known-$name" judge_known "$name"
	done
}
