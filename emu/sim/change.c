/* SPDX-License-Identifier: BSD-2-Clause */
/* Failures of a simulation: when each happens. */
#include "change.h"

#include <errno.h>
#include <string.h>

int change_read(struct change *c, const char *text, const struct fabric_topology *t,
		struct fabric_error *e)
{
	const struct fabric_spec_key time = {"time", FABRIC_TIME, 0, UINT64_C(1000000000000000),
					     &c->time};
	const char *at = text + strspn(text, " \t");
	const size_t length = strcspn(at, " \t");

	if (fabric_spec_value(text, at, length, &time, e) < 0)
		return -EINVAL;
	return fabric_failure_read(&c->failure, text, at + length, t, e);
}

/* Few, and those of one time stay in their order. */
void change_sort(struct change *c, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		const struct change moved = c[i];
		unsigned k = i;

		for (; k > 0 && c[k - 1].time > moved.time; k--)
			c[k] = c[k - 1];
		c[k] = moved;
	}
}

bool change_apply(const struct change *c, struct sim *s, uint64_t now)
{
	return fabric_failure_apply(&c->failure, s->fabric, s->topology,
				    (uint8_t)(1u << s->settings.data_class), now);
}
