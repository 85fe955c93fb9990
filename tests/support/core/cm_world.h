/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection managers of two devices, a link that loses what a test wants lost, and virtual time.
 * The programs at both ends are the test's.
 */
#ifndef TESTS_SUPPORT_CM_WORLD_H
#define TESTS_SUPPORT_CM_WORLD_H

#include "emu/core/core.h"
#include "emu/core/core_cm.h"
#include "wire/cm_msg.h"

#define SECOND     UINT64_C(1000000000)
#define MAX_EVENTS 8
#define CROWD      1500 /* devices of one host: some share each bucket of a table */

struct cm_end {
	struct cm *cm;
	unsigned n;
	enum core_cm_event_type type[MAX_EVENTS];
	int32_t status[MAX_EVENTS];
	uint8_t data[MAX_EVENTS];   /* first byte of the private data */
	struct core_cm_param param; /* of the last event */
};

struct cm_world {
	struct device *dev[2];
	uint64_t now;
	unsigned sent; /* messages, in both directions */
	unsigned lose; /* this one; UINT32_MAX: none */
	bool lose_all;
	bool patient; /* every MRA asks for the longest time there is, 2.4 hours */
	bool listening;
	bool full; /* no room for a request */
	uint32_t seed;
	struct cm_end active, passive;
	struct core_cm_request request;
	struct roce_cm_rep rep; /* the last one */
	struct roce_cm_rej rej;
	uint32_t ece_options; /* of the REP */
	/* Messages of this kind are said by somebody else: from another address, word for word. */
	uint16_t spoken;
	bool spoken_first; /* and by whom they are from, behind it */
	uint32_t new_id;   /* of a spoken REQ; 0: as it was */
	struct cm_end stranger;
	struct cm *crowd[CROWD];
	unsigned n_crowd;
	bool crowded; /* every request is one of the crowd */
};

extern struct cm_world cm_world;

/* Setup and teardown of a test. */
int cm_world_start(void **state);
int cm_world_finish(void **state);

/* The burst as the stranger sends it. False when it is not of the kind that it speaks. */
bool cm_world_speak(struct device *to, const struct core_burst *t);

/* Delivers what either device has to send, until there is nothing. */
void cm_world_deliver(void);

/* The same, and what time brings, for so many ns. */
void cm_world_wait(uint64_t ns);

struct core_cm_param cm_world_param(uint32_t qpn, uint8_t type, const uint8_t *data);

/* The active end asks for a connection, or for a service of datagrams. */
void cm_world_call(uint8_t type);
void cm_world_call_by(struct core_cm_path path, uint8_t type);

/* The programs at both ends, as far as they only go on; one second at a time. */
void cm_world_go_on(unsigned seconds);

/* Once; more often fails the test. */
bool cm_end_heard(const struct cm_end *end, enum core_cm_event_type type);

/* Both programs go; nothing is left of them then. */
void cm_world_end(void);

#endif
