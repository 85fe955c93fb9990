/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which number a new region or window gets. Keys are unpredictable and come again late (table.h),
 * so that a stale one names nothing; a device that gives the key freed last to the next tenant at
 * once (core_inject_key_reuse) lets a program that still uses it reach the wrong region.
 */
#ifndef CORE_KEY_REUSE_H
#define CORE_KEY_REUSE_H

#include "emu/core/base/base.h"

struct object;

/* Enters the object into the table of keys: o->handle and *key are set. 0 or -ENOMEM. */
int key_give(struct device *dev, struct object *o, uint32_t *key);

/* The object goes and its key is free. */
void key_take_back(struct device *dev, const struct object *o, uint32_t key);

#endif
