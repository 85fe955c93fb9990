/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes wrong in a network, as people write it: "down leaf0 spine1", "up leaf0 spine1",
 * "down spine1", "loss h0 leaf0 1%", "rate h0 leaf0 10G", "delay h0 leaf0 5us", "pause h3",
 * "resume h3".
 */
#ifndef FABRIC_FAILURE_H
#define FABRIC_FAILURE_H

#include "emu/fabric/net/net.h"

enum fabric_failure_what {
	FABRIC_GOES_DOWN,
	FABRIC_COMES_UP,
	FABRIC_LOSES,
	FABRIC_SLOWS,  /* another rate */
	FABRIC_DELAYS, /* another delay */
	FABRIC_PAUSES,
	FABRIC_RESUMES
};

struct fabric_failure {
	enum fabric_failure_what what;
	uint32_t node;
	uint32_t link;  /* UINT32_MAX: the node itself */
	uint64_t value; /* a loss in 2^-32, a rate in bit/s, a delay in ps */
};

/*
 * Reads one from "at" on, which is a part of text, for the columns of errors. 0 or -EINVAL, said in
 * e.
 */
int fabric_failure_read(struct fabric_failure *out, const char *text, const char *at,
			const struct fabric_topology *t, struct fabric_error *e);

/* It happens; classes: those that pause. True: fabric_reroute has to follow. */
bool fabric_failure_apply(const struct fabric_failure *c, struct fabric *f,
			  const struct fabric_topology *t, uint8_t classes, uint64_t now);

#endif
