/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads captures block by block: pcapng (draft-ietf-opsawg-pcapng) and the classic pcap format
 * (draft-ietf-opsawg-pcap), either byte order. The file is hostile: every length is held against
 * what is there, and what is wrong is told with its place in the file.
 */
#ifndef MODEL_PCAPNG_H
#define MODEL_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAPNG_INTERFACES_MAX 4096

/* Of what kind the frames of an interface are. */
enum {
	PCAPNG_LINK_NULL = 0,
	PCAPNG_LINK_ETHERNET = 1,
	PCAPNG_LINK_RAW = 101,
	PCAPNG_LINK_SLL = 113, /* tcpdump -i any */
	PCAPNG_LINK_IPV4 = 228,
	PCAPNG_LINK_IPV6 = 229,
	PCAPNG_LINK_SLL2 = 276,
};

struct pcapng_interface {
	char name[32]; /* empty: it has none */
	uint32_t link;
	uint8_t resolution; /* of its times, as the option if_tsresol has it */
	int64_t offset;     /* seconds to add */
};

struct pcapng {
	const uint8_t *bytes;
	size_t size;
	size_t at;
	bool swapped; /* of this section */
	bool classic;
	bool nanoseconds;         /* classic: times, else microseconds */
	unsigned first_interface; /* of this section */
	unsigned n_interfaces;    /* of all sections */
	struct pcapng_interface *interface;
	char error[160];
};

enum pcapng_kind {
	PCAPNG_PACKET,
	PCAPNG_RECORD,
};

#define PCAPNG_INBOUND  1u
#define PCAPNG_OUTBOUND 2u

/* Everything points into the file. */
struct pcapng_block {
	enum pcapng_kind kind;
	size_t offset; /* of the block */
	uint64_t ns;   /* since 1970; 0: not known */
	/* Of a packet. */
	unsigned interface; /* among those of all sections */
	const uint8_t *frame;
	uint32_t captured;
	uint32_t original;  /* bytes that the frame had */
	unsigned direction; /* 0: not known */
	/* A packet's comment, a record's words; not ended by a NUL. */
	const char *text;
	size_t length;
};

/*
 * Begins with a file that is in memory, which must stay until pcapng_close. 0, -EINVAL (not a
 * capture) with the reason in f->error, or -ENOMEM.
 */
int pcapng_open(struct pcapng *f, const void *bytes, size_t size);

/*
 * The next packet, or record of the daemon; blocks of other kinds are skipped. 1; 0 at the end of
 * the file; -EINVAL when it is broken here, with the reason and the place in f->error; -ENOMEM.
 */
int pcapng_next(struct pcapng *f, struct pcapng_block *out);

void pcapng_close(struct pcapng *f);

#endif
