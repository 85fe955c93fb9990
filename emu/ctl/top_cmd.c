/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
int ctl_top(const struct ctl_options *o)
{
	(void)o;
	return 0;
}
