/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See udp_batch.h. In memory a run is: headers of packet 0, its payload, trailer of packet 0 and
 * headers of packet 1 side by side, its payload, and so on: two pieces per packet; copied payload
 * makes it one piece for all.
 */
#include "udp_batch.h"

#include "wire/icrc.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

#define RUN_BYTES    65507 /* UDP payload of the largest IPv4 datagram */
#define HOPS_DEFAULT 64

void io_udp_batch_begin(struct io_udp_batch *b, int fd, const struct roce_flow *flow,
			const struct io_address *dst, bool gso)
{
	b->fd = fd;
	b->gso = gso;
	b->bad_icrc = false;
	b->errors = NULL;
	b->flow = *flow;
	b->flow.dport = ROCE_UDP_PORT;
	b->to_len = io_address_to_sockaddr(dst, ROCE_UDP_PORT, &b->to);
	b->end = b->text;
	b->n_packets = b->n_msg = b->sent = b->n_iov = 0;
}

/* ---- pieces ---- */

static void add_piece(struct io_udp_batch *b, const void *p, size_t len)
{
	b->iov[b->n_iov++] = (struct iovec){(void *)(uintptr_t)p, len};
	b->msg[b->n_msg - 1].msg_hdr.msg_iovlen++;
}

/* Text that stands directly behind the last piece lengthens that piece. */
static void add_text(struct io_udp_batch *b, size_t len)
{
	struct iovec *last = b->n_iov ? &b->iov[b->n_iov - 1] : NULL;

	if (b->msg[b->n_msg - 1].msg_hdr.msg_iovlen > 0 &&
	    (uint8_t *)last->iov_base + last->iov_len == b->end)
		last->iov_len += len;
	else
		add_piece(b, b->end, len);
	b->end += len;
}

static uint32_t add_payload(struct io_udp_batch *b, struct io_udp_source *from, size_t len,
			    uint32_t icrc)
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

static uint32_t copy_payload(struct io_udp_batch *b, const struct iovec *payload, unsigned n,
			     uint32_t icrc)
{
	uint8_t *start = b->end;

	for (unsigned i = 0; i < n; i++) {
		memcpy(b->end, payload[i].iov_base, payload[i].iov_len);
		add_text(b, payload[i].iov_len);
	}
	return roce_icrc_update(icrc, start, (size_t)(b->end - start));
}

/* ---- packets ---- */

static void start_message(struct io_udp_batch *b, uint32_t segment)
{
	unsigned i = b->n_msg++;

	b->msg[i].msg_hdr = (struct msghdr){
		.msg_name = &b->to, .msg_namelen = b->to_len, .msg_iov = &b->iov[b->n_iov]};
	b->packets[i] = 0;
	b->segment[i] = segment;
	b->bytes[i] = 0;
}

/* Does a packet of len bytes belong to the message that is being made? */
static bool continues_run(const struct io_udp_batch *b, uint32_t len)
{
	unsigned i = b->n_msg - 1;

	return b->gso && b->n_msg > 0 && len <= b->segment[i] &&
	       b->bytes[i] == (size_t)b->packets[i] * b->segment[i] &&
	       b->bytes[i] + len <= RUN_BYTES;
}

/* Headers, in the message they belong to; returns the ICRC so far and the packet's length. */
static uint32_t begin_packet(struct io_udp_batch *b, const struct roce_packet *pkt, uint32_t *len)
{
	size_t head = roce_packet_emit_headers(pkt, b->end, ROCE_MAX_HEADER_LENGTH);
	uint32_t icrc;

	*len = (uint32_t)head + pkt->payload_len + pkt->bth.pad + ROCE_ICRC_LENGTH;
	if (!continues_run(b, *len))
		start_message(b, *len);
	icrc = roce_icrc_begin(&b->flow, (uint16_t)b->packets[b->n_msg - 1], *len, b->end, head);
	add_text(b, head);
	return icrc;
}

static void end_packet(struct io_udp_batch *b, const struct roce_packet *pkt, uint32_t icrc,
		       uint32_t len)
{
	memset(b->end, 0, pkt->bth.pad);
	icrc = roce_icrc_update(icrc, b->end, pkt->bth.pad);
	roce_icrc_store(b->bad_icrc ? ~icrc : icrc, b->end + pkt->bth.pad);
	add_text(b, pkt->bth.pad + ROCE_ICRC_LENGTH);
	b->packets[b->n_msg - 1]++;
	b->bytes[b->n_msg - 1] += len;
	b->n_packets++;
}

void io_udp_batch_add(struct io_udp_batch *b, const struct roce_packet *pkt,
		      struct io_udp_source *from)
{
	uint32_t len;
	uint32_t icrc = begin_packet(b, pkt, &len);

	end_packet(b, pkt, add_payload(b, from, pkt->payload_len, icrc), len);
}

void io_udp_batch_copy(struct io_udp_batch *b, const struct roce_packet *pkt,
		       const struct iovec *payload, unsigned n)
{
	uint32_t len;
	uint32_t icrc = begin_packet(b, pkt, &len);

	end_packet(b, pkt, copy_payload(b, payload, n, icrc), len);
}

/* ---- ancillary data ---- */

static void add_control(struct msghdr *m, union io_udp_control *c, int level, int type,
			const void *value, size_t size)
{
	struct cmsghdr *h = (struct cmsghdr *)(void *)(c->space + m->msg_controllen);

	m->msg_control = c;
	m->msg_controllen += CMSG_SPACE(size);
	h->cmsg_level = level;
	h->cmsg_type = type;
	h->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(h), value, size);
}

static void add_int(struct msghdr *m, union io_udp_control *c, int level, int type, int value)
{
	add_control(m, c, level, type, &value, sizeof(value));
}

/* Only what differs from a socket's defaults; most sends need none. */
static void add_controls(struct io_udp_batch *b, unsigned i)
{
	struct msghdr *m = &b->msg[i].msg_hdr;
	union io_udp_control *c = &b->control[i];
	bool v4 = b->to.any.sa_family == AF_INET;
	uint16_t segment = (uint16_t)b->segment[i];

	m->msg_control = NULL;
	m->msg_controllen = 0;
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

static enum io_udp_tx_result judge(int error, const struct io_udp_batch *b)
{
	if (error == EAGAIN || error == ENOBUFS || error == ENOMEM)
		return IO_UDP_TX_FULL;
	if (b->packets[b->sent] > 1 && (error == EINVAL || error == EIO || error == EOPNOTSUPP))
		return IO_UDP_TX_NO_GSO;
	return IO_UDP_TX_ERROR;
}

/* sendmsg costs less than sendmmsg where there is one message, as there mostly is. */
static int send_some(struct io_udp_batch *b)
{
	if (b->n_msg - b->sent > 1)
		return sendmmsg(b->fd, b->msg + b->sent, b->n_msg - b->sent,
				MSG_DONTWAIT | MSG_NOSIGNAL);
	return sendmsg(b->fd, &b->msg[b->sent].msg_hdr, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 1;
}

enum io_udp_tx_result io_udp_batch_send(struct io_udp_batch *b, uint64_t *packets, int *error)
{
	for (unsigned i = b->sent; i < b->n_msg; i++)
		add_controls(b, i);
	while (b->sent < b->n_msg) {
		int n = send_some(b);

		if (n < 0 && (errno == EINTR || io_udp_errors_were(b->fd, b->errors, errno)))
			continue;
		if (n < 0) {
			*error = errno;
			return judge(errno, b);
		}
		for (unsigned end = b->sent + (unsigned)n; b->sent < end; b->sent++)
			*packets += b->packets[b->sent];
	}
	return IO_UDP_TX_DONE;
}

/* Makes packet "at" of a run a message of its own: its ICRC covered its place in the run. */
static void take_out(struct io_udp_batch *b, uint8_t *at, uint32_t len)
{
	size_t covered = len - ROCE_ICRC_LENGTH;

	roce_icrc_store(roce_icrc_begin(&b->flow, 0, len, at, covered), at + covered);
	start_message(b, len);
	add_piece(b, at, len);
	b->packets[b->n_msg - 1] = 1;
	b->bytes[b->n_msg - 1] = len;
}

void io_udp_batch_split(struct io_udp_batch *b)
{
	uint8_t *at[IO_UDP_BATCH_PACKETS];
	uint32_t len[IO_UDP_BATCH_PACKETS];
	unsigned n = 0;

	for (unsigned i = b->sent; i < b->n_msg; i++) {
		uint8_t *p = b->msg[i].msg_hdr.msg_iov->iov_base;
		size_t left = b->bytes[i];

		for (; left > 0; p += len[n], left -= len[n], n++) {
			at[n] = p;
			len[n] = left < b->segment[i] ? (uint32_t)left : b->segment[i];
		}
	}
	b->gso = false;
	b->n_msg = b->sent = b->n_iov = 0;
	for (unsigned i = 0; i < n; i++)
		take_out(b, at[i], len[i]);
}

uint32_t io_udp_batch_skip(struct io_udp_batch *b)
{
	return b->packets[b->sent++];
}
