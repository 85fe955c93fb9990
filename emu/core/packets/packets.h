/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of packets into the device and out of it: to the QP or the group they are for, from
 * whichever QP may send next; and whole Ethernet frames by steering rules.
 *
 * Called by the shell (core_rx, core_tx_next, core_frame_next). Begin with receive.c and
 * transmit.c.
 */
#ifndef CORE_PACKETS_MODULE_H
#define CORE_PACKETS_MODULE_H

#include "flow.h"
#include "mcast.h"
#include "orphan_ack.h"
#include "raw.h"
#include "receive.h"

#endif
