/* SPDX-License-Identifier: BSD-2-Clause */
#include "opcode.h"

static const struct roce_opcode_info unknown = {0};

const struct roce_opcode_info *roce_opcode_info(roce_opcode op)
{
	(void)op;
	return &unknown;
}
