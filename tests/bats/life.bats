# How mounts end: signals, idle time-outs, kill -9, busy, a hundred in a row.
load common

setup_file() { make_models; }
setup() { make_mount_point; }
teardown() { unmount_all; }

@test "SIGTERM unmounts and ends the process" {
	"$MOUNT" "$SMALL" "$MNT"
	pid=$(server)
	kill -TERM "$pid"
	eventually 20 not_mounted "$MNT"
	eventually 20 gone "$pid"
}

@test "SIGINT ends the foreground with success" {
	env --default-signal=INT "$HFGGUF" mount -f "$SMALL" "$MNT" 3>&- & # a shell that ignores it could not give it back
	job=$!
	eventually 20 is_mounted "$MNT"
	kill -INT $job
	eventually 10 gone $job
	wait $job
	not_mounted "$MNT"
}

@test "SIGTERM with an open file: unmounted at once, the file stays readable until it is closed" {
	"$MOUNT" "$LARGE" "$MNT"
	pid=$(server)
	exec 8<"$(only_file "$MNT")"
	kill -TERM "$pid"
	eventually 20 not_mounted "$MNT"
	run cmp /dev/fd/8 <("$HFGGUF" cat "$LARGE")
	assert_success
	exec 8<&-
	eventually 20 gone "$pid"
}

@test "a second SIGTERM ends it although a file is open" {
	"$MOUNT" "$SMALL" "$MNT"
	pid=$(server)
	exec 8<"$(only_file "$MNT")"
	kill -TERM "$pid"
	eventually 20 not_mounted "$MNT"
	kill -0 "$pid"
	kill -TERM "$pid"
	eventually 20 gone "$pid"
	exec 8<&-
}

@test "the mount point can be used again while an old mount is still read" {
	"$MOUNT" "$SMALL" "$MNT"
	pid=$(server)
	exec 8<"$(only_file "$MNT")"
	kill -TERM "$pid"
	eventually 20 not_mounted "$MNT"
	"$MOUNT" "$SMALL" "$MNT" -o outtype=q8_0
	kill -TERM "$pid"
	exec 8<&-
	eventually 20 gone "$pid"
	is_mounted "$MNT"
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$SMALL" -o outtype=q8_0)
}

@test "umount of a busy mount fails, umount -l works" {
	"$MOUNT" "$SMALL" "$MNT"
	pid=$(server)
	exec 8<"$(only_file "$MNT")"
	run umount "$MNT"
	assert_failure
	umount -l "$MNT"
	head -c 100 <&8 >/dev/null
	exec 8<&-
	eventually 20 gone "$pid"
}

@test "timeout= unmounts when nothing is open" {
	"$MOUNT" "$SMALL" "$MNT" -o timeout=1
	pid=$(server)
	only_file "$MNT"
	eventually 6 not_mounted "$MNT"
	eventually 20 gone "$pid"
}

@test "timeout= waits while a file is open" {
	"$MOUNT" "$SMALL" "$MNT" -o timeout=1
	exec 8<"$(only_file "$MNT")"
	sleep 2.5
	is_mounted "$MNT"
	exec 8<&-
	eventually 6 not_mounted "$MNT"
}

@test "after kill -9 the mount point can be mounted again" {
	"$MOUNT" "$SMALL" "$MNT"
	kill -9 "$(server)"
	eventually 20 bash -c '! ls "$0" 2>/dev/null' "$MNT"
	"$MOUNT" "$SMALL" "$MNT"
	only_file "$MNT"
	assert_equal "$(mounts_below "$BATS_TEST_TMPDIR" | tr -dc '\0' | wc -c)" 1
}

@test "auto_unmount: nothing stays after kill -9" {
	command -v fusermount3 >/dev/null || skip "no fusermount3"
	"$MOUNT" "$SMALL" "$MNT" -o auto_unmount
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$SMALL")
	kill -9 "$(server)"
	eventually 20 not_mounted "$MNT"
}

# In a namespace where /dev/fuse is $1: mounts $2 at $3 as another user, kills the daemon, waits for the mount to go.
# Root cannot look into such a mount.
killed_as_user() {
	local pid as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	mount --bind "$1" /dev/fuse || return 77
	chown 65534 "$3"
	"${as[@]}" "$MOUNT" "$2" "$3" -o auto_unmount || return
	"${as[@]}" bash -c 'head -c 4 "$1"/*.gguf' - "$3"
	for pid in $(daemon_of "$3"); do
		! readlink "/proc/$pid/fd"/* | grep -qx /dev/fuse || kill -9 "$pid"
	done
	not_in_table() { ! grep -qF " $1 " /proc/self/mountinfo; }
	eventually 20 not_in_table "$3"
}

@test "auto_unmount: nothing stays after kill -9 of an ordinary user's mount" {
	((EUID == 0)) || skip "not root"
	command -v setpriv >/dev/null && command -v fusermount3 >/dev/null || skip "no setpriv or fusermount3"
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.."
	mknod -m 666 "$BATS_TEST_TMPDIR/fuse" c 10 229 && : <"$BATS_TEST_TMPDIR/fuse" || skip "no device files here"
	export -f killed_as_user daemon_of eventually
	export MOUNT
	run unshare -m --propagation private bash -c 'killed_as_user "$@"' - "$BATS_TEST_TMPDIR/fuse" "$SMALL" "$MNT"
	((status != 1)) || [[ $output != unshare:* ]] || skip "$output"
	((status != 77)) || skip "cannot bind a device file"
	assert_success
	assert_output GGUF
}

@test "a hundred mounts in a row leave no process and no mount" {
	for ((i = 0; i < 100; i++)); do
		"$MOUNT" "$SMALL" "$MNT"
		[[ -e $MNT/.hfgguf/stats ]]
		umount "$MNT"
	done
	none_left() { [[ -z $(daemon_of "$MNT") ]]; }
	eventually 20 none_left
	not_mounted "$MNT"
}

@test "two mounts of one model at once" {
	mkdir "$BATS_TEST_TMPDIR/other"
	"$MOUNT" "$SMALL" "$MNT"
	"$MOUNT" "$SMALL" "$BATS_TEST_TMPDIR/other" -o outtype=q8_0
	umount "$MNT"
	cmp "$(only_file "$BATS_TEST_TMPDIR/other")" <("$HFGGUF" cat "$SMALL" -o outtype=q8_0)
}
