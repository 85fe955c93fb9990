/* SPDX-License-Identifier: BSD-2-Clause */
/* make_visible: the table of what is flushed before which action, and the flushes in order. */
#include "barrier.h"

#include "copy_on_poll.h"
#include "delayed_write.h"

/*
 * Programs of several devices may share memory, and no device knows which: what any of them is to
 * copy is there before one looks.
 */
static void settle_copies(struct device *dev)
{
	copies_on_poll_settle(dev);
	for (struct list *l = dev->shares_memory.next; l != &dev->shares_memory; l = l->next)
		copies_on_poll_settle(list_entry(l, struct device, shares_memory));
}

void barrier_pass(struct device *dev, uint32_t first, struct cq *cq)
{
	if (first & VISIBLE_DELAYED_REQUESTS)
		delayed_write_settle_requests(dev);
	if (first & VISIBLE_DELAYED)
		delayed_write_settle(dev);
	if (first & VISIBLE_COPIES)
		settle_copies(dev);
	if (cq && (first & VISIBLE_DEFERRED))
		dev->enter_deferred(cq);
}

uint64_t barrier_due(const struct device *dev)
{
	uint64_t late = delayed_write_due(dev), copies = copies_on_poll_due(dev);

	return late < copies ? late : copies;
}

void barrier_tick(struct device *dev)
{
	delayed_write_tick(dev);
	copies_on_poll_tick(dev);
}
