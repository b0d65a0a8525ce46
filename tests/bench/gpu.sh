#!/bin/bash
# Everything that needs a GPU, in six minutes on one: checks, times, a table last, JSON beside it. See gpu.py --help.
#
#   tests/bench/gpu.sh                    builds what is missing or old, runs, writes build/gpu.json
#   tests/bench/gpu.sh --as-built         takes the programs as they are
#   tests/bench/gpu.sh --pack FOLDER      makes a folder that runs on a machine without compiler, source or packages:
#   FOLDER/gpu.sh                         the same run there
#
# Exit code 0: all is right; 1: something is not; 2: wrong usage, or nothing to run; 3: there is no driver or no GPU, and
# nothing ran.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
files=(gpu.sh gpu.py torch_gpu.py)
programs=(bench_gpu bench_gpu_bf16 gpu_tiny gpu_tiny_bf16 gpu_course gpu_course_bf16 gpu_gpt gpu_gpt_bf16)

die() {
  echo "gpu.sh: $*" >&2
  exit 2
}

build() {
  command -v cmake >/dev/null || die "there is no cmake to build with; make a folder with --pack where there is"
  { [ -f "$root/build/build.ninja" ] || (cd "$root" && cmake --preset release); } >&2 || die "configuring failed"
  cmake --build "$root/build" --target bench_table_gpu >&2 || die "the build failed"
}

command -v python3 >/dev/null || die "python3 is needed"
if [ -d "$here/programs" ]; then
  folder=$here/programs # packed
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  root=$(cd "$here/../.." && pwd)
  folder=$root/build/tests/bench
  if [ "${1:-}" = --as-built ]; then
    shift
  else
    build
  fi
  for program in "${programs[@]}"; do
    [ -x "$folder/$program" ] || die "there is no program $folder/$program"
  done
fi

if [ "${1:-}" = --pack ]; then
  [ $# -eq 2 ] || die "--pack needs a folder"
  [ "$folder" != "$here/programs" ] || die "this folder is packed already"
  mkdir -p "$2/programs" "$2/lib"
  for file in "${files[@]}"; do cp "$here/$file" "$2/"; done
  for program in "${programs[@]}"; do
    cp "$folder/$program" "$2/programs/"
    strip "$2/programs/$program"
    # The libraries that not every machine has; libc and what belongs to it are the machine's own.
    ldd "$folder/$program" | awk '$3 ~ /^\// { print $3 }' | grep -Ev '/(libc|libm|libdl|libpthread|librt)\.so' |
      while read -r library; do cp -L "$library" "$2/lib/"; done
  done
  du -sh "$2" >&2
  exit 0
fi
exec python3 "$here/gpu.py" --programs "$folder" "$@"
