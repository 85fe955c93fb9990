#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/changes/rate_limit inside one daemon, and over UDP.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
for way in --no-wire --wire; do
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 $way -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/changes/rate_limit" print || status=1
done
exit $status
