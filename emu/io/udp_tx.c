/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See udp_tx.h. The identification that the ICRC covers is the packet's place in its run, since
 * the kernel numbers the segments of a send from 0 (udp_socket.h).
 *
 * In memory a run is: headers of packet 0, its payload, trailer of packet 0 and headers of packet
 * 1 side by side, its payload, and so on: two pieces per packet.
 */
#include "udp_tx.h"

#include "icrc.h"
#include "packet.h"

#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

#define BATCH_PACKETS 64 /* packets of one sendmmsg; also the kernel's limit of segments */
#define BATCH_IOV     (2 * BATCH_PACKETS + CORE_TRAIN_IOV + BATCH_PACKETS)
#define RUN_BYTES     65507 /* UDP payload of the largest IPv4 datagram */
#define HOPS_DEFAULT  64

#define TRAILER_MAX (3 + ROCE_ICRC_LENGTH)

/* Room for the control messages of one send. */
union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(uint16_t)) + 2 * CMSG_SPACE(sizeof(int))];
};

/* What one sendmmsg is made of. */
struct batch {
	struct roce_flow flow;
	union io_sockaddr to;
	socklen_t to_len;
	uint8_t text[BATCH_PACKETS * (ROCE_MAX_HEADER_LENGTH + TRAILER_MAX)];
	uint8_t *end; /* of what is used of text */
	struct iovec iov[BATCH_IOV];
	unsigned n_iov;
	struct mmsghdr msg[BATCH_PACKETS];
	union control control[BATCH_PACKETS];
	uint32_t packets[BATCH_PACKETS]; /* in each message */
	uint32_t segment[BATCH_PACKETS]; /* length of its packets but the last */
	size_t bytes[BATCH_PACKETS];
	unsigned n_msg;
};

/* Where payload is taken from next. */
struct source {
	const struct iovec *iov;
	size_t skip;
};

static struct source source_at(const struct core_train *t, uint32_t offset)
{
	struct source s = {t->iov, offset};

	while (s.skip > 0 && s.skip >= s.iov->iov_len)
		s.skip -= s.iov++->iov_len;
	return s;
}

static void add_piece(struct batch *b, const void *p, size_t len)
{
	b->iov[b->n_iov++] = (struct iovec){(void *)(uintptr_t)p, len};
	b->msg[b->n_msg - 1].msg_hdr.msg_iovlen++;
}

/* Text that stands directly behind the last piece lengthens that piece. */
static void add_text(struct batch *b, size_t len)
{
	struct iovec *last = b->n_iov ? &b->iov[b->n_iov - 1] : NULL;

	if (b->msg[b->n_msg - 1].msg_hdr.msg_iovlen > 0 &&
	    (uint8_t *)last->iov_base + last->iov_len == b->end)
		last->iov_len += len;
	else
		add_piece(b, b->end, len);
	b->end += len;
}

static uint32_t add_payload(struct batch *b, struct source *from, size_t len, uint32_t icrc)
{
	while (len > 0) {
		size_t piece = from->iov->iov_len - from->skip;
		const uint8_t *p = (const uint8_t *)from->iov->iov_base + from->skip;

		if (piece > len)
			piece = len;
		if (piece > 0)
			add_piece(b, p, piece);
		icrc = roce_icrc_update(icrc, p, piece);
		len -= piece;
		from->skip += piece;
		if (from->skip == from->iov->iov_len) {
			from->iov++;
			from->skip = 0;
		}
	}
	return icrc;
}

static void start_message(struct batch *b, uint32_t segment)
{
	unsigned i = b->n_msg++;

	b->msg[i].msg_hdr = (struct msghdr){
		.msg_name = &b->to, .msg_namelen = b->to_len, .msg_iov = &b->iov[b->n_iov]};
	b->packets[i] = 0;
	b->segment[i] = segment;
	b->bytes[i] = 0;
}

/* Does a packet of len bytes belong to the message that is being made? */
static bool continues_run(const struct batch *b, uint32_t len, bool gso)
{
	unsigned i = b->n_msg - 1;

	return gso && b->n_msg > 0 && len <= b->segment[i] &&
	       b->bytes[i] == (size_t)b->packets[i] * b->segment[i] &&
	       b->bytes[i] + len <= RUN_BYTES;
}

static void add_packet(struct batch *b, const struct io_udp_tx *tx, uint32_t index,
		       struct source *from)
{
	struct roce_packet pkt;
	uint32_t offset;
	uint32_t len;
	uint32_t icrc;
	size_t head;

	core_train_packet(tx->train, index, &pkt, &offset);
	head = roce_packet_emit_headers(&pkt, b->end, ROCE_MAX_HEADER_LENGTH);
	len = (uint32_t)head + pkt.payload_len + pkt.bth.pad + ROCE_ICRC_LENGTH;
	if (!continues_run(b, len, tx->gso))
		start_message(b, len);
	icrc = roce_icrc_begin(&b->flow, (uint16_t)b->packets[b->n_msg - 1], len, b->end, head);
	add_text(b, head);
	icrc = add_payload(b, from, pkt.payload_len, icrc);
	memset(b->end, 0, pkt.bth.pad);
	icrc = roce_icrc_update(icrc, b->end, pkt.bth.pad);
	roce_icrc_store(icrc, b->end + pkt.bth.pad);
	add_text(b, pkt.bth.pad + ROCE_ICRC_LENGTH);
	b->packets[b->n_msg - 1]++;
	b->bytes[b->n_msg - 1] += len;
}

/* ---- ancillary data ---- */

static void add_control(struct msghdr *m, union control *c, int level, int type, const void *value,
			size_t size)
{
	struct cmsghdr *h = (struct cmsghdr *)(void *)(c->space + m->msg_controllen);

	m->msg_control = c;
	m->msg_controllen += CMSG_SPACE(size);
	h->cmsg_level = level;
	h->cmsg_type = type;
	h->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(h), value, size);
}

static void add_int(struct msghdr *m, union control *c, int level, int type, int value)
{
	add_control(m, c, level, type, &value, sizeof(value));
}

/* Only what differs from a socket's defaults; most sends need none. */
static void add_controls(struct batch *b, unsigned i)
{
	struct msghdr *m = &b->msg[i].msg_hdr;
	union control *c = &b->control[i];
	bool v4 = b->to.any.sa_family == AF_INET;
	uint16_t segment = (uint16_t)b->segment[i];

	memset(c, 0, sizeof(*c));
	if (b->packets[i] > 1)
		add_control(m, c, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment));
	if (b->flow.tclass && v4)
		add_int(m, c, IPPROTO_IP, IP_TOS, b->flow.tclass);
	else if (b->flow.tclass)
		add_int(m, c, IPPROTO_IPV6, IPV6_TCLASS, b->flow.tclass);
	if (b->flow.hop_limit == HOPS_DEFAULT || b->flow.hop_limit == 0)
		return;
	if (v4)
		add_int(m, c, IPPROTO_IP, IP_TTL, b->flow.hop_limit);
	else
		add_int(m, c, IPPROTO_IPV6, IPV6_HOPLIMIT, b->flow.hop_limit);
}

/* ---- sending ---- */

static void build(struct batch *b, const struct io_udp_tx *tx)
{
	const struct core_train *t = tx->train;
	struct source from = source_at(t, tx->next * t->segment);
	uint32_t end = t->count - tx->next > BATCH_PACKETS ? tx->next + BATCH_PACKETS : t->count;

	b->flow = t->flow;
	b->flow.sport = tx->sport;
	b->flow.dport = ROCE_UDP_PORT;
	b->to_len = io_address_to_sockaddr(&tx->dst, ROCE_UDP_PORT, &b->to);
	b->end = b->text;
	b->n_iov = b->n_msg = 0;
	for (uint32_t i = tx->next; i < end; i++)
		add_packet(b, tx, i, &from);
	for (unsigned i = 0; i < b->n_msg; i++)
		add_controls(b, i);
}

static enum io_udp_tx_result judge(int error, const struct batch *b, unsigned i)
{
	if (error == EAGAIN || error == ENOBUFS || error == ENOMEM)
		return IO_UDP_TX_FULL;
	if (b->packets[i] > 1 && (error == EINVAL || error == EIO || error == EOPNOTSUPP))
		return IO_UDP_TX_NO_GSO;
	return IO_UDP_TX_ERROR;
}

static enum io_udp_tx_result send_batch(struct io_udp_tx *tx, struct batch *b, uint64_t *packets,
					int *error)
{
	unsigned done = 0;

	while (done < b->n_msg) {
		int n = sendmmsg(tx->fd, b->msg + done, b->n_msg - done,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			*error = errno;
			return judge(errno, b, done);
		}
		for (unsigned end = done + (unsigned)n; done < end; done++) {
			tx->next += b->packets[done];
			*packets += b->packets[done];
		}
	}
	return IO_UDP_TX_DONE;
}

enum io_udp_tx_result io_udp_tx_run(struct io_udp_tx *tx, uint64_t *packets, int *error)
{
	enum io_udp_tx_result result = IO_UDP_TX_DONE;
	struct batch b;

	while (result == IO_UDP_TX_DONE && tx->next < tx->train->count) {
		build(&b, tx);
		result = send_batch(tx, &b, packets, error);
	}
	return result;
}
