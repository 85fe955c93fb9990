/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See counter_files.h. Numbers only grow, so a write from the start of the file leaves nothing of
 * the old one, and one write is seen whole.
 */
#include "counter_files.h"

#include "counts.h"
#include "emu/io/device/devices.h"
#include "emu/io/net/udp.h"
#include "emu/io/sysfs/sysfs.h"
#include "loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t drops(const struct core_counters *c)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CORE_DROP_COUNT; i++)
		sum += c->drops[i];
	return sum;
}

struct source {
	const struct core_counters *core;
	const struct io_udp *udp;
	uint64_t bad, no_route;
};

/* A name, and where its number is: in the core's counters, or one of those that are made here. */
struct counter {
	const char *name;
	size_t at; /* in struct core_counters */
	uint64_t (*make)(const struct source *s);
};

#define OF_(field)    offsetof(struct core_counters, field), NULL
#define BY_(function) 0, function

static uint64_t words_out(const struct source *s)
{
	return s->core->tx_bytes / 4;
}

static uint64_t words_in(const struct source *s)
{
	return s->core->rx_bytes / 4;
}

static uint64_t discards(const struct source *s)
{
	return s->udp->counters.tx_errors + s->no_route;
}

static uint64_t bad(const struct source *s)
{
	return s->bad;
}

static uint64_t dropped(const struct source *s)
{
	return drops(s->core);
}

static uint64_t overflow(const struct source *s)
{
	return s->udp->rx.counters.overflow;
}

static uint64_t out_of_buffer(const struct source *s)
{
	return s->core->rnr_sent + s->core->drops[CORE_DROP_NO_RECV];
}

static uint64_t never(const struct source *s)
{
	(void)s;
	return 0;
}

#define PORT_COUNTERS_                                                                             \
	{"counters/port_xmit_data", BY_(words_out)}, /* units of four bytes of payload */          \
		{"counters/port_rcv_data", BY_(words_in)},                                         \
		{"counters/port_xmit_packets", OF_(tx_packets)},                                   \
		{"counters/port_rcv_packets", OF_(rx_packets)},                                    \
		{"counters/port_xmit_discards", BY_(discards)},                                    \
		{"counters/port_rcv_errors", BY_(bad)},                                            \
	{                                                                                          \
		"counters/link_downed", OF_(link_downed)                                           \
	}

static const struct counter own[] = {
	PORT_COUNTERS_,
	{"hw_counters/sent_pkts", OF_(tx_packets)},
	{"hw_counters/rcvd_pkts", OF_(rx_packets)},
	{"hw_counters/duplicate_request", OF_(duplicates)},
	{"hw_counters/rcvd_rnr_err", OF_(rnr_received)},
	{"hw_counters/send_rnr_err", OF_(rnr_sent)},
	{"hw_counters/rcvd_nak", OF_(naks_received)},
	{"hw_counters/sent_nak", OF_(naks_sent)},
	{"hw_counters/local_ack_timeout_err", OF_(timeouts)},
	{"hw_counters/retransmits", OF_(retransmits)},
	{"hw_counters/completions", OF_(completions)},
	{"hw_counters/completion_errors", OF_(errors)},
	{"hw_counters/dropped_pkts", BY_(dropped)},
	{"hw_counters/bad_icrc", BY_(bad)},
	{"hw_counters/rx_overflow", BY_(overflow)},
};

/*
 * The names of mlx5 (Linux, drivers/infiniband/hw/mlx5/counters.c), and what moves them on a
 * ConnectX-6 (github.com/unionxic/rdma-fault-characterization, counter_mapping_findings.md): a
 * responder that sends a NAK counts no error, and a request that ibv_modify_qp flushes is no
 * req_cqe_flush_error. Those of retransmission and congestion control that this device has not
 * stay zero.
 */
static const struct counter mlx5[] = {
	PORT_COUNTERS_,
	{"hw_counters/rx_write_requests", OF_(write_requests)},
	{"hw_counters/rx_read_requests", OF_(read_requests)},
	{"hw_counters/rx_atomic_requests", OF_(atomic_requests)},
	{"hw_counters/out_of_buffer", BY_(out_of_buffer)},
	{"hw_counters/out_of_sequence", OF_(sequence_errors)},
	{"hw_counters/duplicate_request", OF_(duplicates)},
	{"hw_counters/rnr_nak_retry_err", OF_(rnr_received)},
	{"hw_counters/packet_seq_err", OF_(sequence_naks)},
	{"hw_counters/implied_nak_seq_err", OF_(implied_naks)},
	{"hw_counters/local_ack_timeout_err", OF_(timeouts)},
	{"hw_counters/resp_local_length_error", OF_(receive_lengths)},
	{"hw_counters/resp_cqe_error", OF_(receive_errors)},
	{"hw_counters/req_cqe_error", OF_(send_errors)},
	{"hw_counters/req_remote_invalid_request", OF_(invalid_request_naks)},
	{"hw_counters/req_remote_access_errors", OF_(access_naks)},
	{"hw_counters/resp_remote_access_errors", BY_(never)},
	{"hw_counters/resp_cqe_flush_error", OF_(receive_flushes)},
	{"hw_counters/req_cqe_flush_error", OF_(send_flushes)},
	{"hw_counters/req_transport_retries_exceeded", OF_(retries_exceeded)},
	{"hw_counters/req_rnr_retries_exceeded", OF_(rnr_exceeded)},
	{"hw_counters/roce_adp_retrans", BY_(never)},
	{"hw_counters/roce_adp_retrans_to", BY_(never)},
	{"hw_counters/roce_slow_restart", BY_(never)},
	{"hw_counters/roce_slow_restart_cnps", BY_(never)},
	{"hw_counters/roce_slow_restart_trans", BY_(never)},
	{"hw_counters/rp_cnp_ignored", OF_(cnps_received)},
	{"hw_counters/rp_cnp_handled", BY_(never)},
	{"hw_counters/np_ecn_marked_roce_packets", BY_(never)},
	{"hw_counters/np_cnp_sent", BY_(never)},
	{"hw_counters/rx_icrc_encapsulated", BY_(bad)},
};

#define N(table) (sizeof(table) / sizeof((table)[0]))
_Static_assert(N(own) <= IO_COUNTER_FILES && N(mlx5) <= IO_COUNTER_FILES, "room for all");

static const struct counter *table_of(enum core_errors errors, unsigned *n)
{
	*n = errors == CORE_ERRORS_MLX5 ? N(mlx5) : N(own);
	return errors == CORE_ERRORS_MLX5 ? mlx5 : own;
}

static uint64_t value_of(const struct counter *c, const struct source *s)
{
	uint64_t value;

	if (c->make)
		return c->make(s);
	memcpy(&value, (const char *)s->core + c->at, sizeof(value));
	return value;
}

static void collect(const struct io_device *dev, uint64_t value[IO_COUNTER_FILES])
{
	const struct io_udp *udp = io_counts_udp(dev);
	const struct source s = {.core = core_counters(dev->core),
				 .udp = udp,
				 .bad = dev->bad_icrc + udp->rx.counters.bad_icrc +
					udp->rx.counters.malformed,
				 .no_route = dev->loopback->no_route};
	unsigned n;
	const struct counter *table = table_of(dev->config.errors, &n);

	for (unsigned i = 0; i < n; i++)
		value[i] = value_of(&table[i], &s);
}

/* A file that says what others say has their names as well (begin_with_zeros): it becomes one. */
static int open_one(int root, const char *name)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(root, name, flags, 0644);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_nlink == 1)
		return fd;
	close(fd);
	return unlinkat(root, name, 0) < 0 ? -1 : openat(root, name, flags, 0644);
}

static int write_one(int root, const char *name, uint64_t value)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	int fd = open_one(root, name);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, text, (size_t)n, 0) != n)
		error = -EIO;
	close(fd);
	return error;
}

void io_counter_files_collect(const struct io_counter_files *f, struct io_counter_values *v)
{
	*v = (struct io_counter_values){.root = f->root, .errors = f->dev->config.errors};
	memcpy(v->written, f->written, sizeof(v->written));
	collect(f->dev, v->value);
}

void io_counter_values_write(struct io_counter_values *v)
{
	unsigned n;
	const struct counter *table = table_of(v->errors, &n);

	for (unsigned i = 0; i < n && v->error == 0; i++) {
		if (v->value[i] == v->written[i])
			continue;
		v->error = write_one(v->root, table[i].name, v->value[i]);
		v->written[i] = v->value[i];
	}
}

void io_counter_files_note(struct io_counter_files *f, const struct io_counter_values *v)
{
	memcpy(f->written, v->written, sizeof(f->written));
}

int io_counter_files_update(struct io_counter_files *f)
{
	struct io_counter_values v;

	io_counter_files_collect(f, &v);
	io_counter_values_write(&v);
	io_counter_files_note(f, &v);
	return v.error;
}

static int make_folder(int root, const char *name)
{
	return mkdirat(root, name, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* A machine has many: all of them are one file while they are zero. */
static void begin_with_zeros(struct io_counter_files *f, const char *dir)
{
	struct sysfs_tree t;
	unsigned n;
	const struct counter *table = table_of(f->dev->config.errors, &n);

	if (!f->dev->id.described || sysfs_open(&t, dir) < 0)
		return;
	t.pooled = true;
	sysfs_base(&t, "sys/class/infiniband/%s/ports/1", f->dev->id.name);
	for (unsigned i = 0; i < n; i++)
		sysfs_write(&t, table[i].name, "0");
	if (sysfs_close(&t) == 0)
		memset(f->written, 0, sizeof(f->written));
}

int io_counter_files_open(struct io_counter_files *f, const char *dir, const struct io_device *dev)
{
	char path[PATH_MAX + 64];
	int error;

	f->dev = dev;
	memset(f->written, 0xff, sizeof(f->written)); /* write each */
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/ports/1", dir, dev->id.name);
	f->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->root < 0)
		return -errno;
	error = make_folder(f->root, "counters");
	if (error == 0)
		error = make_folder(f->root, "hw_counters");
	if (error == 0) {
		begin_with_zeros(f, dir);
		error = io_counter_files_update(f);
	}
	if (error < 0)
		io_counter_files_close(f);
	return error;
}

void io_counter_files_close(struct io_counter_files *f)
{
	if (f->root >= 0)
		close(f->root);
	f->root = -1;
}
