/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requester half of a QP: takes send requests, gives each its PSNs, cuts it into bursts and
 * sends them (IBTA vol. 1, 9.7.2 and 9.7.3). The completer (completer.h) reads the answers and
 * retires requests; retry.h decides when to send again.
 */
#ifndef CORE_REQUESTER_H
#define CORE_REQUESTER_H

#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Builds the next burst of requests, if one may go now. */
bool requester_transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_burst *out);

/*
 * A READ is asked for in pieces of this size, so that its answers never overrun a socket: whole
 * packets, because a request takes one PSN for each packet of its response (9.7.2).
 */
uint32_t requester_read_piece(const struct qp *qp);

/* Bytes of the stream of all messages that are acknowledged. */
uint64_t requester_acked(const struct qp *qp);

/* READs, atomics, memory placement: complete only when the response has come. */
bool requester_awaits_response(const struct send_wr *w);

/* An atomic with masks (masked_atomic.h). */
bool requester_is_masked(const struct send_wr *w);

/*
 * Takes one request from the ring and checks it: its index, length and status (UHCA_ABI_WC_*) are
 * in *out, its scatter/gather list in *l. Both are set when FETCH_OK is returned.
 */
enum fetch_verdict requester_fetch(struct qp *qp, struct send_wr **out, struct sgl *l);

/* The scatter/gather list of a fetched request. */
struct sgl requester_sgl(struct qp *qp, const struct send_wr *w);

#endif
