/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a control verb is refused: one sentence, made where it is decided, with the attribute's name,
 * its value and what it should be. The shell takes it to its log and to the program (core_refusal).
 */
#ifndef CORE_REASON_H
#define CORE_REASON_H

#include "device.h"

/*
 * A verb is refused for this reason, a part of a sentence. Of printf(3) there are %u, %d, %x and
 * %s, numbers with a width (of zeroes), l and ll. The text is cut to UHCA_ABI_REASON. Returns 0.
 */
int device_say(struct device *dev, const char *words, ...) __attribute__((format(printf, 2, 3)));

/* Says why; returns error (-errno), as the compiler can see. */
#define device_refuse(dev, error, ...) device_refused((error), device_say((dev), __VA_ARGS__))
static inline int device_refused(int error, int said)
{
	(void)said;
	return error;
}

/* -EINVAL or 0: is the value of this attribute no more than the device's limit of that name? */
int device_check_limit(struct device *dev, const char *attribute, uint64_t value, const char *limit,
		       uint64_t most);

#endif
