# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Rows of the sanitizer: its checks find their programs and are silent of others, by whatever way
# the bytes go and whoever asks.

judge_checks() {
	timeout -k 2 120 "$here/sanitize/judge" 2>&1 | tail -n 3
}

# Sixteen threads that share queues, and a daemon that dies: nothing of that is a mistake.
judge_threads() {
	timeout -k 2 120 "$uhca_run" --private --sanitize --sanitize-options "text=$out/found" -- \
		"$UHCA_BUILDDIR/tests/verbs/rogues/threads" >"$out/said" 2>&1 ||
		echo "ended with $?: $(tail -n 1 "$out/said")"
	cat "$out/found"
}

rows_sanitize() {
	[ -z "$list_only" ] || {
		echo "sanitizer checks: tests/verbs/sanitize/judge"
		echo "sanitizer threads: tests/verbs/rogues/threads"
		return
	}
	try sanitizer checks judge_checks
	[ "$variant" != internal ] || try sanitizer threads judge_threads
}
