/* SPDX-License-Identifier: BSD-2-Clause */
/* See reporter.h. A connection for each question: a program may close what it did not open. */
#include "reporter.h"

#include "emu/abi/sanitize.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int left_fd = -1; /* of left_pid; left_inode tells it from another of the number */
static pid_t left_pid;
static ino_t left_inode;

static int connect_collector(void)
{
	const char *path = getenv(UHCA_SANITIZE_SOCKET_ENV);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd;

	if (!path || strlen(path) >= sizeof(to.sun_path))
		return -1;
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return fd;
	close(fd);
	return -1;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return false;
		if (sent > 0) {
			bytes += sent;
			n -= (size_t)sent;
		}
	}
	return true;
}

static bool send_line(int fd, const char *line, size_t n)
{
	return send_all(fd, line, n) && send_all(fd, "\n", 1);
}

/* One line, without its newline. */
static bool receive_line(int fd, char *line, size_t room)
{
	for (size_t n = 0; n + 1 < room;) {
		ssize_t got = recv(fd, line + n, 1, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got != 1)
			return false;
		if (line[n] == '\n') {
			line[n] = '\0';
			return true;
		}
		n++;
	}
	return false;
}

bool uhcav_reporter_ask(const char *line, size_t n, char answer[UHCAV_ANSWER])
{
	int status, saved = errno, fd = connect_collector();
	bool delivered =
		fd >= 0 && send_line(fd, line, n) && receive_line(fd, answer, UHCAV_ANSWER);

	if (fd >= 0)
		close(fd);
	if (delivered && sscanf(answer, "halt %d", &status) == 1)
		_exit(status);
	errno = saved;
	return delivered;
}

bool uhcav_reporter_send(const char *line, size_t n)
{
	char answer[UHCAV_ANSWER];

	return uhcav_reporter_ask(line, n, answer);
}

static bool is_open(void)
{
	struct stat st;

	return left_fd >= 0 && left_pid == getpid() && !fstat(left_fd, &st) &&
	       st.st_ino == left_inode;
}

bool uhcav_reporter_leave(const char *line, size_t n)
{
	int saved = errno;
	struct stat st;
	bool sent;

	if (!is_open()) {
		int fd = connect_collector();

		left_pid = getpid();
		if (fd >= 0 && !fstat(fd, &st))
			__atomic_store_n(&left_inode, st.st_ino, __ATOMIC_RELAXED);
		__atomic_store_n(&left_fd, fd, __ATOMIC_RELEASE);
	}
	sent = left_fd >= 0 && send_line(left_fd, line, n);
	errno = saved;
	return sent;
}

bool uhcav_reporter_owns(int fd)
{
	struct stat st;

	return fd == __atomic_load_n(&left_fd, __ATOMIC_ACQUIRE) && !fstat(fd, &st) &&
	       st.st_ino == __atomic_load_n(&left_inode, __ATOMIC_RELAXED);
}
