/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon: everything one uhcad process has. Made by main from the settings, driven by
 * loop.c, taken apart in the reverse order of its making. Only these two and main see all of it;
 * the modules get what they need. A module uses those above it in this list:
 *
 *	base     addresses, clock, log, words of text, random bytes
 *	sandbox  what the daemon lays down when it has opened all it needs
 *	local    processes of this host: sockets, descriptors that are watched, who is still here
 *	mem      memory of other processes, and memory shared with them
 *	device   a device without its network: who it is, the core's part, its files
 *	net      its way to other hosts: UDP
 *	port     its way to devices of this daemon, and what went over both
 *	network  the same way through a modelled network
 *	capture  what is told of packets and device actions: to files, to the flight recorder
 *	serve    clients and their control messages
 *	fault    what the rules do to packets, calls, completions, memory and devices
 *	ucma     the rdma_cm device
 *	ctl      requests of uhcactl
 */
#ifndef IO_DAEMON_H
#define IO_DAEMON_H

#include "emu/io/capture/captures.h"
#include "emu/io/ctl/ctl_server.h"
#include "emu/io/device/devices.h"
#include "emu/io/fault/fault.h"
#include "emu/io/local/local.h"
#include "emu/io/mem/memory.h"
#include "emu/io/net/udp.h"
#include "emu/io/network/network.h"
#include "emu/io/port/port.h"
#include "emu/io/serve/serve.h"
#include "emu/io/ucma/ucma.h"
#include "signals.h"

#include <ev.h>
#include <stdbool.h>

/* A device and the boxes below it, in the order of the stack. */
struct io_port {
	struct io_device dev;
	struct io_fault_box fault;
	struct io_pcap_box pcap;
	struct io_network_box network; /* in the stack with --fabric only */
	struct io_loopback loopback;
	struct io_udp udp;
	struct io_counter_files counters;
};

struct io_daemon {
	struct ev_loop *loop;
	struct io_tasks *tasks;   /* with files */
	struct io_watches shared; /* descriptors that clients have, too */
	struct io_settings settings;
	struct io_instance instance;
	struct io_shm status; /* struct uhca_abi_status */
	struct io_port *ports;
	struct io_devices devices;  /* those of ports */
	struct io_fabric fabric;    /* who has which address */
	struct io_network *network; /* --fabric; NULL: none */
	struct io_capture capture;
	struct io_tracer tracer;
	struct io_faults faults;
	struct io_listener clients_at;
	struct io_clients clients;
	struct io_ctl ctl;
	struct io_ucma ucma;
	struct io_idle_timeout idle_timeout;
	ev_timer counters; /* runs after work */
	bool counting;     /* a thread writes them */
	struct io_signals signals;
	bool stop;
};

/*
 * Starts a daemon in its directory: devices, sockets, files; says in the log what is wrong. The
 * settings are copied, the instance is taken over. 0 or -errno, with everything undone, the
 * instance closed.
 */
int io_daemon_create(struct io_daemon *d, const struct io_settings *settings,
		     const struct io_instance *instance);

/*
 * Lays down what is not needed any more (sandbox.h), unless the settings say otherwise. For the
 * whole process, for ever.
 */
void io_daemon_confine(struct io_daemon *d);

/* Disconnects all clients, writes out what is buffered, removes the files. */
void io_daemon_destroy(struct io_daemon *d);

#endif
