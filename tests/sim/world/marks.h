/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two devices with congestion control, a network between them that marks packets, and a log of what
 * passed. Ports are 2.5 Gb/s (1X SDR), packets 1024 + 58 bytes, links 1 us.
 */
#ifndef SIM_MARKS_H
#define SIM_MARKS_H

#include "pair.h"

#define MARKS_LINE   UINT64_C(2500000000)
#define MARKS_PACKET (1024u + 58u)
#define MARKS_LOG    8192u

/* A packet that was sent. */
struct marks_packet {
	uint64_t time;
	unsigned from;
	struct roce_packet pkt;
	uint8_t tclass; /* as its sender gave it */
};

struct marks {
	struct pair p;
	struct core_config cfg;
	uint32_t chance[2]; /* ppm: ECN-capable packets of device a, b that are marked */
	struct prng rng;
	struct marks_packet log[MARKS_LOG];
	unsigned n;
};

/*
 * Begins with m zeroed. control: of cc.h; NULL: none. The control's and other settings are in
 * m->cfg then, and may be changed before marks_start.
 */
void marks_config(struct marks *m, const char *control);

/* A parameter of the control. */
void marks_set(struct marks *m, const char *name, uint64_t value);

/* o.cfg is the marks' own. */
void marks_start(struct marks *m, const struct pair_options *o);

/* The QP of a side in its device. */
struct qp *marks_qp(const struct side *s);

/* Logged packets of a device that are such; the n-th of them (from 0), or NULL. */
unsigned marks_count(const struct marks *m, unsigned from, enum roce_operation op);
const struct marks_packet *marks_nth(const struct marks *m, unsigned from, enum roce_operation op,
				     unsigned n);

/* A CNP arrives at side s now. */
void marks_notify(struct marks *m, struct side *s);

const struct core_counters *marks_counters(const struct side *s);

#endif
