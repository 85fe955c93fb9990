/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts of a simulation: a light model of reliable connections over the network model. A packet has
 * no bytes and no keys; it has a PSN, and what follows from that: go-back-N or selective
 * retransmission, coalesced ACKs, NAKs, timeouts, CNPs, pacing and windows of a congestion control.
 * The device core is not used here: it moves payload, which costs more than a simulated hop may.
 *
 * Both ends of a connection live in one struct. Begin at connection.h.
 */
#ifndef SIM_HOST_MODULE_H
#define SIM_HOST_MODULE_H

#include "connection.h"

#endif
