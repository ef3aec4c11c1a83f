# Mounting: the helper, mount(8), fstab, exit codes, options.
load common

setup_file() { make_models; }
setup() { make_mount_point; }

teardown() {
	unmount_all
	[[ ! -e $BATS_TEST_TMPDIR/helper ]] || rm -f /sbin/mount.hfgguf
}

# For mount(8), which looks for helpers in /sbin only.
install_helper() {
	((EUID == 0)) || skip "only root can install a mount helper"
	[[ ! -e /sbin/mount.hfgguf ]] || skip "/sbin/mount.hfgguf is there already"
	ln -s "$MOUNT" /sbin/mount.hfgguf || skip "cannot write to /sbin"
	touch "$BATS_TEST_TMPDIR/helper"
}

@test "mount, look, unmount" {
	run "$MOUNT" "$SMALL" "$MNT"
	assert_success
	assert_output ""
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$SMALL")
	umount "$MNT"
	not_mounted "$MNT"
}

@test "when mount returns the mount works" {
	for i in 1 2 3 4 5; do
		"$MOUNT" "$SMALL" "$MNT"
		only_file "$MNT" >/dev/null
		umount "$MNT"
	done
}

@test "the process ends with the mount" {
	"$MOUNT" "$SMALL" "$MNT"
	pid=$(server)
	umount "$MNT"
	eventually 20 gone "$pid"
}

@test "a caller without stdin, stdout and stderr gets a mount that can be read" {
	"$MOUNT" "$SMALL" "$MNT" <&- >&- 2>&-
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$SMALL")
}

@test "hfgguf mount is the same" {
	"$HFGGUF" mount "$SMALL" "$MNT" -o outtype=q8_0
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$SMALL" -o outtype=q8_0)
}

@test "hfgguf mount -f stays in the foreground" {
	"$HFGGUF" mount -f "$SMALL" "$MNT" 3>&- &
	pid=$!
	eventually 20 is_mounted "$MNT"
	kill -0 $pid
	umount "$MNT"
	wait $pid
}

@test "the mounted files are those of ls" {
	"$MOUNT" "$SMALL" "$MNT" -o type=F16:Q8_0
	assert_equal "$(cd "$MNT" && stat -c '%s %n' -- *)" \
		"$("$HFGGUF" ls "$SMALL" -o type=F16:Q8_0 | awk '{print $1, $2}' | sort -k2)"
}

@test "relative paths and a relative mount point" {
	cd "$BATS_TEST_TMPDIR"
	ln -s "$SMALL" model
	"$MOUNT" ./model mnt
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat ./model)
}

@test "type, source and flags in the mount table" {
	"$MOUNT" "$SMALL" "$MNT"
	run findmnt -n -o FSTYPE,SOURCE "$MNT"
	assert_output "fuse.hfgguf $(realpath "$SMALL")"
	run findmnt -n -o OPTIONS "$MNT"
	assert_output --regexp '^ro,'
	assert_output --partial default_permissions
	((EUID)) || assert_output --partial allow_other
}

@test "options of mount(8) and systemd are accepted and do nothing" {
	"$MOUNT" "$SMALL" "$MNT" -n -v -t hfgguf \
		-o rw,defaults,_netdev,nofail,noauto,user,users,relatime,x-systemd.automount,X-mount.mkdir,comment=abc
	run findmnt -n -o OPTIONS "$MNT"
	assert_output --regexp '^ro,'
}

@test "-v tells the files" {
	run "$MOUNT" -v "$SMALL" "$MNT"
	assert_output --partial "$(basename "$(only_file "$MNT")")"
}

@test "-f checks and mounts nothing" {
	run "$MOUNT" -f "$SMALL" "$MNT"
	assert_success
	not_mounted "$MNT"
	run "$MOUNT" -f "$BATS_TEST_TMPDIR/nothing" "$MNT"
	assert_failure 32
}

@test "an unknown option is refused with 32, with -s it is ignored" {
	run "$MOUNT" "$SMALL" "$MNT" -o no-such-option
	assert_failure 32
	assert_output --partial no-such-option
	not_mounted "$MNT"
	run "$MOUNT" -s "$SMALL" "$MNT" -o no-such-option,outtype=q8_0
	assert_success
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$SMALL" -o outtype=q8_0)
}

@test "a model that cannot be opened gives 32 and one line" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	run "$MOUNT" "$BATS_TEST_TMPDIR/empty" "$MNT"
	assert_failure 32
	assert_equal "${#lines[@]}" 1
	not_mounted "$MNT"
}

@test "a wrong command line gives 1" {
	for args in "" "$SMALL" "$SMALL $MNT more" "-x $SMALL $MNT" "$SMALL $MNT -o timeout=soon"; do
		run "$MOUNT" $args
		assert_failure 1
		assert_equal "${#lines[@]}" 1
	done
	not_mounted "$MNT"
}

@test "a mount point that is missing or a file gives 32" {
	run "$MOUNT" "$SMALL" "$BATS_TEST_TMPDIR/nowhere"
	assert_failure 32
	assert_output --partial nowhere
	touch "$BATS_TEST_TMPDIR/file"
	run "$MOUNT" "$SMALL" "$BATS_TEST_TMPDIR/file"
	assert_failure 32
	assert_output --partial "not a directory"
}

@test "hfgguf mount fails with 1" {
	run "$HFGGUF" mount "$SMALL" "$BATS_TEST_TMPDIR/nowhere"
	assert_failure 1
}

@test "remounting is refused" {
	run "$MOUNT" "$SMALL" "$MNT" -o remount,rw
	assert_failure 32
	assert_output --partial remount
}

@test "a caller's open pipe is not held by the process in the background" {
	run timeout 10 bash -c '("$0" "$1" "$2" 5>&1 && echo mounted) | cat' "$MOUNT" "$SMALL" "$MNT"
	assert_success
	assert_output mounted
}

@test "mount -t hfgguf" {
	install_helper
	mount -t hfgguf "$SMALL" "$MNT" -o outtype=q8_0
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$SMALL" -o outtype=q8_0)
	umount "$MNT"
	not_mounted "$MNT"
}

@test "mount -t fuse.hfgguf, by way of mount.fuse3" {
	((EUID == 0)) && command -v mount.fuse3 >/dev/null || skip "needs root and mount.fuse3"
	PATH=$BUILD:$PATH mount.fuse3 "$SMALL" "$MNT" -t fuse.hfgguf -o rw,outtype=q8_0
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$SMALL" -o outtype=q8_0)
	run env PATH="$BUILD:$PATH" mount.fuse3 "$SMALL" "$MNT" -t fuse.hfgguf -o remount,outtype=f16
	assert_failure
	assert_output --partial "remounting is not possible"
}

@test "mount -t hfgguf passes failure on" {
	install_helper
	run mount -t hfgguf "$BATS_TEST_TMPDIR/nothing" "$MNT"
	assert_failure 32
	assert_output --partial nothing
}

@test "fstab with blanks as 040, and mount -a twice" {
	install_helper
	mkdir "$BATS_TEST_TMPDIR/my models" "$BATS_TEST_TMPDIR/my mnt"
	cp -r "$SMALL" "$BATS_TEST_TMPDIR/my models/"
	dir="$BATS_TEST_TMPDIR/my models/$(basename "$SMALL")"
	printf '%s\t%s\thfgguf\tnofail,x-systemd.automount,outtype=q8_0\t0 0\n' "${dir// /\\040}" \
		"${BATS_TEST_TMPDIR// /\\040}/my\\040mnt" >"$BATS_TEST_TMPDIR/fstab"
	mount -a -T "$BATS_TEST_TMPDIR/fstab"
	mount -a -T "$BATS_TEST_TMPDIR/fstab"
	assert_equal "$(mounts_below "$BATS_TEST_TMPDIR" | tr -dc '\0' | wc -c)" 1
	cmp "$(only_file "$BATS_TEST_TMPDIR/my mnt")" <("$HFGGUF" cat "$dir" -o outtype=q8_0)
	umount "$BATS_TEST_TMPDIR/my mnt"
}

@test "a quoted value with a comma, as in fstab" {
	install_helper
	mount -t hfgguf "$SMALL" "$MNT" -o 'outtype=f16,model-name="Abc, def"'
	assert_equal "$(basename "$(only_file "$MNT")")" \
		"$("$HFGGUF" ls "$SMALL" -o 'outtype=f16,model-name=Abc\, def' | sed 's/^ *[0-9]*  //')"
}

@test "another user may read a mount of root" {
	((EUID == 0)) || skip "not root"
	command -v setpriv >/dev/null || skip "no setpriv"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
	"$MOUNT" "$SMALL" "$MNT"
	run setpriv --reuid=65534 --regid=65534 --clear-groups head -c 4 "$(only_file "$MNT")"
	assert_success
}

@test "mounting into another namespace" {
	((EUID == 0)) || skip "not root"
	unshare -m --propagation private sleep 60 3>&- &
	pid=$!
	other() { [[ $(readlink /proc/$pid/ns/mnt) == mnt:* && ! /proc/$pid/ns/mnt -ef /proc/self/ns/mnt ]]; }
	eventually 20 other || skip "cannot make a namespace"
	"$MOUNT" "$SMALL" "$MNT" -N "/proc/$pid/ns/mnt"
	not_mounted "$MNT"
	run nsenter -t $pid -m mountpoint -q "$MNT"
	kill $pid
	assert_success
}

@test "the read-ahead of the mount is raised" {
	((EUID == 0)) || skip "only root may"
	"$MOUNT" "$SMALL" "$MNT"
	file=/sys/class/bdi/$(mountpoint -d "$MNT")/read_ahead_kb
	[[ -w $file ]] || skip "no $file"
	assert_equal "$(cat "$file")" 1024
	umount "$MNT"
	"$MOUNT" "$SMALL" "$MNT" -o readahead=0
	assert_equal "$(cat "/sys/class/bdi/$(mountpoint -d "$MNT")/read_ahead_kb")" 128
}

@test "max_read= makes the kernel's reads smaller" {
	"$MOUNT" "$LARGE" "$MNT" -o max_read=16384
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$LARGE")
	(($(awk '$1 == "reads" { print $2 }' "$MNT/.hfgguf/stats") >= $(stat -c %s "$MNT"/*.gguf) / 16384))
}
