/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See pcap.h. The format is that of draft-ietf-opsawg-pcapng: a section header, one interface
 * description per device with nanosecond time stamps, enhanced packet blocks with the direction
 * as an option. Numbers are in the byte order of this machine, which the format allows.
 */
#include "pcap.h"

#include "clock.h"
#include "icrc.h"
#include "log.h"
#include "packet.h"
#include "udpip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 18)

#define ETHERNET_LENGTH 14
#define ETHERTYPE_IPV4  0x0800
#define ETHERTYPE_IPV6  0x86dd

#define BLOCK_SECTION    0x0a0d0d0au
#define BLOCK_INTERFACE  1u
#define BLOCK_PACKET     6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINK_ETHERNET    1

#define OPTION_END    0
#define OPTION_NAME   2 /* of an interface */
#define OPTION_TSRES  9 /* its time resolution: power of ten */
#define OPTION_FLAGS  2 /* of a packet: bits 0..1 direction */
#define FLAG_INBOUND  1u
#define FLAG_OUTBOUND 2u

#define FRAME_MAX (ETHERNET_LENGTH + 48 + ROCE_MAX_PACKET_LENGTH)
#define BLOCK_MAX (FRAME_MAX + 64)

/* ---- blocks in the buffer ---- */

static void put(struct io_capture *c, const void *p, size_t len)
{
	if (len > 0)
		memcpy(c->buffer + c->used, p, len);
	c->used += len;
}

static void put32(struct io_capture *c, uint32_t v)
{
	put(c, &v, sizeof(v));
}

static void pad32(struct io_capture *c)
{
	while (c->used % 4)
		c->buffer[c->used++] = 0;
}

static void put_option(struct io_capture *c, uint16_t code, const void *value, uint16_t len)
{
	put(c, &code, sizeof(code));
	put(c, &len, sizeof(len));
	put(c, value, len);
	pad32(c);
}

static size_t begin_block(struct io_capture *c, uint32_t type)
{
	size_t start = c->used;

	put32(c, type);
	put32(c, 0);
	return start;
}

/* The length stands at both ends of a block. */
static void end_block(struct io_capture *c, size_t start)
{
	uint32_t len = (uint32_t)(c->used - start + 4);

	memcpy(c->buffer + start + 4, &len, sizeof(len));
	put32(c, len);
}

static void put_section(struct io_capture *c)
{
	static const uint16_t version[2] = {1, 0};
	static const uint64_t unknown = UINT64_MAX;
	size_t start = begin_block(c, BLOCK_SECTION);

	put32(c, BYTE_ORDER_MAGIC);
	put(c, version, sizeof(version));
	put(c, &unknown, sizeof(unknown));
	end_block(c, start);
}

static void put_interface(struct io_capture *c, const char *name)
{
	static const uint16_t link[2] = {LINK_ETHERNET, 0};
	static const uint8_t nanoseconds = 9;
	size_t start = begin_block(c, BLOCK_INTERFACE);

	put(c, link, sizeof(link));
	put32(c, 0); /* packets are never cut */
	put_option(c, OPTION_NAME, name, (uint16_t)strlen(name));
	put_option(c, OPTION_TSRES, &nanoseconds, 1);
	put_option(c, OPTION_END, NULL, 0);
	end_block(c, start);
}

/* ---- the file ---- */

void io_capture_init(struct io_capture *c)
{
	*c = (struct io_capture){.fd = -1};
}

unsigned io_capture_add_interface(struct io_capture *c, const char *name)
{
	strncpy(c->interface[c->n_interfaces], name, sizeof(c->interface[0]) - 1);
	return c->n_interfaces++;
}

static int open_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int io_capture_start(struct io_capture *c, const char *path)
{
	int fd;

	if (io_capture_running(c))
		return -EBUSY;
	if (strlen(path) >= sizeof(c->path))
		return -ENAMETOOLONG;
	fd = open_file(path);
	if (fd < 0)
		return fd;
	c->buffer = malloc(BUFFER_BYTES);
	if (!c->buffer) {
		close(fd);
		return -ENOMEM;
	}
	memcpy(c->path, path, strlen(path) + 1);
	c->fd = fd;
	c->used = 0;
	c->packets = c->bytes = 0;
	c->error = 0;
	put_section(c);
	for (unsigned i = 0; i < c->n_interfaces; i++)
		put_interface(c, c->interface[i]);
	io_capture_flush(c);
	return c->error;
}

static void close_file(struct io_capture *c)
{
	close(c->fd);
	free(c->buffer);
	c->fd = -1;
	c->buffer = NULL;
	c->used = 0;
}

void io_capture_flush(struct io_capture *c)
{
	size_t done = 0;

	while (done < c->used) {
		ssize_t n = write(c->fd, c->buffer + done, c->used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			c->error = n < 0 ? -errno : -EIO;
			io_log(IO_LOG_ERROR, "capture to %s stopped: %s", c->path,
			       strerror(-c->error));
			close_file(c);
			return;
		}
		done += (size_t)n;
	}
	c->used = 0;
}

int io_capture_stop(struct io_capture *c)
{
	io_capture_flush(c);
	if (io_capture_running(c))
		close_file(c);
	return c->error;
}

/* ---- packets ---- */

/* Locally administered addresses that show the last four bytes of the IP address. */
static size_t put_ethernet(uint8_t *p, const struct roce_flow *f)
{
	uint16_t type = roce_flow_is_v4(f) ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;

	p[0] = p[6] = 0x02;
	p[1] = p[7] = 0;
	memcpy(p + 2, f->dst + 12, 4);
	memcpy(p + 8, f->src + 12, 4);
	p[12] = (uint8_t)(type >> 8);
	p[13] = (uint8_t)type;
	return ETHERNET_LENGTH;
}

/* Copies len bytes of the train's payload from offset on. */
static void copy_payload(uint8_t *to, const struct core_train *t, uint32_t offset, uint32_t len)
{
	for (unsigned i = 0; i < t->n_iov && len > 0; i++) {
		uint32_t piece = (uint32_t)t->iov[i].iov_len;

		if (offset >= piece) {
			offset -= piece;
			continue;
		}
		piece -= offset;
		if (piece > len)
			piece = len;
		memcpy(to, (const uint8_t *)t->iov[i].iov_base + offset, piece);
		to += piece;
		len -= piece;
		offset = 0;
	}
}

/* Writes the frame of packet i of the train at p (FRAME_MAX bytes); returns its length. */
static size_t make_frame(const struct core_train *t, uint32_t i, uint8_t *p)
{
	struct roce_packet pkt;
	uint8_t *start = p;
	uint8_t *bth;
	uint32_t offset;
	size_t head;
	size_t udp;

	core_train_packet(t, i, &pkt, &offset);
	head = roce_header_length(pkt.bth.opcode);
	udp = head + pkt.payload_len + pkt.bth.pad + ROCE_ICRC_LENGTH;
	p += put_ethernet(p, &t->flow);
	p += roce_udpip_emit(&t->flow, 0, udp, p);
	bth = p;
	p += roce_packet_emit_headers(&pkt, p, ROCE_MAX_HEADER_LENGTH);
	copy_payload(p, t, offset, pkt.payload_len);
	p += pkt.payload_len;
	memset(p, 0, pkt.bth.pad);
	p += pkt.bth.pad;
	roce_icrc_store(roce_icrc_begin(&t->flow, 0, udp, bth, (size_t)(p - bth)), p);
	return (size_t)(p + ROCE_ICRC_LENGTH - start);
}

static void put_packet(const struct io_pcap_box *b, const struct core_train *t, uint32_t i,
		       uint64_t wall, uint32_t flags)
{
	struct io_capture *c = b->capture;
	uint32_t len;
	size_t start;

	if (BUFFER_BYTES - c->used < BLOCK_MAX)
		io_capture_flush(c);
	if (!io_capture_running(c))
		return;
	start = begin_block(c, BLOCK_PACKET);
	put32(c, b->interface);
	put32(c, (uint32_t)(wall >> 32));
	put32(c, (uint32_t)wall);
	len = (uint32_t)make_frame(t, i, c->buffer + c->used + 8);
	put32(c, len);
	put32(c, len);
	c->used += len;
	pad32(c);
	put_option(c, OPTION_FLAGS, &flags, sizeof(flags));
	put_option(c, OPTION_END, NULL, 0);
	end_block(c, start);
	c->packets++;
	c->bytes += len;
}

static void record(const struct io_pcap_box *b, const struct core_train *t, uint32_t flags)
{
	uint64_t wall;

	if (!io_capture_running(b->capture))
		return;
	wall = io_clock_wall();
	for (uint32_t i = 0; i < t->count; i++)
		put_packet(b, t, i, wall, flags);
}

static void pcap_send(struct netif *n, const struct core_train *t, uint64_t now)
{
	record((struct io_pcap_box *)n, t, FLAG_OUTBOUND);
	netif_send(n->below, t, now);
}

static void pcap_receive(struct netif *n, const struct core_train *t, uint64_t now)
{
	record((struct io_pcap_box *)n, t, FLAG_INBOUND);
	netif_receive(n->above, t, now);
}

static const struct netif_ops pcap_ops = {.send = pcap_send, .receive = pcap_receive};

void io_pcap_box_init(struct io_pcap_box *b, struct io_capture *capture, unsigned interface)
{
	*b = (struct io_pcap_box){
		.netif.ops = &pcap_ops, .capture = capture, .interface = interface};
}
