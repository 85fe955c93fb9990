/* SPDX-License-Identifier: BSD-2-Clause */
/* --chaos: the relaxations of a seed become fault rules and settings. */
#include "conf_chaos.h"

#include "emu/fault/chaos/chaos.h"
#include "emu/io/base/base.h"

#include <errno.h>
#include <stdio.h>

static int chaos_rule_add(struct conf *c, uint64_t seed, unsigned i, char *error, size_t cap)
{
	if (!chaos_rule(seed, i, c->chaos_rules[i]))
		return conf_set(c, c->chaos_rules[i], error, cap);
	if (c->io.n_faults == IO_MAX_FAULTS) {
		snprintf(error, cap, "more than %d fault rules and files", IO_MAX_FAULTS);
		return -EINVAL;
	}
	c->io.faults[c->io.n_faults].text = c->chaos_rules[i];
	c->io.faults[c->io.n_faults++].is_file = false;
	return 0;
}

OPTION_SETTER(conf_set_chaos)
{
	struct conf *c = into;
	struct chaos chaos;
	chaos_set taken;
	int status;

	if (c->chaos[0]) {
		snprintf(error, cap, "given twice");
		return -EINVAL;
	}
	status = chaos_parse(argument ? argument : "", &chaos, error, cap);
	if (status == 0 && !chaos.has_seed)
		io_random(&chaos.seed, sizeof(chaos.seed));
	taken = status == 0 ? chaos_taken(&chaos) : 0;
	for (unsigned i = 0; i < n_relaxations && status == 0; i++)
		if (taken >> i & 1)
			status = chaos_rule_add(c, chaos.seed, i, error, cap);
	if (status == 0 && !c->io.has_fault_seed) {
		c->io.fault_seed = chaos.seed; /* of other rules, too: one seed for all */
		c->io.has_fault_seed = true;
	}
	if (status == 0)
		chaos_print(chaos.seed, taken, c->chaos, sizeof(c->chaos));
	return status;
}
