#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/cm/cm_backlog.c inside a device, and over UDP.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
for option in --no-wire --wire; do
	"${UHCA_SRCDIR:?}/scripts/uhca-run" --private "$option" -- \
		"${UHCA_BUILDDIR:?}/tests/verbs/cm/cm_backlog" || exit 1
done
