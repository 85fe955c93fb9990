/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of a host have of each other: sending, receiving, timers. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "connection.h"

/* What a packet is: its kind. */
enum { SIM_DATA, SIM_ACK, SIM_NAK, SIM_SACK, SIM_CNP };
#define SIM_ASKS 1u /* flag: its sender waits for the ACK */

static inline uint64_t to_ns(uint64_t ps)
{
	return ps / 1000;
}

static inline struct sim_host *host_of(struct sim *s, const struct sim_connection *c)
{
	return &s->hosts[c->src];
}

static inline bool sim_bit(const uint64_t *bits, uint32_t psn)
{
	return bits[psn % SIM_BITS / 64] >> psn % 64 & 1;
}

static inline void sim_set_bit(uint64_t *bits, uint32_t psn, bool on)
{
	const uint64_t bit = UINT64_C(1) << psn % 64;

	if (on)
		bits[psn % SIM_BITS / 64] |= bit;
	else
		bits[psn % SIM_BITS / 64] &= ~bit;
}

static inline uint64_t *sim_sent_bits(const struct sim_connection *c)
{
	return c->bits + SIM_BITS / 64;
}

/* send.c */
void send_schedule(struct sim *s, struct sim_connection *c, uint64_t now);
void send_pump(struct sim *s, uint32_t host, uint64_t now);
void send_paced(struct sim *s, uint32_t host, uint64_t now);
/* A packet that is no data, from one end of the connection. psn, flags and so on: in "what". */
void send_control(struct sim *s, const struct sim_connection *c, bool from_src,
		  struct fabric_packet what, uint64_t now);

/* acknowledge.c: ACKs at the sender, and timeouts */
void acknowledge(struct sim *s, struct sim_connection *c, const struct fabric_packet *k,
		 uint64_t now);
void acknowledge_watch(struct sim *s, struct sim_connection *c, uint64_t now);
void acknowledge_timeouts(struct sim *s, uint32_t host, uint64_t now);

/* receive.c: data at the receiver */
/* Throws away what has come of a message that is not complete. */
void receive_restart(struct sim *s, struct sim_connection *c);
void receive_data(struct sim *s, struct sim_connection *c, struct fabric_packet *k, uint64_t now);

/* Timers of a host: 2 host + which. */
enum { HOST_PACED, HOST_TIMEOUT, HOST_TIMERS };

#endif
