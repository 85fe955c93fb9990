#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A lab in the page (scripts/lab --page): its requests, what they cannot reach, and Chromium and
# Firefox, which do one lab from the first line to the green check. See lab.py.
#
#   lab.sh [PART...]      parts: requests limits browser firefox
set -u
root=${UHCA_SRCDIR:?}
build=${UHCA_BUILDDIR:?}
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

read -r -a cc <<<"${CC:-cc}"
for program in chromium firefox-esr python3 "${cc[0]}"; do
	command -v "$program" >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients tests)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

folder=$(mktemp -d) || exit 1
[ -n "${UHCA_KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT # else keep-failure does it
python3 "$root/tests/verbs/page/lab.py" "$root" "$build" "$folder" "$@"
