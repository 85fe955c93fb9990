#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tail_latency.c runs to its end and prints its table, over UDP too; how fast is no
# matter here. A device without low-latency QPs says so.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run="${UHCA_SRCDIR:?}/scripts/uhca-run --private"
program=${UHCA_BUILDDIR:?}/tests/verbs/queues/tail_latency

for wire in '' --wire; do
	out=$($run $wire -- "$program" 2 40 7) || exit 1
	echo "$out"
	for line in 'seed: 7' 'order: o l l o ' 'the stream beside it: ' '| ordinary ' \
		'| low-latency ' '| ratio '; do
		echo "$out" | grep -qF "$line" && continue
		echo "FAIL: no line '$line'"
		exit 1
	done
done

if out=$($run --profile iwarp-like -- "$program" 1 1 2>&1); then
	echo "FAIL: a device without low-latency queue pairs made one"
	exit 1
fi
echo "$out" | grep -qF 'uhcadv_create_qp (errno: Operation not supported)' && exit
echo "FAIL: refused with: $out"
exit 1
