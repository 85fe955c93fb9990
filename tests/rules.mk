# SPDX-License-Identifier: BSD-2-Clause
# How test programs are made (GNU make): each of the file of its name, and of the kit of its list:
# an archive of the files that the tests of a module share, and the libraries they look into. They are
# linked without libtool, which takes longer than the compiler does. A new test is one line in one
# list of tests/*.inc. They are not optimised: that would take longer than they run.
comma = ,
test_cppflags = -D_GNU_SOURCE -DUHCA_VERSION='"$(PACKAGE_VERSION)"' -I$(srcdir)/provider \
	-I$(srcdir)/emu/ctl/lib $(JANSSON_CFLAGS) $(SANDBOX_CPPFLAGS)
compile_test = $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(test_cppflags) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) \
	-O0 -U_FORTIFY_SOURCE $(test_cflags)

tests/%.o: tests/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(compile_test) -MD -MP -c -o $@ $<

# Of what a program is made: objects, kits, and of our libraries their archives (shared ones are
# looked for where they were built).
shared = $(filter provider/libuhca.la emu/ctl/libuhcactl.la,$^)
test_parts = $(filter-out $(shared),$(filter %.o,$^) $(filter %.a,$^) $(filter %.la,$^))
link_test = $(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(subst -Wc$(comma),,$(AM_LDFLAGS)) $(LDFLAGS) \
	$(test_ldflags) $(wraps:%=-Wl$(comma)--wrap=%) -o $@ \
	$(foreach p,$(test_parts),$(if $(filter %.la,$p),$(dir $p).libs/$(notdir $(p:.la=.a)),$p)) \
	$(foreach p,$(shared),$(dir $p).libs/$(notdir $(p:.la=.so)) \
		-Wl$(comma)-rpath$(comma)$(abs_builddir)/$(dir $p).libs)

define kit # NAME: $(NAME_kit) are its sources
tests/$(1)_kit.a: $$(patsubst %.c,%.o,$$(filter %.c,$$($(1)_kit)))
	$$(AM_V_AR)rm -f $$@ && $$(AR) cr $$@ $$^
kit_objects += $$(patsubst %.c,%.o,$$(filter %.c,$$($(1)_kit)))
endef
$(foreach k,wire core sim fault fabric simulator io model provider,$(eval $(call kit,$k)))

wire_stand = tests/wire_kit.a libwire.la
core_stand = tests/core_kit.a tests/wire_kit.a libcore.a libwire.la
sim_stand = tests/sim_kit.a tests/wire_kit.a libfault.a libcore.a libwire.la
fault_stand = tests/fault_kit.a tests/wire_kit.a libfault.a libcore.a libwire.la
fabric_stand = tests/fabric_kit.a tests/wire_kit.a libnetmodel.a
simulator_stand = tests/simulator_kit.a tests/wire_kit.a libsim.a libcctext.a libnetmodel.a \
	libcore.a
io_stand = tests/io_kit.a tests/wire_kit.a libctl.a libmodel.a libconf.a \
	libio.a libmachine.a libcctext.a libnetmodel.a libfault.a libcore.a libwire.la
model_stand = tests/model_kit.a tests/wire_kit.a libctl.a libmodel.a libwire.la
provider_stand = tests/provider_kit.a tests/wire_kit.a libuhcav.la libwire.la

$(wire_tests): %: %.o $(wire_stand)
	$(link_test) $(CMOCKA_LIBS) $(ISAL_LIBS)
$(core_tests): %: %.o $(core_stand)
	$(link_test) $(CMOCKA_LIBS) $(ISAL_LIBS)
$(sim_tests): %: %.o $(sim_stand)
	$(link_test) $(CMOCKA_LIBS) $(ISAL_LIBS)
$(fault_tests): %: %.o $(fault_stand)
	$(link_test) $(CMOCKA_LIBS) $(ISAL_LIBS)
$(fabric_tests): %: %.o $(fabric_stand)
	$(link_test) $(CMOCKA_LIBS)
$(simulator_tests): %: %.o $(simulator_stand)
	$(link_test) $(CMOCKA_LIBS) $(JANSSON_LIBS) -lm
$(io_tests): %: %.o $(io_stand)
	$(link_test) $(CMOCKA_LIBS) $(EV_LIBS) $(JANSSON_LIBS) $(SECCOMP_LIBS) $(ISAL_LIBS) -lpthread -lm
$(model_tests): %: %.o $(model_stand)
	$(link_test) $(CMOCKA_LIBS) $(JANSSON_LIBS) $(ISAL_LIBS) -lm
$(provider_tests): %: %.o $(provider_stand)
	$(link_test) $(CMOCKA_LIBS) $(ISAL_LIBS) -libverbs -lpthread

made_tests = $(wire_tests) $(core_tests) $(sim_tests) $(fault_tests) $(fabric_tests) \
	$(simulator_tests) $(io_tests) $(model_tests) $(provider_tests)
test_objects = $(made_tests:=.o) $(kit_objects)

# What some have beside that.
$(patsubst %,tests/golden/test_replay_%,announced cm requester responder): \
	tests/golden/conversation.o tests/golden/differences.o
tests/golden/test_replay_requester tests/golden/test_replay_responder: tests/golden/role.o
test_objects += tests/golden/conversation.o tests/golden/differences.o tests/golden/role.o
-include $(test_objects:.o=.d)
tests/unit/core/test_no_memory: wraps = malloc calloc realloc free
tests/unit/io/ctl/test_ctl_walk: wraps = core_walk_mr
tests/unit/io/test_daemon: wraps = open openat mkdirat symlinkat socket bind listen chmod memfd_create \
	ftruncate mmap timerfd_create epoll_create1 pwrite getrandom calloc aligned_alloc \
	malloc realloc eventfd epoll_ctl
tests/unit/io/device/test_sysfs_tree: wraps = mkdirat linkat
tests/unit/io/capture/test_pcapng: wraps = write
tests/unit/io/fault/test_faults: wraps = read
tests/unit/io/base/test_address: wraps = getifaddrs freeifaddrs
tests/unit/io/mem/test_mem: wraps = process_vm_writev
tests/unit/io/serve/test_active_doorbells: wraps = io_client_doorbells
tests/unit/io/serve/test_owed_reply: wraps = sendmsg
tests/unit/io/test_loop_messages: wraps = io_clock_now
tests/unit/provider/base/test_rpc: wraps = poll sendmsg
tests/unit/provider/base/test_got: wraps = dl_iterate_phdr
tests/unit/provider/base/test_yield_backoff tests/unit/provider/poll/test_wait_cq: wraps = clock_gettime nanosleep sched_yield
tests/unit/io/net/test_udp: wraps = sendmmsg sendmsg
tests/unit/provider/test_libuhca tests/unit/provider/test_no_plugin: provider/libuhca.la
# Files of the preload library and of the plugin that are in none of the archives.
preload_objects = $(patsubst %,provider/preload/.libs/libuhca_preload_la-%.o,$(1))
nldev_objects = $(patsubst %,provider/nldev/.libs/libuhca_preload_la-%.o,$(1))
plugin_objects = provider/.libs/libuhca_rdmav34_la-driver.o provider/.libs/libuhca_rdmav34_la-ops.o \
	provider/.libs/libuhca_rdmav34_la-dead_ops.o \
	provider/.libs/libuhca_rdmav34_la-dv_table.o
tests/unit/provider/nldev/test_nldev: $(call nldev_objects,message nldev resources table tree)
tests/unit/provider/nldev/test_table: $(call nldev_objects,table)
tests/unit/provider/preload/test_path_map: $(call preload_objects,path_map machine_paths)
tests/unit/provider/preload/test_machine_paths: $(call preload_objects,path_map machine_paths)
tests/unit/provider/preload/test_ucma_book: $(call preload_objects,ucma_book)
tests/unit/provider/preload/test_ucma_gone: $(call preload_objects,ucma_gone real)
tests/unit/provider/preload/test_ucma_reader: $(call preload_objects,ucma_reader)
tests/unit/provider/test_ops: $(plugin_objects)
$(call preload_objects,%) $(call nldev_objects,%): provider/libuhca_preload.la ;
$(plugin_objects): provider/libuhca-rdmav34.la ;

# Programs as people have them, whatever the rest is built with; the sanitizer names their lines.
sanitize_shared = tests/verbs/sanitize/pair.o tests/verbs/sanitize/kinds.o \
	tests/verbs/sanitize/far.o
sanitize_of_cm = tests/verbs/sanitize/meet.o tests/verbs/sanitize/far_cm.o
sanitize_known_cm = tests/verbs/sanitize/known/spdk-3118
sanitize_objects = $(sanitize_programs:=.o) $(sanitize_shared) $(sanitize_of_cm)
$(sanitize_objects): %.o: %.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) $(DEFAULT_INCLUDES) -D_GNU_SOURCE -Wall -Werror -g -O2 \
		-I$(srcdir) -MD -MP -c -o $@ $<
$(sanitize_programs): $(sanitize_of_cm)
$(sanitize_programs): %: %.o $(sanitize_shared)
	$(AM_V_CCLD)$(CC) -o $@ $(filter-out $(sanitize_of_cm),$^) \
		$(if $(findstring /cm-,$@)$(findstring /across/,$@)$(filter $(sanitize_known_cm),$@),$(sanitize_of_cm) -lrdmacm) \
		-libverbs -lpthread
-include $(sanitize_objects:.o=.d)
tests/verbs/sanitize/checks.log tests/verbs/sanitize/hangs.log tests/verbs/sanitize/reports.log tests/verbs/sanitize/users.log: $(sanitize_programs)
check-verbs: $(sanitize_programs)

# Of scripts that need the program of another test.
tests/scripts/soak_sim.log: tests/sim/messages/test_random
scripts/rules/check-commands.log: tests/verbs/faults/chaos_wrong

# What there is time for before each commit (scripts/check --quick), and when packages are built.
check-quick:
	$(MAKE) check TESTS='$(check_rules) $(made_tests) tests/verbs/system/smoke.sh' check_PROGRAMS=
check-parts:
	$(MAKE) check TESTS='$(made_tests)'

# Tests that scripts/sanitize runs under AddressSanitizer and UndefinedBehaviorSanitizer: not the
# simulations, which take as long as all others together. scripts/check runs in the plain build what
# is left, and tests that do something else there: those that ask for a sanitizer, those of the
# sandbox, which an instrumented daemon has not whole, and those of vectorised code.
sanitized_tests = $(filter-out %.sh %/sim/test_curves, \
	$(filter $(patsubst %,tests/%/%,abi golden provider regress unit),$(TESTS)))
differing_tests = $(sort $(filter tests/unit/io/sandbox/% tests/unit/wire/%,$(sanitized_tests)) \
	$(patsubst $(srcdir)/%.c,%,$(shell grep -lE '__SANITIZE_ADDRESS__|UHCA_INSTRUMENTED' \
		$(sanitized_tests:%=$(srcdir)/%.c) 2>/dev/null)))
check-unsanitized:
	$(MAKE) check TESTS='$(filter-out $(sanitized_tests),$(TESTS)) $(differing_tests)'
.PHONY: check-quick check-parts check-unsanitized

# "make check TESTS=...": of the programs that scripts run, none where no script is asked for; what
# other tests need is their prerequisite.
ifeq ($(origin TESTS) $(filter %.sh,$(TESTS)),command line )
override check_PROGRAMS =
else
# Built before the first test starts. As prerequisites of tests alone, they would be linked after all
# other tests had run, and the longest scripts would start last.
check-am: $(sanitize_programs)
endif

# A build without tests does not need their libraries, nor its parts those of programs.
test_goals = $(filter check%,$(MAKECMDGOALS))
program_goals = $(and $(check_PROGRAMS),$(filter-out check-quick check-parts,$(test_goals)))
test_needs = $(filter cmocka $(if $(program_goals),libfabric),$(NOT_FOUND))
ifneq ($(test_goals),)
ifneq ($(strip $(test_needs)),)
$(error configure did not find what tests need: $(test_needs); scripts/deps --install, then configure again)
endif
endif

mostlyclean-local:
	-rm -f $(sanitize_programs) $(sanitize_objects) $(sanitize_objects:.o=.d)
	-rm -f $(made_tests) $(test_objects) $(test_objects:.o=.d) tests/*_kit.a
