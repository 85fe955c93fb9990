/* SPDX-License-Identifier: BSD-2-Clause */
/* Widths and speeds of links: the table of IBTA vol. 1, 14.2.5.6, in the words of Linux. */
#include "machine.h"

#include <stdio.h>

static const struct {
	const char *name;
	unsigned code, tenths; /* enum of active_speed; Gb/s of one lane, times ten */
} speeds[] = {
	{"SDR", 1, 25},    {"DDR", 2, 50},     {"QDR", 4, 100},
	{"FDR10", 8, 100}, {"FDR", 16, 140},   {"EDR", 32, 250},
	{"HDR", 64, 500},  {"NDR", 128, 1000}, {"XDR", 256, 2000},
};

const char *machine_speed_name(unsigned speed)
{
	return speed < sizeof(speeds) / sizeof(speeds[0]) ? speeds[speed].name : NULL;
}

unsigned machine_speed_code(unsigned speed)
{
	return speeds[speed].code;
}

unsigned machine_speed_tenths(unsigned speed)
{
	return speeds[speed].tenths;
}

unsigned machine_width_code(unsigned lanes)
{
	switch (lanes) {
	case 1:
		return 1;
	case 2:
		return 16;
	case 4:
		return 2;
	case 8:
		return 4;
	case 12:
		return 8;
	}
	return 0;
}

const char *machine_rate_text(const struct machine_port *p, char out[MACHINE_RATE_TEXT])
{
	unsigned tenths = p->width * machine_speed_tenths(p->speed);

	snprintf(out, MACHINE_RATE_TEXT, "%u%s Gb/sec (%uX %s)", tenths / 10,
		 tenths % 10 ? ".5" : "", p->width, machine_speed_name(p->speed));
	return out;
}
