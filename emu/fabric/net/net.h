/* SPDX-License-Identifier: BSD-2-Clause */
/* Umbrella header of net: a network at work. Callers need fabric.h; begin to read at network.h. */
#ifndef FABRIC_NET_MODULE_H
#define FABRIC_NET_MODULE_H

#include "fabric.h"

#endif
