/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child inherits copies of everything and owns nothing: its contexts are marked, so that its
 * calls fail without touching the parent's socket, rings or events (see device.h). It may open
 * devices of its own. Our locks are held across the fork, so that the child finds whole lists.
 */
#include "fork.h"

#include "channel.h"
#include "monitor.h"

#include <pthread.h>

static void before(void)
{
	/* The order in which channel.c and open.c take them. */
	uhcav_channels_lock();
	uhcav_monitor_lock();
}

static void in_parent(void)
{
	uhcav_monitor_unlock();
	uhcav_channels_unlock();
}

static void in_child(void)
{
	uhcav_monitor_forked();
	in_parent();
}

static void install(void)
{
	pthread_atfork(before, in_parent, in_child);
}

void uhcav_fork_prepare_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}
