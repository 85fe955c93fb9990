/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a network namespace with a loopback interface for an instance. */
#include "run_network.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		error = -errno;
	close(fd);
	return error;
}

/*
 * The same numbers inside as outside; without setgroups(2) being given up no group may be mapped.
 */
static int stay_oneself(uid_t uid, gid_t gid)
{
	char text[64];
	int error = write_file("/proc/self/setgroups", "deny");

	snprintf(text, sizeof(text), "%u %u 1", (unsigned)gid, (unsigned)gid);
	if (error == 0)
		error = write_file("/proc/self/gid_map", text);
	snprintf(text, sizeof(text), "%u %u 1", (unsigned)uid, (unsigned)uid);
	return error == 0 ? write_file("/proc/self/uid_map", text) : error;
}

static int raise_loopback(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		error = -errno;
	close(fd);
	return error;
}

static int enter(void)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	int error;

	if (unshare(CLONE_NEWNET) == 0) /* who may: root */
		return raise_loopback();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return -errno;
	error = stay_oneself(uid, gid);
	return error == 0 ? raise_loopback() : error;
}

/* What comes of it, found out by a child: half of it could not be taken back. */
static int try_it(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(-enter());
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

int run_network_own(void)
{
	static int made = 1; /* of several scenarios the first makes it */

	if (made <= 0)
		return made;
	made = try_it();
	if (made == 0)
		made = enter();
	if (made < 0)
		fprintf(stderr,
			"uhca-run: --own-network: cannot create a network namespace: %s. The "
			"devices use the present network, at the addresses in UHCA_ADDR_0 and so "
			"on. As root: sysctl user.max_user_namespaces=1000 "
			"user.max_net_namespaces=1000 kernel.unprivileged_userns_clone=1 "
			"kernel.apparmor_restrict_unprivileged_userns=0; in a container: a seccomp "
			"profile that allows unshare(2)\n",
			strerror(-made));
	return made;
}
