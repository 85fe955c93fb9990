/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the process has made and not destroyed: each object with the stack that made it and the
 * objects it stands on. Regions that are gone are remembered for a while, because their keys are
 * used all the same.
 *
 * Everything is handed out as a copy: an object may go at any moment. Any thread.
 */
#ifndef UHCAV_OBJECT_H
#define UHCAV_OBJECT_H

#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum uhcav_kind {
	UHCAV_KIND_PD,
	UHCAV_KIND_TD,
	UHCAV_KIND_CQ,
	UHCAV_KIND_QP,
	UHCAV_KIND_SRQ,
	UHCAV_KIND_WQ,
	UHCAV_KIND_RWQ_TABLE,
	UHCAV_KIND_MR,
	UHCAV_KIND_MW,
	UHCAV_KIND_DM,
	UHCAV_KIND_AH,
	UHCAV_KIND_FLOW,
	UHCAV_KIND_XRCD,
	UHCAV_KIND_COMP_CNTR,
	UHCAV_KIND_COUNT
};

#define UHCAV_OBJECT_USES 5u

/* Of a region. */
struct uhcav_object_mr {
	uint64_t addr, length, iova;
	uint32_t lkey, rkey;
	uint32_t pd;    /* handle of its domain: that of a parent domain is its own parent's */
	int access;     /* enum ibv_access_flags */
	bool in_memory; /* iova + x is addr + x of the process */
};

struct uhcav_object {
	enum uhcav_kind kind;
	const void *self;
	uint32_t number; /* QP number, key, or else the public handle */
	pid_t pid;       /* of who made it */
	const struct ibv_context *context;
	const void *uses[UHCAV_OBJECT_USES]; /* NULL: none */
	const struct uhcav_stack *made;
	const struct uhcav_stack *gone; /* of a region that is; NULL: it lives */
	struct uhcav_object_mr mr;
	bool loops;    /* of an address handle: it leads to its own port */
	uint32_t held; /* what it was found by at exit; 0: nothing */
};

/* How people call it: "protection domain". */
const char *uhcav_kind_name(enum uhcav_kind kind);

/* Of object and number in words: "QP 0x11". */
#define UHCAV_OBJECT_WORDS 64u
const char *uhcav_object_words(const struct uhcav_object *o, char words[UHCAV_OBJECT_WORDS]);

/* The same of an object by its address, for a handler of signals: false when it is not known. */
bool uhcav_object_try_words(const void *self, char *words, size_t room);

/* A new object; without memory it is not known. */
void uhcav_object_add(const struct uhcav_object *o);

/*
 * It is about to go: takes it out, because another may soon have its address. False when it is not
 * known. Who finds that it stays puts it back with add; a region that is gone is left with bury.
 */
bool uhcav_object_take(const void *self, struct uhcav_object *o);
void uhcav_object_bury(const struct uhcav_object *mr, const struct uhcav_stack *gone);

/* Did an object go after the last one was made, and after the last call or request that failed? */
bool uhcav_object_last_went(void);

bool uhcav_object_find(const void *self, struct uhcav_object *o);

/* The region of an L_Key, alive or remembered (gone is not NULL). */
bool uhcav_object_by_key(const struct ibv_context *context, uint32_t lkey, struct uhcav_object *o);

/* The region of an R_Key, in the same way; it takes a walk over all objects. */
bool uhcav_object_by_rkey(const struct ibv_context *context, uint32_t rkey, struct uhcav_object *o);

/*
 * A living region that holds all these bytes, by its L_Key in another context than this one, or by
 * its R_Key on this device (there) or on another one. It takes a walk over all objects.
 */
struct uhcav_object_bytes {
	uint64_t addr, length; /* addr as requests say it; length 0: any */
};
bool uhcav_object_elsewhere(const struct ibv_context *context, uint32_t lkey,
			    struct uhcav_object_bytes bytes, struct uhcav_object *o);
bool uhcav_object_on_device(const char *device, bool there, uint32_t rkey,
			    struct uhcav_object_bytes bytes, struct uhcav_object *o);

/* The living window that the key is of: the handle stands above the key byte (mw.h). */
bool uhcav_object_window(const struct ibv_context *context, uint32_t key, struct uhcav_object *o);

/* Up to n objects that stand on it; returns how many there are. */
unsigned uhcav_object_users(const void *self, struct uhcav_object *users, unsigned n);

/* For each that this process made, in the order of creation; its "held" may be set. */
void uhcav_object_each(void (*what)(struct uhcav_object *o, void *arg), void *arg);

/* Held across a fork. */
extern pthread_mutex_t uhcav_object_lock;

#endif
