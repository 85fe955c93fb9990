#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/cm_removal.c on a daemon of its own, which the program kills: uhca-run says so with
# its status, so the program's last line counts.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
out=$("${UHCA_SRCDIR:?}/scripts/uhca-run" --private -- \
	"${UHCA_BUILDDIR:?}/tests/verbs/cm_removal" 2>&1)
echo "$out"
case $out in
*"each id heard of the removal, and went"*) ;;
*) exit 1 ;;
esac
