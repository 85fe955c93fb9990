// SPDX-License-Identifier: BSD-2-Clause
// An ordinary TCP program: "echo server ADDRESS PORT" sends back what comes on one connection,
// "echo client ADDRESS PORT" looks whether it gets back what it sent. It knows nothing of RDMA.
// (socket() has no flags here: librspreload.so leaves sockets made with SOCK_CLOEXEC to TCP.)

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PIECE 32768
#define TOTAL 2000000

static int failed(const char *what)
{
	fprintf(stderr, "echo: %s failed: %s\n", what, strerror(errno));
	return 1;
}

static int send_all(int fd, const char *at, size_t left)
{
	while (left > 0) {
		ssize_t n = send(fd, at, left, 0);

		if (n <= 0)
			return -1;
		at += n;
		left -= (size_t)n;
	}
	return 0;
}

static int recv_all(int fd, char *at, size_t left)
{
	while (left > 0) {
		ssize_t n = recv(fd, at, left, 0);

		if (n <= 0)
			return -1;
		at += n;
		left -= (size_t)n;
	}
	return 0;
}

static int serve(const struct addrinfo *ai)
{
	static char buffer[PIECE];
	int listener = socket(ai->ai_family, SOCK_STREAM, 0), one = 1, fd;
	ssize_t n;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, ai->ai_addr, ai->ai_addrlen) || listen(listener, 1))
		return failed("listen");
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		return failed("accept");
	while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		if (send_all(fd, buffer, (size_t)n))
			return failed("send");
	close(fd);
	close(listener);
	return 0;
}

// Pieces of 1 byte, 8, 64, ... 32768 and again, each waited for by poll().
static int ask(const struct addrinfo *ai)
{
	static char out[PIECE], in[PIECE];
	int fd = socket(ai->ai_family, SOCK_STREAM, 0);
	size_t total = 0, size = 1;

	if (connect(fd, ai->ai_addr, ai->ai_addrlen))
		return failed("connect");
	for (; total < TOTAL; total += size, size = size == PIECE ? 1 : size * 8) {
		struct pollfd readable = {.fd = fd, .events = POLLIN};

		for (size_t i = 0; i < size; i++)
			out[i] = (char)(total + i * 7 + (i >> 8));
		if (send_all(fd, out, size))
			return failed("send");
		if (poll(&readable, 1, 120000) != 1)
			return failed("poll");
		if (recv_all(fd, in, size))
			return failed("recv");
		if (memcmp(in, out, size) != 0) {
			fprintf(stderr, "echo: data mismatch after %zu bytes\n", total);
			return 1;
		}
	}
	printf("all of %zu bytes came back\n", total);
	shutdown(fd, SHUT_RDWR);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	struct addrinfo *ai = NULL;
	int status;

	if (argc != 4 || getaddrinfo(argv[2], argv[3], &hints, &ai)) {
		fprintf(stderr, "usage: echo server|client ADDRESS PORT\n");
		return 2;
	}
	status = strcmp(argv[1], "server") == 0 ? serve(ai) : ask(ai);
	freeaddrinfo(ai);
	return status;
}
