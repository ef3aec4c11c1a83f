# Names of models and mount points that are hard to quote.
load common

setup_file() { make_models; }
setup() { make_mount_point; }
teardown() { unmount_all; }

# mount_both NAME: a model of that name and a mount point of that name work; the table shows the name.
mount_both() {
	local dir="$BATS_TEST_TMPDIR/models/$1" mnt="$BATS_TEST_TMPDIR/mounts/$1" shown
	mkdir -p "$dir" "$mnt"
	cp -rL "$SMALL/." "$dir/"
	"$MOUNT" "$dir" "$mnt" -o outtype=q8_0
	is_mounted "$mnt"
	shown=$(M=$(escaped "$mnt") awk '$2 == ENVIRON["M"] { print $1 }' /proc/self/mounts)
	assert_equal "$shown" "$(escaped "$dir")"
	f=("$mnt"/*.gguf)
	cmp "${f[0]}" <("$HFGGUF" cat "$dir" -o outtype=q8_0)
	umount "$mnt"
}

# As the kernel writes names in /proc/mounts.
escaped() { printf '%s' "$1" | sed 's/\\/\\134/g; s/ /\\040/g; s/\t/\\011/g; s/#/\\043/g'; }

@test "blanks" { mount_both "my model  7b"; }
@test "commas" { mount_both "a,b,ro,c=d"; }
@test "backslashes" { mount_both 'a\b\,c'; }
@test "quotes" { mount_both "it's \"quoted\""; }
@test "equal signs, colons and hashes" { mount_both "a=b:c@d;e"; }
@test "characters of the shell" { mount_both '$(touch x) `y` *?&|'; }
@test "letters outside ASCII" { mount_both "modèle-模型-🦙"; }
@test "bytes that are no UTF-8" { mount_both $'bytes-\xff\xfe-\xc3'; }
@test "a leading dash" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -- -m
	cp -rL "$SMALL/." ./-m/
	"$MOUNT" -- -m "$MNT"
	only_file "$MNT"
	run "$HFGGUF" ls -- -m
	assert_success
}

@test "a symbolic link to a model and to a mount point" {
	cd "$BATS_TEST_TMPDIR"
	ln -s "$SMALL" link
	ln -s mnt to
	"$MOUNT" link to
	only_file "$MNT"
}

@test "all of it through auto_unmount's fusermount3" {
	command -v fusermount3 >/dev/null || skip "no fusermount3"
	dir="$BATS_TEST_TMPDIR/a, b\\c"
	mkdir "$dir"
	cp -rL "$SMALL/." "$dir/"
	"$MOUNT" "$dir" "$MNT" -o auto_unmount
	assert_equal "$(findmnt -n -o SOURCE "$MNT")" "$dir"
}
