/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relay: joins two network interfaces and hurts what passes, by chance and with a seed.
 *
 *   relay [--loss P] [--duplicate P] [--reorder P] [--seed N] [--udp-port N] IF IF
 *
 * Each frame that comes in on one interface goes out on the other. P are per cent of the frames:
 * lost, sent twice, or held back until some later ones have passed. With --udp-port only UDP
 * datagrams to that port are hurt. Prints "relay: ready" when it forwards; at SIGTERM or SIGINT
 * prints what it did to how many frames and ends. Knows Ethernet, IP and UDP and nothing else.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX    65600
#define HELD_MAX     32
#define HELD_PACKETS 8       /* a held frame goes after at most so many later ones ... */
#define HELD_NS      2000000 /* ... or when so much time has passed */
#define BUFFER_BYTES (32 << 20)

struct chances {
	double loss, duplicate, reorder; /* 0 .. 1 */
	unsigned udp_port;               /* 0: hurt everything */
};

struct held {
	uint8_t *frame;
	size_t length;
	unsigned after; /* later frames that still go first */
	int64_t until;
};

/* One direction: frames from one interface to the other. */
struct lane {
	const char *name;
	int from, to;
	struct held held[HELD_MAX];
	unsigned n_held;
	unsigned long passed, lost, doubled, late, refused;
};

static volatile sig_atomic_t stop;

static void on_signal(int s)
{
	(void)s;
	stop = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* splitmix64: every number depends on the seed and on how many came before. */
static uint64_t random_state;

static uint64_t next_random(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static bool happens(double chance)
{
	return (double)(next_random() >> 11) / 9007199254740992.0 < chance;
}

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* Destination port of a UDP datagram that is no later fragment, else 0. */
static unsigned udp_port_of(const uint8_t *f, size_t n)
{
	size_t ip = 14, udp = 0;
	if (n >= ip + 20 && be16(f + 12) == ETH_P_IP) {
		bool first = (be16(f + ip + 6) & 0x1fff) == 0;
		if (f[ip + 9] == IPPROTO_UDP && first)
			udp = ip + (size_t)(f[ip] & 15) * 4;
	} else if (n >= ip + 40 && be16(f + 12) == ETH_P_IPV6 && f[ip + 6] == IPPROTO_UDP) {
		udp = ip + 40;
	}
	return udp && n >= udp + 8 ? be16(f + udp + 2) : 0;
}

static void send_frame(struct lane *lane, const uint8_t *frame, size_t n)
{
	if (send(lane->to, frame, n, 0) == (ssize_t)n)
		lane->passed++;
	else
		lane->refused++; /* as a full queue of a switch would */
}

static void release_held(struct lane *lane, unsigned i)
{
	send_frame(lane, lane->held[i].frame, lane->held[i].length);
	free(lane->held[i].frame);
	lane->held[i] = lane->held[--lane->n_held];
}

static void count_down(struct lane *lane)
{
	for (unsigned i = 0; i < lane->n_held;) {
		if (--lane->held[i].after == 0)
			release_held(lane, i);
		else
			i++;
	}
}

static void release_due(struct lane *lane, int64_t now)
{
	for (unsigned i = 0; i < lane->n_held;) {
		if (lane->held[i].until <= now)
			release_held(lane, i);
		else
			i++;
	}
}

static bool hold_frame(struct lane *lane, const uint8_t *frame, size_t n)
{
	if (lane->n_held == HELD_MAX)
		return false;
	struct held *h = &lane->held[lane->n_held];
	h->frame = malloc(n);
	if (!h->frame)
		return false;
	memcpy(h->frame, frame, n);
	h->length = n;
	h->after = 1 + (unsigned)(next_random() % HELD_PACKETS);
	h->until = now_ns() + HELD_NS;
	lane->n_held++;
	return true;
}

static void pass_on(struct lane *lane, const struct chances *chances, const uint8_t *f, size_t n)
{
	if (chances->udp_port && udp_port_of(f, n) != chances->udp_port) {
		send_frame(lane, f, n);
		return;
	}
	if (happens(chances->loss)) {
		lane->lost++;
		return;
	}
	if (happens(chances->reorder) && hold_frame(lane, f, n)) {
		lane->late++;
		return;
	}
	send_frame(lane, f, n);
	if (happens(chances->duplicate)) {
		lane->doubled++;
		send_frame(lane, f, n);
	}
	count_down(lane);
}

static void receive_frames(struct lane *lane, const struct chances *chances)
{
	static uint8_t frame[FRAME_MAX];
	struct sockaddr_ll from;
	for (int i = 0; i < 64; i++) {
		socklen_t length = sizeof(from);
		ssize_t n = recvfrom(lane->from, frame, sizeof(frame), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &length);
		if (n < 0)
			return;
		if (from.sll_pkttype != PACKET_OUTGOING && n >= 14)
			pass_on(lane, chances, frame, (size_t)n);
	}
}

static int open_interface(const char *name)
{
	struct sockaddr_ll addr = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	struct packet_mreq all = {.mr_type = PACKET_MR_PROMISC};
	int bytes = BUFFER_BYTES, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("packet socket (needs CAP_NET_RAW in this network namespace)");
	addr.sll_ifindex = (int)if_nametoindex(name);
	all.mr_ifindex = addr.sll_ifindex;
	if (addr.sll_ifindex == 0)
		die(name);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) < 0)
		die(name);
	return fd;
}

static void forward(struct lane lanes[2], const struct chances *chances)
{
	struct pollfd p[2] = {{.fd = lanes[0].from, .events = POLLIN},
			      {.fd = lanes[1].from, .events = POLLIN}};
	while (!stop) {
		bool waiting = lanes[0].n_held || lanes[1].n_held;
		if (poll(p, 2, waiting ? 1 : -1) < 0 && errno != EINTR)
			die("poll");
		for (int i = 0; i < 2; i++) {
			if (p[i].revents & POLLIN)
				receive_frames(&lanes[i], chances);
			release_due(&lanes[i], now_ns());
		}
	}
}

static void usage(void)
{
	fprintf(stderr, "usage: relay [--loss P] [--duplicate P] [--reorder P] [--seed N] "
			"[--udp-port N] IF IF\n");
	exit(2);
}

static double per_cent(const char *text)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || value < 0 || value > 100)
		usage();
	return value / 100;
}

static void parse(int argc, char **argv, struct chances *out)
{
	static const struct option longs[] = {
		{"loss", required_argument, NULL, 'l'},
		{"duplicate", required_argument, NULL, 'd'},
		{"reorder", required_argument, NULL, 'r'},
		{"seed", required_argument, NULL, 's'},
		{"udp-port", required_argument, NULL, 'u'},
		{0},
	};
	int c;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'l')
			out->loss = per_cent(optarg);
		else if (c == 'd')
			out->duplicate = per_cent(optarg);
		else if (c == 'r')
			out->reorder = per_cent(optarg);
		else if (c == 's')
			random_state = strtoull(optarg, NULL, 0);
		else if (c == 'u')
			out->udp_port = (unsigned)strtoul(optarg, NULL, 10);
		else
			usage();
	}
	if (argc - optind != 2)
		usage();
}

int main(int argc, char **argv)
{
	struct chances chances = {0};
	struct sigaction action = {.sa_handler = on_signal};
	parse(argc, argv, &chances);
	uint64_t seed = random_state;
	int a = open_interface(argv[optind]), b = open_interface(argv[optind + 1]);
	struct lane lanes[2] = {{.name = argv[optind], .from = a, .to = b},
				{.name = argv[optind + 1], .from = b, .to = a}};
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	printf("relay: ready\n");
	fflush(stdout);
	forward(lanes, &chances);
	for (int i = 0; i < 2; i++)
		printf("relay: seed %llu, from %s: %lu passed, %lu lost, %lu doubled, %lu late, "
		       "%lu refused\n",
		       (unsigned long long)seed, lanes[i].name, lanes[i].passed, lanes[i].lost,
		       lanes[i].doubled, lanes[i].late, lanes[i].refused);
	return 0;
}
