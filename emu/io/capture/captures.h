/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of capture: what a device sends, receives and does, written to a capture or kept
 * by the flight recorder, and told to who listens. serve, fault, ctl and the daemon call; it calls
 * port, device and base. Begin at pcap.h, then tracer.h.
 */
#ifndef IO_CAPTURE_MODULE_H
#define IO_CAPTURE_MODULE_H

#include "file_writer.h"
#include "pcap.h"
#include "trace_text.h"
#include "tracer.h"

#endif
