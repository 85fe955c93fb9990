/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated fabric: N devices under test in one process, links between all pairs, a virtual
 * clock and one seed. Nothing here waits: time jumps to the next packet arrival or the next
 * deadline of a device.
 *
 * What a device sends is a burst. A link passes it whole, or (with probability "split", always
 * when a filter is set) cut into packets that are lost, duplicated, delayed and reordered one by
 * one, and perhaps put together again on arrival, so that both paths of the device are tested.
 * With probability "wire" a packet goes through roce_packet_emit and roce_packet_parse.
 *
 * A corrupted packet is a lost one (its ICRC is wrong). "flip" is for robustness tests alone: a
 * bit of the headers is flipped and the ICRC "happens" to be right.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "emu/core/core.h"
#include "journal.h"
#include "tests/support/sim/vclient.h"
#include "tests/support/wire/prng.h"

#define WORLD_MAX_DEVICES 8

/* Times in nanoseconds, probabilities in parts per million. */
struct link {
	uint64_t delay;
	uint64_t jitter;        /* 0..jitter more, order kept */
	uint64_t reorder_delay; /* what a reordered packet comes later */
	uint32_t loss;
	uint32_t duplicate;
	uint32_t reorder;
	uint32_t corrupt;
	uint32_t flip;
	uint32_t split;
	uint32_t join; /* packets of one instant are coalesced into bursts */
	uint32_t wire;
	uint32_t
		immediate; /* the burst goes to core_rx at once, as device-internal loopback does */
	/*
	 * A packet (destination QP, PSN, opcode) is not lost more often than this; 0: no bound.
	 * With a bound, a QP of retry_cnt 7 always gets through.
	 */
	unsigned max_losses;
	bool down; /* nothing passes */
};

/* A packet on a link, as a filter sees it. */
struct world_packet {
	unsigned from, to;
	uint64_t now;
	struct roce_packet pkt;
	struct roce_flow flow;
	struct core_burst_model model;
	uint64_t delay; /* a filter may set it: comes so much later, others overtake it */
};

enum world_verdict { WORLD_PASS, WORLD_DROP, WORLD_DUPLICATE };

/* Sees each packet, in the order of sending, before the link's own faults; may change it. */
typedef enum world_verdict (*world_filter)(void *arg, struct world_packet *p);

struct world_device {
	struct vhost host;
	struct world *world;
	uint8_t *buf; /* for core_tx_next */
	size_t cap;
	uint64_t resume_at; /* a full socket: no sending before; 0: it is not */
	struct prng rng;
};

struct world {
	struct world_device device[WORLD_MAX_DEVICES];
	unsigned n_devices;
	struct link link[WORLD_MAX_DEVICES][WORLD_MAX_DEVICES];
	uint64_t last_arrival[WORLD_MAX_DEVICES][WORLD_MAX_DEVICES];
	uint64_t now;
	uint64_t seed;
	struct prng rng;
	world_filter filter;
	void *filter_arg;
	struct journal journal;
	struct world_event **event; /* heap */
	unsigned n_events, event_room;
	uint64_t event_number;
	struct losses *losses;
	struct world_faults *faults; /* world_faults.h; NULL: none */
	uint32_t interleave;         /* ppm: devices send between two arrivals of one instant */
	uint32_t stall;              /* ppm: after a burst the socket is full for up to 20 us */
	bool lossy;                  /* no more room than window_bytes: core_tx_left is told */
	uint64_t packets, lost, steps_at_now;
	bool abort_on_failure; /* outside CMocka: in a fuzz target */
	uint8_t *flat;         /* payload of the burst being sent */
	uint8_t bytes[ROCE_MAX_PACKET_LENGTH];
	struct core_ops ops;
};

/* The configuration that world_create uses: the default profile and no GIDs. */
struct core_config world_config(void);

/* A link of 1 us that loses nothing, passes half of all bursts in pieces and tests the wire. */
struct link link_default(void);

/*
 * Devices with their GID ::ffff:10.0.0.(1 + i) and a second one fd00::(1 + i), links as
 * link_default. cfg may be NULL. Failed assertions inside the world print seed and journal.
 */
struct world *world_create(uint64_t seed, unsigned n_devices, const struct core_config *cfg);
void world_destroy(struct world *w);

/* The same link between all pairs, self included. */
void world_set_links(struct world *w, const struct link *l);

/* One step: whatever is next in time. False: nothing will ever happen by itself. */
bool world_step(struct world *w);

/* Delivers what is due now without letting time pass; makes devices send. */
void world_pump(struct world *w);

/* Until the given time; the clock stands there afterwards. */
void world_run(struct world *w, uint64_t until);

/* Until nothing is left to happen; fails the test when that takes longer than limit. */
void world_run_idle(struct world *w, uint64_t limit);

/* Until cond(arg) holds: true; false when limit (ns from now) passed or all is idle. */
bool world_run_until(struct world *w, bool (*cond)(void *arg), void *arg, uint64_t limit);

/* Fails the running test with the message, the seed and the end of the journal. */
void world_fail(struct world *w, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

#define world_assert(w, cond)                                                                      \
	do {                                                                                       \
		if (!(cond))                                                                       \
			world_fail(w, "%s:%d: %s", __FILE__, __LINE__, #cond);                     \
	} while (0)

/* Hands a burst to the fabric as if device "from" had sent it. */
void world_send(struct world *w, unsigned from, const struct core_burst *t);

/* ---- for link.c ---- */

/* A burst that arrives at device "to" at a time; its payload is copied. */
void world_schedule(struct world *w, unsigned from, unsigned to, uint64_t at,
		    const struct core_burst *t);
void world_deliver(struct world *w, unsigned to, const struct core_burst *t);
struct losses *losses_create(void);
void losses_destroy(struct losses *l);
void losses_forget(struct losses *l);

#endif
