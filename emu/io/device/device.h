/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One emulated device as the shell sees it: its identity, the core's state, and the stack of
 * boxes that connects it to the network. Owner: the daemon. Clients point at it.
 */
#ifndef IO_DEVICE_H
#define IO_DEVICE_H

#include "emu/core/core.h"
#include "failures.h"
#include "netif.h"
#include "settings.h"
#include "sysfs_change.h"
#include "sysfs_tree.h"

#include <stdbool.h>

struct fault_net;
struct io_fault_box;
struct io_faults;
struct io_loopback;
struct io_pcap_box;
struct io_ucma;
struct io_udp;

#define IO_LOST_GIDS CORE_GID_MOST

/* Why a device is not asked for bursts. */
enum io_block {
	IO_BLOCK_WIRE = 1,    /* a socket is full */
	IO_BLOCK_HANG = 2,    /* it hangs */
	IO_BLOCK_NETWORK = 4, /* its port of the modelled network sends, or is paused */
};

/* An address that has left the GID table. */
struct io_lost_gid {
	bool is_lost;
	uint64_t due; /* when it comes back by itself; UINT64_MAX: it does not */
	struct io_gid_entry entry;
};

struct io_device {
	struct io_identity id;
	struct device *core;
	struct core_config config; /* what the core was made with */
	struct netif top;          /* the device's own end of its stack */
	struct io_pcap_box *pcap;  /* its witness; NULL: nobody looks */
	uint32_t hooks;            /* io_device_hook */
	struct io_fault_box *fault;
	struct fault_net *net; /* the fault box's: what rules do to packets */
	struct io_loopback *loopback;
	struct io_udp *udp;       /* NULL: no wire */
	struct netif *bottom;     /* where bursts that arrive enter */
	struct io_faults *faults; /* the rules; set with the boxes */
	struct io_ucma *ucma;     /* who manages connections; NULL: nobody */
	uint64_t bad_icrc;        /* packets that a fault rule broke on their way here */
	struct io_failures failures;
	struct io_lost_gid lost_gid[IO_LOST_GIDS]; /* that may come back */
	bool away;                                 /* unplugged: nobody can open it */
	uint64_t command_ns; /* it hangs, and commands take so long; 0: it does not */
	uint64_t hangs;      /* so often it has hung */
	bool dirty;          /* something happened: ask for bursts to send */
	uint8_t blocked;     /* enum io_block, bits: do not ask until there is none */
};

/* The devices of a daemon, and room for what one of them sends. */
struct io_devices {
	struct io_device *at[IO_MAX_DEVICES];
	unsigned n;
	uint8_t *buf;
	size_t cap;
	struct io_loop_pass pass; /* of the loop that serves them */
};

/* NULL when there is none of this name; name need not be terminated. */
struct io_device *io_devices_find(const struct io_devices *all, const char *name, size_t cap);

/*
 * Names and addresses of device number "index" under these settings. 0 or -errno (logged):
 * an interface without an address, more devices than addresses.
 */
int io_identity_of(const struct io_settings *settings, unsigned index, struct io_identity *out);

/*
 * Makes the core's device; "user" of ops is dev. window_bytes: the unacknowledged payload of one QP
 * for which the receive buffers always have room (a QP may find out that twice as much fits), 0 for
 * the core's own default. 0 or -errno. The stack is empty: the top is the bottom.
 */
int io_device_create(struct io_device *dev, const struct core_ops *ops,
		     const struct io_settings *settings, const struct io_identity *id,
		     uint32_t window_bytes);
void io_device_destroy(struct io_device *dev);

/*
 * What the core is to tell (core_hooks_set): of the bits in mask those in value. Each has an owner,
 * who alone changes it.
 */
void io_device_hook(struct io_device *dev, uint32_t mask, uint32_t value);

/*
 * Pulls up to max bursts from the core and sends each down the stack; buf holds payload
 * (cap bytes, at least config.burst_bytes). Returns the number of bursts; less than max when
 * there is no more (dirty is false then), when the wire is full (blocked), or after a burst that
 * took long, a long one or one to a multicast group: the caller may want to look at the clock and
 * at doorbells.
 */
unsigned io_device_send(struct io_device *dev, uint64_t now, uint8_t *buf, size_t cap,
			unsigned max);

/* While on, nothing passes the device's end of its stack, either way: packets are lost there. */
void io_device_shut(struct io_device *dev, bool on);

/*
 * Sends what answers to what has come (core_tx_answer), of each QP that has some; less when the
 * wire is full. Requests wait for io_device_send.
 */
void io_device_answer(struct io_device *dev, uint64_t now, uint8_t *buf, size_t cap);

/*
 * Sends the next burst of this client's QPs, into the queue of a modelled port, too. Returns what
 * it cost: 1, and 1 more for each 4 KiB and for each 8 QPs of these devices that are members of the
 * group it goes to. 0 when there is none, or the wire is full.
 */
unsigned io_device_send_of(const struct io_devices *all, struct io_device *dev, struct client *of,
			   uint64_t now);

#endif
