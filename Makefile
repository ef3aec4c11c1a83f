# hfgguf: see README.md. `make help` lists the targets; V=1 shows commands.
VERSION := 0.1.0
BUILD ?= build
CC ?= cc
CXX ?= c++
PKG_CONFIG ?= pkg-config
INSTALL ?= install
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/hfgguf
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
MOUNTHELPERDIR ?= /sbin
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = @$(if $(Q),echo "  $(1)  $(2)",:)

CORE_PKGS := libcjson liblz4 libpcre2-8 libutf8proc libprotobuf-c yaml-0.1 libcrypto libxxhash
FS_PKGS := fuse3
# Asked when first used, so that `make deps all` works on a machine that has nothing yet.
once = $(eval $(1) := $(shell $(PKG_CONFIG) $(2)))$($(1))
PKG_CFLAGS = $(call once,PKG_CFLAGS,--cflags $(CORE_PKGS) $(FS_PKGS))
CORE_PKG_LIBS = $(call once,CORE_PKG_LIBS,--libs $(CORE_PKGS))
CORE_LIBS = $(CORE_PKG_LIBS) -lm
FS_LIBS = $(call once,FS_LIBS,--libs $(FS_PKGS))

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wwrite-strings -Wformat=2 \
	-Wnull-dereference
HARDEN ?= -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong
# Results must not depend on the compiler's idea of a multiply-add: contraction is off everywhere.
BASE := -std=gnu11 -O2 -g -pthread -fPIC -fvisibility=hidden -ffp-contract=off -fno-strict-aliasing -D_GNU_SOURCE \
	-D_FILE_OFFSET_BITS=64 -DPCRE2_CODE_UNIT_WIDTH=8 -DHFGGUF_VERSION='"$(VERSION)"' -I. -Iinclude
ALL_CFLAGS = $(BASE) $(WARN) $(HARDEN) $(PKG_CFLAGS) $(TIER_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread -Wl,-z,relro,-z,now $(LDFLAGS)
SO_LDFLAGS ?= -Wl,-z,defs

CORE_SRC := $(sort $(wildcard core/*/*.c core/*/*/*.c))
FS_SRC := $(sort $(wildcard fs/*.c))
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/%.o)
FS_OBJ := $(FS_SRC:%.c=$(BUILD)/%.o)

all: $(BUILD)/hfgguf $(BUILD)/mount.hfgguf $(BUILD)/libhfgguf.a $(BUILD)/libhfgguf.so

# Everything is built again when compiler or flags change.
$(BUILD)/.flags: FORCE
	@mkdir -p $(@D)
	@$(PKG_CONFIG) --print-errors --exists $(CORE_PKGS) $(FS_PKGS) || \
		{ echo "hfgguf: libraries are missing: make deps (as root, Debian)" >&2; exit 1; }
	@echo '$(CC) $(HARDEN) $(CFLAGS) $(LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(HARDEN) $(CFLAGS) $(LDFLAGS)' >$@

$(BUILD)/%.o: %.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,CC    ,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# ISA tiers: only these files may use the instructions, behind the dispatch of core/quant. Empty for other machines.
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
$(BUILD)/core/quant/%_avx2.o $(BUILD)/core/scheme/%_avx2.o: TIER_CFLAGS := -mavx2 -mf16c -mbmi2 -O3
$(BUILD)/core/quant/%_avx512.o: TIER_CFLAGS := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mf16c -mbmi2 -O3
endif
$(BUILD)/core/quant/%_neon.o: TIER_CFLAGS := -O3

$(BUILD)/libhfgguf.a: $(CORE_OBJ)
	$(call say,AR    ,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libhfgguf.so: $(CORE_OBJ)
	$(call say,LD    ,$@)
	$(Q)$(CC) -shared -Wl,-soname,libhfgguf.so.0 $(SO_LDFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(CORE_LIBS)

$(BUILD)/hfgguf: $(FS_OBJ) $(BUILD)/libhfgguf.a
	$(call say,LD    ,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(FS_OBJ) $(BUILD)/libhfgguf.a $(CORE_LIBS) $(FS_LIBS)

$(BUILD)/mount.hfgguf: $(BUILD)/hfgguf
	$(Q)ln -sf hfgguf $@

# ---- tests: every tests/unit/*.c and tests/tools/*.c is a program; new files need no line here ----

T := $(BUILD)/tests
UNIT := $(patsubst tests/%.c,$(T)/%,$(sort $(wildcard tests/unit/*.c)))
TOOLS := $(patsubst tests/tools/%.c,$(T)/%,$(sort $(wildcard tests/tools/*.c)))
PRELOADS := $(patsubst tests/preload/%.c,$(T)/%.so,$(sort $(wildcard tests/preload/*.c)))
BENCH_TOOLS := $(patsubst contrib/bench/%.c,$(T)/bench/%,$(sort $(wildcard contrib/bench/*.c)))
KERNEL_SRC := $(sort $(wildcard tests/kernels/*.c))
TEST_PROGRAMS := $(UNIT) $(TOOLS) $(PRELOADS) $(BENCH_TOOLS) $(T)/mkmodel $(if $(KERNEL_SRC),$(T)/check_kernels)
MKMODEL_SRC := $(sort $(wildcard tests/mkmodel/*.c))
ARCHIVES := $(sort $(wildcard tests/data/*.tar.xz))
SUITES ?= style design headers compilers shared unit kernels parallel zoo schemes bats install scale real demo

$(T)/libfs.a: $(filter-out %/main.o,$(FS_OBJ))
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

TEST_LIBS = $(T)/libfs.a $(BUILD)/libhfgguf.a
test_program = $(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@

$(UNIT): $(T)/%: tests/%.c $(TEST_LIBS) $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,TEST  ,$<)
	$(Q)$(test_program) $< $(TEST_LIBS) $(CORE_LIBS) $(FS_LIBS)

$(TOOLS): $(T)/%: tests/tools/%.c $(TEST_LIBS) $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,TEST  ,$<)
	$(Q)$(test_program) $< $(TEST_LIBS) $(CORE_LIBS) $(FS_LIBS)

# For LD_PRELOAD: what the environment may do to a program.
$(PRELOADS): $(T)/%.so: tests/preload/%.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,TEST  ,$<)
	$(Q)$(CC) $(BASE) -fvisibility=default $(WARN) -shared -MMD -MP -MF $@.d -o $@ $< -ldl

$(BENCH_TOOLS): $(T)/bench/%: contrib/bench/%.c $(BUILD)/libhfgguf.a $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,BENCH ,$<)
	$(Q)$(test_program) $< $(BUILD)/libhfgguf.a $(CORE_LIBS) $(FS_LIBS)

# The kernels alone: nothing else is needed, so they can be built for a machine whose libraries are not here.
KERNEL_OBJ := $(filter-out %/policy.o %/mixtures.o %/imatrix.o,$(filter $(BUILD)/core/quant/%,$(CORE_OBJ)))
$(T)/check_kernels: $(KERNEL_SRC) $(wildcard tests/kernels/*.h) $(KERNEL_OBJ)
	@mkdir -p $(@D)
	$(call say,TEST  ,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(KERNEL_SRC) $(KERNEL_OBJ) -lm -ldl

# Without the caller's CFLAGS: the generator is no subject of sanitizers.
$(T)/mkmodel: $(MKMODEL_SRC) $(wildcard tests/mkmodel/*.h)
	@mkdir -p $(@D)
	$(call say,TEST  ,$@)
	$(Q)$(CC) $(BASE) $(WARN) -o $@ $(MKMODEL_SRC) -lcrypto -lm

$(T)/fixtures/.done: $(ARCHIVES)
	@rm -rf $(@D) && mkdir -p $(@D)
	$(call say,UNPACK,$(@D))
	$(Q)for a in $^; do tar -xJf $$a -C $(@D) || exit 1; done
	@touch $@

programs: all $(TEST_PROGRAMS) $(T)/fixtures/.done

# The last line says "N passed, N failed, N skipped". SUITES="unit zoo" runs some only; see tests/run.sh.
check: programs
	@MAKEFLAGS= BUILD='$(BUILD)' CC='$(CC)' CXX='$(CXX)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' V='$(V)' \
		tests/run.sh $(SUITES)

# Kernels against C and, with GGML=…/libggml-base.so.0, against ggml; bench-kernels times both in one run.
BLOCKS ?= 100000
check-kernels bench-kernels: $(T)/check_kernels
	$< $(if $(GGML),--ggml $(GGML)) $(if $(filter bench-%,$@),--bench,--blocks $(BLOCKS))

# -O1 for readable traces; warnings that optimization under a sanitizer makes up are off.
SANITIZED = BUILD=$(BUILD)-$(1) HARDEN= SO_LDFLAGS= LDFLAGS='-fsanitize=$(2)' CFLAGS='-O1 -fno-omit-frame-pointer \
	-fsanitize=$(2) -fno-sanitize-recover=all -Wno-null-dereference -Wno-maybe-uninitialized -Wno-stringop-overflow'
asan:
	$(Q)+$(MAKE) $(call SANITIZED,asan,address$(,)undefined) programs
	$(Q)tests/sanitized.sh '$(BUILD)-asan' unit kernels parallel zoo bats
tsan:
	$(Q)+$(MAKE) $(call SANITIZED,tsan,thread) programs
	$(Q)tests/sanitized.sh '$(BUILD)-tsan' parallel
, := ,

# Every tests/fuzz/*.c as a program of libFuzzer, in $(BUILD)-fuzz/fuzz; *.dict beside it are its words. With FUZZ_SECONDS
# each runs for so long, see tests/fuzz/run.sh.
FUZZ_CC ?= clang
FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/*.c)))
fuzz:
	$(Q)+$(MAKE) BUILD=$(BUILD)-fuzz CC='$(FUZZ_CC)' HARDEN= LDFLAGS='-fsanitize=address,undefined' \
		CFLAGS='-O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' fuzz-programs
	$(if $(FUZZ_SECONDS),$(Q)tests/fuzz/run.sh '$(BUILD)-fuzz' $(FUZZ_SECONDS))
fuzz-programs: $(FUZZ) $(T)/fixtures/.done
$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/libhfgguf.a $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,FUZZ  ,$<)
	$(Q)$(test_program) -fsanitize=fuzzer $< $(BUILD)/libhfgguf.a $(CORE_LIBS)

# The data path beside its peers; REFERENCE and more: see contrib/bench/bench.sh.
bench: programs
	@MAKEFLAGS= BUILD='$(BUILD)' contrib/bench/bench.sh

demo:
	@MAKE='$(MAKE)' BUILD='$(BUILD)' contrib/demo.sh

# The table of architectures is made from the program's own rows; `make check` holds it.
readme: $(BUILD)/hfgguf
	@BUILD='$(BUILD)' contrib/readme.sh

# ---- installation ----

deps:
	.ci/packages build

D = $(DESTDIR)
MAN1 := $(wildcard contrib/man/*.1)
MAN8 := $(wildcard contrib/man/*.8)
COMPLETIONS := $(wildcard contrib/completion/*.bash)
EXAMPLES := $(wildcard contrib/fstab/* contrib/systemd/*)
INSTALLED = $(BINDIR)/hfgguf $(MOUNTHELPERDIR)/mount.hfgguf $(LIBDIR)/libhfgguf.a $(LIBDIR)/libhfgguf.so \
	$(LIBDIR)/libhfgguf.so.0 $(LIBDIR)/libhfgguf.so.$(VERSION) $(PKGCONFIGDIR)/libhfgguf.pc \
	$(patsubst include/%,$(INCLUDEDIR)/%,$(wildcard include/hfgguf/*.h)) \
	$(patsubst contrib/man/%,$(MANDIR)/man1/%,$(MAN1)) $(patsubst contrib/man/%,$(MANDIR)/man8/%,$(MAN8)) \
	$(patsubst contrib/completion/%.bash,$(BASHCOMPDIR)/%,$(COMPLETIONS)) $(DOCDIR)/README.md $(DOCDIR)/LICENSE \
	$(addprefix $(DOCDIR)/examples/,$(notdir $(EXAMPLES)))

# The links are absolute: /sbin may itself be a link to usr/sbin.
install: all
	$(Q)$(INSTALL) -d "$D$(BINDIR)" "$D$(MOUNTHELPERDIR)" "$D$(LIBDIR)" "$D$(INCLUDEDIR)/hfgguf" "$D$(PKGCONFIGDIR)" "$D$(DOCDIR)"
	$(Q)$(INSTALL) -m 755 $(BUILD)/hfgguf "$D$(BINDIR)/hfgguf"
	$(Q)ln -sf "$(BINDIR)/hfgguf" "$D$(MOUNTHELPERDIR)/mount.hfgguf"
	$(Q)$(INSTALL) -m 644 $(BUILD)/libhfgguf.a "$D$(LIBDIR)/libhfgguf.a"
	$(Q)$(INSTALL) -m 644 $(BUILD)/libhfgguf.so "$D$(LIBDIR)/libhfgguf.so.$(VERSION)"
	$(Q)ln -sf libhfgguf.so.$(VERSION) "$D$(LIBDIR)/libhfgguf.so.0"
	$(Q)ln -sf libhfgguf.so.0 "$D$(LIBDIR)/libhfgguf.so"
	$(Q)$(INSTALL) -m 644 include/hfgguf/*.h "$D$(INCLUDEDIR)/hfgguf/"
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' \
		-e 's|@PACKAGES@|$(CORE_PKGS)|' contrib/libhfgguf.pc.in >"$D$(PKGCONFIGDIR)/libhfgguf.pc"
	$(Q)$(INSTALL) -m 644 README.md LICENSE "$D$(DOCDIR)/"
	$(Q)$(foreach e,$(EXAMPLES),$(INSTALL) -D -m 644 $e "$D$(DOCDIR)/examples/$(notdir $e)" &&) :
	$(Q)$(foreach p,$(MAN1),$(INSTALL) -D -m 644 $p "$D$(MANDIR)/man1/$(notdir $p)" &&) :
	$(Q)$(foreach p,$(MAN8),$(INSTALL) -D -m 644 $p "$D$(MANDIR)/man8/$(notdir $p)" &&) :
	$(Q)$(foreach p,$(COMPLETIONS),$(INSTALL) -D -m 644 $p "$D$(BASHCOMPDIR)/$(basename $(notdir $p))" &&) :

uninstall:
	$(Q)rm -f $(foreach f,$(INSTALLED),"$D$f")
	$(Q)rmdir "$D$(INCLUDEDIR)/hfgguf" "$D$(DOCDIR)/examples" "$D$(DOCDIR)" 2>/dev/null || :

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz

help:
	@echo 'all        the programs and the library, in $(BUILD)/'
	@echo 'check      all tests; SUITES="$(SUITES)"'
	@echo 'check-kernels, bench-kernels   quantizers against C and GGML=libggml-base.so.0; their speed'
	@echo 'bench      the data path beside its peers, as a table and a plot: contrib/doc/bench.md'
	@echo 'demo       builds, makes a small model, mounts it and reads it (installs packages when root)'
	@echo 'asan tsan  tests under the address, undefined-behaviour and thread sanitizers'
	@echo 'readme     renews the table of architectures in README.md'
	@echo 'fuzz       builds the fuzz targets with clang, in $(BUILD)-fuzz/fuzz; FUZZ_SECONDS=60 runs each so long'
	@echo 'deps       installs the Debian packages a build needs'
	@echo 'install    PREFIX=$(PREFIX) MOUNTHELPERDIR=$(MOUNTHELPERDIR) DESTDIR=$(DESTDIR); uninstall takes it away'
	@echo 'clean      removes what was built'

FORCE:
.PHONY: all programs check check-kernels bench-kernels bench asan tsan demo readme deps install uninstall clean help fuzz fuzz-programs FORCE
-include $(CORE_OBJ:.o=.d) $(FS_OBJ:.o=.d) $(UNIT:=.d) $(TOOLS:=.d) $(BENCH_TOOLS:=.d) $(FUZZ:=.d) $(PRELOADS:=.d)
