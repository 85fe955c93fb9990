/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capture of a daemon: one pcapng file with the packets of its devices, as Wireshark and tshark
 * open it, and with their metadata (emu/abi/packet_metadata.h). Bursts are expanded to packets,
 * each with Ethernet, IP and UDP headers and its ICRC as if it had travelled alone (identification
 * 0). Each device is an interface of the file; a packet from one device of the daemon to another is
 * there twice, outbound and inbound.
 */
#ifndef IO_CAPTURE_H
#define IO_CAPTURE_H

#include "emu/abi/cause.h"
#include "emu/core/core.h"
#include "packet_frame.h"
#include "pcapng.h"
#include "wire/mad.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_CAPTURE_INTERFACES 64
#define IO_CAPTURE_KEYS       64

/* Values of snap: packets are kept whole; only their headers, and what has no payload whole. */
#define IO_CAPTURE_ALL     UINT32_MAX
#define IO_CAPTURE_HEADERS (UINT32_MAX - 1)

/* No packet is cut in its headers, nor a MAD: the longest of these. */
#define IO_CAPTURE_LEAST (IO_FRAME_HEADERS + ROCE_MAD_LENGTH)

/* What a capture is to hold. */
struct io_capture_wish {
	const char *path;
	int only;      /* an interface, or -1: all */
	uint32_t snap; /* bytes of each packet, but all headers; 0: no packets; IO_CAPTURE_* */
	bool aside;    /* a thread opens and writes the file */
};

/* What happened to some packets of a burst. */
struct io_capture_fate {
	uint32_t psn, count; /* "count" packets from this one on; UINT32_MAX: all */
	uint32_t rule;       /* that did it; 0: none */
	const char *dropped; /* why, static text; NULL: they went on */
	const char *judged;  /* what the device did instead of executing them; NULL: nothing */
	struct uhca_abi_cause cause; /* of dropped and judged; kind NONE: not known */
};

#define IO_CAPTURE_FATES 16

/* A burst as a box saw it. */
struct io_capture_burst {
	const struct core_burst *burst;
	unsigned interface;
	uint32_t flags; /* IO_PCAPNG_INBOUND or IO_PCAPNG_OUTBOUND */
	uint64_t wall;  /* nanoseconds since 1970 */
	unsigned n_fates;
	struct io_capture_fate fate[IO_CAPTURE_FATES];
};

struct io_capture {
	struct io_pcapng file;
	char path[PATH_MAX];
	uint32_t snap;
	int only;
	uint64_t packets;
	uint64_t bytes; /* of packets, as they travelled */
	uint64_t records;
	unsigned n_interfaces;
	char interface[IO_CAPTURE_INTERFACES][16];
	/* The text of a fault rule, or NULL; may be NULL itself. */
	const char *(*rule_text)(void *user, uint32_t number);
	/* What a capture of the recorder ends with; may be NULL. */
	void (*ending)(void *user, struct io_capture *to, uint64_t wall);
	void *user;
	/* A burst that is on its way down: written before anything that comes of it. */
	struct io_capture_burst *pending;
	uint64_t lost_recorded;         /* packets and records left out of which the file tells */
	uint32_t keys[IO_CAPTURE_KEYS]; /* of each 64th key the last one that was told of */
};

void io_capture_init(struct io_capture *c);

/* Names the next interface; its number is what io_pcap_box_init gets. */
unsigned io_capture_add_interface(struct io_capture *c, const char *name);

/*
 * Starts writing to the file, which is made or overwritten. 0 or -errno, see io_pcapng_open.
 */
int io_capture_start(struct io_capture *c, const struct io_capture_wish *wish);

/*
 * Writes what is buffered and closes the file. 0, or -errno when something could not be written.
 * Where a thread writes it waits for IO_CAPTURE_LAST_MS at most (-ETIMEDOUT).
 */
#define IO_CAPTURE_LAST_MS 1000
int io_capture_stop(struct io_capture *c);

/*
 * The same without waiting for a thread: *writer, for whoever waits, is that thread's; NULL when
 * there is none. The caller closes it.
 */
int io_capture_end(struct io_capture *c, struct io_file_writer **writer);

/* Writes what is buffered, so that who looks at the file sees all of it. */
void io_capture_flush(struct io_capture *c);

static inline bool io_capture_running(const struct io_capture *c)
{
	return io_pcapng_is_open(&c->file);
}

/* Packets that the file system did not take in time; they are among the packets. */
static inline uint64_t io_capture_lost(const struct io_capture *c)
{
	return c->file.lost_packets;
}

/* Why it stopped by itself: -errno, or 0. */
static inline int io_capture_error(const struct io_capture *c)
{
	return c->file.error;
}

/* True when it runs and this interface is part of it. */
static inline bool io_capture_wants(const struct io_capture *c, unsigned interface)
{
	return io_capture_running(c) && (c->only < 0 || (unsigned)c->only == interface);
}

/* All packets of a burst, with their comments. */
void io_capture_put(struct io_capture *c, const struct io_capture_burst *t);

/*
 * A datagram that was refused before it became a packet: bytes from the BTH to the ICRC, of a
 * flow; dropped: why.
 */
struct io_capture_bytes {
	unsigned interface;
	uint64_t wall;
	const struct roce_flow *flow;
	const uint8_t *p;
	size_t len;
	const char *dropped;
};

void io_capture_put_bytes(struct io_capture *c, const struct io_capture_bytes *b);

/* A record, see model.h. */
void io_capture_record(struct io_capture *c, uint64_t wall, const char *text);

/* Writes the pending burst; to be called before anything is done that comes behind it. */
void io_capture_settle(struct io_capture *c);

/* False when this key was told of before; it counts as told from now on. */
bool io_capture_new_key(struct io_capture *c, uint32_t key);

#endif
