/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture: a box that writes every packet which a device sends or receives to a pcapng file that
 * Wireshark and tshark open, whether it goes by UDP or stays in the daemon. Trains are expanded
 * to packets, each with Ethernet, IP and UDP headers and its ICRC as if it had travelled alone
 * (identification 0). Each device is an interface of the file; a packet from one device of the
 * daemon to another is there twice, outbound and inbound.
 */
#ifndef IO_PCAP_H
#define IO_PCAP_H

#include "netif.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_CAPTURE_INTERFACES 64

/* The file, one for the daemon. */
struct io_capture {
	int fd; /* -1: not running */
	char path[PATH_MAX];
	uint8_t *buffer;
	size_t used;
	uint64_t packets;
	uint64_t bytes; /* of packets */
	int error;      /* why it stopped by itself: -errno, or 0 */
	unsigned n_interfaces;
	char interface[IO_CAPTURE_INTERFACES][16];
};

void io_capture_init(struct io_capture *c);

/* Names the next interface; its number is what io_pcap_box_init gets. */
unsigned io_capture_add_interface(struct io_capture *c, const char *name);

/*
 * Starts writing to the file, which is made or overwritten. 0 or -errno: EBUSY (running), EINVAL
 * (not a regular file), or that of open(2).
 */
int io_capture_start(struct io_capture *c, const char *path);

/* Writes what is buffered and closes the file. 0, or -errno when something could not be written. */
int io_capture_stop(struct io_capture *c);

/* Writes what is buffered, so that who looks at the file sees all of it. */
void io_capture_flush(struct io_capture *c);

static inline bool io_capture_running(const struct io_capture *c)
{
	return c->fd >= 0;
}

struct io_pcap_box {
	struct netif netif;
	struct io_capture *capture;
	unsigned interface;
};

void io_pcap_box_init(struct io_pcap_box *b, struct io_capture *capture, unsigned interface);

#endif
