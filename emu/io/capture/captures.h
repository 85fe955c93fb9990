/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of capture: what a device sends, receives and does, written to a capture or kept by the
 * flight recorder, and told to who listens. serve, fault, ctl and the daemon call; it calls port,
 * device and base. Begin at pcap.h, then teller.h.
 */
#ifndef IO_CAPTURE_DOOR_H
#define IO_CAPTURE_DOOR_H

#include "pcap.h"
#include "tell.h"
#include "teller.h"

#endif
