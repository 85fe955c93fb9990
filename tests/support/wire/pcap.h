/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Just enough of the classic pcap format for tests: read a whole file, Ethernet or raw IP, either
 * byte order, and write one of raw IP packets.
 */
#ifndef TESTS_SUPPORT_PCAP_H
#define TESTS_SUPPORT_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pcap {
	uint8_t *bytes; /* owned: pcap_close frees it */
	size_t len;
	size_t at;
	uint64_t time; /* of the packet read last: ns since 1970 */
	uint32_t linktype;
	bool swapped; /* written on a machine of the other byte order */
	bool error;   /* a record that ends beyond the file was met */
};

/* Loads the file. Returns 0, or -errno (-EINVAL: not such a file) with a message on stderr. */
int pcap_open(const char *path, struct pcap *out);

/*
 * The next IP packet: from its IP header to the end of the frame. Frames that carry no IP are
 * skipped. Returns false at the end of the file, and when it is broken, which sets p->error.
 */
bool pcap_next(struct pcap *p, const uint8_t **ip, size_t *len);

void pcap_close(struct pcap *p);

/* Writes the header of a file of raw IP packets, and one packet, to f. 0 or -errno. */
int pcap_write_header(FILE *f);
int pcap_write_packet(FILE *f, const uint8_t *ip, size_t len);

#endif
