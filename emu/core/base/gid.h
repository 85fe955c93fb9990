/* SPDX-License-Identifier: BSD-2-Clause */
/* GIDs: those of the device, and those of multicast groups. */
#ifndef CORE_GID_H
#define CORE_GID_H

#include <stdbool.h>
#include <stdint.h>

struct device;

/* Index of the GID in the table, or -1. An all-zero GID is never found. */
int device_find_gid(const struct device *dev, const uint8_t gid[16]);

/* The same, and which port has it; port 1 where none has. */
int device_find_gid_of(const struct device *dev, const uint8_t gid[16], unsigned *port);

/* 0, or -EINVAL, with what the number is called in words, when the device has no such port. */
int device_check_port(struct device *dev, const char *what, uint32_t port);

/*
 * The form in which groups are compared and packets carry them: ffxx::ffff:a.b.c.d, another way to
 * write an IPv4 group, becomes ::ffff:a.b.c.d.
 */
void mcast_canonical(const uint8_t gid[16], uint8_t out[16]);

#endif
