/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Congestion control of a reliable sender, behind one small interface: what happens to its packets
 * goes in, a rate and a window come out. No clock, no memory of its own, integers only, so that a
 * run is the same on every machine. To write another one: a state in the union below, a row of
 * parameters, the functions of struct cc_ops, and its name in cc.c.
 *
 * A control need not be called in time. It catches up with its timers whenever it is called, so a
 * sender that has nothing to send sets no timer for it; one that waits for its rate calls on_timer
 * at the deadline.
 */
#ifndef CORE_CC_H
#define CORE_CC_H

#include <stdbool.h>
#include <stdint.h>

#define CC_NEVER      UINT64_MAX
#define CC_NO_WINDOW  UINT64_MAX
#define CC_RATIO_ONE  (UINT64_C(1) << 32)
#define CC_PARAMS_MAX 12u

enum cc_unit { CC_COUNT, CC_RATE, CC_BYTES, CC_TIME, CC_RATIO }; /* bit/s, ns, 2^-32 */

struct cc_param {
	const char *name; /* NULL ends a list */
	enum cc_unit unit;
	uint64_t usual;
	uint64_t min;
	uint64_t max;
	const char *help;
};

struct cc_flow;

/* An acknowledgement. */
struct cc_ack {
	uint64_t rtt;     /* ns, of the packet that it answers */
	uint64_t through; /* packets acknowledged so far */
	uint64_t sent;    /* packets sent so far, those sent again not counted */
	uint32_t packets; /* that it acknowledges */
	uint32_t marked;  /* of these with a CE mark, where the receiver echoes marks */
	uint32_t hops;    /* switches on the way; 0: not known */
};

struct cc_ops {
	const char *name;
	const char *help;
	const struct cc_param *params;
	bool echo; /* it counts marks that ACKs echo, and needs no CNPs */
	void (*start)(struct cc_flow *f, uint64_t now);
	/* Each may be NULL. */
	void (*on_ack)(struct cc_flow *f, const struct cc_ack *a, uint64_t now);
	void (*on_cnp)(struct cc_flow *f, uint64_t now);
	void (*on_timer)(struct cc_flow *f, uint64_t now);
	void (*on_sent)(struct cc_flow *f, uint32_t bytes, uint64_t now);
	void (*on_loss)(struct cc_flow *f, uint64_t now);
};

/* A control and the values of its parameters: shared by all flows that use them. */
struct cc_settings {
	const struct cc_ops *ops;
	uint64_t value[CC_PARAMS_MAX];
};

struct cc_dcqcn {
	uint64_t target;   /* bit/s */
	uint64_t alpha;    /* 2^-32 */
	uint64_t alpha_at; /* the next step of alpha */
	uint64_t timer_at; /* the next expiry of the increase timer; CC_NEVER: at line rate */
	uint64_t cut_at;   /* a cut that a CNP has asked for; CC_NEVER: none */
	uint64_t cut_base; /* cuts are at multiples of the interval from here */
	uint64_t bytes;    /* left of the byte counter */
	uint16_t timer_stage;
	uint16_t byte_stage;
	bool known; /* a CNP has come */
	bool seen;  /* one has come since alpha's last step */
};

struct cc_swift {
	uint64_t cwnd; /* packets in 2^-16 */
	uint64_t cut_at;
};

struct cc_timely {
	uint64_t last_rtt;
	int64_t difference; /* of RTTs, ns in 2^-8 */
	uint64_t round_end;
	uint32_t rises;
};

struct cc_dctcp {
	uint64_t cwnd; /* packets in 2^-16 */
	uint64_t alpha;
	uint64_t round_end;
	uint32_t packets, marked; /* of this round */
};

struct cc_flow {
	const struct cc_settings *settings;
	uint64_t line_rate; /* bit/s */
	uint64_t base_rtt;  /* ns, of an empty network */
	uint32_t packet;    /* bytes of a full one */
	/* What the sender keeps to. */
	uint64_t rate;     /* bit/s */
	uint64_t window;   /* bytes in flight */
	uint64_t deadline; /* ns, when on_timer may change that; CC_NEVER */
	union {
		struct cc_dcqcn dcqcn;
		struct cc_swift swift;
		struct cc_timely timely;
		struct cc_dctcp dctcp;
	} s;
};

/* Control number i; NULL behind the last. */
const struct cc_ops *cc_at(unsigned i);

/* The settings that the control has by default. */
void cc_settings_init(struct cc_settings *s, const struct cc_ops *ops);

/* The flow begins, with line_rate, base_rtt and packet set: at line rate, without a window. */
void cc_start(struct cc_flow *f, const struct cc_settings *s, uint64_t now);

static inline void cc_ack(struct cc_flow *f, const struct cc_ack *a, uint64_t now)
{
	if (f->settings->ops->on_ack)
		f->settings->ops->on_ack(f, a, now);
}

static inline void cc_cnp(struct cc_flow *f, uint64_t now)
{
	if (f->settings->ops->on_cnp)
		f->settings->ops->on_cnp(f, now);
}

static inline void cc_timer(struct cc_flow *f, uint64_t now)
{
	if (f->settings->ops->on_timer)
		f->settings->ops->on_timer(f, now);
}

static inline void cc_sent(struct cc_flow *f, uint32_t bytes, uint64_t now)
{
	if (f->settings->ops->on_sent)
		f->settings->ops->on_sent(f, bytes, now);
}

static inline void cc_loss(struct cc_flow *f, uint64_t now)
{
	if (f->settings->ops->on_loss)
		f->settings->ops->on_loss(f, now);
}

/* Bytes that the line carries in the RTT of an empty network, one packet at least. */
uint64_t cc_bdp(const struct cc_flow *f);

#endif
