/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limits: what this machine can do at all, for the benchmark's table. Knows nothing of RDMA.
 *
 *   limits memcpy BYTES     copies between two warm buffers; prints GB/s
 *   limits vm-once BYTES    by process_vm_writev(2) into another process: one copy, one call
 *   limits vm-twice BYTES   out of one process and into another one: as a third one does it that
 *                           neither shares memory with
 *   limits udp-stream       two processes, UDP on loopback, 15 segments of 4 KiB by one GSO send,
 *                           received with GRO, a window of 16 sends; prints GB/s of payload
 *   limits hops             three processes that poll shared memory and yield, the one in the midst
 *                           copies 8 bytes from one to the other, on two processors; prints half
 *                           the round trip in microseconds
 *   limits udp-pingpong     two processes that poll and yield, 8 bytes; prints half the round
 *                           trip in microseconds
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEGMENT  4096
#define SEGMENTS 15
#define WINDOW   16
#define SENDS    20000
#define ROUNDS   50000

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "limits: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Of whole pages: how fast two buffers are copied may hang on where in a page they are. */
static uint8_t *make_buffer(size_t n)
{
	void *p = NULL;

	if (n == 0 || posix_memalign(&p, 4096, n))
		die("memory");
	return p;
}

static int measure_memcpy(size_t n)
{
	uint8_t *a = make_buffer(n), *b = make_buffer(n);
	memset(a, 1, n);
	memset(b, 2, n);
	size_t rounds = (size_t)4 << 30, done = 0;
	rounds = rounds / n + 1;
	double begin = now();
	for (; done < rounds && now() - begin < 1; done++) {
		memcpy(b, a, n);
		__asm__ volatile("" : : "r"(b) : "memory"); /* the copy must happen */
	}
	printf("%.2f\n", (double)done * (double)n / (now() - begin) / 1e9);
	free(a);
	free(b);
	return 0;
}

/* A process that has n bytes of its own at p, and ends with us. */
static pid_t start_owner(uint8_t *p, size_t n)
{
	int ready[2];
	uint8_t byte;
	pid_t pid;

	if (pipe(ready))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(p, 3, n);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		die("a process that ended");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* twice: what is written was read out of another process before, each time. */
static int measure_vm(size_t n, bool twice)
{
	uint8_t *p = make_buffer(n);
	struct iovec iov = {p, n};
	double begin;
	size_t done = 0;
	pid_t from, to;

	memset(p, 1, n);
	from = twice ? start_owner(p, n) : 0;
	to = start_owner(p, n);
	begin = now();
	for (; now() - begin < 1; done++) {
		if (from && process_vm_readv(from, &iov, 1, &iov, 1, 0) != (ssize_t)n)
			die("process_vm_readv");
		if (process_vm_writev(to, &iov, 1, &iov, 1, 0) != (ssize_t)n)
			die("process_vm_writev");
	}
	printf("%.2f\n", (double)done * (double)n / (now() - begin) / 1e9);
	kill(to, SIGKILL);
	if (from)
		kill(from, SIGKILL);
	free(p);
	return 0;
}

/* Two sockets on loopback, each connected to the other. */
static void socket_pair(int fd[2])
{
	struct sockaddr_in addr[2];
	socklen_t length = sizeof(addr[0]);
	int bytes = 4 << 20;
	for (int i = 0; i < 2; i++) {
		addr[i] = (struct sockaddr_in){.sin_family = AF_INET,
					       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		fd[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fd[i] < 0 || bind(fd[i], (struct sockaddr *)&addr[i], length) < 0 ||
		    getsockname(fd[i], (struct sockaddr *)&addr[i], &length) < 0)
			die("socket");
		setsockopt(fd[i], SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	}
	for (int i = 0; i < 2; i++) {
		if (connect(fd[i], (struct sockaddr *)&addr[1 - i], length) < 0)
			die("connect");
	}
}

static ssize_t receive_polling(int fd, void *to, size_t n)
{
	ssize_t got;
	while ((got = recv(fd, to, n, MSG_DONTWAIT)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			die("recv");
		sched_yield();
	}
	return got;
}

static pid_t fork_peer(void)
{
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

static int measure_pingpong(void)
{
	int fd[2];
	char byte[8] = "pingpon";
	socket_pair(fd);
	pid_t pid = fork_peer();
	if (pid == 0) {
		for (int i = 0; i < ROUNDS; i++) {
			receive_polling(fd[1], byte, sizeof(byte));
			if (send(fd[1], byte, sizeof(byte), 0) < 0)
				die("send");
		}
		_exit(0);
	}
	double begin = now();
	for (int i = 0; i < ROUNDS; i++) {
		if (send(fd[0], byte, sizeof(byte), 0) < 0)
			die("send");
		receive_polling(fd[0], byte, sizeof(byte));
	}
	printf("%.2f\n", (now() - begin) / ROUNDS / 2 * 1e6);
	waitpid(pid, NULL, 0);
	return 0;
}

/* What one process says to another: the number of the message, on cache lines of its own. */
struct word {
	_Alignas(128) uint64_t n;
};

enum {
	FROM_FIRST,
	TO_SECOND,
	FROM_SECOND,
	TO_FIRST,
	WORDS,
};

static bool has_come(const struct word *w, uint64_t n)
{
	if (__atomic_load_n(&w->n, __ATOMIC_ACQUIRE) == n)
		return true;
	sched_yield();
	return false;
}

static void say(struct word *w, uint64_t n)
{
	__atomic_store_n(&w->n, n, __ATOMIC_RELEASE);
}

/* Carries all messages, as a device between two programs has to. */
static void __attribute__((noreturn)) carry(struct word *w)
{
	for (uint64_t there = 1, back = 1; back <= ROUNDS;) {
		if (there == back && __atomic_load_n(&w[FROM_FIRST].n, __ATOMIC_ACQUIRE) == there)
			say(&w[TO_SECOND], there++);
		else if (has_come(&w[FROM_SECOND], back))
			say(&w[TO_FIRST], back++);
	}
	_exit(0);
}

static void __attribute__((noreturn)) answer(struct word *w)
{
	for (uint64_t n = 1; n <= ROUNDS; n++) {
		while (!has_come(&w[TO_SECOND], n))
			;
		say(&w[FROM_SECOND], n);
	}
	_exit(0);
}

static int measure_hops(void)
{
	struct word *w = mmap(NULL, sizeof(*w) * WORDS, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double begin;

	if (w == MAP_FAILED)
		die("mmap");
	if (fork_peer() == 0)
		carry(w);
	if (fork_peer() == 0)
		answer(w);
	begin = now();
	for (uint64_t n = 1; n <= ROUNDS; n++) {
		say(&w[FROM_FIRST], n);
		while (!has_come(&w[TO_FIRST], n))
			;
	}
	printf("%.2f\n", (now() - begin) / ROUNDS / 2 * 1e6);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* Receives everything, and says so after every half window. */
static void __attribute__((noreturn)) sink(int fd)
{
	static uint8_t buffer[1 << 16];
	const size_t unit = (size_t)SEGMENT * SEGMENTS * (WINDOW / 2);
	size_t total = (size_t)SEGMENT * SEGMENTS * SENDS, got = 0, told = 0;
	while (got < total) {
		got += (size_t)receive_polling(fd, buffer, sizeof(buffer));
		for (; got - told >= unit; told += unit) {
			if (send(fd, "", 1, 0) < 0)
				die("send");
		}
	}
	_exit(0);
}

static int measure_stream(void)
{
	static uint8_t buffer[SEGMENT * SEGMENTS];
	int fd[2], segment = SEGMENT, on = 1, credit = WINDOW;
	uint8_t byte;
	socket_pair(fd);
	if (setsockopt(fd[0], SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)) < 0 ||
	    setsockopt(fd[1], SOL_UDP, UDP_GRO, &on, sizeof(on)) < 0)
		die("UDP segmentation offload");
	pid_t pid = fork_peer();
	if (pid == 0)
		sink(fd[1]);
	double begin = now();
	for (int i = 0; i < SENDS; i++) {
		if (credit == 0) {
			receive_polling(fd[0], &byte, 1);
			credit += WINDOW / 2;
		}
		if (send(fd[0], buffer, sizeof(buffer), 0) < 0)
			die("send");
		credit--;
	}
	waitpid(pid, NULL, 0);
	printf("%.2f\n", (double)sizeof(buffer) * SENDS / (now() - begin) / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "memcpy") == 0)
		return measure_memcpy(strtoul(argv[2], NULL, 10));
	if (argc == 3 && strcmp(argv[1], "vm-once") == 0)
		return measure_vm(strtoul(argv[2], NULL, 10), false);
	if (argc == 3 && strcmp(argv[1], "vm-twice") == 0)
		return measure_vm(strtoul(argv[2], NULL, 10), true);
	if (argc == 2 && strcmp(argv[1], "udp-stream") == 0)
		return measure_stream();
	if (argc == 2 && strcmp(argv[1], "hops") == 0)
		return measure_hops();
	if (argc == 2 && strcmp(argv[1], "udp-pingpong") == 0)
		return measure_pingpong();
	fprintf(stderr,
		"usage: limits memcpy|vm-once|vm-twice BYTES | udp-stream | hops | udp-pingpong\n");
	return 2;
}
