/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the number of a new region or window: unpredictable, or the key freed last. */
#include "key_reuse.h"

#include "emu/core/base/base.h"

int key_give(struct device *dev, struct object *o, uint32_t *key)
{
	bool again = dev->key_reuse && table_revive(&dev->mrs, dev->freed_key >> 8);
	uint8_t key_byte;
	int err = device_add(dev, &dev->mrs, o, &o->handle);

	if (err)
		return err;
	dev->ops->random(dev->user, &key_byte, sizeof(key_byte));
	*key = again ? dev->freed_key : o->handle << 8 | key_byte;
	return 0;
}

void key_take_back(struct device *dev, const struct object *o, uint32_t key)
{
	table_remove(&dev->mrs, o->handle);
	dev->freed_key = key;
}
