/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a message of each control command looks like, for targets that talk to a daemon: how long
 * it is, which objects it names and which it makes.
 */
#ifndef TESTS_FUZZ_ABI_COMMANDS_H
#define TESTS_FUZZ_ABI_COMMANDS_H

#include "emu/abi/cmd.h"

#include <stdbool.h>

enum abi_kind {
	ABI_NOTHING,
	ABI_PD,
	ABI_MR,
	ABI_MW,
	ABI_DM,
	ABI_CHANNEL,
	ABI_CQ,
	ABI_QP,
	ABI_SRQ,
	ABI_AH,
	ABI_XRCD,
	ABI_WQ,
	ABI_TABLE,
	ABI_FLOW,
	ABI_COMP_CNTR,
};

#define ABI_FIELDS 5u

struct abi_command {
	uint16_t size; /* of the request, in bytes */
	uint8_t n_fds;
	uint8_t makes;    /* enum abi_kind */
	uint8_t destroys; /* the object that its first field names */
	struct {
		uint16_t offset;
		uint8_t kind;
		bool optional; /* 0 where there is none */
	} field[ABI_FIELDS];
};

extern const struct abi_command abi_commands[UHCA_CMD_COUNT];

/* Does each command from 1 have a row? A row that is missing is a command that is not tested. */
bool abi_commands_are_all(void);

#endif
