/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends a state to the service manager (sd_notify(3)). */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The address's length, 0 where the name is none; a name that begins with @ is of no file. */
static socklen_t address_of(const char *name, struct sockaddr_un *out)
{
	size_t len = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || len < 2 || len >= sizeof(out->sun_path))
		return 0;
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(out->sun_path, name, len);
	if (name[0] == '@')
		out->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

int io_notify(const char *text)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	socklen_t len;
	int fd, error = 0;

	if (!name || !*name)
		return 0;
	len = address_of(name, &address);
	if (len == 0)
		return -EINVAL;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address, len) < 0)
		error = -errno;
	close(fd);
	return error;
}
