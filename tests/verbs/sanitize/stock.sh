#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Stock programs under --sanitize=all: each finding is one that stock.supp explains, or one of the
# rows' own programs. docs/reference/sanitizer/stock.md has the table.
#
#   stock.sh          one or two rows of each group, in half a minute
#   stock.sh --all    all rows of a device, and rdma-core's suite in Python
set -u
clients=${UHCA_SRCDIR:?}/tests/verbs/clients
# Words that name rows: each line is one call.
some=(
	'pingpong rc-events' 'pingpong srq-check' 'perftest send_bw-events' 'rdmacm rping'
	'rdmacm ucmatose' 'rdmacm cmtime' 'rdmacm rdma_xclient' 'rsockets preload-echo'
	'fabric msg' 'ucx ud' 'mpi openmpi-2-rc' 'mpi openmpi-2-ud' 'fio read' 'qperf rdma_cm'
)

if [ "${1:-}" = --all ]; then
	exec "$clients" -s all internal pyverbs
fi
failed=0
for words in "${some[@]}"; do
	# shellcheck disable=SC2086 # words
	"$clients" -s all internal -- $words || failed=1
done
exit $failed
