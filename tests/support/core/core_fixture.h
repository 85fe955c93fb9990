/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device with two clients for unit tests of core's objects: rings come from the heap (so that
 * sanitizers watch their edges), events are recorded, random bytes come from a counter. Failing
 * ring allocations can be ordered.
 */
#ifndef TESTS_SUPPORT_CORE_FIXTURE_H
#define TESTS_SUPPORT_CORE_FIXTURE_H

#include "emu/core/core.h"

#define FIXTURE_EVENTS 64

struct fixture;

struct fixture_cookie {
	struct fixture *f;
};

struct fixture_comp_event {
	void *client;
	uint32_t channel;
	uint64_t cookie;
};

struct fixture_async_event {
	void *client;
	struct uhca_abi_async_event event;
};

struct fixture_trace {
	enum core_trace_point point;
	uint32_t qpn, a, b;
};

struct fixture {
	struct core_ops ops;
	struct core_config cfg;
	struct device *dev;
	struct client *client, *other; /* their cookies: &client_cookie, &other_cookie */
	struct fixture_cookie client_cookie, other_cookie;
	uint64_t random_state;
	unsigned rings;       /* allocated now */
	unsigned fail_ring;   /* 1: the next ring_alloc fails, 2: the one after it, 0: none */
	unsigned comp, async; /* events so far */
	struct fixture_comp_event comp_event[FIXTURE_EVENTS];
	struct fixture_async_event async_event[FIXTURE_EVENTS];
	unsigned purges;
	struct fixture_comp_event purged; /* the last */
	uint64_t async_purged;            /* the last */
	bool async_waits;                 /* async_event is to say that an equal record waits */
	uint32_t purge_finds;             /* what an async purge is to report */
	unsigned traces;
	struct fixture_trace trace; /* the last */
};

/* IPv4 GIDs in slots 0 (10.0.0.1) and 2, IPv6 in slot 1; the rest is empty. */
#define FIXTURE_GID_V4 0
#define FIXTURE_GID_V6 1

/* Default limits, as changed by tweak (NULL: not at all). */
void fixture_start(struct fixture *f, void (*tweak)(struct core_config *cfg));

/* Destroys the device and checks that no ring is left. */
void fixture_stop(struct fixture *f);

/* Time goes on by so many ns, and what is due by then happens, each at its time. */
void fixture_sleep(struct fixture *f, uint64_t *now, uint64_t ns);

/* Shorthands that assert success and give the handle. */
uint32_t fixture_pd(struct fixture *f);
uint32_t fixture_cq(struct fixture *f, uint32_t cqe);
uint32_t fixture_srq(struct fixture *f, uint32_t pd);

/* A client's MR of [addr, addr + length) with iova == addr; returns the key. */
uint32_t fixture_mr(struct fixture *f, uint32_t pd, uint64_t addr, uint64_t length,
		    uint32_t access);

struct fixture_qp {
	uint32_t pd, cq, handle, qpn;
};

/* A QP of the type with PD and CQ of its own, 16 requests and 2 elements each way. */
struct fixture_qp fixture_qp(struct fixture *f, uint32_t type);

/* Takes it to RTS (connected types: to QP number 0x1234 at 10.0.0.1), asserting success. */
void fixture_connect(struct fixture *f, const struct fixture_qp *qp, uint32_t type);

/* Destroys what fixture_qp made. */
void fixture_qp_destroy(struct fixture *f, const struct fixture_qp *qp);

/* ibv_modify_qp with these attributes. */
int fixture_modify(struct fixture *f, uint32_t handle, const struct uhca_abi_qp_attr *attr,
		   uint32_t mask);

/* Attributes with a good value in every field, for a transition to state. */
struct uhca_abi_qp_attr fixture_attr(uint32_t state);

#endif
