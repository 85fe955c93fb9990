#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Stock programs under --sanitize=all: each finding is one that stock.supp explains, or one of the
# rows' own programs. docs/reference/sanitizer/stock.md has the table.
#
#   stock.sh          one or two rows of each group, in half a minute
#   stock.sh --all    all rows of a device, and rdma-core's suite in Python
set -u -o pipefail
clients=${UHCA_SRCDIR:?}/tests/verbs/clients
# Patterns of "group name", for one call: each call has to begin a daemon and the rows' machinery.
some=(
	'pingpong *rc-events' 'pingpong *srq-check' 'perftest *send_bw-events' 'rdmacm *rping'
	'rdmacm *ucmatose' 'rdmacm *cmtime' 'rdmacm *rdma_xclient' 'rsockets *preload-echo'
	'fabric *msg' 'ucx *ud' 'mpi *openmpi-2-rc' 'mpi *openmpi-2-ud' 'fio *read' 'qperf *rdma_cm'
)

if [ "${1:-}" = --all ]; then
	exec "$clients" -s all internal pyverbs
fi
# UCX posts 4,095 receives by default: what the sanitizer notes of them takes most of the time.
export UCX_IB_RX_QUEUE_LEN=256
failed=0
printf -v words '%s|' "${some[@]}"
said=$("$clients" -s all internal -- "${words%|}" | tee /dev/stderr) || failed=1
for words in "${some[@]}"; do
	grep -q " internal ${words/\*/.*}" <<<"$said" || { echo "no row: $words" && failed=1; }
done
exit $failed
