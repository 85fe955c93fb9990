/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See conf.h. Options are long ones only, "--name value" or "--name=value"; there are no other
 * arguments.
 */
#include "conf.h"

#include "emu/io/device/devices.h"

#include <errno.h>
#include <stdio.h>

void conf_default(struct conf *c)
{
	*c = (struct conf){
		.io = {.devices = 0,
		       .ready_fd = -1,
		       .gso = true,
		       .icrc = IO_ICRC_LENIENT,
		       .pin = UHCA_ABI_PIN_SAFE},
		.log_level = IO_LOG_INFO,
		.log_target = IO_LOG_FILE,
	};
}

int conf_set(struct conf *c, const char *option, char *error, size_t cap)
{
	char *const argv[] = {(char *)(uintptr_t)option, NULL};
	int used = options_take(conf_page.rows, c, argv, error, cap);

	return used < 0 ? used : 0;
}

static int check_limits(const struct conf *c, char *error, size_t cap)
{
	struct core_config cfg;

	if (io_settings_config(&c->io, &cfg) == 0)
		return 0;
	core_config_default(&cfg);
	core_profile_apply(&cfg, c->io.profile);
	for (unsigned i = 0; i < c->io.n_limits; i++) {
		unsigned limit = c->io.limits[i].limit;

		if (core_limit_set(&cfg, limit, c->io.limits[i].value) == 0)
			continue;
		snprintf(error, cap, "--limit: %s cannot be %llu", core_limit_name(limit),
			 (unsigned long long)c->io.limits[i].value);
		break;
	}
	return -EINVAL;
}

/* A machine says how many devices there are, and maybe of which kind. */
static int apply_machine(struct conf *c, char *error, size_t cap)
{
	const struct machine *m = c->io.machine;
	char word[MACHINE_NAME + sizeof("--profile=")];
	int status = 0;

	if (!m)
		return 0;
	if (c->io.netdev[0] || (c->io.devices && c->io.devices != m->n_devices)) {
		snprintf(error, cap,
			 "--machine %s has %u device%s: no --netdev, no other --devices", m->name,
			 m->n_devices, m->n_devices == 1 ? "" : "s");
		return -EINVAL;
	}
	c->io.devices = m->n_devices;
	if (m->profile[0] && !c->has_profile) {
		snprintf(word, sizeof(word), "--profile=%s", m->profile);
		status = conf_set(c, word, error, cap);
	}
	return status;
}

/* What only the whole of the options can tell. */
static int complete(struct conf *c, char *error, size_t cap)
{
	if (apply_machine(c, error, cap) < 0)
		return -EINVAL;
	if (c->io.devices == 0)
		c->io.devices = c->next_device ? c->next_device : 1;
	if (c->next_device > c->io.devices) {
		snprintf(error, cap, "--addr is given %u times, but there are %u devices",
			 c->next_device, c->io.devices);
		return -EINVAL;
	}
	if (!c->io.dir[0] && io_instance_path("default", c->io.dir, sizeof(c->io.dir)) < 0) {
		snprintf(error, cap, "the default directory's name is too long; use --dir");
		return -EINVAL;
	}
	return check_limits(c, error, cap);
}

int conf_parse(struct conf *c, int argc, char *const *argv, char *error, size_t cap)
{
	conf_default(c);
	for (int i = 1; i < argc;) {
		int used = options_take(conf_page.rows, c, argv + i, error, cap);

		if (used == 0)
			snprintf(error, cap, "unknown option '%s'", argv[i]);
		if (used <= 0)
			return -EINVAL;
		i += used;
	}
	return complete(c, error, cap);
}
