# Behaviour of the commands and mounts, by bats.
. "$(dirname "$0")/../lib.bash"

files=("$ROOT"/tests/bats/*.bats)
[[ -e ${files[0]} ]] || exit 0
export BUILD HFGGUF MOUNT MKMODEL FIXTURES ROOT
cd "$ROOT" || exit 1
bats --formatter tap "${files[@]}"
