/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of one burst into a socket: cut into batches of packets (udp_batch.h), sent, and carried
 * on where the socket stopped it.
 */
#ifndef IO_UDP_TX_H
#define IO_UDP_TX_H

#include "emu/core/core.h"
#include "emu/io/base/base.h"
#include "udp_batch.h"

#include <stdbool.h>
#include <stdint.h>

/* A burst on its way out. Set up once, then carried on until done. */
struct io_udp_tx {
	const struct core_burst *burst;
	uint32_t next;                      /* first packet that has not been sent */
	int fd;                             /* socket bound to the flow's source address and port */
	uint16_t sport;                     /* its port */
	struct io_address dst;              /* with the scope for link-local addresses */
	bool gso;                           /* after NO_GSO: carry on with false */
	const struct io_udp_errors *errors; /* NULL: nobody is told */
};

/* Sends what it can. *packets is increased by what went out. */
enum io_udp_tx_result io_udp_tx_run(struct io_udp_tx *tx, uint64_t *packets, int *error);

#endif
