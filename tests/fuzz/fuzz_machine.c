/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as the file of a machine: it is taken, with every value within its bounds, or refused
 * with one line that says where.
 */
#include "fuzz.h"

#include "emu/machine/machine.h"

#include <stdlib.h>
#include <string.h>

/* Each takes the memory of a machine. */
const unsigned long fuzz_runs = 4000;

static void check_port(const struct machine_port *p)
{
	char text[MACHINE_RATE_TEXT];

	FUZZ_CHECK(p->state >= 1 && p->state <= 4);
	FUZZ_CHECK(machine_width_code(p->width) && machine_speed_name(p->speed));
	FUZZ_CHECK(p->n_addresses <= MACHINE_ADDRESSES && p->n_gids <= p->gid_entries);
	FUZZ_CHECK(p->gid_entries >= 1 && p->gid_entries <= MACHINE_GIDS);
	FUZZ_CHECK(p->n_pkeys >= 1 && p->n_pkeys <= MACHINE_PKEYS);
	FUZZ_CHECK(memchr(p->netdev, '\0', sizeof(p->netdev)) && !strchr(p->netdev, '/'));
	FUZZ_CHECK(machine_rate_text(p, text)[0]);
}

static void check_taken(const struct machine *m)
{
	FUZZ_CHECK(m->n_devices >= 1 && m->n_devices <= MACHINE_DEVICES);
	FUZZ_CHECK(m->n_nodes <= MACHINE_NODES && m->n_bridges <= MACHINE_BRIDGE_IDS);
	for (unsigned i = 0; i < m->n_devices; i++) {
		const struct machine_device *d = &m->device[i];

		FUZZ_CHECK(d->name[0] && d->name[0] != '.' && !strchr(d->name, '/'));
		FUZZ_CHECK(d->n_ports >= 1 && d->n_ports <= MACHINE_PORTS);
		FUZZ_CHECK(d->n_bridges <= MACHINE_BRIDGES && d->of < (int)m->n_devices);
		for (unsigned p = 0; p < d->n_ports; p++)
			check_port(&d->port[p]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), error[128];
	struct machine *m;

	FUZZ_CHECK(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	memset(error, 'x', sizeof(error));
	m = machine_read(text, "m", error, sizeof(error));
	if (m)
		check_taken(m);
	else
		FUZZ_CHECK(memchr(error, '\0', sizeof(error)) && !strncmp(error, "m:", 2));
	machine_free(m);
	free(text);
	return 0;
}
