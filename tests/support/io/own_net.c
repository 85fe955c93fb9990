/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves the test into a network namespace of its own. */
#include "own_net.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool interface_up(int fd)
{
	struct ifreq r = {.ifr_name = "lo"};

	if (ioctl(fd, SIOCGIFFLAGS, &r) < 0)
		return false;
	r.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &r) == 0;
}

bool own_net_enter(void)
{
	bool up;
	int fd;

	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	up = interface_up(fd);
	close(fd);
	return up;
}
