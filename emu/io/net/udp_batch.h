/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one sendmmsg is made of: packets of one flow, neighbours of equal length joined to runs
 * that leave as one UDP_SEGMENT send. The identification that the ICRC covers is the packet's
 * place in its run, since the kernel numbers the segments of a send from 0 (udp_socket.h).
 *
 * Use: begin; add while there is room; send until it says DONE. A batch whose payload was copied
 * may wait before it is sent, and be taken apart when the path knows no segments.
 */
#ifndef IO_UDP_BATCH_H
#define IO_UDP_BATCH_H

#include "emu/core/core.h"
#include "emu/io/base/base.h"
#include "udp_errors.h"
#include "wire/packet.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define IO_UDP_BATCH_PACKETS 64           /* the kernel's limit of segments in one send */
#define IO_UDP_BATCH_COPY    ROCE_MAX_MTU /* bytes of a packet's payload that can be copied */

enum io_udp_tx_result {
	IO_UDP_TX_DONE,
	IO_UDP_TX_FULL,   /* the socket takes no more now; carry on when it is writable */
	IO_UDP_TX_NO_GSO, /* these packets cannot go as segments */
	IO_UDP_TX_ERROR,  /* *error says why; the first message that was not sent cannot be */
};

/* Where payload is taken from next. */
struct io_udp_source {
	const struct iovec *iov;
	size_t skip;
};

/* Room for the control messages of one send. */
union io_udp_control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(uint16_t)) + 2 * CMSG_SPACE(sizeof(int))];
};

#define IO_UDP_BATCH_TRAILER (3 + ROCE_ICRC_LENGTH)
/* Copies: of 16 of the longest packets, as many as one QP sends in its turn. */
#define IO_UDP_BATCH_TEXT                                                                          \
	(IO_UDP_BATCH_PACKETS * (ROCE_MAX_HEADER_LENGTH + IO_UDP_BATCH_TRAILER) +                  \
	 16 * IO_UDP_BATCH_COPY)
#define IO_UDP_BATCH_IOV (3 * IO_UDP_BATCH_PACKETS + CORE_BURST_IOV)

struct io_udp_batch {
	int fd;
	bool gso;
	bool bad_icrc;                      /* packets leave with a wrong one; begin says no */
	const struct io_udp_errors *errors; /* who is told of them; begin says NULL */
	struct roce_flow flow;
	union io_sockaddr to;
	socklen_t to_len;
	unsigned n_packets;
	unsigned n_msg, sent; /* messages, and how many of them have left */
	unsigned n_iov;
	uint8_t *end; /* of what is used of text */
	struct mmsghdr msg[IO_UDP_BATCH_PACKETS];
	union io_udp_control control[IO_UDP_BATCH_PACKETS];
	uint32_t packets[IO_UDP_BATCH_PACKETS]; /* in each message */
	uint32_t segment[IO_UDP_BATCH_PACKETS]; /* length of its packets but the last */
	size_t bytes[IO_UDP_BATCH_PACKETS];
	struct iovec iov[IO_UDP_BATCH_IOV];
	uint8_t text[IO_UDP_BATCH_TEXT];
};

/* An empty batch; flow.sport is the port that fd is bound to. */
void io_udp_batch_begin(struct io_udp_batch *b, int fd, const struct roce_flow *flow,
			const struct io_address *dst, bool gso);

/* Adds a packet whose payload comes from *from (moved on) and must stay where it is. */
void io_udp_batch_add(struct io_udp_batch *b, const struct roce_packet *pkt,
		      struct io_udp_source *from);

/*
 * Adds a packet with a copy of its payload (at most IO_UDP_BATCH_COPY bytes): one piece instead of
 * three, which costs the kernel more than the copy costs us.
 */
void io_udp_batch_copy(struct io_udp_batch *b, const struct roce_packet *pkt,
		       const struct iovec *payload, unsigned n);

/* No room for another packet of which so many bytes are copied. */
static inline bool io_udp_batch_full(const struct io_udp_batch *b, uint32_t copied)
{
	return b->n_packets == IO_UDP_BATCH_PACKETS ||
	       (size_t)(b->text + sizeof(b->text) - b->end) <
		       ROCE_MAX_HEADER_LENGTH + copied + IO_UDP_BATCH_TRAILER;
}

/* Sends what has not left yet. *packets is increased by what went out. */
enum io_udp_tx_result io_udp_batch_send(struct io_udp_batch *b, uint64_t *packets, int *error);

/*
 * After NO_GSO: what has not left of a batch of copies is made into messages of one packet each.
 */
void io_udp_batch_split(struct io_udp_batch *b);

/* After ERROR: the message that cannot be sent is given up; its packets. */
uint32_t io_udp_batch_skip(struct io_udp_batch *b);

#endif
