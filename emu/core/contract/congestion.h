/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a device takes part in congestion control: part of its config. Congestion control of a sender
 * is one of those of cc.h; a receiver answers marks with congestion notifications (CNPs).
 */
#ifndef CORE_CONGESTION_CONFIG_H
#define CORE_CONGESTION_CONFIG_H

#include "emu/core/cc/cc.h"

#include <stdint.h>

struct core_congestion {
	struct cc_settings control; /* ops NULL: none of all this */
	uint64_t cnp_interval;      /* ns between two CNPs of a QP, at least */
	uint64_t base_rtt;          /* ns, of an empty network */
	uint8_t cnp_dscp;           /* of CNPs */
	uint32_t scale; /* the network's time passes so many times slower than the caller's; 1 */
};

#endif
