#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/uhca-class with 30 students: tokens, the queue of checks, limits, what a student sees of
# the others. A compiler of the test's own makes programs out of shell text, which costs nothing.
# See class.py.
set -u
root=${UHCA_SRCDIR:?}
build=${UHCA_BUILDDIR:?}
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

for program in python3 prlimit; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install tests)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
python3 "$root/tests/verbs/page/class.py" "$root" "$build" "$folder"
