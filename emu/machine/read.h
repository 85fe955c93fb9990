/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of machine_read: the tables of members, and what only the whole can tell. */
#ifndef MACHINE_READ_H
#define MACHINE_READ_H

#include "fields.h"
#include "machine.h"

/* Members of a port, and of a function or bridge on PCI. */
extern const struct field machine_port_rows[];

/* Fills in what follows from other members; says what does not fit together. */
void machine_settle(struct reading *r, struct machine *m);

/* Text forms, for rows. */
bool machine_is_name(const char *text);

#endif
