#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The first few rows of the stock programs, as one test of make check.
for program in ibv_rc_pingpong ib_write_bw; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done
clients=${UHCA_SRCDIR:?}/tests/verbs/clients
"$clients" -v internal -- device ibv_dev &&
	"$clients" -v internal wire -- pingpong rc-check &&
	"$clients" -v internal -- perftest write_bw-RC
