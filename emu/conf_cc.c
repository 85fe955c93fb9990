/* SPDX-License-Identifier: BSD-2-Clause */
/* --cc: the congestion control of the devices. */
#include "conf_cc.h"

#include "emu/cctext/cctext.h"

#include <errno.h>
#include <string.h>

#define US_IN_PS   UINT64_C(1000000)
#define MOST_TIME  (10000000 * US_IN_PS)
#define USUAL_TIME (50 * US_IN_PS)
#define CNP_DSCP   48

OPTION_SETTER(conf_set_cc)
{
	struct core_congestion *out = &((struct conf *)into)->io.congestion;
	uint64_t interval = USUAL_TIME, rtt = USUAL_TIME, dscp = CNP_DSCP;
	const struct fabric_spec_key more[] = {
		{"cnp-interval", FABRIC_TIME, 0, MOST_TIME, &interval},
		{"cnp-dscp", FABRIC_COUNT, 0, 63, &dscp},
		{"base-rtt", FABRIC_TIME, CCTEXT_NS, MOST_TIME, &rtt},
		{0}};
	struct fabric_error e;

	*out = (struct core_congestion){.scale = 1};
	if (strcmp(argument, "off") == 0)
		return 0;
	if (cctext_read(&out->control, argument, more, &e) < 0) {
		snprintf(error, cap, "column %u: %s", e.column, e.text);
		return -EINVAL;
	}
	out->cnp_interval = interval / CCTEXT_NS;
	out->base_rtt = rtt / CCTEXT_NS;
	out->cnp_dscp = (uint8_t)dscp;
	return 0;
}
