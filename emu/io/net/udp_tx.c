/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends a burst through a socket in batches, and resumes where the socket was full. */
#include "udp_tx.h"

static struct io_udp_source source_at(const struct core_burst *t, uint32_t offset)
{
	struct io_udp_source s = {t->iov, offset};

	while (s.skip > 0 && s.skip >= s.iov->iov_len)
		s.skip -= s.iov++->iov_len;
	return s;
}

static void build(struct io_udp_batch *b, const struct io_udp_tx *tx)
{
	const struct core_burst *t = tx->burst;
	struct io_udp_source from = source_at(t, tx->next * t->segment);
	struct roce_flow flow = t->flow;

	flow.sport = tx->sport;
	io_udp_batch_begin(b, tx->fd, &flow, &tx->dst, tx->gso);
	b->bad_icrc = t->model.bad_icrc;
	b->errors = tx->errors;
	for (uint32_t i = tx->next; i < t->count && !io_udp_batch_full(b, 0); i++) {
		struct roce_packet pkt;
		uint32_t offset;

		core_burst_packet(t, i, &pkt, &offset);
		io_udp_batch_add(b, &pkt, &from);
	}
}

enum io_udp_tx_result io_udp_tx_run(struct io_udp_tx *tx, uint64_t *packets, int *error)
{
	enum io_udp_tx_result result = IO_UDP_TX_DONE;
	struct io_udp_batch b;

	while (result == IO_UDP_TX_DONE && tx->next < tx->burst->count) {
		uint64_t sent = 0;

		build(&b, tx);
		result = io_udp_batch_send(&b, &sent, error);
		tx->next += (uint32_t)sent;
		*packets += sent;
	}
	return result;
}
