#!/bin/bash
# The kernel check for an instruction set this machine lacks: emulate.sh neon|avx512 [options of check_kernels]
#   neon    Debian's gcc-aarch64-linux-gnu, qemu-user-static
#   avx512  bochs bochs-term bochsbios vgabios isolinux syslinux-common genisoimage cpio, and a kernel to boot:
#           KERNEL=vmlinuz (of any linux-image package), else the newest in /boot. Takes minutes.
# Builds in $BUILD. Exit status: that of check_kernels; 77 when something is missing, which is told.
. "$(dirname "$0")/../lib.bash"
isa=$1
shift
out=$BUILD/emulated-$isa
kernel=${KERNEL:-$(ls -t /boot/vmlinuz* 2>/dev/null | head -n 1)}

need() {
	local command
	for command; do
		command -v "$command" >/dev/null || { echo "no $command"; exit 77; }
	done
}

# build VARIABLE=VALUE...: check_kernels needs no library.
build() {
	MAKEFLAGS= make -s -C "$ROOT" BUILD="$out" PKG_CONFIG=true HARDEN= "$@" "$out/tests/check_kernels" >&2
}

on_arm() {
	need aarch64-linux-gnu-gcc qemu-aarch64-static
	build CC=aarch64-linux-gnu-gcc CFLAGS= LDFLAGS= || exit
	qemu-aarch64-static -L /usr/aarch64-linux-gnu "$out/tests/check_kernels" "$@"
}

# A disk whose kernel starts the check as its only process. noxsaves: the kernel distrusts the emulator's compact format.
make_disk() {
	rm -rf "$out/disk" "$out/root" && mkdir -p "$out/disk" "$out/root"
	cp "$out/tests/check_kernels" "$out/root/check"
	(cd "$out/root" && echo check | cpio -o -H newc --quiet | gzip) >"$out/disk/initrd.gz"
	cp "$kernel" "$out/disk/vmlinuz"
	cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$out/disk/" || exit 77
	cat >"$out/disk/isolinux.cfg" <<-END
		DEFAULT check
		LABEL check
		 KERNEL /vmlinuz
		 APPEND initrd=/initrd.gz console=ttyS0 quiet loglevel=1 nosmp mitigations=off noxsaves rdinit=/check -- $*
	END
	genisoimage -quiet -o "$out/disk.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table \
		"$out/disk"
}

# The machine ends with the check: its kernel panics without a process, and reboots into the script's kill.
in_bochs() {
	need bochs script genisoimage cpio
	[[ -r $kernel ]] || { echo "no kernel to boot: set KERNEL"; exit 77; }
	build CC="${CC:-cc}" CFLAGS= LDFLAGS=-static || exit
	make_disk "$@"
	cat >"$out/bochsrc" <<-END
		display_library: term
		romimage: file=/usr/share/bochs/BIOS-bochs-latest
		vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
		memory: guest=256, host=256
		cpu: model=corei7_skylake_x, count=1, ips=50000000
		ata0-master: type=cdrom, path=$out/disk.iso, status=inserted
		boot: cdrom
		com1: enabled=1, mode=file, dev=$out/serial
		log: $out/bochs.log
		panic: action=fatal
	END
	echo c >"$out/continue"
	rm -f "$out/serial"
	TERM=vt100 setsid script -qfc "echo \$\$ >'$out/pid'; exec bochs -q -f '$out/bochsrc' -rc '$out/continue'" /dev/null \
		>/dev/null 2>&1 </dev/null &
	eventually "${LIMIT:-3600}" grep -aq '^end of check' "$out/serial" 2>/dev/null
	kill -9 "$(cat "$out/pid")"
	tr -d '\r' <"$out/serial" | grep -aE '^(tiers|conv|convert|quantize|dequantize|end of check)[: ]'
	grep -aq '^end of check 0' "$out/serial"
}

case $isa in
neon) on_arm "$@" ;;
avx512) in_bochs --end "$@" ;;
*) echo "usage: emulate.sh neon|avx512 [options of check_kernels]" >&2; exit 2 ;;
esac
