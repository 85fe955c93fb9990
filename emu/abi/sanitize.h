/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sanitizer: what the provider, which finds, and uhca-run's collector, which tells, both know.
 *
 * The provider connects to the collector's socket and sends a line of JSON for each finding:
 *
 *   {"check": NAME, "pid": N, "thread": N, "program": S, "what": S, "facts": [S...],
 *    "stacks": [{"title": S, "frames": [[MODULE, ADDRESS, PC]...]}...]}
 *
 * MODULE is a file, or "" where the address is of none; ADDRESS is what the file's own tables call
 * it, PC the address in the process. The collector answers a line, "go" or "halt STATUS".
 * A line with "held": N has no answer and is told when the connection ends, unless {"retract": N}
 * came before.
 *
 * A process also leaves stacks for findings of others, without an answer:
 *
 *   {"stack": ID, "frames": [...]}       a stack; ID is unique among all processes
 *   {"note": NAME, "of": ID}             that stack is known by this name from now on
 *
 * In a finding {"title": S, "note": NAME} is a stack of that name, and is left out where there is
 * none. "once": NAME: a second finding of that name is not told. "cause": [...]: the members of
 * struct uhca_abi_cause, of which the collector makes a fact.
 */
#ifndef UHCA_ABI_SANITIZE_H
#define UHCA_ABI_SANITIZE_H

/* The checks, as a list (below), and where the collector listens. */
#define UHCA_SANITIZE_ENV        "UHCA_SANITIZE"
#define UHCA_SANITIZE_SOCKET_ENV "UHCA_SANITIZE_SOCKET"

/* Longest line. */
#define UHCA_SANITIZE_LINE 65536u

/*
 * X(ID, name, group, rule, where the rule stands, how to mend). Groups: sum (what --sanitize alone
 * looks for), strict (what many programs do knowingly), page (sum, and what needs page protection:
 * UHCA_CHECK_PAGES), note (told with sum, and counts for nothing: UHCA_CHECK_NOTES), portable (no
 * mistake). "all" is sum, note and strict.
 */
#define UHCA_CHECK_NOTES "note"
#define UHCA_CHECK_PAGES "page"
#define UHCA_CHECKS(X)                                                                             \
	X(SEND_CHANGED, "send-changed", "sum",                                                     \
	  "What a request sends belongs to the device until the request's completion was polled",  \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.1; ibv_post_send(3)",                                  \
	  "Poll the completion before the buffer is used again, use another buffer, or post with " \
	  "IBV_SEND_INLINE what is no longer than max_inline_data")                                \
	X(RECV_CHANGED, "recv-changed", "sum",                                                     \
	  "A receive's buffers belong to the device until its completion was polled, also where "  \
	  "no message comes to",                                                                   \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.2; ibv_post_recv(3)",                                  \
	  "Keep what is the program's own elsewhere, or post a shorter buffer")                    \
	X(RECV_OVERLAP, "recv-overlap", "strict",                                                  \
	  "Memory of an outstanding receive is not named by another one: the later message "       \
	  "overwrites the earlier one before it was looked at",                                    \
	  "IBTA vol. 1, 10.8.3.3; ibv_post_recv(3)",                                               \
	  "Give each outstanding receive a buffer of its own")                                     \
	X(READ_UNFENCED, "read-unfenced", "sum",                                                   \
	  "What a READ or an atomic brings is there when it has completed; a later request of "    \
	  "the "                                                                                   \
	  "same queue that sends it may begin before, unless it has IBV_SEND_FENCE",               \
	  "IBTA vol. 1, 10.8.3.3, table of ordering rules; ibv_post_send(3)",                      \
	  "Post the later request with IBV_SEND_FENCE, or when the READ's completion was polled")  \
	X(WRITE_UNFENCED, "write-unfenced", "sum",                                                 \
	  "A WRITE may be executed before a READ or an atomic that was posted before it to the "   \
	  "same queue, unless it has IBV_SEND_FENCE",                                              \
	  "IBTA vol. 1, 10.8.3.3, table of ordering rules; ibv_post_send(3)",                      \
	  "Post the WRITE with IBV_SEND_FENCE (on the READ it does nothing for what comes later)," \
	  " or when the READ's completion was polled")                                             \
	X(MEMORY_UNMAPPED, "memory-unmapped", "sum",                                               \
	  "Memory that is registered stays mapped while requests use it",                          \
	  "ibv_reg_mr(3); munmap(2)",                                                              \
	  "Deregister first, then unmap or free; and map again, then register again")              \
	X(SEND_WRITTEN, "send-written", UHCA_CHECK_PAGES,                                          \
	  "What a request sends belongs to the device until the request's completion was polled",  \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.1; ibv_post_send(3)",                                  \
	  "Poll the completion before the buffer is written to or freed, use another buffer, or "  \
	  "post with IBV_SEND_INLINE what is no longer than max_inline_data")                      \
	X(RECV_USED, "recv-used", UHCA_CHECK_PAGES,                                                \
	  "A receive's buffers belong to the device until its completion was polled: what stands " \
	  "there before is any part of a message, or none",                                        \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.2; ibv_post_recv(3)",                                  \
	  "Poll the completion before the buffer is read, written to or freed")                    \
	X(READ_USED, "read-used", UHCA_CHECK_PAGES,                                                \
	  "What a READ brings is there when its completion was polled, and not before",            \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.1; ibv_post_send(3)",                                  \
	  "Poll the READ's completion, or that of a later request, before the buffer is read, "    \
	  "written to or freed")                                                                   \
	X(KEY_DEAD, "key-dead", "sum", "A key is good as long as its region is registered",        \
	  "IBTA vol. 1, 10.6.3; ibv_dereg_mr(3)",                                                  \
	  "Deregister when the last request that names the region has completed, and do not keep " \
	  "its keys")                                                                              \
	X(KEY_FOREIGN, "key-foreign", "sum",                                                       \
	  "A request names regions of the protection domain of its queue",                         \
	  "IBTA vol. 1, 10.2.3 and 10.6.3.4; ibv_post_send(3)",                                    \
	  "Register the memory in the queue's protection domain, too")                             \
	X(KEY_RANGE, "key-range", "sum", "An element lies in its region completely",               \
	  "IBTA vol. 1, 10.6.3.4; ibv_post_send(3)",                                               \
	  "Register all that requests use, or correct the element's address or length")            \
	X(KEY_ACCESS, "key-access", "sum",                                                         \
	  "What a receive, a READ or an atomic writes to is registered with "                      \
	  "IBV_ACCESS_LOCAL_WRITE",                                                                \
	  "IBTA vol. 1, 10.6.3.1; ibv_reg_mr(3)", "Register it with IBV_ACCESS_LOCAL_WRITE")       \
	X(KEY_SWAPPED, "key-swapped", "sum",                                                       \
	  "Elements name a region by its L_Key, remote requests by its R_Key; that both are one "  \
	  "number is so on some adapters only",                                                    \
	  "IBTA vol. 1, 10.6.3; ibv_reg_mr(3)",                                                    \
	  "Put mr->lkey into elements, and send mr->rkey to the peer")                             \
	X(RKEY_DEAD, "rkey-dead", "sum", "An R_Key is good as long as its region is registered",   \
	  "IBTA vol. 1, 10.6.3; ibv_dereg_mr(3)",                                                  \
	  "Deregister when the peer has said that it asks no more, and send it the new key when "  \
	  "the memory is registered again")                                                        \
	X(RKEY_ACCESS, "rkey-access", "sum",                                                       \
	  "A region is registered with the right that a remote request needs: remote write for "   \
	  "WRITEs, remote read for READs, remote atomic for atomics",                              \
	  "IBTA vol. 1, 10.6.3.1; ibv_reg_mr(3)",                                                  \
	  "Register it with IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ or "                   \
	  "IBV_ACCESS_REMOTE_ATOMIC")                                                              \
	X(QP_ACCESS, "qp-access", "sum",                                                           \
	  "A queue pair allows its peer WRITEs, READs and atomics, each by its right among its "   \
	  "qp_access_flags, beside the rights of its regions",                                     \
	  "IBTA vol. 1, 10.2.3 and 11.2.4.2; ibv_modify_qp(3)",                                    \
	  "Move it to INIT with IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ or "               \
	  "IBV_ACCESS_REMOTE_ATOMIC among its qp_access_flags")                                    \
	X(RKEY_RANGE, "rkey-range", "sum",                                                         \
	  "A remote request lies in the region that it names completely",                          \
	  "IBTA vol. 1, 10.6.3.4; ibv_post_send(3)",                                               \
	  "Let the owner of the memory tell address, length and R_Key together, and keep to them") \
	X(RKEY_FOREIGN, "rkey-foreign", "sum",                                                     \
	  "A remote request names a region of the protection domain of its peer's queue pair",     \
	  "IBTA vol. 1, 10.2.3 and 10.6.3.4; ibv_reg_mr(3)",                                       \
	  "Register the memory in the protection domain of the queue pair that serves it")         \
	X(RKEY_UNKNOWN, "rkey-unknown", "sum",                                                     \
	  "An R_Key is the number that the owner of the memory was given by ibv_reg_mr or a bind", \
	  "IBTA vol. 1, 10.6.3; ibv_reg_mr(3)",                                                    \
	  "Send mr->rkey to the peer, with all of its 32 bits, in a byte order on which both "     \
	  "agree")                                                                                 \
	X(DEREG_POSTED, "dereg-posted", "sum",                                                     \
	  "A region stays registered until the requests that name it have completed",              \
	  "IBTA vol. 1, 10.6.5; ibv_dereg_mr(3)",                                                  \
	  "Poll the completions first, or move the queue pair to ERR and drain it, or destroy it") \
	X(QUEUE_STUCK, "queue-stuck", "sum",                                                       \
	  "A request without IBV_SEND_SIGNALED gives its place back when a later one with it has " \
	  "completed: a queue that is full of the former never gets a place free",                 \
	  "IBTA vol. 1, 10.8.6; ibv_post_send(3)",                                                 \
	  "Post one with IBV_SEND_SIGNALED at least once in each max_send_wr, and poll it")        \
	X(QUEUE_OVERRUN, "queue-overrun", "strict",                                                \
	  "A request occupies its queue until its completion is polled; a post to a full queue "   \
	  "is refused with ENOMEM",                                                                \
	  "IBTA vol. 1, 10.8.6; ibv_create_qp(3)",                                                 \
	  "Poll completions before the next post, or create the queue pair with a larger "         \
	  "max_send_wr or max_recv_wr")                                                            \
	X(CQ_OVERRUN, "cq-overrun", "strict",                                                      \
	  "A completion queue has room for all completions that can come to it",                   \
	  "IBTA vol. 1, 10.8.4 and 11.2.8.1; ibv_create_cq(3)",                                    \
	  "Create it with as many entries as its queues may have requests outstanding")            \
	X(WR_ID_REUSED, "wr-id-reused", "strict",                                                  \
	  "A completion says whose it is by its wr_id alone; where this points to what the "       \
	  "program keeps of a request, two outstanding ones do not share it",                      \
	  "IBTA vol. 1, 11.4.2.1; ibv_poll_cq(3), ibv_post_send(3)",                               \
	  "Take something else for each request, and give it back when its completion was polled") \
	X(POST_AFTER_ERROR, "post-after-error", "sum",                                             \
	  "After a completion with an error the queue pair is in the error state: what is posted " \
	  "is flushed",                                                                            \
	  "IBTA vol. 1, 10.3.1.7; ibv_poll_cq(3)",                                                 \
	  "Look at the status of each completion; after an error reset and connect the queue "     \
	  "pair, or give it up")                                                                   \
	X(CONN_MISMATCH, "conn-mismatch", "sum",                                                   \
	  "Both ends of a connection have each other's number as dest_qp_num and the same "        \
	  "path_mtu, each expects as rq_psn what the other has as sq_psn, and asks no more READs " \
	  "and atomics at once (max_rd_atomic) than the other takes (max_dest_rd_atomic)",         \
	  "IBTA vol. 1, 9.7.1 and 11.2.4.2; ibv_modify_qp(3)",                                     \
	  "Let each end tell the other its values, and use what came from there")                  \
	X(CONN_UNANSWERED, "conn-unanswered", "sum",                                               \
	  "A connection leads to a queue pair of the peer: by its number, by the GID of the port " \
	  "that it is on, and when the peer has moved it to RTR",                                  \
	  "IBTA vol. 1, 9.7.1 and 10.3.1.2; ibv_modify_qp(3)",                                     \
	  "Let each end tell the other its qp_num and the GID of its own port, and begin to send " \
	  "when the other has said that it is in RTR")                                             \
	X(RECV_SHORT, "recv-short", "sum",                                                         \
	  "A message is not longer than the receive that it comes to",                             \
	  "IBTA vol. 1, 9.7.5.2.4 and 10.7.3.1; ibv_post_recv(3)",                                 \
	  "Post receives for the longest message that the peer sends; on a datagram queue pair "   \
	  "with 40 bytes more")                                                                    \
	X(RECV_MISSING, "recv-missing", "sum",                                                     \
	  "A SEND, or a WRITE with immediate data, finds a receive that the peer has posted",      \
	  "IBTA vol. 1, 9.7.5.2.8; ibv_post_recv(3), ibv_modify_qp(3)",                            \
	  "Post receives before the peer may send, count how many it may send at once, or let "    \
	  "rnr_retry and the peer's min_rnr_timer wait longer")                                    \
	X(QKEY_MISMATCH, "qkey-mismatch", "sum",                                                   \
	  "A datagram carries the Q_Key of the queue pair that it goes to; one with another is "   \
	  "dropped without a word",                                                                \
	  "IBTA vol. 1, 10.2.5 and 9.8.3; ibv_post_send(3)",                                       \
	  "Send with the qkey that the receiver has set by ibv_modify_qp")                         \
	X(CONN_RETRIES, "conn-retries", "strict",                                                  \
	  "A connection survives what is lost and a receive that comes late, and ends when the "   \
	  "peer is gone",                                                                          \
	  "IBTA vol. 1, 9.7.5 and 11.2.4.2; ibv_modify_qp(3)",                                     \
	  "Choose a timeout (14: 67 ms) and a retry_cnt from 1 to 7, rnr_retry from 1 to 6, and "  \
	  "a "                                                                                     \
	  "min_rnr_timer from 1 (10 us) to 31 (491 ms)")                                           \
	X(LOST_WAKEUP, "lost-wakeup", "sum",                                                       \
	  "Arming asks for an event for completions that come later; those that wait already "     \
	  "raise none, so they are polled after arming and before waiting",                        \
	  "IBTA vol. 1, 11.4.2.2; ibv_req_notify_cq(3), ibv_get_cq_event(3)",                      \
	  "Call ibv_req_notify_cq, then ibv_poll_cq until it returns 0, then ibv_get_cq_event")    \
	X(EVENTS_UNACKED, "events-unacked", "sum",                                                 \
	  "The destruction of an object waits until all its events were acknowledged",             \
	  "ibv_get_cq_event(3), ibv_get_async_event(3)",                                           \
	  "Call ibv_ack_cq_events or ibv_ack_async_event for each event that was read")            \
	X(EVENTS_OVERACKED, "events-overacked", "sum",                                             \
	  "Events are acknowledged as often as they were read: the destruction of an object "      \
	  "waits until both numbers are equal",                                                    \
	  "ibv_get_cq_event(3), ibv_get_async_event(3)",                                           \
	  "Acknowledge only where the call that reads an event has returned 0, and once for each") \
	X(FORK_UNSAFE, "fork-unsafe", "sum",                                                       \
	  "After a fork the parent may be given new pages for what it writes to, and the adapter " \
	  "keeps the old ones, unless registered memory is kept from the child",                   \
	  "ibv_fork_init(3), ibv_is_fork_initialized(3)",                                          \
	  "Fork before anything is registered, or call ibv_fork_init before the first "            \
	  "registration")                                                                          \
	X(OBJECT_BUSY, "object-busy", "sum",                                                       \
	  "An object on which others stand is not destroyed (EBUSY)",                              \
	  "IBTA vol. 1, 10.2; the manual page of the call",                                        \
	  "Destroy those first that stand on it, and look at what the call returns")               \
	X(DESTROY_POSTING, "destroy-posting", "sum",                                               \
	  "An object is destroyed when no thread is in a call on it, nor begins one: that would "  \
	  "use memory that is gone",                                                               \
	  "ibv_destroy_qp(3), ibv_destroy_cq(3), ibv_destroy_srq(3)",                              \
	  "Stop the threads that post and poll, or join them, before it is destroyed")             \
	X(THREADS_CLASH, "threads-clash", "sum",                                                   \
	  "What is made with IBV_CREATE_CQ_ATTR_SINGLE_THREADED, or in a parent domain with a "    \
	  "thread domain, has no locks: one thread at a time uses it, or anything of that domain", \
	  "ibv_create_cq_ex(3), ibv_alloc_td(3), ibv_alloc_parent_domain(3)",                      \
	  "Let the threads take turns by a lock of their own, or make the object without that "    \
	  "promise")                                                                               \
	X(LEFT_AT_EXIT, "left-at-exit", "sum",                                                     \
	  "Who creates an object destroys it: nobody else does before the process ends",           \
	  "IBTA vol. 1, 10.2; ibv_create_qp(3), ibv_reg_mr(3)",                                    \
	  "Destroy it before exit, in the reverse order of creation")                              \
	X(CALL_REFUSED, "call-refused", "note",                                                    \
	  "A call that fails has done nothing, and says by its errno value no more than the kind " \
	  "of the reason",                                                                         \
	  "the manual page of the call",                                                           \
	  "Give the attribute that is named a value that the device takes; where the program "     \
	  "tries what a device may lack, and goes another way, nothing is to be done")             \
	X(COMPLETION_FAILED, "completion-failed", "note",                                          \
	  "A completion with an error says by its status no more than the kind of the reason",     \
	  "ibv_poll_cq(3)",                                                                        \
	  "Mend what the reason names; where the program expects that requests fail, as when a "   \
	  "peer has ended, nothing is to be done")                                                 \
	X(PORTABLE, "portable", "portable",                                                        \
	  "What a program asks for is on every adapter that it is to run on",                      \
	  "what is published of them: emu/abi/adapters.h, docs/reference/limits.md",               \
	  "Ask the device (ibv_query_device_ex, ibv_create_qp) and go another way where it has "   \
	  "less, or ask for less; where these adapters do not matter, leave the check out")

enum uhca_check {
#define UHCA_CHECK_ID(id, name, group, rule, where, mend) UHCA_CHECK_##id,
	UHCA_CHECKS(UHCA_CHECK_ID)
#undef UHCA_CHECK_ID
		UHCA_CHECK_COUNT
};

#endif
