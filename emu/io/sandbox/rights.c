/* SPDX-License-Identifier: BSD-2-Clause */
/* See rights.h; capset(2). Two calls and one mask: a library would be longer. */
#include "rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEPT (1u << CAP_SYS_PTRACE | 1u << CAP_DAC_OVERRIDE | 1u << CAP_NET_ADMIN)

int io_rights_lay_down(void)
{
	struct __user_cap_header_struct self = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	bool has_more;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capget, &self, data) < 0)
		return -errno;
	has_more = data[0].effective & ~KEPT || data[1].effective;
	data[0].effective &= KEPT;
	data[1].effective = 0;
	return has_more && syscall(SYS_capset, &self, data) < 0 ? -errno : 0;
}
