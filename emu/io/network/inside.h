/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this directory share: the calls of the model, and its packets. */
#ifndef IO_NETWORK_INSIDE_H
#define IO_NETWORK_INSIDE_H

#include "network.h"

/* The clock of the device is as far as the model's, n->at. */
void network_keep_time(const struct io_network *n, struct io_network_box *b);

/* Nothing is to come yet. */
void network_start_changes(struct io_network *n);

/* Up to here nothing happens, where nothing is due before: the model's time is that of now. */
void network_advance(struct io_network *n, uint64_t now);

/* Fills n->number. 0 or -ENOMEM. */
int network_number_ports(struct io_network *n, const struct fabric_topology *t);

/* Of struct fabric_ops; user is the io_network. */
void network_deliver(void *user, uint32_t host, struct fabric_packet *p, uint64_t at);
void network_ready(void *user, uint32_t host, uint64_t at);
void network_lost(void *user, uint32_t port, const struct fabric_packet *p, enum fabric_drop why);
bool network_judge(void *user, uint32_t port, struct fabric_packet *p, uint64_t at);
void network_timer(void *user, uint32_t number, uint64_t at);
void network_sent(void *user, uint32_t port, const struct fabric_packet *p, uint64_t at);

#endif
