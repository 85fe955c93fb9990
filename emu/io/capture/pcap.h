/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The box that sees what a device sends and receives, whether it goes by UDP or stays in the
 * daemon, and the device's witness in general: all that it sees or is told goes to the capture,
 * while one runs, and to the flight recorder. A packet that arrives is written when the receiver
 * has looked at it, with what became of it; what the receiver did on its account stands behind it.
 */
#ifndef IO_PCAP_H
#define IO_PCAP_H

#include "capture.h"
#include "emu/fault/net/net.h"
#include "emu/io/base/base.h"
#include "emu/io/device/devices.h"
#include "recorder.h"
#include "trace_text.h"

#include <stdbool.h>
#include <stdint.h>

struct io_pcap_box {
	struct netif netif;
	struct io_capture *capture;
	struct io_recorder *recorder;
	struct device *core; /* whose keys are told of; NULL: none */
	unsigned interface;
	const char *ordered;   /* the program whose command is carried out; NULL: none */
	uint8_t closed[16];    /* the last address that was told of as one without a device */
	uint64_t closed_until; /* and it is not told of again before this */
	/* Bursts that are on their way through the box; NULL: none. */
	struct io_capture_burst *sending;
	struct io_capture_burst *receiving;
};

void io_pcap_box_init(struct io_pcap_box *b, struct io_capture *capture,
		      struct io_recorder *recorder, unsigned interface);

/* What the box wants to be told by the core (core_hooks_set) as things are now. */
uint32_t io_pcap_hooks(const struct io_pcap_box *b);

/* A trace point of the device. */
void io_pcap_trace(struct io_pcap_box *b, const struct core_trace *t);

/*
 * From the box above: these packets go no further. Those that arrived and are on their way through
 * this box now are marked; those that were to be sent are written, as they never came here.
 * malformed: a rule made of them what no receiver understands.
 */
void io_pcap_dropped(struct io_pcap_box *b, enum fault_direction dir, const struct core_burst *t,
		     bool malformed);

/*
 * From the box above: a rule (t->model.rule) has made or changed these packets, on their way to
 * the device. Made ones are written, changed ones are marked. Those that are sent need not be told
 * of: they come here.
 */
void io_pcap_touched(struct io_pcap_box *b, const struct core_burst *t);

/* A program made a call that its library refused: a failure, as a completion with an error. */
void io_pcap_refused(struct io_pcap_box *b, const struct io_trace_refused *r);

/*
 * At this address, to which the device sent something, the UDP port is closed; as struct
 * io_udp_errors has it, of a box.
 */
void io_pcap_unreachable(void *box, const uint8_t gid[16], uint16_t port);

/* A key was made (qpn 0), or used by a QP. */
void io_pcap_region(struct io_pcap_box *b, uint32_t qpn, uint32_t key);

#endif
