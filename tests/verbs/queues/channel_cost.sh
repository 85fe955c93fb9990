#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# channel_cost.c makes and destroys as many CQs with channels as one client can have,
# and as many as there are descriptors for, and prints its table; how fast is no matter here.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run="${UHCA_SRCDIR:?}/scripts/uhca-run --private"
program=${UHCA_BUILDDIR:?}/tests/verbs/queues/channel_cost

out=$($run --limit max_cq=5000 -- "$program") || exit 1
echo "$out"
for line in '| ibv_create_comp_channel ' '| ibv_create_cq ' '| ibv_destroy_cq ' \
	'| ibv_destroy_comp_channel ' '| the daemon, '; do
	echo "$out" | grep -qF "$line" && continue
	echo "FAIL: no line '$line'"
	exit 1
done

# shellcheck disable=SC3045 # dash has it
ulimit -n 600 || exit 1
line='172 CQs instead of 4095: the hard limit of descriptors (ulimit -Hn)'
out=$($run -- "$program") || exit 1
echo "$out" | grep -qxF "$line" && exit
echo "FAIL: no line '$line': $out"
exit 1
