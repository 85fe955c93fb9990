/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See counter_files.h. Numbers only grow, so a write from the start of the file leaves nothing of
 * the old one, and one write is seen whole.
 */
#include "counter_files.h"

#include "counts.h"
#include "emu/io/device/devices.h"
#include "emu/io/net/udp.h"
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

/* Values in the order of the table below. */
static void collect(const struct io_device *dev, uint64_t value[IO_COUNTER_FILES])
{
	const struct core_counters *c = core_counters(dev->core);
	const struct io_udp *udp = io_counts_udp(dev);
	const uint64_t bad = dev->bad_icrc + udp->rx.counters.bad_icrc + udp->rx.counters.malformed;
	const uint64_t all[] = {
		c->tx_bytes / 4,
		c->rx_bytes / 4,
		c->tx_packets,
		c->rx_packets,
		udp->counters.tx_errors + dev->loopback->no_route,
		bad,
		c->link_downed,
		c->tx_packets,
		c->rx_packets,
		c->duplicates,
		c->rnr_received,
		c->rnr_sent,
		c->naks_received,
		c->naks_sent,
		c->timeouts,
		c->retransmits,
		c->completions,
		c->errors,
		drops(c),
		bad,
		udp->rx.counters.overflow,
	};

	_Static_assert(sizeof(all) <= IO_COUNTER_FILES * sizeof(all[0]), "room for all");
	memcpy(value, all, sizeof(all));
}

static const char *const names[] = {
	"counters/port_xmit_data", /* units of four bytes of payload */
	"counters/port_rcv_data",        "counters/port_xmit_packets",
	"counters/port_rcv_packets",     "counters/port_xmit_discards",
	"counters/port_rcv_errors",      "counters/link_downed",
	"hw_counters/sent_pkts",         "hw_counters/rcvd_pkts",
	"hw_counters/duplicate_request", "hw_counters/rcvd_rnr_err",
	"hw_counters/send_rnr_err",      "hw_counters/rcvd_nak",
	"hw_counters/sent_nak",          "hw_counters/local_ack_timeout_err",
	"hw_counters/retransmits",       "hw_counters/completions",
	"hw_counters/completion_errors", "hw_counters/dropped_pkts",
	"hw_counters/bad_icrc",          "hw_counters/rx_overflow",
};
#define NAMES (sizeof(names) / sizeof(names[0]))
_Static_assert(NAMES <= IO_COUNTER_FILES, "room for all");

static int write_one(int root, unsigned i, uint64_t value)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	int fd = openat(root, names[i], O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
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
	*v = (struct io_counter_values){.root = f->root};
	memcpy(v->written, f->written, sizeof(v->written));
	collect(f->dev, v->value);
}

void io_counter_values_write(struct io_counter_values *v)
{
	for (unsigned i = 0; i < NAMES && v->error == 0; i++) {
		if (v->value[i] == v->written[i])
			continue;
		v->error = write_one(v->root, i, v->value[i]);
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
	if (error == 0)
		error = io_counter_files_update(f);
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
