# hfgguf: see README.md. `make`, `make check`, `make demo`, `make install PREFIX=… DESTDIR=…`; V=1 shows commands.
VERSION := 0.1.0
BUILD ?= build
CC ?= cc
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
MOUNTHELPERDIR ?= /sbin
V ?= 0
Q := $(if $(filter 1,$(V)),,@)

CORE_PKGS := libcjson liblz4 libpcre2-8 libutf8proc libprotobuf-c yaml-0.1 libcrypto libxxhash
FS_PKGS := fuse3

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wwrite-strings -Wformat=2 -Wnull-dereference
# Results must not depend on the compiler's idea of a multiply-add: contraction is off everywhere.
BASE := -std=gnu11 -O2 -g -pthread -fPIC -fvisibility=hidden -ffp-contract=off -fno-strict-aliasing -fstack-protector-strong \
	-D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DPCRE2_CODE_UNIT_WIDTH=8 -DHFGGUF_VERSION='"$(VERSION)"' -I. -Iinclude
override CFLAGS := $(BASE) $(WARN) $(shell $(PKG_CONFIG) --cflags $(CORE_PKGS) $(FS_PKGS)) $(CFLAGS)
CORE_LIBS := $(shell $(PKG_CONFIG) --libs $(CORE_PKGS)) -lm
FS_LIBS := $(shell $(PKG_CONFIG) --libs $(FS_PKGS))
override LDFLAGS := -pthread -Wl,-z,relro,-z,now $(LDFLAGS)

CORE_SRC := $(sort $(wildcard core/*/*.c core/*/*/*.c))
FS_SRC := $(sort $(wildcard fs/*.c))
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/%.o)
FS_OBJ := $(FS_SRC:%.c=$(BUILD)/%.o)

all: $(BUILD)/hfgguf $(BUILD)/mount.hfgguf $(BUILD)/libhfgguf.a $(BUILD)/libhfgguf.so

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<",:)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_$(basename $(notdir $<))) -MMD -MP -c -o $@ $<

# ISA tiers: only these files may use the instructions, behind the dispatch of core/quant.
$(BUILD)/core/quant/%_avx2.o: CFLAGS += -mavx2 -mf16c -mbmi2
$(BUILD)/core/quant/%_avx512.o: CFLAGS += -mavx512f -mavx512bw -mavx512dq -mavx512vl -mf16c

$(BUILD)/libhfgguf.a: $(CORE_OBJ)
	@$(if $(Q),echo "  AR      $@",:)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libhfgguf.so: $(CORE_OBJ)
	@$(if $(Q),echo "  LD      $@",:)
	$(Q)$(CC) -shared -Wl,-soname,libhfgguf.so.0 -Wl,-z,defs $(LDFLAGS) -o $@ $^ $(CORE_LIBS)

$(BUILD)/hfgguf: $(FS_OBJ) $(BUILD)/libhfgguf.a
	@$(if $(Q),echo "  LD      $@",:)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(FS_OBJ) $(BUILD)/libhfgguf.a $(CORE_LIBS) $(FS_LIBS)

$(BUILD)/mount.hfgguf: $(BUILD)/hfgguf
	$(Q)ln -sf hfgguf $@

clean:
	rm -rf $(BUILD)

.PHONY: all clean
-include $(CORE_OBJ:.o=.d) $(FS_OBJ:.o=.d)
