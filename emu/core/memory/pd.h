/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domain: nothing but an identity that keys, queues and address handles share. */
#ifndef CORE_PD_H
#define CORE_PD_H

#include "emu/core/base/base.h"

struct pd {
	struct object obj; /* refs: MRs, QPs, SRQs, AHs in it */
};

extern const struct object_type object_pd;

#endif
