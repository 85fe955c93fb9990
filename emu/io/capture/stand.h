/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How things stand at one moment, for captures that end with it: what each queue pair and
 * completion queue has waiting, and what keys open. Records "stands" and "region" of
 * emu/abi/packet_metadata.h.
 */
#ifndef IO_STAND_H
#define IO_STAND_H

#include "emu/io/base/base.h"

#define IO_STAND_MOST  256  /* records of each kind and device, or a few more */
#define IO_STAND_LOOKS 1024 /* objects that are looked at for them */

struct io_device;

/* One call for each record. */
struct io_stand_sink {
	void (*put)(void *arg, const struct io_words *w);
	void *arg;
};

/* Queue pairs that are in use, and the completion queues that have something unread. client: of
 * this one only; NULL: of all. */
void io_stand_queues(const struct io_device *dev, const void *client,
		     const struct io_stand_sink *sink);

/* Regions, all of them up to IO_STAND_MOST. */
void io_stand_regions(const struct io_device *dev, const struct io_stand_sink *sink);

#endif
