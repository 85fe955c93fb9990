/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receive side scaling: which work queue of a table gets a frame. The hash is Toeplitz over the
 * chosen fields, in the order source address, destination address, source port, destination port
 * (the order all adapters share); its low bits choose the entry. A frame with none of the fields
 * goes to the first entry.
 */
#ifndef CORE_RSS_H
#define CORE_RSS_H

#include "emu/core/base/base.h"
#include "wire/frame.h"

struct rss;

/* Values of enum ibv_rx_hash_fields that there are, and of the only hash function. */
#define RSS_FIELDS   0xffu
#define RSS_TOEPLITZ 1u

/* The hash of n bytes (36 at most) under a key of 40. */
uint32_t rss_toeplitz(const uint8_t key[40], const uint8_t *data, unsigned n);

/* Creates what create_qp asks for in *out (NULL without a table). 0 or -errno. */
int rss_create(struct client *c, const struct uhca_cmd_create_qp *in, struct rss **out);

/* NULL is nothing. */
void rss_destroy(struct rss *rss);

void rss_receive(const struct rss *rss, const struct core_frame *frame, const struct roce_frame *f,
		 uint32_t tag);

#endif
