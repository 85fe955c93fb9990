/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the command line decides about a daemon, as values. Filled in by conf.c, read by everybody
 * in this directory. (config.h is what configure writes.)
 */
#ifndef IO_SETTINGS_H
#define IO_SETTINGS_H

#include "emu/abi/ctl.h"
#include "emu/core/core.h"
#include "emu/fabric/topo/topo.h"
#include "emu/io/base/base.h"
#include "emu/io/mem/memory.h"
#include "emu/machine/machine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define IO_MAX_DEVICES UHCA_DEVICES_MAX
#define IO_MAX_LIMITS  64
#define IO_MAX_FAULTS  256

/* Payload of one burst into a modelled network, where queue pairs take turns burst by burst. */
#define IO_NETWORK_BURST 16384u

/*
 * What links take that do not say so themselves: the longest packet of a device, over IPv6, with
 * XRC, RETH and immediate data, in its Ethernet frame.
 */
#define IO_NETWORK_MTU 4206u
/* An Ethernet header and an FCS are around what an interface calls its MTU. */
#define IO_ETHERNET    18u

/* How the ICRC of a received packet is judged; udp_rx.c tells what each means. */
enum io_icrc_mode {
	IO_ICRC_STRICT,
	IO_ICRC_LENIENT,
	IO_ICRC_OFF,
};

/* Does the daemon use UDP? */
enum io_wire_mode {
	IO_WIRE_AUTO,   /* UDP between daemons; bursts between devices of this one stay inside */
	IO_WIRE_ALWAYS, /* everything by UDP */
	IO_WIRE_NEVER,  /* no sockets: only devices of this daemon reach each other */
};

struct io_settings {
	char dir[PATH_MAX];
	bool trust_parents; /* of io_instance_open */
	unsigned devices;
	unsigned first_device;                            /* in the name of the first one */
	struct io_address_list addresses[IO_MAX_DEVICES]; /* count 0: the default */
	char netdev[IF_NAMESIZE];                         /* "": none given */
	const struct machine *machine;                    /* NULL: none is described */
	enum io_wire_mode wire;
	struct fabric_topology *fabric; /* the modelled network; NULL: none */
	char fabric_name[PATH_MAX];     /* as it was given */
	unsigned fabric_scale;          /* of time: the network is so much slower than it says */
	unsigned idle_timeout;          /* seconds; 0: for ever */
	int ready_fd;                   /* -1: none */
	char on_error[PATH_MAX]; /* where the flight recorder goes after a failure; "": nowhere */
	enum io_mem_mode mem;
	unsigned pin; /* enum uhca_abi_pin, which clients are told */
	bool gso;
	bool no_sandbox; /* io_sandbox_enter's "wanted" is not */
	enum io_icrc_mode icrc;
	unsigned profile;     /* of core_profile_name; 0: default */
	bool early_local_inv; /* core_config.local_inv_early */
	bool strict_arming;   /* core_config.strict_arming, whatever the profile */
	bool strict_order;    /* the same of core_config.strict_order */
	unsigned late_bytes;  /* microseconds, core_config.late_bytes_ns; 0: none are */
	unsigned late_writes; /* the same, and core_config.late_writes */
	bool any_srq_order;   /* the same */
	bool any_grh;         /* the same */
	bool same_qp_numbers; /* the same */
	unsigned lazy_acks;   /* microseconds: core_config.lazy_acks and ack_delay_ns; 0: not */
	struct core_congestion congestion; /* control.ops NULL: none */
	bool strict_memory;                /* core_config.gather_limit is 0, whatever the profile */
	unsigned n_limits;
	struct {
		unsigned limit; /* of core_limit_name */
		uint64_t value;
	} limits[IO_MAX_LIMITS]; /* in the order given */
	unsigned n_faults;
	struct {
		const char *text; /* a rule, or the name of a file of rules; the command line's */
		bool is_file;
	} faults[IO_MAX_FAULTS]; /* in the order given */
	bool has_fault_seed;
	uint64_t fault_seed;
};

/* 0, -EINVAL or -ERANGE: the core's defaults with the profile and the limits of the settings. */
int io_settings_config(const struct io_settings *s, struct core_config *out);

#endif
