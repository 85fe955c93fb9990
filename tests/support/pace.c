/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace FILE: how slow this machine is while a test runs. Sends itself 256 datagrams of 64 bytes,
 * 40 times a second. FILE always has the longest processor time that took (us). SIGTERM ends it.
 *
 * A test compares the processor time of another program with that. A guest of a busy host counts
 * time as its own that the host gave to others, and Linux counts interrupts for packets of others.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DATAGRAMS 256
#define PAUSE_US  25000

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "pace: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A socket whose peer it is itself. */
static int make_socket(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) ||
	    getsockname(fd, (struct sockaddr *)&at, &size) ||
	    connect(fd, (struct sockaddr *)&at, size))
		die("a UDP socket on 127.0.0.1");
	return fd;
}

static uint64_t processor_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t measure(int fd)
{
	const uint64_t begin = processor_us();
	uint8_t datagram[64] = {0};

	for (unsigned i = 0; i < DATAGRAMS; i++)
		if (send(fd, datagram, sizeof(datagram), 0) != sizeof(datagram) ||
		    recv(fd, datagram, sizeof(datagram), 0) != sizeof(datagram))
			die("a datagram to itself");
	return processor_us() - begin;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = end};
	FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
	uint64_t longest = 0, took;
	int fd;

	if (!out) {
		fprintf(stderr, "usage: pace FILE\n");
		return 1;
	}
	sigaction(SIGTERM, &action, NULL);
	fd = make_socket();
	while (!ended) {
		took = measure(fd);
		longest = took > longest ? took : longest;
		rewind(out);
		fprintf(out, "%10llu\n", (unsigned long long)longest);
		fflush(out);
		usleep(PAUSE_US);
	}
	close(fd);
	return fclose(out) != 0;
}
