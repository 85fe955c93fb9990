#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The server of the page without a browser: who gets nothing, answers against openapi.json, pages
# that never read, its ends; uhca-run --serve. See serve.py.
set -u
root=${UHCA_SRCDIR:?}
build=${UHCA_BUILDDIR:?}
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

for program in python3 ibv_rc_pingpong; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients tests)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$root/scripts/uhca-run" --private -- \
	python3 "$root/tests/verbs/page/serve.py" "$root" "$build" "$folder"
