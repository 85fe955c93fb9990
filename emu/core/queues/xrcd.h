/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * XRC domains (IBTA vol. 1, annex A14; ibv_open_xrcd(3)): what receiving QPs and the SRQs that
 * they may deliver to have in common. A domain is private to a client, or shared by all clients
 * of the device that name the same file; each of them has its own handle (struct xrcd).
 */
#ifndef CORE_XRCD_H
#define CORE_XRCD_H

#include "emu/core/base/base.h"

struct srq;

struct xrc_domain {
	struct list link; /* on dev->xrc_domains */
	uint64_t file[2]; /* what names it, when it is shared */
	bool shared;
	uint32_t handles; /* it ends with the last one */
};

struct xrcd {
	struct object obj; /* refs: XRC SRQs, and handles of receiving QPs, made with it */
	struct xrc_domain *domain;
};

/* The XRC SRQ with this number in the domain, or NULL. */
struct srq *xrcd_find_srq(const struct device *dev, const struct xrc_domain *domain, uint32_t srqn);

extern const struct object_type object_xrcd;

#endif
