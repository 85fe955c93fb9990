#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/system/nccl_style.c, on the device and over UDP.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
for way in "" --wire; do
	# shellcheck disable=SC2086 # nothing, or an option
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private $way -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/system/nccl_style" || status=1
done
exit $status
