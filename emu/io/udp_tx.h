/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a train to UDP sends: headers and ICRC of each packet, payload where it stands, packets
 * of equal length in one UDP_SEGMENT send (a run; its last packet may be shorter), several runs
 * in one sendmmsg(2).
 */
#ifndef IO_UDP_TX_H
#define IO_UDP_TX_H

#include "address.h"
#include "core.h"

#include <stdbool.h>
#include <stdint.h>

/* A train on its way out. Set up once, then carried on until done. */
struct io_udp_tx {
	const struct core_train *train;
	uint32_t next;         /* first packet that has not been sent */
	int fd;                /* socket bound to the flow's source address and port */
	uint16_t sport;        /* its port */
	struct io_address dst; /* with the scope for link-local addresses */
	bool gso;
};

enum io_udp_tx_result {
	IO_UDP_TX_DONE,
	IO_UDP_TX_FULL,   /* the socket takes no more now; carry on when it is writable */
	IO_UDP_TX_NO_GSO, /* these packets cannot go as segments: carry on with gso false */
	IO_UDP_TX_ERROR,  /* *error says why; the packet "next" and what follows cannot be sent */
};

/* Sends what it can. *packets is increased by what went out. */
enum io_udp_tx_result io_udp_tx_run(struct io_udp_tx *tx, uint64_t *packets, int *error);

#endif
