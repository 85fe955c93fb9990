#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# cm_load.c on a daemon of its own: UHCA_CM_LOAD="TOTAL AT_ONCE" for other numbers, as "10000 1" and
# "1000 1000". Afterwards the daemon has no object of it.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
# Expanded by the inner shell.
# shellcheck disable=SC2016
# shellcheck disable=SC2016
inside='
rss() { sed -n "s/VmRSS:[^0-9]*//p" "/proc/$(cat "$UHCA_DIR/pid")/status"; }
"$UHCA_BUILDDIR/tests/verbs/cm/cm_load" 100 10 || exit 1
before=$(rss)
"$UHCA_BUILDDIR/tests/verbs/cm/cm_load" ${UHCA_CM_LOAD:-200 1} || exit 1
[ -n "${UHCA_CM_LOAD:-}" ] || "$UHCA_BUILDDIR/tests/verbs/cm/cm_load" 200 100 || exit 1
left=$("$UHCA_BUILDDIR/uhcactl" --json show device |
	grep -E "\"(clients|pd|mr|cq|qp|ah)\": [1-9]")
[ -z "$left" ] || { echo "left in the daemon: $left"; exit 1; }
echo "memory of the daemon: $before before, $(rss) after"
'
exec "${UHCA_SRCDIR:?}/scripts/uhca-run" --private --profile large -- sh -c "$inside"
