/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "qp": queue pairs, their life and state. Creation, transitions, attributes and addresses,
 * QPs without queues (XRC_RECV, RSS), and what becomes of work when the daemon has died.
 *
 * Who may call: poll, which tells a QP what has completed; post, which makes extended QPs of it;
 * dv; the op table. It calls queues, keys, context and base. Where to begin: queue_pair.h.
 */
#ifndef UHCAV_QP_H
#define UHCAV_QP_H

#include "ah.h"
#include "ece.h"
#include "flow.h"
#include "qp_attr.h"
#include "qp_shared.h"
#include "queue_pair.h"
#include "rss.h"

#endif
